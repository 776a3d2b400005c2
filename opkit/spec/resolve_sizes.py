"""Size expressions: every name in them looked up, constants folded, and what has no meaning told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeGuard

import attrs

from opkit.errors import SpecError
from opkit.spec import declare
from opkit.spec.expressions import (
    INT64_MAX,
    INT64_MIN,
    MAX_DEPTH,
    AttrValue,
    Binary,
    BinaryOp,
    Cores,
    Count,
    Dim,
    Expr,
    Number,
    Numel,
    Rank,
    Scope,
    is_constant,
)
from opkit.spec.fields import integer_of, shown
from opkit.spec.location import Spot
from opkit.spec.model import AttrType
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.shapes import MAX_RANK

__all__ = ["Names", "Sizes", "counted"]

_ARITY = {
    "numel": 1,
    "dim": 2,
    "rank": 1,
    "attr": 1,
    "port": 1,
    "count": 1,
    "address_list": 1,
    "shape_of": 1,
    "workspace": 1,
    "tiling": 1,
    "cores": 0,
    "ceil_div": 2,
    "i32": 1,
    "u32": 1,
    "i64": 1,
    "f32": 1,
}
_BINARY = {op.value: op for op in BinaryOp}
# One that adds an expression to itself again and again has few objects, and a C++ text that no compiler reads.
_MAX_OPERANDS = 1000


@attrs.frozen(kw_only=True)
class Names:
    """What a kernel argument can name: the ranks of the ports (None if open) and the types of the attrs (None if mistaken).

    `symbols` are those of `dtypes`, None if they can't be told. Of the ports, `dynamic` are lists of tensors, and of those the `unruled`
    have tensors of any shape. `dims` are the names in the shapes of inputs, each with the first input that has it and the axis there.
    `bounded` are the outputs whose shape only the kernel knows, and `undecided` those that may be such: they have a mistake.

    Unless it `is_complete`, a mistake elsewhere hides names, and one that isn't here may be right.
    """

    ranks: Mapping[str, int | None]
    outputs: Sequence[str]
    attrs: Mapping[str, AttrType | None]
    dynamic: Collection[str]
    unruled: Collection[str]
    dims: Mapping[str, tuple[str, int]]
    bounded: Collection[str]
    undecided: Collection[str]
    symbols: Collection[str] | None
    is_complete: bool


@attrs.frozen
class Sizes:
    """Turns size expressions of a spec into trees."""

    names: Names
    _problems: Problems

    def size(self, value: object, where: Spot) -> Expr | None:
        """An integer expression, constants folded; None after reporting why there is none."""
        if isinstance(value, declare.Size) and (because := _why_too_large(value)) is not None:
            self._problems.add(Rule.EXPRESSION, "a size expression is too large", Spot(call=value.call), because=because)
            return None
        expr = self._tree(value, where)
        if expr is None or not is_constant(expr):
            return expr
        try:
            return Number(expr.evaluate(Scope()))
        except SpecError as error:
            self._problems.add(Rule.EXPRESSION, f"`{expr}` has no value", where, because=error.because)
            return None

    def _tree(self, value: object, where: Spot) -> Expr | None:
        if isinstance(value, declare.Size):
            return self._size(value)
        if isinstance(value, str):
            return self._integer_attr(value, where)
        number = integer_of(value)
        if number is None:
            advice = (
                "a float reaches a kernel as a float attr"
                if isinstance(value, float)
                else "use numel, dim, rank, attr, cores, ceil_div, min_, max_, + - * // %"
            )
            self._problems.add(Rule.EXPRESSION, f"{shown(value)} is no size expression", where, advice=advice)
            return None
        if not INT64_MIN <= number <= INT64_MAX:
            self._problems.add(Rule.EXPRESSION, f"{shown(number)} doesn't fit in int64", where)
            return None
        return Number(number)

    def _size(self, size: declare.Size) -> Expr | None:
        where = Spot(call=size.call)
        if not self.has_operands(size):
            return None
        if size.word in _BINARY:
            return self._binary(_BINARY[size.word], [self._tree(operand, where) for operand in size.operands], where)
        expr: Expr | None = None
        match size.word:
            case "cores":
                expr = Cores()
            case "attr":
                expr = self._integer_attr(size.operands[0], where)
            case "numel":
                expr = self._numel(size.operands[0], where)
            case "rank":
                expr = self._rank(size.operands[0], where)
            case "count":
                expr = self._count(size.operands[0], where)
            case "dim":
                expr = self._dim(*size.operands, where=where)
            case _:
                self._no_size(size.word, where)
        return expr

    def _no_size(self, word: str, where: Spot) -> None:
        if word == "/":
            message, advice = "`/` gives a fraction, and a size is an integer", "write // to round down, ceil_div to round up"
        elif word == "port":
            message, advice = "an address is no part of a size", 'use numel("x") or dim("x", 0)'
        else:
            message, advice = f"{word}(…) is a whole kernel argument, no part of a size", None
        self._problems.add(Rule.EXPRESSION, message, where, advice=advice)

    def _binary(self, op: BinaryOp, operands: list[Expr | None], where: Spot) -> Expr | None:
        known = [operand for operand in operands if operand is not None]
        if len(known) < len(operands):
            return None
        if op.divides and isinstance(known[1], Number) and known[1].value <= 0:
            self._problems.add(
                Rule.EXPRESSION,
                f"`{Binary(op, known[0], known[1])}` divides by {known[1].value}",
                where,
                advice="a divisor must be positive",
            )
            return None
        tree = known[0]
        for operand in known[1:]:
            tree = Binary(op, tree, operand)
        return tree

    def has_operands(self, size: declare.Size) -> bool:
        given = len(size.operands)
        if size.word in {"min_", "max_"}:
            wanted, is_right = "at least 2 operands", given >= 2
        else:
            count = _ARITY.get(size.word, 2)
            wanted, is_right = counted(count, "operand"), given == count
        if not is_right:
            self._problems.add(Rule.EXPRESSION, f"{size.word} takes {wanted}, not {given}", Spot(call=size.call))
        return is_right

    def _numel(self, name: object, where: Spot) -> Expr | None:
        return Numel(name) if self.is_port(name, where) and self._has_one_shape(name, where) else None

    def _rank(self, name: object, where: Spot) -> Expr | None:
        return Rank(name) if self.is_port(name, where) and self._has_one_shape(name, where) else None

    def _count(self, name: object, where: Spot) -> Expr | None:
        if not self.is_port(name, where):
            return None
        if name not in self.names.dynamic:
            self._problems.add(Rule.COUNT, f"{name!r} is one tensor: there is nothing to count", where)
            return None
        return Count(name)

    def _integer_attr(self, name: object, where: Spot) -> Expr | None:
        if isinstance(name, str) and name in self.names.ranks and name not in self.names.attrs:
            message = f"{name!r} is a port, and a size needs a number"
            self._problems.add(Rule.EXPRESSION, message, where, advice=f'write numel("{name}") or dim("{name}", 0)')
            return None
        if not isinstance(name, str) or name not in self.names.attrs:
            self.report_unknown(name, self.names.attrs, "attr", where)
            return None
        kind = self.names.attrs[name]
        if kind not in {AttrType.INT, AttrType.BOOL, None}:
            because = f"it is a {kind.value}, and a size is an integer"
            self._problems.add(Rule.EXPRESSION, f"attr {name!r} can't be part of a size", where, because=because)
            return None
        return None if kind is None else AttrValue(name)

    def _dim(self, port: object, axis: object, *, where: Spot) -> Expr | None:
        if not self.is_port(port, where) or not self._has_one_shape(port, where):
            return None
        index = integer_of(axis)
        if index is None:
            first = self.names.dims.get(axis) if isinstance(axis, str) else None
            advice = None if first is None else f'write dim("{first[0]}", {first[1]})'
            self._problems.add(Rule.EXPRESSION, f"the axis of dim is {shown(axis)}, not an integer", where, advice=advice)
            return None
        rank = self.names.ranks[port]
        most = MAX_RANK if rank is None else rank
        if not -most <= index < most:
            because = f"GE has at most {MAX_RANK} dims" if rank is None else f"{port!r} has {counted(rank, 'dim')}"
            self._problems.add(Rule.EXPRESSION, f'dim("{port}", {shown(index)}) is outside the shape', where, because=because)
            return None
        return Dim(port, index)

    def is_port(self, name: object, where: Spot) -> TypeGuard[str]:
        if isinstance(name, str) and name in self.names.ranks:
            return True
        self.report_unknown(name, self.names.ranks, "port", where)
        return False

    def _has_one_shape(self, name: str, where: Spot) -> bool:
        if name not in self.names.dynamic or name not in self.names.unruled:
            return True
        message = f"the tensors of {name!r} needn't have one shape"
        self._problems.add(Rule.COUNT, message, where, advice=f'give the input {name!r} a shape that they all keep to, e.g. shape="..."')
        return False

    def report_unknown(self, name: object, known: Mapping[str, object], what: str, where: Spot) -> None:
        if not isinstance(name, str):
            self._problems.add(Rule.WRONG_KIND, f"{shown(name)} isn't the name of a {what}", where)
            return
        if not self.names.is_complete:
            return
        advice = did_you_mean(name, known) or (f"the op has {one_of(known)}" if known else None)
        if name in self.names.dims:
            port, axis = self.names.dims[name]
            advice = f'write dim("{port}", {axis}): {name!r} is a dim of {port!r}'
        self._problems.add(Rule.UNKNOWN_NAME, f"there is no {what} {name!r}", where, advice=advice)


def _why_too_large(size: declare.Size) -> str | None:
    pending: list[tuple[object, int]] = [(size, 0)]
    count = 0
    while pending:
        value, depth = pending.pop()
        count += 1
        if depth > MAX_DEPTH:
            return f"its operators stand more than {MAX_DEPTH} deep inside each other"
        if count > _MAX_OPERANDS:
            return f"it has more than {_MAX_OPERANDS} operands"
        if isinstance(value, declare.Size) and value.word in _BINARY:
            # Those of min_ and max_ are taken two by two.
            inside = depth + max(1, len(value.operands) - 1)
            pending += [(operand, inside) for operand in value.operands]
    return None


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
