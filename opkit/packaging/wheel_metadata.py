"""What a wheel says of itself beside the OPP root that it holds: pip goes by that, so it must be as true as the manifest."""

from __future__ import annotations

import base64
import configparser
import csv
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from opkit.layout import ENTRY_POINTS
from opkit.packaging.entries import ascii_of
from opkit.packaging.soundness import Refusal
from opkit.packaging.zipped import METADATA_FOLDER, METADATA_TEXTS

if TYPE_CHECKING:
    import zipfile

    from opkit.deliverable import Manifest

__all__ = ["WheelFile", "has_entry", "wheel_refusals"]

_ROW = 3
_ENTRIES = "entry_points.txt"
_REQUIRED = ("METADATA", "WHEEL", "RECORD")
# What follows a record can't be in it.
_UNRECORDED = ("RECORD", "RECORD.jws", "RECORD.p7s")
_WHEEL_NAME = re.compile(r"(?P<name>[^-]+-[^-]+)(-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")


class WheelFile(NamedTuple):
    """`digests` are those by RECORD_HASHES; `text` is that of one of METADATA_TEXTS."""

    digests: Mapping[str, bytes]
    size: int
    text: bytes | None


def wheel_refusals(archive: str, files: Mapping[str, WheelFile], manifest: Manifest) -> Iterator[Refusal]:
    """What isn't so of a wheel with these `files`. `archive` is the name of its own file, which says nothing if pip wouldn't take it.

    A refusal's `where` is as the wheel has it.
    """
    tops = (name.partition("/")[0] for name in files)
    folders = sorted({top for top in tops if top.endswith(METADATA_FOLDER)})
    if len(folders) != 1:
        told = f"the metadata of {len(folders)} distributions" if folders else f"no metadata, which is a folder *{METADATA_FOLDER}"
        yield Refusal(f"it has {told}")
        return
    (folder,) = folders
    texts = {file: _text(files.get(f"{folder}/{file}")) for file in METADATA_TEXTS}
    for file, text in texts.items():
        if text is None and (file in _REQUIRED or f"{folder}/{file}" in files):
            yield Refusal("it isn't there, or isn't UTF-8", where=f"{folder}/{file}")
            return
    named = _WHEEL_NAME.fullmatch(archive)
    yield from _told_by_name(folder, texts["METADATA"] or "", None if named is None else named["name"])
    yield from _told_by_tags(f"{folder}/WHEEL", texts["WHEEL"] or "", named, manifest)
    yield from _told_by_record(folder, texts["RECORD"] or "", files)
    yield from _told_by_entries(f"{folder}/{_ENTRIES}", texts[_ENTRIES], manifest.package)


def has_entry(wheel: zipfile.ZipFile, package: str) -> bool:
    """Whether the ops of a wheel that nothing stands against are found where it is installed: it needn't have entry points."""
    texts = [wheel.read(name) for name in wheel.namelist() if name.count("/") == 1 and name.endswith(f"{METADATA_FOLDER}/{_ENTRIES}")]
    return any((ENTRY_POINTS, package, package) in _entries(text.decode()) for text in texts)


def _text(file: WheelFile | None) -> str | None:
    try:
        return None if file is None or file.text is None else file.text.decode()
    except UnicodeDecodeError:
        return None


def _fields(text: str, name: str) -> list[str]:
    """Of the headers before the first empty line."""
    headers = text.replace("\r\n", "\n").partition("\n\n")[0]
    return re.findall(rf"(?mi)^{name}:[ \t]*(.*?)[ \t]*$", headers)


def _told_by_name(folder: str, metadata: str, archive: str | None) -> Iterator[Refusal]:
    told = folder.removesuffix(METADATA_FOLDER)
    names, versions = _fields(metadata, "Name"), _fields(metadata, "Version")
    if len(names) != 1 or len(versions) != 1:
        yield Refusal("it doesn't say one name and one version", where=f"{folder}/METADATA")
    elif _plain(f"{names[0]}-{versions[0]}") != _plain(told):
        yield Refusal(f"it is the metadata of {ascii_of(names[0])} {ascii_of(versions[0])}", where=folder)
    if archive is not None and _plain(archive) != _plain(told):
        yield Refusal("its name isn't that of the wheel", where=folder)


def _plain(name_and_version: str) -> str:
    """A name and a version, told apart by the last "-", as two spellings of the same are alike."""
    name, _, version = name_and_version.rpartition("-")
    return f"{re.sub(r'[-_.]+', '-', name).lower()} {version.replace('_', '-').lower()}"


def _told_by_tags(where: str, text: str, named: re.Match[str] | None, manifest: Manifest) -> Iterator[Refusal]:
    tags = set(_fields(text, "Tag"))
    arch = manifest.target.arch
    wrong = sorted(tag for tag in tags if not re.fullmatch(rf"(linux|manylinux\w*|musllinux\w*)_{re.escape(arch)}", tag.rpartition("-")[2]))
    if not tags or wrong:
        told = ascii_of(wrong[0]) if wrong else "nothing"
        yield Refusal(f"it says that the wheel is for {told}, and the manifest {arch}", where=where)
    if named is not None:
        expected = {"-".join(tag) for tag in product(*(named[part].split(".") for part in ("python", "abi", "platform")))}
        if tags != expected:
            yield Refusal(f"it says {ascii_of(', '.join(sorted(tags)))}, and the name of the wheel another", where=where)


def _told_by_record(folder: str, text: str, files: Mapping[str, WheelFile]) -> Iterator[Refusal]:
    where = f"{folder}/RECORD"
    try:
        rows = [row for row in csv.reader(text.splitlines(), strict=True) if row]
    except csv.Error as fault:
        yield Refusal(f"it is no table: {fault}", where=where)
        return
    if any(len(row) != _ROW for row in rows):
        yield Refusal("a line of it doesn't have a path, a hash and a size", where=where)
        return
    recorded = {path: (digest, size) for path, digest, size in rows}
    if len(recorded) != len(rows):
        yield Refusal("it names a file twice", where=where)
    unrecorded = {f"{folder}/{each}" for each in _UNRECORDED}
    expected = files.keys() - unrecorded
    different = sorted(expected ^ (recorded.keys() - unrecorded))
    if different:
        word = "is in the wheel, and not in its record" if different[0] in files else "is in its record, and not in the wheel"
        yield Refusal(f"{ascii_of(different[0])} {word}", where=where)
    for path in sorted(expected & recorded.keys()):
        digest, size = recorded[path]
        known = {f"{name}={base64.urlsafe_b64encode(each).rstrip(b'=').decode()}" for name, each in files[path].digests.items()}
        if digest not in known or size not in ("", str(files[path].size)):
            yield Refusal("it isn't the file that the record of the wheel tells", where=path)


def _told_by_entries(where: str, text: str | None, package: str) -> Iterator[Refusal]:
    """Another entry point is code of another package, or a command, that comes with ops."""
    if text is None:
        return
    try:
        entries = _entries(text)
    except configparser.Error as fault:
        yield Refusal(ascii_of(str(fault)), where=where)
        return
    for group, name, value in entries:
        if (group, name, value) != (ENTRY_POINTS, package, package):
            told = ascii_of(f"{name} = {value} in [{group}]")
            yield Refusal(f"it has {told}, and ops have nothing but {package} = {package} in [{ENTRY_POINTS}]", where=where)


def _entries(text: str) -> list[tuple[str, str, str]]:
    """Group, name and value of each. Raises configparser.Error."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, default_section="")
    parser.optionxform = str  # type: ignore[assignment,method-assign] # as an attribute: the way that configparser documents
    parser.read_string(text)
    return [(group, name, value) for group in parser.sections() for name, value in parser.items(group)]
