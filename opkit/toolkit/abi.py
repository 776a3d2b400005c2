"""Which string ABI a toolkit has: `_GLIBCXX_USE_CXX11_ABI` as the symbols of its libraries show it, remembered from build to build.

GCC mangles `std::string` as `Ss` with the old ABI and as `std::__cxx11::basic_string` with the new one.
"""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from opkit.files import LARGEST_LIBRARY, LARGEST_SETTINGS, content_of, make_folders, write_whole
from opkit.toolkit.cache import user_cache

__all__ = ["abi_of", "served_abis", "string_abi_of"]

# What CANN's releases are built with; for libraries whose symbols show none, or both.
_DEFAULT = 0
# Those that generated code links with and whose calls can take a string, the most telling first.
_LIBRARIES = ("libgraph_base.so", "libgraph.so", "libmetadef.so", "libregister.so", "libge_runner.so")
_REMEMBERED = Path("opkit", "toolkit-abi.json")
_NEW = re.compile(r"__cxx11|B5cxx11")
# Whatever may hold the letters of an old string without being one goes first: names with their length, back references, literals.
_OLD = re.compile(r"S[0-9A-Z]*_|T[0-9A-Z]*_|L[a-z]n?\d+E|A\d+_|(?P<old>S[sb])|S[a-z]|(?P<length>\d+)|.")
# GE's own calls; what else a library holds may be someone else's, linked in.
_OWN = re.compile(rb"_ZNK?(?:2ge|4gert)")


def string_abi_of(symbol: str) -> int | None:
    """0 or 1 for a mangled name with a `std::string` of that ABI in it, None for any other name."""
    if not symbol.startswith("_Z"):
        return None
    if _NEW.search(symbol):
        return 1
    position = 2
    while match := _OLD.match(symbol, position):
        if match["old"]:
            return 0
        position = match.end() + int(match["length"] or 0)
    return None


def abi_of(home: Path, environ: Mapping[str, str]) -> int:
    """The one ABI that the libraries of a toolkit have, or CANN's own if they show none or serve both."""
    libraries = _telling(home / "lib64")
    if not libraries:
        return _DEFAULT
    stamps = [[path.name, stat.st_size, stat.st_mtime_ns] for path, stat in ((path, path.stat()) for path in libraries)]
    remembered = _cache(environ)
    known = _read(remembered)
    entry = known.get(str(home))
    if isinstance(entry, dict) and entry.get("libraries") == stamps and entry.get("abi") in (0, 1):
        return int(entry["abi"])
    served = served_abis(home / "lib64")
    abi = served.pop() if len(served) == 1 else _DEFAULT
    if remembered is not None:
        # Only a memory: where it can't be kept, the libraries are read again.
        with suppress(OSError):
            make_folders(remembered.parent)
            write_whole(remembered, json.dumps({**known, str(home): {"libraries": stamps, "abi": abi}}, indent=1).encode())
    return abi


def served_abis(lib64: Path) -> set[int]:
    """The ABIs of the strings in the calls of GE, by the first of its libraries that has any."""
    for library in _telling(lib64):
        own: set[int | None] = set()
        other: set[int | None] = set()
        try:
            for name in _defined(content_of(library, most=LARGEST_LIBRARY)):
                if b"Ss" in name or b"Sb" in name or b"cxx11" in name:
                    abi = string_abi_of(name.decode("ascii", "replace"))
                    (own if _OWN.match(name) else other).add(abi)
        except (OSError, ArithmeticError, LookupError, ValueError, struct.error):
            continue  # No library: the linker will say so.
        found = {abi for abi in own or other if abi is not None}
        if found:
            return found
    return set()


def _telling(lib64: Path) -> list[Path]:
    return [path for path in (lib64 / name for name in _LIBRARIES) if os.path.isfile(path)]  # noqa: PTH113 - a link may lead where this user isn't let in


def _defined(content: bytes) -> Iterator[bytes]:
    """The names of the dynamic symbols that a 64-bit library defines. Not pyelftools: a warm build may come here."""
    if content[:6] != b"\x7fELF\x02\x01":
        msg = "no 64-bit library"
        raise ValueError(msg)
    (sections,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", content, sections + number * size) for number in range(count)]
    for header in headers:
        if header[1] != 11:  # SHT_DYNSYM
            continue
        names = content[headers[header[6]][4] :][: headers[header[6]][5]]
        symbols = content[header[4] :][: header[5] // 24 * 24]
        for name, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", symbols):
            if section != 0:
                yield names[name : names.index(b"\0", name)]


def _cache(environ: Mapping[str, str]) -> Path | None:
    folder = user_cache(environ)
    return None if folder is None else folder / _REMEMBERED


def _read(remembered: Path | None) -> dict[str, object]:
    if remembered is None:
        return {}
    try:
        known = json.loads(content_of(remembered, most=LARGEST_SETTINGS))
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}
