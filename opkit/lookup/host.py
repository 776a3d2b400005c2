"""Which `<os>/<arch>` GE searches: the one of the toolkit's scene.info, not the one of the computer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from opkit.layout import OS
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


def host_folder(toolkit: Toolkit | None) -> HostFolder:
    found: dict[str, str] = {}
    source = None if toolkit is None or toolkit.is_simulator else _scene(toolkit)
    if source is not None:
        found = _parsed(source.read_bytes().decode("utf-8", "surrogateescape"))
    return HostFolder(os=found.get("os") or OS, arch=found.get("arch") or host_arch(), source=source if found else None)


def package_folder(toolkit: Toolkit) -> Path:
    """What GE takes for the toolkit's folder: two above that of its library, whose links are resolved first."""
    library = toolkit.lib64 / "libgraph_base.so"
    return library.resolve().parent.parent.parent if is_there(library) else toolkit.home


def _scene(toolkit: Toolkit) -> Path | None:
    for name in _SCENES:
        path = package_folder(toolkit) / name
        try:
            with path.open("rb"):
                return path
        except OSError:
            continue
    return None


def _parsed(text: str) -> dict[str, str]:
    """`os` and `arch`; the last line of a key counts, and a space beside the '=' makes it another key."""
    found = {}
    for line in text.split("\n"):
        parts = line.strip(" \t\n\v\f\r").split("=")
        if len(parts) == _KEY_AND_VALUE and parts[0] in {"os", "arch"}:
            found[parts[0]] = parts[1]
    return found
