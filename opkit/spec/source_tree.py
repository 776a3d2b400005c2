"""The syntax tree of a kernel's source, or of a header of the user's, and walking over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

__all__ = ["ancestors", "descendants", "line_of", "namespaces", "parse_cpp", "text_of_node"]


def parse_cpp(code: bytes) -> Node:
    """The root of the tree; what isn't understood is in it as errors."""
    import tree_sitter
    import tree_sitter_cpp

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language())).parse(code).root_node


def descendants(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children))


def ancestors(node: Node) -> Iterator[Node]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def namespaces(node: Node) -> tuple[str, ...]:
    """The names of the namespaces around a node, from the outside in; `""` for one without a name."""
    names: list[str] = []
    for ancestor in ancestors(node):
        if ancestor.type == "namespace_definition":
            name = ancestor.child_by_field_name("name")
            names[:0] = ["".join(part.split()) for part in text_of_node(name).split("::")] if name is not None else [""]
    return tuple(names)


def text_of_node(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def line_of(node: Node) -> int:
    return node.start_point[0] + 1
