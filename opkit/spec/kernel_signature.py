"""The signature of a kernel entry, read from the Ascend C source: the one place that knows how kernel arguments lie in memory.

Device ABI: one struct, every member at the alignment of its type but at least 4, pointers at 8; its size is a multiple of the
largest alignment.
"""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from opkit.spec.kernel_structs import FoundStruct, KernelStruct, read_constants, read_structs
from opkit.spec.scalars import ScalarType, ordered, scalar_of
from opkit.spec.source_tree import ancestors, descendants, namespaces, parse_cpp, text_of_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

POINTER_BYTES = 8
LEAST_ALIGNMENT = 4


_POINTER_NAMES = {"GM_ADDR"}


@attrs.frozen(kw_only=True)
class KernelParam:
    """A pointer, a `scalar` or a `struct` by value. `offset` is in bytes from the start of the args struct. An unnamed parameter is
    `arg<index>`.
    """

    name: str
    c_type: str
    scalar: ScalarType | None
    struct: KernelStruct | None = None
    offset: int
    bytes: int
    alignment: int
    line: int

    @property
    def is_pointer(self) -> bool:
        return self.scalar is None and self.struct is None


@attrs.frozen(kw_only=True)
class KernelSignature:
    """`args_bytes` is the size of the args struct, its tail padding included. `file` is the kernel's, or a header's that it includes."""

    name: str
    params: tuple[KernelParam, ...]
    args_bytes: int
    file: Path
    line: int

    @property
    def function(self) -> str:
        """The name without the namespaces that it is in."""
        return self.name.rpartition("::")[2]

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


def is_pointer(c_type: str) -> bool:
    return c_type.endswith("*") or c_type in _POINTER_NAMES


def lay_out(
    name: str, params: list[tuple[str, str, int]], *, file: Path, line: int, structs: Mapping[str, KernelStruct] | None = None
) -> KernelSignature:
    """Gives each parameter (C type, name, line) its place by the device ABI; `structs` has those that a C type may name. Raises
    UnknownParamTypeError.
    """
    placed: list[KernelParam] = []
    end = 0
    largest = 1
    for index, (c_type, param_name, param_line) in enumerate(params):
        scalar = None if is_pointer(c_type) else scalar_of(c_type)
        struct = None if structs is None else structs.get(c_type)
        if scalar is None and struct is None and not is_pointer(c_type):
            raise UnknownParamTypeError(c_type, param_name or f"arg{index}", param_line)
        size = struct.bytes if struct is not None else POINTER_BYTES if scalar is None else scalar.bytes
        alignment = max(LEAST_ALIGNMENT, size if struct is None else struct.alignment)
        offset = -(-end // alignment) * alignment
        placed.append(
            KernelParam(
                name=param_name or f"arg{index}",
                c_type=c_type,
                scalar=scalar,
                struct=struct,
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
class TemplateParams:
    """The parameters of a template: the `names` of its types, and how many arguments it takes; `most` is None if one of them is a pack."""

    names: tuple[str, ...]
    form: str
    """Its arguments as a spec may write them, the types in braces: `{T}, …`."""
    least: int
    most: int | None


@attrs.frozen(kw_only=True)
class FoundEntry:
    """A `__global__` function definition as it stands in a source, before any judgement."""

    name: str
    params: tuple[tuple[str, str, int], ...]
    is_extern_c: bool
    template: TemplateParams | None
    namespaces: tuple[str, ...]
    """From the outside in; `""` for one without a name."""
    core_words: tuple[str, ...]
    """What it says of the cores that it runs on: the qualifiers `__vector__`, `__cube__`, `__mix__` and words `KERNEL_TYPE_…`."""
    file: Path
    line: int

    @property
    def qualified(self) -> str:
        return "::".join((*filter(None, self.namespaces), self.name))


@attrs.frozen(kw_only=True)
class KernelSource:
    """What one kernel file and the headers beside it say. `files` are they, the kernel first; `integer_defaults` are the values of
    `#ifndef NAME` / `#define NAME <integer>` / `#endif`, which a define of the spec may replace.
    """

    files: tuple[Path, ...]
    entries: tuple[FoundEntry, ...]
    structs: tuple[FoundStruct, ...]
    constants: dict[str, int]
    """Integers by the names that the sources give them, of those that have one value."""
    integer_defaults: dict[str, int]
    syntax_error_line: int | None


def read_kernel(path: Path) -> KernelSource:
    """Reads a kernel and every `"header"` that is found beside the file that includes it. Raises OSError."""
    files: list[Path] = []
    entries: list[FoundEntry] = []
    structs: list[FoundStruct] = []
    constants: dict[str, set[int]] = {}
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
        structs += read_structs(parsed.root, file)
        for name, value in read_constants(parsed.root):
            constants.setdefault(name, set()).add(value)
        defaults = {**parsed.integer_defaults(), **defaults}
        if file == path:
            syntax_error_line = parsed.syntax_error_line()
        pending += [header for name in parsed.includes() if (header := Path(os.path.normpath(file.parent / name))).is_file()]
    return KernelSource(
        files=tuple(files),
        entries=tuple(entries),
        structs=tuple(structs),
        constants={name: values.pop() for name, values in constants.items() if len(values) == 1},
        integer_defaults=defaults,
        syntax_error_line=syntax_error_line,
    )


# The C++ grammar doesn't know Ascend C's qualifiers. Each is overwritten in place, so that no position changes: those of a function and
# of memory by blanks, `__global__` by a storage class, looked up by position afterwards, so that a comment can't be taken for an entry.
_QUALIFIER = re.compile(
    rb"\b__(?:aicore|host_aicore|gm|ubuf|cbuf|ca|cb|cc|fbuf|inline|vector|cube|simt_vf|simd_vf)__\b"
    rb"|\b__mix__\s*\([^()]*\)|\[\s*aicore\s*\]|\b__global__\b"
)
_ENTRY_MARK = b"static"


class _Parsed:
    def __init__(self, file: Path) -> None:
        raw = file.read_bytes().removeprefix(codecs.BOM_UTF8)
        self.file = file
        self.marks: set[int] = set()
        self.core_marks: dict[int, str] = {}
        self.root = parse_cpp(_QUALIFIER.sub(self._overwrite, raw))

    def _overwrite(self, found: re.Match[bytes]) -> bytes:
        word = found.group()
        if word == b"__global__":
            self.marks.add(found.start())
            return _ENTRY_MARK.ljust(len(word))
        if (core := re.match(rb"__(?:vector|cube|mix)__", word)) is not None:
            self.core_marks[found.start()] = core.group().decode()
        return re.sub(rb"[^\n]", b" ", word)

    def entries(self) -> Iterator[FoundEntry]:
        for node in descendants(self.root):
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
        around = list(ancestors(node))
        return FoundEntry(
            name=text_of_node(name),
            params=tuple(
                _param(child)
                for child in params.named_children
                if child.type in {"parameter_declaration", "optional_parameter_declaration"} and text_of_node(child) != "void"
            ),
            is_extern_c=any(ancestor.type == "linkage_specification" and b'"C"' in (ancestor.text or b"")[:32] for ancestor in around),
            template=next((_template_params(ancestor) for ancestor in around if ancestor.type == "template_declaration"), None),
            namespaces=namespaces(node),
            core_words=tuple(self._core_words(node)),
            file=self.file,
            line=name.start_point[0] + 1,
        )

    def _core_words(self, node: Node) -> Iterator[str]:
        body = node.child_by_field_name("body")
        head = range(node.start_byte, node.end_byte if body is None else body.start_byte)
        yield from (word for at, word in self.core_marks.items() if at in head)
        for inner in descendants(node):
            if inner.type in {"identifier", "type_identifier"} and text_of_node(inner).startswith("KERNEL_TYPE_"):
                yield text_of_node(inner)

    def includes(self) -> Iterator[str]:
        for node in descendants(self.root):
            if node.type == "preproc_include":
                path = node.child_by_field_name("path")
                if path is not None and path.type == "string_literal":
                    yield text_of_node(path).strip('"')

    def integer_defaults(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for node in descendants(self.root):
            if node.type != "preproc_ifdef" or not node.children or node.children[0].type != "#ifndef":
                continue
            guarded = node.child_by_field_name("name")
            for child in node.children:
                name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
                if child.type == "preproc_def" and guarded is not None and name is not None and value is not None:
                    literal = re.fullmatch(r"\(?\s*(\d{1,20})[uUlL]*\s*\)?", text_of_node(value).split("//")[0].split("/*")[0].strip())
                    if literal and name.text == guarded.text:
                        found[text_of_node(name)] = int(literal[1])
        return found

    def syntax_error_line(self) -> int | None:
        for node in descendants(self.root):
            if node.is_error or node.is_missing:
                return node.start_point[0] + 1
        return None


_TYPE_PARAMETERS = {"type_parameter_declaration", "optional_type_parameter_declaration", "variadic_type_parameter_declaration"}


def _template_params(node: Node) -> TemplateParams:
    params = node.child_by_field_name("parameters")
    declared = [] if params is None else [child for child in params.named_children if child.type != "comment"]
    packs = [child for child in declared if child.type.startswith("variadic")]
    required = [child for child in declared if not child.type.startswith(("optional", "variadic"))]
    found = (next((each for each in descendants(child) if each.type == "type_identifier"), None) for child in declared)
    names = {
        child.id: text_of_node(name)
        for child, name in zip(declared, found, strict=True)
        if name is not None and child.type in _TYPE_PARAMETERS
    }
    return TemplateParams(
        names=tuple(names.values()),
        form=", ".join(f"{{{names[child.id]}}}" if child.id in names else "…" for child in required or declared),
        least=len(required),
        most=None if packs else len(declared),
    )


def _param(node: Node) -> tuple[str, str, int]:
    """C type without `const` and `volatile`, name, line. A pointer's type ends in `*`, a reference's, which has no size here, in `&`."""
    type_node = node.child_by_field_name("type")
    declarator = node.child_by_field_name("declarator")
    c_type = " ".join(text_of_node(type_node).split()) if type_node is not None else ""
    stars = ""
    while declarator is not None and declarator.type != "identifier":
        if declarator.type in {"pointer_declarator", "abstract_pointer_declarator", "array_declarator", "abstract_array_declarator"}:
            stars += "*"
        elif declarator.type in {"reference_declarator", "abstract_reference_declarator"}:
            return (f"{c_type}&", text_of_node(declarator).lstrip("& "), node.start_point[0] + 1)
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (child for child in declarator.named_children if child.type.endswith("declarator") or child.type == "identifier"), None
            )
        declarator = inner
    c_type = ordered(c_type)
    return (f"{c_type} {stars}" if stars else c_type, text_of_node(declarator) if declarator is not None else "", node.start_point[0] + 1)
