"""The lines of a file's text: where a position of it is, for an error to tell."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

from opkit.spec.location import Location

__all__ = ["Lines"]

# A line of a file that a program wrote can be the whole file.
_LONGEST_SHOWN = 160


class Lines:
    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines[:-1]:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def where(self, position: int) -> Location:
        line = bisect_right(self._starts, position)
        return Location(file=self.path, line=line, text=self._lines[line - 1].strip()[:_LONGEST_SHOWN])
