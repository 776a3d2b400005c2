"""A table for people: rich's on a terminal, aligned plain lines in a log."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from opkit.console import console

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["render_table"]

_NUMBER = re.compile(r"([+-]?[\d.,]+%?)?")


def render_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "") -> str:
    """Gives the table's text; columns whose cells all look like numbers are aligned to the right."""
    numeric = [all(_is_number(row[column]) for row in rows) for column in range(len(head))]
    return _rich(head, rows, numeric, title) if console.is_terminal else _plain(head, rows, numeric, title)


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None


def _plain(head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], title: str) -> str:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = (cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(row, widths, numeric, strict=True))
        return "  ".join(cells).rstrip()

    return "\n".join([*([title] if title else []), *(line(row) for row in (head, *rows))])


def _rich(head: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], title: str) -> str:
    # Only a terminal's watcher pays for rich.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left")
    for name, right in zip(head, numeric, strict=True):
        table.add_column(name, justify="right" if right else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    text = io.StringIO()
    Console(file=text, force_terminal=console.has_color, no_color=not console.has_color).print(table)
    return text.getvalue().rstrip("\n")
