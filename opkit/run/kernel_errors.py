"""A kernel that doesn't compile, told in the spec's words: the compiler knows neither the op nor its dtypes nor the project's folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opkit.errors import CompileError
from opkit.spec import dtypes_shown, placed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from opkit.spec import DTypeCombo, Op

__all__ = ["compile_error_of", "dtypes_shown"]


def compile_error_of(error: CompileError, op: Op, combos: Sequence[DTypeCombo], root: Path, *, define: str | None = None) -> CompileError:
    """The error of a session program for an op with these dtypes: with the op's line, and files as they are called in the project.
    `define` is the name and value of a macro that the spec doesn't give.
    """
    dtypes = " and ".join(filter(None, map(dtypes_shown, combos)))
    message = f"a kernel of {op.type} doesn't compile{f' for {dtypes}' if dtypes else ''}{f' with {define}' if define else ''}"
    return CompileError(message, where=str(op.where), because=error.because and placed(error.because, op, root))
