"""The names of op types, ports and attrs: what GE and the generated C++ can have, and what may not be there twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opkit.spec.fields import shown, text_of
from opkit.spec.problems import Problems, Rule
from opkit.spec.reserved import why_no_cpp_name, why_no_op_type

if TYPE_CHECKING:
    from opkit.spec import declare

__all__ = ["LONGEST_NAME", "PORT_NAME", "op_type_of", "port_name", "unique_names"]

_OP_TYPE = re.compile(r"[A-Z][A-Za-z0-9]*")
PORT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
LONGEST_NAME = 100


def op_type_of(op: declare.Op, problems: Problems) -> str:
    op_type = text_of(op, "type", problems)
    if op_type is None:
        return ""
    because = why_no_op_type(op_type)
    if not _is_op_type(op_type):
        because = (
            f"it must match [A-Z][A-Za-z0-9]* and have at most {LONGEST_NAME} characters: it becomes a C++ class and a GE registration"
        )
    if because:
        words = re.findall(r"[A-Za-z0-9]+", op_type) if op_type.isascii() else []
        camel = "".join(word[0].upper() + word[1:] for word in words)[:LONGEST_NAME]
        suggestion = next((word for word in (camel, f"{camel}Custom") if _is_op_type(word) and not why_no_op_type(word)), None)
        advice = f"{suggestion!r} would do" if suggestion else None
        problems.add(Rule.OP_TYPE, f"{shown(op_type)} can't be an op type", op.where_of("type"), because=because, advice=advice)
    return op_type


def _is_op_type(word: str) -> bool:
    return _OP_TYPE.fullmatch(word) is not None and len(word) <= LONGEST_NAME


def unique_names(declared: Sequence[declare.Declaration], what: str, problems: Problems) -> None:
    first: dict[str, declare.Declaration] = {}
    counts = Counter(map(id, declared))
    for declaration in declared:
        name = declaration.given.get("name")
        if not isinstance(name, str):
            continue
        other = first.setdefault(name.upper(), declaration)
        if other is not declaration or counts[id(declaration)] > 1:
            twin = str(other.given["name"])
            message = (
                f"two {what}s have the name {name!r}" if twin == name else f"the {what} names {twin!r} and {name!r} differ in case only"
            )
            because = f"the other one is {other.where.place}" if other.where != declaration.where else None
            problems.add(Rule.DUPLICATE, message, declaration.where, because=because)


def port_name(declared: declare.Input | declare.Output | declare.Attr, problems: Problems) -> str:
    name = text_of(declared, "name", problems)
    if name is None:
        return ""
    because = why_no_cpp_name(name)
    if not PORT_NAME.fullmatch(name) or "__" in name or len(name) > LONGEST_NAME:
        because = f"it must match [A-Za-z][A-Za-z0-9_]*, without a double underscore, and have at most {LONGEST_NAME} characters"
    if because:
        kind = {"Input": "an input", "Output": "an output"}.get(declared.kind, "an attr")
        problems.add(Rule.NAME, f"{shown(name)} can't name {kind}", declared.where_of("name"), because=because)
    return name
