"""What `doctor` finds out about the places where GE looks for ops: each element of the path list, its libraries, and who hides whom."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from opkit import process
from opkit.layout import LIBRARY, OS
from opkit.lookup import Library, Lookup, Origin, Place, State, is_folder, is_there, opened, shadows
from opkit.run.doctor_findings import Check, Finding, Status, failed
from opkit.run.environment import LIBRARIES, OPP, activate
from opkit.toolkit import host_arch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from opkit.lookup import Shadow
    from opkit.toolkit import Toolkit

__all__ = ["Loaded", "library_path", "load_all", "loading", "origins", "path_list", "shadowed", "vendors"]

# Each library in the order given, as GE opens them; a line before each names the one that a crash is about. Those that don't load are tried
# again with GE's own libraries in reach of all, as they are in a program that is linked with them.
_LOAD = """\
import ctypes, os, sys
paths = dict(enumerate(sys.argv[1:]))
def load(mark, numbers):
    for number in numbers:
        print(f"{number}{mark}", end=" ", flush=True)
        try:
            ctypes.CDLL(paths[number], os.RTLD_NOW)
            print("ok", flush=True)
        except OSError as fault:
            print(str(fault).replace("\\n", " "), flush=True)
            yield number
failed = list(load("", paths))
if failed:
    for name in ("libge_runner.so", "libgraph.so", "libascendcl.so"):
        try:
            ctypes.CDLL(name, os.RTLD_NOW | os.RTLD_GLOBAL)
        except OSError:
            pass
    list(load("+", failed))
"""
_PATIENCE = 20.0
_SHARED_OBJECT = re.compile(r"^(\S+): cannot open shared object file")
_SYMBOL = re.compile(r"undefined symbol: ([^\s,]+)")
_VERSION = re.compile(r"version [`']([^`']+)' not found \(required by ([^)]+)\)")
# Of the toolkit alone: that works outside of a project too, and with nothing installed.
_ACTIVATE = 'eval "$(opkit toolkit env)"'


class Loaded(NamedTuple):
    """What came of loading one library: `reason` is None for one that loads, `is_helped` if it lacks GE's own libraries alone."""

    library: Library
    reason: str | None
    is_helped: bool

    @property
    def is_broken(self) -> bool:
        return self.reason is not None and not self.is_helped


def path_list(found: Lookup, loaded: Sequence[Loaded] = ()) -> Iterator[Finding]:
    """GE skips what it can't find without an error, and the op is then unknown when a model is built: here it is told."""
    named = [place for place in found.custom if place.position >= 0]
    if not named:
        yield Finding(check=Check.OPP_PATH, status=Status.OK, evidence=f"{OPP} is not set; opkit run and opkit env set it")
    mended = _mended(found, loaded)
    for place in named:
        status, evidence = _judged(place)
        if place.is_relative:
            status = Status.WARN
            evidence = f"{place.name} is relative: it means another folder for each program, here {place.path} ({place.state.value})"
        mend = f"chmod a+rX {shlex.quote(str(place.culprit))}" if place.state is State.UNREADABLE else mended
        yield Finding(check=Check.OPP_PATH, status=status, evidence=evidence, help=mend, position=place.position)
    host = found.host
    if (host.os, host.arch) != (OS, host_arch()):
        evidence = f"GE searches op_graph/lib/{host}, as {host.source} says; this computer is {OS}/{host_arch()}"
        yield Finding(check=Check.HOST_FOLDER, status=Status.WARN, evidence=evidence, help="opkit toolkit list")
    elif host.source is not None:
        yield Finding(check=Check.HOST_FOLDER, status=Status.OK, evidence=f"GE searches op_graph/lib/{host}, as {host.source} says")


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


def _assigned(paths: Iterable[Path]) -> str:
    value = os.pathsep.join(dict.fromkeys(map(str, paths)))
    return f"export {OPP}={shlex.quote(value)}" if value else f"unset {OPP}"


def _mended(found: Lookup, loaded: Iterable[Loaded]) -> str:
    """The one command for all that is wrong with the list: what each element was meant to be, without those that are nothing to GE."""
    left_out = {each.library.root for each in loaded if each.is_broken and not _is_stray(found, each.library)} | _useless(found)
    named = [place for place in found.custom if place.position >= 0 and place.path not in left_out]
    return _assigned(place.meant or place.path for place in named if place.meant or place.state in {State.FOUND, State.RUN_PACKAGE})


def _useless(found: Lookup) -> set[Path]:
    """The OPP roots of which GE drops all."""
    ops: dict[Path, set[str]] = {}
    for library in opened(found.custom):
        ops.setdefault(library.root, set()).update(library.ops or {""})
    for shadow in shadows(found.custom):
        if shadow.winner.root != shadow.loser.root:
            ops[shadow.loser.root].discard(shadow.op)
    return {root for root, kept in ops.items() if not kept}


def _is_stray(found: Lookup, library: Library) -> bool:
    """Whether it lies in somebody's package without being a part of it."""
    manifest = next((place.manifest for place in found.custom if place.path == library.root), None)
    return manifest is not None and PurePosixPath(library.path.relative_to(library.root)) not in {file.path for file in manifest.files}


def _is_named(found: Lookup, root: Path) -> bool:
    return any(place.path == root for place in found.custom if place.position >= 0)


def _uninstalled(found: Lookup, root: Path) -> str:
    """The command that takes an OPP root away that an activation puts before the list."""
    manifest = next((place.manifest for place in found.custom if place.path == root), None)
    if manifest is None or root.name != manifest.package:
        return "opkit build --force"
    # A prefix has a folder of opkit's beside its packages, and a wheel doesn't.
    return f"{'opkit' if (root.parent / '.opkit').is_dir() else 'pip'} uninstall {manifest.package}"


def load_all(found: Lookup, toolkit: Toolkit, environ: Mapping[str, str]) -> list[Loaded]:
    """Loads each library in a child: one that doesn't load makes GEInitialize fail for all of them."""
    libraries = opened(found.custom)
    foreign = [library for library in libraries if library.arch is not None and library.arch != host_arch()]
    results = [Loaded(library, f"it is for {library.arch}, this computer is {host_arch()}", is_helped=False) for library in foreign]
    tried = [library for library in libraries if library not in foreign]
    for library, told, is_helped in _load(tried, activate(toolkit, [], environ)):
        results.append(Loaded(library, None if told is None else _explained(library, told), is_helped))
    return results


def loading(found: Lookup, loaded: Sequence[Loaded]) -> Iterator[Finding]:
    for each in loaded:
        path = each.library.path
        if each.reason is None:
            yield Finding(check=Check.LIBRARY, status=Status.OK, evidence=f"{path} loads")
        elif each.is_helped:
            evidence = f"{path} loads only in a program that is linked with GE's libraries: by itself, {each.reason}"
            yield Finding(check=Check.LIBRARY, status=Status.WARN, evidence=evidence, help="opkit build --force")
        else:
            evidence = f"{path} doesn't load, so GEInitialize fails for every op: {each.reason}"
            yield Finding(check=Check.LIBRARY, status=Status.FAIL, evidence=evidence, help=_mend_of(found, each, loaded))


def _mend_of(found: Lookup, broken: Loaded, loaded: Sequence[Loaded]) -> str:
    library = broken.library
    if broken.reason is not None and broken.reason.endswith("Permission denied"):
        return f"chmod a+r {shlex.quote(str(library.path))}"
    if _is_stray(found, library):
        return f"rm {shlex.quote(str(library.path))}"
    return _mended(found, loaded) if _is_named(found, library.root) else _uninstalled(found, library.root)


def _load(libraries: list[Library], environment: Mapping[str, str]) -> Iterator[tuple[Library, str | None, bool]]:
    """Gives what the loader said, None if nothing, and whether GE's own libraries in reach help.

    One child for all, as GE is one process; after one that it didn't survive, another for the rest.
    """
    rest = libraries
    while rest:
        argv = [sys.executable, "-I", "-S", "-c", _LOAD, *(str(library.path) for library in rest)]
        done = process.run(argv, env=environment, timeout=_PATIENCE)
        told = dict(re.findall(r"^(\d+\+?) (.*)$", done.stdout, flags=re.MULTILINE))
        for number, library in enumerate(rest):
            result = told.get(str(number), "")
            if not result:
                how = f"didn't end within {_PATIENCE:.0f} s" if done.timed_out else f"ended with {done.shell_exit}"
                yield library, f"loading it {how}", False
                rest = rest[number + 1 :]
                break
            yield library, None if result == "ok" else result, told.get(f"{number}+") == "ok"
        else:
            return


def _explained(library: Library, reason: str) -> str:
    """The loader's text, by what matters in it."""
    lacking = _SHARED_OBJECT.search(reason)
    if lacking is not None and lacking[1] != str(library.path):
        return f"it needs {lacking[1]}, which isn't found"
    symbol = _SYMBOL.search(reason)
    if symbol is not None:
        return f"it needs the symbol {symbol[1]}, which no library has"
    version = _VERSION.search(reason)
    return reason if version is None else f"it needs {version[1]}, which this computer is too old for"


def origins(places: Iterable[Place], toolkit: Toolkit) -> Iterator[Finding]:
    """A package that was built against the simulator has genuine sonames, and loads on a device: it must be told."""
    for place in places:
        position = place.position if place.position >= 0 else None
        if place.manifest_fault is not None:
            yield failed(Check.MANIFEST, place.manifest_fault, position=position)
        if place.manifest is None:
            continue
        built, target = place.manifest.built_against, place.manifest.target
        differing = []
        if built.kind != toolkit.kind.value:
            differing.append(f"against {'the simulator' if built.is_simulator else 'CANN'} {built.version}")
        if target.arch != toolkit.arch:
            differing.append(f"for {target.arch}")
        if not toolkit.is_simulator and built.abi != toolkit.abi:
            differing.append(f"with _GLIBCXX_USE_CXX11_ABI={built.abi}, while the toolkit has {toolkit.abi}")
        if differing:
            evidence = f"{place.path} was built {', '.join(differing)}; the toolkit in use is {toolkit.label}"
            project = place.path.parent
            named = [str(project)] if (project / "ops.py").is_file() else []
            mend = shlex.join(["opkit", "build", *named, "--toolkit", str(toolkit.home)])
            yield Finding(check=Check.BUILT_AGAINST, status=Status.WARN, evidence=evidence, help=mend, position=position)


def shadowed(found: Lookup, loaded: Sequence[Loaded] = ()) -> Iterator[Finding]:
    """One finding for each two OPP roots, or for each two libraries of one."""
    pairs: dict[tuple[Path, Path], tuple[Shadow, list[str]]] = {}
    for shadow in shadows(found.custom):
        is_same_root = shadow.winner.root == shadow.loser.root
        pair = (shadow.loser.path, shadow.winner.path) if is_same_root else (shadow.loser.root, shadow.winner.root)
        pairs.setdefault(pair, (shadow, []))[1].append(shadow.op)
    useless = _useless(found)
    for (loser, winner), (shadow, ops) in pairs.items():
        evidence = f"{', '.join(ops)} of {loser} {'is' if len(ops) == 1 else 'are'} shadowed by {winner}: the first registration wins"
        if loser == shadow.loser.path:
            mend = f"rm {shlex.quote(str(loser))}"
        elif not _is_named(found, loser):
            mend = _uninstalled(found, loser)
        else:
            mend = _mended(found, loaded) if loser in useless else f"opkit doctor --explain {ops[0]}"
        yield Finding(check=Check.SHADOWED, status=Status.WARN, evidence=evidence, help=mend)


def vendors(found: Lookup, environ: Mapping[str, str], toolkit: Toolkit) -> Iterator[Finding]:
    """CANN's operators of its own kind. The simulator has none, and nobody misses them there unless the variable says so."""
    opp = found.opp
    named = environ.get("ASCEND_OPP_PATH")
    if opp is None or (toolkit.is_simulator and not named):
        return
    where = f"ASCEND_OPP_PATH={named}" if named else f"ASCEND_OPP_PATH is not set, GE takes {opp}"
    if not is_folder(opp):
        evidence = f"{where}, which {'is no folder' if is_there(opp) else 'does not exist'}: no built-in operator is found"
        yield Finding(check=Check.OPP, status=Status.WARN, evidence=evidence, help=f". {shlex.quote(str(toolkit.home / 'set_env.sh'))}")
        return
    yield Finding(check=Check.OPP, status=Status.OK, evidence=where)
    for place in found.prototypes:
        if place.state is State.REFUSED:
            evidence = f"GE skips {place.path.parent} without an error: {place.culprit}"
            mend = f"cat {shlex.quote(str(place.path.parent / 'version.info'))}"
            yield Finding(check=Check.OPP_VERSION, status=Status.WARN, evidence=evidence, help=mend)
    if found.config is None:
        return
    if found.is_old_layout:
        evidence = f"{found.config} isn't read: {opp} has no built-in folder, so GE takes it for the layout before config.ini"
        yield Finding(check=Check.VENDORS, status=Status.WARN, evidence=evidence, help=f"ls {shlex.quote(str(opp))}")
        return
    yield from _config(found, found.config)


def _config(found: Lookup, config: Path) -> Iterator[Finding]:
    assert found.vendors is not None, "it was read"  # noqa: S101 - tells the type checker
    names, faults = found.vendors.names, list(found.vendors.faults)
    there = sorted(folder.name for folder in config.parent.iterdir() if folder.is_dir()) if os.access(config.parent, os.R_OK) else []
    gone = [place.name for place in found.prototypes if place.origin is Origin.VENDOR and place.name and place.name not in there]
    if gone:
        faults.append(f"{config.parent} has no {', '.join(dict.fromkeys(gone))}")
    kept = [name for name in dict.fromkeys(names or there) if name in there]
    # opkit never writes it: whose vendors these are isn't its business.
    mend = f"echo load_priority={','.join(kept)} | sudo tee {shlex.quote(str(config))}"
    read = "GE reads no vendor" if names is None else f"GE reads {', '.join(name or '(blank)' for name in names)}"
    if not faults:
        yield Finding(check=Check.VENDORS, status=Status.OK, evidence=f"{config}: {read}")
    else:
        status = Status.FAIL if names is None else Status.WARN
        yield Finding(check=Check.VENDORS, status=status, evidence=f"{config}: {'; '.join(faults)}; {read}", help=mend)


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
