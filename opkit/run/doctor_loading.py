"""Loads what GE would load, as GE does, in a child that may die of it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

import attrs

from opkit import process
from opkit.lookup import Library, Place, is_there, opened
from opkit.run.environment import activate
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from opkit.lookup import Lookup
    from opkit.toolkit import Toolkit

__all__ = ["Loaded", "load_all", "without_broken"]

# Each library in the order given, as GE opens them; a line before each names the one that a crash is about. Those that don't load are tried
# again with GE's own libraries in reach of all, as they are in a program that is linked with them. What a library prints is no answer.
_LOAD = """\
import ctypes, os, sys
paths = dict(enumerate(sys.argv[1:]))
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
def load(mark, numbers):
    for number in numbers:
        print(f"{number}{mark}", end=" ", file=answers, flush=True)
        try:
            ctypes.CDLL(paths[number], os.RTLD_NOW)
            print("ok", file=answers, flush=True)
        except OSError as fault:
            print(str(fault).replace("\\n", " "), file=answers, flush=True)
            yield number
failed = list(load("", paths))
if failed:
    for name in ("libge_runner.so", "libgraph.so", "libascendcl.so"):
        try:
            ctypes.CDLL(name, os.RTLD_NOW | os.RTLD_GLOBAL)
        except OSError:
            pass
    list(load("+", failed))
"""
_PATIENCE = 20.0
_SHARED_OBJECT = re.compile(r"^(\S+): cannot open shared object file")
_SYMBOL = re.compile(r"undefined symbol: ([^\s,]+)")
_VERSION = re.compile(r"version [`']([^`']+)' not found \(required by ([^)]+)\)")


class Loaded(NamedTuple):
    """What came of loading one library: `reason` is None for one that loads, `is_helped` if it lacks GE's own libraries alone."""

    library: Library
    reason: str | None
    is_helped: bool

    @property
    def is_broken(self) -> bool:
        return self.reason is not None and not self.is_helped


def load_all(found: Lookup, toolkit: Toolkit, environ: Mapping[str, str]) -> list[Loaded]:
    """Loads each library in a child: one that doesn't load makes GEInitialize fail for all of them. Those that were meant come last."""
    libraries = opened([*found.custom, *found.meant])
    foreign = [library for library in libraries if library.arch is not None and library.arch != host_arch()]
    pipes = [library for library in libraries if is_there(library.path) and not library.path.is_file() and not library.path.is_dir()]
    results = [Loaded(library, f"it is for {library.arch}, this computer is {host_arch()}", is_helped=False) for library in foreign]
    results += [Loaded(library, "it is neither a file nor a folder: to open it may never end", is_helped=False) for library in pipes]
    tried = [library for library in libraries if library not in foreign and library not in pipes]
    for library, told, is_helped in _load(tried, activate(toolkit, [], environ)):
        results.append(Loaded(library, None if told is None else _explained(library, told), is_helped))
    return results


def without_broken(places: Iterable[Place], loaded: Sequence[Loaded]) -> list[Place]:
    """The places with the libraries alone that load: no other registers anything."""
    broken = {each.library.real for each in loaded if each.is_broken}
    return [attrs.evolve(place, libraries=tuple(each for each in place.libraries if each.real not in broken)) for place in places]


def _load(libraries: list[Library], environment: Mapping[str, str]) -> Iterator[tuple[Library, str | None, bool]]:
    """Gives what the loader said, None if nothing, and whether GE's own libraries in reach help.

    One child for all, as GE is one process; after one that it didn't survive, another for the rest.
    """
    rest = libraries
    while rest:
        argv = [sys.executable, "-I", "-S", "-c", _LOAD, *(str(library.path) for library in rest)]
        done = process.run(argv, env=environment, timeout=_PATIENCE)
        told = dict(re.findall(r"^(\d+\+?) (.*)$", done.stdout, flags=re.MULTILINE))
        for number, library in enumerate(rest):
            result = told.get(str(number), "")
            if not result:
                how = f"didn't end within {_PATIENCE:.0f} s" if done.timed_out else f"ended with {done.shell_exit}"
                yield library, f"loading it {how}", False
                rest = rest[number + 1 :]
                break
            yield library, None if result == "ok" else result, told.get(f"{number}+") == "ok"
        else:
            return


def _explained(library: Library, reason: str) -> str:
    """The loader's text, by what matters in it."""
    lacking = _SHARED_OBJECT.search(reason)
    if lacking is not None and lacking[1] != str(library.path):
        return f"it needs {lacking[1]}, which isn't found"
    symbol = _SYMBOL.search(reason)
    if symbol is not None:
        return f"it needs the symbol {symbol[1]}, which no library has"
    version = _VERSION.search(reason)
    return reason if version is None else f"it needs {version[1]}, which this computer is too old for"
