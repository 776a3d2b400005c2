"""Archives that lie, each written byte by byte: refused for its own reason, before anything is written anywhere."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from archive_support import (
    ARCH,
    END,
    HEADER,
    INFO,
    KERNEL,
    LIBRARY,
    MACHINES,
    TOP,
    Good,
    ZipEntry,
    elf,
    entry,
    header,
    opp_root,
    record_of,
    zipped,
)

from opkit.deliverable import LARGEST_MANIFEST, MANIFEST
from opkit.errors import ArchiveContentError, ArchiveEntryError, ArchiveError, ArchiveLimitError
from opkit.packaging import open_archive
from opkit.packaging.entries import MOST_ENTRIES

_SIZE_OF_A_TERABYTE = b"\x80" + (1 << 40).to_bytes(11, "big")
_SIZE_BELOW_ZERO = b"\xff" + (-512 & (1 << 88) - 1).to_bytes(11, "big")
_LINK = 0o120777


@attrs.frozen
class Hostile:
    """`make` gives its bytes from a good one, `says` is a part of the message."""

    name: str
    make: Callable[[Good], bytes]
    kind: type[ArchiveError]
    says: str


def _added(name: str, entry_of_tar: bytes, says: str, kind: type[ArchiveError] = ArchiveEntryError) -> Hostile:
    return Hostile(name, lambda good: good.tar_gz(entry_of_tar), kind, says)


def _told(name: str, change: Callable[[dict[str, Any]], object], says: str, kind: type[ArchiveError] = ArchiveContentError) -> Hostile:
    return Hostile(name, lambda good: good.say(change).tar_gz(), kind, says)


def _zipped(name: str, more: ZipEntry, says: str, kind: type[ArchiveError] = ArchiveEntryError) -> Hostile:
    return Hostile(name, lambda good: good.wheel(more), kind, says)


def _first_file(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["files"][0]
    return found


def _without(good: Good, name: str) -> Good:
    del good.files[name]
    return good


def _raw(good: Good, text: bytes) -> Good:
    good.raw_manifest = text
    return good


def _flipped(raw: bytes, place: int) -> bytes:
    return raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :]


def _with_table_of(raw: bytes, size: int) -> bytes:
    return raw[:-10] + size.to_bytes(4, "little") + raw[-6:]


def _topped(good: Good, top: str) -> Good:
    good.top = top
    return good


_NAMES = [
    _added("traversal", entry(f"{TOP}/../../evil"), "its name leads out of the folder"),
    _added("traversal-first", entry("../evil"), "--> '../evil'"),
    _added("traversal-folder", entry(f"{TOP}/../", type=b"5"), "its name leads out of the folder"),
    _added("absolute", entry("/etc/cron.d/evil"), "its name is absolute"),
    _added("drive", entry("C:/evil"), "its name is absolute"),
    _added("backslash", entry(f"{TOP}/..\\evil"), "its name holds a backslash"),
    _added("brace", entry(f"{TOP}/a{{1}}.h"), "its name holds a quotation mark or a brace"),
    _added("quotation-mark", entry(f'{TOP}/q"x.h'), "its name holds a quotation mark or a brace"),
    _added("dot", entry(f"{TOP}/./evil"), "its name isn't written plainly"),
    _added("two-slashes", entry(f"{TOP}//evil"), "its name isn't written plainly"),
    _added("no-name", entry(""), "its name is empty"),
    _added("newline", entry(f"{TOP}/a\nerror: all is well"), "its name holds a control character"),
    _added("escape", entry(f"{TOP}/\x1b[2Jevil"), r"'add-0.1.0/\x1b[2Jevil'"),
    _added("no-utf8", entry(TOP.encode() + b"/\xff\xfe"), "its name isn't UTF-8"),
    _added("nul", entry(f"{TOP}/good\0/../evil"), "its name goes on after a NUL byte"),
    _added("twice", entry(f"{TOP}/{KERNEL}", b"other"), "it is there twice"),
    _added("twice-as-a-folder", entry(f"{TOP}/{KERNEL}/", type=b"5"), "it is there twice"),
    _added("case-twin", entry(f"{TOP}/{KERNEL.replace('add', 'ADD')}", b"other"), f"differs from '{TOP}/{KERNEL}' only in case"),
    _added("letter-twin", entry(f"{TOP}/\u00e4") + entry(f"{TOP}/a\u0308"), "only in case"),
]
_KINDS = [
    _added("link-out", header(f"{TOP}/evil", type=b"2", link="/etc/passwd"), "it is a symbolic link to '/etc/passwd'"),
    _added("link-in", header(f"{TOP}/evil", type=b"2", link=MANIFEST), "it is a symbolic link"),
    _added("hard-link", header(f"{TOP}/evil", type=b"1", link=f"{TOP}/{MANIFEST}"), "it is a hard link"),
    _added("character-device", header(f"{TOP}/evil", type=b"3"), "it is a character device"),
    _added("block-device", header(f"{TOP}/evil", type=b"4"), "it is a block device"),
    _added("pipe", header(f"{TOP}/evil", type=b"6"), "it is a named pipe"),
    _added("socket", header(f"{TOP}/evil", type=b"s"), "it is of the unknown type b's'"),
    _added("setuid", entry(f"{TOP}/evil", mode=0o4755), "it is setuid"),
    _added("setgid", entry(f"{TOP}/evil", mode=0o2755), "it is setgid"),
    _added("sticky", entry(f"{TOP}/evil/", type=b"5", mode=0o1777), "it is sticky"),
    _added("sparse", entry(f"{TOP}/evil", type=b"S"), "it is a sparse file"),
    _added(
        "pax", entry("PaxHeaders/x", b"19 path=../../evil\n", type=b"x") + entry(f"{TOP}/good"), "it is a PAX header that changes the entry"
    ),
    _added("pax-sparse", entry("PaxHeaders/x", b"22 GNU.sparse.major=1\n", type=b"x") + entry(f"{TOP}/good"), "PAX header"),
    _added("pax-solaris", entry("PaxHeaders/x", b"19 path=../../evil\n", type=b"X") + entry(f"{TOP}/good"), "PAX header"),
    _added("pax-global", entry("pax_global_header", b"19 path=../../evil\n", type=b"g"), "that changes all entries after it"),
    _added("long-name", entry("././@LongLink", b"../../evil\0", type=b"L") + entry(f"{TOP}/good"), "it is a long name of GNU tar"),
    _added("long-link", entry("././@LongLink", b"/etc/passwd\0", type=b"K"), "it is a long link name of GNU tar"),
    _added("folder-of-bytes", entry(f"{TOP}/{HEADER.rpartition('/')[0]}/", b"x", type=b"5"), "it is a folder of 1 bytes"),
    _added("below-zero", header(f"{TOP}/evil", _SIZE_BELOW_ZERO), "it has -512 bytes"),
    _added("gnu", entry(f"{TOP}/evil", magic=b"ustar  \0"), "its header isn't that of a POSIX ustar", ArchiveError),
]
_LIMITS = [
    _added("terabyte", header(f"{TOP}/evil", _SIZE_OF_A_TERABYTE), "and at most", ArchiveLimitError),
    _added(
        "entries", b"".join(header(f"{TOP}/{number}") for number in range(MOST_ENTRIES)), f"more than {MOST_ENTRIES}", ArchiveLimitError
    ),
    Hostile("zeros-at-the-end", lambda good: good.tar_gz(end=bytes(64 << 20)), ArchiveError, "something follows the end of the tar"),
    Hostile(
        "huge-manifest", lambda good: _raw(good, b" " * (LARGEST_MANIFEST + 1)).tar_gz(), ArchiveContentError, f"at most {LARGEST_MANIFEST}"
    ),
]
_DAMAGE = [
    Hostile("empty", lambda _: b"", ArchiveError, "it is empty"),
    Hostile("text", lambda _: b"this is no archive\n", ArchiveError, "it begins with b'this'"),
    Hostile("not-compressed", lambda good: good.tar(), ArchiveError, "which is neither gzip nor zstd nor zip"),
    Hostile("no-tar", lambda _: gzip.compress(b"this is no tar\n" * 100), ArchiveError, "is no tar archive"),
    Hostile("nothing-in-it", lambda _: gzip.compress(END), ArchiveContentError, f"no folder in it has {MANIFEST}"),
    Hostile("no-gzip", lambda good: _flipped(good.tar_gz(), 40), ArchiveError, "while decompressing data"),
    Hostile("no-deflate", lambda good: good.tar_gz()[:10] + b"\xff" * 40, ArchiveError, "is no archive of a package"),
    Hostile("wrong-crc", lambda good: _flipped(good.tar_gz(), -6), ArchiveError, "incorrect data check"),
    Hostile("short-gzip", lambda good: good.tar_gz()[:-1], ArchiveError, "the compressed file ends too early"),
    Hostile("short-tar", lambda good: gzip.compress(good.tar()[:700]), ArchiveError, "in the middle of an entry"),
    Hostile("no-end", lambda good: good.tar_gz(end=b""), ArchiveError, "in the middle of an entry"),
    Hostile("half-an-end", lambda good: good.tar_gz(end=bytes(512)), ArchiveError, "in the middle of an entry"),
    Hostile("end-and-a-header", lambda good: good.tar_gz(end=bytes(512) + entry("evil")), ArchiveError, "half an end of the archive"),
    Hostile("after-the-end", lambda good: good.tar_gz(end=END + entry("evil")), ArchiveError, "something follows the end of the tar"),
    Hostile("after-the-gzip", lambda good: good.tar_gz() + b"#!/bin/sh\n", ArchiveError, "follows the end of the compressed file"),
    Hostile("second-gzip", lambda good: good.tar_gz() + gzip.compress(b"evil"), ArchiveError, "follows the end of the compressed file"),
    Hostile("wrong-checksum", lambda good: gzip.compress(_flipped(good.tar(), 1024)), ArchiveError, "bad checksum"),
    Hostile("between-entries", lambda good: good.tar_gz(entry(f"{TOP}/x", b"x")[:-1] + b"y"), ArchiveError, "between two entries"),
]
_CONTENT = [
    _added("outside", entry("other/evil", b"x"), "--> 'other/evil'", ArchiveContentError),
    _added(
        "unnamed", entry(f"{TOP}/op_graph/lib/linux/{ARCH}/evil.txt", b"x"), "its manifest doesn't name what is in it", ArchiveContentError
    ),
    _added("unnamed-folder", entry(f"{TOP}/evil/", type=b"5"), f"--> '{TOP}/evil'", ArchiveContentError),
    Hostile("missing", lambda good: _without(good, KERNEL).tar_gz(), ArchiveContentError, f"--> '{TOP}/{KERNEL}'"),
    Hostile("wrong-hash", lambda good: good.place(KERNEL, b"KERNEL\n", is_named=False).tar_gz(), ArchiveContentError, "its SHA-256 is"),
    Hostile(
        "wrong-size",
        lambda good: good.place(KERNEL, b"", is_named=False).tar_gz(),
        ArchiveContentError,
        "it has 0 bytes, and by the manifest 7",
    ),
    Hostile(
        "two-manifests",
        lambda good: good.tar_gz(entry(f"other/{MANIFEST}", json.dumps(good.manifest).encode())),
        ArchiveContentError,
        "two folders in it have a manifest",
    ),
    Hostile("deep-manifest", lambda good: _topped(good, f"{TOP}/deeper").tar_gz(), ArchiveContentError, f"no folder in it has {MANIFEST}"),
    Hostile("manifest-without-a-folder", lambda _: gzip.compress(entry(MANIFEST, b"{}") + END), ArchiveContentError, "no folder in it"),
    Hostile("other-folder", lambda good: _topped(good, "add-0.1.1").tar_gz(), ArchiveContentError, "--> the folder 'add-0.1.1'"),
    _told("other-package", lambda said: said.update(package="mul"), "its manifest is that of mul 0.1.0"),
    _told("other-version", lambda said: said.update(version="0.2.0"), "its manifest is that of add 0.2.0"),
    Hostile(
        "file-and-folder",
        lambda good: good.name(f"{KERNEL}/deeper", b"x").tar_gz(),
        ArchiveContentError,
        "its manifest names it as a file and as a folder",
    ),
    _told("manifest-in-the-manifest", lambda said: _first_file(said).update(path="../evil"), "'../evil' leaves the folder"),
    _told("absolute-in-the-manifest", lambda said: _first_file(said).update(path="/evil"), "'/evil' leaves the folder"),
    _told("named-twice", lambda said: said["files"].append(_first_file(said)), "a file is named twice"),
    _told("no-unicode", lambda said: _first_file(said).update(path="\ud800"), "holds what can't be printed"),
    _told("escape-in-the-manifest", lambda said: said["ops"][0].update(type="\x1b[2J"), "holds what can't be printed"),
    _told("no-hash", lambda said: _first_file(said).update(sha256="../evil"), "where [0-9a-f]{64} is expected"),
    _told("bytes-below-zero", lambda said: _first_file(said).update(size=-1), "a size of -1 bytes"),
    _told("true-bytes", lambda said: _first_file(said).update(size=True), "expected int, found True"),
    _told("package-that-is-a-path", lambda said: said.update(package="../evil"), "'../evil' where [a-z][a-z0-9_]* is expected"),
    _told("version-that-is-a-path", lambda said: said.update(version="1/../../evil"), "'1/../../evil' where"),
    _told("later-layout", lambda said: said.update(layout=3), "layout 3; this opkit reads 2"),
    _told("lacking", lambda said: said.pop("target"), "it has no 'target'"),
    _told("wrong-type", lambda said: said.update(files={}), "expected list, found {}"),
    Hostile("no-json", lambda good: _raw(good, b"{").tar_gz(), ArchiveContentError, "is no manifest that this opkit can read"),
    Hostile("no-text", lambda good: _raw(good, b"\xff").tar_gz(), ArchiveContentError, "is no manifest that this opkit can read"),
    Hostile("nested", lambda good: _raw(good, b"[" * 100_000).tar_gz(), ArchiveContentError, "it is nested too deeply"),
    Hostile("long-number", lambda good: _raw(good, b'{"layout": ' + b"9" * 5000 + b"}").tar_gz(), ArchiveContentError, "no manifest"),
]
_TARGETS = [
    _told("other-system", lambda said: said["target"].update(os="windows"), "its manifest is for windows x86_64"),
    _told("unknown-machine", lambda said: said["target"].update(arch="riscv64"), "opkit knows linux aarch64, linux x86_64"),
    _told("other-machine", lambda said: said["target"].update(arch="aarch64"), "no library in op_graph/lib/linux/aarch64"),
    Hostile(
        "library-for-another",
        lambda good: good.place(LIBRARY, elf(MACHINES["aarch64"])).tar_gz(),
        ArchiveContentError,
        "it is for aarch64, the manifest says x86_64",
    ),
    Hostile("library-for-a-vax", lambda good: good.place(LIBRARY, elf(75)).tar_gz(), ArchiveContentError, "shared library for machine 75"),
    Hostile(
        "library-of-32-bits", lambda good: good.place(LIBRARY, elf(bits=1)).tar_gz(), ArchiveContentError, "it is a 32-bit shared library"
    ),
    Hostile("program", lambda good: good.place(LIBRARY, elf(kind=2)).tar_gz(), ArchiveContentError, "it is a 64-bit executable"),
    Hostile("half-a-header", lambda good: good.place(LIBRARY, elf()[:40]).tar_gz(), ArchiveContentError, "it is damaged"),
    Hostile("header-alone", lambda good: good.place(LIBRARY, elf()[:64]).tar_gz(), ArchiveContentError, "it is damaged"),
    Hostile(
        "half-a-library", lambda good: good.place(LIBRARY, elf()[:-100]).tar_gz(), ArchiveContentError, "it ends before its segments do"
    ),
    Hostile(
        "op-that-nothing-registers",
        lambda good: good.place(LIBRARY, elf(ops=["Mul", "Sub"])).tar_gz(),
        ArchiveContentError,
        "no library of it registers Add, which its manifest says; registered: Mul, Sub",
    ),
    Hostile(
        "library-that-registers-nothing",
        lambda good: good.place(LIBRARY, elf(ops=[])).tar_gz(),
        ArchiveContentError,
        "no library of it registers Add, which its manifest says; registered: none",
    ),
    Hostile(
        "newer-glibc-than-it-says",
        lambda good: good.say(lambda said: said["requires"].update(glibc="2.17")).place(LIBRARY, elf(glibc="2.99")).tar_gz(),
        ArchiveContentError,
        "it needs glibc 2.99, the manifest says 2.17",
    ),
    Hostile(
        "text-beside-the-library",
        lambda good: good.place(f"op_graph/lib/linux/{ARCH}/libextra.so", b"not a library\n").tar_gz(),
        ArchiveContentError,
        f"op_graph/lib/linux/{ARCH}/libextra.so",
    ),
    Hostile("no-library", lambda good: _unnamed(good, LIBRARY).tar_gz(), ArchiveContentError, f"no library in op_graph/lib/linux/{ARCH}"),
]


def _with_metadata(good: Good, **texts: bytes | None) -> Good:
    """With another text, or with none, of a file of its metadata."""
    for name, text in texts.items():
        path = f"{INFO}/{'entry_points.txt' if name == 'entry_points' else name}"
        if text is None:
            del good.metadata[path]
        else:
            good.metadata[path] = text
    return good


def _renamed(good: Good, folder: str) -> Good:
    good.metadata = {name.replace(INFO, folder): text for name, text in good.metadata.items()}
    return good


def _recorded(good: Good, change: Callable[[bytes], bytes], algorithm: str = "sha256") -> Good:
    """With a record that says what `change` makes of the true one."""
    good.top = "add"
    good.record = change(record_of({**good.contents(), "add/__init__.py": b"", **good.metadata}, algorithm))
    return good


def _lying(name: str, make: Callable[[Good], Good], says: str) -> Hostile:
    return Hostile(f"wheel-{name}", lambda good: make(good).wheel(), ArchiveContentError, says)


_LYING_WHEELS = [
    Hostile(
        "wheel-without-metadata",
        lambda good: zipped([ZipEntry(f"add/{name.partition('/')[2]}".encode(), content) for name, content in good.contents().items()]),
        ArchiveContentError,
        "it has no metadata",
    ),
    _lying("without-a-record", lambda good: _recorded(good, lambda _: b""), f"--> '{INFO}/RECORD'"),
    _lying("without-tags", lambda good: _with_metadata(good, WHEEL=None), f"--> '{INFO}/WHEEL'"),
    _lying("without-a-name", lambda good: _with_metadata(good, METADATA=b"Version: 0.1.0\n"), "it doesn't say one name and one version"),
    _lying("of-no-text", lambda good: _with_metadata(good, METADATA=b"Name: \xff\nVersion: 1\n"), "it isn't there, or isn't UTF-8"),
    _lying("metadata-of-another", lambda good: _with_metadata(good, METADATA=b"Name: numpy\nVersion: 0.1.0\n"), "of 'numpy' '0.1.0'"),
    _lying("metadata-of-another-version", lambda good: _with_metadata(good, METADATA=b"Name: add\nVersion: 2\n"), "of 'add' '2'"),
    Hostile(
        "wheel-with-two-metadata",
        lambda good: good.wheel(ZipEntry(b"evil.dist-info/libx.so", elf())),
        ArchiveContentError,
        "it has the metadata of 2 distributions",
    ),
    Hostile(
        "wheel-with-two-names",
        lambda good: good.wheel(ZipEntry(b"evil.dist-info/METADATA", b"Name: evil")),
        ArchiveContentError,
        "two folders in it have the metadata of a wheel",
    ),
    _lying(
        "for-another-machine",
        lambda good: _with_metadata(good, WHEEL=b"Wheel-Version: 1.0\nTag: py3-none-linux_aarch64\n"),
        "it says that the wheel is for 'py3-none-linux_aarch64', and the manifest x86_64",
    ),
    _lying("for-any-machine", lambda good: _with_metadata(good, WHEEL=b"Tag: py3-none-any\n"), "is for 'py3-none-any'"),
    _lying("for-nothing", lambda good: _with_metadata(good, WHEEL=b"Wheel-Version: 1.0\n"), "is for nothing"),
    _lying(
        "wrong-hash",
        lambda good: _recorded(good, lambda record: record.replace(b"sha256=", b"sha256=A", 1)),
        "that the record of the wheel",
    ),
    _lying(
        "weak-hash", lambda good: _recorded(good, lambda record: record.replace(b"sha256=", b"md5=", 1)), "that the record of the wheel"
    ),
    _lying(
        "wrong-hash-of-another-kind",
        lambda good: _recorded(good, lambda record: record.replace(b"sha512=", b"sha512=A", 1), "sha512"),
        "that the record of the wheel",
    ),
    _lying("true-and-weak-hash", lambda good: _recorded(good, bytes, "sha1"), "that the record of the wheel"),
    _lying("wrong-size", lambda good: _recorded(good, lambda record: record.replace(b",7\n", b",8\n")), "that the record of the wheel"),
    _lying(
        "recorded-and-gone", lambda good: _recorded(good, lambda record: record + b"ghost.py,,\n"), "'ghost.py' is in its record, and not"
    ),
    _lying("recorded-twice", lambda good: _recorded(good, lambda record: record + record.splitlines()[0] + b"\n"), "it names a file twice"),
    _lying("record-of-no-rows", lambda good: _recorded(good, lambda _: b"add\n"), "doesn't have a path, a hash and a size"),
    _lying("record-of-no-table", lambda good: _recorded(good, lambda _: b'"a'), "it is no table"),
    Hostile(
        "wheel-unrecorded", lambda good: good.wheel(ZipEntry(f"{INFO}/x".encode(), b"x")), ArchiveContentError, f"'{INFO}/x' is in the"
    ),
    _lying("entries-of-no-text", lambda good: _with_metadata(good, entry_points=b"[opkit.opp]\nadd = add\n# \xff\n"), "or isn't UTF-8"),
    _lying("code-of-another", lambda good: _with_metadata(good, entry_points=b"[opkit.opp]\nadd = numpy\n"), "it has 'add = numpy in"),
    _lying(
        "command",
        lambda good: _with_metadata(good, entry_points=b"[console_scripts]\nls = add:evil\n[opkit.opp]\nadd = add\n"),
        "ls = add:evil",
    ),
    _lying("entries-of-no-table", lambda good: _with_metadata(good, entry_points=b"add = add\n"), "entry_points.txt"),
]
_WHEELS = [
    *_LYING_WHEELS,
    _zipped("zip-traversal", ZipEntry(b"add/../../evil"), "its name leads out of the folder"),
    _zipped("zip-absolute", ZipEntry(b"/etc/passwd"), "its name is absolute"),
    _zipped("zip-link", ZipEntry(b"add/evil", b"/etc/passwd", _LINK), "it is a symbolic link"),
    _zipped("zip-device", ZipEntry(b"add/evil", attributes=0o020644), "it is a character device"),
    _zipped("zip-socket", ZipEntry(b"add/evil", attributes=0o140644), "it is a socket"),
    _zipped("zip-setuid", ZipEntry(b"add/evil", attributes=0o104755), "it is setuid"),
    _zipped("zip-twice", ZipEntry(f"add/{KERNEL}".encode(), b"other"), "it is there twice"),
    _zipped("zip-case-twin", ZipEntry(f"add/{KERNEL}".upper().encode(), b"other"), "only in case"),
    _zipped("zip-nul", ZipEntry(b"add/__init__.py\0.txt"), "its name holds a control character"),
    _zipped("zip-long-name", ZipEntry(b"add/" + b"x" * 256), "its name is too long"),
    _zipped("zip-long-path", ZipEntry(b"add/" + b"x/" * 600 + b"y"), "its name is too long"),
    _zipped("zip-encrypted", ZipEntry(b"add/evil", b"x", flags=1), "it is encrypted"),
    _zipped("zip-method", ZipEntry(b"add/evil", b"x", method=12), "it is compressed by method 12"),
    _zipped("zip-other-name", ZipEntry(b"add/good", b"x", local_name=b"../evil"), "names '../evil' instead"),
    _zipped("zip-overlap", ZipEntry(b"add/evil", b"x", at=0), "it overlaps the entry before it"),
    _zipped("zip-terabyte", ZipEntry(b"add/evil", b"x", size=0xFFFFFFF0), "and at most", ArchiveLimitError),
    _zipped("zip-bomb", ZipEntry(b"add-0.1.0.dist-info/x", bytes(1 << 20), size=10), "is damaged", ArchiveError),
    _zipped("zip-short", ZipEntry(b"add-0.1.0.dist-info/x", b"x", size=10), "is damaged", ArchiveError),
    _zipped("zip-crc", ZipEntry(b"add-0.1.0.dist-info/x", b"x", crc=1), "Bad CRC-32", ArchiveError),
    _zipped("zip-module", ZipEntry(b"evil.pth", b"import evil"), "--> 'evil.pth'", ArchiveContentError),
    _zipped("zip-unnamed", ZipEntry(b"add/evil.py", b"import evil"), "--> 'add/evil.py'", ArchiveContentError),
    Hostile("zip-comment", lambda good: good.wheel(comment=b"evil"), ArchiveError, "doesn't end with the end record"),
    Hostile("zip-after-the-end", lambda good: good.wheel() + b"evil", ArchiveError, "doesn't end with the end record"),
    Hostile("zip-hidden", lambda good: good.wheel(before=b"PK\x03\x04" + bytes(60)), ArchiveError, "something lies before"),
    Hostile(
        "zip-table", lambda good: _with_table_of(good.wheel(), 1 << 30), ArchiveLimitError, "its table of contents has 1073741824 bytes"
    ),
    Hostile("zip-cut", lambda good: good.wheel()[:-22], ArchiveError, "doesn't end with the end record"),
    Hostile("zip-other-package", lambda good: good.say(lambda said: said.update(package="mul")).wheel(), ArchiveContentError, "mul 0.1.0"),
    Hostile("zip-missing", lambda good: _without(good, KERNEL).wheel(), ArchiveContentError, f"--> 'add/{KERNEL}'"),
]


def _unnamed(good: Good, name: str) -> Good:
    good.manifest["files"] = [file for file in good.manifest["files"] if file["path"] != name]
    return _without(good, name)


HOSTILE = [*_NAMES, *_KINDS, *_LIMITS, *_DAMAGE, *_CONTENT, *_TARGETS, *_WHEELS]


@pytest.fixture
def good(tmp_path: Path) -> Good:
    return Good.of(opp_root(tmp_path / "root"))


@pytest.fixture
def snapshot_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, tuple[int, int]]]:
    """The file system as far as a refused archive could change it; a folder's time tells of a file that came and went."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path / "here")
    return lambda: {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in sorted(tmp_path.rglob("*"))}


def test_the_archives_that_are_changed_are_good(good: Good, tmp_path: Path) -> None:
    """Without this, each of them could be refused for a fault that all share."""
    for name, content in (("add.tar.gz", good.tar_gz()), ("add.whl", good.wheel())):
        (tmp_path / name).write_bytes(content)
        with open_archive(tmp_path / name) as root:
            assert (root.path / KERNEL).read_bytes() == b"kernel\n"


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512"])
def test_a_record_may_have_any_hash_that_is_as_strong(good: Good, tmp_path: Path, algorithm: str) -> None:
    """What makes a wheel may choose it: packaging.python.org, Recording installed projects."""
    (tmp_path / "add.whl").write_bytes(_recorded(good, bytes, algorithm).wheel())
    with open_archive(tmp_path / "add.whl") as root:
        assert (root.path / KERNEL).read_bytes() == b"kernel\n"


@pytest.mark.case("F1", "K2")
@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.name)
def test_a_hostile_archive_is_refused_with_nothing_written(
    hostile: Hostile, good: Good, tmp_path: Path, snapshot_of: Callable[[], dict[str, tuple[int, int]]]
) -> None:
    path = tmp_path / ("add.whl" if hostile in _WHEELS else "add.tar.gz")
    path.write_bytes(hostile.make(good))
    before = snapshot_of()
    with pytest.raises(ArchiveError) as caught, open_archive(path):
        pytest.fail("it was opened")
    assert snapshot_of() == before
    told = caught.value.render()
    assert type(caught.value) is hostile.kind, told
    assert hostile.says in told
    assert path.name in told
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", told), "a terminal would take a part of the message for something else"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (f"numpy-0.1.0-py3-none-linux_{ARCH}.whl", "its name isn't that of the wheel"),
        (f"add-0.2.0-py3-none-linux_{ARCH}.whl", "its name isn't that of the wheel"),
        ("add-0.1.0-py3-none-linux_aarch64.whl", "and the name of the wheel another"),
        (f"add-0.1.0-cp311-cp311-linux_{ARCH}.whl", "and the name of the wheel another"),
    ],
)
def test_a_wheel_with_the_name_of_another_is_refused(name: str, says: str, good: Good, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(good.wheel())
    with pytest.raises(ArchiveContentError) as caught, open_archive(tmp_path / name):
        pytest.fail("it was opened")
    assert says in (caught.value.because or "")


@pytest.mark.parametrize("name", [f"add-0.1.0-py3-none-linux_{ARCH}.whl", f"Add-0.1.0-1-py3-none-linux_{ARCH}.whl", "add (1).whl"])
def test_a_wheel_with_its_own_name_or_with_none_is_opened(name: str, good: Good, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(good.wheel())
    with open_archive(tmp_path / name) as root:
        assert root.manifest.package == "add"


def test_each_has_a_name_of_its_own() -> None:
    assert len(HOSTILE) == len({hostile.name for hostile in HOSTILE}) >= 40
