"""The folder that the user keeps caches in: the XDG base directories, as platformdirs has them, without its import in a warm build."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

__all__ = ["user_cache"]


def user_cache(environ: Mapping[str, str]) -> Path | None:
    """None where the environment names none: without HOME there is none to be sure of, and one that isn't there is nobody's to make."""
    named = environ.get("XDG_CACHE_HOME", "").strip()
    if named and Path(named).is_absolute():
        return Path(named)
    home = environ.get("HOME", "")
    has_home = home.startswith("/") and os.path.isdir(home)  # noqa: PTH112 - Path.is_dir raises where a folder above is closed
    return Path(home) / ".cache" if has_home else None
