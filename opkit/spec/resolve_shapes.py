"""The shape rules of ports: patterns, broadcast, and a C++ function of the user's own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from opkit.spec import declare
from opkit.spec.expressions import INT64_MAX
from opkit.spec.fields import integer_of, name_of, shown, text_of
from opkit.spec.location import Spot
from opkit.spec.model import Attr, AttrType, Input
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.resolve_bounds import BOUND_EXAMPLE, BoundScope, resolve_bounds
from opkit.spec.shapes import (
    Broadcast,
    ComputedDim,
    DimGroup,
    NamedDim,
    PatternError,
    ShapePattern,
    ShapeRule,
    UpperBound,
    UserShape,
    likely_pattern,
    parse_pattern,
    unbound,
)
from opkit.spec.user_functions import find_user_function

__all__ = ["OutputScope", "dims_of", "input_shape", "output_shape"]

_EXAMPLE = 'cpp("ge/user/infer.h", "InferPad")'


@attrs.frozen(kw_only=True)
class OutputScope:
    """What the shape of an output can name: inputs and attrs without a mistake, and the folder that its path starts from.

    `unread_inputs` and `unread_attrs` are the names of those with one, None if not even all names are told. `outputs` has the names of all
    outputs, and `bounds` those of dims that only a kernel knows, each with an output that says so.
    """

    inputs: Sequence[Input]
    outputs: Sequence[str]
    bounds: Mapping[str, str]
    attrs: Mapping[str, Attr]
    root: Path
    unread_inputs: Collection[str] | None
    unread_attrs: Collection[str] | None

    @property
    def has_inputs(self) -> bool:
        """Whether a dim or an input that isn't here is nowhere."""
        return self.unread_inputs is not None and not self.unread_inputs

    @property
    def has_all(self) -> bool:
        """Whether a name that isn't here is a mistake, whatever it should be."""
        return self.has_inputs and self.unread_attrs is not None and not self.unread_attrs

    def may_be_unread(self, name: str) -> bool:
        """Whether an input that isn't here may have this name."""
        return self.unread_inputs is None or name in self.unread_inputs


def input_shape(port: declare.Input, problems: Problems) -> ShapePattern | None:
    if port.given["shape"] is None:
        return None
    if isinstance(port.given["shape"], declare.Phrase):
        word = port.given["shape"].word
        because = "an input has the shape of what is connected to it"
        problems.add(Rule.SHAPE_EXPRESSION, f"{word}(…) is the rule of an output", port.where_of("shape"), because=because)
        return None
    pattern = _pattern(port, problems)
    if pattern is None:
        return None
    computed = next((item for item in pattern.items if isinstance(item, ComputedDim)), None)
    if computed is not None:
        message = f"the shape of input {shown(name_of(port))} computes a dim, `{computed}`"
        problems.add(Rule.SHAPE_EXPRESSION, message, port.where_of("shape"), because="the dims of an input are given, and bind names")
    if len(pattern.groups) > 1:
        message = f"the shape of input {shown(name_of(port))} has {len(pattern.groups)} groups"
        problems.add(Rule.PATTERN, message, port.where_of("shape"), because="two groups in one shape can be matched in many ways")
    return pattern


def output_shape(port: declare.Output, scope: OutputScope, problems: Problems) -> ShapeRule | None:
    """None after reporting what is wrong."""
    given = port.given["shape"]
    if isinstance(given, declare.Phrase):
        rule = _RULES.get(given.word)
        if rule is None:
            advice = f'write broadcast("x", "y"), {_EXAMPLE} or {BOUND_EXAMPLE}'
            problems.add(Rule.SHAPE_EXPRESSION, f"{given.word}(…) is no shape", port.where_of("shape"), advice=advice)
        return None if rule is None else rule(port, given, scope, problems)
    pattern = _pattern(port, problems)
    return None if pattern is None else _bound(port, pattern, scope, problems)


def dims_of(inputs: Iterable[Input]) -> dict[str, tuple[str, int]]:
    """The first input that has a dim of each name, and its axis: one after a group is counted from the last."""
    found: dict[str, tuple[str, int]] = {}
    for port in inputs:
        items = () if port.shape is None else port.shape.items
        groups = [index for index, item in enumerate(items) if isinstance(item, DimGroup)]
        for index, item in enumerate(items):
            if isinstance(item, NamedDim):
                found.setdefault(item.name, (port.name, index - len(items) if groups and groups[0] < index else index))
    return found


def _pattern(port: declare.Input | declare.Output, problems: Problems) -> ShapePattern | None:
    given = port.given["shape"]
    if isinstance(given, (list, tuple)) or integer_of(given) is not None:
        dims = given if isinstance(given, (list, tuple)) else [given]
        message = f"shape of {port.kind} is {shown(given)}, not a text"
        problems.add(Rule.WRONG_KIND, message, port.where_of("shape"), advice=_advice(port, " ".join(map(_dim_text, dims))))
        return None
    text = text_of(port, "shape", problems)
    return None if text is None else _parsed(port, text, problems)


def _parsed(port: declare.Input | declare.Output, text: str, problems: Problems) -> ShapePattern | None:
    try:
        return parse_pattern(text)
    except PatternError as error:
        rule = Rule.SHAPE_EXPRESSION if error.is_expression else Rule.PATTERN
        problems.add(rule, f"{shown(text)} is no shape", port.where_of("shape"), because=str(error), advice=_advice(port, text))
        return None


def _dim_text(dim: object) -> str:
    if dim is ...:
        return "..."
    is_dim = dim is None or isinstance(dim, str) or (isinstance(dim, int) and -1 <= dim <= INT64_MAX)
    return str(dim) if is_dim else _NO_DIM


def _advice(port: declare.Input | declare.Output, text: str) -> str:
    """The pattern that a user most likely means."""
    if not _ANY_SIZE.isdisjoint(text.replace(",", " ").split()):
        return 'a dim of any size has a name, e.g. "n", and any number of dims is "..."'
    likely = likely_pattern(text)
    if likely is None:
        return 'write e.g. "...", "n k" or "*batch n 3"' if isinstance(port, declare.Input) else 'write e.g. "...", "n k" or "n (k // 2)"'
    if isinstance(port, declare.Input) and any(isinstance(item, ComputedDim) for item in parse_pattern(likely).items):
        return 'an input has names and numbers, e.g. "n k"; an output can compute a dim, e.g. "n (k // 2)"'
    return f'write "{likely}"' + (": a tensor of rank 0" if not likely else "")


_NO_DIM = "!"
# What other notations have for a dim of any size.
_ANY_SIZE = {"-1", "?", "_", ":", "None", "*"}


def _bound(
    port: declare.Output, pattern: ShapePattern, scope: OutputScope, problems: Problems, *, open_dims: Collection[str] = ()
) -> ShapePattern:
    """The pattern with its attrs told from dims. Reports names that are neither or both, but for those that the kernel tells."""
    where = port.where_of("shape")
    binding = [each.shape for each in scope.inputs if each.shape is not None and not each.is_optional]
    missing: tuple[NamedDim | DimGroup, ...] = ()
    if scope.has_inputs and scope.unread_attrs is not None:
        missing = tuple(item for item in unbound(pattern, binding) if item.name not in {*open_dims, *scope.unread_attrs})
    used_attrs = [scope.attrs[name.name] for name in pattern.names if isinstance(name, NamedDim) and name.name in scope.attrs]
    for attr in used_attrs:
        if scope.has_inputs and scope.unread_attrs is not None and NamedDim(attr.name) not in missing:
            advice = "give the dim another name in the shapes of the inputs"
            message = f"`{attr.name}` in the shape of output {shown(name_of(port))} is both a dim and an attr"
            problems.add(Rule.AMBIGUOUS, message, where, advice=advice)
        elif attr.type is not AttrType.INT:
            message = f"the shape of output {shown(name_of(port))} has the attr `{attr.name}` as a dim"
            problems.add(Rule.SHAPE_EXPRESSION, message, where, because=f"it is a {attr.type.value}, and a dim is an int")
    for item in missing:
        if item.name in scope.attrs and isinstance(item, NamedDim):
            continue
        names = list(dict.fromkeys(str(known) for known_pattern in binding for known in known_pattern.names))
        ints = [name for name, attr in scope.attrs.items() if attr.type is AttrType.INT]
        optional = next((each for each in scope.inputs if each.is_optional and each.shape is not None and item in each.shape.names), None)
        bounding = scope.bounds.get(item.name) if isinstance(item, NamedDim) else None
        because = None if optional is None else f"{optional.name!r} binds it and may be absent"
        known = f"the inputs bind {one_of(names)}" if names else 'give the inputs shapes, e.g. shape="n k"'
        known += f"; the int attrs are {one_of(ints)}" if ints else ""
        message = f"the shape of output {shown(name_of(port))} uses `{item}`, which no input binds"
        advice = did_you_mean(str(item), [*names, *ints]) or known
        if bounding is not None and bounding != name_of(port):
            because = f"only the kernel knows it: it has an upper bound in output {bounding!r}"
            advice = "give this output an upper_bound(…) with the same bound too"
        problems.add(Rule.UNBOUND, message, where, because=because, advice=advice)
    _check_ranked(port, pattern, scope, problems)
    return pattern.with_attrs(attr.name for attr in used_attrs)


def _check_ranked(port: declare.Output, pattern: ShapePattern, scope: OutputScope, problems: Problems) -> None:
    """Reports ranks of what is no single input."""
    where = port.where_of("shape")
    known = {each.name: each for each in scope.inputs}
    for name in pattern.ranked:
        found = known.get(name)
        if found is None and scope.has_inputs:
            advice = did_you_mean(name, known) or f"the inputs are {one_of(known)}"
            message = f"the shape of output {shown(name_of(port))} has the rank of {name!r}, which is no input"
            problems.add(Rule.UNBOUND, message, where, advice=advice)
        elif found is not None and not found.is_required:
            because = "it is a list of tensors" if found.is_dynamic else "it may be absent"
            message = f"the shape of output {shown(name_of(port))} can't have the rank of {name!r}"
            problems.add(Rule.SHAPE_EXPRESSION, message, where, because=because)


def _upper_bound(port: declare.Output, phrase: declare.Phrase, scope: OutputScope, problems: Problems) -> UpperBound | None:
    if len(phrase.operands) != 1 or not isinstance(phrase.operands[0], str):
        message = f"upper_bound takes one pattern, not {', '.join(map(shown, phrase.operands)) or 'none'}"
        problems.add(Rule.UPPER_BOUND, message, Spot(call=phrase.call), advice=f"write {BOUND_EXAMPLE}")
        return None
    pattern = _parsed(port, phrase.operands[0], problems)
    if pattern is None:
        return None
    allowed = BoundScope(
        inputs=scope.inputs,
        outputs=scope.outputs,
        attrs=scope.attrs,
        dims=dims_of(scope.inputs),
        has_all=scope.has_all,
    )
    bounds = resolve_bounds(port, phrase, pattern, allowed, problems)
    if bounds is None:
        return None
    return UpperBound(_bound(port, pattern, scope, problems, open_dims=dict(bounds)), bounds)


def _broadcast(port: declare.Output, phrase: declare.Phrase, scope: OutputScope, problems: Problems) -> Broadcast | None:
    where = Spot(call=phrase.call)
    names = [operand for operand in phrase.operands if isinstance(operand, str)]
    if len(names) < max(2, len(phrase.operands)):
        problems.add(Rule.SHAPE_EXPRESSION, "broadcast takes the names of two inputs or more", where, advice='write broadcast("x", "y")')
        return None
    known = {each.name: each for each in scope.inputs}
    for name in names:
        found = known.get(name)
        if found is None and scope.has_inputs:
            advice = did_you_mean(name, known) or f"the inputs are {one_of(known)}"
            problems.add(Rule.UNBOUND, f"output {shown(name_of(port))} broadcasts {name!r}, which is no input", where, advice=advice)
        elif found is not None and not found.is_required:
            because = "it is a list of tensors" if found.is_dynamic else "it may be absent"
            problems.add(Rule.SHAPE_EXPRESSION, f"input {name!r} can't be broadcast", where, because=because)
    return Broadcast(tuple(names))


def _user_shape(port: declare.Output, phrase: declare.Phrase, scope: OutputScope, problems: Problems) -> UserShape | None:
    found = find_user_function(
        phrase,
        scope.root,
        role=f"the shape rule of output {shown(name_of(port))}",
        parameters="const gert::InferShapeContext &ctx, gert::Shape &shape",
        example=_EXAMPLE,
        problems=problems,
    )
    return None if found is None else UserShape(found.path, found.relative, found.function)


_RULES = {"broadcast": _broadcast, "cpp": _user_shape, "upper_bound": _upper_bound}
