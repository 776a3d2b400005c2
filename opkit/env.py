"""The environment of this process, as GE reads it: for Python programs that use installed operators.

To activate a wheel of ops, import its package, before GE is initialised; for everything else there is `opkit run`.
"""

from __future__ import annotations

from pathlib import Path

from opkit.run.environment import OPP, elements
from opkit.toolkit import process_environment

__all__ = ["current"]


def current() -> list[Path]:
    """The OPP roots of ASCEND_CUSTOM_OPP_PATH in the order in which GE searches them; none if it isn't set."""
    return [Path(element) for element in elements(process_environment().get(OPP, ""))]
