"""Types of Ascend C that the kernels of some SoCs don't have, and the dtypes that a spec asks for there all the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from opkit.spec.problems import Rule, one_of
from opkit.spec.resolve_entry import defines_name, placeholders
from opkit.spec.socs import DEFAULT_SOC, families_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from opkit.spec import declare
    from opkit.spec.dtypes import DType
    from opkit.spec.kernel_signature import KernelSource
    from opkit.spec.model import Input, Op, Output
    from opkit.spec.problems import Problems

__all__ = ["KNOWN_ABSENT", "check_soc_types"]

# Which architecture a family of SoCs has: the table of asc-devkit's platform_ascendc.cpp, and for Ascend910_93 the list under
# `__NPU_ARCH__` in its programming guide.
_ATLAS_TRAINING = {1001: ("Ascend910A", "Ascend910PremiumA", "Ascend910ProA", "Ascend910ProB")}
_ATLAS_INFERENCE = {2002: ("Ascend310P",)}
_ATLAS_A2_AND_A3 = {2201: ("Ascend910B", "Ascend910_93")}
_ATLAS_200I_A2 = {3002: ("Ascend310B",)}

# A type is absent where two sources say so: the list of types by product in asc-devkit's page about built-in types, and its headers, which
# name the type nowhere when kernel_operator.h is preprocessed with the architecture as `__NPU_ARCH__` (state of 2026-07-30).
KNOWN_ABSENT: Mapping[str, Mapping[int, tuple[str, ...]]] = {
    # Kernels for these SoCs in the operator libraries define the name themselves. Not 3002: the list doesn't have it, and the headers do.
    "bfloat16_t": {**_ATLAS_TRAINING, **_ATLAS_INFERENCE},
    # The list has it for Ascend 950 alone, the headers for 3510, which that is, and 5102.
    "hifloat8_t": {**_ATLAS_TRAINING, **_ATLAS_INFERENCE, **_ATLAS_A2_AND_A3, **_ATLAS_200I_A2},
    # Names that the headers declare for 3510 and 5102 alone; the list says Ascend 950.
    "complex32": {**_ATLAS_TRAINING, **_ATLAS_INFERENCE, **_ATLAS_A2_AND_A3, **_ATLAS_200I_A2},
    "complex64": {**_ATLAS_TRAINING, **_ATLAS_INFERENCE, **_ATLAS_A2_AND_A3, **_ATLAS_200I_A2},
    # Not here: the types of 8 and 4 bits, which the headers make other names of uint8_t, and int4b_t, which they define everywhere.
}

# What a kernel tells architectures apart by: then it isn't known what it says on which.
_TELLS_APART = re.compile(r"\b(?:__NPU_ARCH__|__CCE_AICORE__|__DAV_\w+__)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def check_soc_types(declared: declare.Op, op: Op, read: Callable[[Path], KernelSource], problems: Problems) -> None:
    """Reports a dtype on a SoC that the spec names, if no kernel there has a type for it and one of the op's says it.

    A kernel that only moves elements needn't name their type, so a dtype alone is no mistake. `read` gives the source of a kernel.
    """
    for soc, dtype, ports in _asked_for(op):
        architecture = _without(dtype, soc, op)
        saying = None if architecture is None else _saying(op, dtype, ports, read)
        if saying is not None:
            having = one_of(port.name for port in ports)
            problems.add(
                Rule.SOC_TYPE,
                f"{having} of {op.type} may be {dtype.name} on {soc}, where no kernel can name {dtype.kernel_type}",
                declared.where_of("dtypes"),
                because=f"Ascend C has no such type on the NPU architecture {architecture}, and {saying}",
                advice=f'leave {dtype.name} out for "{soc}", or let the kernel ask __NPU_ARCH__ and take the bits there',
            )


def _asked_for(op: Op) -> Iterator[tuple[str, DType, list[Input | Output]]]:
    """Each dtype of each SoC that the spec names, with the ports that have it there and that a kernel has a macro for."""
    combos = op.dtype_combos()
    ports = [port for port in op.ports if not op.mixed_input(port)]
    for soc, rows in op.soc_rows.items():
        found: dict[DType, dict[str, Input | Output]] = {}
        for combo, is_there in zip(combos, rows, strict=True):
            for port in ports if is_there and soc != DEFAULT_SOC else ():
                found.setdefault(combo.ports[port.name], {})[port.name] = port
        yield from ((soc, dtype, list(having.values())) for dtype, having in found.items())


def _without(dtype: DType, soc: str, op: Op) -> int | None:
    """The architecture that lacks a dtype's type, or one of them; None unless all SoCs that the name stands for are known to lack it."""
    rows = KNOWN_ABSENT.get(dtype.kernel_type or "", {})
    architectures = {family: architecture for architecture, families in rows.items() for family in families}
    found = [architectures.get(family) for family in families_of(soc, op.soc_rows)]
    return None if None in found else next(iter(found), None)


def _saying(op: Op, dtype: DType, ports: list[Input | Output], read: Callable[[Path], KernelSource]) -> str | None:
    """How a kernel of the op's names the type of a dtype that these ports have, or None."""
    for kernel in op.kernels:
        source = read(kernel.path)
        if dtype.kernel_type in kernel.defines or defines_name(source, str(dtype.kernel_type)):
            continue
        named = [port for name in placeholders(kernel.entry) for port in op.ports_of_dtype(name)]
        if any(port in ports for port in named) or re.search(rf"\b{dtype.kernel_type}\b", kernel.entry):
            return f"the entry {kernel.entry!r} is named with it"
        word = _word_in(source, [str(dtype.kernel_type), *(f"DTYPE_{port.name.upper()}" for port in ports)])
        if word is not None:
            return f"{kernel.relative} says {word}"
    return None


def _word_in(source: KernelSource, words: list[str]) -> str | None:
    code = "\n".join(_COMMENT.sub(" ", file.read_text(encoding="utf-8", errors="replace")) for file in source.files)
    if _TELLS_APART.search(code):
        return None
    return next((word for word in words if re.search(rf"\b{word}\b", code)), None)
