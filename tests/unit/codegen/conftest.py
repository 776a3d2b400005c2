"""Fixtures of this folder."""

from __future__ import annotations

from package_support import package_of

__all__ = ["package_of"]
