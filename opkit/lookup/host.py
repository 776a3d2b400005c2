"""Which `<os>/<arch>` GE searches: the one of the toolkit's scene.info, not the one of the computer."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import attrs

from opkit.files import LARGEST_SETTINGS, content_of
from opkit.layout import OS, searched_folder
from opkit.lookup.looking import is_there
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from opkit.toolkit import Toolkit

__all__ = ["HostFolder", "host_folder"]

_SCENES = ("opp/scene.info", "runtime/scene.info")
_KEY_AND_VALUE = 2


@attrs.frozen(kw_only=True)
class HostFolder:
    """`source` is the file that says so, None where GE falls back to what it was compiled for."""

    os: str
    arch: str
    source: Path | None

    def __str__(self) -> str:
        return f"{self.os}/{self.arch}"

    @property
    def folder(self) -> PurePosixPath:
        """Relative to an OPP root."""
        return searched_folder(self.os, self.arch)


def host_folder(toolkit: Toolkit | None) -> HostFolder:
    source, text = (None, "") if toolkit is None or toolkit.is_simulator else _scene(toolkit)
    found = _parsed(text)
    return HostFolder(os=found.get("os") or OS, arch=found.get("arch") or host_arch(), source=source if found else None)


def package_folder(toolkit: Toolkit) -> Path:
    """What GE takes for the toolkit's folder: two above that of its library, whose links are resolved first."""
    library = own_library(toolkit)
    return toolkit.home if library is None else library.parent.parent.parent


def own_library(toolkit: Toolkit) -> Path | None:
    """GE finds its own folders from where this library really lies."""
    library = toolkit.lib64 / "libgraph_base.so"
    return library.resolve() if is_there(library) else None


def _scene(toolkit: Toolkit) -> tuple[Path | None, str]:
    """The first file that can be read, and what is in it."""
    for name in _SCENES:
        path = package_folder(toolkit) / name
        with suppress(OSError):
            return path, content_of(path, most=LARGEST_SETTINGS).decode("utf-8", "surrogateescape")
    return None, ""


def _parsed(text: str) -> dict[str, str]:
    """`os` and `arch`; the last line of a key counts, and a space beside the '=' makes it another key."""
    found = {}
    for line in text.split("\n"):
        parts = line.strip(" \t\n\v\f\r").split("=")
        if len(parts) == _KEY_AND_VALUE and parts[0] in {"os", "arch"}:
            found[parts[0]] = parts[1]
    return found
