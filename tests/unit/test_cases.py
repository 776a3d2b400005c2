"""The index of failures that others met: each has a test that shows opkit's right result, marked with its id, `@pytest.mark.case("A1")`."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).resolve().parents[1]

CASES = {
    # Names of op types and files.
    "A1": "a derived file name is not that of the file: one rule, one stem, and file_stem where it is another",
    "A2": "two official rules make different stems of a type with digits: the rule and its table are documented",
    "A4": "a type that is no UpperCamel name becomes a C++ error or a file outside the project: it is refused",
    "A5": "prototype, class and graph have different names for an op: all follow from one, and a new name leaves no trace of the old",
    "A6": "a custom op hides a built-in one of its name: that is told unless it is meant",
    "A7": "an op is asked for by a name that nobody registered: an error with the names that there are",
    # Dtypes, formats and attrs.
    "B1": "an attr read by another width gives null, and 0 is used: it is read by its type, and null is an error",
    "B3": "a default is narrowed in generated C++: float literals are those of the float32, and what it can't hold is refused",
    "B5": "an attr type that REG_OP doesn't have is rendered: a closed set, each of which compiles",
    "B6": "a spelling of a dtype becomes an enumerator that doesn't exist: spellings are mapped, others refused",
    "B8": "a combination of dtypes that nobody declared is run: refused with the request and the table",
    "B9": "prototype and kernel disagree about which attr may be left out: only one with a default may",
    "B10": "an attr has two types in two definitions: an op has one definition, and two are refused",
    "B12": "a misspelt key is ignored: it is the mistake told, with what was meant",
    "B13": "one of two ops of a name wins, or a prompt waits for ever: two are a mistake, and no command waits for an answer",
    "B14": "a newer format is unknown: the table is that of the toolkit's header",
    # Shapes, and ports that are none, one or many.
    "C1": "an empty inference is shipped: an output without a shape rule is a mistake",
    "C2": "all outputs get the dtype of the first: each has its own",
    "C4": "a port behind a list of tensors is read at a wrong index: it is found by its place in the prototype",
    "C5": "an attr that counts tensors differs from how many are connected: an error with both numbers",
    "C6": "a shape that depends on values is read as if it were known: the op says how large it can be",
    "C7": "an empty tensor fails the launch: nothing is launched, and that is a success",
    "C9": "a shape rule reads values that the graph doesn't have: only a rule that says so, and an unknown dim where they are missing",
    "C12": "promoted dtypes are lost: symbols, Promote, and neither an undefined symbol nor an unused one",
    # Generating files.
    "D1": "a new project doesn't build: every kernel that ships gives one that passes its tests",
    "D2": "generating again adds something again: the same spec gives the same bytes",
    "D4": "a failure destroys what was there: all files are rendered before one is written",
    "D5": "edits of the user are overwritten: they are named and stay",
    "D6": "a placeholder stays in the output: an unknown name fails the rendering",
    "D8": "CRLF, a byte order mark or a missing last newline breaks a kernel: it compiles, and its bytes are kept",
    "D10": "files that only root can read are installed: their modes don't depend on the umask",
}


def _marks(tree: ast.AST) -> Iterator[str]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name.startswith("test_"):
            for mark in function.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.case":
                    yield from (ast.literal_eval(each) for each in mark.args)


def _marked() -> dict[str, str]:
    """The ids that tests are marked with, each with a file."""
    files = {file: file.read_text(encoding="utf-8") for file in sorted(TESTS.rglob("test_*.py"))}
    return {name: file.name for file, text in files.items() if "mark.case" in text for name in _marks(ast.parse(text))}


def test_each_case_has_a_test() -> None:
    assert sorted(set(CASES) - set(_marked())) == []


def test_no_test_is_of_a_case_that_is_none() -> None:
    assert {name: file for name, file in _marked().items() if name not in CASES} == {}
