"""Compiler launchers: ccache, sccache or any other program that is put before the compiler and may know the result already."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit import process
from opkit.errors import CommandNotExecutableError, CommandNotFoundError, ToolMissingError
from opkit.toolkit.cache import user_cache
from opkit.toolkit.tools import on_path

if TYPE_CHECKING:
    from opkit.toolkit.tools import Compiler

__all__ = ["LAUNCHER_VARIABLE", "NO_LAUNCHER", "Launcher", "find_launcher"]

# CMake's own, which holds a list.
LAUNCHER_VARIABLE = "CMAKE_CXX_COMPILER_LAUNCHER"
NO_LAUNCHER = "none"
_CCACHE = "ccache"
# In the order of preference: a shared sccache is set up on purpose, and named then.
_KNOWN = (_CCACHE, "sccache")
_PROBE_SECONDS = 20.0


class Launcher(NamedTuple):
    """`command` is the program and its arguments, the program absolute."""

    command: tuple[str, ...]
    reason: str

    @property
    def shown(self) -> str:
        return " ".join(self.command)

    @property
    def stamp(self) -> str:
        """Changes when the program is replaced."""
        found = Path(self.command[0]).stat()
        return f"{found.st_size}.{found.st_mtime_ns}"

    def environment(self, root: Path, environ: Mapping[str, str]) -> dict[str, str]:
        """What a build of the project in `root` adds to the environment, so that a copy elsewhere finds what was compiled here.

        Safe because generated projects map their folder away (-ffile-prefix-map): no object has it in it. Nothing for sccache: with
        SCCACHE_BASEDIRS, its cache of preprocessor results up to 0.18 may give the object of another folder (mozilla/sccache issue 2863).
        """
        if not _is_named(Path(self.command[0]), (_CCACHE,)) or "CCACHE_BASEDIR" in environ:
            return {}
        # It passes relative paths on then, and would show them in messages.
        return {"CCACHE_BASEDIR": str(root), "CCACHE_ABSSTDERR": "1"}

    def fault(self, compiler: Compiler, folder: Path, environ: Mapping[str, str]) -> str | None:
        """Why a trivial file isn't compiled through it; None if it is. `folder` is empty, and whoever made it removes it."""
        source, target = folder / "probe.cpp", folder / "probe.o"
        source.write_text("int probe() { return 0; }\n")
        try:
            done = process.run(
                [*self.command, compiler.path, *compiler.wrapped, "-c", source, "-o", target],
                cwd=folder,
                env=environ,
                merge=True,
                timeout=_PROBE_SECONDS,
            )
        except (CommandNotFoundError, CommandNotExecutableError) as fault:
            return fault.message
        if done.timed_out:
            return f"it took more than {_PROBE_SECONDS:g} s for a trivial file"
        if not done.ok:
            return next((line for line in done.stdout.splitlines() if line.strip()), f"it exits with {done.shell_exit}")
        return None if target.is_file() else "it compiles nothing"


def find_launcher(environ: Mapping[str, str], compiler: Compiler, named: str | None = None) -> Launcher | None:
    """The one that is `named`, by CMAKE_CXX_COMPILER_LAUNCHER after that, else ccache or sccache on PATH; None for none.

    Nothing is looked for if the compiler is one that ccache or sccache stands before, or without a home folder. Raises ToolMissingError
    for one that is named and isn't there.
    """
    if named is not None:
        return None if named == NO_LAUNCHER else _named([named], f"named by --launcher {named}", environ)
    words = [word for word in environ.get(LAUNCHER_VARIABLE, "").split(";") if word]
    if words:
        return _named(words, f"named by {LAUNCHER_VARIABLE}", environ)
    if any(_is_named(path, _KNOWN) for path in (compiler.path, *compiler.wrapped)):
        return None
    for name in _KNOWN:
        # Without a place for what it keeps, it would make a home folder that isn't there.
        has_place = user_cache(environ) is not None or bool(environ.get(f"{name.upper()}_DIR"))
        path = on_path(name, environ) if has_place else None
        if path is not None:
            return Launcher((str(path),), "found on PATH")
    return None


def _named(words: list[str], reason: str, environ: Mapping[str, str]) -> Launcher:
    path = on_path(words[0], environ)
    if path is None:
        msg = f"no compiler launcher {words[0]}"
        because = f"it is {reason}, and {_lack(words[0])}"
        raise ToolMissingError(msg, because=because, help="install it, or: opkit build --launcher none")
    return Launcher((str(path), *words[1:]), reason)


def _lack(program: str) -> str:
    if " " in program:
        return f"it takes no arguments; {LAUNCHER_VARIABLE} does, as in env;NAME=value;ccache"
    if os.sep not in program or not os.path.lexists(program):
        return "isn't there"
    return "is a folder" if Path(program).is_dir() else "can't be executed"


def _is_named(program: Path, names: tuple[str, ...]) -> bool:
    # A compiler on PATH may be a link to ccache; the launcher itself may be one of its names, or a link to another.
    return program.name in names or program.resolve().name in names
