"""Archives as bytes: a good one, and each header of a tar or a zip written by hand, so that it can say what no tool would write."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import struct
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import attrs
from manifest_support import signed

from opkit.deliverable import MANIFEST, OppRoot, Target, library_folder

ARCH = "x86_64"
MACHINES = {"x86_64": 62, "aarch64": 183}
LIBRARY = str(library_folder(ARCH) / "libcust_opapi.so")
KERNEL = str(library_folder(ARCH) / "add.asc")
HEADER = "op_graph/include/add.h"
TOP = "add-0.1.0"
INFO = "add-0.1.0.dist-info"
METADATA = {
    f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: add\nVersion: 0.1.0\n",
    f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-linux_{ARCH}\n".encode(),
    f"{INFO}/entry_points.txt": b"[opkit.opp]\nadd = add\n",
}


_SYMBOLS = ("", "_ZTVN10__cxxabiv120__si_class_type_infoE", "_ZTIN2ge12BaseCustomOpE", "_ZN2ge23CustomOpCreatorRegisterC1EPKc")


def elf(machine: int = MACHINES[ARCH], *, kind: int = 3, bits: int = 2, ops: Iterable[str] = ("Add",), glibc: str | None = None) -> bytes:
    """A shared library of 64 bits unless it is told to be another, with what REG_AUTO_MAPPING_OP leaves of `ops` and no code; `e_shoff` is
    its size.
    """
    head, types = 64 + 2 * 56, [*ops]
    names = b"\0".join(symbol.encode() for symbol in _SYMBOLS) + b"\0" + f"libc.so.6\0GLIBC_{glibc}\0".encode()
    symbols = b"".join(
        struct.pack("<IBBHQQ", names.index(symbol.encode() + b"\0"), 0x10, 0, 0, 0, 0) if symbol else bytes(24)
        for symbol in (_SYMBOLS if types else _SYMBOLS[:-1])
    )
    # Of each class the description, whose three words the loader writes; then its mangled name, and the name of the op.
    described = head + len(names) + -len(names) % 8
    texts, placed, relocations = described + 24 * len(types), b"", b""
    for number, op in enumerate(types):
        at = described + 24 * number
        rows = ((at, 1 << 32, 16), (at + 8, 0, texts + len(placed)), (at + 16, 2 << 32, 0))
        relocations += b"".join(struct.pack("<QQq", *row) for row in rows)
        placed += f"{len(op)}{op}\0{op}\0".encode()
    body = names.ljust(described - head, b"\0") + bytes(24 * len(types)) + placed
    body += bytes(-len(body) % 8)
    tables, place = {6: symbols, 7: relocations, 4: struct.pack("<II", 0, len(symbols) // 24)}, head + len(body)
    if glibc is not None:
        library, version = names.index(b"libc.so.6"), names.index(b"GLIBC_")
        tables[0x6FFFFFFE] = struct.pack("<HHIIIIHHII", 1, 1, library, 16, 0, 0, 0, 2, version, 0)
    entries = [(5, head), (10, len(names)), (8, len(relocations)), (0x6FFFFFFF, int(glibc is not None))]
    for tag, table in tables.items():
        entries.append((tag, place))
        body += table
        place += len(table)
    dynamic = b"".join(struct.pack("<QQ", *pair) for pair in [*entries, (0, 0)])
    size = place + len(dynamic)
    header = (
        b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9) + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 64, size, 0, 64, 56, 2, 0, 0, 0)
    )
    segments = struct.pack("<IIQQQQQQ", 1, 7, 0, 0, 0, size, size, 4096)
    segments += struct.pack("<IIQQQQQQ", 2, 6, place, place, place, len(dynamic), len(dynamic), 8)
    return header + segments + body + dynamic


def opp_root(folder: Path, files: dict[str, bytes] | None = None, **said: Any) -> OppRoot:  # noqa: ANN401 - what `signed` takes
    """An OPP root whose library has all of one but the code."""
    contents = {LIBRARY: elf(ops=said.get("ops", ("Add",))), KERNEL: b"kernel\n", HEADER: b"header\n"} if files is None else files
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return signed(folder, contents, **{"target": Target(os="linux", arch=ARCH), **said})


def header(
    name: str | bytes,
    size: int | bytes = 0,
    *,
    type: bytes = b"0",  # noqa: A002 - as the field is called
    mode: int = 0o644,
    link: str = "",
    magic: bytes = b"ustar\x0000",
) -> bytes:
    """One block, with a checksum that is right."""
    raw = name.encode() if isinstance(name, str) else name
    block = bytearray(512)
    block[0 : len(raw)] = raw
    block[100:108] = b"%07o\0" % mode
    block[108:116] = block[116:124] = b"0000000\0"
    block[124:136] = size if isinstance(size, bytes) else b"%011o\0" % size
    block[136:148] = b"%011o\0" % 0
    block[156:157] = type
    block[157 : 157 + len(link)] = link.encode()
    block[257:265] = magic
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def entry(name: str | bytes, content: bytes = b"", **said: Any) -> bytes:  # noqa: ANN401 - what `header` takes
    return header(name, len(content), **said) + content + bytes(-len(content) % 512)


END = bytes(1024)


class ZipEntry(NamedTuple):
    """One entry of a zip; what is None in it follows from the rest."""

    name: bytes
    content: bytes = b""
    attributes: int = 0o100644
    flags: int = 0
    method: int = 8
    size: int | None = None
    crc: int | None = None
    local_name: bytes | None = None
    at: int | None = None


def zipped(entries: Iterable[ZipEntry], *, before: bytes = b"", comment: bytes = b"") -> bytes:
    body, table, count = before, b"", 0
    for each in entries:
        packed = zlib.compress(each.content, 9)[2:-4] if each.method == 8 else each.content
        crc = zlib.crc32(each.content) if each.crc is None else each.crc
        size = len(each.content) if each.size is None else each.size
        local = each.name if each.local_name is None else each.local_name
        offset = len(body) if each.at is None else each.at
        common = struct.pack("<HHHHHLLL", 20, each.flags, each.method, 0, 33, crc, len(packed), size)
        if each.at is None:
            body += b"PK\x03\x04" + common + struct.pack("<HH", len(local), 0) + local + packed
        table += b"PK\x01\x02" + struct.pack("<H", 0x314) + common
        table += struct.pack("<HHHHHLL", len(each.name), 0, 0, 0, 0, each.attributes << 16, offset) + each.name
        count += 1
    end = struct.pack("<HHHHLLH", 0, 0, count, count, len(table), len(body), len(comment))
    return body + table + b"PK\x05\x06" + end + comment


@attrs.define
class Good:
    """What a good archive holds, by names below the OPP root; a hostile one is made by changing it, or the bytes that it comes to."""

    files: dict[str, bytes]
    manifest: dict[str, Any]
    top: str = TOP
    raw_manifest: bytes | None = None
    metadata: dict[str, bytes] = attrs.Factory(lambda: dict(METADATA))  # what a wheel has beside it, but for the record
    record: bytes | None = None  # None is a true one, and an empty one is none

    @classmethod
    def of(cls, root: OppRoot) -> Good:
        files = {str(file.path): (root.path / file.path).read_bytes() for file in root.manifest.files}
        return cls(files=files, manifest=json.loads((root.path / MANIFEST).read_text()))

    def say(self, change: Callable[[dict[str, Any]], object]) -> Good:
        change(self.manifest)
        return self

    def place(self, name: str, content: bytes, *, is_named: bool = True) -> Good:
        """Puts a file in, and into the manifest as well."""
        self.files[name] = content
        if is_named:
            self.name(name, content)
        return self

    def name(self, name: str, content: bytes) -> Good:
        """Puts a file into the manifest, and not in."""
        described = {"path": name, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        self.manifest["files"] = [*(file for file in self.manifest["files"] if file["path"] != name), described]
        return self

    def contents(self) -> dict[str, bytes]:
        raw = json.dumps(self.manifest).encode() if self.raw_manifest is None else self.raw_manifest
        return {f"{self.top}/{name}": content for name, content in sorted({**self.files, MANIFEST: raw}.items())}

    def tar(self, *more: bytes, end: bytes = END) -> bytes:
        """With `more` entries after the others."""
        return b"".join([*(entry(name, content) for name, content in self.contents().items()), *more, end])

    def tar_gz(self, *more: bytes, end: bytes = END) -> bytes:
        return gzip.compress(self.tar(*more, end=end), mtime=0)

    def wheel(self, *more: ZipEntry, before: bytes = b"", comment: bytes = b"") -> bytes:
        self.top = "add"
        contents = {**self.contents(), "add/__init__.py": b"", **self.metadata}
        entries = [ZipEntry(name.encode(), content) for name, content in contents.items()]
        if self.record is None:
            entries.append(ZipEntry(f"{INFO}/RECORD".encode(), record_of(contents)))
        elif self.record:
            entries.append(ZipEntry(f"{INFO}/RECORD".encode(), self.record))
        return zipped([*entries, *more], before=before, comment=comment)


def record_of(contents: dict[str, bytes], algorithm: str = "sha256") -> bytes:
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    for name, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.new(algorithm, content).digest()).rstrip(b"=").decode()
        writer.writerow((name, f"{algorithm}={digest}", len(content)))
    writer.writerow((f"{INFO}/RECORD", "", ""))
    return rows.getvalue().encode()
