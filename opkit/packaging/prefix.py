"""A prefix, where packages are installed: each is a link to one of its versions, so that an upgrade is the renaming of a link.

<prefix>/acme                     -> .opkit/acme/1.1-0f3a…       an OPP root
<prefix>/.opkit/acme/1.1-0f3a…/   that version; at most one stays
<prefix>/.opkit/acme.json         its receipt
<prefix>/.opkit/.lock             held by who changes the prefix
<prefix>/.opkit/.made             in a prefix that opkit made: how many folders, and what it was called

No package's name begins with a dot, nor holds one: what is called after a package and what isn't can't meet.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from opkit.deliverable import MANIFEST, Manifest, OppRoot
from opkit.errors import DeliverableError, UnreadableError, UsageError
from opkit.files import digest_of, guard_reading
from opkit.layout import OPP_VARIABLE, mode_of
from opkit.packaging.receipt import Receipt, read_receipts

__all__ = [
    "LEFT",
    "PACKAGE",
    "STATE",
    "Installed",
    "checked_prefix",
    "default_prefix",
    "files_of",
    "installed",
    "is_prefix",
    "receipt_file",
    "state_in",
    "state_of",
    "version_of",
]

STATE = ".opkit"
LEFT = "left"  # the folder of an uninstalled package for what wasn't opkit's
_VARIABLE = "OPKIT_PREFIX"
_READABLE = 0o444
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LEFT = re.compile(rf"{LEFT}(\.\d+)?")
PACKAGE = re.compile(r"[a-z][a-z0-9_]*")


class Installed(NamedTuple):
    """A package of a prefix. `path` is its OPP root, the same for each version; `folder` is where its files are.

    Without a manifest it is broken, and `fault` says how. Without a receipt nobody knows where it came from nor what it was, and
    `receipt_fault` says why there is none.
    """

    package: str
    path: Path
    folder: Path
    manifest: Manifest | None
    receipt: Receipt | None
    fault: str | None = None
    receipt_fault: str | None = None

    @property
    def opp_root(self) -> OppRoot | None:
        return None if self.manifest is None else OppRoot(path=self.path, manifest=self.manifest)

    @property
    def version(self) -> str | None:
        """None if neither manifest nor receipt can be read."""
        if self.manifest is not None:
            return self.manifest.version
        return None if self.receipt is None else self.receipt.version

    @property
    def marked_version(self) -> str | None:
        """For people; a receipt doesn't know what it was built against."""
        return self.version if self.manifest is None else self.manifest.marked_version

    def problems(self) -> list[str]:
        """All that isn't as it was installed, each as one sentence; reads every file."""
        found = [fault for fault in (self.fault, self.receipt_fault) if fault is not None]
        if not os.path.isdir(self.folder):  # noqa: PTH112 - Path.is_dir raises where a folder above is closed
            return found
        for path, sha256 in files_of(self).items():
            if path == PurePosixPath(MANIFEST) and self.fault is not None:
                continue
            try:
                if digest_of(self.folder / path) != sha256:
                    found.append(f"{path} was edited")
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                found.append(f"{path} is missing")
            except OSError as fault:
                found.append(f"{path} can't be read: {fault.strerror}")
        return [*found, *self.irregularities().values()]

    def irregularities(self) -> dict[PurePosixPath, str]:
        """What no package holds, as `Manifest.irregularities` has it, and the files with other modes than they were installed with."""
        found = {} if self.manifest is None else self.manifest.irregularities(self.folder)
        modes = {} if self.receipt is None else {file.path: file.mode for file in self.receipt.files}
        manifest = PurePosixPath(MANIFEST)
        for path, installed_with in {**modes, manifest: mode_of(manifest)}.items():
            with suppress(OSError):  # Missing, or where nobody may look, which is told.
                mode = (self.folder / path).lstat().st_mode & 0o7777
                if installed_with & _READABLE & ~mode or mode & ~0o777:
                    found[path] = f"{path} has mode {mode:04o}, and was installed with {installed_with:04o}"
        return found


def default_prefix(environ: Mapping[str, str]) -> Path | None:
    """OPKIT_PREFIX, else a folder of the user's; None for a user without a home folder. An installer that runs without opkit finds the same
    (templates/package/install.sh).

    Raises UsageError for an OPKIT_PREFIX that can't be one: unlike an option it holds in every folder, so it has to be absolute.
    """
    named = environ.get(_VARIABLE)
    if named:
        if not named.startswith("/"):
            msg = f"{_VARIABLE} isn't an absolute path: {named}"
            raise UsageError(msg, because="what it is relative to differs from one call to the next", help=f'{_VARIABLE}="$PWD/{named}"')
        return checked_prefix(named, origin=_VARIABLE)
    # What isn't absolute is to be ignored, says the specification of XDG_DATA_HOME.
    data = environ.get("XDG_DATA_HOME", "")
    if data.startswith("/"):
        return checked_prefix(f"{data}/opkit/opp", origin="XDG_DATA_HOME")
    home = environ.get("HOME", "")
    if not home.startswith("/") or not os.path.isdir(home):  # noqa: PTH112 - Path.is_dir raises where a folder above is closed
        return None
    return checked_prefix(f"{home}/.local/share/opkit/opp", origin="HOME")


def checked_prefix(named: str, *, origin: str = "--prefix") -> Path:
    """Absolute, without "..", and with links as they are named. Raises UsageError for what can't be a prefix; `origin` named it."""
    if not named:
        msg = f"{origin} is empty"
        raise UsageError(msg, because="it has to name a folder", help="--prefix DIR")
    if _CONTROL.search(named):
        msg = f"{origin} isn't the name of a folder: {named!r}"
        raise UsageError(msg, because="it holds a control character", help="name another folder")
    if os.pathsep in named:
        msg = f"{origin} {named} isn't one folder"
        because = f"it holds a '{os.pathsep}', which separates the folders of {OPP_VARIABLE}"
        raise UsageError(msg, because=because, help="name one folder")
    path = Path(os.path.abspath(named))  # noqa: PTH100 - not resolved: the prefix may be a link that somebody moves
    if path == Path(path.anchor):
        msg = f"{origin} is the root folder"
        raise UsageError(msg, because="packages need a folder of their own", help="name another folder")
    return path


def installed(prefix: Path) -> list[Installed]:
    """The packages of a prefix in the order of their names, which is the order in which they are activated; broken ones too.

    Raises UnreadableError for a folder that doesn't let itself be read, which isn't the same as an empty one.
    """
    prefix = Path(os.path.abspath(prefix))  # noqa: PTH100 - not resolved: the prefix may be a link that somebody moves
    try:
        with guard_reading(prefix):
            names = sorted(path.name for path in prefix.iterdir() if path.is_symlink())
    except UnreadableError as error:
        if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            return []
        raise
    found = (state_of(prefix, name) for name in names)
    return [each for each in found if each is not None]


def state_of(prefix: Path, package: str) -> Installed | None:
    """None if it isn't installed: nothing is there, or only files that an uninstall left because they weren't opkit's."""
    folder = version_of(prefix, package)
    if folder is None:
        return None
    state = state_in(prefix, package, folder)
    # Where nobody knows of a package of opkit's, it may be one all the same: only what an uninstall called so is none.
    return None if state.manifest is None and state.receipt is None and _LEFT.fullmatch(folder.name) else state


def state_in(prefix: Path, package: str, folder: Path) -> Installed:
    """What one version of a package is, in use or not."""
    receipts = read_receipts(receipt_file(prefix, package))
    receipt = receipts.by_folder.get(folder.name)
    receipt_fault = None if receipt else receipts.fault or f"its receipt {receipt_file(prefix, package)} doesn't tell of {folder.name}"
    manifest: Manifest | None = None
    fault: str | None = None
    try:
        manifest = Manifest.read(folder)
    except DeliverableError as error:
        fault = error.message + (f" ({error.because})" if error.because else "")
    if manifest is None and fault is None:
        fault = f"{folder / MANIFEST if os.path.isdir(folder) else folder} is missing"  # noqa: PTH112 - as above
    elif manifest is not None and manifest.package != package:
        fault = f"its manifest is that of {manifest.package}"
        manifest = None
    return Installed(
        package=package,
        path=prefix / package,
        folder=folder,
        manifest=manifest,
        receipt=receipt,
        fault=fault,
        receipt_fault=receipt_fault,
    )


def version_of(prefix: Path, package: str) -> Path | None:
    """The folder that the link of a package names, if it is a link of opkit's; the folder needn't exist."""
    try:
        target = (prefix / package).readlink()
    except OSError:
        return None
    if target.parts[:-1] != (STATE, package) or target.name.startswith(".") or not PACKAGE.fullmatch(package):
        return None
    return prefix / target


def is_prefix(folder: Path) -> bool:
    """Whether opkit installed there: a Python's folder of packages has none of its own."""
    return (folder / STATE).is_dir()


def receipt_file(prefix: Path, package: str) -> Path:
    return prefix / STATE / f"{package}.json"


def files_of(state: Installed) -> dict[PurePosixPath, str]:
    """The files that opkit put there, its manifest too, each with its SHA-256: by the receipt, else by the manifest."""
    if state.receipt is not None:
        return {**{file.path: file.sha256 for file in state.receipt.files}, PurePosixPath(MANIFEST): state.receipt.manifest}
    if state.manifest is not None:
        return {**{file.path: file.sha256 for file in state.manifest.files}, PurePosixPath(MANIFEST): digest_of(state.folder / MANIFEST)}
    return {}
