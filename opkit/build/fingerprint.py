"""What a configured build folder depends on beside the project's files: if any of it differs, CMake starts from scratch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.toolkit import Compiler, Toolkit

__all__ = ["BUILD_TYPE", "GENERATOR", "NPU_ARCH", "child_environment", "differences", "fingerprint"]

GENERATOR = "Ninja"
BUILD_TYPE = "Release"
NPU_ARCH = "NPU architecture"
# What CMake reads when it configures, and where GCC looks for more headers and libraries.
_VARIABLES = (
    "CXX",
    "CXXFLAGS",
    "CFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "CMAKE_TOOLCHAIN_FILE",
    "CMAKE_PREFIX_PATH",
    "CMAKE_CXX_COMPILER_LAUNCHER",
    "CMAKE_CXX_LINKER_LAUNCHER",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
)
# DESTDIR would send the installation elsewhere, the others contradict what opkit passes or translate what it reads.
_REMOVED = (
    "ASCEND_HOME_PATH",
    "DESTDIR",
    "CMAKE_GENERATOR",
    "CMAKE_GENERATOR_INSTANCE",
    "CMAKE_GENERATOR_PLATFORM",
    "CMAKE_GENERATOR_TOOLSET",
    "LANGUAGE",
    "LC_ALL",
)


def fingerprint(  # noqa: PLR0913 - what it depends on
    project: Project, toolkit: Toolkit, compiler: Compiler, environ: Mapping[str, str], *, npu_arch: str | None, has_program: bool
) -> dict[str, str]:
    """`npu_arch` is the architecture that prebuilt kernels are for, None if it is the device's or there are none."""
    return {
        "project": str(project.root),
        "build folder": str(project.build_dir),
        "toolkit": str(toolkit.home),
        "toolkit version": toolkit.version,
        "toolkit installation": toolkit.stamp,
        "string ABI": str(toolkit.abi),
        "compiler": str(compiler.path),
        "compiler file": compiler.stamp,
        "generator": GENERATOR,
        "build type": BUILD_TYPE,
        **({} if npu_arch is None else {NPU_ARCH: npu_arch}),
        **({} if has_program else {"session program": "none"}),
        **{name: environ[name] for name in _VARIABLES if environ.get(name)},
    }


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Each as a person would say it: what changed, from what to what."""
    names = [name for name in {**after, **before} if before.get(name) != after.get(name)]
    return [f"{name}: {before.get(name, 'unset')} -> {after.get(name, 'unset')}" for name in names]


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of CMake, Ninja and the compilers. Messages come in English, because the diagnosis reads them."""
    kept = {name: value for name, value in environ.items() if name not in _REMOVED}
    return {**kept, "LC_ALL": "C.UTF-8", "NINJA_STATUS": "[%f/%t] "}
