"""Installing into a prefix and taking out of it: all is checked before anything is written, staged before anything is replaced, and comes
into use by renaming one link.

Killed at any moment it leaves the old version or the new one, whole; what lies about then is removed by the next one that gets the lock.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from opkit.console import console
from opkit.deliverable import MANIFEST, Manifest, OppRoot, mode_of
from opkit.errors import DeliverableError, NoSpaceError, OpkitError, UnwritableError, UsageError
from opkit.files import (
    content_of,
    copy_whole,
    digest_of,
    draft_stem,
    guard_reading,
    guard_writing,
    make_folders,
    remove_empty_folders,
    whose,
    write_whole,
)
from opkit.lock import WAIT, acquire, note
from opkit.packaging.keeping import Kept, carry, empty_folders, kept_files
from opkit.packaging.prefix import LEFT, PACKAGE, STATE, Installed, checked_prefix, files_of, receipt_file, state_in, state_of, version_of
from opkit.packaging.receipt import LARGEST_RECEIPTS, InstalledFile, Receipt, write_receipts
from opkit.packaging.requirements import Requirement, ThisMachine, require_met, this_machine
from opkit.packaging.soundness import require_package

__all__ = ["Change", "Removal", "Source", "install_all", "uninstall"]

_HELP = "name a folder that can be written with --prefix DIR"
_HELP_ELSEWHERE = "name another folder: --prefix DIR"
_HELP_TO_REMOVE = "let yourself write it, or ask who may"
_LOCK = ".lock"
_MADE = ".made"  # in a prefix that opkit made: how many folders, so that they go with the last package, and what it was called then
_STAGE = ".stage"
_LINK = ".link"
# Folders of versions, whole or not; what else lies there isn't opkit's.
_VERSION = re.compile(rf"\{_STAGE}(\.\d+)?|({LEFT}|.+-[0-9a-f]{{12}})(\.\d+)?")


class Source(NamedTuple):
    """What is to be installed; `origin` is what the user named, with its SHA-256."""

    root: OppRoot
    origin: Path
    sha256: str

    @classmethod
    def of(cls, root: OppRoot, *, origin: Path | None = None) -> Source:
        return cls(root=root, origin=origin or root.path, sha256=digest_of(root.path / MANIFEST))


class Change(NamedTuple):
    """What an install did. `previous` is what was there, which may be broken; `kept` are the files that weren't opkit's; `doubts` are
    what the package needs of the machine that runs it, and this one may lack.
    """

    installed: Installed
    previous: Installed | None
    kept: tuple[Kept, ...]
    doubts: tuple[Requirement, ...]

    @property
    def verb(self) -> str:
        """In the past tense, as people are told."""
        old = None if self.previous is None else self.previous.version
        new = self.installed.version
        if self.previous is None:
            return "Installed"
        if old is None or new is None or old == new:
            return "Reinstalled"
        from packaging.version import InvalidVersion, Version

        try:
            return "Upgraded" if Version(old) < Version(new) else "Downgraded"
        except InvalidVersion:
            return "Replaced"


class Removal(NamedTuple):
    """What an uninstall did; `removed` is None if the package wasn't there. `kept` files are in the folder that had its name."""

    package: str
    removed: Installed | None
    kept: tuple[Kept, ...]


def install_all(sources: Sequence[Source], prefix: Path, *, machine: ThisMachine | None = None, wait: float = WAIT) -> list[Change]:
    """Installs all or none; `machine` is what is known of this one, if that is more than its architecture and its glibc.

    Raises DeliverableError for a source that isn't what was built, IncompatibleError for one that this machine can't load, UsageError for
    a prefix that can't be one or holds something else in the place of a package, UnwritableError, UnreadableError, NoSpaceError and
    BusyError. The prefix is then as it was.
    """
    prefix = checked_prefix(str(prefix))
    _require_distinct(sources)
    machine = machine or this_machine(None)
    doubts = []
    for source in sources:
        require_package(source.root)
        _require_apart(source.root.path, prefix)
        doubts.append(tuple(require_met(source.root.manifest, machine)))
    packages = [source.root.manifest.package for source in sources]
    _require_no_package_around(prefix)
    _require_writable(prefix, packages, help_text=_HELP)
    _require_space(prefix, [source.root.manifest for source in sources])
    for package in packages:
        _require_own(prefix, package)
    with guard_writing(prefix, help=_HELP), _locked(prefix, wait):
        # Again, since somebody else may have come before.
        for package in packages:
            _require_own(prefix, package)
        _sweep(prefix, packages)
        steps: list[_Step] = []
        try:
            for source in sources:
                steps.append(_Step(source, prefix))
                steps[-1].stage()
            for step in steps:
                step.prepare()
            for step in steps:
                step.switch()
        except BaseException:
            for step in reversed(steps):
                step.undo()
            raise
        finally:
            _tell(_sweep(prefix, packages))
        return [step.change(each) for step, each in zip(steps, doubts, strict=True)]


def uninstall(packages: Sequence[str], prefix: Path, *, wait: float = WAIT) -> list[Removal]:
    """Takes the packages out of use and removes their files. What wasn't opkit's, or was edited, stays in a folder of the package's name.

    Raises DeliverableError for a package of which nobody knows any more which files are opkit's, UnwritableError, UnreadableError and
    BusyError.
    """
    prefix = checked_prefix(str(prefix))
    packages = list(dict.fromkeys(packages))
    if not _is_there(prefix / STATE) and not any(version_of(prefix, package) for package in packages):
        return [Removal(package=package, removed=None, kept=()) for package in packages]
    _require_writable(prefix, packages, help_text=_HELP_TO_REMOVE)
    for package in packages:
        _require_known(prefix, package)
    with guard_writing(prefix, help=_HELP_TO_REMOVE), _locked(prefix, wait):
        _sweep(prefix, packages)
        try:
            return [_remove(prefix, package) for package in packages]
        finally:
            _tell(_sweep(prefix, packages))


def _is_there(path: Path) -> bool:
    """Raises UnreadableError where that can't be known."""
    with guard_reading(path):
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
    return True


def _require_known(prefix: Path, package: str) -> None:
    state = state_of(prefix, package)
    if state is None or state.manifest is not None or state.receipt is not None or not os.path.lexists(state.folder):
        return
    msg = f"{package} can't be uninstalled: which of its files are opkit's isn't known"
    help_text = f"opkit install {package} again, and uninstall it then; or remove {prefix / package} and {state.folder} yourself"
    raise DeliverableError(msg, because=f"its receipt is lost, and {state.fault}", help=help_text)


def _remove(prefix: Path, package: str) -> Removal:
    _require_known(prefix, package)
    state, linked = state_of(prefix, package), version_of(prefix, package)
    old = [state_in(prefix, package, each) for each in _old_versions(prefix, package, linked)]
    if linked is None and not os.path.lexists(prefix / package):
        # Somebody removed the link, or an earlier uninstall was killed after it did: the files of opkit go all the same.
        state = next((each for each in old if each.manifest is not None or each.receipt is not None), None)
    if linked is None and state is None:
        return Removal(package=package, removed=None, kept=())
    kept = _kept_of(old)
    if not kept:
        # Not the receipt: it tells the sweep whose the files are.
        if linked is not None:
            (prefix / package).unlink()
        return Removal(package=package, removed=state, kept=())
    if state is None:
        # They were left by an uninstall before.
        return Removal(package=package, removed=None, kept=tuple(kept))
    stage = _free(prefix / STATE / package, _STAGE)
    make_folders(stage)
    kept = []
    there: dict[PurePosixPath, str] = {}
    for each in old:
        moved = kept_files(each.folder, ours=files_of(each), new=there)
        carry(moved, each.folder, stage)
        there |= {file.place: _digest_of_plain(stage / file.place) for file in moved}
        kept += moved
    left = _free(stage.parent, LEFT)
    stage.replace(left)
    _link(prefix, package, left.name)
    receipt_file(prefix, package).unlink(missing_ok=True)
    return Removal(package=package, removed=state, kept=tuple(kept))


def _kept_of(versions: Iterable[Installed]) -> list[Kept]:
    return [kept for each in versions if each.folder.is_dir() for kept in kept_files(each.folder, ours=files_of(each), new={})]


class _Step:
    """One package on its way into the prefix."""

    def __init__(self, source: Source, prefix: Path) -> None:
        self._source = source
        self._prefix = prefix
        self._package = source.root.manifest.package
        self._previous = state_of(prefix, self._package)
        self._linked = version_of(prefix, self._package)
        self._old = _old_versions(prefix, self._package, self._linked)
        self._receipts = _content(receipt_file(prefix, self._package))
        self._folder = ""
        self._kept: list[Kept] = []

    def stage(self) -> None:
        """Copies the new version, brings over what stays of the old, and reads back what came."""
        root, manifest = self._source.root.path, self._source.root.manifest
        versions = self._prefix / STATE / self._package
        stage = _free(versions, _STAGE)
        make_folders(stage)
        names = {file.path: file.sha256 for file in manifest.files}
        for path in names:
            make_folders((stage / path).parent)
            copy_whole(root / path, stage / path, mode=mode_of(path))
        copy_whole(root / MANIFEST, stage / MANIFEST, mode=mode_of(PurePosixPath(MANIFEST)))
        broken = manifest.violations(stage)
        if broken or Manifest.read(stage) != manifest:
            msg = f"the copy in {stage} is damaged"
            raise DeliverableError(msg, because="; ".join(broken) or f"{MANIFEST} isn't what it was")
        digest = digest_of(stage / MANIFEST)
        there = {**names, PurePosixPath(MANIFEST): digest}
        for old in self._old:
            there |= self._carry(old, stage, there)
        folder = _free(versions, f"{manifest.version}-{digest[:12]}")  # the same again: the one in use keeps its name
        stage.replace(folder)
        self._folder = folder.name
        self._manifest_digest = digest

    def _carry(self, old: Path, stage: Path, there: Mapping[PurePosixPath, str]) -> dict[PurePosixPath, str]:
        """Gives what came into the stage."""
        ours = files_of(state_in(self._prefix, self._package, old))
        kept = kept_files(old, ours=ours, new=there)
        carry(kept, old, stage, folders=empty_folders(old, ours=ours, new=there))
        self._kept += kept
        return {file.place: _digest_of_plain(stage / file.place) for file in kept}

    def prepare(self) -> None:
        """Writes the receipt, which holds for the old version too, and the link beside its place."""
        from opkit import __version__

        manifest = self._source.root.manifest
        receipt = Receipt(
            package=self._package,
            version=manifest.version,
            folder=self._folder,
            source=str(self._source.origin),
            sha256=self._source.sha256,
            manifest=self._manifest_digest,
            installed=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            opkit=__version__,
            files=tuple(InstalledFile(path=file.path, sha256=file.sha256, mode=mode_of(file.path)) for file in manifest.files),
        )
        known = None if self._previous is None else self._previous.receipt
        write_receipts(receipt_file(self._prefix, self._package), *([] if known is None else [known]), receipt)
        _draft_link(self._prefix, self._package, self._folder)

    def switch(self) -> None:
        _draft_of(self._prefix, self._package).replace(self._prefix / self._package)

    def undo(self) -> None:
        """Best effort: whatever of it fails, the old version or the new is whole."""
        folder = self._prefix / STATE / self._package / self._folder
        with suppress(OSError):
            if self._folder and version_of(self._prefix, self._package) == folder:
                if self._linked is None:
                    (self._prefix / self._package).unlink()
                else:
                    _link(self._prefix, self._package, self._linked.name)
            if self._receipts is None:
                receipt_file(self._prefix, self._package).unlink(missing_ok=True)
            else:
                write_whole(receipt_file(self._prefix, self._package), self._receipts)
            if self._folder:
                _removed(folder)

    def change(self, doubts: tuple[Requirement, ...]) -> Change:
        state = state_of(self._prefix, self._package)
        assert state is not None, "it was just installed, and the lock is held"  # noqa: S101 - tells the type checker
        return Change(installed=state, previous=self._previous, kept=tuple(self._kept), doubts=doubts)


def _draft_of(prefix: Path, package: str) -> Path:
    return prefix / STATE / f"{_LINK}.{package}"


def _draft_link(prefix: Path, package: str, folder: str) -> None:
    draft = _draft_of(prefix, package)
    draft.unlink(missing_ok=True)
    draft.symlink_to(PurePosixPath(STATE, package, folder))


def _link(prefix: Path, package: str, folder: str) -> None:
    _draft_link(prefix, package, folder)
    _draft_of(prefix, package).replace(prefix / package)


def _versions(prefix: Path, package: str) -> list[Path]:
    """The folders of a package's versions, stages too, by name; nothing else that lies there."""
    versions = prefix / STATE / package
    try:
        found = sorted(versions.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [path for path in found if _VERSION.fullmatch(path.name) and stat.S_ISDIR(path.lstat().st_mode)]


def _old_versions(prefix: Path, package: str, linked: Path | None) -> list[Path]:
    """The version in use; without one, what an interrupted uninstall left, or whose link somebody removed."""
    is_there = linked is not None and linked.is_dir()
    return [path for path in _versions(prefix, package) if (path == linked or not is_there) and path.name[0] != "."]


def _free(folder: Path, name: str) -> Path:
    """The path of that name, or of the next number that isn't taken: what couldn't be removed stays as it is."""
    path, number = folder / name, 1
    while os.path.lexists(path):
        number += 1
        path = folder / f"{name}.{number}"
    return path


def _digest_of_plain(path: Path) -> str:
    """That of no file for what is none."""
    return digest_of(path) if path.is_file() and not path.is_symlink() else ""


def _content(path: Path) -> bytes | None:
    """None for what isn't there, or can't be a file of opkit's."""
    try:
        return content_of(path, most=LARGEST_RECEIPTS)
    except PermissionError:
        raise
    except OSError:
        return None


def _sweep(prefix: Path, packages: Iterable[str]) -> list[Path]:
    """Removes what isn't in use of these packages: stages and old versions, drafts, receipts of nothing. Only under the lock.

    Best effort, since what lies there may be somebody else's; gives what can't be removed.
    """
    return [path for package in packages if PACKAGE.fullmatch(package) for path in _sweep_of(prefix, package)]


def _sweep_of(prefix: Path, package: str) -> list[Path]:
    state, receipt = prefix / STATE, receipt_file(prefix, package)
    left: list[Path] = []
    with suppress(OSError):
        in_use = version_of(prefix, package)
        others = [version for version in _versions(prefix, package) if version != in_use]
        # What they held that isn't opkit's is in the one in use, if that is there.
        is_carried = in_use is not None and in_use.is_dir()
        unused = [version for version in others if is_carried or not _holds_something(prefix, version)]
        left = [version for version in unused if not _removed(version)]
        if (state / package).is_dir():
            with suppress(OSError):
                (state / package).rmdir()
        if not _versions(prefix, package):
            receipt.unlink(missing_ok=True)
        draft = re.compile(rf"{re.escape(_LINK)}\.{package}|\.({re.escape(draft_stem(receipt.name))}|{re.escape(_MADE)})\.\d+")
        for entry in state.iterdir():
            if draft.fullmatch(entry.name):
                _removed(entry)
    return left


def _tell(left: Iterable[Path]) -> None:
    for path in left:
        console.warn(f"{path} isn't in use any more and can't be removed: {_first_foreign(path)}", help="remove it, or ask who may")


def _first_foreign(folder: Path) -> str:
    for current, folders, files in os.walk(folder):
        for each in (Path(current, name) for name in (*files, *folders)):
            with suppress(OSError):
                if each.lstat().st_uid != os.geteuid():
                    return whose(each)
    return whose(folder)


def _holds_something(prefix: Path, version: Path) -> bool:
    """Whether a version whose link somebody removed has files that aren't opkit's, or that can't be told."""
    if version.name.startswith("."):
        return False
    try:
        return bool(kept_files(version, ours=files_of(state_in(prefix, version.parent.name, version)), new={}))
    except OpkitError:
        return True


def _removed(path: Path) -> bool:
    """Removes a file, a link or a folder with all that can be removed in it; gives whether it is gone."""
    try:
        if not path.is_dir() or path.is_symlink():
            path.unlink(missing_ok=True)
            return True
        with suppress(OSError):
            # Emptied or not, and whatever its own mode is: only that of the folder above counts.
            path.rmdir()
            return True
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            path.chmod(0o700)
        for entry in path.iterdir():
            _removed(entry)
        path.rmdir()
    except OSError:
        return False
    return True


@contextmanager
def _locked(prefix: Path, wait: float) -> Iterator[None]:
    made: list[Path] = []
    state = prefix / STATE
    try:
        descriptor = acquire(
            state / _LOCK,
            wait=wait,
            shown=str(prefix),
            guard_help=_HELP,
            busy_help="wait for it: --wait SECONDS",
            prepare=lambda: _make(prefix, made),
        )
    except BaseException:
        if prefix in made and not os.path.lexists(state / _LOCK):
            with suppress(OSError):
                (state / _MADE).unlink()
        _remove_empty(made)
        raise
    try:
        note(descriptor, {})
        yield
    finally:
        with suppress(OSError):
            _leave_if_empty(prefix)
        os.close(descriptor)


def _make(prefix: Path, made: list[Path]) -> None:
    state = prefix / STATE
    attempts = 100
    while True:
        missing = [folder for folder in reversed((state, *state.parents)) if not folder.is_dir()]
        try:
            made += make_folders(state)
            # Before there is a lock to wait for: whoever gets it first then knows of these folders, if we never do.
            if prefix in made and not (state / _MADE).exists():
                write_whole(state / _MADE, f"{len({*made} - {state})}\n{prefix}\n".encode())
        except OSError as fault:
            _remove_empty(missing)
            # Another opkit removes the prefix that it leaves empty.
            attempts -= 1
            if attempts == 0 or not isinstance(fault, FileNotFoundError):
                raise
        else:
            return


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


def _leave_if_empty(prefix: Path) -> None:
    """Takes opkit's own files out of a prefix without packages, and the prefix if opkit made it and nothing else is in it."""
    state = prefix / STATE
    if {path.name for path in state.iterdir()} - {_LOCK, _MADE}:
        return
    levels = _levels(prefix, _content(state / _MADE) or b"")
    (state / _MADE).unlink(missing_ok=True)
    # Who waits for the lock finds it gone and makes all of this anew.
    (state / _LOCK).unlink()
    state.rmdir()
    if levels:
        remove_empty_folders(prefix, upto=prefix.parents[min(levels, len(prefix.parents)) - 1])


def _levels(prefix: Path, noted: bytes) -> int:
    """How many folders go with an empty prefix. Those above it are another's where it isn't any more what it was when opkit made it."""
    count, _, named = noted.decode("utf-8", "surrogateescape").strip("\n").partition("\n")
    if not (count.isascii() and count.isdigit()):
        return 0
    return int(count) if named == str(prefix) else min(int(count), 1)


def _require_distinct(sources: Sequence[Source]) -> None:
    seen: dict[str, Source] = {}
    for source in sources:
        package = source.root.manifest.package
        if package in seen:
            msg = f"{source.origin} and {seen[package].origin} are both the package {package}"
            raise UsageError(msg, because="a prefix holds one version of a package", help="name one of them")
        seen[package] = source


def _require_apart(source: Path, prefix: Path) -> None:
    if prefix.resolve().is_relative_to(source.resolve()):
        msg = f"the prefix {prefix} lies in what is to be installed"
        raise UsageError(msg, because=f"the deliverable is {source}", help=_HELP_ELSEWHERE)


def _require_no_package_around(prefix: Path) -> None:
    """Within a package a prefix would be a part of what its next version takes for somebody's."""
    resolved = Path(os.path.realpath(prefix))
    for folder in (prefix, *prefix.parents, resolved, *resolved.parents):
        if os.path.lexists(folder / MANIFEST):
            msg = f"the prefix {prefix} lies in a package"
            because = f"{folder} has {MANIFEST}; a prefix holds packages, each in a folder of its own"
            raise UsageError(msg, because=because, help=_HELP_ELSEWHERE)


def _require_own(prefix: Path, package: str) -> None:
    place = prefix / package
    if os.path.lexists(place) and version_of(prefix, package) is None:
        msg = f"{prefix} holds {package}, which opkit didn't put there"
        raise UsageError(msg, because=f"{place} is no link into {prefix / STATE}", help="remove it, or name another folder")


def _require_writable(prefix: Path, packages: Sequence[str], *, help_text: str) -> None:
    """Raises UnwritableError that says why."""
    for place in (prefix, prefix / STATE, *(prefix / STATE / package for package in packages)):
        while not _is_writable(folder := _nearest(place)):
            # Another opkit may remove the prefix that it leaves empty.
            if os.path.lexists(folder):
                msg = f"cannot write {prefix}"
                raise UnwritableError(msg, because=_why_not_writable(folder), help=help_text)


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK) and os.path.isdir(folder)  # noqa: PTH112 - Path.is_dir raises below a closed folder


def _why_not_writable(folder: Path) -> str:
    if folder.is_symlink() and not os.path.exists(folder):  # noqa: PTH110 - Path.exists raises below a closed folder
        return f"{folder} is a link to {folder.readlink()}, which isn't there"
    if os.access(folder, os.F_OK) and not folder.is_dir():
        return f"{folder} is a file"
    try:
        is_read_only = bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        is_read_only = False
    return f"{folder} lies on a read-only file system" if is_read_only else whose(folder)


def _nearest(path: Path) -> Path:
    """The path itself, or the first above it that exists."""
    while not os.path.lexists(path) and path != path.parent:
        path = path.parent
    return path


def _require_space(prefix: Path, manifests: Iterable[Manifest]) -> None:
    place = None
    while place is None:
        with suppress(FileNotFoundError):  # as above
            place = os.statvfs(_nearest(prefix))
    block = place.f_frsize
    sizes = [file.size for manifest in manifests for file in manifest.files]
    # Each file ends in a block of its own, and may have a folder of its own.
    free, needed = place.f_bavail * block, sum(-(-size // block) + 1 for size in sizes) * block
    if free < needed:
        msg = f"no room in {prefix}"
        because = f"the files of {sum(sizes)} bytes need {needed} with their folders, and {free} are free"
        raise NoSpaceError(msg, because=because, help=_HELP)
