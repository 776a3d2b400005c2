"""Which op packages a Python has in its wheels: their names and folders, from entry points alone.

It runs as a program too, in a Python that needn't have opkit: the standard library of Python 3.10 is all it uses.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

__all__ = ["GROUP", "InWheel", "in_wheels"]

GROUP = "opkit.opp"


class InWheel(NamedTuple):
    """A package and its folder; without one, `fault` says why."""

    package: str
    folder: str | None
    fault: str | None = None


def in_wheels() -> list[InWheel]:
    """Those of the Python that runs this, by name. Nothing of them is imported."""
    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    return [_located(point.name, point.value) for point in dict.fromkeys(points)]


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
    print(json.dumps(in_wheels()))  # noqa: T201 - for the opkit that started this
