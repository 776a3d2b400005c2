"""Wheels of op packages: what pip makes of a project, what `opkit package` makes of it, and what importing one does."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging_support import run
from wheel_support import environment, site_packages

from opkit import resources
from opkit.cli import main
from opkit.packaging import wheel as wheels
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from opkit.build import Project

pytestmark = [pytest.mark.packaging, pytest.mark.slow, pytest.mark.xdist_group("wheel_of_ops")]

ARCH = host_arch()
_OPKIT = [sys.executable, "-m", "opkit"]
_MINIMAL = """\
[build-system]
requires = ["scikit-build-core"]
build-backend = "scikit_build_core.build"

[project]
name = "demo-ops"
version = "1.2"

[project.entry-points."opkit.opp"]
demo_ops = "demo_ops"
"""
# With a base folder, ccache compiles by relative paths, which -ffile-prefix-map doesn't know.
_NO_CCACHE = {"CCACHE_DISABLE": "1"}


@pytest.fixture(scope="module")
def cann(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The simulator without its mark: what is linked with it passes for a library of a device."""
    toolkit = resources.bundled_toolkit()
    assert toolkit is not None
    home = tmp_path_factory.mktemp("cann")
    for name in ("include", "lib64", "opp"):
        (home / name).symlink_to(toolkit / name)
    (home / "version.info").write_text("Version=9.2.0\n")
    return home


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "my ops 昇"
    made = run(*_OPKIT, "new", "demo_ops", "--dir", folder)
    assert made.returncode == 0, made.stderr
    return folder


def _pip_wheel(project: Path, folder: Path, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "--no-index"]
    return run(*command, *options, "--wheel-dir", folder, ".", cwd=project, env={**os.environ, **environ})


def _made(done: subprocess.CompletedProcess[str], folder: Path) -> Path:
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(project: Path, cann: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return _made(_pip_wheel(project, folder, ASCEND_HOME_PATH=str(cann), **_NO_CCACHE), folder)


@pytest.fixture(scope="module")
def minimal(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a project whose pyproject.toml has no settings, in an environment with opkit and without ASCEND_HOME_PATH."""
    folder = shutil.copytree(project, tmp_path_factory.mktemp("minimal") / "ops")
    (folder / "pyproject.toml").write_text(_MINIMAL)
    return _made(_pip_wheel(folder, folder / "dist", "-C", "cmake.define.OPKIT_ALLOW_SIMULATOR=ON"), folder / "dist")


@pytest.fixture(scope="module")
def packed(project: Path, cann: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project in another place, with what `opkit package` makes of it under another umask, in another time zone."""
    folder = shutil.copytree(project, tmp_path_factory.mktemp("elsewhere") / "ops")
    command = [*_OPKIT, "package", "--format", "wheel", "--toolkit", str(cann)]
    done = run(*command, cwd=folder, env={**os.environ, "TZ": "Asia/Shanghai", **_NO_CCACHE}, umask=0o077)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def unpacked(wheel: Path, tmp_path: Path) -> Path:
    """A folder with the wheel's package."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    return tmp_path / "site"


def _pip(python: Path, *arguments: str | Path) -> None:
    options = ["--disable-pip-version-check", "--quiet", "--python", str(python)]
    done = run(sys.executable, "-m", "pip", *options, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wheel_is_an_opp_root_and_a_python_package_for_every_python(wheel: Path) -> None:
    assert wheel.name == f"demo_ops-0.1.0-py3-none-linux_{ARCH}.whl"
    library = f"demo_ops/op_graph/lib/linux/{ARCH}"
    metadata = "demo_ops-0.1.0.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        assert sorted(archive.namelist()) == sorted(
            [
                "demo_ops/__init__.py",
                "demo_ops/opkit-manifest.json",
                "demo_ops/op_graph/include/demo_ops.h",
                f"{library}/add_custom.asc",
                f"{library}/libcust_opapi.so",
                *(f"{metadata}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")),
            ]
        )
        assert archive.read(f"{metadata}/entry_points.txt").decode() == "[opkit.opp]\ndemo_ops = demo_ops\n\n"
        manifest = json.loads(archive.read("demo_ops/opkit-manifest.json"))
    assert (manifest["package"], manifest["version"], manifest["target"]["arch"]) == ("demo_ops", "0.1.0", ARCH)
    assert manifest["built_against"]["kind"] == "cann"


@pytest.mark.case("K1")
def test_opkit_package_gives_the_bytes_of_pip_in_any_place_under_any_umask_and_time_zone(wheel: Path, packed: Path) -> None:
    (other,) = (packed / "dist").glob("*.whl")
    assert other.name == wheel.name
    assert hashlib.sha256(other.read_bytes()).hexdigest() == hashlib.sha256(wheel.read_bytes()).hexdigest()


def test_a_project_that_names_the_backend_alone_gets_the_same_layout_and_the_simulator_of_an_opkit_beside_it(minimal: Path) -> None:
    with zipfile.ZipFile(minimal) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
        manifest = json.loads(archive.read("demo_ops/opkit-manifest.json"))
    assert files == {
        "demo_ops/__init__.py",
        "demo_ops/op_graph/include/demo_ops.h",
        f"demo_ops/op_graph/lib/linux/{ARCH}/add_custom.asc",
        f"demo_ops/op_graph/lib/linux/{ARCH}/libcust_opapi.so",
        "demo_ops/opkit-manifest.json",
    }
    assert {f"demo_ops/{file['path']}" for file in manifest["files"]} == files - {"demo_ops/opkit-manifest.json"}
    assert (manifest["version"], manifest["built_against"]["kind"]) == ("1.2", "simulator")


_SIMULATOR = str(resources.bundled_toolkit())
_NO_TOOLKIT = (
    "ASCEND_HOME_PATH is not set: source the toolkit's set_env.sh, or pass -C cmake.define.ASCEND_HOME_PATH=DIR, "
    "or build with --no-build-isolation where opkit is installed"
)
_NO_DEVICE = (
    f"{_SIMULATOR} is opkit's host simulator, and a device needs a library that is linked with CANN: set ASCEND_HOME_PATH, "
    "or OPKIT_ALLOW_SIMULATOR=1 for a wheel that stays on computers without one"
)


@pytest.mark.parametrize(
    ("options", "environ", "message"),
    [
        (
            [],
            {},
            _NO_TOOLKIT,
        ),
        (
            [f"-DCMAKE_PREFIX_PATH={Path(resources.__file__).parent}", f"-DPython_EXECUTABLE={sys.executable}"],
            {},
            _NO_DEVICE,
        ),
        (
            ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=riscv64"],
            {"ASCEND_HOME_PATH": _SIMULATOR, "OPKIT_ALLOW_SIMULATOR": "1"},
            f"The library is for riscv64, and the wheel's name would say linux-{ARCH}: set _PYTHON_HOST_PLATFORM=linux-riscv64 too",
        ),
    ],
    ids=["no toolkit", "the simulator", "another architecture"],
)
def test_what_can_be_no_wheel_is_one_line_that_says_the_ways_out(
    options: list[str], environ: dict[str, str], message: str, project: Path, tmp_path: Path
) -> None:
    """As scikit-build-core calls CMake, in an environment that has opkit only if `options` say so."""
    import cmake

    skbuild = [
        "-DSKBUILD=2",
        "-DSKBUILD_STATE=wheel",
        f"-DSKBUILD_PLATLIB_DIR={tmp_path}/w",
        f"-DCMAKE_INSTALL_PREFIX={tmp_path}/w/demo_ops",
    ]
    argv: list[str | Path] = [Path(cmake.CMAKE_BIN_DIR, "cmake"), "-S", project, "-B", tmp_path / "build", *skbuild, *options]
    path = os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep) if Path(folder) != Path(sys.executable).parent)
    done = run(*argv, env={**os.environ, "PATH": path, **environ})
    assert done.returncode != 0
    assert message in [line.strip() for line in done.stderr.splitlines()]


def test_a_wheel_is_refused_or_not_by_the_environment_of_now(project: Path, tmp_path: Path) -> None:
    """Also where a build folder is kept."""
    import cmake

    skbuild = ["-DSKBUILD=2", "-DSKBUILD_STATE=wheel", f"-DSKBUILD_PLATLIB_DIR={tmp_path}/w"]
    argv: list[str | Path] = [Path(cmake.CMAKE_BIN_DIR, "cmake"), "-S", str(project), "-B", tmp_path / "build", *skbuild]
    for allowed, message in (("", _NO_DEVICE), ("1", None), ("0", _NO_DEVICE), ("1", None)):
        done = run(*argv, env={**os.environ, "ASCEND_HOME_PATH": _SIMULATOR, "OPKIT_ALLOW_SIMULATOR": allowed})
        assert (done.returncode == 0) == (message is None), done.stderr
        assert message is None or message in [line.strip() for line in done.stderr.splitlines()]


_GE = """\
#include <map>

#include "ge/ge_api.h"

extern "C" int initialize() { return ge::GEInitialize(std::map<ge::AscendString, ge::AscendString>{}) == ge::SUCCESS ? 0 : 1; }
"""

_TWO_PATHS = """\
import ctypes, json, os, sys, warnings
sys.path[:0] = sys.argv[2:]
import demo_ops
first = os.environ["ASCEND_CUSTOM_OPP_PATH"]
ge = ctypes.CDLL(sys.argv[1])
initialized = ge.initialize()
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    demo_ops.activate()
    own = [str(warning.message) for warning in told]
    import other_ops
    late = [str(warning.message) for warning in told]
again = ge.initialize()
loaded = sorted({line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps") if "libcust_opapi" in line})
print(json.dumps([first, initialized, own, os.environ["ASCEND_CUSTOM_OPP_PATH"], late, again, loaded]))
"""


@pytest.mark.case("E9")
def test_importing_a_package_activates_it_and_warns_where_ge_has_read_the_path_already(
    unpacked: Path, toolkit_home: Path, tmp_path: Path
) -> None:
    """In one process: GE with the path of A, then with that of B: it is still A's, and that is told."""
    other = tmp_path / "other site"
    shutil.copytree(unpacked / "demo_ops", other / "other_ops")
    (tmp_path / "ge.cpp").write_text(_GE)
    include = [f"-I{toolkit_home}/include", f"-I{toolkit_home}/include/graph", f"-L{toolkit_home}/lib64"]
    libraries = ["-lge_runner", "-lgraph", "-lgraph_base", "-lmetadef"]
    argv = ["g++", "-std=c++17", "-shared", "-fPIC", "-D_GLIBCXX_USE_CXX11_ABI=0", "ge.cpp", *include, *libraries, "-o", "libge_calls.so"]
    made = run(*argv, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    environ = {**os.environ, "LD_LIBRARY_PATH": str(toolkit_home / "lib64")}
    done = run(sys.executable, "-c", _TWO_PATHS, tmp_path / "libge_calls.so", unpacked, other, env=environ)
    assert done.returncode == 0, done.stderr
    first, initialized, own, both, late, again, loaded = json.loads(done.stdout)
    own_root, other_root = unpacked / "demo_ops", other / "other_ops"
    library = f"op_graph/lib/linux/{ARCH}/libcust_opapi.so"
    assert (first, initialized, own) == (str(own_root), 0, [])
    assert both == f"{other_root}:{own_root}"
    assert (again, loaded) == (0, [str(own_root / library)])
    assert len(late) == 1
    assert re.match(
        rf"{re.escape(str(other_root))} comes too late: GE (has loaded {re.escape(str(own_root / library))}|is initialised)", late[0]
    )


def test_a_marked_wheel_for_many_linuxes_is_one_that_pip_installs(
    wheel: Path, packed: Path, cann: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(_project: Project, _wished: object, folder: Path) -> None:
        shutil.copy2(wheel, folder)

    monkeypatch.setattr(wheels, "_build", copy)
    command = ["package", str(packed), "--format", "wheel", "--manylinux", "--toolkit", str(cann), "--dest", str(tmp_path)]
    assert main(command) == 0
    (made,) = tmp_path.glob("*.whl")
    assert re.fullmatch(rf"demo_ops-0\.1\.0-py3-none-manylinux_2_\d+_{ARCH}\.whl", made.name)
    name, content = wheels.rewritten(made.name, made.read_bytes(), version=lambda version: f"{version}+sim")
    (tmp_path / name).write_bytes(content)
    python = environment(tmp_path / "venv")
    _pip(python, "install", "--no-index", "--no-deps", tmp_path / name)
    assert "demo-ops==0.1.0+sim\n" in run(sys.executable, "-m", "pip", "--python", python, "list", "--format=freeze").stdout
    _pip(python, "uninstall", "--yes", "demo-ops")
    assert list(site_packages(python).iterdir()) == []
