"""Packages that setuptools makes, with op packages in them: `setup(opkit_projects=[…])`."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging_support import run
from wheel_support import environment, site_packages

from opkit import resources
from opkit.toolkit import host_arch

pytestmark = [
    pytest.mark.packaging,
    pytest.mark.slow,
    pytest.mark.xdist_group("wheel_of_ops"),
    pytest.mark.skipif(
        importlib.util.find_spec("setuptools") is None or importlib.util.find_spec("setuptools.command.bdist_wheel") is None,
        reason="this Python's setuptools makes no wheels by itself",
    ),
]

_SETUP = """\
from setuptools import setup
setup(name="mine", version="1.0", packages=["mine"], opkit_projects={projects})
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of setuptools with the project csrc/ops, whose op package is demo_ops."""
    folder = tmp_path_factory.mktemp("setuptools") / "my package 昇"
    (folder / "mine").mkdir(parents=True)
    (folder / "mine" / "__init__.py").write_text("")
    made = run(sys.executable, "-m", "opkit", "new", "demo_ops", "--dir", folder / "csrc" / "ops")
    assert made.returncode == 0, made.stderr
    (folder / "setup.py").write_text(_SETUP.format(projects=["csrc/ops"]))
    return folder


@pytest.fixture
def copied(package: Path, tmp_path: Path) -> Path:
    return shutil.copytree(package, tmp_path / "package", ignore=shutil.ignore_patterns("build", "*.egg-info", "dist"))


def _hook(package: Path, call: str, *, umask: int = 0o022, **environ: str) -> None:
    """What a build frontend calls, in this environment."""
    code = f"import os; os.umask({umask}); from setuptools import build_meta; build_meta.{call}"
    done = run(sys.executable, "-c", code, cwd=package, env={**os.environ, **environ})
    assert done.returncode == 0, done.stdout + done.stderr


def _installed(wheel: Path, folder: Path) -> Path:
    python = environment(folder)
    done = run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel)
    assert done.returncode == 0, done.stderr
    return python


def test_a_wheel_has_the_op_package_beside_the_package_and_is_for_every_python(package: Path, tmp_path: Path) -> None:
    _hook(package, f"build_wheel({str(tmp_path)!r})", umask=0o077, OPKIT_ALLOW_SIMULATOR="1")
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist() if info.filename.startswith("demo_ops/")}
    assert {name: mode for name, mode in modes.items() if mode != (0o755 if name.endswith(".so") else 0o644)} == {}
    assert wheel.name == f"mine-1.0-py3-none-linux_{host_arch()}.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert archive.read("mine-1.0.dist-info/entry_points.txt").decode().strip() == "[opkit.opp]\ndemo_ops = demo_ops"
    library = f"demo_ops/op_graph/lib/linux/{host_arch()}"
    assert names == {
        "mine/__init__.py",
        "demo_ops/__init__.py",
        "demo_ops/opkit-manifest.json",
        "demo_ops/op_graph/include/demo_ops.h",
        f"{library}/add_custom.asc",
        f"{library}/libcust_opapi.so",
    }
    python = _installed(wheel, tmp_path / "venv")
    command = [sys.executable, "-m", "opkit", "run", "--python", str(python), "--", "sh", "-c", "echo $ASCEND_CUSTOM_OPP_PATH"]
    done = run(*command, cwd=tmp_path, env={**os.environ, "OPKIT_PREFIX": str(tmp_path / "none")})
    assert done.stdout == f"{site_packages(python) / 'demo_ops'}\n", done.stderr
    done = run(python / "bin" / "python", "-c", "import demo_ops; print(demo_ops.opp_root)", cwd=tmp_path)
    assert done.stdout == f"{site_packages(python) / 'demo_ops'}\n", done.stderr


def test_an_editable_install_has_both_the_sources_of_the_package_and_the_built_ops(package: Path, tmp_path: Path) -> None:
    """It stays on this machine, so that the simulator needs no leave."""
    _hook(package, f"build_editable({str(tmp_path)!r})")
    (wheel,) = tmp_path.glob("*.whl")
    python = _installed(wheel, tmp_path / "venv")
    question = "import json, mine, demo_ops; print(json.dumps([mine.__file__, str(demo_ops.opp_root)]))"
    done = run(python / "bin" / "python", "-c", question, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [str(package / "mine" / "__init__.py"), str(site_packages(python) / "demo_ops")]
    assert (site_packages(python) / "demo_ops" / "opkit-manifest.json").is_file()


def test_an_sdist_has_the_sources_of_the_project(copied: Path, tmp_path: Path) -> None:
    for made in ("build/made", ".git/config", "kernels/.cache/made", "kernels/__pycache__/made", "kernels/build/mine.h", ".clang-format"):
        (copied / "csrc" / "ops" / made).parent.mkdir(parents=True, exist_ok=True)
        (copied / "csrc" / "ops" / made).write_text("")
    _hook(copied, f"build_sdist({str(tmp_path)!r})")
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in ("ops.py", "kernels/add_custom.asc", "CMakeLists.txt", "ge/custom_op.cpp", "kernels/build/mine.h", ".clang-format"):
        assert f"csrc/ops/{name}" in names
    assert not [name for name in names if name.endswith(("/made", "/config"))]


@pytest.mark.parametrize("by", ["its own path", "a link to it"])
def test_an_sdist_has_a_project_that_is_named_by_its_whole_path(by: str, copied: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(copied)
    folder = copied if by == "its own path" else tmp_path / "linked"
    (copied / "setup.py").write_text(_SETUP.format(projects=[str(folder / "csrc" / "ops")]))
    done = run(sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", tmp_path / "dist", cwd=copied)
    assert done.returncode == 0, done.stderr
    with tarfile.open(next((tmp_path / "dist").glob("*.tar.gz"))) as archive:
        assert "csrc/ops/ops.py" in {name.partition("/")[2] for name in archive.getnames()}


@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_project_that_an_sdist_can_not_hold_is_one_error(copied: Path, tmp_path: Path, is_absolute: bool) -> None:
    shutil.move(copied / "csrc" / "ops", tmp_path / "sp ace")
    named = str(tmp_path / "sp ace") if is_absolute else "../sp ace"
    (copied / "setup.py").write_text(_SETUP.format(projects=[named]))
    done = run(sys.executable, "setup.py", "sdist", "--dist-dir", tmp_path / "dist", cwd=copied)
    assert done.returncode != 0
    assert f"opkit_projects: {named} isn't below the folder of setup.py, and an sdist has nothing else" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize(
    ("projects", "message"),
    [
        ("csrc/ops", "opkit_projects must be a list of folders, each with an ops.py, not 'csrc/ops'"),
        (["csrc/none"], "error[OPK0101]: csrc/none is no opkit project\n  because: it doesn't exist"),
        (["mine"], "error[OPK0101]: mine is no opkit project\n  because: it has no ops.py"),
        (["csrc/ops", "csrc/again"], "are both the package demo_ops"),
        (["csrc/wrong"], "name 'nothing' is not defined"),
    ],
)
def test_a_value_that_can_not_be_is_one_error(projects: object, message: str, copied: Path) -> None:
    shutil.copytree(copied / "csrc" / "ops", copied / "csrc" / "again")
    (copied / "csrc" / "wrong").mkdir()
    (copied / "csrc" / "wrong" / "ops.py").write_text("package = nothing\n")
    (copied / "setup.py").write_text(_SETUP.format(projects=repr(projects)))
    done = run(sys.executable, "setup.py", "--quiet", "egg_info", cwd=copied)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert message in done.stderr


def test_a_package_of_the_name_of_the_op_package_is_refused_and_stays(copied: Path) -> None:
    """Both would be the folder demo_ops of the wheel, and one `__init__.py` in it."""
    (copied / "demo_ops").mkdir()
    (copied / "demo_ops" / "__init__.py").write_text("mine = True\n")
    (copied / "setup.py").write_text(_SETUP.replace('["mine"]', '["mine", "demo_ops"]').format(projects=["csrc/ops"]))
    environ = {**os.environ, "OPKIT_ALLOW_SIMULATOR": "1"}
    done = run(sys.executable, "setup.py", "--quiet", "build", cwd=copied, env=environ)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "are both the package demo_ops" in done.stderr
    (kept,) = copied.glob("build/lib*/demo_ops/__init__.py")
    assert kept.read_text() == "mine = True\n"


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"OPKIT_ALLOW_SIMULATOR": "off"}, f"{resources.bundled_toolkit()} is opkit's host simulator"),
        ({}, f"{resources.bundled_toolkit()} is opkit's host simulator"),
        ({"OPKIT_ALLOW_SIMULATOR": "1", "CXXFLAGS": "-include no-such-header.h"}, "it is called with CXXFLAGS=-include no-such-header.h"),
        ({"ASCEND_HOME_PATH": "/nope"}, "error[OPK0301]: /nope is no CANN toolkit"),
    ],
    ids=["no leave for the simulator", "the simulator", "a compiler error", "no toolkit"],
)
def test_a_build_that_fails_is_one_error_with_its_cause(environ: dict[str, str], message: str, copied: Path) -> None:
    done = run(sys.executable, "setup.py", "--quiet", "build", cwd=copied, env={**os.environ, **environ})
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert message in done.stderr
