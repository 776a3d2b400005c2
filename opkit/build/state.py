"""What the last build depended on, in the build folder: the reason why a warm build loads, renders and configures nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from opkit.files import write_whole

__all__ = ["STATE", "Rendered", "Stat", "State", "digest", "stat_of", "stats_of"]

STATE = "opkit-build.json"
_SCHEMA = 1

# Size and modification time in ns; None for what isn't there.
Stat = tuple[int, int] | None


class Rendered(NamedTuple):
    """The spec that the generated files come from: its digest and what that covers, and the hash of each file as it was written."""

    package: str
    ops: tuple[str, ...]
    digest: str
    sources: tuple[str, ...]
    generated: Mapping[str, str]


class State(NamedTuple):
    """Everything is optional: a step that didn't finish leaves its part empty and is done again."""

    rendered: Rendered | None = None
    fingerprint: Mapping[str, str] = {}
    cmake: str | None = None
    ninja: str | None = None
    # Files of CMake that nobody but CMake may touch between two builds; a truncated cache shows here.
    configured: Mapping[str, Stat] = {}
    # Ninja's log at the last installation: it grows whenever Ninja, started by whomever, does anything.
    ninja_log: Stat = None
    output: str | None = None
    installed: Mapping[str, Stat] = {}

    @classmethod
    def read(cls, build_dir: Path) -> State:
        """An unreadable state is no state: all is done again."""
        try:
            return _parsed(json.loads((build_dir / STATE).read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def write(self, build_dir: Path) -> None:
        write_whole(
            build_dir / STATE,
            json.dumps({"schema": _SCHEMA, **self._asdict(), "rendered": self.rendered and self.rendered._asdict()}, indent=1).encode(),
        )


def stat_of(path: Path) -> Stat:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def stats_of(folder: Path, names: Iterable[str]) -> dict[str, Stat]:
    return {name: stat_of(folder / name) for name in names}


def digest(files: Mapping[str, Path]) -> str:
    """Over names and contents; a file that isn't there counts as such."""
    total = hashlib.sha256()
    for name, file in files.items():
        try:
            content = file.read_bytes()
        except OSError:
            content = b"\0absent"
        total.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        total.update(content)
    return total.hexdigest()


def _parsed(document: dict[str, Any]) -> State:
    if document["schema"] != _SCHEMA:
        return State()
    rendered = document["rendered"]
    return State(
        rendered=None
        if rendered is None
        else Rendered(
            package=str(rendered["package"]),
            ops=tuple(map(str, rendered["ops"])),
            digest=str(rendered["digest"]),
            sources=tuple(map(str, rendered["sources"])),
            generated={str(path): str(sha) for path, sha in rendered["generated"].items()},
        ),
        fingerprint={str(key): str(value) for key, value in document["fingerprint"].items()},
        cmake=document["cmake"],
        ninja=document["ninja"],
        configured={str(path): _stat(value) for path, value in document["configured"].items()},
        ninja_log=_stat(document["ninja_log"]),
        output=document["output"],
        installed={str(path): _stat(value) for path, value in document["installed"].items()},
    )


def _stat(value: list[int] | None) -> Stat:
    return None if value is None else (int(value[0]), int(value[1]))
