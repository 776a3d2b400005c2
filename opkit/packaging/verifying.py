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
from opkit.packaging.soundness import differences, unnamed, unregistered
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opkit.deliverable import Manifest, OppRoot
    from opkit.deliverable.elf import ElfLibrary
    from opkit.packaging.prefix import Installed

__all__ = ["Verified", "strays", "verify", "verify_installed"]

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


def verify(root: OppRoot, *, environ: Mapping[str, str] | None, is_of_wheel: bool = False) -> Verified:
    """Finds all that is wrong at once. With `environ`, the environment of a child, each library is loaded in one; without, none is.

    A library runs code when it is loaded, so none is if anything is wrong: then it needn't be what was built. What a Python's installer
    makes of a wheel, `is_of_wheel`, may be links and have any modes.
    """
    violations = [] if is_of_wheel else [*root.manifest.irregularities(root.path).values()]
    return _verified(root, environ, held=[], violations=violations)


def verify_installed(package: Installed, *, environ: Mapping[str, str] | None) -> Verified:
    """As `verify`, and holds the package against the receipt of its install: who edits a file can edit the manifest beside it."""
    root = package.opp_root
    if root is None:
        return Verified(root=None, held=(), violations=(package.fault or "it has no manifest",), skipped=())
    violations = [*package.irregularities().values()]
    if package.receipt is None:
        violations.append(package.receipt_fault or "it has no receipt")
        return _verified(root, environ, held=[], violations=violations)
    violations += _told_by_receipt(package, root.manifest)
    held = ["the manifest's SHA-256 and the modes of all files: against the receipt of its install"]
    return _verified(root, environ, held=held, violations=violations)


def _verified(root: OppRoot, environ: Mapping[str, str] | None, *, held: list[str], violations: list[str]) -> Verified:
    manifest, target = root.manifest, root.manifest.target
    libraries = _libraries(root)
    held.append(f"{len(manifest.files)} files: size and SHA-256, against the manifest")
    violations += manifest.violations(root.path)
    violations += strays(root).values()
    if not libraries:
        violations.append(f"no library in {library_folder(target.arch)}, where GE looks for one on {target.os} {target.arch}")
    present = [path for path in libraries if os.path.isfile(root.path / path)]  # noqa: PTH113 - Path.is_file raises below a closed folder
    violations += _told_by_elf(root.path, present, manifest)
    held.append(f"{_count(present)}: machine, registered ops, glibc and libstdc++ floor, search path, against the manifest")
    unloaded = _why_not_loaded(root, environ, violations)
    if unloaded is None and environ is not None:
        violations += _unloadable(root.path, present, environ)
        held.append(f"{_count(present)}: loaded in a process of its own, in an empty folder with the toolkit and nothing else")
    return Verified(root=root, held=tuple(held), violations=tuple(violations), skipped=() if unloaded is None else (unloaded,))


def strays(root: OppRoot) -> dict[PurePosixPath, str]:
    """By path, the libraries that somebody put where GE finds them, each as one sentence."""
    named = {file.path for file in root.manifest.files}
    return {path: f"{path} isn't in the manifest, and GE loads it with the others" for path in _libraries(root) if path not in named}


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


def _told_by_elf(root: Path, paths: list[PurePosixPath], manifest: Manifest) -> Iterator[str]:
    from opkit.deliverable.elf import read_library

    libraries: dict[PurePosixPath, ElfLibrary] = {}
    for path in paths:
        try:
            library = read_library(root / path)
        except OpkitError as error:
            yield f"{path} is no library that can be read: {error.because}"
            continue
        libraries[path] = library
        yield from (f"{path} {difference}" for difference in differences(library, manifest))
    lacking = unregistered(libraries.values(), manifest) if libraries and len(libraries) == len(paths) else None
    own = {file.path for file in manifest.files}
    # Of a stranger's library that is told which it is.
    for told in (lacking, unnamed((library for path, library in libraries.items() if path in own), manifest)):
        if told is not None:
            yield told


def _unloadable(root: Path, libraries: list[PurePosixPath], environ: Mapping[str, str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="opkit-") as empty:
        for path in libraries:
            argv = [sys.executable, "-I", "-S", "-c", _LOAD, str((root / path).absolute())]
            done = process.run(argv, cwd=Path(empty), env=environ, timeout=_SECONDS)
            if not done.ok:
                told = done.stderr.strip().splitlines()
                reason = told[-1].removeprefix("OSError: ") if told else f"loading it ended with {done.exit}"
                yield f"{path} doesn't load: {reason}"
