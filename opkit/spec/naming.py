"""The rules that make a file stem of an op type, so that header, kernel, library and CMake names can't disagree."""

from __future__ import annotations

import enum
import re

__all__ = ["Naming", "stem_of"]


class Naming(enum.Enum):
    """Whose rule it is; the value is the word in a spec. Both agree on a type without digits."""

    MSOPGEN = "msopgen"
    """msopgen's, which generates the projects of most operators: a capital after a digit starts a word."""
    CANN = "cann"
    """That of CANN's documents, which operator repositories follow: a capital after a digit starts a word only before a small letter."""


# Both: a word starts at a capital after a small letter, and at the last capital of a run of capitals that a small letter follows.
_WORD_START = {
    Naming.MSOPGEN: re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"),
    Naming.CANN: re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])"),
}


def stem_of(op_type: str, naming: Naming = Naming.MSOPGEN) -> str:
    """The snake-case stem of an op type. Digits belong to the word before them."""
    return _WORD_START[naming].sub("_", op_type).lower()
