"""Shape patterns as C++: the calls that match an input's shape, and the statements that build an output's."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from opkit.codegen.literals import cpp_string
from opkit.spec import DimGroup, FixedDim, Input, NamedDim, Op, Output

__all__ = ["InputRule", "OutputRule", "ShapeRules"]

Named = NamedDim | DimGroup


@attrs.frozen(kw_only=True)
class InputRule:
    """`conditions` are calls on the `RuledShape` named `local`; each must be true."""

    text: str
    local: str
    port: str
    rule: str
    index: int
    conditions: tuple[str, ...]
    helpers: frozenset[str]


@attrs.frozen(kw_only=True)
class OutputRule:
    text: str
    statements: tuple[str, ...]
    helpers: frozenset[str]


@attrs.frozen(kw_only=True)
class ShapeRules:
    """The body of an op's InferShapes. `parameters` leaves a parameter unnamed if no rule reads it."""

    parameters: str
    bindings: tuple[str, ...]
    inputs: tuple[InputRule, ...]
    outputs: tuple[OutputRule, ...]

    @classmethod
    def of(cls, op: Op) -> ShapeRules:
        inputs = tuple(rule for index, port in enumerate(op.inputs) for rule in _input_rules(index, port))
        names = dict.fromkeys(name for port in op.inputs if port.shape is not None for name in port.shape.names)
        parameters = (
            "const Node &node, InputShapes inputs, OutputShapes outputs" if inputs else "const Node &, InputShapes, OutputShapes outputs"
        )
        return cls(
            parameters=parameters,
            bindings=tuple(_binding(name) for name in names),
            inputs=inputs,
            outputs=tuple(_output_rule(index, port) for index, port in enumerate(op.outputs)),
        )


def _local(name: Named) -> str:
    """A C++ name that can be no keyword and no name of the code around it."""
    if isinstance(name, NamedDim):
        return f"dim_{name.name}"
    return "group" if name.name == "..." else f"group_{name.name}"


def _binding(name: Named) -> str:
    if isinstance(name, NamedDim):
        return f"int64_t {_local(name)} = kUnknownDim;"
    return f"gert::Shape {_local(name)}{{kUnknownRank}};"


def _input_rules(index: int, port: Input) -> Iterable[InputRule]:
    if port.shape is None:
        return
    local = f"rule_{port.name}"
    items = port.shape.items
    fixed = sum(not isinstance(item, DimGroup) for item in items)
    conditions = []
    helpers = set()
    if fixed == len(items):
        conditions.append(f"MatchRank({fixed})")
        helpers.add("match_rank")
    elif fixed:
        conditions.append(f"MatchRankFrom({fixed})")
        helpers.add("match_rank_from")
    group_at = next((position for position, item in enumerate(items) if isinstance(item, DimGroup)), len(items))
    for position, item in enumerate(items):
        axis = str(position) if position <= group_at else f"{local}.Rank() - {len(items) - position}"
        match item:
            case NamedDim():
                conditions.append(f"MatchDim({axis}, {_local(item)})")
                helpers.add("match_dim")
            case FixedDim():
                conditions.append(f"MatchSize({axis}, {item.size})")
                helpers.add("match_size")
            case DimGroup():
                count = f"{local}.Rank() - {fixed}" if fixed else f"{local}.Rank()"
                conditions.append(f"MatchGroup({axis}, {count}, {_local(item)})")
                helpers.add("match_group")
    yield InputRule(
        text=f"{port.name}: [{port.shape.text}]",
        local=local,
        port=cpp_string(port.name),
        rule=cpp_string(port.shape.text),
        index=index,
        conditions=tuple(conditions),
        helpers=frozenset(helpers),
    )


def _output_rule(index: int, port: Output) -> OutputRule:
    items = port.shape.items
    target = f"outputs[{index}]"
    statements: list[str] = []
    helpers: set[str] = set()
    groups = [_local(item) for item in dict.fromkeys(port.shape.groups)]
    if len(items) == 1 and groups:
        statements.append(f"{target} = {groups[0]};")
    elif groups:
        unknown = " || ".join(f"HasUnknownRank({group})" for group in groups)
        statements += [f"if ({unknown}) {{", f"  {target} = gert::Shape({{kUnknownRank}});", "} else {"]
        statements += [f"  {statement}" for statement in _appended(target, items)]
        statements.append("}")
        helpers.add("append_group")
    else:
        statements += _appended(target, items)
    return OutputRule(text=f"{port.name}: [{port.shape.text}]", statements=tuple(statements), helpers=frozenset(helpers))


def _appended(target: str, items: Iterable[NamedDim | FixedDim | DimGroup]) -> Iterable[str]:
    for item in items:
        match item:
            case DimGroup():
                yield f"AppendGroup({target}, {_local(item)});"
            case NamedDim():
                yield f"{target}.AppendDim({_local(item)});"
            case FixedDim():
                yield f"{target}.AppendDim({item.size});"
