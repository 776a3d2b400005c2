"""Reading a package out of a zip file, which is what a wheel is, with the lies that a zip has of its own: two tables of contents."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from opkit.errors import ArchiveError, ArchiveLimitError
from opkit.packaging.entries import CHUNK, Entry, Ledger

__all__ = ["METADATA_FOLDER", "METADATA_TEXTS", "RECORD_HASHES", "is_wheel_metadata", "zip_entries"]

# How the name of the folder ends in which a wheel tells of itself, and which of its files are read.
METADATA_FOLDER = ".dist-info"
METADATA_TEXTS = ("METADATA", "WHEEL", "RECORD", "entry_points.txt")
# What its record may hold a file by: SHA-256, or what is as strong.
RECORD_HASHES = ("sha256", "sha384", "sha512")

_LOCAL = struct.Struct("<4s5H3L2H")
_END = struct.Struct("<4s4H2LH")
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_DESCRIPTOR = 24  # bytes that may follow a content whose size was not known before
_LARGEST_TABLE = 32 << 20  # zipfile reads all of it at once
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_KINDS = {
    stat.S_IFLNK: "symbolic link",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
    stat.S_IFIFO: "named pipe",
    stat.S_IFSOCK: "socket",
}


def zip_entries(file: BinaryIO, archive: str) -> Iterator[tuple[Entry, Iterator[bytes]]]:
    """Gives each entry with its content, which can be read until the next; `archive` is its name in messages.

    Raises ArchiveError for a file that isn't a whole zip of plain files and folders.
    """
    with _reading(archive):
        _require_bare_end(file, archive)
    with _reading(archive), zipfile.ZipFile(file) as opened:
        ledger = Ledger(archive)
        _require_agreement(opened, file, archive, ledger)
        for info in opened.infolist():
            ledger.enter(_entry(info), mode=info.external_attr >> 16)
        for info in opened.infolist():
            yield _entry(info), _content(opened, info, archive)


def is_wheel_metadata(name: str) -> bool:
    """Whether an entry of that name is one of METADATA_TEXTS."""
    folder, _, file = name.partition("/")
    return folder.endswith(METADATA_FOLDER) and file in METADATA_TEXTS


@contextmanager
def _reading(archive: str) -> Iterator[None]:
    """What zipfile raises when a file isn't what it says, as one error of ours."""
    try:
        yield
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, OverflowError, struct.error, zlib.error) as fault:
        raise _damaged(archive, f"{fault}") from fault


def _entry(info: zipfile.ZipInfo) -> Entry:
    return Entry(name=info.filename.removesuffix("/"), is_folder=info.is_dir(), size=info.file_size)


def _content(opened: zipfile.ZipFile, info: zipfile.ZipInfo, archive: str) -> Iterator[bytes]:
    left = info.file_size
    with _reading(archive), opened.open(info) as stream:
        while chunk := stream.read(CHUNK):
            left -= len(chunk)
            yield chunk
    if left:
        raise _damaged(archive, f"{info.filename!a} ends {left} bytes too early")


def _require_bare_end(file: BinaryIO, archive: str) -> None:
    """The last bytes are the end record: what follows it would be a comment, which zipfile reads over."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _END.size))
    record = file.read(_END.size)
    if len(record) < _END.size or record[:4] != b"PK\x05\x06" or _END.unpack(record)[7] != 0:
        raise _damaged(archive, "the file doesn't end with the end record of a zip")
    table = _END.unpack(record)[5]
    if table > _LARGEST_TABLE:
        msg = f"{archive} is larger than a package can be"
        raise ArchiveLimitError(msg, because=f"its table of contents has {table} bytes, and at most {_LARGEST_TABLE} are read")


def _require_agreement(opened: zipfile.ZipFile, file: BinaryIO, archive: str, ledger: Ledger) -> None:
    """Holds the table at the end against the headers before the contents, which lie one after the other."""
    end = 0
    for info in sorted(opened.infolist(), key=lambda info: info.header_offset):
        name = info.filename
        if info.orig_filename != name:
            raise ledger.refused(info.orig_filename, "its name holds a control character")
        if info.flag_bits & _ENCRYPTED:
            raise ledger.refused(name, "it is encrypted")
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind in _KINDS:
            raise ledger.refused(name, f"it is a {_KINDS[kind]}")
        if info.compress_type not in _METHODS:
            raise ledger.refused(name, f"it is compressed by method {info.compress_type}; a package has stored and deflated files")
        if info.header_offset < end:
            raise ledger.refused(name, "it overlaps the entry before it")
        if info.header_offset > end + _DESCRIPTOR or (end == 0 and info.header_offset):
            raise _damaged(archive, f"something lies before {name!a} that the table of contents doesn't name")
        file.seek(info.header_offset)
        signature, _, flags, method, _, _, _, _, _, name_size, extra_size = _LOCAL.unpack(file.read(_LOCAL.size))
        stored = file.read(name_size).decode("utf-8" if flags & 0x800 else "cp437")
        if (signature, stored, method) != (b"PK\x03\x04", info.orig_filename, info.compress_type):
            raise ledger.refused(name, f"the header before its content names {stored!a} instead")
        end = info.header_offset + _LOCAL.size + name_size + extra_size + info.compress_size
    if opened.start_dir < end:
        raise _damaged(archive, "the last entry overlaps the table of contents")


def _damaged(archive: str, because: str) -> ArchiveError:
    return ArchiveError(f"{archive} is damaged", because=because, help="copy or download it again")
