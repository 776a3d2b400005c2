"""The report of the golden tests: what counts as passed, and that nothing that wasn't compared looks as if it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs
import pytest

from opkit.errors import CompileError
from opkit.run import Check, Machine
from opkit.run.session import Mismatch
from opkit.testing import CaseResult, GoldenReport, Plan, plans_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from opkit.spec import AttrDefault, Package
    from opkit.testing.runner import Status

MACHINE = Machine(kind="simulator", name="host simulator, x86_64", threads=2)
GOOD = Check(set=0, port="z", passed=True, max_error=0.0, mismatches=0, first=())
BAD = Check(set=1, port="z", passed=False, max_error=1.0, mismatches=9, first=(Mismatch(index=3, expected="1", got="2"),))

OPS = """
kernel = Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("x")], blocks=ceil_div(numel("x"), 4), strides=True)
op = Op("AddOp", inputs=[Input("x", "T", shape="..."), Input("y", "T", shape="...")], outputs=[Output("z", "T", shape="...")],
        dtypes={"T": ["float32", "int32"]}, kernel=kernel, refresh="none", reference=lambda x, y: x + y)
package = Package("demo", ops=[op], header="demo.h")
"""


@pytest.fixture
def plans(package_of: Callable[[str], Package]) -> list[Plan]:
    package = package_of(OPS)
    return list(plans_of(package, package.ops[0]))


def result_of(plan: Plan, status: Status = "passed", checks: tuple[Check, ...] = (GOOD,), reason: str = "") -> CaseResult:
    return CaseResult(op=plan.op.type, plan=plan, status=status, checks=checks, reason=reason)


def report(*results: CaseResult) -> GoldenReport:
    return GoldenReport(machine=MACHINE, results=results)


def test_each_op_and_dtype_is_a_row_with_its_sizes(plans: list[Plan]) -> None:
    head, rows = report(*(result_of(plan) for plan in plans)).table()
    assert head == ("op", "dtype", "sizes", "result")
    assert rows == [
        ("AddOp", "float32", "0 1 3 4 5 13 3x4 scalar", "8 passed"),
        ("AddOp", "int32", "0 1 3 4 5 13 3x4 scalar", "8 passed"),
    ]


def test_one_wrong_case_fails_the_report_and_shows_its_mismatches(plans: list[Plan]) -> None:
    wrong = report(result_of(plans[0]), result_of(plans[2], "failed", (GOOD, BAD)))
    assert not wrong.passed
    assert wrong.table()[1] == [("AddOp", "float32", "0 3", "1 of 2 FAILED")]
    assert wrong.details() == [
        "failed: AddOp float32 x=[3] y=[3] (3 elements)",
        "  output z, memory set 1: 9 elements differ, largest error 1",
        "    [3] expected 1, got 2",
    ]


def test_a_case_that_ended_the_process_shows_what_ended_it(plans: list[Plan]) -> None:
    ended = report(result_of(plans[1], "failed", (), "demo_session_run was ended by signal 11\nlast line"))
    assert ended.details() == ["failed: AddOp float32 x=[1] y=[1] (1 element)", "  demo_session_run was ended by signal 11", "  last line"]


def test_a_skipped_case_says_why_and_fails_nothing(plans: list[Plan]) -> None:
    skipped = report(
        result_of(plans[0]), CaseResult(op="AddOp", plan=None, status="skipped", reason="more than 65535 blocks: it doesn't stride")
    )
    assert skipped.passed
    assert skipped.details() == ["skipped: AddOp", "  more than 65535 blocks: it doesn't stride"]
    assert skipped.summary() == "1 passed, 1 skipped"


def test_of_many_failures_the_first_are_shown_and_the_others_counted(plans: list[Plan]) -> None:
    wrong = report(result_of(plans[0]), *(result_of(plan, "failed", (BAD,)) for plan in plans[1:8]))
    lines = wrong.details(most=5)
    assert [line for line in lines if not line.startswith(" ")] == [
        *(f"failed: AddOp float32 x=[{size}] y=[{size}] ({why})" for size, why in SHOWN),
        "… and 2 more failed: -v shows them in full, --json lists every case",
    ]
    assert sum(line.startswith("failed: ") for line in wrong.details()) == 7
    assert len(wrong.to_json()["results"]) == 8


SHOWN = [("1", "1 element"), *((str(size), f"{size} elements") for size in (3, 4, 5, 13))]


def test_a_kernel_that_does_not_compile_is_told_once_for_all_its_cases(plans: list[Plan]) -> None:
    error = CompileError("a kernel of AddOp doesn't compile for float32", because="kernels/k.asc:3: error: oh")
    uncompiled = [attrs.evolve(result_of(plan, "failed", (), "all of it"), error=error) for plan in plans[:8]]
    told = report(*uncompiled, result_of(plans[8], "failed", (BAD,)))
    assert told.uncompiled == (error,)
    assert [line for line in told.details() if "AddOp" in line] == [
        f"failed: AddOp int32 x=[0] y=[0] ({plans[8].why})",
        "failed: AddOp, 8 cases",
        "  a kernel of AddOp doesn't compile for float32",
    ]
    assert told.to_json()["results"][0]["reason"] == "all of it"


def test_cases_without_a_reference_are_one_line(plans: list[Plan]) -> None:
    unknown = report(*(result_of(plan, "no reference") for plan in plans[:8]))
    assert unknown.details() == ["no reference: AddOp, 8 cases"]


def test_a_case_with_a_small_block_says_the_size_of_its_blocks(plans: list[Plan]) -> None:
    small = attrs.evolve(plans[1], shapes={"x": (2097153,), "y": (2097153,)}, block_size=32)
    assert report(result_of(plans[0]), result_of(small)).table()[1] == [("AddOp", "float32", "0 2097153 (BLOCK_SIZE 32)", "2 passed")]


def test_a_package_without_any_reference_does_not_pass(plans: list[Plan]) -> None:
    unknown = report(result_of(plans[0], "no reference", ()))
    assert not unknown.passed
    assert unknown.table()[1] == [("AddOp", "float32", "0", "1 no reference")]
    assert not report().passed


def test_the_json_holds_every_case(plans: list[Plan]) -> None:
    document = json.loads(json.dumps(report(result_of(plans[2], "failed", (BAD,))).to_json(), allow_nan=False))
    assert document["passed"] is False
    assert document["device"]["threads"] == 2
    (result,) = document["results"]
    assert result["dtypes"] == {"x": "float32", "y": "float32", "z": "float32"}
    assert result["shapes"] == {"x": [3], "y": [3]}
    assert (result["op"], result["status"], result["why"], result["reason"]) == ("AddOp", "failed", "3 elements", None)
    assert result["checks"][0]["first"] == [{"index": 3, "expected": "1", "got": "2"}]


def test_the_json_holds_attrs_of_every_type(plans: list[Plan]) -> None:
    values: dict[str, AttrDefault] = {"raw": b"\0\xff", "axes": (1, -2), "parts": ((1,), ()), "to": "int64", "table": ()}
    document = report(result_of(attrs.evolve(plans[0], attrs=values))).to_json()
    assert json.loads(json.dumps(document))["results"][0]["attrs"] == {
        "raw": [0, 255],
        "axes": [1, -2],
        "parts": [[1], []],
        "to": "int64",
        "table": [],
    }
