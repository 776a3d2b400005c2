"""Ninja or make: what CMake writes for it, how it is started, and what it says of its work."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from opkit.build.state import Stat, stat_of
from opkit.errors import ToolMissingError, UsageError
from opkit.toolkit import find_make, find_ninja

__all__ = ["GENERATORS", "SCRIPT", "Generator", "explained", "find_generator", "named_generator"]

NINJA = "Ninja"
MAKEFILES = "Unix Makefiles"
GENERATORS = (NINJA, MAKEFILES)
# What `cmake --install` runs.
SCRIPT = "cmake_install.cmake"
_VARIABLE = "CMAKE_GENERATOR"
# Patterns of what a warm build never reads are compiled where they are used: 0.1 ms each.
_NINJA_STATUS = r"\[(\d+)/(\d+)\] "
_MAKE_STATUS = r"\[ *(\d+)%\] (?!Built target )"
_IDLE = "ninja: no work to do."
_NO_WORK = ("ninja: Entering directory", _IDLE, "ninja explain: ")
_EXPLAINED = "ninja explain: "
# What Ninja says of it in words for people; the rest follows from these.
_REASONS = (
    (r".* older than most recent input (.+) \(\d+ vs \d+\)", "{} changed"),
    (r"output (.+) doesn't exist", "{} isn't there"),
    (r"command line changed for (.+)", "the command for {} changed"),
    (r"deps for '(.+)' are missing", "what {} includes isn't known"),
)
# What CMake writes; everything else beside it was made by make.
_OF_CMAKE = ("CMakeFiles", "CMakeCache.txt", "Makefile", SCRIPT, "compile_commands.json", "install_manifest.txt")


class Generator(NamedTuple):
    """`name` is CMake's, `program` the tool that it generates for."""

    name: str
    program: Path

    @property
    def is_ninja(self) -> bool:
        return self.name == NINJA

    @property
    def tool(self) -> str:
        return "ninja" if self.is_ninja else "make"

    def files(self, tree: Path) -> list[str]:
        """Those that only CMake may touch between two builds; a truncated one shows by its size."""
        common = ["CMakeCache.txt", SCRIPT]
        if self.is_ninja:
            return [*common, "build.ninja"]
        rules = sorted(str(path.relative_to(tree)) for path in tree.glob("CMakeFiles/*.dir/build.make"))
        return [*common, "Makefile", "CMakeFiles/Makefile.cmake", "CMakeFiles/Makefile2", *rules]

    def dependencies(self, tree: Path) -> list[str]:
        """The files that CMake read, as from the tree: if one changes, the tool runs CMake again."""
        if self.is_ninja:
            match = re.search(
                r"(?m)^build build\.ninja[^\n]*?: RERUN_CMAKE \|([^\n]*)", (tree / "build.ninja").read_text("utf-8", "replace")
            )
            words = re.findall(r"(?:\$.|[^\s$])+", "" if match is None else match[1])
            return [re.sub(r"\$(.)", r"\1", word) for word in words if word != "||"]
        match = re.search(r"(?s)CMAKE_MAKEFILE_DEPENDS\n(.*?)\n *\)", (tree / "CMakeFiles/Makefile.cmake").read_text("utf-8", "replace"))
        return re.findall(r'(?m)^ *"(.*)"$', "" if match is None else match[1])

    def argv(self, tree: Path, jobs: int, *, is_explained: bool) -> list[str | Path]:
        if self.is_ninja:
            return [self.program, "-C", tree, f"-j{jobs}", *(["-d", "explain"] if is_explained else [])]
        return [self.program, "-C", tree, f"-j{jobs}"]

    def question(self, tree: Path) -> list[str | Path] | None:
        """What says whether there is something to do without doing it. make can't: it would ask CMake whether to run again, which runs."""
        return [self.program, "-C", tree, "-n"] if self.is_ninja else None

    def is_idle(self, answer: str) -> bool:
        return _IDLE in answer.splitlines()

    def progress(self, line: str) -> tuple[int, int, str] | None:
        """Done, of how many, and what; None for a line that tells of no step."""
        # A warm build reads no such line, and needs no pattern.
        match = re.match(_NINJA_STATUS if self.is_ninja else _MAKE_STATUS, line) if line.startswith("[") else None
        if match is None:
            return None
        return int(match[1]), int(match[2]) if self.is_ninja else 100, line[match.end() :].rpartition("/")[2]

    def says_nothing(self, line: str) -> bool:
        """Whether the line is one of a run without work, which leaves the log of the last one in place."""
        if self.is_ninja:
            return line.startswith(_NO_WORK)
        return line.startswith("make: ") or re.match(r"\[ *\d+%\] Built target ", line) is not None

    def work(self, tree: Path) -> Stat:
        """Changes whenever the tool, started by whomever, made anything."""
        if self.is_ninja:
            return stat_of(tree / ".ninja_log")
        made = [found for path in _made(tree) if (found := stat_of(path)) is not None]
        return (sum(size for size, _ in made), max((changed for _, changed in made), default=0))


def explained(line: str, tree: Path, root: Path) -> str | None:
    """Why Ninja does something, if this line says so; files are named as from the project in `root`."""
    if line.startswith(_EXPLAINED):
        for pattern, words in _REASONS:
            match = re.fullmatch(pattern, line[len(_EXPLAINED) :])
            if match is not None:
                path = Path(os.path.normpath(tree / match[1]))
                place = tree if path.is_relative_to(tree) else root
                return words.format(path.relative_to(place) if path.is_relative_to(place) else path)
    return None


def named_generator(environ: Mapping[str, str]) -> str | None:
    """Raises UsageError for one that opkit can't build with."""
    named = environ.get(_VARIABLE) or None
    if named is not None and named not in GENERATORS:
        msg = f"{_VARIABLE}={named} is no generator that opkit builds with"
        raise UsageError(msg, because=f"those that work are {' and '.join(GENERATORS)}", help=f"unset {_VARIABLE}")
    return named


def find_generator(environ: Mapping[str, str]) -> Generator:
    """The one that CMAKE_GENERATOR names, else Ninja's if there is one, else make's. Raises UsageError or ToolMissingError."""
    named = named_generator(environ)
    if named != MAKEFILES:
        try:
            return Generator(NINJA, find_ninja(environ).path)
        except ToolMissingError:
            if named == NINJA:
                raise
    try:
        return Generator(MAKEFILES, find_make(environ).path)
    except ToolMissingError as fault:
        if named == MAKEFILES:
            raise
        msg = "neither Ninja nor make"
        raise ToolMissingError(msg, because="there is none on PATH and none beside opkit", help="pip install ninja") from fault


def _made(tree: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(tree):
        if folder == str(tree):
            folders[:] = [name for name in folders if name not in _OF_CMAKE and not name.startswith("opkit-")]
            files = [name for name in files if name not in _OF_CMAKE and not name.startswith(("opkit-", "."))]  # noqa: PLW2901 - the same list, shorter
        yield from (Path(folder, name) for name in files)
