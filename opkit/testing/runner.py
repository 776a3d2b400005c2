"""Golden tests: every case of every op in one session process, and what each came to.

A case that ends the whole process (a signal, a failed synchronisation) would hide all others; then each case of that process runs once more
on its own. A kernel that doesn't compile ends it too; then all cases of its op with its dtypes have failed, and the others run without
them.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs

from opkit.build import Built, Project, held, mark, scratch_folder
from opkit.console import console
from opkit.errors import CompileError, MachineError, OpkitError, SessionError
from opkit.files import guard_writing
from opkit.run import (
    Case,
    CaseWriter,
    Check,
    ExpectationError,
    Host,
    Listener,
    SessionCase,
    SessionRequest,
    activate,
    build_case,
    compile_error_of,
    launcher_for,
    make_inputs,
    reference_of,
    run_session,
    soc_for,
    why_not_run,
)
from opkit.spec import MAX_BLOCKS, with_included
from opkit.testing.attr_values import attrs_of
from opkit.testing.generate import Plan, combos_of, plans_elsewhere, plans_of
from opkit.testing.small_block import BLOCK_DEFINE, SMALL_BLOCK, ManyBlocks, NoVariant, small_block_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from opkit.spec import Op, Package

__all__ = ["CaseResult", "Status", "count_cases", "run_tests"]

Status = Literal["passed", "failed", "skipped", "no reference"]


@attrs.frozen(kw_only=True)
class CaseResult:
    """One case and its outcome; ``plan`` is None if the op has no such case. ``reason`` says why it was skipped or what ended it; ``error``
    is that of a kernel that doesn't compile, one for all cases of its op.
    """

    op: str
    plan: Plan | None
    status: Status
    checks: tuple[Check, ...] = ()
    reason: str = ""
    error: CompileError | None = None


class _Silent:
    def line(self, text: str) -> None:
        pass

    def error_line(self, text: str) -> None:
        pass


def count_cases(package: Package, soc: str | None = None) -> int:
    """How many cases `run_tests` runs, those of the small-block variant too."""
    small = small_block_of(package).package
    plain = sum(1 for op in package.ops for _ in plans_of(package, op, soc))
    return plain + sum(len(combos_of(op, soc)) for op in (() if small is None else small.ops))


def run_tests(package: Package, built: Built, host: Host, listener: Listener, *, device: int | None = None) -> tuple[CaseResult, ...]:
    """Runs every case of ``package``, then more than 65,535 blocks of each op through its small-block variant, built below the build
    folder. What only other SoCs have is skipped.

    The caller holds the build folder. Raises ExpectationError if a reference fails for a case with the spec's own attrs, UnwritableError,
    and what `held` raises.
    """
    soc = soc_for(package.ops, host)
    runner = _Runner(package=package, host=host, listener=listener, device=device)
    tested = runner.run([plan for op in package.ops for plan in plans_of(package, op, soc)], built)
    tested += [_elsewhere(plan, soc) for op in package.ops for plan in plans_elsewhere(package, op, soc)]
    variant = small_block_of(package)
    tested += [_no_variant(item) for item in variant.skipped]
    if variant.package is not None:
        plans = [plan for op in variant.package.ops for plan in _many_blocks(package, op, variant.cases[op.type], soc)]
        # What doesn't compile as it is needn't be told once more with a small block.
        broken = {_row_of(result.plan): result.error for result in tested if result.plan is not None and result.error is not None}
        tested += [_ended(plan, broken[_row_of(plan)]) for plan in plans if _row_of(plan) in broken]
        able = [plan for plan in plans if _row_of(plan) not in broken]
        tested += _run_small(runner, variant.package, able, built.project.build_dir / "small-block", built)
    return tuple(tested)


def _run_small(runner: _Runner, variant: Package, plans: Sequence[Plan], root: Path, whole: Built) -> list[CaseResult]:
    """Builds the variant in ``root`` as ``whole`` was built and runs it by the program of that; one whose kernels don't compile while it is
    built, op by op.
    """
    if not plans:
        return []
    small = _moved(variant, root)
    console.step("Testing", f"more than {MAX_BLOCKS} blocks, in a second build: with small blocks, in {root.parent.name}/{root.name}")
    # Its kernels are compiled for this machine, whatever they are prebuilt for.
    settings = whole.settings._replace(npu_arch=None)
    try:
        with held(
            Project.at(root), runner.host.toolkit, runner.host.environ, package=small, program=whole.program, settings=settings
        ) as built:
            return runner.run(plans, built)
    except CompileError as error:
        if len(variant.ops) == 1:
            return runner.uncompiled(plans, error)
    tested = []
    for op in variant.ops:
        alone = attrs.evolve(variant, ops=(op,))
        of_op = [plan for plan in plans if plan.op.type == op.type]
        tested += _run_small(runner, alone, of_op, root.with_name(f"{root.name}-{op.stem}"), whole)
    return tested


def _no_variant(item: NoVariant) -> CaseResult:
    return CaseResult(op=item.op, plan=None, status="skipped", reason=f"more than {MAX_BLOCKS} blocks: {item.reason}")


def _elsewhere(plan: Plan, soc: str | None) -> CaseResult:
    reason = "it isn't known which SoC this is, and not every SoC has it" if soc is None else f"the spec has no such dtypes on {soc}"
    return CaseResult(op=plan.op.type, plan=plan, status="skipped", reason=reason)


def _many_blocks(package: Package, op: Op, case: ManyBlocks, soc: str | None) -> Iterable[Plan]:
    for combo in combos_of(op, soc):
        yield Plan(op=op, combo=combo, shapes=case.shapes, attrs=attrs_of(package, op, combo), why=case.why, block_size=SMALL_BLOCK)


def _moved(package: Package, root: Path) -> Package:
    """Gives the package as if it lay in ``root``, with its kernels and the headers of the user's functions copied there, and the project's
    headers that either includes.
    """

    def moved(path: Path) -> Path:
        return root / path.relative_to(package.root)

    with guard_writing(root):
        root.mkdir(exist_ok=True)
        mark(root)
        for file in (*package.kernel_files, *with_included(package.user_headers, package.root)):
            moved(file).parent.mkdir(parents=True, exist_ok=True)
            # With its time: an unchanged kernel must not cost a build.
            shutil.copy2(file, moved(file))
    ops = []
    for op in package.ops:
        kernels = (
            attrs.evolve(kernel, path=moved(kernel.path), files=tuple(moved(file) for file in kernel.files)) for kernel in op.kernels
        )
        ops.append(attrs.evolve(op, kernels=tuple(kernels)))
    return attrs.evolve(package, root=root, ops=tuple(ops))


@attrs.frozen(kw_only=True)
class _Prepared:
    plan: Plan
    folder: Path
    has_reference: bool


# What kernels are compiled for: an op and its dtypes.
_Row = tuple[str, str]


def _row_of(plan: Plan) -> _Row:
    return plan.op.type, str(plan.combo)


@attrs.frozen(kw_only=True)
class _Runner:
    """``package`` is the real one, also for the cases of its variant: it says which attrs a required one has, whose reference stands for
    whose, and where the files of a kernel lie.
    """

    package: Package
    host: Host
    listener: Listener
    device: int | None

    def run(self, plans: Sequence[Plan], built: Built) -> list[CaseResult]:
        with scratch_folder(built.project) as work:
            with guard_writing(work):
                prepared, skipped = _prepare(plans, self.package, CaseWriter(work))
            broken: dict[_Row, CompileError] = {}
            ended = self._tested(prepared, built, work, broken)
        # Alone, a case with an empty tensor passes: it compiles nothing.
        tested = [result for result in ended if result.plan is not None and _row_of(result.plan) not in broken]
        for op in dict.fromkeys(op for op, _ in broken):
            uncompiled = [item.plan for item in prepared if item.plan.op.type == op and _row_of(item.plan) in broken]
            tested += self.uncompiled(uncompiled, broken[_row_of(uncompiled[0])])
        order = {id(plan): number for number, plan in enumerate(plans)}
        return [*sorted(tested, key=lambda result: order[id(result.plan)]), *skipped]

    def uncompiled(self, plans: Sequence[Plan], error: CompileError) -> list[CaseResult]:
        """The cases of one op as failed, with the error of its kernel in the words of the spec."""
        op = next(op for op in self.package.ops if op.type == plans[0].op.type)
        combos = {str(plan.combo): plan.combo for plan in plans}
        size = plans[0].block_size
        define = None if size is None else f"{BLOCK_DEFINE} {size}"
        told = compile_error_of(error, op, list(combos.values()), self.package.root, define=define)
        if size is not None:
            told.help = f"let it compile with {size} too; without #ifndef {BLOCK_DEFINE} more than {MAX_BLOCKS} blocks aren't tested"
        return [_ended(plan, told) for plan in plans]

    def _tested(self, prepared: Sequence[_Prepared], built: Built, work: Path, broken: dict[_Row, CompileError]) -> list[CaseResult]:
        """The results of the cases whose kernels compile; ``broken`` gets the others' errors."""
        try:
            return self._session(prepared, built, work, self.listener)
        except CompileError:
            if self._found_broken(prepared, built, work, broken):
                return self._tested([item for item in prepared if _row_of(item.plan) not in broken], built, work, broken)
        except SessionError as error:
            if len(prepared) == 1:
                return [_ended(prepared[0].plan, error)]
        tested = []
        for item in prepared:
            if _row_of(item.plan) not in broken:
                tested += self._alone(item, built, work, broken)
        return tested

    def _found_broken(self, prepared: Sequence[_Prepared], built: Built, work: Path, broken: dict[_Row, CompileError]) -> bool:
        """Runs one case of each op and dtypes."""
        by_row: dict[_Row, _Prepared] = {}
        # A case with an empty tensor may launch nothing.
        for item in sorted(prepared, key=lambda item: _has_empty_input(item.plan)):
            by_row.setdefault(_row_of(item.plan), item)
        before = len(broken)
        for item in by_row.values():
            self._alone(item, built, work, broken)
        return len(broken) > before

    def _alone(self, item: _Prepared, built: Built, work: Path, broken: dict[_Row, CompileError]) -> list[CaseResult]:
        try:
            return self._session([item], built, work, _Silent())
        except CompileError as error:
            broken[_row_of(item.plan)] = error
        except SessionError as error:
            return [_ended(item.plan, error)]
        return []

    def _session(self, prepared: Sequence[_Prepared], built: Built, work: Path, listener: Listener) -> list[CaseResult]:
        if not prepared:
            return []
        request = SessionRequest(
            program=built.program,
            report=work / "report.json",
            launcher=launcher_for(self.host.toolkit.arch, self.host.environ),
            cases=tuple(item.folder for item in prepared),
            device=self.device,
            is_check_only=True,
        )
        report = run_session(request, activate(self.host.toolkit, [built.project.output], self.host.environ), listener)
        found = {Path(case.folder): case for case in report.cases}
        return [_judged(item, found[item.folder]) for item in prepared]


def _has_empty_input(plan: Plan) -> bool:
    return any(0 in shape for port in plan.op.inputs for shape in port.shapes_in(plan.shapes.get(port.name)))


def _prepare(plans: Sequence[Plan], package: Package, writer: CaseWriter) -> tuple[list[_Prepared], list[CaseResult]]:
    prepared: list[_Prepared] = []
    skipped: list[CaseResult] = []
    for number, plan in enumerate(plans):
        case = _case(plan, reference_of(package, plan.op))
        if isinstance(case, Case):
            folder = writer.write(f"{number:04}-{plan.op.stem}", case)
            prepared.append(_Prepared(plan=plan, folder=folder, has_reference=bool(case.outputs)))
        else:
            skipped.append(CaseResult(op=plan.op.type, plan=plan, status="skipped", reason=case))
    return prepared, skipped


def _case(plan: Plan, reference: Callable[..., Any] | None) -> Case | str:
    """Gives the case, or why there is none."""
    if not plan.op.outputs:
        return "it has no outputs: there is nothing to compare"
    reason = why_not_run(plan.op)
    if reason is not None:
        return reason
    try:
        inputs = make_inputs(plan.op, plan.shapes, plan.combo.ports, plan.attrs)
    except MachineError as error:
        return f"{error.message}: {error.because}"
    try:
        return build_case(plan.op, inputs, plan.combo.ports, plan.attrs, reference=reference)
    except ExpectationError as error:
        if plan.has_spec_attrs:
            raise
        # Another value was only a guess; what an attr may be is the op's own affair.
        return f"{error.message}: {error.because}"


def _judged(item: _Prepared, case: SessionCase) -> CaseResult:
    status: Status = "passed" if case.passed else "failed"
    if case.passed and not item.has_reference:
        # The session program compared it with its own first run: it is repeatable, and may be wrong.
        status = "no reference"
    return CaseResult(op=item.plan.op.type, plan=item.plan, status=status, checks=case.precision, reason=case.error or "")


def _ended(plan: Plan, error: OpkitError) -> CaseResult:
    uncompiled = error if isinstance(error, CompileError) else None
    return CaseResult(op=plan.op.type, plan=plan, status="failed", reason=f"{error.message}\n{error.because}", error=uncompiled)
