"""What a user may name where a package is wanted: a project, an OPP root, an archive, a wheel, or a folder with one archive in it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.build import Project, read_opp_root
from opkit.deliverable import MANIFEST, OppRoot, root_above
from opkit.errors import AmbiguousSourceError, NotInstalledError, UsageError
from opkit.files import guard_reading
from opkit.packaging.archive import ARCHIVES, is_archive, open_archive
from opkit.packaging.prefix import Installed, default_prefix, installed, state_of

if TYPE_CHECKING:
    from packaging.version import Version

__all__ = ["Place", "PlaceKind", "find_packages", "find_place", "nearby", "opened"]

_INSTALLER = ".run"
_WHAT = "name a project, an OPP root or an archive"
_DIST = "dist"  # where `opkit package` puts what it makes


class PlaceKind(Enum):
    PROJECT = "project"
    OPP_ROOT = "OPP root"
    ARCHIVE = "archive"


class Place(NamedTuple):
    kind: PlaceKind
    path: Path


def find_place(named: Path | str) -> Place:
    """Raises UsageError for what holds no package, AmbiguousSourceError for a folder of several: none is picked by its name or age; and
    UnreadableError.
    """
    path = Path(named)
    with guard_reading(path):
        try:
            return _place_of(path)
        except PermissionError:
            raise
        except OSError as fault:  # A name that is too long for the system, for one.
            msg = f"cannot read {path}"
            raise UsageError(msg, because=fault.strerror) from fault


def _place_of(path: Path) -> Place:
    if path.name == "ops.py" and path.is_file():
        return Place(PlaceKind.PROJECT, path.parent)
    if not path.is_dir():
        return Place(PlaceKind.ARCHIVE, _existing(path))
    if (path / "ops.py").is_file():
        return Place(PlaceKind.PROJECT, path)
    if os.path.lexists(path / MANIFEST):
        return Place(PlaceKind.OPP_ROOT, path)
    # An installer is none of these, but one of several versions as much as they are.
    packed = sorted(each for each in path.iterdir() if (is_archive(each) or each.suffix == _INSTALLER) and each.is_file())
    if len(packed) == 1:
        return Place(PlaceKind.ARCHIVE, packed[0])
    if packed:
        msg = f"{path} holds {len(packed)} packages"
        # An installer can be named as well, but nothing that takes a package takes it.
        taken = _newest(packed)
        advice = "make an archive: opkit package --format tar" if taken is None else f"name one: {shlex.quote(str(taken))}"
        raise AmbiguousSourceError(msg, because=", ".join(each.name for each in packed), help=advice)
    msg = f"{path} holds no package"
    because = f"it has no ops.py, no {MANIFEST} and no file that ends in {' or '.join(ARCHIVES)}"
    above = root_above(path.absolute()) or _newest(_listed(path / _DIST))
    raise UsageError(msg, because=because, help=f"name {shlex.quote(str(above))}" if above else _WHAT)


def nearby(path: Path) -> str | None:
    """A question after the package that may be meant by a path that isn't there: the newest that begins with its name, else the nearest."""
    name = path.name.replace("-", "_") + "-"  # of a project; that of a package is an identifier
    there = _listed(path.parent)
    meant = _newest(each for each in (*there, *_listed(path.parent / _DIST)) if each.name.startswith(name))
    if meant is None:
        import difflib

        named = {each.name: each for each in there}
        close = difflib.get_close_matches(path.name, named)
        meant = next((named[each] for each in close if _is_package(named[each])), None)
    return None if meant is None else f"did you mean {shlex.quote(str(meant))}?"


def _listed(folder: Path) -> list[Path]:
    """Nothing of a folder that can't be read."""
    try:
        return [*folder.iterdir()]
    except OSError:
        return []


def _is_package(path: Path) -> bool:
    if is_archive(path):
        return True
    return any(os.path.lexists(path / name) for name in ("ops.py", MANIFEST))


def _newest(packed: Iterable[Path]) -> Path | None:
    """The archive of the highest version, by its name, and of several the one that was made last; None without any."""
    return max((each for each in packed if is_archive(each) and each.is_file()), key=_age, default=None)


def _age(archive: Path) -> tuple[bool, Version, float]:
    from packaging.version import InvalidVersion, Version

    made = archive.stat().st_mtime
    try:
        return True, Version(archive.name.split("-")[1]), made
    except (InvalidVersion, IndexError):
        return False, Version("0"), made


def find_packages(named: str | None, *, prefix: Path | None, environ: Mapping[str, str]) -> list[Installed]:
    """The installed packages that a user means: the one of that name in `prefix`, or in the usual one without, or of that OPP root; all of
    a prefix that is named. Empty if it isn't an installed package that is meant.

    Raises NotInstalledError for a prefix without it, and UnreadableError.
    """
    if prefix is not None:
        there = installed(prefix)
        found = [package for package in there if named in (None, package.package)]
        if not found:
            raise _not_in(prefix, named, [package.package for package in there])
        return found
    if named is None:
        return []
    # Not resolved: a package of a prefix is a link.
    path = Path(os.path.abspath(named))  # noqa: PTH100
    if os.path.isfile(path / "ops.py"):  # noqa: PTH113 - Path.is_file raises where a folder above is closed
        return []
    if os.path.isdir(path):  # noqa: PTH112 - as above
        package = state_of(path.parent, path.name)
        return installed(path) if package is None else [package]
    if os.path.lexists(path) or os.sep in named:
        return []
    usual = default_prefix(environ)
    return [] if usual is None else [package for package in installed(usual) if named == package.package]


def _not_in(prefix: Path, named: str | None, names: list[str]) -> NotInstalledError:
    if named is None:
        msg = f"nothing is installed in {prefix}"
        return NotInstalledError(msg, help="opkit list shows what is installed elsewhere")
    from opkit.spec.problems import did_you_mean

    msg = f"{named} isn't installed in {prefix}"
    because = f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}" if names else "nothing is"
    return NotInstalledError(msg, because=because, help=did_you_mean(named, names) or "opkit list shows what is installed elsewhere")


@contextmanager
def opened(place: Place) -> Iterator[OppRoot]:
    """Gives the OPP root of a place: where it is, that of a project as its last build left it, or unpacked into a private folder.

    Raises NotBuiltError, ArchiveError, DeliverableError.
    """
    if place.kind is PlaceKind.ARCHIVE:
        with open_archive(place.path) as root:
            yield root
        return
    if place.kind is PlaceKind.PROJECT:
        yield read_opp_root(Project.find(place.path))
        return
    found = OppRoot.read(place.path)
    if found is None:
        msg = f"{place.path} is no OPP root of opkit's any more"
        raise UsageError(msg, because=f"its {MANIFEST} is gone")
    yield found


def _existing(path: Path) -> Path:
    if not os.path.lexists(path):
        msg = f"{path} doesn't exist"
        raise UsageError(msg, help=nearby(path) or _WHAT)
    return path
