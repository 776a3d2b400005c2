"""The specs of real operators, as a project that a test can render."""

from __future__ import annotations

import re
from pathlib import Path

from opkit.spec import Package, load_package

SPECS = Path(__file__).parent / "unit" / "codegen" / "real_ops" / "ops.py"


def write_real_ops(root: Path) -> Package:
    """The package of all specs, with its kernels, in `root`."""
    kernels = (
        f'extern "C" __global__ __aicore__ void launch{n}({", ".join(f"GM_ADDR a{i}" for i in range(n))}) {{}}\n' for n in range(1, 16)
    )
    number = 'extern "C" __global__ __aicore__ void launch_number(int64_t n) {}\n'
    (root / "kernels").mkdir()
    (root / "kernels" / "real.asc").write_text('#include "kernel_operator.h"\n' + "".join([*kernels, number]))
    (root / "ops.py").write_text(SPECS.read_text())
    functions = dict.fromkeys(re.findall(r'by_user\("(\w+)"\)', SPECS.read_text()))
    shape_rule = "inline bool {}(const gert::InferShapeContext &, gert::Shape &) {{ return true; }}\n"
    (root / "ge" / "user").mkdir(parents=True)
    (root / "ge" / "user" / "infer.h").write_text(
        '#pragma once\n#include "exe_graph/runtime/infer_shape_context.h"\n' + "".join(map(shape_rule.format, functions))
    )
    return load_package(root / "ops.py")
