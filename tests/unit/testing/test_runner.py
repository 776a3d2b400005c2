"""What becomes of a case before any program runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from opkit.testing import count_cases, plans_of
from opkit.testing.runner import _case

if TYPE_CHECKING:
    from collections.abc import Callable

    from opkit.spec import Package

OPS = """
kernel = Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("x")], blocks=ceil_div(numel("x"), 4), strides=True)
op = Op("AddOp", inputs=[Input("x", "T", shape="..."), Input("y", "T", shape="...")], outputs=[Output("z", "T", shape="...")],
        dtypes={"T": ["float32"]}, kernel=kernel, refresh="none", reference=lambda x, y: x + y)
package = Package("demo", ops=[op], header="demo.h")
"""


def test_the_cases_with_a_small_block_are_counted_too(package_of: Callable[[str], Package]) -> None:
    package = package_of(OPS.replace(", 4)", ", 1024)").replace('["float32"]', '["float32", "int32"]'))
    assert count_cases(package) == len(list(plans_of(package, package.ops[0]))) + 2
    plain = package_of(OPS)
    assert count_cases(plain) == len(list(plans_of(plain, plain.ops[0])))


def test_a_case_that_no_memory_holds_is_skipped_with_its_size(package_of: Callable[[str], Package]) -> None:
    package = package_of(OPS)
    plan = next(iter(plans_of(package, package.ops[0])))
    reason = _case(attrs.evolve(plan, shapes={"x": (2**40,), "y": (2**40,)}), plan.op.reference)
    assert isinstance(reason, str)
    assert f"{3 * 4 * 2**40:,} bytes" in reason
