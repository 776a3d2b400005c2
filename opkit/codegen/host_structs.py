"""The structs that kernels take by value, as the host's code names them, and the headers of the user's that fill them."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opkit.spec import KernelStruct, Package

__all__ = ["HostStructs", "include_of"]

_NAMESPACE = "kernel_structs"


@attrs.frozen(kw_only=True)
class HostStructs:
    """The names of the structs in their namespace: their own, numbered where kernels have different structs of one name."""

    names: Mapping[KernelStruct, str]
    namespace: str
    """The package's."""

    @classmethod
    def of(cls, package: Package) -> HostStructs:
        names: dict[KernelStruct, str] = {}
        for struct in (param.struct for op in package.ops for kernel in op.kernels for param in kernel.signature.params if param.struct):
            if struct not in names:
                name, taken = struct.plain_name, set(names.values())
                names[struct] = (
                    name if name not in taken else next(f"{name}{n}" for n in range(2, len(taken) + 3) if f"{name}{n}" not in taken)
                )
        return cls(names=names, namespace=f"{package.name}_ops")

    def type_of(self, struct: KernelStruct) -> str:
        """In the namespace of the package."""
        return f"{_NAMESPACE}::{self.names[struct]}"


def include_of(header: str) -> str:
    """A header of the project as ge/custom_op.cpp includes it."""
    path = PurePosixPath(header)
    return str(path.relative_to("ge") if path.is_relative_to("ge") else PurePosixPath("..", path))
