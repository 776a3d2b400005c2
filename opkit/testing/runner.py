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
from opkit.errors import MachineError, SessionError
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
    make_inputs,
    reference_of,
    run_session,
)
from opkit.spec import MAX_BLOCKS
from opkit.testing.generate import Plan, attrs_of, combos_of, plans_of
from opkit.testing.small_block import SMALL_BLOCK, ManyBlocks, NoVariant, small_block_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from opkit.spec import Op, Package

__all__ = ["CaseResult", "Status", "count_cases", "run_tests"]

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


def count_cases(package: Package) -> int:
    """How many cases `run_tests` runs, those of the small-block variant too."""
    small = small_block_of(package).package
    plain = sum(1 for op in package.ops for _ in plans_of(package, op))
    return plain + sum(len(combos_of(op)) for op in (() if small is None else small.ops))


def run_tests(package: Package, built: Built, host: Host, listener: Listener, *, device: int | None = None) -> tuple[CaseResult, ...]:
    """Runs every case of ``package``, then more than 65,535 blocks of each op through its small-block variant, built below the build
    folder.

    The caller holds the build folder. Raises ExpectationError if a reference fails for a case with the spec's own attrs, UnwritableError,
    and what `held` raises.
    """
    runner = _Runner(host=host, listener=listener, device=device)
    tested = runner.run([plan for op in package.ops for plan in plans_of(package, op)], package, built)
    variant = small_block_of(package)
    tested += [_no_variant(item) for item in variant.skipped]
    if variant.package is not None:
        small = _moved(variant.package, built.project.build_dir / "small-block")
        # The real package still says which attrs a required one has, and whose reference stands for whose.
        plans = [plan for op in small.ops for plan in _many_blocks(package, op, variant.cases[op.type])]
        with held(Project.at(small.root), host.toolkit, host.environ, package=small) as small_built:
            tested += runner.run(plans, package, small_built)
    return tuple(tested)


def _no_variant(item: NoVariant) -> CaseResult:
    return CaseResult(op=item.op, plan=None, status="skipped", reason=f"more than {MAX_BLOCKS} blocks: {item.reason}")


def _many_blocks(package: Package, op: Op, case: ManyBlocks) -> Iterable[Plan]:
    for combo in combos_of(op):
        yield Plan(op=op, combo=combo, shapes=case.shapes, attrs=attrs_of(package, op, combo), why=case.why, block_size=SMALL_BLOCK)


def _moved(package: Package, root: Path) -> Package:
    """Gives the package as if it lay in ``root``, with its kernels, the headers that they include and those of the user's functions
    copied there.
    """

    def moved(path: Path) -> Path:
        return root / path.relative_to(package.root)

    with guard_writing(root):
        for file in (*package.kernel_files, *package.user_headers):
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
            except SessionError as error:
                tested = [self._alone(item, built, work) for item in prepared] if len(prepared) > 1 else [_ended(prepared[0], error)]
        return [*tested, *skipped]

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
