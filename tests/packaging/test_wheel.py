"""opkit's own packaging: what the wheel holds, and that it works where the checkout, cmake, ninja or a plain path are missing."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging_support import CHECKOUT, copy_checkout, path_without, pip_install, run
from wheel_support import environment

from opkit import resources

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

pytestmark = [pytest.mark.packaging, pytest.mark.slow, pytest.mark.xdist_group("packaging")]

Install = Callable[..., Path]
Checkout = Callable[[], AbstractContextManager[Path]]


def test_wheel_holds_the_package_its_data_and_nothing_else(wheel_names: list[str], snapshot: SnapshotAssertion) -> None:
    names = [re.sub(r"ascend_opkit-[^/]+\.dist-info", "ascend_opkit.dist-info", name) for name in wheel_names]
    assert "\n".join(names) == snapshot


def test_wheel_serves_every_python_on_this_architecture(wheel: Path) -> None:
    assert re.fullmatch(r"ascend_opkit-[^-]+-py3-none-linux_\w+\.whl", wheel.name), wheel.name


def test_wheel_names_no_build_folder(wheel: Path, pip_environment: dict[str, str]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        # pip builds below the temporary folder, so that any trace of the build folder starts with it.
        places = [b"/checkout0/", b"/pip-", os.fsencode(pip_environment["TMPDIR"])]
        traces = [(name, place) for name in archive.namelist() for place in places if place in archive.read(name)]
    assert traces == []


def test_the_toolkit_in_use_names_no_folder_of_its_build() -> None:
    """It is built without ccache, which gives compilers relative paths and so hides what they would leave."""
    toolkit = resources.bundled_toolkit()
    assert toolkit is not None
    libraries = [path for path in toolkit.glob("lib64/*.so*") if path.is_file()]
    assert libraries
    places = [os.fsencode(CHECKOUT) + b"/", b"/pip-"]
    assert [(path.name, place) for path in libraries for place in places if place in path.read_bytes()] == []


def test_installed_wheel_benches_the_sample_in_a_path_with_space_and_non_ascii(install_into: Install, tmp_path: Path) -> None:
    folder = tmp_path / "mein Prüfstand 昇"
    binaries = install_into(folder / "venv")
    tools = path_without(("cmake", "ctest", "cpack", "ccmake", "ninja"), tmp_path / "tools")
    # The environment isn't activated: cmake and ninja are neither the system's nor the wheels' on PATH.
    environ = {**os.environ, "PATH": tools, "OPKIT_SIM_CACHE_DIR": str(folder / "cache")}
    made = run(binaries / "opkit", "new", "demo", "--dir", "demo op", cwd=folder, env=environ)
    assert made.returncode == 0, made.stderr
    options = ["--json", "--shape", "x=64,64", "--shape", "y=64,64", "--iters", "4"]
    bench = run(binaries / "opkit", "bench", *options, cwd=folder / "demo op", env=environ)
    assert bench.returncode == 0, bench.stderr
    report = json.loads(bench.stdout)
    assert report["device"]["kind"] == "simulator"
    assert all(check["passed"] for case in report["cases"] for check in case["precision"])


@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_wheel_works_on_oldest_and_newest_python_at_hand(version: str, install_into: Install, tmp_path: Path) -> None:
    python = shutil.which(f"python{version}")
    if python is None or run(python, "-c", "import venv").returncode != 0:
        pytest.skip(f"no usable python{version} on this machine")
    binaries = install_into(tmp_path / "venv", python)
    checked = run(binaries / "opkit", "doctor", "--json", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)


def test_editable_install_is_the_package_alone_and_finds_its_toolkit(
    checkout: Checkout, pip_environment: dict[str, str], tmp_path: Path
) -> None:
    python = environment(tmp_path / "venv") / "bin" / "python"
    with checkout() as source:
        pip_install(tmp_path / "venv", "--editable", source, env=pip_environment)
        told = "[list(opkit.__path__), str(r.bundled_toolkit()), str(r.templates())]"
        question = f"import json, opkit, opkit.resources as r; print(json.dumps({told}))"
        answer = run(python, "-c", question, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
        package, toolkit, templates = json.loads(answer.stdout)
        assert package == [str(source / "opkit")]
        assert (Path(toolkit) / "lib64" / "libacl_rt.so").is_file()
        assert templates == str(source / "templates")
        assert run(python.parent / "opkit", "toolkit", "path", cwd=tmp_path).stdout.strip() == toolkit


def test_missing_compiler_is_one_line_that_names_the_package(tmp_path: Path) -> None:
    source = copy_checkout(tmp_path / "checkout")
    tools = path_without(
        ("g++", "c++", "gcc", "cc", "clang", "x86_64-linux-gnu-g", "aarch64-linux-gnu-g", "CC", "icpx", "icpc", "nvc"), tmp_path / "tools"
    )
    environ = {key: value for key, value in os.environ.items() if key not in {"CC", "CXX"}}
    command: list[str | Path] = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", tmp_path, source]
    built = run(*command, env={**environ, "PATH": tools})
    assert built.returncode != 0
    said = [line for line in (built.stdout + built.stderr).splitlines() if "sudo apt install g++" in line]
    assert len(said) == 1, built.stdout + built.stderr
