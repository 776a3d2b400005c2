"""What `doctor` finds out about the toolkit: which one it is and why, whether ops can be built with it, and what else there is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from opkit.errors import OpkitError
from opkit.run.doctor_distribution import installed_again
from opkit.run.doctor_findings import Check, Finding, Status, exported, failed
from opkit.run.environment import HOME
from opkit.run.machine import simulator_threads
from opkit.toolkit import OLDEST_CANN, Origin, Toolkit, candidates, discover, host_arch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["device", "examined_toolkit"]

_OLDEST = ".".join(map(str, OLDEST_CANN))
_UNKNOWN = "unknown"
_INSTALL = "install CANN, or opkit with its simulator"


def examined_toolkit(environ: Mapping[str, str], option: str | None) -> tuple[Toolkit | None, list[Finding]]:
    found = candidates(environ, option=option)
    try:
        toolkit = discover(environ, option=option)
    except OpkitError as error:
        others = [f"{each.path} ({each.toolkit.label})" for each in found if each.toolkit is not None]
        return None, [failed(Check.TOOLKIT, error, help=_way_out(environ, option, None)), *_others(others)]
    others = [
        f"{each.path} ({each.toolkit.label if each.toolkit else f'refused: {each.refusal}'})"
        for each in found
        if each.toolkit is None or each.toolkit.home != toolkit.home
    ]
    told = f"{toolkit.home}: {toolkit.label} ({toolkit.reason})"
    ok = Finding(check=Check.TOOLKIT, status=Status.OK, evidence=told)
    return toolkit, [ok, *_others(others), *_fitness(toolkit, _way_out(environ, option, toolkit))]


def device(toolkit: Toolkit, environ: Mapping[str, str], option: str | None = None) -> Finding:
    if toolkit.is_simulator:
        threads = simulator_threads(environ)
        evidence = f"host simulator, {toolkit.arch}, {threads} threads: results are real, times are this computer's"
        return Finding(check=Check.DEVICE, status=Status.OK, evidence=evidence)
    nodes = sorted(str(node) for node in Path("/dev").glob("davinci[0-9]*"))
    if nodes:
        return Finding(check=Check.DEVICE, status=Status.OK, evidence=", ".join(nodes))
    mend = _taken(toolkit for toolkit in _sound(environ, option) if toolkit.is_simulator)
    return Finding(
        check=Check.DEVICE,
        status=Status.WARN,
        evidence="no /dev/davinci* here: a build works, a run doesn't",
        help=mend,
        hint=None if mend else "run it where there is a device, or on the simulator",
    )


def _others(names: list[str]) -> Iterator[Finding]:
    if names:
        yield Finding(check=Check.OTHER_TOOLKITS, status=Status.OK, evidence=f"not used: {', '.join(names)}")


def _way_out(environ: Mapping[str, str], option: str | None, toolkit: Toolkit | None) -> str | None:
    """The command that takes another toolkit, which ops can be built with and which is for this computer, or makes opkit's own whole."""
    if option is not None:
        return None  # Whoever names one on the command line gets it, whatever the environment says.
    command = _taken(each for each in _sound(environ, option) if toolkit is None or each.home != toolkit.home)
    if command is None and (toolkit is None or toolkit.origin is Origin.BUNDLED):
        # Where no toolkit can be, installing it again mends nothing.
        return None if any(each.origin is Origin.BUNDLED and each.is_misplaced for each in candidates(environ)) else installed_again()
    return command


def _taken(toolkits: Iterator[Toolkit]) -> str | None:
    first = next(toolkits, None)
    return None if first is None else exported(HOME, str(first.home))


def _sound(environ: Mapping[str, str], option: str | None) -> Iterator[Toolkit]:
    """In the order of preference, those that nothing is wrong with."""
    if option is not None:
        return
    for each in candidates(environ):
        found = each.toolkit
        if found is not None and next(_faults(found), None) is None and found.version != _UNKNOWN:
            yield found


def _faults(toolkit: Toolkit) -> Iterator[tuple[Check, str]]:
    """What keeps an op from being built with it, or from running here."""
    if toolkit.is_too_old:
        yield Check.TOOLKIT_VERSION, f"needs CANN {_OLDEST} or newer, found {toolkit.version}"
    missing = toolkit.missing_headers()
    if missing:
        yield Check.HEADERS, f"{toolkit.include} has no {', '.join(missing)}"
    missing = toolkit.missing_libraries()
    if missing:
        yield Check.TOOLKIT_LIBRARIES, f"{toolkit.lib64} has no {', '.join(missing)}"
    if toolkit.arch != host_arch():
        yield Check.ARCH, f"the toolkit is for {toolkit.arch}, this computer is {host_arch()}"


def _fitness(toolkit: Toolkit, way_out: str | None) -> Iterator[Finding]:
    faults = dict(_faults(toolkit))
    sound = {
        Check.TOOLKIT_VERSION: f"{toolkit.version}, needs CANN {_OLDEST} or newer",
        Check.HEADERS: f"all that generated code includes is in {toolkit.include}",
        Check.TOOLKIT_LIBRARIES: f"all that a project links with is in {toolkit.lib64}",
        Check.ARCH: None,  # told only where it is wrong
    }
    for check, told in sound.items():
        if check in faults:
            hint = None if way_out else _INSTALL
            yield Finding(check=check, status=Status.FAIL, evidence=faults[check], help=way_out, hint=hint)
        elif check is Check.TOOLKIT_VERSION and toolkit.version == _UNKNOWN:
            evidence = f"no file in {toolkit.home} says which version it is; needs CANN {_OLDEST} or newer"
            hint = f"nothing, if it is CANN {_OLDEST} or newer; its installer writes the version into version.info"
            yield Finding(check=check, status=Status.WARN, evidence=evidence, hint=hint)
        elif told is not None:
            yield Finding(check=check, status=Status.OK, evidence=told)
    yield Finding(check=Check.ABI, status=Status.OK, evidence=f"_GLIBCXX_USE_CXX11_ABI={toolkit.abi}")
