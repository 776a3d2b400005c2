"""Running what is built for another processor: through QEMU's emulation of one process, whose system calls and files are this machine's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opkit.errors import EmulatorMissingError
from opkit.toolkit import find_emulator, host_arch

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["launcher_for"]


def launcher_for(arch: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What to put before a program for `arch`: nothing if it is this machine's. Raises EmulatorMissingError."""
    if arch == host_arch():
        return ()
    launcher = find_emulator(environ, arch)
    if not launcher:
        msg = f"a program for {arch} doesn't run here"
        because = f"this machine is {host_arch()}, qemu-{arch}-static isn't on PATH, and the kernel has no emulator for {arch} either"
        raise EmulatorMissingError(msg, because=because, help=f"sudo apt install qemu-user-static, or run it on a machine that is {arch}")
    return launcher
