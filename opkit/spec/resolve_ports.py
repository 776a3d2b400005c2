"""The input and output ports of an op: their shapes, and what each needs to be one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opkit.spec.fields import check_call, shown, text_of
from opkit.spec.model import Input, Output
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.resolve_names import port_name
from opkit.spec.shapes import PatternError, ShapePattern, parse_pattern, unbound

if TYPE_CHECKING:
    from opkit.spec import declare
    from opkit.spec.resolve_dtypes import Columns

__all__ = ["resolve_input", "resolve_output"]


def resolve_input(port: declare.Input, columns: Columns, problems: Problems) -> Input | None:
    before = len(problems)
    check_call(port, problems)
    name = port_name(port, problems)
    symbol, dtypes = columns.of(port)
    shape = None if port.given["shape"] is None else _pattern(port, problems)
    if shape is not None and len(shape.groups) > 1:
        because = "two groups in one shape can be matched in many ways"
        problems.add(
            Rule.PATTERN, f"the shape of input {shown(name)} has {len(shape.groups)} groups", port.where_of("shape"), because=because
        )
    return Input(name=name, dtypes=dtypes, symbol=symbol, shape=shape, where=port.where) if len(problems) == before else None


def resolve_output(port: declare.Output, columns: Columns, inputs: Sequence[ShapePattern] | None, problems: Problems) -> Output | None:
    before = len(problems)
    check_call(port, problems, optional={"shape"})
    name = port_name(port, problems)
    symbol, dtypes = columns.of(port)
    shape = None
    if port.given.get("shape") is None and port.strays:
        pass  # The stray one may be the shape.
    elif port.given.get("shape") is None:
        message = f"output {shown(name)} has no shape rule"
        because = "GE would infer an unknown rank and leave the static path"
        problems.add(
            Rule.NO_SHAPE_RULE, message, port.where, because=because, advice='give shape="..." or dims that inputs name, e.g. shape="n k"'
        )
    else:
        shape = _pattern(port, problems)
    for item in () if shape is None or inputs is None else unbound(shape, inputs):
        names = list(dict.fromkeys(str(known) for pattern in inputs or () for known in pattern.names))
        advice = did_you_mean(str(item), names) or (
            f"the inputs bind {one_of(names)}" if names else 'give the inputs shapes, e.g. shape="n k"'
        )
        message = f"the shape of output {shown(name)} uses `{item}`, which no input binds"
        problems.add(Rule.UNBOUND, message, port.where_of("shape"), advice=advice)
    if len(problems) > before or shape is None:
        return None
    return Output(name=name, dtypes=dtypes, symbol=symbol, shape=shape, where=port.where)


def _pattern(port: declare.Input | declare.Output, problems: Problems) -> ShapePattern | None:
    text = text_of(port, "shape", problems)
    try:
        return None if text is None else parse_pattern(text)
    except PatternError as error:
        problems.add(
            Rule.PATTERN,
            f"{shown(text)} is no shape",
            port.where_of("shape"),
            because=str(error),
            advice='write e.g. "...", "n k" or "*batch n 3"',
        )
        return None
