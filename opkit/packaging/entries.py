"""What an archive may hold: plain files and folders with plain names, and no more of them than a disk and a memory can take."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple, NoReturn

from opkit.errors import ArchiveEntryError, ArchiveLimitError

__all__ = ["CHUNK", "MOST_BYTES", "MOST_ENTRIES", "Entry", "Ledger", "ascii_of"]

CHUNK = 1 << 16  # bytes that are read at once
MOST_BYTES = 4 << 30  # of all files, unpacked
MOST_ENTRIES = 20_000
_LONGEST_NAME = 1024
_LONGEST_PART = 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SPECIAL_BITS = {0o4000: "setuid", 0o2000: "setgid", 0o1000: "sticky"}


class Entry(NamedTuple):
    """A file or a folder; `name` has no slash at its end."""

    name: str
    is_folder: bool
    size: int


class Ledger:
    """The entries of one archive: each is held against what an archive may hold, and against those before it."""

    def __init__(self, archive: str) -> None:
        self._archive = archive
        self._names: dict[str, str] = {}
        self._bytes = 0

    def enter(self, entry: Entry, *, mode: int) -> None:
        """Raises ArchiveEntryError or ArchiveLimitError."""
        for bit, word in _SPECIAL_BITS.items():
            if mode & bit:
                raise self.refused(entry.name, f"it is {word}, which no file of a package needs to be")
        refusal = _refusal(entry.name)
        if refusal is not None:
            raise self.refused(entry.name, refusal)
        if entry.is_folder and entry.size:
            raise self.refused(entry.name, f"it is a folder of {entry.size} bytes")
        # One file on a file system that folds case or composes letters.
        key = unicodedata.normalize("NFC", entry.name).casefold()
        known = self._names.setdefault(key, entry.name)
        if known is not entry.name:
            raise self.refused(entry.name, "it is there twice" if known == entry.name else f"its name differs from {known!r} only in case")
        self._bytes += entry.size
        if len(self._names) > MOST_ENTRIES:
            self._fail(f"it has more than {MOST_ENTRIES} entries")
        if self._bytes > MOST_BYTES:
            self._fail(f"up to {entry.name!r} it unpacks to {self._bytes} bytes, and at most {MOST_BYTES} are taken")

    def refused(self, name: str, because: str) -> ArchiveEntryError:
        return ArchiveEntryError(f"{self._archive} has an entry that no package has", where=ascii_of(name), because=because)

    def _fail(self, because: str) -> NoReturn:
        msg = f"{self._archive} is larger than a package can be"
        raise ArchiveLimitError(msg, because=because)


def ascii_of(name: str) -> str:
    """For a message: a terminal mustn't take what an archive says for something else."""
    return ascii(name if len(name) <= _LONGEST_PART else f"{name[:_LONGEST_PART]}…")


def _refusal(name: str) -> str | None:  # noqa: PLR0911 - one for each reason
    if not name:
        return "its name is empty"
    if _CONTROL.search(name):
        return "its name holds a control character"
    try:
        encoded = name.encode()
    except UnicodeEncodeError:
        return "its name isn't UTF-8"
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return "its name is absolute"
    if "\\" in name:
        return "its name holds a backslash"
    # A shell without a parser of JSON reads these names in manifests and receipts (templates/package/install.sh).
    if re.search(r'["{}]', name):
        return "its name holds a quotation mark or a brace"
    parts = name.split("/")
    if ".." in parts:
        return "its name leads out of the folder"
    if "" in parts or "." in parts:
        return "its name isn't written plainly"
    if len(encoded) > _LONGEST_NAME or max(len(part.encode()) for part in parts) > _LONGEST_PART:
        return f"its name is too long: at most {_LONGEST_NAME} bytes, {_LONGEST_PART} between two slashes"
    return None
