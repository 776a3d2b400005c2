"""Which kernel an op most likely launches, and with what: only what names say, the rest stays a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from opkit.spec.kernel_signature import is_pointer
from opkit.spec.model import AttrType
from opkit.spec.naming import Naming, stem_of
from opkit.spec.scalars import scalar_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opkit.spec.importers.prototype import KernelFile, Prototype
    from opkit.spec.kernel_signature import FoundEntry

__all__ = ["Launch", "LaunchArgument", "launch_of", "name_of"]

# Of these types an attr can be an argument; a list or a text reaches a kernel through a tiling.
_PASSABLE = {AttrType.INT, AttrType.FLOAT, AttrType.BOOL, AttrType.TYPE}


@attrs.frozen(kw_only=True)
class LaunchArgument:
    """One parameter of the entry and the text of a spec that fills it; None if no name says which."""

    c_type: str
    name: str
    value: str | None

    @property
    def is_pointer(self) -> bool:
        return is_pointer(self.c_type)

    @property
    def is_struct(self) -> bool:
        return not self.is_pointer and scalar_of(self.c_type) is None

    def __str__(self) -> str:
        return f"{self.c_type} {self.name}".strip()


@attrs.frozen(kw_only=True)
class Launch:
    """`source` is the path of the kernel below kernels/, `entry` how a spec names its function; `template` are the names of its template's
    parameters, whose arguments no name says.
    """

    source: str
    entry: str
    template: tuple[str, ...] | None
    args: tuple[LaunchArgument, ...]


def launch_of(prototype: Prototype, kernels: Sequence[KernelFile]) -> Launch | None:
    """The kernel whose entry has the op's name or takes its ports by their names, or the only one there is; None if several could be it."""
    found = [(kernel, entry) for kernel in kernels for entry in kernel.entries]
    ports = {port.name for port in prototype.ports}
    names = {prototype.type, *(stem_of(prototype.type, naming) for naming in Naming)}
    named = [each for each in found if each[1].name in names]
    fitting = [each for each in found if ports and ports <= {name for _, name, _ in each[1].params}]
    for candidates in (named, fitting, found):
        if len(candidates) == 1:
            kernel, entry = candidates[0]
            template = None if entry.template is None else tuple(entry.template.names)
            return Launch(source=kernel.path, entry=name_of(entry), template=template, args=tuple(_arguments(prototype, entry)))
    return None


def name_of(entry: FoundEntry) -> str:
    """The name that a spec launches it by."""
    return entry.name if entry.is_extern_c else entry.qualified


def _arguments(prototype: Prototype, entry: FoundEntry) -> list[LaunchArgument]:
    single = {port.name for port in prototype.ports if not port.kind.is_dynamic}
    if not single <= {name for _, name, _ in entry.params}:
        # A kernel add(x, y, z) of an op with the ports x1, x2 and y: its y is not the op's.
        single = set()
    ambiguous = {port.name for port in prototype.ports} & {attr.name for attr in prototype.attrs}
    passable = {attr.name for attr in prototype.attrs if attr.type in _PASSABLE}
    arguments = []
    for c_type, name, _ in entry.params:
        argument = LaunchArgument(c_type=c_type, name=name, value=None)
        value = None
        if argument.is_pointer and name in single:
            value = f'port("{name}")' if name in ambiguous else f'"{name}"'
        elif not argument.is_pointer and name in passable:
            value = f'attr("{name}")' if name in ambiguous else f'"{name}"'
        arguments.append(attrs.evolve(argument, value=value))
    return arguments
