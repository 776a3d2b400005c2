"""What an ELF library says of itself: for whom it is, what it needs, and which custom ops it registers.

A library may come from anywhere: each place in it is looked up only after it was found to be there. Read is what the loader reads, not the
section headers, which may say anything.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import attrs

from opkit.errors import ElfError
from opkit.files import LARGEST_LIBRARY, content_of, readable_again
from opkit.toolkit import ARCHITECTURES, elf_arch_of, string_abi_of

__all__ = ["ElfLibrary", "library_in", "read_library"]

# Not pyelftools: its import takes ten times as long as reading the library of a package, and each install reads one.
_ORDERS = {1: "<", 2: ">"}
_BITS = {1: 32, 2: 64}
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_DYNAMIC = struct.Struct("<QQ")
_LOADED, _LINKED = 1, 2  # PT_LOAD, PT_DYNAMIC
_OTHER_MACHINES = {3: "x86", 8: "MIPS", 20: "PowerPC", 21: "PowerPC", 22: "S390", 40: "ARM", 243: "RISC-V", 258: "LoongArch"}
_MOST_TAGS = 4096
_MOST_VERSIONS = 4096
_MOST_TEXT = 64 << 20  # bytes of all names; those of LLVM, tens of thousands, have 3 MiB
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_PACKED = struct.Struct("<Q")
_PACKED_BITS = 63
_NEEDED_VERSIONS = struct.Struct("<HHIII")
_NEEDED_VERSION = struct.Struct("<IHHII")
_LENGTH = re.compile(r"[1-9]\d{0,4}")
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
_OBJECT, _EXECUTABLE, _SHARED, _CORE = range(1, 5)
_KINDS = {_OBJECT: "object file", _EXECUTABLE: "executable", _SHARED: "shared library", _CORE: "core dump"}
_PROGRAM = 0x08000000  # DF_1_PIE: the header of such a program is that of a library
# What readers of a file that lies may raise.
_LIES = (
    struct.error,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
)


class _Tag(IntEnum):
    """The entries of a dynamic table that are read, as <elf.h> calls them after DT_."""

    NEEDED = 1
    PLTRELSZ = 2
    HASH = 4
    STRTAB = 5
    SYMTAB = 6
    RELA = 7
    RELASZ = 8
    STRSZ = 10
    SONAME = 14
    RPATH = 15
    JMPREL = 23
    RUNPATH = 29
    RELRSZ = 35
    RELR = 36
    GNU_HASH = 0x6FFFFEF5
    FLAGS_1 = 0x6FFFFFFB
    VERNEED = 0x6FFFFFFE
    VERNEEDNUM = 0x6FFFFFFF


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
    def certain_ops(self) -> frozenset[str]:
        """The ops that are without doubt run and not only described. One of `ops` alone may be none: the base of a class whose name ends
        with its own, or a class that says its name in a message, leave what a registration does.
        """
        return frozenset(self.ops) & frozenset(self.prototypes)

    @property
    def string_abis(self) -> frozenset[int]:
        return frozenset(abi for abi in map(string_abi_of, self.undefined) if abi is not None)


def read_library(path: Path) -> ElfLibrary:
    """Raises ElfError for a file that is no whole 64-bit shared library for Linux on x86_64 or aarch64."""
    try:
        content = content_of(path, most=LARGEST_LIBRARY)
    except OSError as fault:
        raise _refused(path, fault.strerror or str(fault), help_text=readable_again(path, fault)) from fault
    return library_in(content, path)


def library_in(content: bytes, name: Path | str) -> ElfLibrary:
    """What `content` says, which `name` has. Raises ElfError as `read_library` does."""
    if content[:4] != b"\x7fELF":
        raise _refused(name, "it is empty" if not content else "it doesn't begin as an ELF file")
    try:
        return _read(content)
    except _OtherKindError as fault:
        raise _refused(name, f"it is {fault}; opkit reads 64-bit shared libraries for {' and '.join(ARCHITECTURES)}") from fault
    except _LIES as fault:
        told = str(fault) if isinstance(fault, ValueError) else ""
        raise _refused(name, f"it is damaged: {told}" if told else "it is damaged") from fault


def _refused(name: Path | str, because: str, *, help_text: str | None = None) -> ElfError:
    return ElfError(f"{name} is no library that can be read", because=because, help=help_text)


def _read(content: bytes) -> ElfLibrary:
    order, bits = _ORDERS.get(content[5]), _BITS.get(content[4])
    if order is None or bits is None:
        msg = "its header names no kind of file"
        raise ValueError(msg)
    kind, number = struct.unpack_from(f"{order}HH", content, 16)
    machine = elf_arch_of(content) if order == "<" else None
    if bits != 64 or machine not in ARCHITECTURES or kind != _SHARED:
        raise _other_kind(bits, order, kind, machine if machine in ARCHITECTURES else _OTHER_MACHINES.get(number, f"machine {number}"))
    image = _Image.of(content)
    if image.first(_Tag.FLAGS_1) & _PROGRAM:
        raise _other_kind(bits, order, _EXECUTABLE, machine)
    return ElfLibrary(
        machine=machine,
        soname=next(iter(image.names(_Tag.SONAME)), None),
        needed=tuple(image.names(_Tag.NEEDED)),
        runpath=tuple(part for tag in (_Tag.RPATH, _Tag.RUNPATH) for path in image.names(tag) for part in path.split(":")),
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


class _OtherKindError(Exception):
    """It is sound, and no library for these machines; says what it is."""


def _other_kind(bits: int, order: str, kind: int, machine: str) -> Exception:
    if kind not in _KINDS:
        return ValueError("its header names no kind of file")
    return _OtherKindError(f"a {'big-endian ' if order == '>' else ''}{bits}-bit {_KINDS[kind]} for {machine}")


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


@attrs.define
class _Allowance:
    """How many bytes of names may still be read: they may overlap, so all names of a small library can be larger than any memory."""

    left: int = _MOST_TEXT

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            msg = f"its names have more than {_MOST_TEXT} bytes"
            raise ValueError(msg)


@attrs.frozen(kw_only=True, slots=False)
class _Image:
    """A library as it lies in memory, without what is only zeros there."""

    content: bytes
    segments: tuple[_Segment, ...]
    dynamic: int | None
    allowance: _Allowance = attrs.field(factory=_Allowance)

    @classmethod
    def of(cls, content: bytes) -> _Image:
        header = _HEADER.unpack_from(content)
        table, size, count = header[5], header[9], header[10]
        if size != _SEGMENT.size or table + size * count > len(content):
            msg = "its table of segments isn't in it"
            raise ValueError(msg)
        segments, dynamic = [], None
        for kind, _, offset, address, _, held, _, _ in _SEGMENT.iter_unpack(content[table : table + size * count]):
            if kind == _LOADED:
                if offset + held > len(content):
                    msg = "it ends before its segments do"
                    raise ValueError(msg)
                segments.append(_Segment(address, offset, held))
            elif kind == _LINKED:
                dynamic = address
        image = cls(content=content, segments=tuple(segments), dynamic=dynamic)
        if not segments or not image.tags:
            msg = "nothing in it is for the loader"
            raise ValueError(msg)
        return image

    @cached_property
    def tags(self) -> dict[int, list[int]]:
        """What the dynamic table says, where the loader finds it: by its address, not by its place in the file."""
        found: dict[int, list[int]] = {}
        if self.dynamic is None:
            return found
        for number in range(_MOST_TAGS):
            tag, value = _DYNAMIC.unpack(self.read(self.dynamic + number * _DYNAMIC.size, _DYNAMIC.size))
            if tag == 0:
                return found
            found.setdefault(tag, []).append(value)
        msg = f"more than {_MOST_TAGS} dynamic entries"
        raise ValueError(msg)

    def first(self, tag: _Tag) -> int:
        return self.tags.get(tag, [0])[0]

    def names(self, tag: _Tag) -> list[str]:
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
        end = self.content.index(b"\0", offset)
        self.allowance.take(end - offset)
        return self.content[offset:end]

    def name(self, offset: int) -> str:
        if not 0 <= offset < self.first(_Tag.STRSZ):
            msg = f"a name at {offset:#x}, outside of the table of names"
            raise ValueError(msg)
        return self.text(self.first(_Tag.STRTAB) + offset).decode("utf-8", "backslashreplace")

    def table(self, address: int, size: int, entry: struct.Struct) -> Iterator[tuple[int, ...]]:
        return entry.iter_unpack(self.read(address, size - size % entry.size)) if size else iter(())

    @cached_property
    def symbols(self) -> tuple[_Symbol, ...]:
        count = self._symbol_count()
        table = self.table(self.first(_Tag.SYMTAB), count * _SYMBOL.size, _SYMBOL)
        return tuple(_Symbol(self.name(name), value, section != 0) for name, _, _, section, value, _ in table)

    def _symbol_count(self) -> int:
        """The table of symbols has no length; the hash table that leads to them does."""
        if _Tag.HASH in self.tags:
            return int(struct.unpack("<II", self.read(self.first(_Tag.HASH), 8))[1])
        table = self.first(_Tag.GNU_HASH)
        if not table:
            return self._relocated_symbols()
        buckets, first, bloom, _ = struct.unpack("<IIII", self.read(table, 16))
        chains = table + 16 + 8 * bloom + 4 * buckets
        last = max(struct.unpack(f"<{buckets}I", self.read(chains - 4 * buckets, 4 * buckets)), default=0)
        # It leads to what the library exports, which may be nothing.
        if last < first:
            return max(int(first), self._relocated_symbols())
        while not self.read(chains + 4 * (last - first), 4)[0] & 1:
            last += 1
        return int(last) + 1

    def _relocated_symbols(self) -> int:
        return max((info >> 32 for _, info, _ in self._relocations()), default=-1) + 1

    def _relocations(self) -> Iterator[tuple[int, ...]]:
        for place, size in ((_Tag.RELA, _Tag.RELASZ), (_Tag.JMPREL, _Tag.PLTRELSZ)):
            yield from self.table(self.first(place), self.first(size), _RELOCATION)

    @cached_property
    def pointers(self) -> dict[int, int | str]:
        """What the loader writes, by the address that it writes to: an address of this library, or the name of a symbol of another."""
        found: dict[int, int | str] = {}
        for address, info, addend in self._relocations():
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
        for (entry,) in self.table(self.first(_Tag.RELR), self.first(_Tag.RELRSZ), _PACKED):
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
        names = self.offset(self.first(_Tag.STRTAB))
        own = self.offset(apart_from)
        skipped = ((names, names + self.first(_Tag.STRSZ)), (own, self.content.index(b"\0", own) + 1))
        for segment in self.segments:
            start, end = segment.offset, segment.offset + segment.size
            while (start := self.content.find(wanted, start, end)) >= 0:
                after = [stop for begin, stop in skipped if begin <= start < stop]
                if not after:
                    return True
                start = max(after)
        return False


def _versions(image: _Image) -> dict[str, str | None]:
    found: dict[str, list[str]] = {"GLIBC": [], "GLIBCXX": [], "CXXABI": []}
    for text in _version_names(image):
        match = _VERSION.fullmatch(text)
        if match:
            found[match[1]].append(match[2])
    return {name.lower(): max(versions, key=_numbers, default=None) for name, versions in found.items()}


def _version_names(image: _Image) -> Iterable[str]:
    names: list[str] = []
    library = image.first(_Tag.VERNEED)
    libraries = image.first(_Tag.VERNEEDNUM)
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
    start = 0
    while start < len(rest):
        length = _LENGTH.match(rest, start)
        if length is None or length.end() + int(length[0]) > len(rest):
            return []
        start = length.end() + int(length[0])
        parts.append(rest[length.end() : start])
    return parts
