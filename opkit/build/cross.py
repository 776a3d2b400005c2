"""A build for another processor than this machine's: its compiler, and what CMake is told, as a toolchain file would tell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from opkit.errors import EmulatorMissingError
from opkit.toolkit import cross_definitions, find_compiler, find_cross_compiler, find_emulator, host_arch

if TYPE_CHECKING:
    from opkit.toolkit import Compiler

__all__ = ["Cross"]


class Cross(NamedTuple):
    """`arch` is None for this machine's own, and where the user's toolchain file says what to build for; `emulator` is what starts a
    program that the build makes and runs.
    """

    arch: str | None = None
    emulator: tuple[str, ...] = ()

    @classmethod
    def of(cls, arch: str, environ: Mapping[str, str], *, has_toolchain_file: bool, runs_program: bool) -> Cross:
        """Raises EmulatorMissingError for a build that runs a program which nothing here can run."""
        if arch == host_arch() or has_toolchain_file:
            return cls()
        emulator = find_emulator(environ, arch) if runs_program else ()
        if runs_program and not emulator:
            msg = f"kernels for {arch} can't be prebuilt here"
            because = f"the program that compiles them is built for {arch}, and there is no qemu-{arch}-static on PATH"
            raise EmulatorMissingError(
                msg, because=because, help=f"sudo apt install qemu-user-static, or build on a machine that is {arch}"
            )
        return cls(arch, emulator)

    def find_compiler(self, environ: Mapping[str, str]) -> Compiler:
        """Raises CompilerMissingError."""
        return find_compiler(environ) if self.arch is None else find_cross_compiler(environ, self.arch)

    def fingerprint(self) -> dict[str, str]:
        """What a configured tree depends on. The processor is in its name."""
        return {"emulator": " ".join(self.emulator)} if self.emulator else {}

    def definitions(self) -> dict[str, str]:
        if self.arch is None:
            return {}
        emulator = {"CMAKE_CROSSCOMPILING_EMULATOR": ";".join(self.emulator)} if self.emulator else {}
        return {**cross_definitions(self.arch), **emulator}
