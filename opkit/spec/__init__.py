"""What a user writes in ops.py, loaded and checked: `load_package` turns the file into one frozen `Package`, or names every mistake in it.

The values exported here are the resolved ones. What ops.py imports from `opkit` are the declarations of the same names
(`opkit.spec.declare`): they take loose input, remember their line and never raise for a mistake that can be listed with others.
"""

from __future__ import annotations

from opkit.spec.dtypes import DTYPES, DType, find_dtype
from opkit.spec.expressions import (
    AddressList,
    AttrValue,
    Binary,
    BinaryOp,
    Cores,
    Count,
    Dim,
    DimName,
    Expr,
    Number,
    Numel,
    PortAddress,
    Rank,
    Reading,
    Scope,
    ShapeBuffer,
    Tiling,
    TilingMember,
    UserTiling,
    Workspace,
)
from opkit.spec.kernel_logs import dtypes_shown, placed
from opkit.spec.kernel_signature import KernelParam, KernelSignature
from opkit.spec.kernel_structs import KernelStruct, StructField
from opkit.spec.load import load_package
from opkit.spec.location import Location
from opkit.spec.model import (
    MAX_BLOCKS,
    Attr,
    AttrDefault,
    AttrType,
    Benchmark,
    Compile,
    CoreType,
    DTypeCombo,
    GivenShape,
    Input,
    Kernel,
    LaunchArg,
    Op,
    Output,
    Package,
    Refresh,
)
from opkit.spec.naming import Naming, stem_of
from opkit.spec.problems import SpecWarning
from opkit.spec.scalars import ScalarType
from opkit.spec.shapes import Broadcast, ComputedDim, DimGroup, FixedDim, NamedDim, ShapePattern, ShapeRule, UpperBound, UserShape
from opkit.spec.socs import DEFAULT_SOC
from opkit.spec.user_functions import with_included

__all__ = [
    "DEFAULT_SOC",
    "DTYPES",
    "MAX_BLOCKS",
    "AddressList",
    "Attr",
    "AttrDefault",
    "AttrType",
    "AttrValue",
    "Benchmark",
    "Binary",
    "BinaryOp",
    "Broadcast",
    "Compile",
    "ComputedDim",
    "CoreType",
    "Cores",
    "Count",
    "DType",
    "DTypeCombo",
    "Dim",
    "DimGroup",
    "DimName",
    "Expr",
    "FixedDim",
    "GivenShape",
    "Input",
    "Kernel",
    "KernelParam",
    "KernelSignature",
    "KernelStruct",
    "LaunchArg",
    "Location",
    "NamedDim",
    "Naming",
    "Number",
    "Numel",
    "Op",
    "Output",
    "Package",
    "PortAddress",
    "Rank",
    "Reading",
    "Refresh",
    "ScalarType",
    "Scope",
    "ShapeBuffer",
    "ShapePattern",
    "ShapeRule",
    "SpecWarning",
    "StructField",
    "Tiling",
    "TilingMember",
    "UpperBound",
    "UserShape",
    "UserTiling",
    "Workspace",
    "dtypes_shown",
    "find_dtype",
    "load_package",
    "placed",
    "stem_of",
    "with_included",
]
