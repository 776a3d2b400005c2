"""opkit: a kernel and a short Python spec in, a GE custom-op deliverable out.

Here is what ops.py imports. Every name loads on first use, so that `opkit --help` stays quick.
"""

from __future__ import annotations

TYPE_CHECKING = False  # Not that of typing: until a command runs, Ctrl-C is a traceback.
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

# The one place of it: pyproject.toml takes it from here, since asking the metadata of what is installed costs 28 ms.
__version__ = "0.1.0"


if not TYPE_CHECKING:  # a type checker would take any name for known

    def __getattr__(name: str) -> object:
        from opkit.lazy import load

        return load(name, __name__, {"spec.declare": __all__})


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
