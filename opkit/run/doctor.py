"""What would stop a build or a run on this computer, found by looking: tools, toolkit, deliverable, and the path list as GE walks it."""

from __future__ import annotations

import enum
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from opkit import process
from opkit.deliverable import LIBRARY, OppRoot, include_folder, library_folder, root_above
from opkit.errors import OpkitError
from opkit.run.environment import LIBRARIES, OPP, activate
from opkit.run.machine import simulator_threads
from opkit.toolkit import Tool, Toolkit, discover, find_cmake, find_compiler, find_ninja, host_arch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from opkit.build import Project

__all__ = ["Finding", "Status", "examine"]

_LOAD = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW)"
_OLDEST_GCC = 7  # the first with all of C++17 that the generated code uses


class Status(enum.Enum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@attrs.frozen(kw_only=True)
class Finding:
    """One thing that was looked at; `evidence` is what was seen, `help` one thing to do about it."""

    id: str
    status: Status
    evidence: str
    help: str | None = None


def examine(environ: Mapping[str, str], *, project: Project | None, option: str | None = None) -> list[Finding]:
    """`option` is the value of --toolkit; without a project only the computer is examined."""
    toolkit, about_toolkit = _toolkit(environ, option)
    findings = [*about_toolkit, *_tools(environ)]
    roots: list[Path] = []
    if project is not None:
        about_project, root = _deliverable(project, toolkit)
        findings += about_project
        roots = [root] if root is not None else []
    entries = environ.get(OPP, "").split(os.pathsep) if environ.get(OPP) else []
    findings += _path_list(entries)
    roots += [Path(entry) for entry in entries if entry and Path(entry).is_dir()]
    if toolkit is not None:
        findings += _libraries(list(dict.fromkeys(root.resolve() for root in roots)), toolkit, environ)
        findings.append(_device(toolkit, environ))
    findings += _shadowed(roots)
    if environ.get(LIBRARIES) and "" in environ[LIBRARIES].split(os.pathsep):
        evidence = f"{LIBRARIES}={environ[LIBRARIES]} has an empty element: the dynamic loader searches the current folder"
        findings.append(Finding(id="library-path", status=Status.WARN, evidence=evidence, help='eval "$(opkit env)"'))
    return findings


def _toolkit(environ: Mapping[str, str], option: str | None) -> tuple[Toolkit | None, list[Finding]]:
    try:
        toolkit = discover(environ, option=option)
    except OpkitError as error:
        return None, [_failed("toolkit", error)]
    findings = [Finding(id="toolkit", status=Status.OK, evidence=f"{toolkit.home}: {toolkit.label} ({toolkit.reason})")]
    missing = toolkit.missing_headers()
    if missing:
        evidence = f"{toolkit.include} has no {', '.join(missing)}"
        findings.append(
            Finding(id="headers", status=Status.FAIL, evidence=evidence, help="use CANN 9.2 or newer, or the bundled simulator")
        )
    else:
        findings.append(Finding(id="headers", status=Status.OK, evidence=f"all that generated code includes is in {toolkit.include}"))
    if toolkit.arch != host_arch():
        evidence = f"the toolkit is for {toolkit.arch}, this computer is {host_arch()}"
        findings.append(Finding(id="arch", status=Status.FAIL, evidence=evidence, help=f"name a toolkit for {host_arch()}"))
    return toolkit, findings


def _tools(environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        compiler = find_compiler(environ)
        done = process.run([compiler.path, "-dumpfullversion", "-dumpversion"], timeout=10)
        version = done.stdout.strip() or "unknown"
        is_old = "clang" not in compiler.path.name and version.partition(".")[0].isdigit() and int(version.partition(".")[0]) < _OLDEST_GCC
        yield Finding(
            id="compiler",
            status=Status.FAIL if is_old or not done.ok else Status.OK,
            evidence=f"{compiler.path} {version} ({compiler.reason})",
            help=f"install g++ {_OLDEST_GCC} or newer" if is_old else None,
        )
    except OpkitError as error:
        yield _failed("compiler", error)
    yield _tool("cmake", find_cmake, environ)
    yield _tool("ninja", find_ninja, environ)


def _tool(name: str, find: Callable[[Mapping[str, str]], Tool], environ: Mapping[str, str]) -> Finding:
    try:
        tool = find(environ)
    except OpkitError as error:
        return _failed(name, error)
    return Finding(id=name, status=Status.OK, evidence=f"{tool.path} {tool.version} ({tool.reason})")


def _deliverable(project: Project, toolkit: Toolkit | None) -> tuple[list[Finding], Path | None]:
    build = f"opkit build {shlex.quote(str(project.root))}"
    try:
        opp_root = OppRoot.read(project.output)
    except OpkitError as error:
        return [_failed("deliverable", error)], None
    if opp_root is None:
        return [Finding(id="deliverable", status=Status.WARN, evidence=f"{project.root} isn't built", help=build)], None
    manifest = opp_root.manifest
    violations = manifest.violations(opp_root.path)
    if violations:
        return [Finding(id="deliverable", status=Status.FAIL, evidence="; ".join(violations), help=f"{build} --force")], None
    built = manifest.built_against
    origin = f"built against {built.kind} {built.version}, {built.arch}"
    findings = [Finding(id="deliverable", status=Status.OK, evidence=f"{opp_root.path}: {', '.join(manifest.ops)}, {origin}")]
    headers = [str(file.path) for file in manifest.files if file.path.parent == include_folder()]
    if headers:
        findings.append(Finding(id="header", status=Status.OK, evidence=f"{', '.join(headers)} in place"))
    else:
        findings.append(
            Finding(
                id="header", status=Status.FAIL, evidence=f"no proto header in {opp_root.path / include_folder()}", help=f"{build} --force"
            )
        )
    if toolkit is not None and (built.kind, built.arch) != (toolkit.kind.value, toolkit.arch):
        evidence = f"{origin}, and the toolkit in use is {toolkit.label}"
        findings.append(Finding(id="built-against", status=Status.WARN, evidence=evidence, help=build))
    return findings, opp_root.path


def _path_list(entries: list[str]) -> Iterator[Finding]:
    """GE skips what it can't find without an error, and the op is then unknown when a model is built: here it is told."""
    if not entries:
        yield Finding(id="opp-path", status=Status.OK, evidence=f"{OPP} is not set; opkit run and opkit env set it")
    for position, entry in enumerate(entries):
        label = f"opp-path[{position}]"
        path = Path(entry)
        above = root_above(path)
        if not entry:
            yield Finding(id=label, status=Status.WARN, evidence="an empty element", help=f'unset {OPP}, then: eval "$(opkit env)"')
        elif not path.is_absolute():
            yield Finding(
                id=label,
                status=Status.WARN,
                evidence=f"{entry} is relative: it means another folder for each program",
                help="name it in full",
            )
        elif not path.exists():
            yield Finding(
                id=label,
                status=Status.FAIL,
                evidence=f"{entry} does not exist; GE ignores it without an error",
                help="opkit build, or remove the entry",
            )
        elif not path.is_dir():
            yield Finding(
                id=label,
                status=Status.FAIL,
                evidence=f"{entry} is a file; an OPP root is a folder",
                help="name the folder that holds op_graph",
            )
        elif above is not None:
            yield Finding(
                id=label,
                status=Status.FAIL,
                evidence=f"{entry} lies inside an OPP root; GE searches for op_graph below it",
                help=f"name {above} instead",
            )
        elif not _libraries_of(path):
            evidence = f"{entry} has no .so in {library_folder(host_arch())}; its ops will be unknown"
            yield Finding(id=label, status=Status.WARN, evidence=evidence, help="opkit build, or remove the entry")
        else:
            yield Finding(id=label, status=Status.OK, evidence=entry)


def _libraries(roots: list[Path], toolkit: Toolkit, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Loads each library in a child: one that doesn't load makes GEInitialize fail for all of them."""
    environment = activate(toolkit, [], environ)
    for library in (library for root in roots for library in _libraries_of(root)):
        done = process.run([sys.executable, "-I", "-S", "-c", _LOAD, library], env=environment, timeout=20)
        if done.ok:
            yield Finding(id="library", status=Status.OK, evidence=f"{library} loads")
        else:
            told = done.stderr.strip().splitlines()
            reason = told[-1].removeprefix("OSError: ") if told else f"loading it ended with {done.exit}"
            yield Finding(
                id="library",
                status=Status.FAIL,
                evidence=f"{library} doesn't load, so GEInitialize fails for every op: {reason}",
                help="remove it, or build it again",
            )


def _shadowed(roots: list[Path]) -> Iterator[Finding]:
    owner: dict[str, Path] = {}
    for root in dict.fromkeys(root.resolve() for root in roots):
        try:
            opp_root = OppRoot.read(root)
        except OpkitError as error:
            yield _failed("manifest", error)
            continue
        for op in () if opp_root is None else opp_root.manifest.ops:
            if op in owner:
                evidence = f"{op} of {root} is shadowed by {owner[op]}: the first registration wins"
                yield Finding(id="shadowed", status=Status.WARN, evidence=evidence, help=f"remove one of them from {OPP}")
            owner.setdefault(op, root)


def _device(toolkit: Toolkit, environ: Mapping[str, str]) -> Finding:
    if toolkit.is_simulator:
        threads = simulator_threads(environ)
        evidence = f"host simulator, {toolkit.arch}, {threads} threads: results are real, times are this computer's"
        return Finding(id="device", status=Status.OK, evidence=evidence)
    nodes = sorted(str(node) for node in Path("/dev").glob("davinci[0-9]*"))
    if nodes:
        return Finding(id="device", status=Status.OK, evidence=", ".join(nodes))
    return Finding(
        id="device",
        status=Status.WARN,
        evidence="no /dev/davinci* here: a build works, a run doesn't",
        help="unset ASCEND_HOME_PATH to run on the simulator",
    )


def _libraries_of(root: Path) -> list[Path]:
    """In GE's order: the flat library first, then every `*.so` of the searched folder by name."""
    folder = root / library_folder(host_arch())
    return [path for path in (root / LIBRARY, *sorted(folder.glob("*.so"))) if path.is_file()]


def _failed(label: str, error: OpkitError) -> Finding:
    evidence = error.message + (f" ({error.because})" if error.because else "")
    return Finding(id=label, status=Status.FAIL, evidence=evidence, help=error.help)
