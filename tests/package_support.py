"""A fixture for tests that need a Package and don't care where its files lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opkit.spec import Package, load_package

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KERNEL = """#include "kernel_operator.h"
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 1024
#endif
extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint64_t n) {}
extern "C" __global__ __aicore__ void scaled(GM_ADDR x, GM_ADDR z, uint64_t n, float scale, int64_t axis, bool keep) {}
extern "C" __global__ __aicore__ void cast_to(GM_ADDR x, GM_ADDR z, uint64_t n) {}
"""

HEAD = """from opkit import *
import numpy as np
"""


@pytest.fixture
def package_of(tmp_path: Path) -> Callable[..., Package]:
    """Gives the Package of ops.py's text; the names of `opkit` and `np` are imported, `kernels/k.asc` has the entries above."""

    def load(text: str, kernel: str = KERNEL) -> Package:
        (tmp_path / "kernels").mkdir(exist_ok=True)
        (tmp_path / "kernels" / "k.asc").write_text(kernel)
        (tmp_path / "ops.py").write_text(HEAD + text)
        return load_package(tmp_path / "ops.py")

    return load
