"""Where in the user's files something was written: every declaration remembers it, so that an error can show the line."""

from __future__ import annotations

import ast
import linecache
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence


@attrs.frozen(kw_only=True)
class Location:
    """A line of a file. `text` is that line, stripped, or "" if the file has no such line."""

    file: Path
    line: int
    text: str = ""

    @property
    def place(self) -> str:
        return f"{self.file.name}:{self.line}"

    def __str__(self) -> str:
        return self.place + (f"   {self.text}" if self.text else "")


def location_of(file: Path | str, line: int) -> Location:
    return Location(file=Path(file), line=line, text=linecache.getline(str(file), line).strip())


@attrs.frozen(kw_only=True)
class Call:
    """A call in the user's file: the line it starts on and the name that was called."""

    file: Path
    line: int
    callee: str

    @property
    def where(self) -> Location:
        return location_of(self.file, self.line)


@attrs.frozen(kw_only=True)
class Spot:
    """A place that is looked up in the source only when an error needs it: a call, one of its arguments, or one element of a list there."""

    call: Call
    argument: str | None = None
    position: int | None = None
    element: int | None = None

    def locate(self) -> Location:
        """The line of the argument or element; the call's own line if the text doesn't show it."""
        if self.argument is None:
            return self.call.where
        try:
            tree = ast.parse("".join(linecache.getlines(str(self.call.file))))
        except (SyntaxError, ValueError):
            return self.call.where
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.lineno == self.call.line and _callee(node) == self.call.callee:
                value = _argument(node, self.argument, self.position)
                if value is None:
                    continue
                elements = value.elts if isinstance(value, (ast.List, ast.Tuple)) else []
                if self.element is not None and self.element < len(elements):
                    value = elements[self.element]
                return location_of(self.call.file, value.lineno)
        return self.call.where


def calling(callee: str, *, skip: Sequence[str]) -> Call:
    """The call under way of `callee`, seen from the first frame that belongs to none of the files in `skip`."""
    frame = sys._getframe(1)  # noqa: SLF001 - inspect.stack() reads every source file of the stack
    while frame.f_code.co_filename in skip and frame.f_back is not None:
        frame = frame.f_back
    return Call(file=Path(frame.f_code.co_filename), line=frame.f_lineno, callee=callee)


def _callee(call: ast.Call) -> str | None:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


def _argument(call: ast.Call, name: str, position: int | None) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is not None and position < len(call.args):
        return call.args[position]
    return None
