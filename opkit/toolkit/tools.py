"""The host tools of a build: compiler, CMake, Ninja; found once, because the search and the Python shims cost more than the tools."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from opkit import process
from opkit.errors import CommandNotExecutableError, CommandNotFoundError, CompilerMissingError, ToolMissingError
from opkit.toolkit.discovery import ARCHITECTURES, arch_named

__all__ = [
    "OLDEST_CMAKE",
    "Compiler",
    "Tool",
    "cross_definitions",
    "find_cmake",
    "find_compiler",
    "find_cross_compiler",
    "find_emulator",
    "find_make",
    "find_ninja",
    "on_path",
    "require_target",
]

OLDEST_CMAKE = (3, 20)
_COMPILERS = ("g++", "c++", "clang++")
_BINFMT = Path("/proc/sys/fs/binfmt_misc")


class Compiler(NamedTuple):
    """The words of CXX, or a compiler found on PATH. `argv` is how it is called, with the program absolute. With `is_named` CMake reads CXX
    itself: `wrapped` are the programs among its other words, for instance a compiler behind ccache.
    """

    argv: tuple[str, ...]
    is_named: bool
    reason: str
    wrapped: tuple[Path, ...] = ()

    @property
    def path(self) -> Path:
        return Path(self.argv[0])

    @property
    def stamp(self) -> str:
        """Changes when the compiler is upgraded in place."""
        return ",".join(f"{found.st_size}.{found.st_mtime_ns}" for found in (path.stat() for path in (self.path, *self.wrapped)))

    @property
    def command(self) -> str:
        """As a user would type it."""
        return shlex.join(self.argv)

    def version(self) -> str:
        """What it says of itself, in one line."""
        try:
            done = process.run([*self.argv, "--version"], timeout=20)
        except (CommandNotFoundError, CommandNotExecutableError):
            return "unknown"
        return done.stdout.partition("\n")[0].strip() or "unknown"


class Tool(NamedTuple):
    path: Path
    reason: str
    version: str | None = None


def find_compiler(environ: Mapping[str, str]) -> Compiler:
    """CXX, else g++, c++ or clang++ on PATH. Raises CompilerMissingError, naming the package to install."""
    named = environ.get("CXX", "").strip()
    if named:
        try:
            program, *more = shlex.split(named)
        except ValueError as fault:
            msg = "CXX can't be read as a command"
            raise CompilerMissingError(msg, because=f"CXX={named}: {fault}", help="unset CXX") from fault
        path = on_path(program, environ)
        if path is None:
            msg = f"no C++ compiler: CXX names {program}, which isn't there"
            raise CompilerMissingError(msg, because=f"CXX={named}", help="unset CXX, or install that compiler")
        programs = (on_path(word, environ) for word in more if not word.startswith("-"))
        wrapped = tuple(found for found in programs if found is not None)
        return Compiler((str(path), *more), is_named=True, reason="named by CXX", wrapped=wrapped)
    for name in _COMPILERS:
        path = on_path(name, environ)
        if path is not None:
            return Compiler((str(path),), is_named=False, reason="found on PATH")
    msg = "no C++ compiler: install the package g++"
    raise CompilerMissingError(msg, because=f"none of {', '.join(_COMPILERS)} is on PATH", help="sudo apt install -y g++")


def cross_definitions(arch: str) -> dict[str, str]:
    """What CMake has to be told to compile for `arch`, whatever it runs on."""
    return {"CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": arch}


def find_cross_compiler(environ: Mapping[str, str], arch: str) -> Compiler:
    """CXX if it compiles for `arch`, else the cross compiler of Debian's name on PATH. Raises CompilerMissingError for none."""
    name = f"{arch}-linux-gnu-g++"
    named = environ.get("CXX", "").strip()
    if named:
        compiler = find_compiler(environ)
        target = _target_of(compiler)
        if arch_named(target.partition("-")[0]) != arch:
            raise _other_target(named, target, arch, help_text=f"unset CXX, so that {name} is taken, or name a compiler for {arch} with it")
        return compiler
    path = on_path(name, environ)
    if path is None:
        package = f"g++-{arch.replace('_', '-')}-linux-gnu"
        msg = f"no C++ compiler for {arch}: install the package {package}"
        raise CompilerMissingError(msg, because=f"{name} isn't on PATH, and CXX isn't set", help=f"sudo apt install {package}")
    return Compiler((str(path),), is_named=False, reason="found on PATH")


def require_target(compiler: Compiler, environ: Mapping[str, str], arch: str) -> None:
    """Raises CompilerMissingError for a CXX that is known to compile for another processor than this machine's own `arch`."""
    if not compiler.is_named:
        return
    target = _target_of(compiler)
    other = arch_named(target.partition("-")[0])
    if other in ARCHITECTURES and other != arch:
        named = environ["CXX"].strip()
        raise _other_target(named, target, arch, help_text=f"unset CXX, or build for the other processor: opkit build --arch {other}")


def find_emulator(environ: Mapping[str, str], arch: str) -> tuple[str, ...]:
    """What to put before a program for `arch`, so that it runs here: QEMU, or what makes the kernel's own QEMU find the libraries of
    Debian's cross compiler. Empty if there is neither.
    """
    libraries = f"/usr/{arch}-linux-gnu"
    for name in (f"qemu-{arch}-static", f"qemu-{arch}"):
        path = on_path(name, environ)
        if path is not None:
            return str(path), "-L", libraries
    try:
        is_registered = (_BINFMT / f"qemu-{arch}").read_text().startswith("enabled")
    except OSError:
        is_registered = False
    return ("/usr/bin/env", f"QEMU_LD_PREFIX={libraries}") if is_registered else ()


def find_cmake(environ: Mapping[str, str]) -> Tool:
    """The system's CMake if it is new enough, else that of the cmake wheel, past its Python shim. Raises ToolMissingError."""
    refused = []
    for path, reason in _binaries("cmake", environ):
        version = _version_of(path)
        if version is not None and tuple(int(part) for part in version.split(".")[:2]) >= OLDEST_CMAKE:
            return Tool(path=path, reason=reason, version=version)
        refused.append(f"{path} is {version or 'no CMake'}")
    oldest = ".".join(map(str, OLDEST_CMAKE))
    msg = f"no CMake of at least {oldest}"
    raise ToolMissingError(msg, because=_seen(refused), help="pip install cmake")


def find_ninja(environ: Mapping[str, str]) -> Tool:
    """The system's Ninja, else that of the ninja wheel. Raises ToolMissingError."""
    refused = []
    for path, reason in _binaries("ninja", environ):
        version = _version_of(path)
        if version is not None:
            return Tool(path=path, reason=reason, version=version)
        refused.append(f"{path} doesn't run")
    msg = "no Ninja"
    raise ToolMissingError(msg, because=_seen(refused), help="pip install ninja")


def find_make(environ: Mapping[str, str]) -> Tool:
    """The system's make. Raises ToolMissingError."""
    for name in ("make", "gmake"):
        path = on_path(name, environ)
        if path is not None:
            return Tool(path=path, reason="found on PATH")
    msg = "no make"
    raise ToolMissingError(msg, because="neither make nor gmake is on PATH", help="sudo apt install -y make")


def _binaries(name: str, environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    passed_over = ""
    for path in _all_on_path(name, environ):
        if _is_python_script(path):
            # Whoever types the name gets this one, and wonders.
            passed_over = passed_over or f", past the Python launcher {path}"
        else:
            yield path, f"found on PATH{passed_over}"
    for folder in _wheel_folders(name):
        path = folder / name
        if os.access(path, os.X_OK) and not _is_python_script(path):
            yield path, f"from the {name} wheel{passed_over}"


def _wheel_folders(name: str) -> list[Path]:
    # Only a first build searches; a warm one must not pay for these imports.
    import importlib.util
    import sysconfig

    # The wheels' own CMAKE_BIN_DIR and BIN_DIR are these folders, but importing them reads all installed metadata.
    spec = importlib.util.find_spec(name)
    packages = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    return [package / "data" / "bin" for package in packages] + [Path(sysconfig.get_path("scripts"))]


def on_path(program: str, environ: Mapping[str, str]) -> Path | None:
    """The program that a shell with this environment would start, absolute."""
    if os.sep in program:
        return Path(program).absolute() if _is_executable(Path(program)) else None
    return next(_all_on_path(program, environ), None)


def _all_on_path(program: str, environ: Mapping[str, str]) -> Iterator[Path]:
    # An empty element of PATH means the current folder to a shell; a tool found by that accident is not the user's choice.
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = f"{folder}/{program}"
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113 - most of them aren't there, in every build
            yield Path(path).absolute()


def _is_executable(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113 - Path.is_file raises where a folder above is closed


def _is_python_script(path: Path) -> bool:
    """Whether this is a wheel's entry point: a Python process in front of the real tool, 47 ms for each call."""
    try:
        with path.open("rb") as file:
            first = file.readline(256)
    except OSError:
        # What may be executed and not read is no script: its interpreter couldn't read it either.
        return False
    return first.startswith(b"#!") and b"python" in first


def _version_of(path: Path) -> str | None:
    try:
        done = process.run([path, "--version"], timeout=20)
    except (CommandNotFoundError, CommandNotExecutableError):
        return None
    match = re.search(r"\d+\.\d+(?:\.\d+)?", done.stdout) if done.ok else None
    return match[0] if match else None


def _other_target(named: str, target: str, arch: str, *, help_text: str) -> CompilerMissingError:
    because = f"CXX={named} compiles for {target or 'a processor that it does not tell'}"
    return CompilerMissingError(f"CXX doesn't compile for {arch}", because=because, help=help_text)


def _target_of(compiler: Compiler) -> str:
    """The triple that CXX compiles for, such as aarch64-linux-gnu; empty if it doesn't tell."""
    try:
        done = process.run([*compiler.argv, "-dumpmachine"], timeout=20)
    except (CommandNotFoundError, CommandNotExecutableError):
        return ""
    return done.stdout.strip() if done.ok else ""


def _seen(refused: list[str]) -> str:
    return "; ".join(refused) if refused else "there is none on PATH and none beside opkit"
