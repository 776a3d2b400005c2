"""Shell lines that activate a toolkit and deliverables: the same result as `activate`, in a shell that lives on."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from opkit.run.environment import CHANGED, HOME, activate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from opkit.toolkit import Toolkit

__all__ = ["lines_for"]


def lines_for(shell: str, toolkit: Toolkit, roots: Sequence[Path], environ: Mapping[str, str]) -> list[str]:
    """`shell` is "sh" (bash, dash and zsh too, all with `set -u`) or "fish".

    The lines hold whole values, not additions to a variable: only so a root that is further back comes to the front again.
    """
    environment = activate(toolkit, roots, environ)
    export, unset = (_fish_export, "set -e") if shell == "fish" else (_sh_export, "unset")
    lines = []
    for name in CHANGED:
        if name in environment:
            lines.append(export(name, environment[name]))
        elif name in environ:
            # It held nothing but empty elements, and each means the current folder.
            lines.append(f"{unset} {name}")
    return lines


def _sh_export(name: str, value: str) -> str:
    return f"export {name}={shlex.quote(value)}"


def _fish_export(name: str, value: str) -> str:
    # fish splits variables whose names end in PATH itself and joins them with ':' for its children.
    elements = [value] if name == HOME else value.split(os.pathsep)
    return " ".join([f"set -gx {name}", *(_fish(element) for element in elements)])


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
