"""What the last build depended on, in the build folder and in each tree: why a warm build loads, renders and configures nothing."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from opkit.build.settings import Settings
from opkit.files import LARGEST_TEXT, content_of, digest_of, write_whole

__all__ = [
    "STATE",
    "FolderState",
    "Rendered",
    "Stat",
    "Tracked",
    "TreeState",
    "identity_of",
    "stat_of",
    "stats_of",
    "track",
    "tracked_again",
]

STATE = "opkit-build.json"
_SCHEMA = 3
# A file that changed as lately as this when it was looked at may change again without its time showing it.
_SETTLED_NS = 1_000_000_000

# Size and modification time in ns, and of a tracked file also the time of the last change of any kind and the inode; None for what isn't
# there.
Stat = tuple[int, ...] | None


class Tracked(NamedTuple):
    """A file by its content; `sha` is empty for one that isn't there. With the same `stat` it needn't be read; None is none to rely on."""

    sha: str
    stat: Stat


class Rendered(NamedTuple):
    """What the generated files come from: the spec with its kernels (none for a variant, which has no ops.py), opkit's own text (a checkout
    changes without its version), and the files as they were written. `watched` are those that only a compiler or CMake reads.
    """

    package: str
    ops: tuple[str, ...]
    sources: Mapping[str, Tracked]
    own: Mapping[str, Tracked]
    generated: Mapping[str, Tracked]
    watched: Mapping[str, Tracked] = {}


class FolderState(NamedTuple):
    """What all trees share. Everything is optional: a step that didn't finish leaves its part empty and is done again."""

    # Whose folder it is, and where it was then: a copy of it, or one of a project that is gone, belongs to who builds in it next.
    root: str | None = None
    place: str | None = None
    rendered: Rendered | None = None
    named: Settings = Settings()
    output: str | None = None
    # The tree that the output comes from, and what `Generator.work` gave for it.
    tree: str | None = None
    work: Stat = None
    installed: Mapping[str, Stat] = {}
    # What the installation was made with: CMake's script, and the file that the version is in by its content.
    script: Stat = None
    version: str = ""

    @classmethod
    def read(cls, build_dir: Path) -> FolderState:
        """An unreadable state is no state: all is done again."""
        try:
            return _folder(_document(build_dir))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return cls()

    def write(self, build_dir: Path) -> None:
        _write(build_dir, {**self._asdict(), "rendered": self.rendered and self.rendered._asdict(), "named": self.named._asdict()})


class TreeState(NamedTuple):
    """What one tree was configured with; as with the folder's, what is missing is done again."""

    fingerprint: Mapping[str, str] = {}
    cmake: str | None = None
    cmake_stat: Stat = None
    generator: str | None = None
    program: str | None = None
    # Files of CMake that nobody but CMake may touch between two builds; a truncated cache shows here.
    configured: Mapping[str, Stat] = {}

    @classmethod
    def read(cls, tree: Path) -> TreeState:
        """As `FolderState.read`."""
        try:
            document = _document(tree)
            return cls(
                fingerprint={str(key): str(value) for key, value in document["fingerprint"].items()},
                cmake=document["cmake"],
                cmake_stat=_stat(document["cmake_stat"]),
                generator=document["generator"],
                program=document["program"],
                configured=_stats(document["configured"]),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return cls()

    def write(self, tree: Path) -> None:
        _write(tree, self._asdict())


def stat_of(path: Path | str) -> Stat:
    try:
        found = os.stat(path)  # noqa: PTH116 - hundreds a build, and a Path costs as much as the call
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def identity_of(path: Path | str) -> Stat:
    """What no restored modification time hides behind: each change of the content changes it."""
    try:
        found = os.stat(path)  # noqa: PTH116 - as in `stat_of`
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def stats_of(folder: Path, names: Iterable[str]) -> dict[str, Stat]:
    return {name: stat_of(folder / name) for name in names}


def track(path: Path) -> Tracked:
    # First the time, then the content: what is saved meanwhile must count as changed.
    stat = identity_of(path)
    try:
        sha = digest_of(path)
    except OSError:
        return Tracked("", None)
    is_settled = stat is not None and max(stat[1], stat[2]) < time.time_ns() - _SETTLED_NS
    return Tracked(sha, stat if is_settled else None)


def tracked_again(files: Mapping[str, str], known: Mapping[str, Tracked]) -> tuple[dict[str, Tracked], list[str]]:
    """What the files are now, and the names of those that changed, came or went; `files` gives the path of each name."""
    now, changed = {}, []
    for name, path in files.items():
        before = known.get(name)
        if before is not None and before.stat is not None and before.stat == identity_of(path):
            now[name] = before
            continue
        now[name] = track(Path(path))
        if before is None or before.sha != now[name].sha:
            changed.append(name)
    return now, [*changed, *(name for name in known if name not in files)]


def _document(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(content_of(folder / STATE, most=LARGEST_TEXT))
    if document["schema"] != _SCHEMA:
        raise ValueError(document["schema"])
    return document


def _write(folder: Path, document: dict[str, Any]) -> None:
    write_whole(folder / STATE, json.dumps({"schema": _SCHEMA, **document}, indent=1).encode())


def _folder(document: dict[str, Any]) -> FolderState:
    rendered, named = document["rendered"], document["named"]
    return FolderState(
        root=document["root"],
        place=document["place"],
        rendered=None
        if rendered is None
        else Rendered(
            package=str(rendered["package"]),
            ops=tuple(map(str, rendered["ops"])),
            sources=_tracked(rendered["sources"]),
            own=_tracked(rendered["own"]),
            generated=_tracked(rendered["generated"]),
            watched=_tracked(rendered["watched"]),
        ),
        named=Settings(
            build_type=named["build_type"],
            abi=named["abi"],
            npu_arch=named["npu_arch"],
            launcher=named["launcher"],
            definitions={str(name): str(value) for name, value in named["definitions"].items()},
        ),
        output=document["output"],
        tree=document["tree"],
        work=_stat(document["work"]),
        installed=_stats(document["installed"]),
        script=_stat(document["script"]),
        version=str(document["version"]),
    )


def _tracked(files: dict[str, Any]) -> dict[str, Tracked]:
    return {name: Tracked(str(sha), _stat(stat)) for name, (sha, stat) in files.items()}


def _stats(files: dict[str, Any]) -> dict[str, Stat]:
    return {name: _stat(value) for name, value in files.items()}


def _stat(value: list[int] | None) -> Stat:
    return None if value is None else tuple(map(int, value))
