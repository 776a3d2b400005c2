"""`...` in a spec: a question that is still open. `opkit new --from` writes one where a file doesn't say what a spec must."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

from opkit.spec.problems import Problems, Rule

if TYPE_CHECKING:
    from opkit.spec.location import Location, Spot

__all__ = ["QUESTION", "report_open"]

# The comment above a `...` that asks for it; further lines of it begin with the bare mark.
QUESTION = "# question: "


def report_open(what: str, spot: Spot, problems: Problems) -> None:
    """`what` is the argument; the help is the question itself, if it stands above the argument or the call that it is in."""
    place = spot.locate()
    question = _question_above(place) or _question_above(spot.call.where)
    problems.add(Rule.OPEN, f"{what} is still open", place, advice=question)


def _question_above(place: Location) -> str | None:
    """The text of the comment lines right above a line, if the first of them asks."""
    told: list[str] = []
    for line in range(place.line - 1, 0, -1):
        text = linecache.getline(str(place.file), line).strip()
        if text.startswith(QUESTION):
            return " ".join([text.removeprefix(QUESTION), *told])
        if not text.startswith("#"):
            break
        told.insert(0, text.lstrip("# "))
    return None
