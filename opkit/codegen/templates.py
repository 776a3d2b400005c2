"""The Jinja environment of both template folders."""

from __future__ import annotations

import functools
from pathlib import Path

import jinja2

__all__ = ["environment"]


@functools.cache
def environment(folder: Path) -> jinja2.Environment:
    """The templates of one folder. An unknown name is an error, and a file ends as its template does."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - C++, CMake, shell and Python, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
