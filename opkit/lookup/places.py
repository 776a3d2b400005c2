"""The places where GE looks for custom ops, in order, each with the libraries that it opens there and what they register."""

from __future__ import annotations

import enum
import errno
import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import attrs

from opkit.deliverable import LIBRARY, BuiltAgainst, Manifest, root_above
from opkit.errors import DeliverableError, ElfError
from opkit.files import LARGEST_SETTINGS, content_of
from opkit.layout import BUILT_IN_VARIABLE, OPP_VARIABLE, libraries_of, roots_below
from opkit.lookup.host import HostFolder, host_folder, own_library, package_folder
from opkit.lookup.looking import is_folder, is_there
from opkit.lookup.opp_abi import AcceptedVersions, accepted_versions
from opkit.lookup.vendors import Vendors, read_vendors
from opkit.toolkit import elf_arch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from opkit.deliverable.elf import ElfLibrary
    from opkit.toolkit import Toolkit

__all__ = ["Library", "Lookup", "Origin", "Place", "Shadow", "State", "lookup", "opened", "place_of", "shadows"]

CUSTOM_PATH = OPP_VARIABLE
_LONGEST = 4096  # PATH_MAX, at which GE gives up
_RUN_PACKAGE = ("op_proto", "op_impl", "framework")
_SPLIT_PROTOTYPES = ("rt.so", "rt2.0.so")  # of operators that come in two libraries: for the run time, not prototypes


class Origin(enum.Enum):
    CUSTOM = CUSTOM_PATH
    VENDOR = "vendors/config.ini"
    BUILT_IN = "built-in"


class State(enum.Enum):
    """What is at a place. `FOUND` brings ops, a run package prototypes alone, the others nothing."""

    FOUND = "found"
    RUN_PACKAGE = "a run package"
    EMPTY = "an empty element"
    MISSING = "missing"
    FILE = "a file"
    UNREADABLE = "unreadable"
    TOO_LONG = "too long"
    NO_LIBRARY = "no library"
    REFUSED = "refused"


@attrs.frozen(kw_only=True)
class Library:
    """A library that GE opens. `arch` is None for what is no ELF file, `ops` where nothing tells what it registers.

    `string_abis` are those of _GLIBCXX_USE_CXX11_ABI whose strings it takes or gives; none where it can't be read.
    """

    root: Path
    path: Path
    arch: str | None
    ops: tuple[str, ...] | None
    built_against: BuiltAgainst | None
    string_abis: frozenset[int] = frozenset()

    @property
    def real(self) -> str:
        """The same for two names of one file, which is loaded once."""
        return os.path.realpath(self.path)


@attrs.frozen(kw_only=True)
class Place:
    """`name` is what the list says, `searched` the folder below it. `culprit` is what can't be read, or why GE refuses it.

    `meant` is the OPP root above or below a place that is none, `archs` are those that there are libraries for instead.
    """

    origin: Origin
    position: int
    name: str
    path: Path
    searched: Path
    state: State
    libraries: tuple[Library, ...] = ()
    manifest: Manifest | None = None
    manifest_fault: DeliverableError | None = None
    culprit: str | None = None
    meant: Path | None = None
    archs: tuple[str, ...] = ()

    @property
    def is_relative(self) -> bool:
        return self.state is not State.EMPTY and not Path(self.name).is_absolute()


@attrs.frozen(kw_only=True)
class Shadow:
    """GE keeps the first registration of an op type and drops every later one without an error: custom_op_registry.cc."""

    op: str
    winner: Library
    loser: Library


@attrs.frozen(kw_only=True)
class Lookup:
    """`custom` is where ops are searched for, `prototypes` where what operators of CANN's own kind look like: each in GE's order.

    `meant` are the OPP roots above or below elements that are none. `opp` is None without a toolkit. `vendors` is None where there is no
    list, or where GE doesn't read it: `is_old_layout` of `opp`.
    """

    host: HostFolder
    custom: tuple[Place, ...]
    meant: tuple[Place, ...] = ()
    opp: Path | None = None
    is_old_layout: bool = False
    config: Path | None = None
    vendors: Vendors | None = None
    prototypes: tuple[Place, ...] = ()


def lookup(environ: Mapping[str, str], toolkit: Toolkit | None, *, first: Iterable[Path] = (), cwd: Path | None = None) -> Lookup:
    """`first` are OPP roots that an activation puts before what the variable names: they have no position in it."""
    here = cwd or Path.cwd()
    host = host_folder(toolkit)
    activated = tuple(place_of(str(root), host, position=-1, cwd=here) for root in first)
    value = environ.get(CUSTOM_PATH, "")
    named = tuple(place_of(name, host, position=number, cwd=here) for number, name in enumerate(value.split(os.pathsep) if value else ()))
    roots = dict.fromkeys(place.meant for place in named if place.meant is not None)
    meant = tuple(place_of(str(root), host, position=-1, cwd=here) for root in roots)
    found = Lookup(host=host, custom=activated + named, meant=meant)
    return found if toolkit is None else _with_prototypes(found, environ, toolkit, here)


def place_of(name: str, host: HostFolder, *, position: int = 0, cwd: Path | None = None) -> Place:
    """The place that one element of ASCEND_CUSTOM_OPP_PATH is."""
    path = (cwd or Path.cwd()) / name
    searched = path / host.folder
    place = Place(origin=Origin.CUSTOM, position=position, name=name, path=path, searched=searched, state=State.EMPTY)
    if not name:
        return place
    try:
        state, culprit = _state_of(path, searched)
        found = [] if state is not State.FOUND else _files_of(path, searched)
    except PermissionError as fault:
        state, culprit, found = State.UNREADABLE, str(fault.filename), []
    if state is State.UNREADABLE and culprit is not None:
        culprit = str(_closed(Path(culprit)))
    if state is not State.FOUND:
        return attrs.evolve(place, state=state, culprit=culprit)
    if not found and any(is_folder(path / part) for part in _RUN_PACKAGE):
        return attrs.evolve(place, state=State.RUN_PACKAGE)
    if not found:
        return attrs.evolve(place, state=State.NO_LIBRARY, meant=_root_meant(path), archs=_other_archs(path))
    manifest, manifest_fault = _manifest_of(path)
    return attrs.evolve(
        place,
        state=State.FOUND,
        libraries=tuple(_library(file, path, manifest) for file in found),
        manifest=manifest,
        manifest_fault=manifest_fault,
        meant=_root_above(path),
    )


def opened(places: Iterable[Place]) -> list[Library]:
    """In the order in which GE opens them. One that has several names, or is named again, is where it comes first."""
    libraries: dict[str, Library] = {}
    for place in places:
        for library in place.libraries:
            libraries.setdefault(library.real, library)
    return list(libraries.values())


def shadows(places: Sequence[Place]) -> Iterator[Shadow]:
    """Every registration that is dropped, in the order in which GE comes to it."""
    owners: dict[str, Library] = {}
    for library in opened(places):
        for op in library.ops or ():
            winner = owners.setdefault(op, library)
            if winner is not library:
                yield Shadow(op=op, winner=winner, loser=library)


def _state_of(path: Path, searched: Path) -> tuple[State, str | None]:
    if len(os.fsencode(searched)) >= _LONGEST:
        return State.TOO_LONG, None
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return State.MISSING, None
    except PermissionError as fault:
        return State.UNREADABLE, str(fault.filename)
    except OSError as fault:  # A part that is too long for the system, or a loop of links.
        return State.MISSING, fault.strerror
    if not path.is_dir():
        return State.FILE, None
    return State.FOUND, None


def _files_of(path: Path, searched: Path) -> list[Path]:
    """The flat library first, then those of the searched folder as C's alphasort has them: by bytes. Raises PermissionError."""
    flat = path / LIBRARY
    if not os.access(path, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return [*([flat] if flat.exists() else []), *_libraries_in(searched)]


def _closed(path: Path) -> Path:
    """The uppermost folder that keeps this user out: the system names the one below that was asked for."""
    return next((folder for folder in reversed(path.parents) if not os.access(folder, os.X_OK)), path)


def _libraries_in(folder: Path) -> list[Path]:
    """Whatever ends in .so and is no folder itself: a link to a folder, and one to nowhere, are opened like a library."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(".so") and not entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [folder / name for name in sorted(names, key=os.fsencode)]


def _library(file: Path, root: Path, manifest: Manifest | None) -> Library:
    is_ours = manifest is not None and PurePosixPath(file.relative_to(root)) in {entry.path for entry in manifest.files}
    ours = manifest if is_ours else None
    elf = _read(file)
    return Library(
        root=root,
        path=file,
        arch=elf_arch(file),
        ops=(elf.ops if elf is not None else ()) or (ours.op_types if ours is not None else None),
        built_against=ours.built_against if ours is not None else None,
        string_abis=elf.string_abis if elf is not None else frozenset(),
    )


def _read(file: Path) -> ElfLibrary | None:
    """None for a file that is no library."""
    # Only here: a machine without a custom op shouldn't wait for the reader of ELF files.
    from opkit.deliverable.elf import read_library

    try:
        return read_library(file)
    except ElfError:
        return None


def _manifest_of(root: Path) -> tuple[Manifest | None, DeliverableError | None]:
    try:
        return Manifest.read(root), None
    except DeliverableError as error:
        return None, error


def _root_meant(path: Path) -> Path | None:
    above = _root_above(path)
    if above is not None:
        return above
    below = roots_below(path)
    return below[0] if len(below) == 1 else None


def _root_above(path: Path) -> Path | None:
    # By its names alone, op_graph/.. would lie in op_graph.
    return root_above(Path(os.path.realpath(path)) if ".." in path.parts else path)


def _other_archs(path: Path) -> tuple[str, ...]:
    return tuple(sorted({"/".join(file.parts[-3:-1]) for file in libraries_of(path)}))


def _with_prototypes(found: Lookup, environ: Mapping[str, str], toolkit: Toolkit, cwd: Path) -> Lookup:
    """Run packages in the order of the variable, then in that of config.ini, then what is built in."""
    named = environ.get(BUILT_IN_VARIABLE)
    # GE's own default lies beside its library; CANN's set_env.sh names another folder, and so does the simulator.
    default = toolkit.home / "opp" if toolkit.is_simulator else _library_folder(toolkit) / "ops"
    opp = cwd / named if named else default
    is_old = not is_folder(opp / "built-in")
    config = opp / "vendors" / "config.ini"
    vendors = None if is_old else _vendors(config)
    if is_old:
        folders = {"custom": opp / "op_proto" / "custom"}
    else:
        folders = {name: config.parent / name / "op_proto" for name in (vendors and vendors.names) or ()}
    accepted = accepted_versions(package_folder(toolkit))
    packages = [place for place in found.custom if is_folder(place.path / "op_proto") and place.state in {State.FOUND, State.RUN_PACKAGE}]
    places = [_prototypes(Origin.CUSTOM, place.position, place.name, place.path / "op_proto", found.host) for place in packages]
    places += [_prototypes(Origin.VENDOR, number, name, folder, found.host) for number, (name, folder) in enumerate(folders.items())]
    built_in = opp / ("op_proto/built-in" if is_old else "built-in/op_proto")
    places.append(_prototypes(Origin.BUILT_IN, 0, "built-in", built_in, found.host))
    if not is_old:
        places = [_accepted(place, opp, accepted) for place in places]
    return attrs.evolve(
        found,
        opp=opp,
        is_old_layout=is_old,
        config=config if is_there(config) else None,
        vendors=vendors,
        prototypes=tuple(places),
    )


def _accepted(place: Place, opp: Path, accepted: AcceptedVersions) -> Place:
    """Unchanged, or as one that GE skips because of its version."""
    is_built_in = place.origin is Origin.BUILT_IN
    refusal = accepted.refusal(opp if is_built_in else place.path.parent, is_built_in=is_built_in)
    return place if refusal is None else attrs.evolve(place, state=State.REFUSED, libraries=(), culprit=refusal)


def _library_folder(toolkit: Toolkit) -> Path:
    library = own_library(toolkit)
    return package_folder(toolkit) if library is None else library.parent.parent


def _vendors(config: Path) -> Vendors | None:
    try:
        return read_vendors(content_of(config, most=LARGEST_SETTINGS))
    except FileNotFoundError:
        return None
    except OSError as fault:
        return Vendors(names=None, faults=(f"it can't be read: {fault.strerror}",))


def _prototypes(origin: Origin, position: int, name: str, folder: Path, host: HostFolder) -> Place:
    """A folder of prototypes: the one for this os and arch, else, if that isn't there, the folder itself. What doesn't load is skipped."""
    searched = folder / "lib" / host.os / host.arch
    place = Place(origin=origin, position=position, name=name, path=folder, searched=searched, state=State.MISSING)
    if not is_folder(folder):
        return place
    try:
        files = [file for file in _libraries_in(searched) if not file.name.endswith(_SPLIT_PROTOTYPES)]
        files = files if is_folder(searched) else _libraries_in(folder)
    except PermissionError as fault:
        return attrs.evolve(place, state=State.UNREADABLE, culprit=str(fault.filename))
    libraries = tuple(Library(root=folder.parent, path=file, arch=elf_arch(file), ops=None, built_against=None) for file in files)
    return attrs.evolve(place, state=State.FOUND if libraries else State.NO_LIBRARY, libraries=libraries)
