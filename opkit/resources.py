"""Where templates, shipped kernels, the simulator's sources and the built simulator are, in a wheel and in an editable checkout.

A wheel carries all four below ``opkit/_data``. An editable install keeps the Python package in the checkout, where the first three lie
beside it; CMake then installs the built simulator into the environment's ``share/opkit``.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from opkit.files import guard_reading

__all__ = ["bundled_toolkit", "kernels", "simulator_source", "templates"]

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent
_SHARED = "share/opkit/toolkit"


def templates() -> Path:
    return _resource("templates")


def kernels() -> Path:
    return _resource("kernels")


def simulator_source() -> Path:
    return _resource("simulator")


def bundled_toolkit() -> Path | None:
    """Gives the toolkit folder of the host simulator, or None in a checkout that was never installed. One that this user isn't let into is
    given too: what uses it says so.
    """
    return next((folder for folder in _toolkit_places() if _may_be_folder(folder / "lib64")), None)


def _toolkit_places() -> Iterator[Path]:
    yield _PACKAGE / "_data" / "toolkit"
    # An editable install's. Most have it here, and to ask sysconfig would cost every command 5 ms.
    yield Path(sys.prefix, _SHARED)
    import sysconfig

    yield Path(sysconfig.get_path("data"), _SHARED)
    # A wheel's, for a checkout's package that runs in an environment with the wheel.
    yield from (Path(sysconfig.get_path(name), "opkit", "_data", "toolkit") for name in ("platlib", "purelib"))


def _resource(name: str) -> Path:
    """Raises UnreadableError for one that this user can't read."""
    installed = _PACKAGE / "_data" / name
    with guard_reading(installed):
        try:
            os.scandir(installed).close()
        except (FileNotFoundError, NotADirectoryError):
            return _CHECKOUT / name
    return installed


def _may_be_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except PermissionError:
        return True
    except OSError:
        return False
