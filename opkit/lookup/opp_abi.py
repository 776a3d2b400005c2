"""Which packages of CANN's own kind GE takes: those of a version in the ranges that the toolkit asks for. Others are skipped silently."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from opkit.files import LARGEST_SETTINGS, content_of
from opkit.lookup.looking import is_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["AcceptedVersions", "accepted_versions"]

_REQUIRED = "required_opp_abi_version="
_OF_VENDOR = "compiler_version="
_OF_BUILT_IN = "Version="
# Packages of kernels alone are upgraded on their own.
_UNCHECKED = "opp_latest"
_DIGITS = 5
_LARGEST = 2**32


@attrs.frozen(kw_only=True)
class AcceptedVersions:
    """`ranges` is None if the text can't be read, upon which GE takes no package that says its version; without any it takes all."""

    text: str
    ranges: tuple[tuple[int, int], ...] | None

    def refusal(self, package: Path, *, is_built_in: bool = False) -> str | None:
        """Why GE skips the package, or None. `package` is the vendor's folder, or the one that holds `built-in`."""
        if _UNCHECKED in str(package) or self.ranges == ():
            return None
        told = _value(package / "version.info", _OF_BUILT_IN if is_built_in else _OF_VENDOR)
        if told is None:
            return None
        if self.ranges is None:
            return f"the toolkit's required_opp_abi_version={self.text} can't be read"
        for version in [told] if is_built_in else told.split(","):
            number = _number(version)
            if number is None or not any(low <= number <= high for low, high in self.ranges):
                return f"its version is {version}, and the toolkit takes {self.text}"
        return None


def accepted_versions(toolkit: Path) -> AcceptedVersions:
    """`toolkit` is what GE takes for its folder."""
    part = next((name for name in ("compiler", "runtime") if is_folder(toolkit / name)), None)
    told = None if part is None else _value(toolkit / part / "version.info", _REQUIRED)
    if told is None:
        return AcceptedVersions(text="", ranges=())
    text = told.replace('"', "").strip()
    try:
        return AcceptedVersions(text=text, ranges=tuple(_ranges([item.strip() for item in text.split(",")])))
    except ValueError:
        return AcceptedVersions(text=text, ranges=None)


def _ranges(items: list[str]) -> Iterator[tuple[int, int]]:
    """`>=6.3, <=6.4, 6.5`: a lower bound is followed by its upper one, anything else stands for itself."""
    rest = iter(items)
    for item in rest:
        if item.startswith(">="):
            upper = next(rest, "")
            if not upper.startswith("<="):
                raise ValueError(item)
            yield _required_number(item[2:]), _required_number(upper[2:])
        else:
            yield _required_number(item), _required_number(item)


def _required_number(version: str) -> int:
    number = _number(version)
    if number is None:
        raise ValueError(version)
    return number


def _number(version: str) -> int | None:
    """The first part and the second one, which is filled up to five digits: 6.3 is 6.30000, more than 6.25."""
    parts = version.split(".")
    joined = parts[0] + parts[1].ljust(_DIGITS, "0") if len(parts) > 1 else ""
    return int(joined) if re.fullmatch(r"\s*[0-9]+", joined) and int(joined) < _LARGEST else None


def _value(file: Path, key: str) -> str | None:
    """What stands behind the key in the first line that has it, wherever in the line that is."""
    try:
        lines = content_of(file, most=LARGEST_SETTINGS).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return None
    for line in (each.strip(" \t\v\f\r") for each in lines):
        if key in line and line != key:
            return line.partition(key)[2]
    return None
