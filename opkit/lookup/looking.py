"""Looking at files that this user may not be allowed to see: to GE such a file isn't there, and Python's own questions would raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["is_folder", "is_there"]


def is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
