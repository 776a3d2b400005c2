"""What a tree is configured with, held against what it was configured with last: why CMake runs again, how far, and with which entries."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit import __version__
from opkit.build.cross import Cross
from opkit.build.fingerprint import (
    COMPILER,
    COMPILER_VERSION,
    DEFINITION,
    LAUNCHER,
    LAUNCHER_FAULT,
    LAUNCHER_FILE,
    NPU_ARCH,
    OPKIT,
    PROJECT_VERSION,
    child_environment,
    differences,
    files_read_by,
    fingerprint,
    toolchain_file,
)
from opkit.build.rendering import VERSION_FILE
from opkit.build.scratch import scratch_folder
from opkit.build.settings import BUILD_TYPES
from opkit.build.state import stat_of, stats_of
from opkit.console import console
from opkit.errors import UsageError
from opkit.layout import PREBUILD_PROGRAM
from opkit.toolkit import LAUNCHER_VARIABLE, NO_LAUNCHER, find_launcher, require_target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opkit.build.generator import Generator
    from opkit.build.request import Request
    from opkit.build.state import FolderState, Stat, TreeState
    from opkit.toolkit import Compiler, Launcher

__all__ = ["Configuration", "files_of_cmake", "is_in_place", "reasons_to_configure", "require_abi_of_flags", "version_of", "wanted"]


class Configuration(NamedTuple):
    """`npu_arch` is None if nothing is prebuilt, or for this machine's device."""

    compiler: Compiler
    cross: Cross
    launcher: Launcher | None
    npu_arch: str | None
    fingerprint: Mapping[str, str]

    def without_launcher(self, request: Request) -> Configuration | None:
        """The same but for its launcher if that has a fault, for which it is tried; None if it has none."""
        launcher = self.launcher
        if launcher is None or not _is_faulty(launcher, self.compiler, request):
            return None
        fault = {LAUNCHER_FAULT: NO_LAUNCHER, LAUNCHER_FILE: launcher.stamp}
        return self._replace(launcher=None, fingerprint={**self.fingerprint, **fault})

    def definitions(self, request: Request, generator: Generator) -> dict[str, str | Path | int]:
        """The entries of CMake's cache."""
        toolchain = toolchain_file(request.project, request.environ)
        return {
            **request.settings.definitions,
            **self.cross.definitions(),
            "CMAKE_BUILD_TYPE": request.settings.build_type or BUILD_TYPES[0],
            "CMAKE_MAKE_PROGRAM": generator.program,
            "CMAKE_INSTALL_PREFIX": request.project.output,
            "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
            "ASCEND_HOME_PATH": request.toolkit.home,
            "OPKIT_CXX11_ABI": request.toolkit.abi,
            "OPKIT_VERSION": self.fingerprint[OPKIT],
            **({} if request.has_program else {"OPKIT_SESSION_RUN": "OFF"}),
            **({} if self.npu_arch is None else {"OPKIT_NPU_ARCH": self.npu_arch}),
            **({} if self.launcher is None else {LAUNCHER_VARIABLE: ";".join(self.launcher.command)}),
            **({} if toolchain is None else {"CMAKE_TOOLCHAIN_FILE": toolchain}),
            **({} if self.compiler.is_named or toolchain is not None else {"CMAKE_CXX_COMPILER": self.compiler.path}),
        }


def wanted(request: Request, folder: FolderState, state: TreeState) -> Configuration:
    """What the tree is to be configured with. Raises UsageError, or a MachineError for a tool that is missing."""
    known = folder.rendered
    is_prebuilding = known is not None and PREBUILD_PROGRAM in known.generated
    npu_arch = _npu_arch(request, is_prebuilding=is_prebuilding)
    cross = Cross.of(
        request.toolkit.arch,
        request.environ,
        has_toolchain_file=toolchain_file(request.project, request.environ) is not None,
        runs_program=is_prebuilding,
    )
    compiler = cross.find_compiler(request.environ)
    found = fingerprint(request, compiler=compiler, npu_arch=npu_arch)
    found |= cross.fingerprint()
    found[OPKIT] = __version__
    version = version_of(folder)
    if version:
        found[PROJECT_VERSION] = version
    found[COMPILER_VERSION] = _compiler_version(compiler, cross, request, found, state)
    launcher, about_launcher = _launcher(compiler, request, state)
    return Configuration(compiler, cross, launcher, npu_arch, {**found, **about_launcher})


def version_of(folder: FolderState) -> str:
    """The file that the version of the package is in, by its content."""
    known = folder.rendered
    file = None if known is None else known.watched.get(VERSION_FILE)
    return "" if file is None else file.sha


def reasons_to_configure(request: Request, state: TreeState, fingerprint_now: Mapping[str, str], generator: str | None) -> list[str]:
    """Each as a person would say it; `generator` is the one that the environment names, if any."""
    tree = request.tree
    if not state.fingerprint:
        is_new = not (tree.path / "CMakeCache.txt").exists()
        return [f"{tree.key} is new" if is_new else f"the last configuration of {tree.key} didn't succeed, or isn't known"]
    reasons = differences(state.fingerprint, fingerprint_now)
    changed = [name for name, stat in state.configured.items() if stat != stat_of(tree.path / name)]
    if changed:
        reasons.append(f"{changed[0]} {'changed' if changed[0].startswith('/') else 'was changed from outside'}")
    if state.cmake is None or state.cmake_stat is None or stat_of(state.cmake) != state.cmake_stat:
        reasons.append(f"{state.cmake} isn't the CMake that it was")
    if generator is not None and generator != state.generator:
        reasons.append(f"generator {state.generator} -> {generator}")
    elif state.generator is None or state.program is None or stat_of(state.program) is None:
        reasons.append(f"{state.program} isn't where it was")
    return reasons


def is_in_place(request: Request, state: TreeState, fingerprint_now: Mapping[str, str]) -> bool:
    """Whether CMake may go on from its cache, where the change costs no more than what depends on it.

    That is so if nothing changed but what the project itself reads: the architecture of prebuilt kernels, versions, own definitions.
    """
    before = state.fingerprint
    changed = [name for name in {**before, **fingerprint_now} if before.get(name) != fingerprint_now.get(name)]
    of_project = [name for name in changed if name in (NPU_ARCH, OPKIT, PROJECT_VERSION) or name.startswith(DEFINITION)]
    of_cmake = [name for name in of_project if name.startswith(f"{DEFINITION}CMAKE_")]
    if not before or not changed or changed != of_project or of_cmake:
        return False
    return not reasons_to_configure(request, state, before, None)


def require_abi_of_flags(request: Request) -> None:
    """Raises AbiError for flags that contradict the ABI to build with."""
    from opkit.build.linked import require_one_abi

    definitions = request.settings.definitions
    require_one_abi(request.toolkit, request.environ, definitions, kept=definitions.keys() - request.asked.definitions)


def files_of_cmake(request: Request, generator: Generator) -> dict[str, Stat]:
    """Those of the tree, and if a toolchain file is in use what it includes: by the names of their paths."""
    path = request.tree.path
    has_toolchain_file = toolchain_file(request.project, request.environ) is not None
    outside = files_read_by(path, generator.dependencies(path), request.project) if has_toolchain_file else []
    return stats_of(path, [*generator.files(path), *outside])


def _npu_arch(request: Request, *, is_prebuilding: bool) -> str | None:
    """Raises UsageError for an architecture that would be named in vain."""
    if is_prebuilding:
        return request.settings.npu_arch
    if request.asked.npu_arch is not None:
        msg = f"--npu-arch {request.asked.npu_arch} says nothing here"
        because = 'no op of the package has compile="prebuilt": its kernels are compiled for the device that a graph is for'
        raise UsageError(msg, because=because)
    return None


def _compiler_version(compiler: Compiler, cross: Cross, request: Request, found: Mapping[str, str], state: TreeState) -> str:
    """Raises CompilerMissingError for a compiler that wasn't asked before and compiles for another processor."""
    known = state.fingerprint
    if COMPILER_VERSION in known and all(known.get(name) == found[name] for name in COMPILER):
        return known[COMPILER_VERSION]
    if cross.arch is None and toolchain_file(request.project, request.environ) is None:
        require_target(compiler, request.environ, request.toolkit.arch)
    return compiler.version()


def _launcher(compiler: Compiler, request: Request, state: TreeState) -> tuple[Launcher | None, dict[str, str]]:
    """The launcher to use, and what the tree is to know of it. One is tried once, and again if it failed and is another file."""
    launcher = find_launcher(request.environ, compiler, request.settings.launcher)
    if launcher is None:
        return None, {}
    sound = {LAUNCHER: launcher.shown}
    faulty = {**sound, LAUNCHER_FAULT: NO_LAUNCHER, LAUNCHER_FILE: launcher.stamp}
    known = {name: value for name, value in state.fingerprint.items() if name in faulty}
    is_faulty = known == faulty or (known != sound and _is_faulty(launcher, compiler, request))
    return (None, faulty) if is_faulty else (launcher, sound)


def _is_faulty(launcher: Launcher, compiler: Compiler, request: Request) -> bool:
    """Tries it, and says once what is wrong."""
    with scratch_folder(request.project) as folder:
        fault = launcher.fault(compiler, folder, child_environment(request.environ))
    if fault is not None:
        named = request.settings.launcher
        again = "" if named is None else f" --launcher {shlex.quote(named)}"  # --force forgets it
        console.warn(
            f"{launcher.shown} ({launcher.reason}) doesn't work, so nothing is compiled through it: {fault}",
            help=f"opkit build --launcher none, or mend it and: opkit build --force{again}",
            is_once=True,  # `opkit test` builds twice
        )
    return fault is not None
