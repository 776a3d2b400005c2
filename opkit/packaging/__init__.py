"""From a built OPP root to where it is used."""

from __future__ import annotations

from opkit.packaging.prefix import install

__all__ = ["install"]
