"""`cpp(header, function)`: a C++ function of the user's own, in a header that opkit includes and never writes."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import attrs

from opkit.files import LARGEST_TEXT, content_of
from opkit.spec.fields import shown
from opkit.spec.location import Spot
from opkit.spec.problems import Problems, Rule
from opkit.spec.source_tree import descendants, parse_cpp, text_of_node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opkit.spec import declare

__all__ = ["UserFunction", "find_user_function", "why_no_file", "with_included"]

_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*")
_HEADER = re.compile(r"[\w+@-][\w.+@-]*(/[\w+@-][\w.+@-]*)*\.h(pp)?", re.ASCII)
# What opkit writes and removes as it likes.
_OWN_FOLDERS = ("ge/utils", "session_run", "build", "output", ".opkit", "cmake")


@attrs.frozen(kw_only=True)
class UserFunction:
    """`relative` is the header as the spec names it, from the project's folder; `function` may be qualified."""

    path: Path
    relative: str
    function: str


def find_user_function(  # noqa: PLR0913 - what the messages about it have to say
    phrase: declare.Phrase, root: Path, *, role: str, parameters: str, example: str, problems: Problems
) -> UserFunction | None:
    """The function of a `cpp(…)`; None after reporting what is wrong. `role` says what it is to be for the reader."""
    where = Spot(call=phrase.call)
    if len(phrase.operands) != 2 or not all(isinstance(operand, str) for operand in phrase.operands):
        problems.add(Rule.CPP, "cpp takes the path of a header and the name of a function", where, advice=f"write {example}")
        return None
    header, function = map(str, phrase.operands)
    if not _FUNCTION.fullmatch(function):
        problems.add(Rule.CPP, f"{shown(function)} is no name of a C++ function", where)
        return None
    path = root / header
    because = advice = None
    if not _HEADER.fullmatch(header) or ".." in PurePosixPath(header).parts:
        because = "it must be a path below the project that ends in .h or .hpp"
    elif _is_opkit_s(header):
        because, advice = "opkit writes that file or folder itself", "put it into ge/user"
    elif (because := why_no_file(path)) is None:
        if not path.resolve().is_relative_to(root.resolve()):
            because = f"{path.resolve()} isn't below the project, so a copy of the project wouldn't have it"
    else:
        advice = f"opkit never writes it: give it `bool {function}({parameters})`"
    if because is not None:
        problems.add(Rule.CPP, f"{shown(header)} can't hold {role}", where, because=because, advice=advice)
        return None
    try:
        text = content_of(path, most=LARGEST_TEXT).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.add(Rule.CPP, f"{header!r} can't be read", where, because=str(error))
        return None
    if not _has_function(text, function.rpartition("::")[2]):
        advice = f"define `inline bool {function}({parameters})`"
        problems.add(Rule.CPP, f"{header} has no function {function!r}", where, advice=advice)
        return None
    return UserFunction(path=path, relative=header, function=function)


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def with_included(headers: Iterable[Path], root: Path) -> tuple[Path, ...]:
    """Headers of the user's and those below `root` that they include with quotes, directly or not, without what opkit writes itself."""
    found: list[Path] = []
    pending = list(headers)
    while pending:
        file = pending.pop(0)
        if file in found:
            continue
        found.append(file)
        for name in _INCLUDE.findall(file.read_text(encoding="utf-8", errors="replace")):
            other = Path(os.path.normpath(file.parent / name))
            if other.is_relative_to(root) and other.is_file() and not _is_opkit_s(other.relative_to(root).as_posix()):
                pending.append(other)
    return tuple(found)


def _is_opkit_s(header: str) -> bool:
    path = PurePosixPath(header)
    return path.parent == PurePosixPath("ge") or any(path.is_relative_to(folder) for folder in _OWN_FOLDERS)


def why_no_file(path: Path) -> str | None:
    """Why there is no file of this path, or None if there is."""
    try:
        if path.is_file():
            return None
        return f"{path} is no file" if path.exists() else f"{path} doesn't exist"
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, until Python 3.12
        return error.strerror if isinstance(error, OSError) else str(error)


def _has_function(text: str, name: str) -> bool:
    """Whether the name stands before an opening bracket, outside of comments and texts."""
    code = text.encode()
    return any(
        node.type in {"identifier", "type_identifier", "field_identifier"}
        and text_of_node(node) == name
        and re.compile(rb"\s*\(").match(code, node.end_byte) is not None
        for node in descendants(parse_cpp(code))
    )
