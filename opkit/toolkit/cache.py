"""The folder that the user keeps caches in: the XDG base directories, as platformdirs has them, without its import in a warm build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

__all__ = ["user_cache"]


def user_cache(environ: Mapping[str, str]) -> Path | None:
    """None where the environment names none: without HOME there is none to be sure of."""
    named = environ.get("XDG_CACHE_HOME", "").strip()
    if named and Path(named).is_absolute():
        return Path(named)
    home = environ.get("HOME", "")
    return Path(home) / ".cache" if Path(home).is_absolute() else None
