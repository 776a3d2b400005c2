"""Which SoC a name in a spec stands for: what differs by SoC is told by what the names of SoCs begin with, and case counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from opkit.spec.problems import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["DEFAULT_SOC", "entry_of_soc", "families_of", "is_soc", "likely_soc"]

DEFAULT_SOC = "default"
"""Stands for every SoC that no name stands for."""

# What the names of SoCs are, up to the digits that tell models apart: those that the runtime of CANN gives (runtime.cc), and those of its
# platform files, of release 8.5.0 and of its master branch.
_FAMILIES = (
    "Ascend031",
    "Ascend035",
    "Ascend035A",
    "Ascend035B",
    "Ascend310",
    "Ascend310B",
    "Ascend310P",
    "Ascend350",
    "Ascend610",
    "Ascend610Lite",
    "Ascend910A",
    "Ascend910B",
    "Ascend910PremiumA",
    "Ascend910ProA",
    "Ascend910ProB",
    "Ascend910_55",
    "Ascend910_93",
    "Ascend910_95",
    "Ascend950DT",
    "Ascend950PR",
    "BS9SX1AA",
    "BS9SX1AB",
    "BS9SX1AC",
    "BS9SX2AB",
    "Kirin9030",
    "KirinDev",
    "KirinX90",
)

_Entry = TypeVar("_Entry")


def entry_of_soc(entries: Mapping[str, _Entry], soc: str) -> _Entry | None:
    """That of the longest name that `soc` begins with, else the default, as the generated code finds its rows."""
    names = [name for name in entries if name != DEFAULT_SOC and soc.startswith(name)]
    return entries.get(max(names, key=len) if names else DEFAULT_SOC)


def families_of(name: str, others: Iterable[str]) -> tuple[str, ...]:
    """The known families that a name stands for, if a spec tells SoCs apart by it and by `others`; none for the default."""
    longer = [other for other in others if other != name and other.startswith(name)]
    return tuple(
        family
        for family in _FAMILIES
        if (family.startswith(name) or _is_model(name, family)) and not any(family.startswith(other) for other in longer)
    )


def is_soc(name: str) -> bool:
    """Whether the name of a SoC may begin so, of a new model of a known family too."""
    return name == DEFAULT_SOC or any(family.startswith(name) or _is_model(name, family) for family in _FAMILIES)


def likely_soc(name: str) -> str | None:
    """What is meant by a name that is none: the same in another case, else the nearest family."""
    folded = name.casefold()
    for family in sorted(_FAMILIES, key=len, reverse=True):
        if family.casefold().startswith(folded):
            return family[: len(name)]
        model = family + name[len(family) :].upper()
        if folded.startswith(family.casefold()) and is_soc(model):
            return model
    return nearest(name, (*_FAMILIES, DEFAULT_SOC), cutoff=0.5)


def _is_model(name: str, family: str) -> bool:
    rest = name.removeprefix(family)
    return name.startswith(family) and (rest == "" or rest[0].isdigit() or rest[0] in "_-")
