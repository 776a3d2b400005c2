"""The signature of a kernel entry, read from the Ascend C source: the one place that knows how kernel arguments lie in memory.

Device ABI: one struct, every member at the alignment of its type but at least 4, pointers at 8; its size is a multiple of the
largest alignment.
"""

from __future__ import annotations

import codecs
import enum
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

POINTER_BYTES = 8
LEAST_ALIGNMENT = 4


class ScalarType(enum.Enum):
    """C types of a scalar kernel parameter; the value is the fixed-width spelling that host code uses."""

    BOOL = "bool"
    I8 = "int8_t"
    I16 = "int16_t"
    I32 = "int32_t"
    I64 = "int64_t"
    U8 = "uint8_t"
    U16 = "uint16_t"
    U32 = "uint32_t"
    U64 = "uint64_t"
    F32 = "float"
    F64 = "double"

    @property
    def bytes(self) -> int:
        return _SCALAR_BYTES[self]

    @property
    def is_integer(self) -> bool:
        return self.value.endswith("_t")

    @property
    def is_float(self) -> bool:
        return self in {ScalarType.F32, ScalarType.F64}

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest integer; 0 and 1 for bool. Not for the two float types."""
        bits = 1 if self is ScalarType.BOOL else self.bytes * 8
        return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if self.value.startswith("int") else (0, 2**bits - 1)


_SCALAR_BYTES = {
    ScalarType.BOOL: 1,
    ScalarType.I8: 1,
    ScalarType.U8: 1,
    ScalarType.I16: 2,
    ScalarType.U16: 2,
    ScalarType.I32: 4,
    ScalarType.U32: 4,
    ScalarType.F32: 4,
    ScalarType.I64: 8,
    ScalarType.U64: 8,
    ScalarType.F64: 8,
}

# Spellings beside the fixed-width ones, for the LP64 targets that Ascend C compiles for.
_SPELLINGS = {
    **{scalar.value: scalar for scalar in ScalarType},
    "signed char": ScalarType.I8,
    "unsigned char": ScalarType.U8,
    "short": ScalarType.I16,
    "unsigned short": ScalarType.U16,
    "int": ScalarType.I32,
    "unsigned": ScalarType.U32,
    "unsigned int": ScalarType.U32,
    "long": ScalarType.I64,
    "unsigned long": ScalarType.U64,
    "long long": ScalarType.I64,
    "unsigned long long": ScalarType.U64,
    "size_t": ScalarType.U64,
}
_POINTER_NAMES = {"GM_ADDR"}


@attrs.frozen(kw_only=True)
class KernelParam:
    """`scalar` is None for a pointer. `offset` is in bytes from the start of the args struct. An unnamed parameter is `arg<index>`."""

    name: str
    c_type: str
    scalar: ScalarType | None
    offset: int
    bytes: int
    alignment: int
    line: int

    @property
    def is_pointer(self) -> bool:
        return self.scalar is None


@attrs.frozen(kw_only=True)
class KernelSignature:
    """`args_bytes` is the size of the args struct, its tail padding included. `file` is the kernel's, or a header's that it includes."""

    name: str
    params: tuple[KernelParam, ...]
    args_bytes: int
    file: Path
    line: int

    @property
    def place(self) -> str:
        return f"{self.file.name}:{self.line}"

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{param.c_type} {param.name}' for param in self.params)})"


class UnknownParamTypeError(ValueError):
    """A parameter whose size opkit can't know."""

    def __init__(self, c_type: str, name: str, line: int) -> None:
        super().__init__(f"parameter {name!r} has type {c_type!r}")
        self.line = line


def lay_out(name: str, params: list[tuple[str, str, int]], *, file: Path, line: int) -> KernelSignature:
    """Gives each parameter (C type, name, line) its place by the device ABI. Raises UnknownParamTypeError."""
    placed: list[KernelParam] = []
    end = 0
    largest = 1
    for index, (c_type, param_name, param_line) in enumerate(params):
        scalar = None if c_type.endswith("*") or c_type in _POINTER_NAMES else _SPELLINGS.get(c_type)
        if scalar is None and not c_type.endswith("*") and c_type not in _POINTER_NAMES:
            raise UnknownParamTypeError(c_type, param_name or f"arg{index}", param_line)
        size = POINTER_BYTES if scalar is None else scalar.bytes
        alignment = max(LEAST_ALIGNMENT, size)
        offset = -(-end // alignment) * alignment
        placed.append(
            KernelParam(
                name=param_name or f"arg{index}",
                c_type=c_type,
                scalar=scalar,
                offset=offset,
                bytes=size,
                alignment=alignment,
                line=param_line,
            )
        )
        end = offset + size
        largest = max(largest, alignment)
    return KernelSignature(name=name, params=tuple(placed), args_bytes=-(-end // largest) * largest, file=file, line=line)


@attrs.frozen(kw_only=True)
class FoundEntry:
    """A `__global__` function definition as it stands in a source, before any judgement."""

    name: str
    params: tuple[tuple[str, str, int], ...]
    is_extern_c: bool
    is_template: bool
    file: Path
    line: int


@attrs.frozen(kw_only=True)
class KernelSource:
    """What one kernel file and the headers beside it say. `files` are they, the kernel first; `integer_defaults` are the values of
    `#ifndef NAME` / `#define NAME <integer>` / `#endif`, which a define of the spec may replace.
    """

    files: tuple[Path, ...]
    entries: tuple[FoundEntry, ...]
    integer_defaults: dict[str, int]
    syntax_error_line: int | None


def read_kernel(path: Path) -> KernelSource:
    """Reads a kernel and every `"header"` that is found beside the file that includes it. Raises OSError."""
    files: list[Path] = []
    entries: list[FoundEntry] = []
    defaults: dict[str, int] = {}
    syntax_error_line = None
    pending = [path]
    while pending:
        file = pending.pop(0)
        if file in files:
            continue
        files.append(file)
        parsed = _Parsed(file)
        entries += parsed.entries()
        defaults = {**parsed.integer_defaults(), **defaults}
        if file == path:
            syntax_error_line = parsed.syntax_error_line()
        pending += [header for name in parsed.includes() if (header := Path(os.path.normpath(file.parent / name))).is_file()]
    return KernelSource(files=tuple(files), entries=tuple(entries), integer_defaults=defaults, syntax_error_line=syntax_error_line)


# The C++ grammar doesn't know Ascend C's qualifiers. Each is overwritten in place, so that no position changes: those of a function and
# of memory by blanks, `__global__` by a storage class, looked up by position afterwards, so that a comment can't be taken for an entry.
_QUALIFIER = re.compile(
    rb"\b__(?:aicore|host_aicore|gm|ubuf|cbuf|ca|cb|cc|fbuf|inline|vector|cube|simt_vf|simd_vf)__\b"
    rb"|\b__mix__\s*\([^()]*\)|\[\s*aicore\s*\]|\b__global__\b"
)
_ENTRY_MARK = b"static"


class _Parsed:
    def __init__(self, file: Path) -> None:
        import tree_sitter
        import tree_sitter_cpp

        raw = file.read_bytes().removeprefix(codecs.BOM_UTF8)
        self.file = file
        self.marks: set[int] = set()
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
        self.tree = parser.parse(_QUALIFIER.sub(self._overwrite, raw))

    def _overwrite(self, found: re.Match[bytes]) -> bytes:
        word = found.group()
        if word == b"__global__":
            self.marks.add(found.start())
            return _ENTRY_MARK.ljust(len(word))
        return re.sub(rb"[^\n]", b" ", word)

    def entries(self) -> Iterator[FoundEntry]:
        for node in _descendants(self.tree.root_node):
            if node.type == "function_definition" and any(
                child.type == "storage_class_specifier" and child.start_byte in self.marks for child in node.children
            ):
                entry = self._entry(node)
                if entry is not None:
                    yield entry

    def _entry(self, node: Node) -> FoundEntry | None:
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        name = None if declarator is None else declarator.child_by_field_name("declarator")
        params = None if declarator is None else declarator.child_by_field_name("parameters")
        if name is None or params is None:
            return None
        ancestors = list(_ancestors(node))
        return FoundEntry(
            name=_text(name),
            params=tuple(
                _param(child)
                for child in params.named_children
                if child.type in {"parameter_declaration", "optional_parameter_declaration"} and _text(child) != "void"
            ),
            is_extern_c=any(ancestor.type == "linkage_specification" and b'"C"' in (ancestor.text or b"")[:32] for ancestor in ancestors),
            is_template=any(ancestor.type == "template_declaration" for ancestor in ancestors),
            file=self.file,
            line=name.start_point[0] + 1,
        )

    def includes(self) -> Iterator[str]:
        for node in _descendants(self.tree.root_node):
            if node.type == "preproc_include":
                path = node.child_by_field_name("path")
                if path is not None and path.type == "string_literal":
                    yield _text(path).strip('"')

    def integer_defaults(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for node in _descendants(self.tree.root_node):
            if node.type != "preproc_ifdef" or not node.children or node.children[0].type != "#ifndef":
                continue
            guarded = node.child_by_field_name("name")
            for child in node.children:
                name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
                if child.type == "preproc_def" and guarded is not None and name is not None and value is not None:
                    literal = re.fullmatch(r"\(?\s*(\d+)[uUlL]*\s*\)?", _text(value).split("//")[0].split("/*")[0].strip())
                    if literal and name.text == guarded.text:
                        found[_text(name)] = int(literal[1])
        return found

    def syntax_error_line(self) -> int | None:
        for node in _descendants(self.tree.root_node):
            if node.is_error or node.is_missing:
                return node.start_point[0] + 1
        return None


def _param(node: Node) -> tuple[str, str, int]:
    """C type without `const` and `volatile`, name, line. A pointer's type ends in `*`, a reference's, which has no size here, in `&`."""
    type_node = node.child_by_field_name("type")
    declarator = node.child_by_field_name("declarator")
    c_type = " ".join(_text(type_node).split()) if type_node is not None else ""
    stars = ""
    while declarator is not None and declarator.type != "identifier":
        if declarator.type in {"pointer_declarator", "abstract_pointer_declarator", "array_declarator", "abstract_array_declarator"}:
            stars += "*"
        elif declarator.type in {"reference_declarator", "abstract_reference_declarator"}:
            return (f"{c_type}&", _text(declarator).lstrip("& "), node.start_point[0] + 1)
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (child for child in declarator.named_children if child.type.endswith("declarator") or child.type == "identifier"), None
            )
        declarator = inner
    c_type = _ordered(c_type)
    return (f"{c_type} {stars}" if stars else c_type, _text(declarator) if declarator is not None else "", node.start_point[0] + 1)


def _ordered(c_type: str) -> str:
    """One spelling for the many of C's integer types: `long unsigned int` is `unsigned long`."""
    words = c_type.removeprefix("std::").split()
    if not set(words) <= {"signed", "unsigned", "short", "long", "int", "char"}:
        return " ".join(words)
    sign = [word for word in ("signed", "unsigned") if word in words]
    size = [word for word in words if word in {"short", "long", "char"}]
    if sign == ["signed"] and "char" not in words:
        sign = []
    return " ".join((*sign, *(size or ["int"])))


def _descendants(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children))


def _ancestors(node: Node) -> Iterator[Node]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
