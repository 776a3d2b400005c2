"""A log of the kernel compiler in the spec's words: the compiler knows neither an op's dtypes nor the project's folders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from opkit.spec.model import DTypeCombo, Op

__all__ = ["dtypes_shown", "placed"]


def dtypes_shown(combo: DTypeCombo) -> str:
    """One dtype needs no name."""
    named = combo.symbols or combo.ports
    names = [dtype.name for dtype in named.values()]
    return names[0] if len(set(names)) == 1 else ", ".join(f"{name}={dtype.name}" for name, dtype in named.items())


def placed(log: str, op: Op, root: Path) -> str:
    """A log of the compiler, which has the names of files alone, with their paths below `root`."""
    by_name: dict[str, set[str]] = {}
    for file in (file for kernel in op.kernels for file in kernel.files):
        by_name.setdefault(file.name, set()).add(file.relative_to(root).as_posix())
    for name, paths in by_name.items():
        if len(paths) == 1:
            path = paths.pop().replace("\\", r"\\")
            log = re.sub(rf"(?<![\w./-]){re.escape(name)}(?=:\d)", path, log)
    return log
