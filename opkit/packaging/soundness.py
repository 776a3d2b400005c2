"""What every package is held to, whatever it comes in: a folder, an archive, a wheel or an installer.

GE loads all that lies in the folder that it searches, so a text there, or a library for another machine, is a fault of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from opkit.deliverable import OS, library_folder, mode_of
from opkit.errors import ArchiveEntryError, ArchiveLimitError, DeliverableError
from opkit.packaging.entries import Entry, Ledger

if TYPE_CHECKING:
    from opkit.deliverable import Manifest, ManifestFile, OppRoot

__all__ = ["HEAD", "Refusal", "refusals", "require_package"]

HEAD = 64  # the header of a 64-bit ELF file
_MACHINES = {"x86_64": 62, "aarch64": 183}  # e_machine of the ELF specification
_SHARED_OBJECT = 3


class Refusal(NamedTuple):
    """Why something is no package; `where` is a path in it."""

    because: str
    where: str | None = None

    def __str__(self) -> str:
        return self.because if self.where is None else f"{self.where}: {self.because}"


def require_package(root: OppRoot) -> None:
    """Raises DeliverableError for an OPP root that isn't what its manifest says, or that no archive of opkit's could hold."""
    manifest, folder = root.manifest, root.path
    found: list[object] = [*manifest.violations(folder), *_misnamed(manifest)]
    # Only of what is there, and is what it was.
    found += [] if found else refusals(manifest, lambda path: _head_of(root, path))
    if found:
        msg = f"{folder} isn't what was built"
        raise DeliverableError(msg, because="; ".join(map(str, found)), help="opkit build --force")


def refusals(manifest: Manifest, head_of: Callable[[PurePosixPath], bytes]) -> Iterator[Refusal]:
    """What stands against the machine that it is for and its libraries; `head_of` gives the first HEAD bytes of one of its files."""
    target = manifest.target
    if target.os != OS or target.arch not in _MACHINES:
        machines = ", ".join(f"{OS} {arch}" for arch in _MACHINES)
        yield Refusal(f"its manifest is for {target.os} {target.arch}; opkit knows {machines}")
        return
    folder = library_folder(target.arch)
    libraries = [file.path for file in manifest.files if file.path.suffix == ".so"]
    if not any(path.parent == folder for path in libraries):
        yield Refusal(f"it has no library in {folder}, where GE looks for one on {target.os} {target.arch}")
    for path in libraries:
        told = _told_by_head(head_of(path), target.arch)
        if told is not None:
            yield Refusal(f"{told}, and GE loads it with the others", where=str(path))


def _misnamed(manifest: Manifest) -> Iterator[Refusal]:
    ledger = Ledger("its manifest")
    named = (_told_by_name(file, ledger) for file in manifest.files)
    return (refusal for refusal in named if refusal is not None)


def _told_by_name(file: ManifestFile, ledger: Ledger) -> Refusal | None:
    try:
        ledger.enter(Entry(name=str(file.path), is_folder=False, size=file.size), mode=mode_of(file.path))
    except (ArchiveEntryError, ArchiveLimitError) as fault:
        return Refusal(fault.because or fault.message, where=fault.where)
    return None


def _head_of(root: OppRoot, path: PurePosixPath) -> bytes:
    with (root.path / path).open("rb") as file:
        return file.read(HEAD)


def _told_by_head(head: bytes, arch: str) -> str | None:
    if head[:4] != b"\x7fELF" or len(head) < HEAD:
        return "it is no ELF library"
    kind, machine = int.from_bytes(head[16:18], "little"), int.from_bytes(head[18:20], "little")
    if head[4:6] != b"\x02\x01" or kind != _SHARED_OBJECT:
        return "it is no 64-bit shared library"
    if machine != _MACHINES[arch]:
        known = {number: name for name, number in _MACHINES.items()}
        return f"it is a library for {known.get(machine, f'machine {machine}')}, in a package for {arch}"
    return None
