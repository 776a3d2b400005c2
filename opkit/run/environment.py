"""The environment of a child that uses a toolkit and deliverables: the three variables that GE and the dynamic loader read, and nothing
else changed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from opkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from opkit.toolkit import Toolkit

__all__ = ["CHANGED", "HOME", "LIBRARIES", "OPP", "activate", "prepended"]

HOME = "ASCEND_HOME_PATH"
OPP = "ASCEND_CUSTOM_OPP_PATH"
LIBRARIES = "LD_LIBRARY_PATH"
CHANGED = (HOME, OPP, LIBRARIES)


def activate(toolkit: Toolkit, opp_roots: Iterable[Path], base: Mapping[str, str]) -> dict[str, str]:
    """Gives `base` with the toolkit and the OPP roots first. GE lets the first registration of an op win, so the order is the caller's.

    Raises UsageError for a folder that a path list can't hold.
    """
    changed = {
        HOME: str(toolkit.home),
        OPP: prepended(base.get(OPP, ""), opp_roots),
        LIBRARIES: prepended(base.get(LIBRARIES, ""), [toolkit.lib64]),
    }
    return {
        **{name: value for name, value in base.items() if name not in changed},
        **{name: value for name, value in changed.items() if value},
    }


def prepended(current: str, folders: Iterable[Path]) -> str:
    """A path list with `folders` first, each element once and none empty: to the dynamic loader an empty one is the current folder."""
    elements = [_listable(folder) for folder in folders] + [element for element in current.split(os.pathsep) if element]
    return os.pathsep.join(dict.fromkeys(elements))


def _listable(folder: Path) -> str:
    path = str(folder.absolute())
    if os.pathsep in path:
        msg = f"the folder {path} can't be activated"
        raise UsageError(
            msg, because="its path holds a ':', which separates the elements of a path list", help="move it, or build with --output DIR"
        )
    return path
