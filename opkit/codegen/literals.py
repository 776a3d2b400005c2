"""Values as C++ and CMake literals: whatever a spec holds, the compiler or CMake reads the same value back."""

from __future__ import annotations

import math
import struct
import textwrap
from collections.abc import Iterator, Sequence

__all__ = [
    "call_lines",
    "cmake_bracket",
    "cmake_string",
    "comment_lines",
    "cpp_bool",
    "cpp_float",
    "cpp_int",
    "cpp_string",
    "cpp_string_lines",
]

# Of 140, what an indentation, quotes and some escapes leave.
_TEXT_WIDTH = 125
_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1
_ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r"}


def cpp_string(text: str) -> str:
    """A `const char *` literal of the text's UTF-8 bytes, in ASCII. Raises ValueError for text that a C string can't hold."""
    if "\0" in text:
        msg = "a C string can't hold a NUL"
        raise ValueError(msg)
    parts = []
    previous = 0
    for byte in text.encode():
        if byte == previous == ord("?"):
            parts.append("\\?")  # two in a row could start a trigraph
        elif byte in _ESCAPES:
            parts.append(_ESCAPES[byte])
        elif 0x20 <= byte < 0x7F:
            parts.append(chr(byte))
        else:
            parts.append(f"\\{byte:03o}")  # three octal digits end by themselves; a hexadecimal escape would swallow what follows
        previous = byte
    return f'"{"".join(parts)}"'


def cpp_string_lines(text: str) -> list[str]:
    """The literals, broken at blanks to fit into a line, that the compiler joins to that of the text."""
    pieces = textwrap.wrap(
        text,
        _TEXT_WIDTH,
        drop_whitespace=False,
        replace_whitespace=False,
        expand_tabs=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [cpp_string(piece) for piece in pieces or [""]]


def comment_lines(text: str) -> list[str]:
    """One line of a comment as those that fit, the later ones further in."""
    return textwrap.wrap(text, _TEXT_WIDTH, subsequent_indent=" " * 9, break_long_words=False, break_on_hyphens=False)


def cpp_int(value: int) -> str:
    """An int64 expression. Raises ValueError outside int64."""
    if not _INT64_MIN <= value <= _INT64_MAX:
        msg = f"{value} doesn't fit in int64"
        raise ValueError(msg)
    # The minus is an operator in C++, and 2**63 is no int64.
    return f"({value + 1} - 1)" if value == _INT64_MIN else str(value)


def cpp_float(value: float) -> str:
    """The shortest float literal that reads back as the float32 nearest to `value`. Raises ValueError if that isn't finite."""
    if not math.isfinite(value):
        msg = f"{value} isn't finite"
        raise ValueError(msg)
    nearest = _float32(value)
    if nearest is None:
        msg = f"{value} doesn't fit in float32"
        raise ValueError(msg)
    text = next(text for text in (f"{nearest:.{digits}g}" for digits in range(1, 10)) if _float32(float(text)) == nearest)
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def cpp_bool(value: bool) -> str:
    return "true" if value else "false"


# What clang-format leaves to a statement in a function of a class.
_LINE = 140 - 4


def call_lines(before: str, arguments: Sequence[str], after: str) -> Iterator[str]:
    """A call as clang-format breaks it between its arguments, in a function of a class; `before` ends in the bracket."""
    line = before
    for index, argument in enumerate(arguments):
        text = argument + ("," if index < len(arguments) - 1 else after)
        if index and len(line) + 1 + len(text) > _LINE:
            yield line
            line = " " * len(before) + text
        else:
            line += f" {text}" if index else text
    yield line


def cmake_string(text: str) -> str:
    """A quoted CMake argument."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'


def cmake_bracket(text: str) -> str:
    """A CMake argument in which nothing means anything but itself; not for text that begins with a new line."""
    marks = next("=" * count for count in range(2, len(text) + 3) if f"]{'=' * count}]" not in text)
    return f"[{marks}[{text}]{marks}]"


def _float32(value: float) -> float | None:
    """The nearest float32, or None beyond its range."""
    try:
        (rounded,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return None
    return float(rounded)
