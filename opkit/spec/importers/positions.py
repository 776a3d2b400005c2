"""JSON in which every object knows where it stands in its file, so that a mistake in one can be told with its line."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from opkit.errors import ForeignFileError
from opkit.spec.importers.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opkit.spec.location import Location

__all__ = ["JsonText", "Placed"]

# In a text that is JSON, these are whole texts and the braces of objects.
_TEXT_OR_BRACE = re.compile(r'"(?:\\.|[^"\\])*"|[{}]')


class Placed(dict[str, Any]):
    """A JSON object; `start` and `end` are where its text begins and ends."""

    start: int = 0
    end: int = 0


class JsonText:
    """A JSON file. Raises ForeignFileError for what is none, also for a key that an object has twice."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self._lines = Lines(path, text)
        self._objects: list[tuple[Placed, str | None]] = []
        try:
            self.value: Any = json.loads(text, object_pairs_hook=self._object)
        except json.JSONDecodeError as error:
            msg = f"{path.name} is no JSON"
            raise ForeignFileError(msg, where=str(self._lines.where(error.pos)), because=error.msg) from error
        except RecursionError as error:
            msg = f"{path.name} is nested too deeply"
            raise ForeignFileError(msg, where=path.name) from error
        except ValueError as error:
            # Python's limit of 4,300 digits.
            number = re.search(r"[0-9]{4300,}", text)
            msg = f"{path.name} has a number that is too long"
            raise ForeignFileError(msg, where=str(self._lines.where(number.start() if number else 0))) from error
        # json.loads makes an object when it comes to its closing brace.
        for (made, twice), (start, end) in zip(self._objects, _objects_of(text), strict=True):
            made.start, made.end = start, end
            if twice is not None:
                msg = f"this object has {twice!r} twice"
                raise self.error(msg, made, twice)

    def _object(self, pairs: list[tuple[str, Any]]) -> Placed:
        made = Placed(pairs)
        counts = Counter(key for key, _ in pairs) if len(made) < len(pairs) else {}
        self._objects.append((made, next((key for key, count in counts.items() if count > 1), None)))
        return made

    def where(self, place: Placed, key: str | None = None) -> Location:
        """The line of a key's own text in an object, or of the object."""
        found = None if key is None else re.compile(rf"{re.escape(json.dumps(key))}\s*:").search(self.text, place.start, place.end)
        return self._lines.where(place.start if found is None else found.start())

    def error(
        self,
        message: str,
        place: Placed,
        key: str | None = None,
        *,
        because: str | None = None,
        help: str | None = None,  # noqa: A002 - the word that is printed
    ) -> ForeignFileError:
        return ForeignFileError(message, where=str(self.where(place, key)), because=because, help=help)


def _objects_of(text: str) -> Iterator[tuple[int, int]]:
    """Where the objects of a JSON text begin and end, in the order of their ends."""
    begun: list[int] = []
    for found in _TEXT_OR_BRACE.finditer(text):
        if found.group() == "{":
            begun.append(found.start())
        elif found.group() == "}":
            yield begun.pop(), found.end()
