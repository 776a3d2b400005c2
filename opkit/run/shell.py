"""Shell lines that activate a toolkit and deliverables: the same result as `activate`, in a shell that lives on."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from opkit.run.environment import HOME, LIBRARIES, OPP, activate, prepended

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from opkit.toolkit import Toolkit

__all__ = ["lines_for"]


def lines_for(shell: str, toolkit: Toolkit, roots: Sequence[Path], environ: Mapping[str, str]) -> list[str]:
    """`shell` is "sh" (bash, dash and zsh too, all with `set -u`) or "fish". The lines may be evaluated any number of times."""
    if shell == "fish":
        environment = activate(toolkit, roots, environ)
        return [
            f"set -gx {HOME} {_fish(environment[HOME])}",
            *(_fish_list(name, environment[name]) for name in (OPP, LIBRARIES) if name in environment),
        ]
    lists = {OPP: prepended("", roots), LIBRARIES: prepended("", [toolkit.lib64])}
    return [
        f"export {HOME}={shlex.quote(str(toolkit.home))}",
        *(line for name, value in lists.items() for line in _sh_list(name, value, environ)),
    ]


def _sh_list(name: str, value: str, environ: Mapping[str, str]) -> list[str]:
    lines = []
    current = environ.get(name, "")
    if current != prepended(current, []):
        # An empty element means the current folder to the dynamic loader; the one that is there already goes with the repair.
        lines.append(f"export {name}={shlex.quote(prepended(current, []))}")
    if value:
        quoted = shlex.quote(value)
        # Once more in the same shell adds nothing, and an unset variable neither adds an empty element nor stops `set -u`.
        lines.append(f'case ":${{{name}:-}}:" in *:{quoted}:*) ;; *) export {name}={quoted}"${{{name}:+:${name}}}" ;; esac')
    return lines


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_list(name: str, value: str) -> str:
    # fish splits variables whose names end in PATH itself and joins them with ':' for its children.
    return " ".join([f"set -gx {name}", *(_fish(element) for element in value.split(os.pathsep) if element)])
