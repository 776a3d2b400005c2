"""A small reader of REG_OP text, so that a prototype is compared by what it says and not by how it is written.

It knows nothing of opkit: what a rendering gets wrong must not be read wrong here too.
"""

from __future__ import annotations

import re
import struct

import attrs

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "?": "?"}
_WORD = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_][\w:]*|-?[\d.]+(?:e[+-]?\d+)?f?|[{}(),])')


@attrs.frozen
class Clause:
    """`name` and, for a port, its dtypes (`symbol` is "" where it has none); for an attr its type and default, None if it is required."""

    kind: str
    name: str
    symbol: str = ""
    dtypes: frozenset[str] = frozenset()
    attr_type: str = ""
    default: object = None


@attrs.frozen
class Prototype:
    clauses: tuple[Clause, ...]
    symbols: dict[str, frozenset[str] | tuple[str, ...]]
    """The dtypes of a symbol, or for Promote the symbols that it promotes, in their order."""


def read_prototypes(text: str) -> dict[str, Prototype]:
    found = {}
    for match in re.finditer(r"REG_OP\((\w+)\)(.*?)\.OP_END_FACTORY_REG\((\w+)\)", text, re.DOTALL):
        assert match[1] == match[3]
        found[match[1]] = _prototype(match[2])
    return found


def _prototype(text: str) -> Prototype:
    symbols: dict[str, frozenset[str] | tuple[str, ...]] = {}
    clauses = []
    for kind, arguments in _calls(text):
        if kind == "DATATYPE":
            assert arguments[0] not in symbols
            symbols[str(arguments[0])] = _promoted(arguments[2]) if arguments[1] == "Promote" else _dtypes(arguments[1:])
    for kind, arguments in _calls(text):
        name = str(arguments[0])
        if kind == "ATTR":
            clauses.append(Clause(kind, name, attr_type=str(arguments[1]), default=arguments[2]))
        elif kind == "REQUIRED_ATTR":
            clauses.append(Clause(kind, name, attr_type=str(arguments[1])))
        elif kind != "DATATYPE":
            symbol = str(arguments[1]) if len(arguments) == 2 else ""
            known = symbols[symbol] if symbol else _dtypes(arguments[1:])
            clauses.append(Clause(kind, name, symbol=symbol, dtypes=known if isinstance(known, frozenset) else frozenset()))
    return Prototype(tuple(clauses), symbols)


def _promoted(symbols: object) -> tuple[str, ...]:
    assert isinstance(symbols, tuple)
    return symbols


def _dtypes(arguments: list[object]) -> frozenset[str]:
    """Of `TensorType({…})`, with the brackets of the call taken away."""
    kind, listed = arguments
    assert kind == "TensorType"
    assert isinstance(listed, tuple)
    assert len(set(listed)) == len(listed)
    return frozenset(map(str, listed))


def _calls(text: str) -> list[tuple[str, list[object]]]:
    calls = []
    at = 0
    while (match := re.compile(r"\s*\.(\w+)\(").match(text, at)) is not None:
        values, at = _values(text, match.end(), ")")
        calls.append((match[1], values))
    assert not text[at:].strip(), text[at:]
    return calls


def _values(text: str, at: int, closing: str) -> tuple[list[object], int]:
    """The values up to a closing bracket; a call is its word and then its arguments."""
    values: list[object] = []
    while True:
        match = _WORD.match(text, at)
        assert match is not None, text[at : at + 40]
        word, at = match[1], match.end()
        if word == closing:
            return values, at
        if word == "{":
            inner, at = _values(text, at, "}")
            values.append(tuple(inner))
        elif word == "(":
            inner, at = _values(text, at, ")")
            values += inner
        elif word != ",":
            values.append(_value(word))


def _value(word: str) -> object:
    if word.startswith('"'):
        return _text(word[1:-1])
    if word in {"true", "false"}:
        return word == "true"
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?f?", word):
        (single,) = struct.unpack("<f", struct.pack("<f", float(word.rstrip("f"))))
        return single
    return word


def _text(body: str) -> str:
    raw = b""
    for octal, escape, plain in re.findall(r'\\([0-7]{3})|\\(.)|([^\\"])', body):
        raw += bytes([int(octal, 8)]) if octal else _ESCAPES[escape].encode() if escape else plain.encode()
    return raw.decode()
