"""The folder that the user keeps caches in: the XDG base directories, as platformdirs has them, without its import in a warm build."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

__all__ = ["is_of_user", "user_cache"]


def user_cache(environ: Mapping[str, str]) -> Path | None:
    """None where the environment names none: without HOME there is none to be sure of, and one that isn't there is nobody's to make."""
    named = environ.get("XDG_CACHE_HOME", "").strip()
    if named and Path(named).is_absolute():
        return Path(named)
    home = environ.get("HOME", "")
    has_home = home.startswith("/") and os.path.isdir(home)  # noqa: PTH112 - Path.is_dir raises where a folder above is closed
    return Path(home) / ".cache" if has_home else None


def is_of_user(cache: Path, below: Path) -> bool:
    """Whether nobody else could have put a file into the folder `below` of the user's cache: what is taken from there may be code to run.

    A group may write there: that of a user is often its own.
    """
    folders = [cache / part for part in (*reversed(below.parents), below)]
    return all(_is_of_user(folder) for folder in folders)


def _is_of_user(folder: Path) -> bool:
    try:
        status = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True  # Nothing can be in it yet.
    except OSError:
        return False
    return status.st_uid in {os.geteuid(), 0} and not status.st_mode & stat.S_IWOTH
