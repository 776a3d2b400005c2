"""What a configured tree depends on beside the project's files: if any of it differs, CMake runs again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.files import digest_of
from opkit.layout import HOME_VARIABLE
from opkit.toolkit import LAUNCHER_VARIABLE

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.build.request import Request
    from opkit.toolkit import Compiler

__all__ = [
    "COMPILER",
    "COMPILER_VERSION",
    "DEFINITION",
    "LAUNCHER",
    "LAUNCHER_FAULT",
    "LAUNCHER_FILE",
    "NPU_ARCH",
    "OPKIT",
    "PROJECT_VERSION",
    "child_environment",
    "differences",
    "files_read_by",
    "fingerprint",
    "toolchain_file",
]

NPU_ARCH = "NPU architecture"
DEFINITION = "-D "
OPKIT = "opkit"
PROJECT_VERSION = "pyproject.toml"
COMPILER = ("compiler", "compiler file")
COMPILER_VERSION = "compiler version"
LAUNCHER = "launcher"
# Of one that doesn't work, and is passed over until it is another file.
LAUNCHER_FAULT = "launcher in use"
LAUNCHER_FILE = "launcher file"
_TOOLCHAIN = "CMAKE_TOOLCHAIN_FILE"
_OF_CMAKE = r"/cmake(-[\d.]+)?/Modules/"
# What CMake reads when it configures, and where GCC looks for itself and for more headers and libraries.
_VARIABLES = (
    "CXX",
    "CXXFLAGS",
    "LDFLAGS",
    _TOOLCHAIN,
    "CMAKE_PREFIX_PATH",
    "CMAKE_INCLUDE_PATH",
    "CMAKE_LIBRARY_PATH",
    "CMAKE_CXX_LINKER_LAUNCHER",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
)
# Numbers and hashes that say nothing to a person.
_STAMPS = ("toolkit files", "compiler file", "toolchain file", LAUNCHER_FILE, PROJECT_VERSION)
# DESTDIR would send the installation elsewhere and LD_RUN_PATH the library to fixed folders; the others contradict what opkit passes or
# translate what it reads.
_REMOVED = (
    HOME_VARIABLE,
    _TOOLCHAIN,
    LAUNCHER_VARIABLE,
    "DESTDIR",
    "CMAKE_GENERATOR",
    "CMAKE_GENERATOR_INSTANCE",
    "CMAKE_GENERATOR_PLATFORM",
    "CMAKE_GENERATOR_TOOLSET",
    "GNUMAKEFLAGS",
    "LANGUAGE",
    "LC_ALL",
    "LD_RUN_PATH",
    "MAKEFILES",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
)


def fingerprint(request: Request, *, compiler: Compiler, npu_arch: str | None) -> dict[str, str]:
    """`npu_arch` is the architecture that prebuilt kernels are for, None if it is the device's or there are none.

    The build type and the ABI are in the tree's name.
    """
    return {
        "project": str(request.project.root),
        "build folder": str(request.tree.path),
        "toolkit": str(request.toolkit.home),
        "toolkit files": request.toolkit.stamp,
        "compiler": str(compiler.path),
        "compiler file": compiler.stamp,
        **({} if npu_arch is None else {NPU_ARCH: npu_arch}),
        **({} if request.has_program else {"session program": "none"}),
        **{f"{DEFINITION}{name}": value for name, value in request.settings.definitions.items()},
        **{name: request.environ[name] for name in _VARIABLES if request.environ.get(name)},
        **_toolchain(toolchain_file(request.project, request.environ)),
    }


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Each as a person would say it: what changed, from what to what."""
    names = [name for name in {**after, **before} if before.get(name) != after.get(name)]
    return [_difference(name, before, after) for name in names if not _is_told_by_another(name, names, after)]


def _is_told_by_another(name: str, names: list[str], after: Mapping[str, str]) -> bool:
    """Whether what changed follows from another change, and says nothing beside it."""
    if name == LAUNCHER_FAULT:
        return LAUNCHER in names and LAUNCHER_FAULT not in after
    leaders = {"compiler file": ("compiler",), LAUNCHER_FILE: (LAUNCHER, LAUNCHER_FAULT)}
    return any(leader in names for leader in leaders.get(name, ()))


def _difference(name: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    if name == LAUNCHER_FAULT:
        return "the launcher doesn't work" if name in after else "the launcher works again"
    if name in _STAMPS:
        return f"{'' if name == PROJECT_VERSION else 'the '}{name} changed"
    return f"{name} {before.get(name, 'unset')} -> {after.get(name, 'unset')}"


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of CMake, Ninja and the compilers. Messages come in English, because the diagnosis reads them.

    A compiler that CXX names from the current folder is named so that CMake finds it from its own.
    """
    kept = {name: value for name, value in environ.items() if name not in _REMOVED}
    program, space, rest = environ.get("CXX", "").strip().partition(" ")
    if "/" in program and program[0] not in "/'\"":
        kept["CXX"] = f"{Path(program).absolute()}{space}{rest}"
    return {**kept, "LC_ALL": "C.UTF-8", "NINJA_STATUS": "[%f/%t] "}


def toolchain_file(project: Project, environ: Mapping[str, str]) -> Path | None:
    """The one that the environment names, relative to the project or to the current folder. CMake before 3.21 doesn't read the variable."""
    named = environ.get(_TOOLCHAIN)
    if not named:
        return None
    of_project = project.root / named
    return of_project if of_project.is_file() else Path(named).absolute()


def files_read_by(tree: Path, named: Iterable[str], project: Project) -> list[str]:
    """Those of the files that CMake read which are neither the project's nor CMake's own: a toolchain file, and what it includes."""
    found = dict.fromkeys(os.path.normpath(tree / name) for name in named)
    own = (f"{tree}/", f"{project.root}/ge/", f"{project.root}/cmake/", f"{project.root}/CMakeLists.txt", f"{project.root}/pyproject.toml")
    return [path for path in found if not path.startswith(own) and not re.search(_OF_CMAKE, path)]


def _toolchain(file: Path | None) -> dict[str, str]:
    if file is None:
        return {}
    try:
        return {"toolchain file": digest_of(file)}
    except OSError:
        return {}  # CMake says so in its own words.
