"""Deliverables to install, and what a prefix holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from archive_support import MACHINES, elf
from manifest_support import signed

from opkit.deliverable import LIBRARY as _LIBRARY
from opkit.deliverable import MANIFEST, library_folder
from opkit.packaging import Source, install_all
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from opkit.deliverable import OppRoot
    from opkit.packaging import Installed

__all__ = ["HEADER", "KERNEL", "LIBRARY", "install", "library", "opp_root", "tree"]

LIBRARY = str(library_folder(host_arch()) / _LIBRARY)
KERNEL = str(library_folder(host_arch()) / "add.asc")
HEADER = "op_graph/include/add.h"


def library(text: str, *, ops: Iterable[str] = ("Add",)) -> bytes:
    """A library without code that registers `ops`, with a text that tells it from others."""
    return elf(MACHINES[host_arch()], ops=ops) + text.encode()


def opp_root(path: Path, files: Mapping[str, str], **manifest: Any) -> OppRoot:  # noqa: ANN401 - as `signed` takes them
    """A deliverable with these files and no others."""
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(library(text, ops=manifest.get("ops", ("Add",))) if name.endswith(".so") else text.encode())
    return signed(path, files, **manifest)


def install(source: OppRoot, prefix: Path) -> Installed:
    (change,) = install_all([Source.of(source)], prefix)
    return change.installed


def tree(folder: Path) -> dict[str, str]:
    """The files below a folder, or below what a link names, without the manifest; of a library its text."""
    return {
        str(path.relative_to(folder)): _text_of(path.read_bytes())
        for path in sorted(folder.glob("**/*"))
        if path.is_file() and path.name != MANIFEST
    }


def _text_of(content: bytes) -> str:
    size = int.from_bytes(content[40:48], "little") if content.startswith(b"\x7fELF") else 0
    return content[size:].decode()
