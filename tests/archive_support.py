"""Archives as bytes: a good one, and each header of a tar or a zip written by hand, so that it can say what no tool would write."""

from __future__ import annotations

import gzip
import hashlib
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


def elf(machine: int = MACHINES[ARCH], *, kind: int = 3, bits: int = 2) -> bytes:
    """The header of an ELF file: a shared library of 64 bits unless it is told to be another."""
    return b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9) + struct.pack("<HHI", kind, machine, 1) + bytes(40)


def opp_root(folder: Path, files: dict[str, bytes] | None = None, **said: Any) -> OppRoot:  # noqa: ANN401 - what `signed` takes
    """An OPP root whose library is one by its header."""
    contents = {LIBRARY: elf(), KERNEL: b"kernel\n", HEADER: b"header\n"} if files is None else files
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
        metadata = [ZipEntry(b"add/__init__.py"), ZipEntry(b"add-0.1.0.dist-info/RECORD", b"records")]
        own = [ZipEntry(name.encode(), content) for name, content in self.contents().items()]
        return zipped([*own, *metadata, *more], before=before, comment=comment)
