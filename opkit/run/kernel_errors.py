"""A kernel that doesn't compile, told in the spec's words: the compiler knows neither the op nor its dtypes nor the project's folders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from opkit.errors import CompileError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from opkit.spec import DTypeCombo, Op

__all__ = ["compile_error_of", "dtypes_shown"]


def dtypes_shown(combo: DTypeCombo) -> str:
    """One dtype needs no name."""
    named = combo.symbols or combo.ports
    names = [dtype.name for dtype in named.values()]
    return names[0] if len(set(names)) == 1 else ", ".join(f"{name}={dtype.name}" for name, dtype in named.items())


def compile_error_of(error: CompileError, op: Op, combos: Sequence[DTypeCombo], root: Path) -> CompileError:
    """The error of a session program for an op with these dtypes: with the op's line, and files as they are called in the project."""
    dtypes = " and ".join(filter(None, map(dtypes_shown, combos)))
    message = f"a kernel of {op.type} doesn't compile{f' for {dtypes}' if dtypes else ''}"
    return CompileError(message, where=str(op.where), because=error.because and _placed(error.because, op, root))


def _placed(log: str, op: Op, root: Path) -> str:
    """A log of the compiler, which has the names of files alone, with their paths below `root`."""
    by_name: dict[str, set[str]] = {}
    for file in (file for kernel in op.kernels for file in kernel.files):
        by_name.setdefault(file.name, set()).add(file.relative_to(root).as_posix())
    for name, paths in by_name.items():
        if len(paths) == 1:
            path = paths.pop().replace("\\", r"\\")
            log = re.sub(rf"(?<![\w./-]){re.escape(name)}(?=:\d)", path, log)
    return log
