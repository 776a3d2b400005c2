"""The names of op types, ports and attrs: what GE and the generated C++ can have, and what may not be there twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opkit.spec.fields import flag_of, name_of, shown, text_of
from opkit.spec.naming import Naming, stem_of
from opkit.spec.problems import Problems, Rule, did_you_mean
from opkit.spec.reserved import is_built_in, why_no_cpp_name, why_no_op_type

if TYPE_CHECKING:
    from opkit.spec import declare

__all__ = [
    "LONGEST_NAME",
    "PORT_NAME",
    "file_stem_of",
    "naming_of",
    "op_type_of",
    "port_name",
    "unique_names",
    "unique_ops",
    "unique_ports",
]

_OP_TYPE = re.compile(r"[A-Z][A-Za-z0-9]*")
_FILE_STEM = re.compile(r"[a-z][a-z0-9_]*")
PORT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
LONGEST_NAME = 100


def op_type_of(op: declare.Op, problems: Problems) -> str:
    op_type = text_of(op, "type", problems)
    if op_type is None:
        return ""
    allow_builtin = flag_of(op, "allow_builtin", problems)
    because = why_no_op_type(op_type)
    if not _is_op_type(op_type):
        because = (
            f"it must match [A-Z][A-Za-z0-9]* and have at most {LONGEST_NAME} characters: it becomes a C++ class and a GE registration"
        )
    if because:
        suggestion = _op_type_like(op_type)
        advice = f"{suggestion!r} would do" if suggestion else None
        problems.add(Rule.OP_TYPE, f"{shown(op_type)} can't be an op type", op.where_of("type"), because=because, advice=advice)
    elif is_built_in(op_type) and not allow_builtin:
        problems.warn(
            Rule.BUILT_IN,
            f"{op_type!r} is the type of a built-in op",
            op.where_of("type"),
            because="GE has one op of a type: a graph that means the built-in one may run this one, or the other way round",
            advice=f"{_op_type_like(op_type)!r} would do; allow_builtin=True if it is meant to take the place of that one",
        )
    return op_type


def _op_type_like(word: str) -> str | None:
    """A type that an op can have and that nobody has, as like the word as it can be."""
    words = re.findall(r"[A-Za-z0-9]+", word) if word.isascii() else []
    camel = "".join(word[0].upper() + word[1:] for word in words)[:LONGEST_NAME]
    likely = (camel, f"{camel}Custom")
    return next((each for each in likely if _is_op_type(each) and not why_no_op_type(each) and not is_built_in(each)), None)


def naming_of(package: declare.Package, problems: Problems) -> Naming:
    word = package.given["naming"]
    known = [naming.value for naming in Naming]
    if isinstance(word, str) and word in known:
        return Naming(word)
    advice = (did_you_mean(word, known) if isinstance(word, str) else None) or f"naming is {' or '.join(map(repr, known))}"
    problems.add(Rule.FILE_STEM, f"{shown(word)} is no rule for file stems", package.where_of("naming"), advice=advice)
    return Naming.MSOPGEN


def file_stem_of(op: declare.Op, problems: Problems) -> str | None:
    """The stem that an op is given; None if the rule of its type gives one."""
    if op.given["file_stem"] is None:
        return None
    stem = text_of(op, "file_stem", problems)
    if stem is not None and (not _FILE_STEM.fullmatch(stem) or len(stem) > LONGEST_NAME):
        because = f"it must match [a-z][a-z0-9_]* and have at most {LONGEST_NAME} characters"
        problems.add(Rule.FILE_STEM, f"{shown(stem)} can't be a file stem", op.where_of("file_stem"), because=because)
    return stem


def unique_ops(ops: Sequence[declare.Op], naming: Naming, problems: Problems) -> None:
    """Reports two ops of one type, or of one file stem."""
    types: dict[str, declare.Op] = {}
    stems: dict[str, declare.Op] = {}
    counts = Counter(map(id, ops))
    for op in ops:
        op_type, stem = op.given.get("type"), op.given["file_stem"]
        if not isinstance(op_type, str):
            continue
        other = types.setdefault(op_type, op)
        if other is not op:
            because = f"GE keeps the first registration only; the other one is {other.where.place}"
            problems.add(Rule.DUPLICATE, f"two ops have the type {op_type!r}", op.where_of("type"), because=because)
            continue
        if counts[id(op)] > 1:
            problems.add(Rule.DUPLICATE, f"the op {op_type!r} is in ops twice", op.where)
        stem = stem if isinstance(stem, str) else stem_of(op_type, naming)
        other = stems.setdefault(stem, op)
        if other is not op:
            message = f"the ops {other.given['type']!r} and {op_type!r} have one file stem, {stem!r}"
            where = op.where_of("file_stem" if op.given["file_stem"] is not None else "type")
            advice = f'give one of them another: file_stem="{stem}_2"'
            problems.add(Rule.FILE_STEM, message, where, because=f"the other one is {other.where.place}", advice=advice)


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


def unique_ports(inputs: Sequence[declare.Input], outputs: Sequence[declare.Output], problems: Problems) -> None:
    """An output may have the name of an input, once and letter by letter."""
    names = {name_of(port) for port in inputs}
    unique_names(inputs, "port", problems)
    unique_names(outputs, "port", problems)
    unique_names([*inputs, *(port for port in outputs if name_of(port) not in names)], "port", problems)


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
