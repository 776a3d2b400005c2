"""Which op packages are installed, in a prefix and in the wheels of a Python, and which of their ops GE would drop for another's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.run.environment import OPP
from opkit.run.installed import Candidate, Sources, candidates, chosen, find_installed

if TYPE_CHECKING:
    from opkit.deliverable import Manifest
    from opkit.lookup import Library

__all__ = ["Dropped", "Entry", "dropped_ops", "dropped_ops_of", "take_inventory"]


class Dropped(NamedTuple):
    """An op type that several libraries register: GE keeps the first, `winning`, and drops that of `libraries`.

    `winner` and `loser` are their OPP roots, and may be one: a library that was put beside another may register what that does.
    """

    op: str
    winner: Path
    loser: Path
    winning: Path
    libraries: tuple[Path, ...]

    @property
    def losing(self) -> str:
        """The libraries for people: a package may have several, and one that isn't its own."""
        return ", ".join(str(library.relative_to(self.loser)) for library in self.libraries)

    def to_json(self) -> dict[str, object]:
        return {
            "op": self.op,
            "winner": str(self.winner),
            "loser": str(self.loser),
            "winning_library": str(self.winning),
            "losing_libraries": [str(library) for library in self.libraries],
        }


class Entry(NamedTuple):
    """One installed package. `source` is what was installed from, with the time in UTC, where that is known; `problems` are sentences.

    `path` is empty for a wheel that leads nowhere. `strays` are libraries that aren't the package's and that GE loads with it, sentences
    too; `hidden_by` is the OPP root that is activated in its stead.
    """

    package: str
    path: Path
    is_wheel: bool
    manifest: Manifest | None
    source: str | None
    installed: str | None
    problems: tuple[str, ...]
    strays: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    hidden_by: Path | None = None

    @property
    def is_somewhere(self) -> bool:
        return self.path != Path()


def take_inventory(prefix: Path | None, environ: Mapping[str, str], python: Path | None = None) -> list[Entry]:
    """By name; where the prefix and a wheel have a package of one name, that of the prefix comes first and is the one that is activated.

    ``python`` is as `Sources` has it; raises PythonError for one that can't be asked.
    """
    there = candidates(Sources(prefix, python))
    used = chosen(there)
    dropped = dropped_ops([used[package].path for package in sorted(used)], environ)
    entries = [_entry_of(each, dropped, used[each.package].path if each.package in used else None) for each in there]
    return sorted(entries, key=lambda entry: (entry.package, entry.is_wheel))


def dropped_ops(roots: Iterable[Path], environ: Mapping[str, str]) -> list[Dropped]:
    """What GE would drop with `roots` activated in this order, before what ASCEND_CUSTOM_OPP_PATH names already."""
    roots = [*roots]
    if len(roots) < 2 and not environ.get(OPP):
        return []  # Nobody to be shadowed by: no library has to be read.
    from opkit.lookup import lookup, shadows

    places = lookup(environ, None, first=roots).custom
    losers: dict[tuple[str, Library, Path], list[Path]] = {}
    for shadow in shadows(places):
        losers.setdefault((shadow.op, shadow.winner, shadow.loser.root), []).append(shadow.loser.path)
    return [
        Dropped(op=op, winner=winner.root, loser=loser, winning=winner.path, libraries=tuple(libraries))
        for (op, winner, loser), libraries in losers.items()
    ]


def dropped_ops_of(roots: Iterable[Path], sources: Sources, environ: Mapping[str, str]) -> list[Dropped]:
    """What GE would drop of these OPP roots, or for one of them, with all activated that is installed."""
    dropped = dropped_ops([root.path for root in find_installed(sources)], environ)
    concerned = {*roots}
    return [each for each in dropped if {each.winner, each.loser} & concerned]


def _entry_of(candidate: Candidate, dropped: Iterable[Dropped], used: Path | None) -> Entry:
    from opkit.packaging import strays

    installed, root = candidate.installed, candidate.root
    receipt = None if installed is None else installed.receipt
    problems = [*candidate.faults] if installed is None else installed.problems()
    return Entry(
        package=candidate.package,
        path=candidate.path or Path(),
        is_wheel=installed is None,
        manifest=None if root is None else root.manifest,
        source=None if receipt is None else receipt.source,
        installed=None if receipt is None else receipt.installed,
        problems=tuple(problems),
        strays=() if root is None else tuple(strays(root).values()),
        dropped=tuple(each for each in dropped if each.loser == candidate.path == used),
        hidden_by=None if candidate.faults or candidate.path == used else used,
    )
