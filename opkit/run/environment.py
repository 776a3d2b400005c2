"""The environment of a child that uses a toolkit and deliverables: the three variables that GE and the dynamic loader read, and nothing
else changed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.errors import UsageError
from opkit.layout import HOME_VARIABLE, OPP_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from opkit.toolkit import Toolkit

__all__ = ["CHANGED", "HOME", "LIBRARIES", "OPP", "activate", "alone", "elements", "prepended"]

HOME = HOME_VARIABLE
OPP = OPP_VARIABLE
LIBRARIES = "LD_LIBRARY_PATH"
CHANGED = (HOME, OPP, LIBRARIES)
_DRIVER = "libascend_hal.so"


def activate(toolkit: Toolkit, opp_roots: Iterable[Path], base: Mapping[str, str]) -> dict[str, str]:
    """Gives `base` with the toolkit and the OPP roots first. GE lets the first registration of an op win, so the order is the caller's.

    The libraries of a toolkit that `base` names and that is another go: no process should have some of each.

    GE takes a relative OPP root for one of the folder in which it is started (op_lib_register.cc): here of that in which opkit is.

    Raises UsageError for a folder that a path list can't hold.
    """
    changed = {
        HOME: str(toolkit.home),
        OPP: prepended(base.get(OPP, ""), opp_roots, is_loaders=False),
        LIBRARIES: prepended(_without_another(toolkit, base), [toolkit.lib64]),
    }
    return {
        **{name: value for name, value in base.items() if name not in changed},
        **{name: value for name, value in changed.items() if value},
    }


def alone(toolkit: Toolkit, base: Mapping[str, str]) -> dict[str, str]:
    """The toolkit and nothing else of `base` but the folders of the device's driver, which are the machine's and no part of a toolkit."""
    driver = [folder for folder in elements(base.get(LIBRARIES, "")) if _has_driver(folder)]
    return activate(toolkit, [], {LIBRARIES: os.pathsep.join(driver)} if driver else {})


def _has_driver(folder: str) -> bool:
    return os.path.isfile(f"{folder}/{_DRIVER}")  # noqa: PTH113 - Path.is_file raises for a folder that this user can't look into


def prepended(current: str, folders: Iterable[Path], *, is_loaders: bool = True) -> str:
    """A path list with `folders` first, each element once, none relative and none empty: to the dynamic loader an empty one is the current
    folder. It `is_loaders` if that reads it, which knows $ORIGIN and the like; to GE that is the name of a folder.
    """
    kept = [element if is_loaders and element.startswith("$") else _listable(element) for element in elements(current)]
    return os.pathsep.join(dict.fromkeys([*(_listable(folder) for folder in folders), *kept]))


def elements(path_list: str) -> list[str]:
    """Those that aren't empty: GE skips an empty one."""
    return [element for element in path_list.split(os.pathsep) if element]


def _without_another(toolkit: Toolkit, base: Mapping[str, str]) -> str:
    named = base.get(HOME)
    if not named or Path(named).resolve() == toolkit.home:
        return base.get(LIBRARIES, "")
    another = Path(named).resolve() / "lib64"
    return os.pathsep.join(each for each in elements(base.get(LIBRARIES, "")) if not Path(each).resolve().is_relative_to(another))


def _listable(folder: Path | str) -> str:
    """As it is written if that is absolute."""
    path = str(folder) if str(folder).startswith("/") else str(Path(folder).absolute())
    if os.pathsep in path:
        msg = f"the folder {path} can't be activated"
        raise UsageError(
            msg, because="its path holds a ':', which separates the elements of a path list", help="move it, or build with --output DIR"
        )
    return path
