"""What becomes of a case before any program runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from opkit.spec import load_package
from opkit.testing import count_cases, plans_of
from opkit.testing.runner import _case, _moved

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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


PADDED = """
op = Op("PadOp", inputs=[Input("x", "float32", shape="...")], outputs=[Output("z", "float32", shape=cpp("ge/user/infer.h", "InferPad"))],
        kernel=Kernel("kernels/k.asc", entry="cast_to", args=["x", "z", numel("x")], blocks=1))
package = Package("demo", ops=[op])
"""


def test_a_copy_has_the_headers_that_those_of_the_user_s_include(tmp_path: Path) -> None:
    """But for what opkit writes itself, in the copy too, and what isn't of the project."""
    headers = {
        "ge/user/infer.h": '#include <vector>\n#include "parts/sizes.h"\n # include "../utils/log.h"\nbool InferPad() {}',
        "ge/user/parts/sizes.h": '#include "../infer.h"\n#include "../../../shared.h"\n#include "absent.h"\n',
        "shared.h": '// #include "unused.h"\n#include "../outside.h"\n',
        "unused.h": "",
        "ge/utils/log.h": "",
        "../outside.h": "",
    }
    for name, text in headers.items():
        file = tmp_path / "project" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    project = tmp_path / "project"
    (project / "kernels").mkdir()
    (project / "kernels" / "k.asc").write_text('extern "C" __global__ __aicore__ void cast_to(GM_ADDR x, GM_ADDR z, uint64_t n) {}')
    (project / "ops.py").write_text(f"from opkit import *\n{PADDED}")
    moved = _moved(load_package(project / "ops.py"), tmp_path / "copy")
    copied = {file.relative_to(moved.root).as_posix() for file in moved.root.rglob("*") if file.is_file()}
    assert copied == {"CACHEDIR.TAG", "kernels/k.asc", "ge/user/infer.h", "ge/user/parts/sizes.h", "shared.h"}
