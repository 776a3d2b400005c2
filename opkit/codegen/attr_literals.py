"""The values of attrs as C++: what REG_OP declares as a default, and what the session program gives an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opkit.codegen.literals import cpp_bool, cpp_float, cpp_int, cpp_string
from opkit.spec import DTYPES, AttrDefault, AttrType

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["proto_default", "session_type", "session_value"]

_SESSION_TYPES = {
    AttrType.INT: "int64_t",
    AttrType.FLOAT: "float",
    AttrType.BOOL: "bool",
    AttrType.STR: "std::string",
    AttrType.TYPE: "ge::DataType",
    AttrType.BYTES: "Bytes",
    AttrType.TENSOR: "ge::Tensor",
}
_ZEROS: dict[AttrType, AttrDefault] = {
    AttrType.INT: 0,
    AttrType.FLOAT: 0.0,
    AttrType.BOOL: False,
    AttrType.STR: "",
    AttrType.TYPE: "float32",
    AttrType.BYTES: b"",
}


def proto_default(kind: AttrType, value: AttrDefault) -> str:
    """The last argument of `.ATTR(name, Type, default)`, which stands in namespace ge."""
    return _text(kind, value, namespace="")


def session_type(kind: AttrType) -> str:
    """The type that the session program holds an attr in."""
    return _SESSION_TYPES[kind] if kind.element is None else f"std::vector<{session_type(kind.element)}>"


def session_value(kind: AttrType, value: AttrDefault | None) -> str:
    """An expression of `session_type`; the zero of it for None."""
    text = _text(kind, _ZEROS.get(kind, ()) if value is None else value, namespace="ge::")
    if kind is AttrType.INT:
        return f"int64_t{{{text}}}"
    if kind is AttrType.STR:
        return f"std::string({text})"
    return f"{session_type(kind)}{text}" if kind.element is not None or kind is AttrType.BYTES else text


def _text(kind: AttrType, value: AttrDefault, *, namespace: str) -> str:
    match value:
        case tuple() if kind.element is not None:
            return _braced(_text(kind.element, each, namespace=namespace) for each in value)
        case tuple():
            return f"{namespace}Tensor()"
        case bytes():
            return _braced(map(str, value))
        case str():
            return f"{namespace}{DTYPES[value].ge_enum}" if kind is AttrType.TYPE else cpp_string(value)
        case bool():
            return cpp_bool(value)
        case _:
            return cpp_float(value) if kind is AttrType.FLOAT else cpp_int(int(value))


def _braced(texts: Iterable[str]) -> str:
    return f"{{{', '.join(texts)}}}"
