"""What a package needs of the machine that loads it, held against what that machine is: before an install, and in a verify."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.deliverable import OS, is_of_the_system
from opkit.errors import IncompatibleError
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from collections.abc import Collection

    from opkit.deliverable import Manifest
    from opkit.toolkit import Toolkit

__all__ = ["Requirement", "ThisMachine", "numbers_of", "require_met", "this_machine", "unmet"]


class ThisMachine(NamedTuple):
    """What is known of the machine; None is what isn't. `npu_arch` is that of its device, or of the simulator that stands in for one where
    there `is_simulated`.
    """

    os: str
    arch: str
    glibc: str | None
    toolkit: str | None = None
    npu_arch: str | None = None
    glibcxx: str | None = None
    libraries: Path | None = None  # the folder of the toolkit's
    is_simulated: bool = False


class Requirement(NamedTuple):
    """One that isn't met. `is_fatal`: nothing that is installed or set later could meet it."""

    message: str
    because: str
    help: str
    is_fatal: bool


def this_machine(toolkit: Toolkit | None, *, npu_arch: str | None = None) -> ThisMachine:
    """`npu_arch` as the toolkit's runtime names it."""
    return ThisMachine(
        os=OS,
        arch=host_arch(),
        glibc=_own_glibc(),
        toolkit=None if toolkit is None else toolkit.version,
        npu_arch=npu_arch,
        glibcxx=_own_glibcxx(),
        libraries=None if toolkit is None else toolkit.lib64,
        is_simulated=toolkit is not None and toolkit.is_simulator,
    )


def unmet(manifest: Manifest, machine: ThisMachine) -> list[Requirement]:
    """All that stands between this package and this machine, and a built-in doubt: a library of the simulator's.

    Neither an older toolkit is a fatal one nor an older C++ library, nor one that isn't found: which ones an op runs with is said at run
    time, by ASCEND_HOME_PATH and LD_LIBRARY_PATH, and may change.
    """
    target, requires, package = manifest.target, manifest.requires, f"{manifest.package} {manifest.version}"
    found = []
    if (target.os, target.arch) != (machine.os, machine.arch):
        message = f"{package} is for {target.os} {target.arch}"
        found.append(_fatal(message, f"this computer is {machine.os} {machine.arch}", f"take the package for {machine.arch}"))
    if requires.glibc is not None and (machine.glibc is None or numbers_of(machine.glibc) < numbers_of(requires.glibc)):
        has = "this computer has no glibc" if machine.glibc is None else f"this computer has glibc {machine.glibc}"
        found.append(_fatal(f"{package} needs glibc {requires.glibc} or newer", has, "build it on a system that is as old as this one"))
    if target.npu_arch is not None and machine.npu_arch is not None and target.npu_arch != machine.npu_arch:
        message = f"the kernels of {package} are compiled for {target.npu_arch}"
        advice = f"take the package for {machine.npu_arch}, or build it for that: opkit build --npu-arch {machine.npu_arch}"
        if machine.is_simulated:
            # Who has no device may well install for those who do.
            because = f"no device is here, and the simulator stands for {machine.npu_arch}"
            found.append(Requirement(message, because, advice, is_fatal=False))
        else:
            found.append(_fatal(message, f"the device here is {machine.npu_arch}", advice))
    if requires.toolkit is not None and machine.toolkit is not None and _is_older(machine.toolkit, requires.toolkit):
        message = f"{package} needs toolkit {requires.toolkit} or newer"
        found.append(
            Requirement(message, f"the toolkit in use is {machine.toolkit}", "name a newer one with ASCEND_HOME_PATH", is_fatal=False)
        )
    if requires.glibcxx is not None and machine.glibcxx is not None and _is_older(machine.glibcxx, requires.glibcxx):
        because = f"the libstdc++ that is found here has GLIBCXX {machine.glibcxx}"
        advice = "build it with an older compiler, or name a newer libstdc++ with LD_LIBRARY_PATH where it runs"
        found.append(Requirement(f"{package} needs GLIBCXX {requires.glibcxx} or newer", because, advice, is_fatal=False))
    own = {file.path.name for file in manifest.files}
    lacking = [] if machine.libraries is None else [each for each in requires.libraries if not _is_there(each, machine.libraries, own)]
    if lacking:
        because = f"neither the toolkit in {machine.libraries} nor the C++ runtime brings it, nor the package"
        advice = "name the folder that has it with LD_LIBRARY_PATH where it runs"
        found.append(Requirement(f"{package} needs {', '.join(lacking)}", because, advice, is_fatal=False))
    if manifest.built_against.is_simulator:
        message = f"{manifest.package} {manifest.marked_version} was built against the host simulator"
        because = "a device would load it, and its results are worth nothing there"
        found.append(Requirement(message, because, "build again with a CANN toolkit before it goes to a device", is_fatal=False))
    return found


def require_met(manifest: Manifest, machine: ThisMachine) -> list[Requirement]:
    """Raises IncompatibleError with all fatal ones at once; gives the others, to be told as warnings."""
    found = unmet(manifest, machine)
    fatal = [each for each in found if each.is_fatal]
    if fatal:
        because = "; ".join([fatal[0].because, *(f"{each.message}: {each.because}" for each in fatal[1:])])
        raise IncompatibleError(fatal[0].message, because=because, help=fatal[0].help)
    return [each for each in found if not each.is_fatal]


def _fatal(message: str, because: str, advice: str) -> Requirement:
    return Requirement(message, because, advice, is_fatal=True)


def _is_there(soname: str, toolkit: Path, own: Collection[str]) -> bool:
    return is_of_the_system(soname) or soname in own or (toolkit / soname).exists()


def _own_glibcxx() -> str | None:
    """The newest version of the libstdc++ that a program would load here; None if there is none."""
    try:
        ctypes.CDLL("libstdc++.so.6")
        mapped = Path("/proc/self/maps").read_text("utf-8", "surrogateescape")
        found = re.search(r"(?m)\S*/libstdc\+\+\.so\.6\S*$", mapped)
        versions = [] if found is None else re.findall(rb"GLIBCXX_(\d+(?:\.\d+)+)\0", Path(found[0]).read_bytes())
    except OSError:
        return None
    return max((version.decode() for version in versions), key=numbers_of, default=None)


def _own_glibc() -> str | None:
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except ValueError:  # Another C library doesn't know the question.
        return None
    return version if name == "glibc" and re.fullmatch(r"\d+(\.\d+)*", version) else None


def numbers_of(version: str) -> tuple[int, ...]:
    """Of "9.2.0-sim" the leading numbers, without zeros at their end: 9.2 is no older than 9.2.0."""
    numbers = [int(part) for part in (re.match(r"\d+(\.\d+)*", version) or [""])[0].split(".") if part]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _is_older(version: str, oldest: str) -> bool:
    """False for a version that has no number, such as that of a toolkit that doesn't tell it."""
    return bool(numbers_of(version)) and numbers_of(version) < numbers_of(oldest)
