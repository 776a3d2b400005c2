"""C++ text as tokens with their lines: as much of the language as a prototype needs, without a compiler and without includes."""

from __future__ import annotations

import enum
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

import attrs

from opkit.errors import ForeignFileError
from opkit.spec.importers.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from opkit.spec.location import Location

__all__ = ["OPENING", "Kind", "Source", "Token", "split_at_commas"]


class Kind(enum.Enum):
    NAME = enum.auto()
    NUMBER = enum.auto()
    STRING = enum.auto()
    MARK = enum.auto()


@attrs.frozen
class Token:
    """`text` is the token as it stands in the file, from `start` to `end`."""

    kind: Kind
    text: str
    start: int
    end: int


OPENING = {"(": ")", "{": "}", "[": "]"}

# Comments and preprocessor lines are matched to be left out: a macro that defines REG_OP is no op, and what is commented out isn't there.
# In each, a backslash at the end of a line takes the next one with it. No alternative may scan to the end of the text more than once.
_TOKEN = re.compile(
    r"""
    (?P<directive>  ^[ \t]*\#(?: \\\r?\n
                               | /\*.*?\*/ | //(?:\\\r?\n|[^\n])*
                               | "(?:\\\r\n|\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])'
                               | (?!/\*)[^\n]
                               )*                                                                  )
  | (?P<blank>      [^\S\n]+ | \n | \\\r?\n                                                         )
  | (?P<comment>    //(?:\\\r?\n|[^\n])* | /\*.*?\*/                                                )
  | (?P<raw>        (?:u8|u|U|L)?R"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)"                     )
  | (?P<string>     (?:u8|u|U|L)?(?:"(?:\\\r\n|\\.|[^"\\\n])*"|'(?:\\\r\n|\\.|[^'\\\n])*')          )
  | (?P<name>       [A-Za-z_][A-Za-z0-9_]*                                                          )
  | (?P<number>     \.?[0-9](?:'?[A-Za-z0-9_.]|(?<=[eEpP])[+-])*                                    )
  | (?P<mark>       ::|.                                                                            )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
# A prototype is a page of text: what is larger isn't one, and is somebody's mistake or trap.
_MOST_LETTERS = 1024 * 1024
# Dtypes stand three brackets deep; what walks through brackets does so by recursion.
_MOST_BRACKETS = 50
_CONDITIONAL = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)\b")
_RAW = {"R", "u8R", "uR", "UR", "LR"}
_DEAD = re.compile(r"[ \t]*#[ \t]*if[ \t]+(?:0|false)[ \t]*(?:\r?$|/[/*])")
_OPENED_RAW = re.compile(r'"[^()\\\s]{0,16}\(')
_KINDS = {"name": Kind.NAME, "number": Kind.NUMBER, "string": Kind.STRING, "raw": Kind.STRING, "mark": Kind.MARK}


class Source:
    """One file's text. Raises ForeignFileError, with the line, for what breaks off in the middle."""

    def __init__(self, path: Path, text: str) -> None:
        if len(text) > _MOST_LETTERS:
            msg = f"{path.name} is too large for a prototype"
            raise ForeignFileError(msg, because=f"it has {len(text):,} letters, and a prototype is a page of text")
        self.text = text
        self._lines = Lines(path, text)
        self._conditions: list[int] = []
        self.tokens = tuple(self._read(_without_dead_code(text)))

    def _read(self, text: str) -> Iterator[Token]:
        position = 0
        while position < len(text):
            found = _TOKEN.match(text, position)
            assert found is not None  # noqa: S101 - the last alternative takes any character
            kind = _KINDS.get(found.lastgroup or "")
            is_opened_raw = found["name"] in _RAW and _OPENED_RAW.match(text, found.end()) is not None
            if found["mark"] in {'"', "'"} or is_opened_raw:
                msg = "a text isn't closed"
                raise self.error(msg, position)
            if found["mark"] == "/" and text.startswith("/*", position):
                msg = "a comment isn't closed"
                raise self.error(msg, position)
            if found["directive"] and _is_condition(found["directive"]):
                self._conditions.append(position)
            if kind is not None:
                yield Token(kind, found.group(), position, found.end())
            position = found.end()

    def condition_between(self, start: int, end: int) -> int | None:
        """Where the first `#if`, `#ifdef` or `#ifndef` begins between two positions."""
        index = bisect_left(self._conditions, start)
        return self._conditions[index] if index < len(self._conditions) and self._conditions[index] < end else None

    def where(self, position: int) -> Location:
        return self._lines.where(position)

    def error(
        self,
        message: str,
        position: int,
        *,
        because: str | None = None,
        help: str | None = None,  # noqa: A002 - the word that is printed
        number: str | None = None,
    ) -> ForeignFileError:
        return ForeignFileError(message, where=str(self.where(position)), because=because, help=help, number=number)

    def written(self, tokens: Sequence[Token]) -> str:
        """What the file says there, on one line."""
        return " ".join(self.text[tokens[0].start : tokens[-1].end].split()) if tokens else ""

    def closing(self, opening: int) -> int:
        """The index of the token that closes the bracket at index `opening`."""
        expected: list[str] = []
        for index in range(opening, len(self.tokens)):
            token = self.tokens[index]
            if token.kind is not Kind.MARK:
                continue
            if token.text in OPENING:
                expected.append(OPENING[token.text])
                if len(expected) > _MOST_BRACKETS:
                    msg = f"brackets are nested more than {_MOST_BRACKETS} deep"
                    raise self.error(msg, token.start)
            elif token.text in OPENING.values() and token.text != expected.pop():
                break
            if not expected:
                return index
        bracket = self.tokens[opening]
        msg = f"the bracket {bracket.text} isn't closed"
        raise self.error(msg, bracket.start)


def _is_condition(directive: str) -> bool:
    """Whether it opens a part that may or may not be compiled."""
    found = _CONDITIONAL.match(directive)
    return found is not None and found[1].startswith("if") and _DEAD.match(directive) is None


def _without_dead_code(text: str) -> str:
    """The text with what stands between `#if 0` and its `#else` or `#endif` overwritten by blanks: people comment ops out that way."""
    lines = text.split("\n")
    depth = 0  # of conditionals inside a dead one, that one included
    for index, line in enumerate(lines):
        directive = _CONDITIONAL.match(line)
        word = directive[1] if directive else ""
        if depth == 0:
            depth = int(word == "if" and _DEAD.match(line) is not None)
            continue
        if word.startswith("if"):
            depth += 1
        elif word == "endif" or (word in {"else", "elif"} and depth == 1):
            depth -= 1
        if depth:
            lines[index] = " " * len(line)
    return "\n".join(lines)


def split_at_commas(tokens: Sequence[Token], *, most: int | None = None) -> list[Sequence[Token]]:
    """What stands between the commas that no bracket holds, in at most `most` parts; brackets must balance. No tokens are no parts."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind is Kind.MARK:
            depth += (token.text in OPENING) - (token.text in OPENING.values())
            if token.text == "," and depth == 0 and len(parts) != most:
                parts.append([])
                continue
        parts[-1].append(token)
    return list(parts) if tokens else []
