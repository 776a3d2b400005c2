"""What `doctor` finds out about the folders that a build, an install or the simulator writes; asked of the system, without writing."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.errors import OpkitError
from opkit.packaging import default_prefix
from opkit.run.doctor_findings import Check, Finding, Status, exported, failed
from opkit.toolkit import user_cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opkit.build import Project
    from opkit.toolkit import Toolkit

__all__ = ["folders"]

_FULL = 1 << 20  # bytes under which a build has no room
_NO_PROGRAMS = 8  # ST_NOEXEC, which Python has no name for on every system
_TEMPORARY = Path("/tmp")  # noqa: S108 - the system's default, which is only looked at
# The first that is set names it.
_PREFIX_VARIABLES = ("OPKIT_PREFIX", "XDG_DATA_HOME")
_SIMULATOR_CACHE = "OPKIT_SIM_CACHE_DIR"


class _Needed(NamedTuple):
    """A folder that files are made in. `variable` named it, None if nothing did; `otherwise` is where it is without that variable, None if
    nowhere. `hint` is how another one is named.
    """

    what: str
    path: Path
    hint: str
    is_loaded_from: bool
    variable: str | None = None
    otherwise: Path | None = None
    # Nobody makes the folder for temporary files.
    is_made: bool = True

    @property
    def reason(self) -> str | None:
        """Why files can't be made in it."""
        return self._why_not(self.path)

    @property
    def mend(self) -> str | None:
        if self.variable is not None and self.otherwise is not None and self._why_not(self.otherwise) is None:
            return exported(self.variable, "" if self.is_made else str(self.otherwise))
        return _own_again(self.path)

    def _why_not(self, path: Path) -> str | None:
        return "it does not exist" if not self.is_made and _is_gone(path) else _refusal(path, is_loaded_from=self.is_loaded_from)


def folders(environ: Mapping[str, str], project: Project | None, toolkit: Toolkit | None) -> Iterator[Finding]:
    """What can't be written, is full, or is mounted so that nothing in it can be loaded."""
    needed = [*_of_project(project), _temporary(environ)]
    refused = 0
    try:
        prefix = _prefix(environ)
    except OpkitError as error:
        prefix = None
        refused += 1
        yield failed(Check.FOLDER, error, help=_without_its_variable(environ))
    cache = _kernel_cache(environ) if toolkit is not None and toolkit.is_simulator else None
    needed += [each for each in (prefix, cache) if each is not None]
    if project is not None and os.pathsep in str(project.output):
        refused += 1
        evidence = f"the output folder, {project.output}: its path holds a '{os.pathsep}', so that no path list can name it"
        yield Finding(check=Check.FOLDER, status=Status.FAIL, evidence=evidence, hint="name another with --output")
    for each in needed:
        reason = each.reason
        if reason is not None:
            refused += 1
            mend = each.mend
            evidence = f"{each.what}, {each.path}: {reason}"
            yield Finding(check=Check.FOLDER, status=Status.FAIL, evidence=evidence, help=mend, hint=None if mend else each.hint)
    named = environ.get(_SIMULATOR_CACHE, "")
    if cache is not None and named and not named.startswith("/"):
        refused += 1
        evidence = f"{_SIMULATOR_CACHE}={named} is relative: it means another folder for each program"
        mend = exported(_SIMULATOR_CACHE, str(cache.path.absolute()))
        yield Finding(check=Check.FOLDER, status=Status.WARN, evidence=evidence, help=mend)
    if not refused:
        yield Finding(check=Check.FOLDER, status=Status.OK, evidence=f"{', '.join(each.what for each in needed)} can be written")


def _of_project(project: Project | None) -> Iterator[_Needed]:
    if project is not None:
        yield _Needed("the build folder", project.build_dir, "name another with --build-dir", is_loaded_from=True)
        yield _Needed("the output folder", project.output, "name another with --output", is_loaded_from=True)


def _temporary(environ: Mapping[str, str]) -> _Needed:
    named = environ.get("TMPDIR")
    path = Path(named) if named else _TEMPORARY
    hint = "name a folder of yours with TMPDIR"
    return _Needed("TMPDIR", path, hint, is_loaded_from=False, variable="TMPDIR", otherwise=_TEMPORARY, is_made=False)


def _prefix(environ: Mapping[str, str]) -> _Needed | None:
    """Raises UsageError for one that can't be a prefix."""
    prefix = default_prefix(environ)
    if prefix is None:
        return None
    what, hint = "the prefix of installed packages", "name another with OPKIT_PREFIX, or with --prefix"
    for variable in _PREFIX_VARIABLES:
        if environ.get(variable):
            try:
                otherwise = default_prefix({name: value for name, value in environ.items() if name != variable})
            except OpkitError:
                otherwise = None
            return _Needed(what, prefix, hint, is_loaded_from=True, variable=variable, otherwise=otherwise)
    return _Needed(what, prefix, hint, is_loaded_from=True)


def _without_its_variable(environ: Mapping[str, str]) -> str | None:
    """The command after which no variable names what can't be a prefix; None if it is the home folder that can't."""
    left = dict(environ)
    for variable in _PREFIX_VARIABLES:
        if left.pop(variable, ""):
            try:
                default_prefix(left)
            except OpkitError:
                continue
            return exported(variable)
    return None


def _kernel_cache(environ: Mapping[str, str]) -> _Needed | None:
    """Where the simulator keeps compiled kernels, by its own rules; None where it has no place and compiles each time."""
    folder = user_cache(environ)
    usual = None if folder is None else folder / "opkit" / "rtc"
    named = environ.get(_SIMULATOR_CACHE)
    path = Path(named) if named else usual
    if path is None:
        return None
    # Kernels are loaded from memory, so that only what a build or an install leaves has to lie where programs may.
    what, hint = "the simulator's cache of kernels", f"name a folder of yours with {_SIMULATOR_CACHE}"
    return _Needed(what, path, hint, is_loaded_from=False, variable=_SIMULATOR_CACHE if named else None, otherwise=usual)


def _own_again(path: Path) -> str | None:
    """The command with which this user may write a folder of his own; None if that isn't what is wrong with it."""
    existing = _existing(path)
    try:
        is_own = existing.is_dir() and existing.stat().st_uid == os.geteuid() and not os.access(existing, os.W_OK | os.X_OK)
    except OSError:
        return None
    # For root only a mount is closed.
    return f"chmod u+rwx {shlex.quote(str(existing))}" if is_own and os.geteuid() else None


def _existing(path: Path) -> Path:
    """The folder that is there, from which on the rest would be made. Raises OSError."""
    existing = Path(os.path.abspath(path))  # noqa: PTH100 - links are for the system to follow
    while not existing.exists() and not existing.is_symlink():
        existing = existing.parent
    return existing


def _is_gone(path: Path) -> bool:
    """Not for one that can't be looked at."""
    try:
        path.stat()
    except OSError as fault:
        return isinstance(fault, FileNotFoundError)
    return False


def _refusal(path: Path, *, is_loaded_from: bool) -> str | None:  # noqa: PLR0911 - one for each reason
    """Why files can't be made in `path`, which needn't exist yet."""
    try:
        existing = _existing(path)
        if not existing.is_dir():
            return f"{existing} is no folder"
        if not os.access(existing, os.W_OK | os.X_OK):
            return f"{existing} can't be written by this user"
        if any(existing.is_relative_to(kernels) for kernels in ("/proc", "/sys")):
            return f"{existing} is the kernel's, which keeps no files"
        system = os.statvfs(existing)
    except OSError as fault:
        return fault.strerror
    if system.f_flag & os.ST_RDONLY:
        return f"{existing} is on a file system that is mounted read-only"
    if system.f_bavail * system.f_frsize < _FULL or (system.f_files and not system.f_favail):
        return f"the file system of {existing} is full"
    if is_loaded_from and system.f_flag & _NO_PROGRAMS:
        return f"the file system of {existing} is mounted noexec: nothing in it can be run or loaded"
    return None
