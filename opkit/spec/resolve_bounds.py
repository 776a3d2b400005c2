"""Upper bounds: the dims of an output that only the kernel knows, and the most that each can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from opkit.spec.expressions import Dim, Expr, Number, Numel, Rank, leaves
from opkit.spec.fields import name_of, shown
from opkit.spec.location import Spot
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.resolve_sizes import Names, Sizes
from opkit.spec.shapes import ComputedDim, NamedDim, ShapePattern, UpperBound

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from opkit.spec import declare
    from opkit.spec.model import Attr, Input, Output

__all__ = ["BOUND_EXAMPLE", "BoundScope", "check_bounds", "resolve_bounds"]

BOUND_EXAMPLE = 'upper_bound("found k", found=numel("x"))'


@attrs.frozen(kw_only=True)
class BoundScope:
    """What a bound can be computed from: inputs and attrs. `outputs` are names that it can't; `has_all` as in `OutputScope`."""

    inputs: Sequence[Input]
    outputs: Collection[str]
    attrs: Mapping[str, Attr]
    dims: Mapping[str, tuple[str, int]]
    has_all: bool


def resolve_bounds(
    port: declare.Output, phrase: declare.Phrase, pattern: ShapePattern, scope: BoundScope, problems: Problems
) -> tuple[tuple[str, Expr], ...] | None:
    """The most that each dim can be that only the kernel knows; None after reporting what is wrong."""
    before = len(problems)
    where = Spot(call=phrase.call)
    if port.given.get("dynamic") is not False:
        because = "a kernel writes the shape of one tensor"
        problems.add(Rule.UPPER_BOUND, f"output {shown(name_of(port))} is a list and can't have an upper bound", where, because=because)
        return None
    if not phrase.members:
        message = f"upper_bound says of no dim of output {shown(name_of(port))} how large it can be"
        problems.add(Rule.UPPER_BOUND, message, where, advice=f"give the dims that only the kernel knows by name: {BOUND_EXAMPLE}")
        return None
    bounds = []
    for name, value in phrase.members.items():
        spot = Spot(call=phrase.call, argument=name)
        told = _told(name, pattern, scope)
        if told is not None:
            problems.add(Rule.UPPER_BOUND, told.message, spot, because=told.because, advice=told.advice)
            continue
        bound = _bound(name, value, scope, spot, problems)
        bounds += [] if bound is None else [(name, bound)]
    return tuple(bounds) if len(problems) == before else None


def check_bounds(outputs: Sequence[Output | None], declared: Sequence[declare.Output], problems: Problems) -> None:
    """Reports a dim of two outputs that is bounded in two ways: a name has one size wherever it stands."""
    known: dict[str, tuple[str, Expr]] = {}
    for output, given in zip(outputs, declared, strict=True):
        rule = None if output is None else output.shape
        for name, bound in rule.bounds if isinstance(rule, UpperBound) else ():
            other, first = known.setdefault(name, (name_of(given), bound))
            if first != bound:
                message = f"`{name}` is at most {bound} in output {name_of(given)!r}, and {first} in output {other!r}"
                because = "a name has one size wherever it stands"
                problems.add(Rule.UPPER_BOUND, message, given.where_of("shape"), because=because)


@attrs.frozen(kw_only=True)
class _Told:
    """Why a name isn't a dim that only the kernel knows."""

    message: str
    because: str | None = None
    advice: str | None = None


def _told(name: str, pattern: ShapePattern, scope: BoundScope) -> _Told | None:
    """Why a name of upper_bound isn't a dim that nothing but the kernel tells, or None."""
    items = pattern.items
    computed = next((item for item in items if isinstance(item, ComputedDim) and NamedDim(name) in item.dims), None)
    dims = [item.name for item in items if isinstance(item, NamedDim)]
    binding = next((each for each in scope.inputs if each.shape is not None and name in {item.name for item in each.shape.names}), None)
    if computed is not None:
        message = f"`{name}` of upper_bound is part of the computed dim `{computed}`"
        return _Told(message=message, because="a dim that only the kernel knows stands alone")
    if name not in dims:
        message = f"upper_bound bounds `{name}`, and {shown(pattern.text)} has no such dim"
        return _Told(message=message, advice=did_you_mean(name, dims) or (f"its dims are {one_of(dims)}" if dims else None))
    if binding is not None:
        because = "the dim has the size of the input's, so there is nothing left to the kernel"
        return _Told(message=f"upper_bound bounds `{name}`, which input {binding.name!r} binds", because=because)
    if name in scope.attrs:
        because = "the dim has the attr's value, so there is nothing left to the kernel"
        return _Told(message=f"upper_bound bounds `{name}`, which is an attr", because=because)
    return None


def _bound(name: str, value: object, scope: BoundScope, where: Spot, problems: Problems) -> Expr | None:
    inputs = {each.name: each for each in scope.inputs}
    outputs = [output for output in scope.outputs if output not in inputs]
    names = Names(
        ranks={**dict.fromkeys(outputs), **{each.name: None if each.shape is None else each.shape.rank for each in scope.inputs}},
        outputs=outputs,
        attrs={attr.name: attr.type for attr in scope.attrs.values()},
        dynamic=[each.name for each in scope.inputs if each.is_dynamic],
        unruled=[each.name for each in scope.inputs if each.shape is None],
        dims=scope.dims,
        bounded=(),
        undecided=(),
        symbols=None,
        is_complete=scope.has_all,
    )
    bound = Sizes(names, problems).size(value, where)
    if bound is None:
        return None
    output = next((leaf.port for leaf in leaves(bound) if isinstance(leaf, (Numel, Dim, Rank)) and leaf.port in outputs), None)
    if output is not None:
        because = "it is needed before any output has a shape"
        message = f"the bound of `{name}` reads output {output!r}"
        problems.add(Rule.UPPER_BOUND, message, where, because=because, advice="compute it from inputs and attrs")
        return None
    if isinstance(bound, Number) and bound.value < 0:
        problems.add(Rule.UPPER_BOUND, f"`{name}` can't be at most {bound.value}", where, because="a dim isn't negative")
        return None
    return bound
