"""The archive of a package: one file that holds an OPP root with its manifest, made from a build and opened, once checked, anywhere.

`<package>-<version>[+sim]-<os>_<arch>[-<npu_arch>].tar.gz` has one top folder `<package>-<version>`, the OPP root. A wheel that
holds an OPP root is read as well. Who made an archive is unknown: before all of it was held against its manifest, nothing of it is written.
"""

from __future__ import annotations

import hashlib
import shlex
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from opkit.deliverable import LARGEST_MANIFEST, MANIFEST, Manifest, OppRoot, mode_of
from opkit.deliverable.elf import ElfLibrary, library_in
from opkit.errors import (
    ArchiveContentError,
    ArchiveError,
    DeliverableError,
    ElfError,
    InstallerFileError,
    SimulatorBuildError,
    UsageError,
)
from opkit.files import FOLDER_MODE, LARGEST_LIBRARY, guard_reading, guard_writing, make_folders, whole_file
from opkit.packaging.entries import CHUNK, ascii_of
from opkit.packaging.soundness import refusals, require_package
from opkit.packaging.tar import Compression, Member, tar_entries, write_tar
from opkit.packaging.zipped import METADATA_FOLDER, RECORD_HASHES, is_wheel_metadata, zip_entries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from opkit.packaging.entries import Entry

__all__ = [
    "ARCHIVES",
    "DEST_HELP",
    "Packed",
    "archive_name",
    "is_archive",
    "open_archive",
    "pack",
    "require_archive",
    "require_for_a_device",
    "simulator_refused",
    "source_date_epoch",
]

ARCHIVES = (".tar.gz", ".tar.zst", ".whl")
DEST_HELP = "name a folder that can be written with --dest DIR"
# The first day that a zip can name, for the wheel of the same build: no file of a package says when it was made.
_EPOCH = 315532800
_LAST_EPOCH = 0o77777777777  # that a ustar header holds
_MAGIC = {b"\x1f\x8b": Compression.GZ, b"\x28\xb5\x2f\xfd": Compression.ZST}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_SHOWN = 5


class Packed(NamedTuple):
    path: Path
    sha256: str
    size: int


def source_date_epoch(environ: Mapping[str, str]) -> int:
    """The time of all entries: SOURCE_DATE_EPOCH, else 1980-01-01 UTC. Raises UsageError."""
    told = environ.get("SOURCE_DATE_EPOCH")
    if told is None or told == "":
        return _EPOCH
    if not (told.isascii() and told.isdecimal()) or int(told[:12]) > _LAST_EPOCH:
        msg = "SOURCE_DATE_EPOCH is no time that an archive can have"
        because = f"SOURCE_DATE_EPOCH={told}; it is a number of seconds since 1970, at most {_LAST_EPOCH}"
        raise UsageError(msg, because=because, help="unset SOURCE_DATE_EPOCH")
    return int(told)


def archive_name(manifest: Manifest, compression: Compression) -> str:
    target = manifest.target
    chip = "" if target.npu_arch is None else f"-{target.npu_arch}"
    return f"{manifest.package}-{manifest.marked_version}-{target.os}_{target.arch}{chip}.tar.{compression.value}"


def require_for_a_device(manifest: Manifest, *, is_simulator_allowed: bool) -> None:
    """Raises SimulatorBuildError for what was built against the simulator, unless the user said that this is meant."""
    if manifest.built_against.is_simulator and not is_simulator_allowed:
        msg = f"{manifest.package} is built against the host simulator"
        raise simulator_refused(msg)


def simulator_refused(msg: str) -> SimulatorBuildError:
    """What is said of a package that is built against the simulator, or would be: that is told as soon as it is known."""
    because = "its library carries the names of CANN's libraries, so that a device would load it"
    help_text = "build with a CANN toolkit (--toolkit DIR), or mark the package: the same command with --allow-simulator"
    return SimulatorBuildError(msg, because=because, help=help_text)


def pack(
    source: OppRoot,
    folder: Path,
    *,
    compression: Compression = Compression.GZ,
    epoch: int = _EPOCH,
    is_simulator_allowed: bool = False,
) -> Packed:
    """Writes the archive of an OPP root into `folder`: the same files give the same bytes, wherever and by whomever.

    Only what the manifest names goes in. Raises SimulatorBuildError, DeliverableError for a source that isn't what was built or that
    `open_archive` would refuse, UnwritableError. A failure leaves an archive that was there before.
    """
    require_for_a_device(source.manifest, is_simulator_allowed=is_simulator_allowed)
    require_package(source)
    target = folder.absolute() / archive_name(source.manifest, compression)
    with guard_writing(target, help=DEST_HELP):
        make_folders(target.parent)
        with whole_file(target) as file:
            write_tar(file, _members(source), compression=compression, mtime=epoch)
            file.seek(0)
            # What is shipped is what others can open: a file that changed meanwhile, or a name that no archive may hold, ends here.
            require_archive(file, target.name)
            file.seek(0)
            digest = _digest(file)
            size = file.tell()
    return Packed(path=target, sha256=digest, size=size)


@contextmanager
def open_archive(path: Path) -> Iterator[OppRoot]:
    """Gives the OPP root of an archive or a wheel in a private folder, which is gone at the end.

    Raises ArchiveError, before anything is written, for whatever isn't a whole package that agrees with its manifest; UsageError for a
    path that is no file.
    """
    with _opened(path) as file:
        _require_no_installer(file, path)
        examined = _examined(file, path.name)
        with tempfile.TemporaryDirectory(prefix="opkit-") as folder:
            root = Path(folder) / examined.top
            with guard_writing(root, help="free some space, or name another folder for temporary files with TMPDIR"):
                _unpack(file, path.name, examined, root)
            yield OppRoot(path=root, manifest=examined.manifest)


def require_archive(file: BinaryIO, name: str) -> None:
    """Raises ArchiveError for a file that `open_archive` would refuse under that name."""
    _examined(file, name)


def is_archive(path: Path) -> bool:
    """By its name: what `opkit package` makes."""
    return path.name.endswith(ARCHIVES)


class _Found(NamedTuple):
    """A file of an archive. `digests` are its SHA-256 and, in a wheel, each that its record may have. `text` is that of a manifest;
    `library` is what one shows of itself, or why it is none.
    """

    digests: Mapping[str, bytes]
    size: int
    text: bytes | None
    library: ElfLibrary | ElfError | None

    @property
    def sha256(self) -> str:
        return self.digests["sha256"].hex()


class _Examined(NamedTuple):
    """What an archive was found to hold: `top` is the OPP root in it."""

    manifest: Manifest
    top: str


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with guard_reading(path):
        try:
            # Not open(): it would wait for the other end of a pipe.
            if not stat.S_ISREG(path.stat().st_mode):
                msg = f"{path} is no file"
                raise UsageError(msg, help="name an archive that opkit package made")
            file = path.open("rb")
        except PermissionError:
            raise
        except (OSError, ValueError) as fault:
            msg = f"cannot read {path}"
            raise UsageError(msg, because=str(getattr(fault, "strerror", None) or fault)) from fault
    with file:
        yield file


def _members(source: OppRoot) -> Iterator[Member]:
    top = PurePosixPath(f"{source.manifest.package}-{source.manifest.version}")
    files = {top / path: mode_of(path) for path in (PurePosixPath(MANIFEST), *(file.path for file in source.manifest.files))}
    folders = {parent for path in files for parent in path.parents if parent.parts}
    for path in sorted({*files, *folders}):
        if path in folders:
            yield Member(name=str(path), content=None, mode=FOLDER_MODE)
        else:
            yield Member(name=str(path), content=(source.path / path.relative_to(top)).read_bytes(), mode=files[path])


def _entries(file: BinaryIO, archive: str) -> Iterator[tuple[Entry, Iterator[bytes]]]:
    magic = _magic(file)
    if magic in _ZIP:
        return zip_entries(file, archive)
    for start, compression in _MAGIC.items():
        if magic.startswith(start):
            return tar_entries(file, archive, compression=compression)
    msg = f"{archive} is no archive of a package"
    because = f"it begins with {magic!r}, which is neither gzip nor zstd nor zip" if magic else "it is empty"
    raise ArchiveError(msg, because=because, help="name an archive that opkit package made")


def _require_no_installer(file: BinaryIO, path: Path) -> None:
    if _magic(file).startswith(b"#!"):
        msg = f"{path.name} is a script, such as a self-extracting installer"
        because = "what is in it comes out by running it, and opkit runs nothing that it has to check"
        # A name alone would be looked for on PATH too, and one that begins with "-" taken for an option.
        named = path if path.is_absolute() else f"./{path}"
        command = shlex.join(["sh", str(named), "--install-path", "/DIR"])
        raise InstallerFileError(msg, because=because, help=f"run it: {command}; or make an archive: opkit package --format tar")


def _magic(file: BinaryIO) -> bytes:
    file.seek(0)
    magic = file.read(4)
    file.seek(0)
    return magic


def _examined(file: BinaryIO, archive: str) -> _Examined:
    """Reads all of an archive and writes nothing."""
    found: dict[str, _Found] = {}
    folders: list[str] = []
    manifests: dict[str, bytes] = {}
    metadata: set[str] = set()
    is_wheel = _magic(file) in _ZIP
    hashes = RECORD_HASHES if is_wheel else ("sha256",)
    for entry, content in _entries(file, archive):
        if entry.is_folder:
            folders.append(entry.name)
            continue
        # Before a second one is read: each may be as large as a memory can bear once.
        if manifests and _is_manifest(entry):
            raise _no_package(archive, "two folders in it have a manifest")
        if is_wheel_metadata(entry.name):
            metadata.add(entry.name.partition("/")[0])
            if len(metadata) > 1:
                raise _no_package(archive, "two folders in it have the metadata of a wheel")
        found[entry.name] = _read(entry, content, archive, hashes)
        if _is_manifest(entry):
            manifests[entry.name.rpartition("/")[0]] = found[entry.name].text or b""
    if not manifests:
        raise _no_package(archive, f"no folder in it has {MANIFEST}")
    ((top, text),) = manifests.items()
    try:
        manifest = Manifest.parse(text, f"{MANIFEST} in {archive}")
    except DeliverableError as fault:
        raise ArchiveContentError(fault.message, because=fault.because) from fault
    _require_named(found, folders, manifest, top, archive, is_wheel=is_wheel)
    if is_wheel:
        _require_wheel(found, manifest, archive)
    _require_sound(found, manifest, top, archive)
    return _Examined(manifest=manifest, top=top)


def _is_manifest(entry: Entry) -> bool:
    return entry.name.count("/") == 1 and entry.name.endswith("/" + MANIFEST)


def _no_package(archive: str, because: str) -> ArchiveContentError:
    return ArchiveContentError(f"{archive} is no package", because=because, help="name an archive that opkit package made")


def _read(entry: Entry, content: Iterator[bytes], archive: str, hashes: Sequence[str]) -> _Found:
    is_text, is_library = _is_manifest(entry) or is_wheel_metadata(entry.name), entry.name.endswith(".so")
    if is_text and entry.size > LARGEST_MANIFEST:
        what = "its manifest" if _is_manifest(entry) else "it"
        because = f"{what} has {entry.size} bytes, and at most {LARGEST_MANIFEST} are read"
        msg = f"{archive} is no package"
        raise ArchiveContentError(msg, where=ascii_of(entry.name), because=because)
    digests, kept, size = {name: hashlib.new(name) for name in hashes}, bytearray(), 0
    for chunk in content:
        for digest in digests.values():
            digest.update(chunk)
        # Of what can be no library nothing is kept but how it begins.
        if is_text or (is_library and b"\x7fELF".startswith(bytes(kept[:4])) and entry.size <= LARGEST_LIBRARY):
            kept += chunk
        size += len(chunk)
    return _Found(
        digests={name: digest.digest() for name, digest in digests.items()},
        size=size,
        text=bytes(kept) if is_text else None,
        library=_library_in(bytes(kept), entry) if is_library else None,
    )


def _library_in(content: bytes, entry: Entry) -> ElfLibrary | ElfError:
    if entry.size > LARGEST_LIBRARY:
        return ElfError(f"{entry.name} is too large", because=f"it has {entry.size} bytes, and at most {LARGEST_LIBRARY} are read")
    try:
        return library_in(content, entry.name)
    except ElfError as fault:
        return fault


def _require_named(  # noqa: PLR0913 - what was found, and what it is held against
    found: Mapping[str, _Found], folders: list[str], manifest: Manifest, top: str, archive: str, *, is_wheel: bool
) -> None:
    """Raises ArchiveContentError unless the archive holds the files of the manifest, as they were built, and nothing else."""
    expected = manifest.package if is_wheel else f"{manifest.package}-{manifest.version}"
    if top != expected:
        raise _false(archive, f"its manifest is that of {manifest.package} {manifest.version}", where=f"the folder {ascii_of(top)}")
    files = {f"{top}/{file.path}": file for file in manifest.files}
    known = {f"{top}/{MANIFEST}", *files}
    expected_folders = {str(parent) for name in known for parent in PurePosixPath(name).parents}
    for name in known & expected_folders:
        raise _false(archive, "its manifest names it as a file and as a folder", where=ascii_of(name))
    unnamed = [name for name in found if name not in known and not (is_wheel and _is_of_a_wheel(name, top))]
    unnamed += [name for name in folders if name not in expected_folders and not (is_wheel and _is_of_a_wheel(f"{name}/", top))]
    if unnamed:
        raise _false(archive, "its manifest doesn't name what is in it", where=_listed(unnamed))
    missing = [name for name in files if name not in found]
    if missing:
        raise _false(archive, "it lacks what its manifest names", where=_listed(missing))
    for name, file in files.items():
        if found[name].size != file.size:
            raise _false(archive, f"it has {found[name].size} bytes, and by the manifest {file.size}", where=ascii_of(name))
    for name, file in files.items():
        if found[name].sha256 != file.sha256:
            raise _false(archive, f"its SHA-256 is {found[name].sha256}, and by the manifest {file.sha256}", where=ascii_of(name))


def _is_of_a_wheel(name: str, top: str) -> bool:
    """What a wheel holds beside the OPP root: the module that it is imported by, and its metadata."""
    return name in (f"{top}/__init__.py", f"{top}/") or name.partition("/")[0].endswith(METADATA_FOLDER)


def _require_wheel(found: Mapping[str, _Found], manifest: Manifest, archive: str) -> None:
    from opkit.packaging.wheel_metadata import WheelFile, wheel_refusals

    files = {name: WheelFile(digests=each.digests, size=each.size, text=each.text) for name, each in found.items()}
    for refusal in wheel_refusals(archive, files, manifest):
        msg = f"{archive} isn't the wheel of a package"
        where = None if refusal.where is None else ascii_of(refusal.where)
        raise ArchiveContentError(msg, where=where, because=refusal.because, help="make it again: opkit package --format wheel")


def _require_sound(found: Mapping[str, _Found], manifest: Manifest, top: str, archive: str) -> None:
    def library_of(path: PurePosixPath) -> ElfLibrary:
        library = found[f"{top}/{path}"].library
        if isinstance(library, ElfLibrary):
            return library
        assert library is not None, "each entry of that name was read as one"  # noqa: S101 - tells the type checker
        raise library

    for refusal in refusals(manifest, library_of):
        raise _false(archive, refusal.because, where=refusal.where)


def _unpack(file: BinaryIO, archive: str, examined: _Examined, root: Path) -> None:
    """Writes the files of the manifest, each held against it once more: the archive may have changed since it was examined."""
    files = {f"{examined.top}/{each.path}": each for each in examined.manifest.files}
    left = set(files)
    for entry, content in _entries(file, archive):
        expected = files.get(entry.name)
        if expected is None:
            continue
        left.remove(entry.name)
        target = root / expected.path
        make_folders(target.parent)
        digest = hashlib.sha256()
        with target.open("xb") as out:
            for chunk in content:
                digest.update(chunk)
                out.write(chunk)
        target.chmod(mode_of(expected.path))
        if digest.hexdigest() != expected.sha256:
            raise _false(archive, "it changed while it was read", where=ascii_of(entry.name))
    if left:
        raise _false(archive, "it changed while it was read", where=_listed(sorted(left)))
    examined.manifest.write(root)


def _false(archive: str, because: str, *, where: str | None = None) -> ArchiveContentError:
    return ArchiveContentError(f"{archive} isn't what its manifest says", where=where, because=because, help="make it again: opkit package")


def _listed(names: list[str]) -> str:
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(ascii_of(name) for name in names[:_SHOWN]) + rest


def _digest(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest()
