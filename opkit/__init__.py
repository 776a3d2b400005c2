"""opkit: a kernel and a short Python spec in, a GE custom-op deliverable out.

Here is what ops.py imports. Every name loads on first use, so that `opkit --help` stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opkit.spec.declare import (
        Attr,
        Benchmark,
        Input,
        Kernel,
        Op,
        Output,
        Package,
        Promote,
        address_list,
        attr,
        broadcast,
        ceil_div,
        cores,
        count,
        cpp,
        dim,
        f32,
        from_attr,
        i32,
        i64,
        max_,
        min_,
        numel,
        per_soc,
        port,
        rank,
        shape_of,
        tiling,
        u32,
        upper_bound,
        workspace,
    )

    __version__: str

__all__ = [
    "Attr",
    "Benchmark",
    "Input",
    "Kernel",
    "Op",
    "Output",
    "Package",
    "Promote",
    "address_list",
    "attr",
    "broadcast",
    "ceil_div",
    "cores",
    "count",
    "cpp",
    "dim",
    "f32",
    "from_attr",
    "i32",
    "i64",
    "max_",
    "min_",
    "numel",
    "per_soc",
    "port",
    "rank",
    "shape_of",
    "tiling",
    "u32",
    "upper_bound",
    "workspace",
]


if not TYPE_CHECKING:  # a type checker would take any name for known

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            return version("ascend-opkit")
        if name in __all__:
            from opkit.spec import declare

            return getattr(declare, name)
        msg = f"module 'opkit' has no attribute {name!r}"
        raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
