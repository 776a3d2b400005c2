"""Which op packages are installed, in a prefix and in the wheels of a Python, and which of their ops GE would drop for another's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.deliverable import MANIFEST, Manifest
from opkit.errors import DeliverableError
from opkit.run.environment import OPP
from opkit.run.installed import Sources, find_installed, wheels_of

if TYPE_CHECKING:
    from opkit.packaging import Installed

__all__ = ["Dropped", "Entry", "dropped_ops", "dropped_ops_of", "take_inventory"]


class Dropped(NamedTuple):
    """An op type that several libraries register: GE keeps the first. Both are OPP roots."""

    op: str
    winner: Path
    loser: Path


class Entry(NamedTuple):
    """One installed package. `source` is what was installed from, with the time in UTC, where that is known; `problems` are sentences."""

    package: str
    path: Path
    is_wheel: bool
    manifest: Manifest | None
    source: str | None
    installed: str | None
    problems: tuple[str, ...]
    dropped: tuple[Dropped, ...] = ()


def take_inventory(prefix: Path | None, environ: Mapping[str, str], python: Path | None = None) -> list[Entry]:
    """By name; where the prefix and a wheel have a package of one name, that of the prefix comes first and is the one that is activated.

    ``python`` is as `Sources` has it; raises PythonError for one that can't be asked.
    """
    from opkit.packaging import installed

    entries = [_of_prefix(each) for each in ([] if prefix is None else installed(prefix))]
    entries = sorted([*entries, *_of_wheels(python)], key=lambda entry: (entry.package, entry.is_wheel))
    used = {entry.package: entry.path for entry in reversed(entries) if entry.manifest is not None}
    dropped = dropped_ops([used[package] for package in sorted(used)], environ)
    return [entry._replace(dropped=tuple(each for each in dropped if each.loser == entry.path)) for entry in entries]


def dropped_ops(roots: Iterable[Path], environ: Mapping[str, str]) -> list[Dropped]:
    """What GE would drop with `roots` activated in this order, before what ASCEND_CUSTOM_OPP_PATH names already."""
    roots = [*roots]
    if len(roots) < 2 and not environ.get(OPP):
        return []  # Nobody to be shadowed by: no library has to be read.
    from opkit.lookup import lookup, shadows

    places = lookup(environ, None, first=roots).custom
    return [Dropped(op=shadow.op, winner=shadow.winner.root, loser=shadow.loser.root) for shadow in shadows(places)]


def dropped_ops_of(roots: Iterable[Path], sources: Sources, environ: Mapping[str, str]) -> list[Dropped]:
    """What GE would drop of these OPP roots, or for one of them, with all activated that is installed."""
    dropped = dropped_ops([root.path for root in find_installed(sources)], environ)
    concerned = {*roots}
    return [each for each in dropped if {each.winner, each.loser} & concerned]


def _of_prefix(installed: Installed) -> Entry:
    receipt = installed.receipt
    return Entry(
        package=installed.package,
        path=installed.path,
        is_wheel=False,
        manifest=installed.manifest,
        source=None if receipt is None else receipt.source,
        installed=None if receipt is None else receipt.installed,
        problems=tuple(installed.problems()),
    )


def _of_wheels(python: Path | None) -> Iterator[Entry]:
    for wheel in wheels_of(python):
        folder = Path(wheel.folder or "")
        manifest, problems = None, []
        if wheel.folder is None:
            problems = [wheel.fault or "its wheel names no folder"]
        else:
            try:
                manifest = Manifest.read(folder)
                problems = [f"{folder / MANIFEST} is missing"] if manifest is None else manifest.violations(folder)
            except DeliverableError as error:
                problems = [error.message]
        yield Entry(
            package=wheel.package, path=folder, is_wheel=True, manifest=manifest, source=None, installed=None, problems=tuple(problems)
        )
