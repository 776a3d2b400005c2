"""The default of an attr, from C++ to what a spec writes: literals and braces. Any other expression stays unknown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from opkit.spec.dtypes import DType, find_dtype
from opkit.spec.importers.prototype import Unknown
from opkit.spec.importers.tokens import Kind, split_at_commas
from opkit.spec.model import AttrType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from opkit.spec.importers.tokens import Source, Token
    from opkit.spec.model import AttrDefault

__all__ = ["default_of"]

_INTEGER = re.compile(r"(?:(?P<hex>0[xX][0-9a-fA-F]+)|(?P<binary>0[bB][01]+)|(?P<octal>0[0-7]*)|(?P<decimal>[1-9][0-9]*))[uUlLzZ]*")
_FLOAT = re.compile(r"(?P<digits>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFlL]?")
_HEX_FLOAT = re.compile(r"(?P<digits>0[xX][0-9a-fA-F]*(?:\.[0-9a-fA-F]*)?[pP][+-]?[0-9]+)[fFlL]?")


class _Unreadable(Exception):  # noqa: N818 - it isn't told to anyone
    pass


def default_of(tokens: Sequence[Token], kind: AttrType, source: Source) -> AttrDefault | Unknown:
    """The value in the form that a spec has for `kind`, not yet checked against it; `Unknown` for anything but literals."""
    try:
        return _value(_without_qualifier(tokens), kind)
    # Python's refusals of a text that the patterns take: 0x.p1, 0x1p99999, "\UFFFFFFFF".
    except (_Unreadable, ValueError, OverflowError):
        return Unknown(source.written(tokens))


def _value(tokens: Sequence[Token], kind: AttrType) -> AttrDefault:
    if kind.element is not None:
        return tuple(_value(_without_qualifier(part), kind.element) for part in _braced(tokens))
    return _SCALARS[kind](tokens)


def _without_qualifier(tokens: Sequence[Token]) -> Sequence[Token]:
    """Without a leading `ge::` and the like."""
    start = 0
    while len(tokens) > start + 2 and tokens[start].kind is Kind.NAME and tokens[start + 1].text == "::":
        start += 2
    return tokens[start:]


def _braced(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """The elements of `{…}`, also after the name of a class: `std::vector<int64_t>{1, 2}`."""
    opening = next((index for index, token in enumerate(tokens) if token.text == "{"), None)
    if opening is None or tokens[-1].text != "}" or any(token.text in {"(", "["} for token in tokens[:opening]):
        raise _Unreadable
    inside = tokens[opening + 1 : -1]
    parts = split_at_commas(inside)
    return parts[:-1] if parts and not parts[-1] else parts


def _empty_tensor(tokens: Sequence[Token]) -> tuple[()]:
    if "".join(token.text for token in tokens) not in {"Tensor()", "Tensor{}", "{}"}:
        raise _Unreadable
    return ()


def _bytes(tokens: Sequence[Token]) -> bytes:
    values = [_integer(part) for part in _braced(tokens)]
    if any(not 0 <= value < 256 for value in values):
        raise _Unreadable
    return bytes(values)


def _string(tokens: Sequence[Token]) -> str:
    if len(tokens) > 3 and tokens[0].text in {"AscendString", "string"} and tokens[1].text == "(" and tokens[-1].text == ")":
        tokens = tokens[2:-1]
    if not tokens or any(token.kind is not Kind.STRING or token.text[-1] != '"' for token in tokens):
        raise _Unreadable
    return "".join(_unquoted(token.text) for token in tokens)


def _unquoted(text: str) -> str:
    prefix, _, rest = text.partition('"')
    if prefix.endswith("R"):
        fence, _, inside = rest.partition("(")
        return inside[: -len(fence) - 2]
    if prefix not in {"", "u8"}:
        raise _Unreadable
    return _unescaped(rest[:-1])


_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\r?\n)|(.))", re.DOTALL)
_SIMPLE = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27}


def _unescaped(text: str) -> str:
    """By way of bytes: two octal escapes can be one character of UTF-8."""
    found = bytearray()
    position = 0
    for escape in _ESCAPE.finditer(text):
        found += text[position : escape.start()].encode()
        position = escape.end()
        octal, hexadecimal, short, long, newline, simple = escape.groups()
        if octal or hexadecimal:
            byte = int(octal, 8) if octal else int(hexadecimal, 16)
            if byte > 255:
                raise _Unreadable
            found.append(byte)
        elif short or long:
            found += chr(int(short or long, 16)).encode()
        elif simple:
            found += bytes([_SIMPLE[simple]]) if simple in _SIMPLE else simple.encode()
        else:
            assert newline  # noqa: S101 - the last group of the pattern
    found += text[position:].encode()
    return found.decode()


def _bool(tokens: Sequence[Token]) -> bool:
    if len(tokens) != 1 or tokens[0].text not in {"true", "false"}:
        raise _Unreadable
    return tokens[0].text == "true"


def _dtype(tokens: Sequence[Token]) -> DType:
    dtype = find_dtype(tokens[0].text) if len(tokens) == 1 and tokens[0].text.startswith("DT_") else None
    if dtype is None:
        raise _Unreadable
    return dtype


def _signed(tokens: Sequence[Token]) -> tuple[int, str]:
    sign = 1
    while len(tokens) == 2 and tokens[0].text in {"-", "+"}:
        sign = -sign if tokens[0].text == "-" else sign
        tokens = tokens[1:]
    if len(tokens) != 1 or tokens[0].kind is not Kind.NUMBER:
        raise _Unreadable
    return sign, tokens[0].text.replace("'", "")


def _integer(tokens: Sequence[Token]) -> int:
    """A dtype stands for its number: `.ATTR(dst_type, Int, DT_FLOAT)`."""
    if len(tokens) == 1 and tokens[0].kind is Kind.NAME:
        return _dtype(tokens).number
    sign, text = _signed(tokens)
    found = _INTEGER.fullmatch(text)
    if found is None:
        raise _Unreadable
    bases = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}
    return sign * next(int(found[name].lower().removeprefix("0b"), base) for name, base in bases.items() if found[name])


def _number(tokens: Sequence[Token]) -> float:
    sign, text = _signed(tokens)
    found = _FLOAT.fullmatch(text)
    if found is not None and (not text.startswith("0") or not text[1:].rstrip("uUlL").isdigit()):
        return sign * float(found["digits"])
    hexadecimal = _HEX_FLOAT.fullmatch(text)
    return sign * float.fromhex(hexadecimal["digits"]) if hexadecimal else float(_integer(tokens))


_SCALARS: dict[AttrType, Callable[[Sequence[Token]], AttrDefault]] = {
    AttrType.INT: _integer,
    AttrType.FLOAT: _number,
    AttrType.BOOL: _bool,
    AttrType.STR: _string,
    AttrType.TYPE: lambda tokens: _dtype(tokens).name,
    AttrType.BYTES: _bytes,
    AttrType.TENSOR: _empty_tensor,
}
