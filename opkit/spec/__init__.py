"""What a user writes in ops.py, loaded and checked: `load_package` turns the file into one frozen `Package`, or names every mistake in it.

The values exported here are the resolved ones. What ops.py imports from `opkit` are the declarations of the same names
(`opkit.spec.declare`): they take loose input, remember their line and never raise for a mistake that can be listed with others.
"""

from __future__ import annotations

from opkit.spec.dtypes import DTYPES, DType, find_dtype
from opkit.spec.expressions import AttrValue, Binary, BinaryOp, Cores, Dim, Expr, Number, Numel, PortAddress, Reading, Scope
from opkit.spec.kernel_signature import KernelParam, KernelSignature, ScalarType
from opkit.spec.load import load_package
from opkit.spec.location import Location
from opkit.spec.model import (
    MAX_BLOCKS,
    Attr,
    AttrDefault,
    AttrType,
    Benchmark,
    DTypeCombo,
    Input,
    Kernel,
    LaunchArg,
    Op,
    Output,
    Package,
    Refresh,
)
from opkit.spec.naming import stem_of
from opkit.spec.shapes import DimGroup, FixedDim, NamedDim, ShapePattern

__all__ = [
    "DTYPES",
    "MAX_BLOCKS",
    "Attr",
    "AttrDefault",
    "AttrType",
    "AttrValue",
    "Benchmark",
    "Binary",
    "BinaryOp",
    "Cores",
    "DType",
    "DTypeCombo",
    "Dim",
    "DimGroup",
    "Expr",
    "FixedDim",
    "Input",
    "Kernel",
    "KernelParam",
    "KernelSignature",
    "LaunchArg",
    "Location",
    "NamedDim",
    "Number",
    "Numel",
    "Op",
    "Output",
    "Package",
    "PortAddress",
    "Reading",
    "Refresh",
    "ScalarType",
    "Scope",
    "ShapePattern",
    "find_dtype",
    "load_package",
    "stem_of",
]
