"""Golden tests: every case of every op in one session process, and what each came to.

A case that ends the whole process (a signal, a failed synchronisation) would hide all others; then each case of that process runs once more
on its own.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs

from opkit.build import Built, Project, held, scratch_folder
from opkit.errors import CompileError, MachineError, SessionError
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
    make_inputs,
    reference_of,
    run_session,
    soc_of,
    why_not_run,
)
from opkit.spec import MAX_BLOCKS, with_included
from opkit.testing.generate import Plan, attrs_of, combos_of, plans_elsewhere, plans_of
from opkit.testing.small_block import SMALL_BLOCK, ManyBlocks, NoVariant, small_block_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from opkit.spec import Op, Package

__all__ = ["CaseResult", "Status", "count_cases", "run_tests", "tested_soc"]

Status = Literal["passed", "failed", "skipped", "no reference"]


@attrs.frozen(kw_only=True)
class CaseResult:
    """One case and its outcome; ``plan`` is None if the op has no such case. ``reason`` says why it was skipped or what ended it."""

    op: str
    plan: Plan | None
    status: Status
    checks: tuple[Check, ...] = ()
    reason: str = ""


class _Silent:
    def line(self, text: str) -> None:
        pass

    def error_line(self, text: str) -> None:
        pass


def tested_soc(package: Package, host: Host) -> str | None:
    """The SoC that tests run on; None if it isn't known, or no op asks for it."""
    return soc_of(host) if any(op.soc_rows for op in package.ops) else None


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
    soc = tested_soc(package, host)
    runner = _Runner(host=host, listener=listener, device=device)
    tested = runner.run([plan for op in package.ops for plan in plans_of(package, op, soc)], package, built)
    tested += [_elsewhere(plan, soc) for op in package.ops for plan in plans_elsewhere(package, op, soc)]
    variant = small_block_of(package)
    tested += [_no_variant(item) for item in variant.skipped]
    if variant.package is not None:
        small = _moved(variant.package, built.project.build_dir / "small-block")
        # The real package still says which attrs a required one has, and whose reference stands for whose.
        plans = [plan for op in small.ops for plan in _many_blocks(package, op, variant.cases[op.type], soc)]
        with held(Project.at(small.root), host.toolkit, host.environ, package=small) as small_built:
            tested += runner.run(plans, package, small_built)
    return tuple(tested)


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


@attrs.frozen(kw_only=True)
class _Runner:
    host: Host
    listener: Listener
    device: int | None

    def run(self, plans: Sequence[Plan], package: Package, built: Built) -> list[CaseResult]:
        with scratch_folder(built.project) as work:
            with guard_writing(work):
                prepared, skipped = _prepare(plans, package, CaseWriter(work))
            try:
                tested = self._session(prepared, built, work, self.listener)
            except CompileError as error:
                raise self._told(error, prepared, package, built, work) from error
            except SessionError as error:
                tested = [self._alone(item, built, work) for item in prepared] if len(prepared) > 1 else [_ended(prepared[0], error)]
        return [*tested, *skipped]

    def _told(self, error: CompileError, prepared: Sequence[_Prepared], package: Package, built: Built, work: Path) -> CompileError:
        """The error with what it is of: the first op whose kernel doesn't compile, and all its dtypes with which it doesn't."""
        by_combo: dict[tuple[str, str], _Prepared] = {}
        # A case with an empty tensor may launch nothing.
        for item in sorted(prepared, key=lambda item: _has_empty_input(item.plan)):
            by_combo.setdefault((item.plan.op.type, str(item.plan.combo)), item)
        failed: list[Plan] = []
        for item in by_combo.values():
            if failed and item.plan.op != failed[0].op:
                continue
            try:
                self._session([item], built, work, _Silent())
            except CompileError as alone:
                error = error if failed else alone
                failed.append(item.plan)
            except SessionError:
                continue
        return compile_error_of(error, failed[0].op, [plan.combo for plan in failed], package.root) if failed else error

    def _alone(self, item: _Prepared, built: Built, work: Path) -> CaseResult:
        try:
            (tested,) = self._session([item], built, work, _Silent())
        except SessionError as error:
            return _ended(item, error)
        return tested

    def _session(self, prepared: Sequence[_Prepared], built: Built, work: Path, listener: Listener) -> list[CaseResult]:
        if not prepared:
            return []
        request = SessionRequest(
            program=built.program,
            report=work / "report.json",
            cases=tuple(item.folder for item in prepared),
            device=self.device,
            is_check_only=True,
        )
        report = run_session(request, activate(self.host.toolkit, [built.opp_root.path], self.host.environ), listener)
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


def _ended(item: _Prepared, error: SessionError) -> CaseResult:
    return CaseResult(op=item.plan.op.type, plan=item.plan, status="failed", reason=f"{error.message}\n{error.because}")
