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
    # Toolkits and variables.
    "E1": "a build takes another toolkit than the one that is named: nothing of another one is on any command line",
    "E2": "no toolkit is named and /include is searched: exit 3 before CMake runs, with the ways out",
    "E3": "the variable names a file, a home, a link or nothing: each spelling is taken as one folder, or refused with the reason",
    "E4": "an older toolkit fails in the compiler: what is needed and what was found is told before CMake runs",
    "E6": "a path list gets an empty element, which is the current folder, or one twice: never, and twice is as once",
    "E7": "a strict shell or a program stops at a variable that isn't set: neither does",
    "E9": "the variable is changed after GE has read it, and nothing happens: it is told that this is too late",
    "E10": "the path list names a folder inside the OPP root: it is told, with the root",
    "E11": "an op isn't found and nothing says where it was looked for: the places in order, what is in each, and what is alike",
    "E12": "files are written where a program is started, which fails in a folder of the system: nothing is written there",
    # Loading and installing.
    "F1": "one broken library makes all ops unknown: each is loaded in a child and named",
    "F2": "a function that no library has is missed only when a model loads: the link fails",
    "F3": "two packages have an op of one type: the first wins, and that is told",
    "F5": "a malformed list of vendors is read otherwise than it was meant: it is told what GE reads, and the file is left alone",
    "F6": "an installer says success though a step failed: any failed step is an error, and the prefix is as it was",
    "F8": "the path list is taken for a folder to install to: it never is, and a name with a colon makes no folder",
    "F9": "a folder of another user fails half-way: it is told whose it is before anything is written, and one's own is installed to again",
    "F11": "what is installed isn't where GE looks: the tree is GE's own, and packages whose names begin alike don't mix",
    # ABI, architecture and tools.
    "G1": "strings of two ABIs meet: it is the toolkit's, found in its libraries, and whatever is of the other one fails the build",
    "G3": "a library needs a newer glibc than the computer has: the package says so, and its install is refused",
    "G5": "the folder of another architecture is searched: it is the one that the toolkit says, and that is told",
    "G7": "CMake is absent or too old for the project: exit 3 with the version that is needed",
    "G8": "kernels of a SoC have no type for a dtype: one that names it is refused before it is compiled, one that moves bytes isn't",
    "G9": "a kernel of another file name is compiled as another language: whatever its name, its text goes to the run-time compiler",
    "G10": "kernels for another chip are installed: package and file name say which, and an install elsewhere is refused with both",
    # Generators, caches and what is left from before.
    "H1": "the generator is another than before, unknown or gone: a new tree, and for an unknown one an error with those that work",
    "H3": "the cache names a compiler that is gone: it is noticed, and the one that there is now is taken",
    "H4": "the toolkit is another than before, and the cache keeps the first: nothing of that is in the new commands",
    "H6": "a definition has another value, and nothing is built: it is part of what a build depends on",
    "H7": "a project is copied with its build, which names the old place: it is built anew where it is, to the same bytes, from ccache",
    "H9": "an installed header of an older build is read in place of the project's: the output is never searched",
    "H10": "a compiler cache that doesn't work is told once and passed over, and --launcher none wants none",
    "H11": "the compiler's error is lost on its way: its line is shown, the log has the rest, and the exit is that of a failed build",
    # Paths and permissions.
    "I1": "a space in the path of the project, of the toolkit or of a folder to install to breaks a command: it breaks none",
    "I3": "letters beyond ASCII in a path, in a locale that has none: all commands take them",
    "I4": "a name with a space becomes a target of CMake: it is refused with one that can be",
    "I6": "there is no home folder, or none that can be written: a place has to be named, and then all works",
    "I8": "a path is longer than the system takes: one error and no traceback",
    "I9": "temporary files lie on another file system: what is renamed was made beside its place",
    # Several at once.
    "J1": "builds of several projects share a temporary folder: eight at once from one folder have nothing in common",
    "J3": "a killed build leaves a lock or half a file: the lock is the kernel's, files appear whole, and what still runs is ended",
    "J5": "two forced builds work in one folder at once: one waits for the other",
    "J6": "two installs at once lose one of the two: a lock of the kernel's lets one after the other",
    # Packages.
    "K1": "the same version has other bytes elsewhere: the folder, the umask and the time zone change none",
    "K2": "a package lacks one of its files: the manifest names all, and one that is missing or too many is refused",
    "K4": "a package without kernel files can't be made: it can",
    "K5": "a library looks for others where it was built: only beside itself, and no path of the build is in it",
    "K6": "a package works only beside its sources: verify loads it in an empty folder, with the toolkit and nothing else",
    "K9": "an old package is taken because its name matches: of two in a folder the user has to name one",
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
