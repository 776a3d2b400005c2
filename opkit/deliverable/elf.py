"""What an ELF library says of itself: for whom it is, what it needs, and which custom ops it registers.

A library may come from anywhere: each place in it is looked up only after it was found to be there. Read is what the loader reads, not the
section headers, which may say anything.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import attrs
from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile

from opkit.errors import ElfError
from opkit.toolkit import MACHINES, string_abi_of

__all__ = ["ElfLibrary", "read_library"]

_LARGEST = 1 << 31
_MOST_TAGS = 4096
_MOST_VERSIONS = 4096
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_PACKED = struct.Struct("<Q")
_PACKED_BITS = 63
_NEEDED_VERSIONS = struct.Struct("<HHIII")
_NEEDED_VERSION = struct.Struct("<IHHII")
_VERSION = re.compile(r"(GLIBC|GLIBCXX|CXXABI)_(\d+(?:\.\d+)*)")
# Where the loader puts these, a class starts to describe itself: without bases, with one, with several or virtual ones.
_CLASS_KINDS = (
    "_ZTVN10__cxxabiv117__class_type_infoE",
    "_ZTVN10__cxxabiv120__si_class_type_infoE",
    "_ZTVN10__cxxabiv121__vmi_class_type_infoE",
)
_SINGLE, _MANY = _CLASS_KINDS[1:]
_MOST_BASES = 256
_CUSTOM_OP = "N2ge12BaseCustomOpE"
_OPERATOR = "N2ge8OperatorE"
# REG_AUTO_MAPPING_OP and OP_END_FACTORY_REG each make one of these at load, with the op type as a text.
_REGISTERS_OPS = "N2ge23CustomOpCreatorRegisterC"
_REGISTERS_PROTOTYPES = "N2ge23OperatorCreatorRegisterC"
# What readers of a file that lies may raise.
_LIES = (
    ELFError,
    ConstructError,
    struct.error,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
)


@attrs.frozen(kw_only=True)
class ElfLibrary:
    """A shared library for `machine`, x86_64 or aarch64.

    `runpath` are the elements of RPATH and RUNPATH. `glibc`, `glibcxx`, `cxxabi` are the highest symbol versions that it needs, None if it
    needs none. `string_abis` are those of the undefined symbols with a string in them.
    `ops` are the types that REG_AUTO_MAPPING_OP registers for execution, `prototypes` those that REG_OP describes, both sorted.
    `hides_ops` is one that registers ops or prototypes and describes no class of theirs, so that nothing tells which.
    """

    machine: str
    soname: str | None
    needed: tuple[str, ...]
    runpath: tuple[str, ...]
    glibc: str | None
    glibcxx: str | None
    cxxabi: str | None
    defined: frozenset[str]
    undefined: frozenset[str]
    ops: tuple[str, ...]
    prototypes: tuple[str, ...]
    hides_ops: bool

    @property
    def string_abis(self) -> frozenset[int]:
        return frozenset(abi for abi in map(string_abi_of, self.undefined) if abi is not None)


def read_library(path: Path) -> ElfLibrary:
    """Raises ElfError for a file that is no whole 64-bit shared library for Linux on x86_64 or aarch64."""
    try:
        if not path.is_file():
            raise _refused(path, "it is no file")
        size = path.stat().st_size
        if size > _LARGEST:
            raise _refused(path, f"it has {size} bytes; opkit reads at most {_LARGEST}")
        content = path.read_bytes()
    except OSError as fault:
        raise _refused(path, fault.strerror or str(fault)) from fault
    if content[:4] != b"\x7fELF":
        raise _refused(path, "it is empty" if not content else "it doesn't begin as an ELF file")
    try:
        return _read(content)
    except _LIES as fault:
        raise _refused(path, f"it is damaged ({type(fault).__name__}{f': {fault}' if str(fault) else ''})") from fault


def _refused(path: Path, because: str) -> ElfError:
    return ElfError(f"{path} is no library that can be read", because=because)


def _read(content: bytes) -> ElfLibrary:
    elf = ELFFile(io.BytesIO(content))
    machine = MACHINES.get(int.from_bytes(content[18:20], "little"))
    if elf.elfclass != 64 or not elf.little_endian or machine is None or elf["e_type"] != "ET_DYN":
        msg = f"a {elf.elfclass}-bit {elf['e_type']} for {elf['e_machine']}"
        raise ValueError(msg)
    image = _Image.of(elf, content)
    return ElfLibrary(
        machine=machine,
        soname=next(iter(image.names("DT_SONAME")), None),
        needed=tuple(image.names("DT_NEEDED")),
        runpath=tuple(part for tag in ("DT_RPATH", "DT_RUNPATH") for path in image.names(tag) for part in path.split(":")),
        **_versions(image),
        defined=frozenset(symbol.name for symbol in image.symbols if symbol.is_defined and symbol.name),
        undefined=frozenset(symbol.name for symbol in image.symbols if not symbol.is_defined and symbol.name),
        ops=tuple(sorted(_registered(image))),
        prototypes=tuple(sorted(_described(image))),
        hides_ops=any(
            any(registers in symbol.name for symbol in image.symbols) and next(image.derived(ancestor), None) is None
            for registers, ancestor in ((_REGISTERS_OPS, _CUSTOM_OP), (_REGISTERS_PROTOTYPES, _OPERATOR))
        ),
    )


class _Segment(NamedTuple):
    address: int
    offset: int
    size: int


class _Symbol(NamedTuple):
    name: str
    value: int
    is_defined: bool


class _Class(NamedTuple):
    """`bases` are the addresses of classes of this library, or the names of classes of another."""

    name: str
    place: int
    bases: tuple[int | str, ...]


@attrs.frozen(kw_only=True, slots=False)
class _Image:
    """A library as it lies in memory, without what is only zeros there."""

    content: bytes
    segments: tuple[_Segment, ...]
    tags: dict[str, list[int]]

    @classmethod
    def of(cls, elf: ELFFile, content: bytes) -> _Image:
        segments, tags = [], {}
        for segment in elf.iter_segments():
            if segment["p_type"] == "PT_LOAD":
                if segment["p_offset"] + segment["p_filesz"] > len(content):
                    msg = "it ends before its segments do"
                    raise ValueError(msg)
                segments.append(_Segment(segment["p_vaddr"], segment["p_offset"], segment["p_filesz"]))
            elif isinstance(segment, DynamicSegment):
                tags = _tags(segment)
        if not segments or not tags:
            msg = "nothing in it is for the loader"
            raise ValueError(msg)
        return cls(content=content, segments=tuple(segments), tags=tags)

    def first(self, tag: str) -> int:
        return self.tags.get(tag, [0])[0]

    def names(self, tag: str) -> list[str]:
        return [self.name(offset) for offset in self.tags.get(tag, [])]

    def offset(self, address: int, size: int = 1) -> int:
        for segment in self.segments:
            if segment.address <= address and address + size <= segment.address + segment.size:
                return segment.offset + address - segment.address
        msg = f"nothing lies at {address:#x}"
        raise ValueError(msg)

    def read(self, address: int, size: int) -> bytes:
        offset = self.offset(address, size)
        return self.content[offset : offset + size]

    def text(self, address: int) -> bytes:
        offset = self.offset(address)
        return self.content[offset : self.content.index(b"\0", offset)]

    def name(self, offset: int) -> str:
        if not 0 <= offset < self.first("DT_STRSZ"):
            msg = f"a name at {offset:#x}, outside of the table of names"
            raise ValueError(msg)
        return self.text(self.first("DT_STRTAB") + offset).decode("utf-8", "backslashreplace")

    def table(self, address: int, size: int, entry: struct.Struct) -> Iterator[tuple[int, ...]]:
        return entry.iter_unpack(self.read(address, size - size % entry.size)) if size else iter(())

    @cached_property
    def symbols(self) -> tuple[_Symbol, ...]:
        count = self._symbol_count()
        table = self.table(self.first("DT_SYMTAB"), count * _SYMBOL.size, _SYMBOL)
        return tuple(_Symbol(self.name(name), value, section != 0) for name, _, _, section, value, _ in table)

    def _symbol_count(self) -> int:
        """The table of symbols has no length; the hash table that leads to them does."""
        if "DT_HASH" in self.tags:
            return int(struct.unpack("<II", self.read(self.first("DT_HASH"), 8))[1])
        table = self.first("DT_GNU_HASH")
        if not table:
            return 0
        buckets, first, bloom, _ = struct.unpack("<IIII", self.read(table, 16))
        chains = table + 16 + 8 * bloom + 4 * buckets
        last = max(struct.unpack(f"<{buckets}I", self.read(chains - 4 * buckets, 4 * buckets)), default=0)
        if last < first:
            return int(first)
        while not self.read(chains + 4 * (last - first), 4)[0] & 1:
            last += 1
        return int(last) + 1

    @cached_property
    def pointers(self) -> dict[int, int | str]:
        """What the loader writes, by the address that it writes to: an address of this library, or the name of a symbol of another."""
        found: dict[int, int | str] = {}
        for place, size in (("DT_RELA", "DT_RELASZ"), ("DT_JMPREL", "DT_PLTRELSZ")):
            for address, info, addend in self.table(self.first(place), self.first(size), _RELOCATION):
                symbol = self.symbols[info >> 32] if info >> 32 else None
                if symbol is None:
                    found[address] = addend
                else:
                    found[address] = symbol.value + addend if symbol.is_defined else symbol.name
        for address in self._packed():
            found[address] = int.from_bytes(self.read(address, 8), "little")
        return found

    def _packed(self) -> Iterator[int]:
        """The addresses of the packed relocations: each is named, or a bit of a word about the 63 after the last one."""
        following = 0
        for (entry,) in self.table(self.first("DT_RELR"), self.first("DT_RELRSZ"), _PACKED):
            if entry & 1:
                yield from (following + 8 * bit for bit in range(_PACKED_BITS) if entry >> (bit + 1) & 1)
                following += 8 * _PACKED_BITS
            else:
                yield entry
                following = entry + 8

    def pointer(self, address: int) -> int | str:
        known = self.pointers.get(address)
        # A packed relocation keeps its addend in place.
        return int.from_bytes(self.read(address, 8), "little") if known is None else known

    @cached_property
    def classes(self) -> dict[int, _Class]:
        """The classes with virtual functions that the library describes, by the address of their description."""
        kinds: dict[int | str, str] = {
            symbol.value + 16: symbol.name for symbol in self.symbols if symbol.is_defined and symbol.name in _CLASS_KINDS
        }
        kinds |= {name: name for name in _CLASS_KINDS}
        if not any(symbol.name in _CLASS_KINDS for symbol in self.symbols):
            kinds |= self._local_kinds()
        found = {}
        for address, target in self.pointers.items():
            kind = kinds.get(target)
            if kind is None:
                continue
            place = self.pointer(address + 8)
            if isinstance(place, int):
                found[address] = _Class(self.text(place).decode("utf-8", "backslashreplace").lstrip("*"), place, self._bases(address, kind))
        return found

    def _local_kinds(self) -> dict[int | str, str]:
        """The same of a C++ library that is linked in and hidden: a table of functions follows the description of the kind's own class."""
        kinds: dict[int | str, str] = {}
        places: dict[int | str, list[int]] = {}
        for address, target in self.pointers.items():
            places.setdefault(target, []).append(address)
        for kind in _CLASS_KINDS:
            named = [address - 8 for text in self.addresses(kind.removeprefix("_ZTV")) for address in places.get(text, [])]
            for address in (address for description in named for address in places.get(description, [])):
                # Before it lies the offset to the top, 0; before a base class, which is also such an address, lies a name.
                if address - 8 not in self.pointers and not any(self.read(address - 8, 8)) and address + 8 in self.pointers:
                    kinds[address + 8] = kind
        return kinds

    def addresses(self, text: str) -> Iterator[int]:
        """Where the constants with that text lie in memory."""
        wanted = text.encode() + b"\0"
        for segment in self.segments:
            start, end = segment.offset, segment.offset + segment.size
            while (start := self.content.find(wanted, start, end)) >= 0:
                yield segment.address + start - segment.offset
                start += 1

    def _bases(self, address: int, kind: str) -> tuple[int | str, ...]:
        if kind == _SINGLE:
            return (self.pointer(address + 16),)
        if kind != _MANY:
            return ()
        count = int.from_bytes(self.read(address + 20, 4), "little")
        if count > _MOST_BASES:
            msg = f"a class with {count} bases"
            raise ValueError(msg)
        return tuple(self.pointer(address + 24 + 16 * number) for number in range(count))

    def derived(self, ancestor: str) -> Iterator[_Class]:
        """The classes below the one of that mangled name."""
        known = {address: each.name == ancestor for address, each in self.classes.items()}
        is_changed = True
        while is_changed:
            below = [
                address
                for address, each in self.classes.items()
                if not known[address]
                and any(known.get(base, False) if isinstance(base, int) else base == f"_ZTI{ancestor}" for base in each.bases)
            ]
            known |= dict.fromkeys(below, True)
            is_changed = bool(below)
        return (each for address, each in self.classes.items() if known[address] and each.name != ancestor)

    def has_text(self, text: str, *, apart_from: int) -> bool:
        """Whether a constant ends so, other than the name of a symbol or the text at that address."""
        wanted = text.encode() + b"\0"
        names = self.offset(self.first("DT_STRTAB"))
        own = self.offset(apart_from)
        skipped = ((names, names + self.first("DT_STRSZ")), (own, self.content.index(b"\0", own) + 1))
        for segment in self.segments:
            start, end = segment.offset, segment.offset + segment.size
            while (start := self.content.find(wanted, start, end)) >= 0:
                if not any(begin <= start < stop for begin, stop in skipped):
                    return True
                start += 1
        return False


def _tags(segment: DynamicSegment) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, tag in enumerate(segment.iter_tags()):
        if number == _MOST_TAGS:
            msg = f"more than {_MOST_TAGS} dynamic entries"
            raise ValueError(msg)
        found.setdefault(str(tag.entry.d_tag), []).append(tag.entry.d_val)
    return found


def _versions(image: _Image) -> dict[str, str | None]:
    found: dict[str, list[str]] = {"GLIBC": [], "GLIBCXX": [], "CXXABI": []}
    for text in _version_names(image):
        match = _VERSION.fullmatch(text)
        if match:
            found[match[1]].append(match[2])
    return {name.lower(): max(versions, key=_numbers, default=None) for name, versions in found.items()}


def _version_names(image: _Image) -> Iterable[str]:
    names: list[str] = []
    library = image.first("DT_VERNEED")
    libraries = image.first("DT_VERNEEDNUM")
    if libraries > _MOST_VERSIONS:
        msg = f"symbol versions of {libraries} libraries"
        raise ValueError(msg)
    for _ in range(libraries):
        _, count, _, first, following = _NEEDED_VERSIONS.unpack(image.read(library, _NEEDED_VERSIONS.size))
        version = library + first
        for _ in range(count):
            _, _, _, name, after = _NEEDED_VERSION.unpack(image.read(version, _NEEDED_VERSION.size))
            names.append(image.name(name))
            if len(names) > _MOST_VERSIONS:
                msg = f"more than {_MOST_VERSIONS} symbol versions"
                raise ValueError(msg)
            version += after
        library += following
    return names


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _registered(image: _Image) -> set[str]:
    """REG_AUTO_MAPPING_OP leaves a class below ge::BaseCustomOp and the name of the class as a text."""
    if not any(_REGISTERS_OPS in symbol.name for symbol in image.symbols):
        return set()
    named = ((_parts(each.name), each.place) for each in image.derived(_CUSTOM_OP))
    return {parts[-1] for parts, place in named if parts and image.has_text(parts[-1], apart_from=place)}


def _described(image: _Image) -> set[str]:
    """REG_OP makes a class of the op's type below ge::Operator, in namespace op."""
    if not any(_REGISTERS_PROTOTYPES in symbol.name for symbol in image.symbols):
        return set()
    names = (_parts(each.name) for each in image.derived(_OPERATOR))
    return {parts[-1] for parts in names if parts[-2:-1] == ["op"]}


def _parts(name: str) -> list[str]:
    """The namespaces and the name of a class, from its mangled name; empty for one that is made from a template or in a function."""
    rest = name[1:-1] if name.startswith("N") and name.endswith("E") else name
    parts = []
    while rest:
        length = re.match(r"[1-9]\d{0,4}", rest)
        if length is None or length.end() + int(length[0]) > len(rest):
            return []
        end = length.end() + int(length[0])
        parts.append(rest[length.end() : end])
        rest = rest[end:]
    return parts
