"""Holding a package against its manifest: files, libraries, and whether they load where neither source nor build is."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from opkit import process
from opkit.deliverable import LIBRARY, MANIFEST, library_folder
from opkit.errors import OpkitError
from opkit.files import digest_of
from opkit.packaging.prefix import files_of
from opkit.packaging.requirements import numbers_of
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opkit.deliverable import Manifest, OppRoot
    from opkit.deliverable.elf import ElfLibrary
    from opkit.packaging.prefix import Installed

__all__ = ["Verified", "verify", "verify_installed"]

_LOAD = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW)"
_SECONDS = 60


class Verified(NamedTuple):
    """`held` says what was held against what, `violations` what differs, `skipped` what couldn't be tried here; each a sentence.

    `root` is None for a package whose manifest can't be read.
    """

    root: OppRoot | None
    held: tuple[str, ...]
    violations: tuple[str, ...]
    skipped: tuple[str, ...]


def verify(root: OppRoot, *, environ: Mapping[str, str] | None) -> Verified:
    """Finds all that is wrong at once. With `environ`, the environment of a child, each library is loaded in one; without, none is.

    A library runs code when it is loaded, so none is if anything is wrong: then it needn't be what was built.
    """
    return _verified(root, environ, held=[], violations=[])


def verify_installed(package: Installed, *, environ: Mapping[str, str] | None) -> Verified:
    """As `verify`, and holds the package against the receipt of its install: who edits a file can edit the manifest beside it."""
    root = package.opp_root
    if root is None:
        return Verified(root=None, held=(), violations=(package.fault or "it has no manifest",), skipped=())
    if package.receipt is None:
        return verify(root, environ=environ)
    violations = list(_told_by_receipt(package, root.manifest))
    return _verified(root, environ, held=["the manifest: SHA-256, against the receipt of its install"], violations=violations)


def _verified(root: OppRoot, environ: Mapping[str, str] | None, *, held: list[str], violations: list[str]) -> Verified:
    manifest, target = root.manifest, root.manifest.target
    libraries = _libraries(root)
    held.append(f"{len(manifest.files)} files: size and SHA-256, against the manifest")
    violations += manifest.violations(root.path)
    named = {file.path for file in manifest.files}
    violations += [f"{path} isn't in the manifest, and GE loads it with the others" for path in libraries if path not in named]
    if not libraries:
        violations.append(f"no library in {library_folder(target.arch)}, where GE looks for one on {target.os} {target.arch}")
    present = [path for path in libraries if os.path.isfile(root.path / path)]  # noqa: PTH113 - Path.is_file raises below a closed folder
    violations += [violation for path in present for violation in _told_by_elf(root.path, path, manifest)]
    held.append(f"{_count(present)}: machine, registered ops, glibc and libstdc++ floor, search path, against the manifest")
    unloaded = _why_not_loaded(root, environ, violations)
    if unloaded is None and environ is not None:
        violations += _unloadable(root.path, present, environ)
        held.append(f"{_count(present)}: loaded in a process of its own, in an empty folder with the toolkit and nothing else")
    return Verified(root=root, held=tuple(held), violations=tuple(violations), skipped=() if unloaded is None else (unloaded,))


def _why_not_loaded(root: OppRoot, environ: Mapping[str, str] | None, violations: list[str]) -> str | None:
    arch = root.manifest.target.arch
    if environ is None:
        return "not loaded, as you wished"
    if arch != host_arch():
        return f"not loaded: it is for {arch}, this computer is {host_arch()}"
    if violations:
        return "not loaded: what isn't what its manifest says runs nothing here"
    if os.statvfs(root.path).f_flag & os.ST_NOEXEC:
        return f"not loaded: {root.path} lies where nothing may be executed; an archive is unpacked below TMPDIR, which can be another"
    return None


def _told_by_receipt(package: Installed, manifest: Manifest) -> Iterator[str]:
    """The manifest is held against the files, and here against what was installed: what agrees with both is what was installed."""
    now = {file.path: file.sha256 for file in manifest.files} | {PurePosixPath(MANIFEST): digest_of(package.folder / MANIFEST)}
    before = files_of(package)
    for path in sorted({*now, *before}):
        if path not in now:
            yield f"{path} was installed, and the manifest doesn't name it any more"
        elif now[path] != before.get(path):
            yield f"{path} isn't the file that was installed, by the receipt"


def _count(libraries: list[PurePosixPath]) -> str:
    return "1 library" if len(libraries) == 1 else f"{len(libraries)} libraries"


def _libraries(root: OppRoot) -> list[PurePosixPath]:
    """What GE loads: the library at the root, if there is one, and all of the searched folder. Named or not, there or not."""
    folder = library_folder(root.manifest.target.arch)
    named = [file.path for file in root.manifest.files if file.path.suffix == ".so"]
    found = (root.path / LIBRARY, *(root.path / folder).glob("*.so"))
    there = [PurePosixPath(path.relative_to(root.path)) for path in found if os.path.exists(path)]  # noqa: PTH110 - as above
    return sorted({*named, *there})


def _told_by_elf(root: Path, path: PurePosixPath, manifest: Manifest) -> Iterator[str]:
    from opkit.deliverable.elf import read_library

    try:
        library = read_library(root / path)
    except OpkitError as error:
        yield f"{path} is no library that can be read: {error.because}"
        return
    yield from (f"{path} {violation}" for violation in _differences(library, manifest))


def _differences(library: ElfLibrary, manifest: Manifest) -> Iterator[str]:
    if library.machine != manifest.target.arch:
        yield f"is for {library.machine}, the manifest says {manifest.target.arch}"
    for word, needs, told in (("glibc", library.glibc, manifest.requires.glibc), ("GLIBCXX", library.glibcxx, manifest.requires.glibcxx)):
        if needs is not None and told is not None and numbers_of(needs) > numbers_of(told):
            yield f"needs {word} {needs}, the manifest says {told}"
    if library.ops:
        lacking = [op for op in manifest.op_types if op not in library.ops]
        if lacking:
            yield f"doesn't register {', '.join(lacking)}, which the manifest says"
    for element in library.runpath:
        if element != "$ORIGIN" and not element.startswith("$ORIGIN/"):
            yield f"looks for other libraries in {element}, which is a folder of the machine that built it"


def _unloadable(root: Path, libraries: list[PurePosixPath], environ: Mapping[str, str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="opkit-") as empty:
        for path in libraries:
            argv = [sys.executable, "-I", "-S", "-c", _LOAD, str((root / path).absolute())]
            done = process.run(argv, cwd=Path(empty), env=environ, timeout=_SECONDS)
            if not done.ok:
                told = done.stderr.strip().splitlines()
                reason = told[-1].removeprefix("OSError: ") if told else f"loading it ended with {done.exit}"
                yield f"{path} doesn't load: {reason}"
