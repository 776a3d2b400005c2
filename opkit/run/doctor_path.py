"""What `doctor` finds out about the places where GE looks for ops: each element of the path list, its libraries, and who hides whom."""

from __future__ import annotations

import os
import shlex
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from opkit.layout import LIBRARY, MANIFEST, OS
from opkit.lookup import Library, Lookup, Place, State, is_there, opened, shadows
from opkit.run.doctor_findings import Check, Finding, Status, exported, failed, opened_up, rebuilt, rebuilt_anew
from opkit.run.doctor_loading import without_broken
from opkit.run.environment import LIBRARIES, OPP
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from opkit.lookup import Shadow
    from opkit.run.doctor_loading import Loaded
    from opkit.toolkit import Toolkit

__all__ = ["library_path", "loading", "origins", "path_list", "shadowed"]

# Of the toolkit alone: that works outside of a project too, and with nothing installed.
_ACTIVATE = 'eval "$(opkit toolkit env)"'


def path_list(found: Lookup, loaded: Sequence[Loaded] = ()) -> Iterator[Finding]:
    """GE skips what it can't find without an error, and the op is then unknown when a model is built: here it is told."""
    named = [place for place in found.custom if place.position >= 0]
    if not named:
        yield Finding(check=Check.OPP_PATH, status=Status.OK, evidence=f"{OPP} is not set; opkit run and opkit env set it")
    mended = _mended(found, loaded)
    for place in named:
        status, evidence = _judged(place)
        if place.is_relative:
            status = Status.WARN if status is Status.OK else status
            evidence = f"{place.name} is relative: it means another folder for each program, here {place.path} ({place.state.value})"
        mend = _opened_up(place) or mended
        yield Finding(check=Check.OPP_PATH, status=status, evidence=evidence, help=mend, position=place.position)
    host = found.host
    if (host.os, host.arch) != (OS, host_arch()):
        evidence = f"GE searches {host.folder}, as {host.source} says; this computer is {OS}/{host_arch()}"
        hint = f"install the toolkit for {OS}/{host_arch()}, and name it with ASCEND_HOME_PATH"
        yield Finding(check=Check.HOST_FOLDER, status=Status.WARN, evidence=evidence, hint=hint)
    elif host.source is not None:
        yield Finding(check=Check.HOST_FOLDER, status=Status.OK, evidence=f"GE searches {host.folder}, as {host.source} says")


def _judged(place: Place) -> tuple[Status, str]:  # noqa: PLR0911 - one for each state
    name = place.name
    if place.state is State.FOUND and place.meant is not None:
        evidence = f"{name} lies inside an OPP root, {place.meant}; GE opens its {LIBRARY} as one that lies flat, and nothing else there"
        return Status.WARN, evidence
    if place.state is State.FOUND:
        return Status.OK, name
    if place.state is State.RUN_PACKAGE:
        return Status.OK, f"{place.name} is a package of CANN's own kind: its prototypes are read after all ops of the list"
    if place.state is State.EMPTY:
        return Status.WARN, "an empty element; GE skips it"
    if place.state is State.MISSING:
        because = f" ({place.culprit})" if place.culprit else ""
        return Status.FAIL, f"{name} does not exist{because}; GE ignores it without an error"
    if place.state is State.FILE:
        return Status.FAIL, f"{name} is a file; an OPP root is a folder"
    if place.state is State.UNREADABLE:
        return Status.FAIL, f"{place.culprit} can't be read by this user; GE ignores it without an error"
    if place.state is State.TOO_LONG:
        return Status.FAIL, f"{name[:60]}… is longer than the 4096 characters that GE reads"
    return _without_library(place, name)


def _without_library(place: Place, name: str) -> tuple[Status, str]:
    if place.meant is not None and place.path.is_relative_to(place.meant):
        return Status.FAIL, f"{name} lies inside an OPP root, {place.meant}; GE searches for op_graph below it"
    if place.meant is not None:
        return Status.FAIL, f"{name} is no OPP root, but holds one, {place.meant}; GE searches one folder alone"
    folder = place.searched.relative_to(place.path)
    if place.archs:
        return Status.FAIL, f"{name} has no .so in {folder}, but in {', '.join(place.archs)}"
    return Status.WARN, f"{name} has no .so in {folder}; its ops will be unknown"


def _opened_up(place: Place) -> str | None:
    """The command with which this user lets himself read it; one of somebody else's is left out of the list."""
    if place.state is not State.UNREADABLE or place.culprit is None:
        return None
    command = opened_up(Path(place.culprit))
    return None if command.startswith("sudo ") else command


def _mended(found: Lookup, loaded: Sequence[Loaded]) -> str:
    """The one command for all that is wrong with the list: what each element was meant to be, without those that are nothing to GE."""
    broken = {each.library.root for each in loaded if each.is_broken and not _is_stray(found, each.library)}
    roots = {place.path: place for place in found.meant}
    named = (roots.get(place.meant, place) if place.meant else place for place in found.custom if place.position >= 0)
    # Whom a broken library hides isn't hidden once that is left out.
    kept = [place for place in named if place.state in {State.FOUND, State.RUN_PACKAGE} and place.path not in broken]
    activated = [place for place in found.custom if place.position < 0 and place.path not in broken]
    useless = _useless(without_broken([*activated, *kept], loaded))
    paths = {os.path.realpath(place.path): place.path for place in reversed(kept) if place.path not in useless}
    # As they are named, for an installed package is a link; but without "..", which only the system can follow.
    return exported(OPP, os.pathsep.join(real if ".." in path.parts else str(path) for real, path in reversed(paths.items())))


def _useless(places: Sequence[Place]) -> set[Path]:
    """The OPP roots of which GE drops all."""
    ops: dict[Path, set[str]] = {}
    for library in opened(places):
        ops.setdefault(library.root, set()).update(library.ops or {""})
    for shadow in shadows(places):
        if shadow.winner.root != shadow.loser.root:
            ops[shadow.loser.root].discard(shadow.op)
    return {root for root, kept in ops.items() if not kept}


def _is_stray(found: Lookup, library: Library) -> bool:
    """Whether it lies in somebody's package without being a part of it."""
    manifest = next((place.manifest for place in found.custom if place.path == library.root), None)
    return manifest is not None and PurePosixPath(library.path.relative_to(library.root)) not in {file.path for file in manifest.files}


def _is_named(found: Lookup, root: Path) -> bool:
    return any(place.path == root for place in found.custom if place.position >= 0)


def _taken_away(found: Lookup, root: Path) -> tuple[str | None, str]:
    """The command that takes an OPP root away that an activation puts before the list, or makes it anew; and words for who has none."""
    manifest = next((place.manifest for place in found.custom if place.path == root), None)
    command = rebuilt_anew(root)
    if manifest is not None and root.name == manifest.package:
        from opkit.packaging import is_prefix

        command = f"opkit uninstall {manifest.package}" if is_prefix(root.parent) else f"pip uninstall -y {manifest.package}"
    return command, f"build again what lies in {root}, in its project"


def loading(found: Lookup, loaded: Sequence[Loaded]) -> Iterator[Finding]:
    there = {library.real for library in opened(found.custom)}
    for each in loaded:
        path = each.library.path
        if each.library.real not in there:
            continue
        if each.reason is None:
            yield Finding(check=Check.LIBRARY, status=Status.OK, evidence=f"{path} loads")
        elif each.is_helped:
            evidence = f"{path} loads only in a program that is linked with GE's libraries: by itself, {each.reason}"
            mend = rebuilt_anew(each.library.root)
            hint = "link it with the libraries that it needs, where it is built"
            yield Finding(check=Check.LIBRARY, status=Status.WARN, evidence=evidence, help=mend, hint=None if mend else hint)
        else:
            evidence = f"{path} doesn't load, so GEInitialize fails for every op: {each.reason}"
            mend, hint = _mend_of(found, each, loaded)
            yield Finding(check=Check.LIBRARY, status=Status.FAIL, evidence=evidence, help=mend, hint=None if mend else hint)


def _mend_of(found: Lookup, broken: Loaded, loaded: Sequence[Loaded]) -> tuple[str | None, str]:
    library = broken.library
    is_named = _is_named(found, library.root)
    if broken.reason is not None and broken.reason.endswith("Permission denied"):
        command = opened_up(library.path)
        if not is_named or not command.startswith("sudo "):
            return command, ""
    if _is_stray(found, library):
        return f"rm {shlex.quote(str(library.path))}", ""
    return (_mended(found, loaded), "") if is_named else _taken_away(found, library.root)


def origins(places: Iterable[Place], toolkit: Toolkit) -> Iterator[Finding]:
    """A package that was built against the simulator has genuine sonames, and loads on a device: it must be told."""
    for place in places:
        position = place.position if place.position >= 0 else None
        if place.manifest_fault is not None:
            yield _unread(place, position)
        differing = [*_differing(place, toolkit)]
        if differing:
            evidence = f"{place.path} was built {', '.join(differing)}; the toolkit in use is {toolkit.label}"
            is_fit = not toolkit.is_too_old and not toolkit.missing_headers()
            mend = rebuilt(place.path, "--toolkit", str(toolkit.home)) if is_fit else None
            build = shlex.join(["opkit", "build", "--toolkit", str(toolkit.home)])
            hint = f"build it again in its project: {build}" if is_fit else "take a toolkit that ops can be built with, and build it again"
            yield Finding(
                check=Check.BUILT_AGAINST,
                status=Status.WARN,
                evidence=evidence,
                help=mend,
                hint=None if mend else hint,
                position=position,
            )


def _unread(place: Place, position: int | None) -> Finding:
    assert place.manifest_fault is not None  # noqa: S101 - tells the type checker
    if isinstance(place.manifest_fault.__cause__, PermissionError):
        mend: str | None = opened_up(place.path / MANIFEST)
    else:
        mend = rebuilt_anew(place.path)
    return failed(Check.MANIFEST, place.manifest_fault, help=mend, position=position)


def _differing(place: Place, toolkit: Toolkit) -> Iterator[str]:
    """What the manifest says, and where there is none the libraries themselves."""
    other = 1 - toolkit.abi
    if place.manifest is None:
        libraries = [library for library in place.libraries if library.arch == toolkit.arch and other in library.string_abis]
        if libraries and not toolkit.is_simulator:
            names = ", ".join(library.path.name for library in libraries)
            yield f"with _GLIBCXX_USE_CXX11_ABI={other}, by the strings of {names}, while the toolkit has {toolkit.abi}"
        return
    built, target = place.manifest.built_against, place.manifest.target
    if built.kind != toolkit.kind.value:
        yield f"against {built.label}"
    if target.arch != toolkit.arch:
        yield f"for {target.arch}"
    if not toolkit.is_simulator and built.abi != toolkit.abi:
        yield f"with _GLIBCXX_USE_CXX11_ABI={built.abi}, while the toolkit has {toolkit.abi}"


def shadowed(found: Lookup, loaded: Sequence[Loaded] = ()) -> Iterator[Finding]:
    """One finding for each two OPP roots, or for each two libraries of one."""
    pairs: dict[tuple[Path, Path], tuple[Shadow, dict[str, None]]] = {}
    places = without_broken(found.custom, loaded)
    for shadow in shadows(places):
        is_same_root = shadow.winner.root == shadow.loser.root
        pair = (shadow.loser.path, shadow.winner.path) if is_same_root else (shadow.loser.root, shadow.winner.root)
        pairs.setdefault(pair, (shadow, {}))[1][shadow.op] = None  # Once, of however many libraries of the loser.
    useless = _useless(places)
    for (loser, winner), (shadow, each_once) in pairs.items():
        ops = [*each_once]
        evidence = f"{', '.join(ops)} of {loser} {'is' if len(ops) == 1 else 'are'} shadowed by {winner}: the first registration wins"
        mend: str | None = None
        hint = f"put first in {OPP} whose {ops[0]} is to be used, or build the other without it"
        if loser == shadow.loser.path:
            mend = f"rm {shlex.quote(str(loser))}"
        elif not _is_named(found, loser):
            mend, hint = _taken_away(found, loser)
        elif loser in useless:
            mend = _mended(found, loaded)
        yield Finding(check=Check.SHADOWED, status=Status.WARN, evidence=evidence, help=mend, hint=None if mend else hint)


def library_path(environ: Mapping[str, str], toolkit: Toolkit | None) -> Iterator[Finding]:
    value = environ.get(LIBRARIES)
    if not value:
        return
    elements = value.split(os.pathsep)
    if "" in elements:
        evidence = f"{LIBRARIES}={value} has an empty element: the dynamic loader searches the current folder"
        yield Finding(check=Check.LIBRARY_PATH, status=Status.WARN, evidence=evidence, help=_ACTIVATE)
    relative = [element for element in elements if element and not Path(element).is_absolute()]
    if relative:
        evidence = f"{LIBRARIES} has {', '.join(relative)}: a relative element means another folder for each program"
        yield Finding(check=Check.LIBRARY_PATH, status=Status.WARN, evidence=evidence, help=_ACTIVATE)
    # opkit puts its toolkit first, a program that is started by hand gets whichever comes first.
    first = next((Path(element) for element in elements if element and is_there(Path(element) / "libgraph.so")), None)
    if toolkit is not None and first is not None and first.resolve() != toolkit.lib64.resolve():
        evidence = f"{LIBRARIES} gives {first} before any other, and the toolkit in use is {toolkit.home}"
        yield Finding(check=Check.LIBRARY_PATH, status=Status.WARN, evidence=evidence, help=_ACTIVATE)
