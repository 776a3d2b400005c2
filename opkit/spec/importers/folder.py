"""Prototypes and kernels from a folder that holds a hand-written custom op: a header with REG_OP, a class for GE, an Ascend C kernel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.errors import ForeignFileError
from opkit.spec.importers.prototype import Brought, KernelFile, Prototype
from opkit.spec.importers.reg_op import read_header
from opkit.spec.importers.tokens import Kind, Source
from opkit.spec.kernel_signature import read_kernel
from opkit.spec.model import Compile, Refresh
from opkit.spec.resolve_capabilities import Capabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["read_folder"]

_HEADERS = {".h", ".hpp", ".hh"}
_SOURCES = {".cpp", ".cc", ".cxx"}
_KERNELS = {".asc", *_SOURCES}
# GE's classes of which an op is one of these, and how addresses are refreshed; GE asks for them in this order.
_REFRESH = {"ArgsUpdater": Refresh.UPDATER, "AnnotatedArgsOp": Refresh.ANNOTATED, "EagerExecuteOp": Refresh.NONE}
_LAUNCHING = {"AnnotatedArgsOp", "EagerExecuteOp"}
_SKIPPED = {"build", "output", "node_modules", "__pycache__"}
_MOST_FILES = 2000


def read_folder(folder: Path, read_text: Callable[[Path], str]) -> Brought:
    """What the C++ files below a folder say. Raises ForeignFileError if no file has a prototype, or two have one of the same op."""
    root = folder.resolve()
    files = list(_files(root))
    texts = {path: read_text(path) for path in files}
    prototypes: list[Prototype] = []
    headers: list[Path] = []
    for path, text in sorted(texts.items(), key=lambda item: (item[0].suffix not in _HEADERS, item[0])):
        found = read_header(path, text) if "REG_OP" in text else ()
        prototypes += found
        if found:
            headers.append(path)
    if not prototypes:
        msg = f"no file below {folder} has a REG_OP(…)"
        because = f"it has {len(files)} C++ files" if files else "it has no C++ files"
        raise ForeignFileError(msg, because=because, help="name the header that has it")
    is_one_header = len(headers) == 1 and headers[0].suffix == ".h"
    return Brought(
        origin=folder.resolve().name,
        prototypes=tuple(prototypes),
        header=headers[0].name if is_one_header else None,
        kernels=tuple(_kernels(root, texts)),
        capabilities=_capabilities(prototypes, texts),
    )


def _files(root: Path) -> Iterator[Path]:
    count = 0
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names):
            path = Path(place, name)
            if path.suffix in _HEADERS | _KERNELS and path.is_file():
                count += 1
                if count > _MOST_FILES:
                    msg = f"{root} has more than {_MOST_FILES} C++ files"
                    raise ForeignFileError(msg, help="name the folder of one operator, or its header")
                yield path


def _kernels(root: Path, texts: dict[Path, str]) -> Iterator[KernelFile]:
    candidates = [path for path, text in texts.items() if path.suffix in _KERNELS and "__global__" in text]
    sources = {path: source for path in candidates if (source := read_kernel(path)).entries}
    for path, source in sources.items():
        outside = [file for file in source.files if not file.resolve().is_relative_to(root)]
        if outside:
            msg = f"the kernel {path.name} includes a file from outside {root}"
            raise ForeignFileError(msg, where=path.name, because=str(outside[0]))
    if not sources:
        return
    # One for all of them: two kernels of one name in two folders keep their folders.
    base = Path(os.path.commonpath([file.parent for source in sources.values() for file in source.files]))
    for path, source in sources.items():
        yield KernelFile(
            root=base,
            path=path.relative_to(base).as_posix(),
            files=tuple(file.relative_to(base).as_posix() for file in source.files),
            entries=tuple({entry.qualified: entry for entry in source.entries}.values()),
        )


def _capabilities(prototypes: list[Prototype], texts: dict[Path, str]) -> dict[str, Capabilities]:
    """What the base classes of `class AddCustom : public EagerExecuteOp, public ArgsUpdater` say, for the ops that have such a class."""
    types = {prototype.type for prototype in prototypes}
    found: dict[str, Capabilities] = {}
    for path, text in texts.items():
        if path.suffix not in _SOURCES or not any(base in text for base in _LAUNCHING):
            continue
        for name, bases in _classes(Source(path, text)):
            if name in types and bases & _LAUNCHING:
                refresh = _REFRESH[next((base for base in _REFRESH if base in bases), "EagerExecuteOp")]
                is_portable = "PortableOp" in bases
                # However such a class comes by its binaries, it has them before a graph is loaded.
                is_compiled = "CompilableOp" in bases or is_portable or refresh is Refresh.ANNOTATED
                compiled = Compile.GRAPH if is_compiled else Compile.LOAD
                found[name] = Capabilities(refresh=refresh, compile=compiled, is_portable=is_portable)
    return found


def _classes(source: Source) -> Iterator[tuple[str, set[str]]]:
    tokens = source.tokens
    for index, token in enumerate(tokens[:-2]):
        if token.text not in {"class", "struct"} or tokens[index + 1].kind is not Kind.NAME:
            continue
        colon = index + 2 + (tokens[index + 2].text == "final")
        if colon < len(tokens) and tokens[colon].text == ":":
            body = next((end for end in range(colon, len(tokens)) if tokens[end].text in {"{", ";"}), len(tokens))
            yield tokens[index + 1].text, {each.text for each in tokens[colon:body] if each.kind is Kind.NAME}
