"""What must be true of an op library once it is linked: the last place where a mistake is the author's and not that of who runs a model."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from opkit.errors import (
    BuildError,
    ElfError,
    ForeignLibraryError,
    NotRelocatableError,
    StringAbiError,
    UndeclaredOpError,
    UnregisteredOpError,
    WrongMachineError,
)
from opkit.layout import is_of_the_system

if TYPE_CHECKING:
    from pathlib import Path

    from opkit.build.project import Project
    from opkit.deliverable.elf import ElfLibrary
    from opkit.errors import LinkError
    from opkit.toolkit import Toolkit

__all__ = ["in_terms_of_abi", "require_one_abi", "require_sound"]

_DEFINED_ABI = re.compile(r"-D_GLIBCXX_USE_CXX11_ABI=(\d)")
_ORIGIN = re.compile(r"\$(?:ORIGIN|\{ORIGIN\})(?:/.*)?")
_SHOWN = 4


def require_one_abi(
    toolkit: Toolkit, environ: Mapping[str, str], definitions: Mapping[str, str] = {}, *, kept: Container[str] = ()
) -> None:
    """Raises StringAbiError for a CXXFLAGS, or a definition of CMake's, that would win over the ABI that the build is for. The `kept` ones
    of the definitions come from an earlier build.
    """
    for variable in ("CXXFLAGS", "CXX"):
        _require_abi_in(environ.get(variable, ""), variable, f"take it out of {variable}", toolkit)
    for name, value in definitions.items():
        if name.startswith("CMAKE_CXX_FLAGS"):
            way_out = "forget it with opkit build --force" if name in kept else f"leave out -D {name}"
            _require_abi_in(value, f"-D {name}", way_out, toolkit)


def _require_abi_in(flags: str, origin: str, way_out: str, toolkit: Toolkit) -> None:
    found = _DEFINED_ABI.findall(re.sub(r"-D\s+", "-D", flags))
    if found and int(found[-1]) != toolkit.abi:
        msg = f"{origin} asks for another string ABI than this build is for"
        because = f"-D_GLIBCXX_USE_CXX11_ABI={found[-1]} in {origin}, and {toolkit.abi} for the toolkit {toolkit.home}"
        raise StringAbiError(msg, because=because, help=f"{way_out}, or build with --abi {found[-1]}")


def in_terms_of_abi(fault: LinkError, toolkit: Toolkit) -> BuildError:
    """What the linker lacks in other words, if it is a string of the other ABI."""
    from opkit.toolkit import served_abis

    served = served_abis(toolkit.lib64)
    told = f"{fault.message} {fault.because}"
    if ("basic_string" not in told and "std::string" not in told) or not served or toolkit.abi in served:
        return fault
    other = 1 - toolkit.abi
    msg = f"the libraries of the toolkit have strings of the ABI {other}, and this build is for {toolkit.abi}"
    return StringAbiError(msg, where=fault.where, because=f"{fault.message}\n{fault.because}", help=f"opkit build --abi {other}")


def require_sound(libraries: Iterable[Path], ops: Iterable[str], project: Project, toolkit: Toolkit) -> dict[Path, ElfLibrary]:
    """What each of `libraries` says of itself: those that GE would load. `ops` are the types that they must register.

    Raises the BuildError of what isn't so.
    """
    from opkit.deliverable.elf import read_library

    paths = list(libraries)
    try:
        found = [(path, read_library(path)) for path in paths]
    except ElfError as fault:
        raise BuildError(fault.message, because=fault.because) from fault
    for path, library in found:
        _require_machine(path, library, toolkit)
        _require_abi(path, library, toolkit)
        _require_known_libraries(path, library, {each.name for each in paths}, toolkit)
        _require_relocatable(path, library, project)
    for what, registered in (
        ("REG_AUTO_MAPPING_OP", {op for _, library in found for op in library.ops}),
        ("REG_OP", {op for _, library in found for op in library.prototypes}),
    ):
        missing = [op for op in ops if op not in registered]
        if missing and not any(library.hides_ops for _, library in found):
            msg = f"the op library registers no {' and no '.join(missing)}"
            because = f"{what} leaves {', '.join(sorted(registered)) or 'nothing'} in {', '.join(path.name for path in paths)}"
            root = shlex.quote(str(project.root))
            raise UnregisteredOpError(msg, because=because, help=f"opkit generate {root} && opkit build {root}")
    undeclared = sorted({op for _, library in found for op in library.certain_ops}.difference(ops))
    if undeclared:
        msg = f"the op library registers {', '.join(undeclared)}, which ops.py doesn't declare"
        names = ", ".join(path.name for path in paths)
        because = f"its manifest names the ops of ops.py, and REG_AUTO_MAPPING_OP and REG_OP leave more in {names}"
        raise UndeclaredOpError(msg, because=because, help="declare it in ops.py, or take its registration out of the C++ of yours")
    return dict(found)


def _require_machine(path: Path, library: ElfLibrary, toolkit: Toolkit) -> None:
    if library.machine != toolkit.arch:
        msg = f"{path.name} is for {library.machine}, and the toolkit for {toolkit.arch}"
        raise WrongMachineError(
            msg, because=f"{toolkit.home} and the C++ compiler are for different machines", help="name the other with CXX"
        )


def _require_abi(path: Path, library: ElfLibrary, toolkit: Toolkit) -> None:
    from opkit.toolkit import string_abi_of

    other = 1 - toolkit.abi
    if other not in library.string_abis:
        return
    # A call that the C++ library doesn't serve is one of the toolkit's: it tells more.
    symbols = sorted(symbol for symbol in library.undefined if string_abi_of(symbol) == other)
    first = min(symbols, key=lambda symbol: symbol.startswith(("_ZNS", "_ZNKS", "_ZS")))
    msg = f"{path.name} has strings of the ABI {other}, and this build is for {toolkit.abi}"
    because = f"it needs {_demangled(first)}" + (f" and {len(symbols) - 1} more" if len(symbols) > 1 else "")
    raise StringAbiError(msg, because=because, help=f"let no source file define _GLIBCXX_USE_CXX11_ABI, or build with --abi {other}")


def _require_known_libraries(path: Path, library: ElfLibrary, beside: set[str], toolkit: Toolkit) -> None:
    foreign = [
        name
        for name in library.needed
        if not is_of_the_system(name)
        and not os.path.exists(toolkit.lib64 / name)  # noqa: PTH110 - Path.exists raises for a link to where nobody may look
        and not (name in beside and library.runpath)
    ]
    if foreign:
        msg = f"{path.name} needs {', '.join(foreign)}, which the machine that runs it may not have"
        because = f"neither the toolkit {toolkit.home} nor the C++ runtime brings it"
        raise ForeignLibraryError(msg, because=because, help="take it out of LDFLAGS and CXXFLAGS, or link it statically")


def _require_relocatable(path: Path, library: ElfLibrary, project: Project) -> None:
    fixed = [element for element in library.runpath if not _ORIGIN.fullmatch(element)]
    if fixed:
        msg = f"{path.name} looks for its libraries in a fixed folder"
        runpath = ":".join(library.runpath) if any(library.runpath) else "empty, which is the current folder"
        because = f"its RUNPATH is {runpath}; only $ORIGIN goes along with it"
        # The shell that Ninja and make start for a command takes $ORIGIN for a variable.
        is_expanded = any(not element or element.startswith("/") for element in fixed)
        advice = "take -rpath out of LDFLAGS" + ("; a $ORIGIN in it is expanded on the way" if is_expanded else "")
        raise NotRelocatableError(msg, because=because, help=advice)
    content = path.read_bytes()
    for folder in (project.build_dir, project.root):
        text = next(_texts_with(folder, content), None)
        if text is not None:
            msg = f"{path.name} names the folder that it was built in"
            because = f"{text} is in it: another folder would give other bytes, and nobody else has that one"
            raise NotRelocatableError(msg, because=because, help="use no __FILE__ of an absolute path, and no path in a definition")


def _texts_with(folder: Path, content: bytes) -> Iterator[str]:
    """The constants that have the path of the folder in them, not as the end of a longer one."""
    for match in re.finditer(rb"(?<![\w./-])" + re.escape(os.fsencode(folder)) + rb"(?=[/\0])[^\0\n]{0,200}", content):
        yield match[0].decode("utf-8", "replace")


def _demangled(symbol: str) -> str:
    """As C++ has it, if the C++ library of this machine can be asked."""
    import ctypes

    try:
        demangle = ctypes.CDLL("libstdc++.so.6")["__cxa_demangle"]
        free = ctypes.CDLL(None)["free"]
    except (OSError, AttributeError):
        return symbol
    demangle.restype, demangle.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    free.restype, free.argtypes = None, [ctypes.c_void_p]
    place = demangle(symbol.encode(), None, None, None)
    if not place:
        return symbol
    try:
        return ctypes.string_at(place).decode("utf-8", "replace")
    finally:
        free(place)
