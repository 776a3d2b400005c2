"""The only writer of project files: a tree in memory that reaches the disk whole, never over a file that a person edited.

`.opkit/generated.json` says which files of a project are opkit's, each with the hash of what opkit wrote. It is committed with them, and
what it says isn't trusted.
"""

from __future__ import annotations

import difflib
import enum
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import attrs

from opkit.errors import EditedFileError, FolderNotEmptyError
from opkit.files import (
    FILE_MODE,
    LARGEST_TEXT,
    PROGRAM_MODE,
    content_of,
    guard_reading,
    guard_writing,
    make_folders,
    remove_empty_folders,
    write_whole,
)

__all__ = ["OWNED_FILES", "Changes", "Drift", "DriftKind", "FileSet", "GeneratedFile", "drift"]

OWNED_FILES = ".opkit/generated.json"
_SCHEMA = 1


@attrs.frozen(kw_only=True)
class GeneratedFile:
    """`path` is relative to the project, with `/`."""

    path: str
    text: str
    is_executable: bool = False

    @property
    def content(self) -> bytes:
        return self.text.encode()


@attrs.frozen(kw_only=True)
class Changes:
    """What `FileSet.write` did, as paths relative to the project. `kept` are files that opkit no longer needs but that were edited."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.written or self.removed)


class DriftKind(enum.Enum):
    MISSING = "missing"
    OUTDATED = "outdated"
    EDITED = "edited"
    UNNEEDED = "unneeded"


@attrs.frozen(kw_only=True)
class Drift:
    """One file that isn't what the spec renders to; `diff` is a unified diff from what is on disk to what it would become."""

    path: str
    kind: DriftKind
    diff: str


@attrs.frozen(kw_only=True)
class _Owned:
    """What opkit wrote to a path. `previous` is set while a write is under way: after a crash the file holds the one or the other."""

    digest: str
    previous: str | None = None

    def wrote(self, content: bytes) -> bool:
        return _digest(content) in (self.digest, self.previous)


@attrs.frozen
class FileSet:
    """The files of one project by path."""

    files: tuple[GeneratedFile, ...]

    def __iter__(self) -> Iterator[GeneratedFile]:
        return iter(self.files)

    def __getitem__(self, path: str) -> GeneratedFile:
        for file in self.files:
            if file.path == path:
                return file
        raise KeyError(path)

    def __len__(self) -> int:
        return len(self.files)

    def write(self, project: Path) -> Changes:
        """Writes the files that differ, removes those that opkit owned and no longer needs.

        Raises EditedFileError, with nothing written, if a file that would change isn't as opkit left it, and UnwritableError if the disk
        refuses.
        """
        owned = _read_manifest(project)
        found = {file.path: _read(project, file.path) for file in self.files}
        stale = [file for file in self.files if found[file.path] != file.content]
        edited = [file.path for file in stale if not _is_ours(found[file.path], owned.get(file.path))]
        if edited:
            raise _edited(edited, owned)
        unneeded = {path: _read(project, path) for path in owned if path not in found}
        removable = [path for path, content in unneeded.items() if content is not None and owned[path].wrote(content)]
        kept = [path for path, content in unneeded.items() if content is not None and path not in removable]
        target = {file.path: _Owned(digest=_digest(file.content)) for file in self.files}
        if stale or removable:
            _write_manifest(project, {**owned, **{path: _under_way(owned.get(path), entry) for path, entry in target.items()}})
        for file in stale:
            _replace(project, file.path, file.content, is_executable=file.is_executable)
        for path in removable:
            _remove(project, path)
        _write_manifest(project, target)
        for file in self.files:
            _allow_execution(project, file)
        return Changes(written=tuple(file.path for file in stale), removed=tuple(removable), kept=tuple(kept))

    def create(self, project: Path) -> None:
        """Writes files that are the user's from then on. Raises FolderNotEmptyError, with nothing written, if one of them exists."""
        existing = [file.path for file in self.files if os.path.lexists(project / file.path)]
        if existing:
            msg = f"{project} already has {', '.join(existing)}"
            raise FolderNotEmptyError(msg, help="start the project in a folder of its own")
        for file in self.files:
            _replace(project, file.path, file.content, is_executable=file.is_executable)


def drift(project: Path, fileset: FileSet) -> list[Drift]:
    """What `FileSet.write` would change or refuse, in the order of the set."""
    owned = _read_manifest(project)
    drifts = []
    for file in fileset:
        content = _read(project, file.path)
        if content == file.content:
            continue
        kind = DriftKind.OUTDATED if _is_ours(content, owned.get(file.path)) else DriftKind.EDITED
        if content is None:
            kind = DriftKind.MISSING
        drifts.append(Drift(path=file.path, kind=kind, diff=_diff(file.path, content, file.content)))
    names = {file.path for file in fileset}
    for path in owned:
        content = None if path in names else _read(project, path)
        if content is not None:
            drifts.append(Drift(path=path, kind=DriftKind.UNNEEDED, diff=_diff(path, content, None)))
    return drifts


def _is_ours(content: bytes | None, entry: _Owned | None) -> bool:
    return content is None or (entry is not None and entry.wrote(content))


def _under_way(before: _Owned | None, after: _Owned) -> _Owned:
    return after if before is None or before.digest == after.digest else attrs.evolve(after, previous=before.digest)


def _edited(paths: list[str], owned: Mapping[str, _Owned]) -> EditedFileError:
    changed = [path for path in paths if path in owned]
    foreign = [path for path in paths if path not in owned]
    reasons = []
    if changed:
        reasons.append("edited since opkit wrote them: " + ", ".join(changed))
    if foreign:
        reasons.append("already there and not written by opkit: " + ", ".join(foreign))
    msg = f"generated files would be overwritten: {', '.join(paths)}"
    return EditedFileError(
        msg,
        because="; ".join(reasons),
        help="opkit generate --check shows the differences; to have a file written again, delete it",
    )


def _diff(path: str, before: bytes | None, after: bytes | None) -> str:
    def lines(content: bytes | None) -> list[str]:
        return [] if content is None else content.decode("utf-8", "replace").splitlines(keepends=True)

    diff = difflib.unified_diff(
        lines(before),
        lines(after),
        fromfile="/dev/null" if before is None else f"a/{path}",
        tofile="/dev/null" if after is None else f"b/{path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(project: Path, path: str) -> bytes | None:
    with guard_reading(project / path):
        try:
            return content_of(project / path, most=LARGEST_TEXT)
        except (FileNotFoundError, NotADirectoryError):
            return None


def _read_manifest(project: Path) -> dict[str, _Owned]:
    content = _read(project, OWNED_FILES)
    if content is None:
        return {}
    try:
        document = json.loads(content)
        if document["schema"] != _SCHEMA:
            msg = f"schema {document['schema']!r} is not {_SCHEMA}"
            raise ValueError(msg)  # noqa: TRY301 - one handler for all that can be wrong with the file
        return {_inside(path): _owned(entry) for path, entry in document["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        msg = f"{OWNED_FILES} is not what opkit writes"
        raise EditedFileError(
            msg,
            where=str(project / OWNED_FILES),
            because=f"{type(fault).__name__}: {fault}",
            help="restore it from version control, or delete it: files that are as opkit writes them are taken for its own again",
        ) from fault


def _owned(entry: Mapping[str, object]) -> _Owned:
    previous = entry.get("previous")
    return _Owned(digest=str(entry["sha256"]), previous=None if previous is None else str(previous))


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts or path != str(PurePosixPath(path)):
        msg = f"{path!r} is not a path inside the project"
        raise ValueError(msg)
    return path


def _write_manifest(project: Path, files: Mapping[str, _Owned]) -> None:
    entries = {}
    for path in sorted(files):
        entry = files[path]
        entries[path] = {"sha256": entry.digest} if entry.previous is None else {"sha256": entry.digest, "previous": entry.previous}
    content = (json.dumps({"schema": _SCHEMA, "files": entries}, indent=2, ensure_ascii=False) + "\n").encode()
    if _read(project, OWNED_FILES) != content:
        _replace(project, OWNED_FILES, content, is_executable=False)


def _replace(project: Path, path: str, content: bytes, *, is_executable: bool) -> None:
    target = project / path
    with guard_writing(target):
        make_folders(target.parent)
        write_whole(target, content, mode=PROGRAM_MODE if is_executable else FILE_MODE)


def _remove(project: Path, path: str) -> None:
    target = project / path
    with guard_writing(target):
        target.unlink()
        remove_empty_folders(target.parent, upto=project)


def _allow_execution(project: Path, file: GeneratedFile) -> None:
    target = project / file.path
    if file.is_executable and not os.access(target, os.X_OK):
        with guard_writing(target):
            target.chmod(PROGRAM_MODE)
