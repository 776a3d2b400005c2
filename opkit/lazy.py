"""Names of a package that load on first use: a command pays for the modules that it needs, and for no others."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["load"]


def load(name: str, package: str, modules: Mapping[str, Collection[str]]) -> object:
    """What `__getattr__` of `package` gives; `modules` says which names each module below it has.

    Raises AttributeError for any other name, as Python does.
    """
    module = next((module for module, names in modules.items() if name in names), None)
    if module is None:
        msg = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(f"{package}.{module}"), name)
