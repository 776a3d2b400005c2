"""Prototypes from the JSON that msopgen reads: a list of ops, each with `input_desc`, `output_desc` and `attr`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import attrs

from opkit.spec.attr_values import attr_type_of, attr_value
from opkit.spec.dtypes import DTYPES, DType, find_dtype
from opkit.spec.fields import shown
from opkit.spec.formats import FORMATS, find_format
from opkit.spec.importers.dtype_sets import group_named
from opkit.spec.importers.positions import JsonText, Placed
from opkit.spec.importers.prototype import AttrClause, PortClause, PortKind, Prototype, Unknown
from opkit.spec.model import AttrType
from opkit.spec.problems import did_you_mean, one_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from opkit.spec.model import AttrDefault

__all__ = ["read_json"]

_OP_KEYS = ("op", "language", "input_desc", "output_desc", "attr")
_PORT_KEYS = ("name", "param_type", "format", "type")
_ATTR_KEYS = ("name", "param_type", "type", "default_value")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_INPUTS = {"required": PortKind.INPUT, "optional": PortKind.OPTIONAL_INPUT, "dynamic": PortKind.DYNAMIC_INPUT}
_OUTPUTS = {"required": PortKind.OUTPUT, "dynamic": PortKind.DYNAMIC_OUTPUT}
_ATTR_TYPES = (
    "int",
    "float",
    "bool",
    "string",
    "type",
    "tensor",
    "bytes",
    "list_int",
    "list_float",
    "list_bool",
    "list_string",
    "list_type",
    "list_tensor",
    "list_list_int",
)


def read_json(path: Path, text: str) -> tuple[Prototype, ...]:
    """The ops in the order of the file. Raises ForeignFileError, with the line, for a file of another kind or a word unknown to GE."""
    return _Reader(JsonText(path, text)).read()


class _Reader:
    def __init__(self, source: JsonText) -> None:
        self.source = source

    def read(self) -> tuple[Prototype, ...]:
        value = self.source.value
        listed = value if isinstance(value, list) else [value]
        whole = Placed()
        for each in listed:
            if not isinstance(each, Placed):
                msg = f"{self.source.path.name} lists {_shown(each)} where an op is expected"
                raise self.source.error(msg, whole, help='an op is an object: {"op": "AddCustom", "input_desc": […], "output_desc": […]}')
        if not listed:
            msg = f"{self.source.path.name} lists no ops"
            raise self.source.error(msg, whole)
        return tuple(self._op(each) for each in listed)

    def _op(self, op: Placed) -> Prototype:
        self._check_keys(op, _OP_KEYS, "an op")
        op_type = self._name(op, "op", "an op")
        inputs = [self._port(port, _INPUTS, "an input") for port in self._objects(op, "input_desc")]
        outputs = [self._port(port, _OUTPUTS, "an output") for port in self._objects(op, "output_desc")]
        declared = [self._attr(attr) for attr in self._objects(op, "attr")]
        ports, has_columns = self._columns([*inputs, *outputs], op)
        return Prototype(type=op_type, clauses=(*ports, *declared), has_columns=has_columns, where=self.source.where(op, "op"))

    def _port(self, port: Placed, kinds: dict[str, PortKind], what: str) -> tuple[PortClause, bool]:
        """The port with its dtypes column by column, and whether they are columns: a set's own dtypes aren't."""
        self._check_keys(port, _PORT_KEYS, what)
        name = self._name(port, "name", what)
        kind = self._choice(port, kinds, f"{what} {name!r}")
        words = self._words(port, "type", f"{what} {name!r}")
        formats = tuple(dict.fromkeys(self._format(word, port) for word in self._words(port, "format", what, default=["ND"])))
        dtypes: list[DType] = []
        has_columns = True
        for word in words:
            members = group_named(word)
            has_columns = has_columns and members is None
            dtypes += members or [self._dtype(word, port)]
        return PortClause(kind=kind, name=name, dtypes=tuple(dtypes), formats=formats, where=self.source.where(port, "name")), has_columns

    def _columns(self, ports: Sequence[tuple[PortClause, bool]], op: Placed) -> tuple[list[PortClause], bool]:
        """The lists as they pair, without a column that repeats another one: msopgen's files repeat a dtype for each format."""
        clauses = [port for port, _ in ports]
        if not all(has_columns for _, has_columns in ports):
            return [attrs.evolve(port, dtypes=tuple(dict.fromkeys(port.dtypes))) for port in clauses], False
        lengths = {len(port.dtypes) for port in clauses if len(port.dtypes) > 1}
        if len(lengths) > 1:
            because = ", ".join(f"{port.name!r} has {len(port.dtypes)}" for port in clauses)
            msg = "the `type` lists have different lengths, and they pair column by column"
            raise self.source.error(msg, op, "op", because=because)
        count = max(lengths, default=1)
        columns = dict.fromkeys(tuple(port.dtypes[index % len(port.dtypes)] for port in clauses) for index in range(count))
        lists = list(zip(*columns, strict=True))
        return [
            attrs.evolve(port, dtypes=found if len(set(found)) > 1 else found[:1]) for port, found in zip(clauses, lists, strict=True)
        ], True

    def _attr(self, attr: Placed) -> AttrClause:
        self._check_keys(attr, _ATTR_KEYS, "an attr")
        name = self._name(attr, "name", "an attr")
        word = self._text(attr, "type", f"attr {name!r}")
        kind = attr_type_of(word) if word in _ATTR_TYPES else None
        if kind is None:
            msg = f"attr {name!r} has the type {_shown(word)}, which opkit doesn't know"
            raise self.source.error(msg, attr, "type", help=did_you_mean(word, _ATTR_TYPES) or f"the types are {one_of(_ATTR_TYPES)}")
        is_required = self._choice(attr, {"required": True, "optional": False}, f"attr {name!r}")
        default = None if is_required else self._default(attr, name, kind)
        return AttrClause(name=name, type=kind, default=default, where=self.source.where(attr, "name"))

    def _default(self, attr: Placed, name: str, kind: AttrType) -> AttrDefault | Unknown:
        if "default_value" not in attr or (attr["default_value"] == "" and kind is not AttrType.STR):
            return Unknown("")
        given = attr["default_value"]
        value, because = attr_value(kind, _read_back(given, kind))
        if value is None:
            msg = f"the default_value of attr {name!r} is {_shown(given)}, and its type is {attr['type']}"
            raise self.source.error(msg, attr, "default_value", because=because)
        return value

    def _check_keys(self, place: Placed, known: Collection[str], what: str) -> None:
        """A key that isn't known is let be, unless it most likely is a misspelt one."""
        for key in place:
            near = did_you_mean(key, [word for word in known if word not in place])
            if key not in known and near is not None:
                msg = f"{what} has no {key!r}"
                raise self.source.error(msg, place, key, help=near)

    def _objects(self, op: Placed, key: str) -> list[Placed]:
        listed = op.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(each, Placed) for each in listed):
            msg = f"{key} is {_shown(listed)}, not a list of objects"
            raise self.source.error(msg, op, key)
        return listed

    def _text(self, place: Placed, key: str, what: str) -> str:
        value = place.get(key)
        if not isinstance(value, str) or not value.strip():
            msg = f"{what} lacks {key!r}" if key not in place else f"{key} of {what} is {_shown(value)}, not a text"
            raise self.source.error(msg, place, key)
        return value.strip()

    def _name(self, place: Placed, key: str, what: str) -> str:
        """Not any text: it becomes part of ops.py, which is a program."""
        name = self._text(place, key, what)
        if not _NAME.fullmatch(name):
            msg = f"{key} of {what} is {_shown(name)}, which is no name"
            raise self.source.error(msg, place, key, help="a name has letters, digits and _, and begins with a letter")
        return name

    def _words(self, place: Placed, key: str, what: str, *, default: list[str] | None = None) -> list[str]:
        value = place.get(key, default)
        words = [value] if isinstance(value, str) else value
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            msg = f"{what} lacks {key!r}" if key not in place else f"{key} of {what} is {_shown(value)}, not a list of texts"
            raise self.source.error(msg, place, key)
        return [word.strip() for word in words]

    def _choice(self, place: Placed, known: dict[str, Any], what: str) -> Any:  # noqa: ANN401 - a value of `known`
        word = place.get("param_type", "required")
        if not isinstance(word, str) or word not in known:
            msg = f"{what} has the param_type {_shown(word)}"
            advice = (did_you_mean(word, known) if isinstance(word, str) else None) or f"it is one of {one_of(known)}"
            raise self.source.error(msg, place, "param_type", help=advice)
        return known[word]

    def _dtype(self, word: str, port: Placed) -> DType:
        dtype = find_dtype(word) or find_dtype(word.casefold())
        if dtype is None:
            msg = f"there is no dtype {_shown(word)}"
            raise self.source.error(msg, port, "type", help=did_you_mean(word, DTYPES))
        return dtype

    def _format(self, word: str, port: Placed) -> str:
        found = find_format(word)
        if found is None:
            msg = f"there is no format {_shown(word)}"
            raise self.source.error(msg, port, "format", help=did_you_mean(word, FORMATS))
        return found


def _shown(value: object) -> str:
    return shown(dict(value) if isinstance(value, Placed) else value)


def _read_back(given: object, kind: AttrType) -> object:
    """The value of a text such as "[1, 1]", "false" or "0.5", which msopgen takes too."""
    if kind is AttrType.STR or not isinstance(given, str):
        return given
    if kind is AttrType.TYPE:
        return given.strip()
    if kind is AttrType.LIST_TYPE:
        return [word.strip() for word in given.strip().removeprefix("[").removesuffix("]").split(",") if word.strip()]
    try:
        return json.loads(given.strip().removeprefix("+"))
    except (ValueError, RecursionError):
        return given
