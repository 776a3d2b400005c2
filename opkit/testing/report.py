"""What the golden tests of a package came to: a table with one row for each op and dtype combination, the mismatches below it, and JSON.

JSON (schema 1): ``passed``, ``device`` {kind, name, threads}, ``results`` [{op, dtypes, shapes, attrs, why, status, reason, checks}];
``status`` is passed, failed, skipped or "no reference".
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import attrs

from opkit.run import check_json, check_lines, dtypes_shown, shape_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opkit.errors import CompileError
    from opkit.run import Machine
    from opkit.testing.generate import Plan
    from opkit.testing.runner import CaseResult

__all__ = ["GoldenReport"]


@attrs.frozen(kw_only=True)
class GoldenReport:
    machine: Machine
    results: tuple[CaseResult, ...]

    @property
    def passed(self) -> bool:
        """Nothing failed, and something was compared: a package without a single reference proves nothing."""
        statuses = self.count()
        return statuses["failed"] == 0 and statuses["passed"] > 0

    def count(self) -> Counter[str]:
        return Counter(result.status for result in self.results)

    @property
    def uncompiled(self) -> tuple[CompileError, ...]:
        """What each kernel that doesn't compile says, once."""
        return tuple({id(result.error): result.error for result in self.results if result.error is not None}.values())

    def summary(self) -> str:
        return ", ".join(f"{number} {status}" for status, number in sorted(self.count().items())) or "no cases"

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Gives the head and the rows, in the order of the ops."""
        groups: dict[tuple[str, str], list[CaseResult]] = {}
        for result in self.results:
            if result.plan is not None:
                groups.setdefault((result.op, dtypes_shown(result.plan.combo)), []).append(result)
        rows: list[tuple[str, ...]] = []
        for (op, dtypes), results in groups.items():
            sizes = " ".join(dict.fromkeys(_size(result.plan) for result in results if result.plan is not None))
            rows.append((op, dtypes, sizes, _verdict(results)))
        return ("op", "dtype", "sizes", "result"), rows

    def details(self, *, most: int | None = None) -> list[str]:
        """Gives what the table can't hold: the failed cases with their first mismatches, ``most`` of them at most, which have a kernel
        that doesn't compile, and why others were skipped or compared with nothing.
        """
        failed = [result for result in self.results if result.status == "failed" and result.error is None]
        shown = failed[:most]
        lines: list[str] = []
        for result in shown:
            lines += [_title([result]), *_indented(*result.reason.splitlines(), *check_lines(result.checks))]
        if len(shown) < len(failed):
            lines.append(f"… and {len(failed) - len(shown)} more failed: -v shows them in full, --json lists every case")
        alike: dict[tuple[str, str, str], list[CaseResult]] = {}
        for result in self.results:
            if result.status not in {"passed", "failed"} or result.error is not None:
                reason = result.reason if result.error is None else result.error.message
                alike.setdefault((result.status, result.op, reason), []).append(result)
        for (_, _, reason), results in alike.items():
            lines += [_title(results), *_indented(*reason.splitlines())]
        return lines

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "passed": self.passed,
            "device": self.machine.to_json(),
            "results": [_result_json(result) for result in self.results],
        }


def _result_json(result: CaseResult) -> dict[str, Any]:
    plan = result.plan
    return {
        "op": result.op,
        "dtypes": {} if plan is None else {name: dtype.name for name, dtype in plan.combo.ports.items()},
        "shapes": {} if plan is None else {name: shape and list(shape) for name, shape in plan.shapes.items()},
        "attrs": {} if plan is None else {name: list(value) if isinstance(value, bytes) else value for name, value in plan.attrs.items()},
        "why": None if plan is None else plan.why,
        "status": result.status,
        "reason": result.reason or None,
        "checks": [check_json(check) for check in result.checks],
    }


def _title(results: Sequence[CaseResult]) -> str:
    """One case is told in full, several only by their number."""
    first = results[0]
    if len(results) > 1:
        return f"{first.status}: {first.op}, {len(results)} cases"
    where = "" if first.plan is None else f" {dtypes_shown(first.plan.combo)} {_shapes(first.plan)} ({first.plan.why})"
    return f"{first.status}: {first.op}{where}"


def _indented(*lines: str) -> list[str]:
    return [f"  {line}" for line in lines]


def _shapes(plan: Plan) -> str:
    return " ".join(f"{name}={shape_shown(shape)}" for name, shape in plan.shapes.items())


def _size(plan: Plan) -> str:
    """The first input stands for all."""
    shape = next(iter(plan.shapes.values()), None) or ()
    members = [each for each in shape if not isinstance(each, int)] or [[each for each in shape if isinstance(each, int)]]
    size = ("x".join(map(str, members[0])) or "scalar") + (f"*{len(members)}" if len(members) > 1 else "")
    return size if plan.block_size is None else f"{size} (BLOCK_SIZE {plan.block_size})"


def _verdict(results: Sequence[CaseResult]) -> str:
    statuses = Counter(result.status for result in results)
    if statuses["failed"]:
        return f"{statuses['failed']} of {len(results)} FAILED"
    return ", ".join(f"{number} {status}" for status, number in statuses.items())
