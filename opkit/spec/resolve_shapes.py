"""The shape rules of ports: patterns, broadcast, and a C++ function of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from opkit.spec import declare
from opkit.spec.fields import name_of, shown, text_of
from opkit.spec.location import Spot
from opkit.spec.model import Attr, AttrType, Input
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.shapes import Broadcast, ComputedDim, NamedDim, PatternError, ShapePattern, ShapeRule, UserShape, parse_pattern, unbound
from opkit.spec.user_functions import find_user_function

__all__ = ["OutputScope", "input_shape", "output_shape"]

_EXAMPLE = 'cpp("ge/user/infer.h", "InferPad")'


@attrs.frozen(kw_only=True)
class OutputScope:
    """What the shape of an output can name: inputs and attrs without a mistake, and the folder that its path starts from. Unless it
    `has_all` of them, a name that isn't here may be right.
    """

    inputs: Sequence[Input]
    attrs: Mapping[str, Attr]
    root: Path
    has_all: bool


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
            advice = f'write broadcast("x", "y") or {_EXAMPLE}'
            problems.add(Rule.SHAPE_EXPRESSION, f"{given.word}(…) is no shape", port.where_of("shape"), advice=advice)
        return None if rule is None else rule(port, given, scope, problems)
    pattern = _pattern(port, problems)
    return None if pattern is None else _bound(port, pattern, scope, problems)


def _pattern(port: declare.Input | declare.Output, problems: Problems) -> ShapePattern | None:
    text = text_of(port, "shape", problems)
    try:
        return None if text is None else parse_pattern(text)
    except PatternError as error:
        rule, advice = Rule.PATTERN, 'write e.g. "...", "n k" or "*batch n 3"'
        if error.is_expression:
            rule, advice = Rule.SHAPE_EXPRESSION, 'write e.g. "n (k // 2)"'
        problems.add(rule, f"{shown(text)} is no shape", port.where_of("shape"), because=str(error), advice=advice)
        return None


def _bound(port: declare.Output, pattern: ShapePattern, scope: OutputScope, problems: Problems) -> ShapePattern:
    """The pattern with its attrs told from dims. Reports names that are neither or both."""
    where = port.where_of("shape")
    binding = [each.shape for each in scope.inputs if each.shape is not None and not each.is_optional]
    missing = unbound(pattern, binding) if scope.has_all else ()
    used_attrs = [scope.attrs[name.name] for name in pattern.names if isinstance(name, NamedDim) and name.name in scope.attrs]
    for attr in used_attrs:
        if scope.has_all and NamedDim(attr.name) not in missing:
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
        because = None if optional is None else f"{optional.name!r} binds it and may be absent"
        known = f"the inputs bind {one_of(names)}" if names else 'give the inputs shapes, e.g. shape="n k"'
        known += f"; the int attrs are {one_of(ints)}" if ints else ""
        message = f"the shape of output {shown(name_of(port))} uses `{item}`, which no input binds"
        problems.add(Rule.UNBOUND, message, where, because=because, advice=did_you_mean(str(item), [*names, *ints]) or known)
    return pattern.with_attrs(attr.name for attr in used_attrs)


def _broadcast(port: declare.Output, phrase: declare.Phrase, scope: OutputScope, problems: Problems) -> Broadcast | None:
    where = Spot(call=phrase.call)
    names = [operand for operand in phrase.operands if isinstance(operand, str)]
    if len(names) < max(2, len(phrase.operands)):
        problems.add(Rule.SHAPE_EXPRESSION, "broadcast takes the names of two inputs or more", where, advice='write broadcast("x", "y")')
        return None
    known = {each.name: each for each in scope.inputs}
    for name in names:
        found = known.get(name)
        if found is None and scope.has_all:
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


_RULES = {"broadcast": _broadcast, "cpp": _user_shape}
