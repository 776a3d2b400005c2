"""The tar of a package: how opkit writes one, so that the same files give the same bytes, and how it reads one from anybody.

Only POSIX ustar headers are written and read: the extensions for long names and sparse files are where two readers see two things.
"""

from __future__ import annotations

import importlib
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, BinaryIO, NamedTuple, NoReturn, Protocol

from opkit.errors import ArchiveEntryError, ArchiveError, MachineError
from opkit.packaging.entries import CHUNK, Entry, Ledger, ascii_of

__all__ = ["Compression", "Member", "tar_entries", "write_tar"]

# Of zstd, 1 KiB can be 32 MiB: what one step may fill is bounded by what it is given.
_ZSTD_CHUNK = 1 << 10
_LARGEST_WINDOW = 1 << 27
_NAMES = ((0, 100), (345, 500))  # name and prefix in a header
_LINKS = {tarfile.SYMTYPE: "symbolic link", tarfile.LNKTYPE: "hard link"}
_KINDS = {
    tarfile.CHRTYPE: "it is a character device",
    tarfile.BLKTYPE: "it is a block device",
    tarfile.FIFOTYPE: "it is a named pipe",
    tarfile.GNUTYPE_SPARSE: "it is a sparse file",
    tarfile.GNUTYPE_LONGNAME: "it is a long name of GNU tar for the entry after it",
    tarfile.GNUTYPE_LONGLINK: "it is a long link name of GNU tar for the entry after it",
    tarfile.XHDTYPE: "it is a PAX header that changes the entry after it",
    tarfile.SOLARIS_XHDTYPE: "it is a PAX header that changes the entry after it",
    tarfile.XGLTYPE: "it is a PAX header that changes all entries after it",
}


class Compression(Enum):
    GZ = "gz"
    ZST = "zst"


class Member(NamedTuple):
    """A file to write; None for a folder."""

    name: str
    content: bytes | None
    mode: int


def write_tar(file: BinaryIO, members: Iterable[Member], *, compression: Compression, mtime: int) -> None:
    """Raises ArchiveEntryError for a name that ustar can't hold, MachineError without the zstandard package."""
    compressor = _compressor(compression)
    for name, content, mode in members:
        info = tarfile.TarInfo(name)
        info.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
        info.size = len(content or b"")
        info.mode = mode
        info.mtime = mtime
        try:
            header = info.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")
        except ValueError as fault:
            msg = f"{name} has no place in a tar archive"
            because = "the folders of a file have at most 155 bytes, and its own name 100"
            raise ArchiveEntryError(msg, because=because, help="give the file a shorter name") from fault
        file.write(compressor.compress(header))
        file.write(compressor.compress((content or b"") + b"\0" * (-info.size % tarfile.BLOCKSIZE)))
    file.write(compressor.compress(b"\0" * 2 * tarfile.BLOCKSIZE))
    file.write(compressor.flush())


def tar_entries(file: BinaryIO, archive: str, *, compression: Compression) -> Iterator[tuple[Entry, Iterator[bytes]]]:
    """Gives each entry with its content, which can be read until the next; `archive` is its name in messages.

    At the end the whole file was read. Raises ArchiveError for a file that isn't a whole tar of plain files and folders.
    """
    stream = _Stream(file, archive, compression)
    ledger = Ledger(archive)
    while True:
        offset = stream.offset
        block = stream.take(tarfile.BLOCKSIZE)
        if not any(block):
            break
        info = _header(block, offset, archive)
        if info.type in _LINKS:
            raise ledger.refused(info.name, f"it is a {_LINKS[info.type]} to {ascii_of(info.linkname)}")
        if info.type in _KINDS:
            raise ledger.refused(info.name, _KINDS[info.type])
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE):
            raise ledger.refused(info.name, f"it is of the unknown type {info.type!r}")
        if info.size < 0:
            raise ledger.refused(info.name, f"it has {info.size} bytes")
        if any(_after_end(block[start:end]) for start, end in _NAMES):
            raise ledger.refused(info.name, "its name goes on after a NUL byte")
        entry = Entry(name=info.name, is_folder=info.isdir(), size=info.size)
        ledger.enter(entry, mode=info.mode)
        yield entry, stream.content(entry.size)
        stream.pad()
    stream.finish()


def _header(block: bytes, offset: int, archive: str) -> tarfile.TarInfo:
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as fault:
        msg = f"{archive} is no tar archive" if offset == 0 else f"{archive} is damaged"
        raise ArchiveError(msg, because=f"at byte {offset} of the unpacked tar: {fault}") from fault
    if info.isdir():
        # Of a name that has to be split, all may lie before the slash at its end: tarfile leaves that on.
        info.name = info.name.removesuffix("/")
    if block[257:265] != tarfile.POSIX_MAGIC:
        msg = f"{archive} isn't written as opkit writes archives"
        raise ArchiveError(msg, where=ascii_of(info.name), because="its header isn't that of a POSIX ustar", help="opkit package")
    return info


def _after_end(field: bytes) -> bool:
    return any(field.partition(b"\0")[2])


class _Stream:
    """The unpacked bytes of a compressed file, which must end where its compression ends."""

    def __init__(self, file: BinaryIO, archive: str, compression: Compression) -> None:
        self._file = file
        self._archive = archive
        self._inflated = _gunzipped(file) if compression is Compression.GZ else _unzstd(file)
        self._rest = b""
        self._unread = 0
        self.offset = 0

    def take(self, size: int) -> bytes:
        chunks = list(self._some(size))
        return b"".join(chunks)

    def content(self, size: int) -> Iterator[bytes]:
        self._unread = size
        return self._some(size)

    def pad(self) -> None:
        """Goes to the start of the next header, past what nobody read."""
        for _ in self._some(self._unread):
            pass
        if any(self.take(-self.offset % tarfile.BLOCKSIZE)):
            self._fail(f"before byte {self.offset} of the unpacked tar: something lies between two entries")

    def finish(self) -> None:
        """The second block of zeros, what tar programs fill their last record with, and nothing else."""
        if any(self.take(tarfile.BLOCKSIZE)):
            self._fail(f"before byte {self.offset} of the unpacked tar: half an end of the archive")
        end = self.offset + tarfile.RECORDSIZE
        while (chunk := self._more()) is not None:
            self.offset += len(chunk)
            if any(chunk) or self.offset > end:
                self._fail("something follows the end of the tar")
        if self._file.read(1):
            self._fail("something follows the end of the compressed file")

    def _some(self, size: int) -> Iterator[bytes]:
        while size:
            chunk = self._rest or self._more()
            if chunk is None:
                self._fail(f"the tar ends at byte {self.offset}, in the middle of an entry")
            given, self._rest = chunk[:size], chunk[size:]
            size -= len(given)
            self._unread = size
            self.offset += len(given)
            yield given

    def _more(self) -> bytes | None:
        if self._rest:
            chunk, self._rest = self._rest, b""
            return chunk
        try:
            return next(self._inflated, None)
        except (zlib.error, EOFError, ValueError) as fault:
            self._fail(str(fault))

    def _fail(self, because: str) -> NoReturn:
        msg = f"{self._archive} is damaged" if self.offset else f"{self._archive} is no archive of a package"
        raise ArchiveError(msg, because=because, help="copy or download it again")


def _gunzipped(file: BinaryIO) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits=31)
    while not inflate.eof:
        packed = inflate.unconsumed_tail or file.read(CHUNK)
        chunk = inflate.decompress(packed, CHUNK)
        if chunk:
            yield chunk
        elif not packed:
            msg = "the compressed file ends too early"
            raise EOFError(msg)
    if inflate.unused_data:
        msg = "something follows the end of the compressed file"
        raise ValueError(msg)


def _unzstd(file: BinaryIO) -> Iterator[bytes]:
    zstandard = _zstandard()
    inflate = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompressobj()
    while not inflate.eof:
        packed = file.read(_ZSTD_CHUNK)
        if not packed:
            msg = "the compressed file ends too early"
            raise EOFError(msg)
        try:
            chunk = inflate.decompress(packed)
        except zstandard.ZstdError as fault:
            raise ValueError(str(fault)) from fault
        if chunk:
            yield chunk
    if inflate.unused_data:
        msg = "something follows the end of the compressed file"
        raise ValueError(msg)


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def _compressor(compression: Compression) -> _Compressor:
    if compression is Compression.GZ:
        # Its header has no name and no time.
        return zlib.compressobj(9, zlib.DEFLATED, 31)
    compressor: _Compressor = _zstandard().ZstdCompressor(level=19, write_checksum=True, write_content_size=False).compressobj()
    return compressor


def _zstandard() -> Any:  # noqa: ANN401 - a module that may not be there
    try:
        return importlib.import_module("zstandard")
    except ImportError as fault:
        msg = "a .tar.zst needs the zstandard package"
        raise MachineError(msg, because=str(fault), help="pip install 'ascend-opkit[zstd]'") from fault
