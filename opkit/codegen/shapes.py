"""Shape patterns as C++: the calls that match an input's shape, and the statements that build an output's."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from opkit.codegen.expressions import DimReading
from opkit.codegen.literals import cpp_string
from opkit.spec import Broadcast, ComputedDim, DimGroup, FixedDim, Input, NamedDim, Op, Output, ShapePattern, UpperBound, UserShape

__all__ = ["InputRule", "OutputRule", "ShapeRules", "UserRule"]

Named = NamedDim | DimGroup


@attrs.frozen(kw_only=True)
class InputRule:
    """`conditions` are calls on the `RuledShape` named `local`; each must be true."""

    text: str
    local: str
    port: str
    rule: str
    index: int
    is_required: bool
    conditions: tuple[str, ...]
    helpers: frozenset[str]


@attrs.frozen(kw_only=True)
class OutputRule:
    """`statements` build the shape of output `index`; a broadcast has none but the indices of the inputs that it is the broadcast of."""

    text: str
    index: int
    port: str
    statements: tuple[str, ...]
    broadcast: tuple[int, ...] = ()
    reads_node: bool
    helpers: frozenset[str]


@attrs.frozen(kw_only=True)
class UserRule:
    """A C++ function of the user's that infers the shape of output `index`."""

    index: int
    port: str
    header: str
    function: str


@attrs.frozen(kw_only=True)
class ShapeRules:
    """The body of an op's InferShapes. `parameters` leaves a parameter unnamed if no rule reads it."""

    parameters: str
    reads_attrs: bool
    ranked: tuple[tuple[str, int], ...]
    """The inputs whose ranks dims are computed from: a C++ name of the shape, and the index."""
    bindings: tuple[str, ...]
    inputs: tuple[InputRule, ...]
    outputs: tuple[OutputRule, ...]
    user: tuple[UserRule, ...]

    @classmethod
    def of(cls, op: Op) -> ShapeRules:
        inputs = tuple(rule for index, port in enumerate(op.inputs) for rule in _input_rules(index, port))
        outputs = tuple(rule for index, port in enumerate(op.outputs) for rule in _output_rules(index, port, op))
        names = dict.fromkeys(name for port in op.inputs if port.shape is not None for name in port.shape.names)
        attrs_read = list(_attrs_read(op))
        reads_node = inputs or attrs_read or any(rule.reads_node for rule in outputs)
        ranked = _ranked(op)
        reads_inputs = inputs or ranked or any(rule.broadcast for rule in outputs)
        parameters = (
            "const Node &node" if reads_node else "const Node &",
            "InputShapes inputs" if reads_inputs else "InputShapes",
            "OutputShapes outputs" if any(rule.broadcast or rule.statements for rule in outputs) else "OutputShapes",
        )
        return cls(
            parameters=", ".join(parameters),
            reads_attrs=bool(attrs_read),
            ranked=ranked,
            bindings=(*map(_binding, names), *attrs_read),
            inputs=inputs,
            outputs=outputs,
            user=tuple(rule for index, port in enumerate(op.outputs) for rule in _user_rules(index, port)),
        )


def _patterns(op: Op) -> Iterable[ShapePattern]:
    for port in op.outputs:
        match port.shape:
            case ShapePattern() as pattern:
                yield pattern
            case UpperBound(pattern=pattern):
                yield pattern


def _attrs_read(op: Op) -> Iterable[str]:
    """The statements that read the attrs that dims are computed from."""
    for name in dict.fromkeys(name for pattern in _patterns(op) for name in pattern.attrs):
        yield f"const int64_t *const attr_{name} = DimAttr(node, attrs, {op.attr_index(name)}, {cpp_string(name)});"
        yield f"if (attr_{name} == nullptr) {{"
        yield "  return false;"
        yield "}"


def _ranked(op: Op) -> tuple[tuple[str, int], ...]:
    names = [each.name for each in op.inputs]
    read = dict.fromkeys(name for pattern in _patterns(op) for name in pattern.ranked)
    return tuple((f"shape_{name}", names.index(name)) for name in read)


def _user_rules(index: int, port: Output) -> Iterable[UserRule]:
    if isinstance(port.shape, UserShape):
        yield UserRule(index=index, port=cpp_string(port.name), header=port.shape.relative, function=port.shape.function)


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
        is_required=port.is_required,
        conditions=tuple(conditions),
        helpers=frozenset(helpers),
    )


def _output_rules(index: int, port: Output, op: Op) -> Iterable[OutputRule]:
    match port.shape:
        case ShapePattern() as pattern:
            yield _pattern_rule(index, port, pattern, f"{port.name}: [{pattern.text}]", op)
        case UpperBound(pattern=pattern):
            yield _pattern_rule(index, port, pattern, f"{port.name}: {port.shape.text}", op)
        case Broadcast(ports):
            names = [each.name for each in op.inputs]
            yield OutputRule(
                text=f"{port.name}: {port.shape.text}",
                index=index,
                port=cpp_string(port.name),
                statements=(),
                broadcast=tuple(names.index(name) for name in ports),
                reads_node=True,
                helpers=frozenset({"broadcast"}),
            )


def _pattern_rule(index: int, port: Output, pattern: ShapePattern, text: str, op: Op) -> OutputRule:
    open_dims = port.shape.open_dims if isinstance(port.shape, UpperBound) else ()
    statements, helpers = _built(f"outputs[{index}]", port.name, pattern, open_dims, op)
    return OutputRule(
        text=text,
        index=index,
        port=cpp_string(port.name),
        statements=tuple(statements),
        # A failed computation is logged.
        reads_node=any(isinstance(item, ComputedDim) for item in pattern.items),
        helpers=frozenset(helpers),
    )


def _built(target: str, port: str, pattern: ShapePattern, open_dims: Collection[NamedDim], op: Op) -> tuple[list[str], set[str]]:
    items = pattern.items
    groups = [_local(item) for item in dict.fromkeys(pattern.groups)]
    reading = DimReading(op)
    appended = [
        statement
        for item in items
        for statement in ([f"{target}.AppendDim(kUnknownDim);"] if item in open_dims else _appended(target, port, item, reading))
    ]
    if len(items) == 1 and groups:
        return [f"{target} = {groups[0]};"], set()
    helpers = set(reading.helpers)
    if any(isinstance(item, ComputedDim) for item in items):
        helpers.add("append_size")
    if not groups:
        return appended, helpers
    unknown = " || ".join(f"HasUnknownRank({group})" for group in groups)
    statements = [f"if ({unknown}) {{", f"  {target} = gert::Shape({{kUnknownRank}});", "} else {"]
    return [*statements, *(f"  {statement}" for statement in appended), "}"], {*helpers, "append_group"}


def _appended(target: str, port: str, item: NamedDim | FixedDim | DimGroup | ComputedDim, reading: DimReading) -> Iterable[str]:
    match item:
        case DimGroup():
            yield f"AppendGroup({target}, {_local(item)});"
        case NamedDim():
            yield f"{target}.AppendDim({_local(item)});"
        case FixedDim():
            yield f"{target}.AppendDim({item.size});"
        case ComputedDim():
            call = f"AppendSize(node, {cpp_string(port)}, {cpp_string(str(item))}, {item.expr.read(reading)}, {target})"
            open_dims = [f"{_local(name)} == kUnknownDim" for name in item.dims]
            open_dims += [f"HasUnknownRank(shape_{name})" for name in item.ranked]
            if open_dims:
                yield f"if ({' || '.join(open_dims)}) {{"
                yield f"  {target}.AppendDim(kUnknownDim);"
                yield f"}} else if (!{call}) {{"
            else:
                yield f"if (!{call}) {{"
            yield "  return false;"
            yield "}"
