"""Which files of an installed package aren't opkit's to remove: what somebody put beside its files, and what somebody changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from opkit.files import digest_of, guard_reading

__all__ = ["Kept", "carry", "empty_folders", "kept_files"]

# Not a name that GE would load: it takes every `*.so`.
_EDITED = ".edited"


class Kept(NamedTuple):
    """A file that stays, where it was and where it is now; both relative to the OPP root. `is_edited`: it was one of opkit's."""

    path: PurePosixPath
    place: PurePosixPath
    is_edited: bool


def kept_files(root: Path, *, ours: Mapping[PurePosixPath, str], new: Mapping[PurePosixPath, str]) -> list[Kept]:
    """What has to stay of `root` when a version with the files `new` takes its place, each path with its SHA-256; `ours` are those that
    opkit put there.

    A foreign file stays at its place, unless the new version has something there. A file that was edited moves to a name beside it.
    Raises UnreadableError.
    """
    foreign: list[PurePosixPath] = []
    moved: list[PurePosixPath] = []
    places = _Places(new)
    with guard_reading(root):
        for path in _files_below(root):
            digest = digest_of(root / path) if (root / path).is_file() and not (root / path).is_symlink() else None
            if digest is not None and digest in (ours.get(path), new.get(path)):
                continue
            (moved if path in ours or places.is_taken(path) else foreign).append(path)
    for path in foreign:
        places.take(path)
    kept = [Kept(path=path, place=path, is_edited=False) for path in foreign]
    return sorted(kept + [Kept(path=path, place=places.beside(path), is_edited=path in ours) for path in moved])


def empty_folders(root: Path, *, ours: Collection[PurePosixPath], new: Collection[PurePosixPath]) -> list[PurePosixPath]:
    """Those in which no file is, without what opkit made for its files, and without what is in the way of one. Raises UnreadableError."""
    with guard_reading(root):
        found = [
            PurePosixPath(current).relative_to(root)
            for current, folders, files in os.walk(root, onerror=_raise)
            if not files and not folders and current != str(root)
        ]
    known = {parent for path in (*ours, *new) for parent in path.parents}
    return sorted(path for path in found if path not in known and not {path, *path.parents} & {*new})


def carry(kept: Collection[Kept], source: Path, target: Path, *, folders: Iterable[PurePosixPath] = ()) -> None:
    """Brings the files to their places below `target`, as links where they can be, and the empty `folders`; the originals stay.

    A folder that isn't there yet gets the mode of its original, and for the superuser its owner too.
    """
    made: list[tuple[Path, Path]] = []
    for path in folders:
        _make_like(source, path / "_", target, path / "_", made)
    for file in kept:
        place = target / file.place
        _make_like(source, file.path, target, file.place, made)
        try:
            os.link(source / file.path, place, follow_symlinks=False)
        except OSError:
            # Someone else's file may not be linked, nor a file of a mount of its own.
            shutil.copy2(source / file.path, place, follow_symlinks=False)
    for original, folder in reversed(made):
        status = original.stat()
        with suppress(PermissionError):
            os.chown(folder, status.st_uid, status.st_gid)
        folder.chmod(status.st_mode & 0o7777)


def _make_like(source: Path, path: PurePosixPath, target: Path, place: PurePosixPath, made: list[tuple[Path, Path]]) -> None:
    """Makes the folders of `place`, at first for nobody else: what is in them may be as private as they are."""
    for original, folder in reversed([*zip(path.parents, place.parents, strict=True)]):
        if not (target / folder).is_dir():
            (target / folder).mkdir(mode=0o700)
            made.append((source / original, target / folder))


class _Places:
    """Which paths are in use, as a file or as a folder."""

    def __init__(self, files: Collection[PurePosixPath]) -> None:
        self._files = {*files}
        self._folders = {parent for path in files for parent in path.parents}
        self._renamed: dict[PurePosixPath, PurePosixPath] = {}

    def is_taken(self, path: PurePosixPath) -> bool:
        return path in self._files or path in self._folders or any(parent in self._files for parent in path.parents)

    def take(self, path: PurePosixPath) -> None:
        self._files.add(path)
        self._folders.update(path.parents)

    def beside(self, path: PurePosixPath) -> PurePosixPath:
        """A free place for `path`: its name, or that of the folder above it that is a file now, with a suffix."""
        culprit = next((parent for parent in reversed(path.parents) if parent in self._files), path)
        if culprit == path:
            place = self._suffixed(path)
        else:
            # What lay in one folder stays together.
            if culprit not in self._renamed:
                self._renamed[culprit] = self._suffixed(culprit)
            place = self._renamed[culprit] / path.relative_to(culprit)
        self.take(place)
        return place

    def _suffixed(self, path: PurePosixPath) -> PurePosixPath:
        place, number = path.with_name(path.name + _EDITED), 1
        while self.is_taken(place):
            number += 1
            place = path.with_name(f"{path.name}{_EDITED}.{number}")
        return place


def _files_below(root: Path) -> Iterator[PurePosixPath]:
    """All that isn't a folder, links to folders included. Raises OSError for what can't be read."""
    for current, folders, files in os.walk(root, onerror=_raise):
        folder = PurePosixPath(current).relative_to(root)
        yield from (folder / name for name in files)
        yield from (folder / name for name in folders if Path(current, name).is_symlink())


def _raise(fault: OSError) -> None:
    raise fault
