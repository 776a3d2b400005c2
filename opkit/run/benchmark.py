"""The address-refresh comparison: the benchmark of a spec, with its inputs and its truth, run by the session program of a built project."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs

from opkit.build import scratch_folder
from opkit.errors import CompileError, SessionError, UsageError
from opkit.files import guard_writing
from opkit.run.breakdown import attribute
from opkit.run.case import CaseWriter
from opkit.run.emulation import launcher_for
from opkit.run.environment import activate
from opkit.run.expectation import build_case, make_inputs, reference_of, require_memory, why_not_run
from opkit.run.kernel_errors import compile_error_of
from opkit.run.machine import machine_of
from opkit.run.records import RecordError, read_records
from opkit.run.report import BenchReport
from opkit.run.session import Listener, SessionReport, SessionRequest, run_session
from opkit.run.statistics import speedup_of
from opkit.spec.problems import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from opkit.build import Built
    from opkit.run.breakdown import Breakdown
    from opkit.run.machine import Host
    from opkit.run.session import SessionCase
    from opkit.spec import Benchmark, DTypeCombo, GivenShape, Op, Package

__all__ = ["BenchRequest", "Plan", "measure", "plan_of"]

_RECORDS = "OPKIT_SIM_TASK_RECORDS"


@attrs.frozen(kw_only=True)
class BenchRequest:
    """What a user asks for. ``shapes`` is by input, ``dtypes`` by symbol or port; what they leave open, and each None, is the spec's.

    A dtype that a user gave to no symbol is under "".
    """

    iters: int | None = None
    warmup: int | None = None
    repeat: int | None = None
    shapes: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)
    dtypes: Mapping[str, str] = attrs.field(factory=dict)
    device: int | None = None


@attrs.frozen(kw_only=True)
class Plan:
    """What a request comes to for one spec."""

    benchmark: Benchmark
    shapes: Mapping[str, GivenShape]
    combo: DTypeCombo
    request: BenchRequest
    reference: Callable[..., Any] | None
    """One for both ops, which compute the same; None if neither has one."""

    @property
    def ops(self) -> tuple[Op, ...]:
        return (self.benchmark.op,) if self.benchmark.baseline is None else (self.benchmark.op, self.benchmark.baseline)


def plan_of(package: Package, request: BenchRequest, soc: str | None = None) -> Plan:
    """With the first dtypes that are asked for of those that `soc` has; where that isn't known, the session program refuses others.

    Raises UsageError for a spec without a benchmark, for an op that needs a dynamic graph, for shapes or dtypes that its op can't
    have and for shapes with which it launches nothing, MachineError for tensors that this computer can't hold.
    """
    benchmark = package.benchmark
    if benchmark is None:
        msg = f"the spec of {package.name} has no benchmark"
        raise UsageError(msg, where=str(package.where), help="add benchmark=Benchmark(op, baseline=…, shapes={…}) to the Package")
    for op in (benchmark.op,) if benchmark.baseline is None else (benchmark.op, benchmark.baseline):
        reason = why_not_run(op)
        if reason is not None:
            msg = f"{op.type} can't be measured here"
            raise UsageError(msg, where=str(op.where), because=reason)
    shapes, combo = _shapes(benchmark, request.shapes), _combo(benchmark, request.dtypes, soc)
    require_memory(benchmark.op, shapes, combo.ports, benchmark.attrs)
    return Plan(
        benchmark=benchmark,
        shapes=shapes,
        combo=combo,
        request=request,
        reference=reference_of(package, benchmark.op),
    )


def measure(package: Package, built: Built, host: Host, plan: Plan, listener: Listener) -> BenchReport:
    """Runs the benchmark and gives its report, wrong results included.

    The caller holds the build folder; inputs and expectations are written there and removed afterwards. Raises what `build_case` and
    `run_session` raise, and UnwritableError.
    """
    request = plan.request
    with scratch_folder(built.project) as work:
        records = work / "tasks.jsonl"
        environment = {**activate(host.toolkit, [built.project.output], host.environ), _RECORDS: str(records)}
        wanted = SessionRequest(
            program=built.program,
            report=work / "report.json",
            launcher=launcher_for(host.toolkit.arch, host.environ),
            iters=request.iters or plan.benchmark.iters,
            warmup=request.warmup,
            repeat=request.repeat,
            device=request.device,
        )
        if plan.reference is None:
            symbols = {name: dtype.name for name, dtype in plan.combo.symbols.items()}
            wanted = attrs.evolve(wanted, shapes=_common_shapes(plan), dtypes=symbols)
        else:
            with guard_writing(work):
                wanted = attrs.evolve(wanted, cases=_write_cases(plan, work))
        try:
            session = run_session(wanted, environment, listener)
        except CompileError as error:
            op, found = _uncompiled(plan, error, wanted, environment, work)
            raise compile_error_of(found, op, [plan.combo], package.root) from error
        first, *others = session.cases
        # A wrong result isn't timed.
        baseline = others[0] if others and first.samples_us and others[0].samples_us else None
        analysis: Breakdown | str = "one op alone has nothing to compare with"
        if baseline is not None:
            analysis = _analysis(records, session, first, baseline)
        return BenchReport(
            machine=machine_of(host, device=request.device),
            iters=session.iters,
            warmup=session.warmup,
            repeats=session.repeats,
            cases=session.cases,
            speedup=None if baseline is None else speedup_of(first.samples_us, baseline.samples_us),
            analysis=analysis,
        )


def _uncompiled(
    plan: Plan, error: CompileError, wanted: SessionRequest, environment: Mapping[str, str], work: Path
) -> tuple[Op, CompileError]:
    """The first op that doesn't compile alone, with its own error: what ends both says a file, which both may have."""
    if len(plan.ops) == 1:
        return plan.benchmark.op, error
    cases = wanted.cases
    if not cases:
        with guard_writing(work):
            cases = _write_cases(plan, work)
    for op, case in zip(plan.ops, cases, strict=True):
        alone = attrs.evolve(wanted, cases=(case,), shapes={}, dtypes={}, is_check_only=True)
        try:
            run_session(alone, environment, _Silent())
        except CompileError as found:
            return op, found
        except SessionError:
            continue
    return plan.benchmark.op, error


class _Silent:
    def line(self, text: str) -> None:
        pass

    def error_line(self, text: str) -> None:
        pass


def _common_shapes(plan: Plan) -> dict[str, tuple[int, ...]]:
    """What the command line can say: one shape for all tensors of an input. Others are those that the program has from the spec."""
    members = {port.name: set(port.shapes_in(plan.shapes.get(port.name))) for port in plan.benchmark.op.inputs}
    return {name: shapes.pop() for name, shapes in members.items() if len(shapes) == 1}


def _shapes(benchmark: Benchmark, chosen: Mapping[str, tuple[int, ...]]) -> dict[str, GivenShape]:
    """An input that isn't named follows a named one that had its shape in the spec: `--shape x=8` is enough for an add. The shape of a
    dynamic input is that of each of its tensors.
    """
    original = benchmark.shapes
    unknown = [name for name in chosen if name not in original]
    if unknown:
        msg = f"{benchmark.op.type} has no input {unknown[0]}"
        because = f"its inputs are {', '.join(original)}"
        if any(output.name == unknown[0] for output in benchmark.op.outputs):
            because += "; the shape of an output follows from theirs"
        raise UsageError(msg, where=str(benchmark.op.where), because=because, help=did_you_mean(unknown[0], original))
    inputs = {port.name: port for port in benchmark.op.inputs}
    followed = {shape: chosen[name] for name in chosen for shape in inputs[name].shapes_in(original[name])}
    shapes: dict[str, GivenShape] = {}
    for name, given in original.items():
        members = tuple(chosen.get(name, followed.get(shape, shape)) for shape in inputs[name].shapes_in(given))
        shapes[name] = members if inputs[name].is_dynamic else members[0]
    outputs = benchmark.op.infer_shapes(shapes, benchmark.attrs)
    if len(outputs) == len(benchmark.op.outputs) and all(math.prod(shape) == 0 for shape in outputs.values()):
        msg = f"with these shapes {benchmark.op.type} has nothing to compute"
        told = ", ".join(f"{name} is {list(shape)}" for name, shape in outputs.items())
        because = f"{told}: an empty tensor launches no kernel, so there is nothing to compare"
        raise UsageError(msg, because=because, help="give shapes with elements; opkit test covers the empty ones")
    return shapes


def _combos(benchmark: Benchmark, soc: str | None) -> tuple[DTypeCombo, ...]:
    """Those of the benchmark's attrs that both ops have on a SoC."""
    ops = [op for op in (benchmark.op, benchmark.baseline) if op is not None]
    combos = benchmark.op.dtype_combos(benchmark.attrs)
    for op in ops if soc is not None else ():
        here = [combo.ports for combo in op.combos_on(soc)]
        combos = tuple(combo for combo in combos if combo.ports in here)
    if not combos:
        msg = f"{' and '.join(op.type for op in ops)} can't be measured on {soc}"
        because = "the spec has no dtypes there" + (" that both have" if len(ops) > 1 else "")
        raise UsageError(msg, where=str(benchmark.op.where), because=because)
    return combos


def _combo(benchmark: Benchmark, chosen: Mapping[str, str], soc: str | None) -> DTypeCombo:
    from opkit.spec import find_dtype

    op = benchmark.op
    combos = _combos(benchmark, soc)
    own = [port.name for port in op.ports if port.symbol is None]
    columns = [
        ", ".join(f"{name}={dtype.name}" for name, dtype in {**combo.symbols, **{name: combo.ports[name] for name in own}}.items())
        for combo in combos
    ]
    allowed = f"the spec allows {'; '.join(columns)}" + (f" on {soc}" if len(combos) < len(op.dtype_combos(benchmark.attrs)) else "")
    wanted = {}
    for name, spelling in chosen.items():
        dtype = find_dtype(spelling)
        if dtype is None:
            msg = f"no such dtype: {spelling}"
            raise UsageError(msg, where=str(op.where), because=allowed)
        if not name:
            example = next((column for column in columns if column.endswith(f"={dtype.name}")), columns[0]).partition(", ")[0]
            msg = f"--dtype {spelling} doesn't say for which symbol or port"
            raise UsageError(msg, where=str(op.where), because=allowed, help=f"--dtype {example}")
        wanted[name] = dtype
    for name in wanted:
        if not any(name in combo.symbols or name in combo.ports for combo in combos):
            known = [*combos[0].symbols, *combos[0].ports]
            msg = f"{op.type} has no dtype symbol or port {name}"
            raise UsageError(msg, where=str(op.where), because=f"it has {', '.join(known)}", help=did_you_mean(name, known))
    for combo in combos:
        if all({**combo.ports, **combo.symbols}[name] == dtype for name, dtype in wanted.items()):
            return combo
    msg = f"{op.type} doesn't take {', '.join(f'{name}={dtype.name}' for name, dtype in wanted.items())}"
    raise UsageError(msg, where=str(op.where), because=allowed)


def _write_cases(plan: Plan, folder: Path) -> tuple[Path, ...]:
    """One case an op, of the same inputs and the same expectation."""
    inputs = make_inputs(plan.benchmark.op, plan.shapes, plan.combo.ports, plan.benchmark.attrs)
    case = build_case(plan.benchmark.op, inputs, plan.combo.ports, plan.benchmark.attrs, reference=plan.reference)
    writer = CaseWriter(folder)
    return tuple(writer.write(op.stem, attrs.evolve(case, op=op.type)) for op in plan.ops)


def _analysis(records: Path, session: SessionReport, op: SessionCase, baseline: SessionCase) -> Breakdown | str:
    """Gives the breakdown, or why there is none."""

    def averages(case: SessionCase) -> list[float]:
        return [sample / session.iters for sample in case.samples_us]

    try:
        tasks = read_records(records)
    except RecordError as error:
        return f"the task records can't be read: {error}"
    if not tasks:
        return "the runtime recorded no task: nothing was launched, or it is no host simulator"
    found = attribute(tasks, op.timed, baseline.timed, op_us=averages(op), baseline_us=averages(baseline))
    return "some timed runs have no task records" if found is None else found
