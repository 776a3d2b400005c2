"""The checks of a Benchmark against the package's ops: that what it measures can be launched with the shapes it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from opkit.errors import SpecError
from opkit.spec import declare
from opkit.spec.attr_values import attr_type_of, attr_value
from opkit.spec.expressions import INT64_MAX, Dim, Numel, leaves
from opkit.spec.fields import check_call, integer_of, lists_all, name_of, shown
from opkit.spec.model import MAX_BLOCKS, AttrDefault, Benchmark, GivenShape, Kernel, Op
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.shapes import MAX_RANK
from opkit.spec.signature import declared_of, tells_all

if TYPE_CHECKING:
    from opkit.spec.expressions import Expr, Scope
    from opkit.spec.location import Spot

_MAX_ITERS = 10**9


def resolve_benchmark(package: declare.Package, ops: Sequence[tuple[declare.Op, Op | None]], problems: Problems) -> Benchmark | None:
    benchmark = package.given["benchmark"]
    if benchmark is None:
        return None
    if not isinstance(benchmark, declare.Benchmark):
        problems.add(Rule.WRONG_KIND, f"the benchmark is {shown(benchmark)}, not a Benchmark", package.where_of("benchmark"))
        return None
    before = len(problems)
    check_call(benchmark, problems)
    # Of ops that the package doesn't tell, any may be the one.
    has_all_ops = lists_all(package, "ops", declare.Op)
    op = _member(benchmark, "op", ops, problems) if has_all_ops else None
    has_baseline = benchmark.given["baseline"] is not None
    baseline = _member(benchmark, "baseline", ops, problems) if has_baseline and has_all_ops else None
    if op is not None and baseline is not None:
        _comparable(benchmark, op, baseline, problems)
    iters = integer_of(benchmark.given["iters"])
    if iters is None or not 1 <= iters <= _MAX_ITERS:
        problems.add(Rule.BENCHMARK, f"iters is {shown(benchmark.given['iters'])}, not 1 to {_MAX_ITERS}", benchmark.where_of("iters"))
    declared = benchmark.given.get("op")
    shapes = _benchmark_shapes(benchmark, declared, problems) if isinstance(declared, declare.Op) else {}
    values = _benchmark_attrs(benchmark, declared, problems) if isinstance(declared, declare.Op) else {}
    if len(problems) > before or op is None or iters is None:
        return None
    for measured in (op, *(() if baseline is None else (baseline,))):
        if len(problems) > before:
            break  # What the op can't take is one mistake, though its baseline can't take it either.
        _launchable(benchmark, measured, shapes, values, problems)
    return Benchmark(op=op, baseline=baseline, shapes=shapes, attrs=values, iters=iters, where=benchmark.where)


def _member(benchmark: declare.Benchmark, argument: str, ops: Sequence[tuple[declare.Op, Op | None]], problems: Problems) -> Op | None:
    """The resolved op that an argument names; None if it is no op of the package, or a mistaken one."""
    if argument not in benchmark.given:
        return None
    given = benchmark.given[argument]
    for declared, op in ops:
        if declared is given:
            return op
    what = shown(given.given.get("type")) if isinstance(given, declare.Op) else shown(given)
    known = one_of(name_of(declared, "type") for declared, _ in ops)
    message = f"the benchmark's {argument} {what} isn't among the package's ops"
    problems.add(
        Rule.BENCHMARK, message, benchmark.where_of(argument), because=f"ops has {known}" if known else None, advice="add it to ops=[…]"
    )
    return None


def _comparable(benchmark: declare.Benchmark, op: Op, baseline: Op, problems: Problems) -> None:
    where = benchmark.where_of("baseline")
    if op.type == baseline.type:
        problems.add(Rule.BENCHMARK, f"{op.type!r} is compared with itself", where)
    pairs = {
        "inputs": ([(port.name, port.dtypes) for port in op.inputs], [(port.name, port.dtypes) for port in baseline.inputs]),
        "outputs": ([(port.name, port.dtypes) for port in op.outputs], [(port.name, port.dtypes) for port in baseline.outputs]),
        "attrs": ([(attr.name, attr.type) for attr in op.attrs], [(attr.name, attr.type) for attr in baseline.attrs]),
    }
    for what, (own, other) in pairs.items():
        if own != other:
            message = f"{op.type!r} and its baseline {baseline.type!r} differ in their {what}, so they can't be given the same tensors"
            problems.add(Rule.BENCHMARK, message, where)


def _benchmark_shapes(benchmark: declare.Benchmark, op: declare.Op, problems: Problems) -> dict[str, GivenShape]:
    given = benchmark.given.get("shapes")
    where = benchmark.where_of("shapes")
    inputs = {name_of(port): port for port in declared_of(op, declare.Input)}
    names = list(inputs)
    if not tells_all(op, declare.Input) or (given is None and benchmark.strays):
        return {}
    if not isinstance(given, Mapping):
        message = "the benchmark has no shapes" if given is None else f"shapes is {shown(given)}, not a dict"
        example = ", ".join(f'"{name}": (4096, 4096)' for name in names)
        problems.add(Rule.BENCHMARK, message, where, advice=f"write shapes={{{example}}}")
        return {}
    shapes: dict[str, GivenShape] = {}
    for name, dims in given.items():
        if name not in names:
            advice = did_you_mean(shown(name), names) or f"its inputs are {one_of(names)}"
            problems.add(Rule.BENCHMARK, f"shapes has {shown(name)}, and the op has no such input", where, advice=advice)
        elif dims is not None or inputs[name].given["optional"] is not True:
            shapes[name] = _given_shape(name, dims, where, problems, is_list=inputs[name].given["dynamic"] is True)
    for name in names:
        if name not in given and inputs[name].given["optional"] is not True:
            problems.add(Rule.BENCHMARK, f"the benchmark gives no shape for input {name!r}", where)
    return shapes


def _given_shape(name: str, given: object, where: Spot, problems: Problems, *, is_list: bool) -> GivenShape:
    if not is_list:
        shape = _shape(given)
        if shape is None:
            message = f"the shape of {name!r} is {shown(given)}, not a tuple of sizes"
            problems.add(Rule.BENCHMARK, message, where, advice="write (4096, 4096)")
        return shape
    members = [_shape(each) for each in given] if isinstance(given, (list, tuple)) else [None]
    if None in members:
        message = f"the shapes of {name!r} are {shown(given)}, not a list of tuples of sizes"
        problems.add(Rule.BENCHMARK, message, where, advice="write [(4096, 4096), (4096, 4096)], one for each tensor")
    return tuple(each for each in members if each is not None)


def _shape(given: object) -> tuple[int, ...] | None:
    if not isinstance(given, (list, tuple)) or len(given) > MAX_RANK:
        return None
    sizes = tuple(size for size in map(integer_of, given) if size is not None and 0 <= size <= INT64_MAX)
    return sizes if len(sizes) == len(given) else None


def _benchmark_attrs(benchmark: declare.Benchmark, op: declare.Op, problems: Problems) -> dict[str, AttrDefault]:
    if not tells_all(op, declare.Attr):
        return {}
    given = benchmark.given.get("attrs", {})
    where = benchmark.where_of("attrs")
    if not isinstance(given, Mapping):
        problems.add(Rule.WRONG_KIND, f"attrs is {shown(given)}, not a dict", where, advice='write attrs={"alpha": 0.5}')
        return {}
    declared = {name_of(attr): attr for attr in declared_of(op, declare.Attr)}
    known = list(declared)
    for name in given:
        if name not in known:
            advice = did_you_mean(shown(name), known) or (f"its attrs are {one_of(known)}" if known else None)
            problems.add(Rule.BENCHMARK, f"attrs has {shown(name)}, and the op has no such attr", where, advice=advice)
    values: dict[str, AttrDefault] = {}
    for name, attr in declared.items():
        kind = attr_type_of(attr.given.get("type"))
        if name not in given and "default" not in attr.given and not attr.strays and not benchmark.strays:
            message = f"the benchmark gives no value for attr {name!r}"
            advice = f'write attrs={{"{name}": …}} in the Benchmark'
            problems.add(Rule.BENCHMARK, message, where, because="the attr has no default", advice=advice)
        if kind is None or (name not in given and "default" not in attr.given):
            continue
        value, because = attr_value(kind, given.get(name, attr.given.get("default")))
        if because and name in given:
            message = f"attr {name!r} is {shown(given[name])}, and its type is {kind.value}"
            problems.add(Rule.BENCHMARK, message, where, because=because)
        if value is not None:
            values[name] = value
    return values


def _launchable(
    benchmark: declare.Benchmark, op: Op, shapes: Mapping[str, GivenShape], values: Mapping[str, AttrDefault], problems: Problems
) -> None:
    """Reports a number of blocks or an argument that the benchmark's own shapes put out of range."""
    where = benchmark.where_of("shapes")
    if not op.dtype_combos(values):
        because = one_of(f"{output.name} is {one_of(dict.fromkeys(map(str, output.dtypes)))}" for output in op.outputs if output.dtype_attr)
        problems.add(Rule.BENCHMARK, "the benchmark's attrs name no dtype of the outputs", benchmark.where_of("attrs"), because=because)
    try:
        scope = op.scope(shapes, values)
        for kernel in op.kernels:
            _launch(kernel, scope, where, problems)
    except SpecError as error:
        problems.add(Rule.BENCHMARK, error.message, where, because=error.because)


def _launch(kernel: Kernel, scope: Scope, where: Spot, problems: Problems) -> None:
    """Raises SpecError for an expression without a value."""
    blocks = kernel.blocks.evaluate(scope) if _is_known(kernel.blocks, scope) else 1
    if (blocks > MAX_BLOCKS and not kernel.strides) or blocks < 0:
        message = f"the benchmark's shapes need {blocks} blocks"
        advice = "a kernel that strides over blocks may be clamped: strides=True" if blocks > 0 else None
        problems.add(Rule.BLOCKS, message, where, because=f"a launch has 1 to {MAX_BLOCKS} blocks", advice=advice)
    for name, scalar, expr in (each for arg in kernel.args for each in arg.scalars):
        if not scalar.is_integer or not _is_known(expr, scope):
            continue
        value, (low, high) = expr.evaluate(scope), scalar.limits
        if not low <= value <= high:
            message = f"the benchmark's shapes make `{expr}` {value}"
            problems.add(Rule.BENCHMARK, message, where, because=f"{scalar.value} {name} holds {low} to {high}")


def _is_known(expr: Expr, scope: Scope) -> bool:
    """Whether no part of an expression is the shape of an output that C++ of the user's infers."""
    return all(leaf.port in scope.shapes for leaf in leaves(expr) if isinstance(leaf, Numel | Dim))
