"""The cause of a failed build, found in what CMake, Ninja, compiler and linker print: the first error that is one, with its place."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.errors import BuildError, CompileError, ConfigureError, LinkError, NoSpaceError, OpkitError

if TYPE_CHECKING:
    from opkit.spec import Package

__all__ = ["diagnose"]

_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_COMPILER = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<text>.*)$")
_DRIVER = re.compile(r"^(?P<tool>\S*(?:g\+\+|c\+\+|clang\+\+|cc1plus)\S*): (?:fatal )?error: (?P<text>.*)$")
_ASSEMBLER = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+): Error: (?P<text>.*)$")
_CMAKE = re.compile(r"^CMake Error(?: at (?P<file>[^:]+):(?P<line>\d+))?.*:\s*(?P<text>.*)$")
_UNDEFINED = re.compile(r"undefined reference to [`'](?P<symbol>.*?)'")
_UNDEFINED_LLD = re.compile(r"error: undefined symbol: (?P<symbol>.*)$")
_NO_LIBRARY = re.compile(r"(?:cannot find|unable to find library) (?:-l)?(?P<library>[\w.+-]+)")
_LINKER = re.compile(r"^(?:\S*/)?(?:ld|ld\.\w+|collect2): (?:error: )?(?P<text>.*)$")
# What the program says that compiles the kernels of prebuilt ops: the library's own messages, and one of its own.
_UNBUILT_KERNEL = re.compile(r"^\w+_prebuild: error: (?P<text>a kernel of (?P<op>\w+) doesn't compile for .*)$")
_OWN_MESSAGE = re.compile(r"^\[ERROR\] [^:]+:\d+: (?P<text>.*)$")
_PLACE = re.compile(r"^[^\s:][^:]*:\d+:")
_SHOWN_LINES = 8
_PREBUILD = re.compile(r"^(?:\[ERROR\] [^:]+:\d+|\w+_prebuild: error): (?P<text>.*)$")
_NINJA = re.compile(r"^ninja: (?:fatal|error): (?P<text>.*)$")
_NO_COMPILER = "is not able to compile a simple test program"
_FULL_DISK = "No space left on device"
_WARNING_WORDS = ("warning:", "note:")
_CODE = re.compile(r"^\s*\d+ \| (?P<code>.*)$")


def diagnose(  # noqa: PLR0913 - what the words of a tool are read with
    output: str, *, root: Path, log: Path, step: str, load: Callable[[], Package] | None = None, flags: Sequence[str] = ()
) -> OpkitError:
    """Gives the error to raise for the output of a failed `step` (cmake or ninja); places below `root` are shown relative to it.

    `load` gives the package, which knows where an op is declared and where the files of its kernels lie; `flags` are the settings of the
    user that reach every compilation, as NAME=VALUE.
    """
    lines = [_COLOR.sub("", line).rstrip() for line in output.splitlines()]
    help_text = f"the full log is {log}"
    return (
        _full_disk(lines, help_text)
        or _trial(lines, root, help_text, flags)
        or _unbuilt_kernel(lines, root, help_text, load)
        or _compiler(lines, root, help_text)
        or _undefined(lines, help_text)
        or _linker(lines, help_text)
        or _cmake(lines, root, help_text)
        or _prebuild(lines, help_text)
        or _driver(lines, help_text)
        or _unknown(lines, step, help_text)
    )


def _full_disk(lines: Sequence[str], help_text: str) -> NoSpaceError | None:
    found = next((line for line in lines if _FULL_DISK in line), None)
    return None if found is None else NoSpaceError("the disk is full", because=found.strip(), help=f"free some space; {help_text}")


def _trial(lines: Sequence[str], root: Path, help_text: str, flags: Sequence[str]) -> ConfigureError | None:
    """What CMake compiles to see whether the compiler works: nobody's file, so the place in it says nothing."""
    if not any(_NO_COMPILER in line for line in lines):
        return None
    told = [line.strip() for line in lines]
    cause = _driver(told, help_text) or _compiler(told, root, help_text) or _undefined(told, help_text) or _linker(told, help_text)
    # Of a file that is named on the command line a compiler has no line to tell.
    reasons = [cause.message] if cause is not None else [line for line in told if "error: " in line][:1]
    reasons += [f"it is called with {flag}" for flag in flags]
    advice = f"without {' and '.join(flag.partition('=')[0] for flag in flags)} it may; {help_text}" if flags else help_text
    return ConfigureError("the C++ compiler can't compile a simple program", because="\n".join(reasons) or None, help=advice)


def _unbuilt_kernel(lines: Sequence[str], root: Path, help_text: str, load: Callable[[], Package] | None) -> CompileError | None:
    """A kernel of a prebuilt op, told by the program that compiles them: after the log of each time that it doesn't compile, for what."""
    end, found = next(((index, match) for index, line in enumerate(lines) if (match := _UNBUILT_KERNEL.match(line))), (0, None))
    if found is None:
        return None
    begin, own = next(((index, match) for index, line in enumerate(lines[:end]) if (match := _OWN_MESSAGE.match(line))), (end, None))
    told = list(itertools.takewhile(lambda line: not _OWN_MESSAGE.match(line), lines[begin + 1 : end]))
    # A compiler that refuses what it is asked for, not what it reads, names no line.
    if own is not None and not any(map(_PLACE.match, told)):
        told = [own["text"].replace(f"{root}/", "")]
    because = "\n".join(list(dict.fromkeys(filter(str.strip, told)))[:_SHOWN_LINES]) or None
    package = None if load is None else load()
    op = None if package is None else next((op for op in package.ops if op.type == found["op"]), None)
    if package is None or op is None:
        return CompileError(found["text"], because=because, help=help_text)
    from opkit.spec import placed

    return CompileError(found["text"], where=str(op.where), because=because and placed(because, op, package.root), help=help_text)


def _compiler(lines: Sequence[str], root: Path, help_text: str) -> BuildError | None:
    for index, line in enumerate(lines):
        match = _COMPILER.match(line) or _ASSEMBLER.match(line)
        if match is None:
            continue
        column = match.groupdict().get("column")
        place = f"{_relative(match['file'], root)}:{match['line']}" + (f":{column}" if column else "")
        code = _CODE.match(lines[index + 1]) if index + 1 < len(lines) else None
        return CompileError(
            match["text"], where=place + (f"   {code['code'].strip()}" if code else ""), because=_origin(lines, index, root), help=help_text
        )
    return None


def _origin(lines: Sequence[str], index: int, root: Path) -> str | None:
    """The line of the project that led into a header of someone else, which is what its author can change."""
    chain: list[str] = []
    for line in reversed(lines[:index]):
        match = re.match(r"^(?:In file included from|\s+from) (?P<file>[^:]+):(?P<line>\d+)", line)
        if match is None:
            if chain or not line.endswith((":", ",")):
                break
            continue
        chain.append(f"{_relative(match['file'], root)}:{match['line']}")
    return "included from " + " and ".join(chain) if chain else None


def _undefined(lines: Sequence[str], help_text: str) -> BuildError | None:
    symbols = []
    for line in lines:
        match = _UNDEFINED.search(line) or _UNDEFINED_LLD.search(line)
        if match is not None and not any(word in line for word in _WARNING_WORDS):
            symbols.append((match["symbol"], line.strip()))
    if not symbols:
        return None
    first, line = symbols[0]
    others = list(dict.fromkeys(symbol for symbol, _ in symbols if symbol != first))
    because = line + (f"; and {len(others)} more: {', '.join(others[:3])}" if others else "")
    if "std::string" in line or "basic_string" in line or "ERKSs" in line:
        because += "\nan undefined symbol with a string in it is often a mismatch of _GLIBCXX_USE_CXX11_ABI"
    return LinkError(f"no library defines {first}", because=because, help=help_text)


def _linker(lines: Sequence[str], help_text: str) -> BuildError | None:
    for line in lines:
        missing = _NO_LIBRARY.search(line)
        if missing is not None and (_LINKER.match(line) or "ld" in line):
            return LinkError(f"the linker finds no library {missing['library']}", because=line.strip(), help=help_text)
    for line in lines:
        match = _LINKER.match(line)
        if match is not None and "returned 1 exit status" not in line and not any(word in line for word in _WARNING_WORDS):
            return LinkError(match["text"], help=help_text)
    return None


def _cmake(lines: Sequence[str], root: Path, help_text: str) -> BuildError | None:
    for index, line in enumerate(lines):
        match = _CMAKE.match(line)
        if match is None:
            continue
        told = [match["text"], *_indented(lines[index + 1 :])]
        where = None if match["file"] is None else f"{_relative(match['file'], root)}:{match['line']}"
        return ConfigureError(" ".join(each for each in told if each) or "CMake failed", where=where, help=help_text)
    return None


def _indented(lines: Sequence[str]) -> list[str]:
    """The message of CMake: indented, with empty lines between its paragraphs, up to the next line at the margin."""
    told = []
    for line in lines:
        if line and not line.startswith(" "):
            break
        told.append(line.strip())
    return told


def _prebuild(lines: Sequence[str], help_text: str) -> BuildError | None:
    match = next((match for line in lines if (match := _PREBUILD.match(line))), None)
    if match is None:
        return None
    message, _, because = match["text"].partition(": ")
    return BuildError(message, because=because or None, help=help_text)


def _driver(lines: Sequence[str], help_text: str) -> BuildError | None:
    for line in lines:
        match = _DRIVER.match(line)
        if match is not None:
            because = "the computer ran out of memory; fewer jobs need less: opkit build -j1" if "Killed" in match["text"] else None
            return CompileError(match["text"], where=match["tool"], because=because, help=help_text)
    return None


def _unknown(lines: Sequence[str], step: str, help_text: str) -> BuildError:
    told = next((match["text"] for line in lines if (match := _NINJA.match(line))), None)
    last = [line for line in lines if line.strip()][-5:]
    return BuildError(f"{step} failed" + (f": {told}" if told else ""), because="\n".join(last) or "it printed nothing", help=help_text)


def _relative(file: str, root: Path) -> str:
    # Ninja runs in the build folder, so a relative name leads out of it (../ge/custom_op.cpp).
    path = Path(file)
    if not path.is_absolute():
        return re.sub(r"^(?:\.\./)+", "", file)
    return str(path.relative_to(root)) if path.is_relative_to(root) else file
