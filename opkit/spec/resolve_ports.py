"""The input and output ports of an op: their kinds and shapes, and what each needs to be one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from opkit.spec.attr_values import attr_type_of
from opkit.spec.declare import Phrase, Size
from opkit.spec.fields import check_call, flag_of, name_of, sequence_of, shown
from opkit.spec.formats import FORMATS, find_format
from opkit.spec.model import AttrType, Input, Output
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.resolve_names import port_name
from opkit.spec.resolve_shapes import OutputScope, input_shape, output_shape
from opkit.spec.shapes import ShapePattern, ShapeRule

if TYPE_CHECKING:
    from opkit.spec import declare
    from opkit.spec.resolve_dtypes import Columns

__all__ = ["check_counts", "check_in_place", "check_mixed", "check_values", "resolve_input", "resolve_output"]

_VALUE_DEPENDS = ("required", "optional")


def resolve_input(port: declare.Input, columns: Columns, problems: Problems) -> Input | None:
    """An input whose formats are wrong has none: what names it can be looked at all the same."""
    before = len(problems)
    check_call(port, problems)
    name = port_name(port, problems)
    symbol, dtypes = columns.of(port)
    shape = input_shape(port, problems)
    is_optional = flag_of(port, "optional", problems)
    is_dynamic = flag_of(port, "dynamic", problems)
    count_attr = _count_attr(port, problems)
    if count_attr is not None and not is_dynamic:
        message = f"input {shown(name)} has a count_attr, and it is one tensor"
        problems.add(Rule.PORT, message, port.where_of("count_attr"), advice="write dynamic=True for a list of tensors")
    is_mixed = not flag_of(port, "same_dtype", problems)
    if is_mixed and not is_dynamic:
        message = f"input {shown(name)} can't have different dtypes"
        problems.add(Rule.PORT, message, port.where_of("same_dtype"), because="it is one tensor", advice="write dynamic=True for a list")
    is_known = len(problems) == before
    value_depend = _value_depend(port, problems)
    formats = _formats(port, problems)
    if not is_known:
        return None
    return Input(
        name=name,
        dtypes=dtypes,
        symbol=symbol,
        shape=shape,
        is_optional=is_optional,
        is_dynamic=is_dynamic,
        count_attr=count_attr,
        is_mixed=is_mixed,
        formats=formats,
        value_depend=value_depend,
        where=port.where,
    )


def resolve_output(port: declare.Output, columns: Columns, scope: OutputScope, problems: Problems) -> Output | None:
    before = len(problems)
    check_call(port, problems)
    name = port_name(port, problems)
    symbol, dtypes = columns.of(port)
    shape: ShapeRule | None = None
    in_place = next((each for each in scope.inputs if each.name == name), None)
    if port.given.get("shape") is None and in_place is not None and in_place.shape is not None:
        shape = in_place.shape
    elif port.given.get("shape") is None and (port.strays or scope.may_be_unread(name)):
        pass  # The stray one may be the shape, or the input in place gives it.
    elif port.given.get("shape") is None:
        message = f"output {shown(name)} has no shape rule"
        because = "GE would infer an unknown rank and leave the static path"
        advice = 'give shape="..." or dims that inputs name, e.g. shape="n k"; upper_bound(…) for dims that only the kernel knows'
        problems.add(Rule.NO_SHAPE_RULE, message, port.where, because=because, advice=advice)
    else:
        shape = output_shape(port, scope, problems)
    formats = _formats(port, problems)
    dynamic = port.given["dynamic"]
    if counting_attr(port) is None and not isinstance(dynamic, bool):
        message = f"dynamic of output {shown(name)} is {shown(dynamic)}, not True, False or an attr"
        problems.add(Rule.PORT, message, port.where_of("dynamic"), advice='write dynamic=attr("n") where the int attr n says how many')
    if len(problems) > before or shape is None:
        return None
    return Output(
        name=name,
        dtypes=dtypes,
        symbol=symbol,
        shape=shape,
        is_dynamic=dynamic is not False,
        count_attr=counting_attr(port),
        formats=formats,
        where=port.where,
    )


def check_in_place(
    inputs: Sequence[declare.Input],
    outputs: Sequence[declare.Output],
    resolved_inputs: Sequence[Input | None],
    resolved_outputs: Sequence[Output | None],
    problems: Problems,
) -> None:
    """Reports an output that has the name of an input and isn't the same tensor: GE gives both one memory."""
    by_name = {port.name: (port, declared) for port, declared in zip(resolved_inputs, inputs, strict=True) if port is not None}
    for output, declared in zip(resolved_outputs, outputs, strict=True):
        if output is None or output.name not in by_name:
            continue
        port, other = by_name[output.name]
        rule = declared.given.get("dtype")
        if isinstance(rule, Phrase) and rule.word == "from_attr":
            message = f"{output.name!r} is changed in place, and an attr decides the dtype of its output"
            because = f"the output takes the memory of the input, {other.where.place}, and its dtype with it"
            problems.add(Rule.IN_PLACE, message, declared.where_of("dtype"), because=because, advice="give it the dtype of the input")
            continue
        differing = {
            "dtype": (port.symbol, port.dtypes) != (output.symbol, output.dtypes),
            "shape": port.shape is None or not isinstance(output.shape, ShapePattern) or port.shape.items != output.shape.items,
            "dynamic": port.is_dynamic != output.is_dynamic or (output.count_attr is not None and output.count_attr != port.count_attr),
            "formats": bool(port.formats) and port.formats != output.formats,
        }
        for argument, differs in differing.items():
            if differs:
                message = f"{output.name!r} is changed in place, and its input and output differ in their {argument}"
                because = f"the output takes the memory of the input, {other.where.place}"
                problems.add(Rule.IN_PLACE, message, declared.where_of(argument), because=because)
        if port.is_optional and not port.is_dynamic:
            message = f"{output.name!r} is changed in place, and its input is optional"
            problems.add(Rule.IN_PLACE, message, other.where_of("optional"), because="an absent input leaves the output without memory")


def check_values(inputs: Sequence[declare.Input], outputs: Sequence[declare.Output], problems: Problems) -> None:
    """Reports an input whose values nothing reads: only a shape rule in C++ can."""
    shapes = [output.given.get("shape") for output in outputs]
    if any(isinstance(shape, Phrase) and shape.word == "cpp" for shape in shapes):
        return
    for port in inputs:
        if _depends_on_values(port):
            because = "a shape pattern reads shapes only, and a size that depends on values would be frozen when a graph is loaded"
            advice = 'a C++ rule can: shape=cpp("ge/user/infer.h", "InferPad")'
            message = f"no rule reads the values of input {shown(name_of(port))}"
            problems.add(Rule.VALUE_DEPEND, message, port.where_of("value_depend"), because=because, advice=advice)


def _value_depend(port: declare.Input, problems: Problems) -> str | None:
    value = port.given.get("value_depend")
    if isinstance(value, str) and value in _VALUE_DEPENDS:
        return value
    if value is not None:
        advice = f"it is {' or '.join(map(repr, _VALUE_DEPENDS))}"
        message = f"value_depend of input {shown(name_of(port))} is {shown(value)}"
        problems.add(Rule.VALUE_DEPEND, message, port.where_of("value_depend"), advice=advice)
    return None


def _depends_on_values(port: declare.Input) -> bool:
    value = port.given.get("value_depend")
    return isinstance(value, str) and value in _VALUE_DEPENDS


def check_mixed(declared: Sequence[declare.Input | declare.Output], resolved: Sequence[Input | Output | None], problems: Problems) -> None:
    """Reports a port that has the symbol of a list of any dtypes and isn't such a list itself."""
    mixed = {port.symbol: port for port in resolved if isinstance(port, Input) and port.is_mixed and port.symbol is not None}
    for port, given in zip(resolved, declared, strict=True):
        if port is None or port.symbol not in mixed or (port.is_mixed if isinstance(port, Input) else port.is_dynamic):
            continue
        message = f"{port.name!r} has the dtype {port.symbol!r}, which is another for each tensor of {mixed[port.symbol].name!r}"
        problems.add(Rule.PORT, message, given.where_of("dtype"), advice="give it a symbol of its own")


def check_counts(ports: Sequence[declare.Input | declare.Output], attrs: Mapping[str, declare.Attr], problems: Problems) -> None:
    """Reports a count of tensors that is no int attr of the op."""
    for port in ports:
        name = counting_attr(port)
        argument = "count_attr" if port.kind == "Input" else "dynamic"
        if name is None:
            continue
        if name not in attrs:
            advice = did_you_mean(name, attrs) or (f"the op has {one_of(attrs)}" if attrs else f'add Attr("{name}", "int") to attrs')
            message = f"there is no attr {name!r} to count the tensors of {shown(name_of(port))}"
            problems.add(Rule.PORT, message, port.where_of(argument), advice=advice)
        elif attr_type_of(attrs[name].given.get("type")) is not AttrType.INT:
            message = f"the attr {name!r} can't count the tensors of {shown(name_of(port))}"
            problems.add(
                Rule.PORT, message, port.where_of(argument), because=f"its type is {shown(attrs[name].given.get('type'))}, not int"
            )


def counting_attr(port: declare.Input | declare.Output) -> str | None:
    """The attr that says how many tensors a port has, if there is one and it is spelt as a name."""
    given = port.given.get("count_attr" if port.kind == "Input" else "dynamic")
    if isinstance(given, Size):
        given = given.operands[0] if given.word == "attr" and len(given.operands) == 1 else None
    elif port.kind == "Output":
        return None
    return given if isinstance(given, str) else None


def _count_attr(port: declare.Input, problems: Problems) -> str | None:
    given = port.given["count_attr"]
    if given is not None and counting_attr(port) is None:
        problems.add(Rule.WRONG_KIND, f"count_attr of Input is {shown(given)}, not the name of an attr", port.where_of("count_attr"))
    return counting_attr(port)


def _formats(port: declare.Input | declare.Output, problems: Problems) -> tuple[str, ...]:
    given = [port.given["formats"]] if isinstance(port.given["formats"], str) else sequence_of(port, "formats", problems, what='("ND",)')
    found = []
    for word in given or ():
        known = find_format(word) if isinstance(word, str) else None
        if known is None:
            advice = (did_you_mean(word, FORMATS) if isinstance(word, str) else None) or f"GE has {one_of(FORMATS)}"
            problems.add(Rule.FORMAT, f"{shown(word)} is no format", port.where_of("formats"), advice=advice)
        else:
            found.append(known)
    if given == []:
        problems.add(Rule.FORMAT, f"{name_of(port)!r} has no formats", port.where_of("formats"), advice='write formats=("ND",)')
    return tuple(dict.fromkeys(found)) if len(found) == len(given or ()) else ()
