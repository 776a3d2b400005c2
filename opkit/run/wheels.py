"""Which op packages a Python has in its wheels: their names and folders, from entry points alone.

It runs as a program too, in a Python that needn't have opkit: the standard library of Python 3.10 is all it uses.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import Distribution, EntryPoint, distribution, distributions
from pathlib import Path
from typing import NamedTuple

__all__ = ["InWheel", "Wheels", "in_wheels"]


class InWheel(NamedTuple):
    """A package and its folder; without one, `fault` says why."""

    package: str
    folder: str | None
    fault: str | None = None


class Wheels(NamedTuple):
    """The packages by name, and a sentence for each distribution that can't be asked: whatever else is installed there is anybody's."""

    packages: list[InWheel]
    faults: list[str]


def in_wheels(group: str) -> Wheels:
    """Those that the entry points of the Python that runs this have in the group. Nothing of them is imported."""
    points: list[EntryPoint] = []
    faults: list[str] = []
    for each in distributions():
        found = _points(each, group)
        if isinstance(found, str):
            faults.append(found)
        elif found and not _is_hidden(each):
            points += found
    points.sort(key=lambda point: (point.name, point.value))
    return Wheels([_located(point.name, point.value) for point in dict.fromkeys(points)], [*dict.fromkeys(faults)])


def _points(each: Distribution, group: str) -> list[EntryPoint] | str:
    """A sentence if they can't be read."""
    try:
        return [point for point in each.entry_points if point.group == group]
    except Exception as fault:  # noqa: BLE001 - what is wrong with a stranger's metadata stops nobody else's packages
        return f"{_called(each)} can't be asked for its entry points: {type(fault).__name__}: {fault}"


def _called(each: Distribution) -> str:
    try:
        name = each.metadata["Name"]
    except Exception:  # noqa: BLE001 - as above
        name = None
    return f"the distribution {name or 'without a name'} in {each.locate_file('')}"


def _is_hidden(each: Distribution) -> bool:
    """Whether a distribution of its name stands before it on the path, which is the one that counts."""
    try:
        return str(distribution(each.metadata["Name"]).locate_file("")) != str(each.locate_file(""))
    except Exception:  # noqa: BLE001 - as above: what has no name that can be read hides and is hidden by nobody
        return False


def _located(package: str, module: str) -> InWheel:
    try:
        folders = _folders(module)
    except Exception as fault:  # noqa: BLE001 - what the finders of editable installs raise is up to them
        return InWheel(package, None, f"{type(fault).__name__}: {fault}")
    if not folders:
        return InWheel(package, None, f"its wheel names the module {module!r}, which isn't there")
    return InWheel(package, str(Path(folders[0]).absolute()))


def _folders(module: str) -> list[str]:
    # Not importlib.util.find_spec: it imports the parents of a module.
    path = None
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        specs = (finder.find_spec(".".join(parts[:end]), path) for finder in sys.meta_path)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is None or spec.submodule_search_locations is None:
            return []
        path = list(spec.submodule_search_locations)
    return path or []


if __name__ == "__main__":
    print(json.dumps(in_wheels(sys.argv[1])))  # noqa: T201 - for the opkit that started this
