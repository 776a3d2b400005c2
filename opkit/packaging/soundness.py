"""What every package is held to, whatever it comes in: a folder, an archive, a wheel or an installer.

GE loads all that lies in the folder that it searches, so a text there, or a library for another machine, is a fault of the package.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from opkit.deliverable import LIBRARY, OS, library_folder, mode_of
from opkit.deliverable.elf import read_library
from opkit.errors import ArchiveEntryError, ArchiveLimitError, DeliverableError, ElfError
from opkit.packaging.entries import Entry, Ledger
from opkit.packaging.requirements import numbers_of
from opkit.packaging.zipped import METADATA_FOLDER
from opkit.toolkit import ARCHITECTURES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from opkit.deliverable import Manifest, ManifestFile, OppRoot
    from opkit.deliverable.elf import ElfLibrary

__all__ = ["WHEEL_AGAIN", "Refusal", "differences", "is_of_wheel", "mended", "refusals", "require_package", "unnamed", "unregistered"]

WHEEL_AGAIN = "install its wheel again: pip install --force-reinstall --no-deps FILE"
_SHOWN = 5
_MODULE = "__init__.py"


class Refusal(NamedTuple):
    """Why something is no package; `where` is a path in it."""

    because: str
    where: str | None = None

    def __str__(self) -> str:
        return self.because if self.where is None else f"{self.where}: {self.because}"


def require_package(root: OppRoot) -> None:
    """Raises DeliverableError for an OPP root that isn't what its manifest says, or that no archive of opkit's could hold."""
    manifest, folder = root.manifest, root.path
    is_wheel = is_of_wheel(folder)
    irregular = {} if is_wheel else manifest.irregularities(folder)
    found: list[object] = [*manifest.violations(folder), *irregular.values(), *_misnamed(manifest)]
    # Only of what is there, and is what it was.
    found += [] if found else refusals(manifest, lambda path: read_library(folder / path))
    if found:
        from opkit.build import build_anew

        msg = f"{folder} isn't what was built"
        again = WHEEL_AGAIN if is_wheel else build_anew(folder)
        help_text = mended(root, [*map(str, found)], again=again, is_of_wheel=is_wheel)
        raise DeliverableError(msg, because="; ".join(map(str, found)), help=help_text)


def is_of_wheel(root: Path) -> bool:
    """Whether a Python's installer put that OPP root where it is: what it makes of one may be links, and have any modes."""
    top = root.absolute()
    if not os.path.lexists(top / _MODULE):
        return False
    while os.path.lexists(top.parent / _MODULE) and top != top.parent:
        top = top.parent
    return any(top.parent.glob(f"*{METADATA_FOLDER}"))


def mended(
    root: OppRoot, violations: Sequence[str], *, again: str, strays: Collection[PurePosixPath] = (), is_of_wheel: bool = False
) -> str:
    """What makes a package whole that has these `violations`. `again` makes its files anew, and leaves what is in the way or isn't one of
    them: that, and a mode, is mended by hand.
    """
    irregular = {} if is_of_wheel else root.manifest.irregularities(root.path)
    modes: dict[int, list[str]] = {}
    removed = list(strays)
    mended_by_hand = list(strays)
    for path in irregular:
        status = os.lstat(root.path / path)
        if stat.S_ISREG(status.st_mode):
            modes.setdefault(mode_of(path), []).append(str(root.path / path))
        else:
            removed.append(path)
        # In the place of a link the package has a file.
        if not stat.S_ISLNK(status.st_mode):
            mended_by_hand.append(path)
    steps = [shlex.join(["chmod", f"{mode:04o}", *paths]) for mode, paths in modes.items()]
    if removed:
        steps.insert(0, f"take out what isn't the package's: {shlex.join(['rm', *(str(root.path / path) for path in removed)])}")
    # What lies in the package, and isn't one of its files, has violations of its own.
    if not steps or any(not each.startswith(tuple(f"{path} " for path in mended_by_hand)) for each in violations):
        steps.append(again)
    return "\n".join(steps)


def refusals(manifest: Manifest, library_of: Callable[[PurePosixPath], ElfLibrary]) -> Iterator[Refusal]:
    """What stands against the machine that it is for and its libraries. `library_of` reads one of its files and raises ElfError for one
    that is no library.
    """
    target = manifest.target
    if target.os != OS or target.arch not in ARCHITECTURES:
        machines = ", ".join(f"{OS} {arch}" for arch in ARCHITECTURES)
        yield Refusal(f"its manifest is for {target.os} {target.arch}; opkit knows {machines}")
        return
    folder = library_folder(target.arch)
    paths = [file.path for file in manifest.files if file.path.suffix == ".so"]
    if not any(path.parent == folder for path in paths):
        yield Refusal(f"it has no library in {folder}, where GE looks for one on {target.os} {target.arch}")
    loaded: list[ElfLibrary] = []
    is_readable = True
    for path in paths:
        try:
            library = library_of(path)
        except ElfError as fault:
            is_readable = False
            yield Refusal(f"it is no library that can be read, and GE loads it with the others: {fault.because}", where=str(path))
            continue
        yield from (Refusal(f"it {difference}", where=str(path)) for difference in differences(library, manifest))
        if path.parent == folder or str(path) == LIBRARY:
            loaded.append(library)
    lacking = unregistered(loaded, manifest) if loaded and is_readable else None
    yield from (Refusal(told) for told in (lacking, unnamed(loaded, manifest)) if told is not None)


def differences(library: ElfLibrary, manifest: Manifest) -> Iterator[str]:
    """What a library shows of itself and the manifest says otherwise, each as what follows its name."""
    if library.machine != manifest.target.arch:
        yield f"is for {library.machine}, the manifest says {manifest.target.arch}"
    requires = manifest.requires
    for word, needs, told in (("glibc", library.glibc, requires.glibc), ("GLIBCXX", library.glibcxx, requires.glibcxx)):
        if needs is not None and told is not None and numbers_of(needs) > numbers_of(told):
            yield f"needs {word} {needs}, the manifest says {told}"
    for element in library.runpath:
        if element != "$ORIGIN" and not element.startswith("$ORIGIN/"):
            yield f"looks for other libraries in {element}, which is a folder of the machine that built it"


def unregistered(libraries: Iterable[ElfLibrary], manifest: Manifest) -> str | None:
    """Which ops of the manifest none of the libraries that GE loads registers; None if each is, or if one hides which those are."""
    known = tuple(libraries)
    lacking = sorted({*manifest.op_types} - {op for library in known for op in library.ops})
    if not lacking or any(library.hides_ops for library in known):
        return None
    registered = _listed(sorted({op for library in known for op in library.ops})) or "none"
    return f"no library of it registers {_listed(lacking)}, which its manifest says; registered: {registered}"


def unnamed(libraries: Iterable[ElfLibrary], manifest: Manifest) -> str | None:
    """Which ops the libraries of a package register that its manifest doesn't name; None if it names all that are certain to be ops."""
    found = sorted({op for library in libraries for op in library.certain_ops} - {*manifest.op_types})
    return f"its libraries register {_listed(found)}, which its manifest doesn't say" if found else None


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


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
