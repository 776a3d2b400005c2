"""Structs that a kernel takes by value, read from its source: scalars and arrays of a fixed length, laid out as a C++ compiler does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from opkit.spec.scalars import ScalarType, ordered, scalar_of
from opkit.spec.source_tree import ancestors, descendants, line_of, namespaces, text_of_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tree_sitter import Node

__all__ = ["FoundStruct", "KernelStruct", "StructField", "UnfitStructError", "lay_out_struct", "read_constants", "read_structs"]


@attrs.frozen(kw_only=True)
class StructField:
    """`length` is None for a scalar, else the number of elements of an array of it. `offset` is in bytes from the start of the struct."""

    name: str
    c_type: str
    scalar: ScalarType
    length: int | None
    offset: int
    line: int


@attrs.frozen(kw_only=True)
class KernelStruct:
    """`name` is qualified by the namespaces that it is defined in. `file` is the kernel's, or a header's that it includes."""

    name: str
    fields: tuple[StructField, ...]
    bytes: int
    alignment: int
    file: Path
    line: int

    @property
    def plain_name(self) -> str:
        return self.name.rpartition("::")[2]

    @property
    def place(self) -> str:
        return f"{self.file.name}:{self.line}"


@attrs.frozen(kw_only=True)
class FoundMember:
    """A member as it is written; `length` is the text between the brackets of an array."""

    name: str
    c_type: str
    length: str | None
    line: int


@attrs.frozen(kw_only=True)
class FoundStruct:
    """A definition as it stands in a source. If `unfit` is a text, it says what keeps opkit from passing the struct."""

    name: str
    members: tuple[FoundMember, ...]
    unfit: str | None
    file: Path
    line: int


class UnfitStructError(ValueError):
    """A struct that opkit can't pass; the text says why."""


def lay_out_struct(found: FoundStruct, constants: Mapping[str, int]) -> KernelStruct:
    """Gives each member its place by C++'s own rules; `constants` has what the length of an array may be named by. Raises
    UnfitStructError.
    """
    if found.unfit is not None:
        raise UnfitStructError(found.unfit)
    fields: list[StructField] = []
    end = 0
    alignment = 1
    for member in found.members:
        scalar = scalar_of(member.c_type)
        if scalar is None:
            msg = f"`{member.c_type} {member.name}` at {found.file.name}:{member.line} is no scalar and no array of one"
            raise UnfitStructError(msg)
        length = None if member.length is None else _length(member, constants, found.file)
        offset = -(-end // scalar.bytes) * scalar.bytes
        fields.append(StructField(name=member.name, c_type=member.c_type, scalar=scalar, length=length, offset=offset, line=member.line))
        end = offset + scalar.bytes * (1 if length is None else length)
        alignment = max(alignment, scalar.bytes)
    if not fields:
        msg = f"{found.file.name}:{found.line} has no members"
        raise UnfitStructError(msg)
    return KernelStruct(
        name=found.name,
        fields=tuple(fields),
        bytes=-(-end // alignment) * alignment,
        alignment=alignment,
        file=found.file,
        line=found.line,
    )


def _length(member: FoundMember, constants: Mapping[str, int], file: Path) -> int:
    text = member.length or ""
    length = _integer(text) if _integer(text) is not None else constants.get(text.rpartition("::")[2])
    if length is None or length < 1:
        msg = f"opkit can't tell the length of {member.name}[{text}] at {file.name}:{member.line}"
        raise UnfitStructError(msg)
    return length


def _integer(text: str) -> int | None:
    found = re.fullmatch(r"\(?\s*(0[xX][0-9a-fA-F]{1,16}|[1-9]\d{0,19}|0)[uUlL]*\s*\)?", text.strip())
    return None if found is None else int(found[1], 0)


# What a struct may hold besides members: nothing of it takes place.
_WITHOUT_BYTES = {"comment", "static_assert_declaration", "alias_declaration", "using_declaration", "type_definition", ";"}
_NAMESPACE_SCOPE = {
    "translation_unit",
    "namespace_definition",
    "declaration_list",
    "linkage_specification",
    "template_declaration",
    "declaration",
    "type_definition",
}


def read_structs(root: Node, file: Path) -> Iterator[FoundStruct]:
    """The structs and the like that are defined outside functions and other structs, C's `typedef struct {…} Name;` among them."""
    for node in descendants(root):
        if node.type in {"struct_specifier", "class_specifier", "union_specifier"}:
            body = node.child_by_field_name("body")
            members: list[FoundMember] = []
            unfit = None if body is None else _unfit(node, body, root, file, members)
            names = [] if body is None else _names_of(node)
        elif node.type in {"type_definition", "alias_declaration"}:
            aliased = node.child_by_field_name("type")
            if aliased is None or aliased.child_by_field_name("body") is not None:
                continue
            members = []
            unfit = f"{file.name}:{line_of(node)} is another name of {text_of_node(aliased)}"
            names = _names_of(node)
        else:
            continue
        around = [ancestor.type for ancestor in ancestors(node)]
        if all(kind in _NAMESPACE_SCOPE or kind.startswith("preproc_") for kind in around):
            scope = [part for part in namespaces(node) if part]
            for name in names:
                yield FoundStruct(name="::".join((*scope, name)), members=tuple(members), unfit=unfit, file=file, line=line_of(node))


def _names_of(node: Node) -> list[str]:
    names = [node.child_by_field_name("name")]
    definition = node.parent if node.parent is not None and node.parent.type == "type_definition" else node
    if definition.type == "type_definition":
        names += [child for child in definition.children_by_field_name("declarator") if child.type == "type_identifier"]
    return [text_of_node(name) for name in names if name is not None]


def _unfit(node: Node, body: Node, root: Node, file: Path, members: list[FoundMember]) -> str | None:
    """Fills `members`; gives the reason if something else is in the struct."""
    unfit = _unfit_head(node)
    if unfit is not None:
        return f"{file.name}:{line_of(node)} {unfit}"
    packed = _packed_before(node, root)
    if packed is not None:
        return f"{file.name}:{packed} packs it"
    for child in body.named_children:
        if child.type in _WITHOUT_BYTES or (child.type == "access_specifier" and text_of_node(child).startswith("public")):
            continue
        if child.type == "field_declaration" and _read_member(child, members):
            continue
        shown = " ".join(text_of_node(child).split("{")[0].split()).rstrip(";")
        return f"`{shown}` at {file.name}:{line_of(child)} is no scalar and no array of one"
    return None


def _unfit_head(node: Node) -> str | None:
    if node.type != "struct_specifier":
        return f"is a {node.type.removesuffix('_specifier')}, and opkit passes structs"
    if any(ancestor.type == "template_declaration" for ancestor in ancestors(node)):
        return "is a template"
    for child in node.children:
        if child.type == "base_class_clause":
            return "has a base"
        if child.type in _LAYOUT_WORDS:
            return f"has {text_of_node(child)}, which changes its layout"
    return None


def _packed_before(node: Node, root: Node) -> int | None:
    """The line of the `#pragma pack` before a struct that puts members closer than they would lie, if there is one in force."""
    line = None
    for other in descendants(root):
        if other.start_byte >= node.start_byte:
            break
        if other.type == "preproc_call" and (found := re.match(r"\s*#\s*pragma\s+pack\s*\(([^)]*)\)", text_of_node(other))):
            bytes_ = re.search(r"\d+", found[1])
            line = line_of(other) if bytes_ is not None and int(bytes_[0]) < 8 else None
    return line


def _read_member(node: Node, members: list[FoundMember]) -> bool:
    """Adds the members of one declaration; False if one of them is neither scalar nor array of scalars."""
    words = {text_of_node(child) for child in node.children if child.type in {"storage_class_specifier", "type_qualifier"}}
    type_node = node.child_by_field_name("type")
    if "static" in words:
        return True
    if words or type_node is None or any(child.type in _LAYOUT_WORDS for child in node.children):
        return False
    c_type = ordered(" ".join(text_of_node(type_node).split()))
    declarators = node.children_by_field_name("declarator")
    for declarator in declarators:
        length = None
        name = declarator
        if declarator.type == "array_declarator":
            inner, size = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("size")
            if inner is None or size is None:
                return False
            name, length = inner, "".join(text_of_node(size).split())
        if name.type != "field_identifier":
            return False
        members.append(FoundMember(name=text_of_node(name), c_type=c_type, length=length, line=line_of(name)))
    return bool(declarators)


_LAYOUT_WORDS = {"bitfield_clause", "attribute_specifier", "attribute_declaration", "alignas_qualifier", "ms_declspec_modifier", "ERROR"}


def read_constants(root: Node) -> Iterator[tuple[str, int]]:
    """`#define NAME 8` and `constexpr int NAME = 8;`: the names that an array's length may have."""
    for node in descendants(root):
        if node.type == "preproc_def":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            text = "" if value is None else text_of_node(value).split("//")[0].split("/*")[0]
        elif (
            node.type == "init_declarator"
            and node.parent is not None
            and re.match(r"(?:\w+\s+)*(?:constexpr|const)\b", text_of_node(node.parent))
        ):
            name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
            text = "" if value is None else text_of_node(value).strip("{} ")
        else:
            continue
        number = _integer(text)
        if name is not None and number is not None:
            yield text_of_node(name), number
