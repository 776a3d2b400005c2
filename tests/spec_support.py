"""What the tests of the spec share: a project folder with an ops.py and a kernel, and the mistakes that loading it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest

from opkit.errors import SpecError, SpecErrors
from opkit.spec import Op, Package, load_package

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ADD_KERNEL = """\
#include "kernel_operator.h"
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 1024
#endif
extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t length)
{
}
"""

# A good spec, in pieces that a test replaces one at a time.
ADD_OP = {
    "type": '"AddCustom"',
    "inputs": '[Input("x", "T", shape="..."), Input("y", "T", shape="...")]',
    "outputs": '[Output("z", "T", shape="...")]',
    "dtypes": '{"T": ["float32"]}',
    "kernel": "kernel",
}
ADD_LAUNCH = {
    "source": '"kernels/add.asc"',
    "entry": '"add"',
    "args": '["x", "y", "z", numel("x")]',
    "blocks": 'ceil_div(numel("x"), 1024)',
}


@attrs.frozen(kw_only=True)
class SpecFolder:
    root: Path

    @property
    def ops_py(self) -> Path:
        return self.root / "ops.py"

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def kernel(self, parameters: str) -> None:
        """Replaces the kernel by one whose entry `add` has these parameters."""
        self.write("kernels/add.asc", f'extern "C" __global__ __aicore__ void add({parameters}) {{}}\n')

    def load(self, text: str) -> Package:
        self.write("ops.py", text)
        return load_package(self.ops_py)

    def mistakes(self, text: str) -> list[SpecError]:
        with pytest.raises(SpecErrors) as caught:
            self.load(text)
        return list(caught.value.errors)

    def mistake(self, text: str) -> SpecError:
        """The only mistake of a spec."""
        found = self.mistakes(text)
        assert [error.message for error in found] == [found[0].message]
        return found[0]

    def add(self, *, launch: Mapping[str, str] | None = None, **changes: str) -> Package:
        return self.load(add_spec(launch=launch, **changes))

    def add_op(self, *, launch: Mapping[str, str] | None = None, **changes: str) -> Op:
        return self.add(launch=launch, **changes).ops[0]

    def add_mistake(self, *, launch: Mapping[str, str] | None = None, **changes: str) -> SpecError:
        return self.mistake(add_spec(launch=launch, **changes))


def add_spec(op: Mapping[str, str] | None = None, /, *, launch: Mapping[str, str] | None = None, **changes: str) -> str:
    """The add op as an ops.py, with arguments of Op (`op`, `changes`) and Kernel (`launch`) replaced or, if the text is empty, left out."""
    kernel = ", ".join(f"{name}={text}" for name, text in {**ADD_LAUNCH, **(launch or {})}.items() if text)
    declared = ", ".join(f"{name}={text}" for name, text in {**ADD_OP, **(op or {}), **changes}.items() if text)
    return f'from opkit import *\nkernel = Kernel({kernel})\nop = Op({declared})\npackage = Package("my_ops", ops=[op])\n'
