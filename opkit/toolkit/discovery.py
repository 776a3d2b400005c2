"""Finding the toolkit: the one named, else one installed where CANN installs itself, else the bundled host simulator.

The order and the refusal of a wrong name are one rule: a named toolkit is used or is an error, never silently replaced by another.
"""

from __future__ import annotations

import enum
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from opkit import resources
from opkit.errors import ToolkitError

__all__ = ["Candidate", "Kind", "Origin", "Toolkit", "candidates", "discover", "host_arch", "process_environment"]

_VARIABLE = "ASCEND_HOME_PATH"
_SIMULATOR_MARK = "opkit-simulator.json"
# Where CANN's installers put a toolkit, for root and for one user, newest naming first.
_BASES = ("/usr/local/Ascend", "~/Ascend")
_NAMES = ("cann", "latest", "ascend-toolkit/latest")
_VERSION_FILES = ("version.info", "compiler/version.info", "runtime/version.info", "version.cfg")
_VERSION_LINE = r"(?im)^\s*(?:version|compiler_version|toolkit_version|runtime_running_version)\s*=\s*\[?(?:[\d.]+:)?([\w.+-]+)"
_PROBED_LIBRARIES = ("lib64/libascendcl.so", "lib64/libacl_rt.so", "lib64/libgraph.so")
_MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of the ELF specification
_ARCH_ALIASES = {"amd64": "x86_64", "arm64": "aarch64"}
_WAYS_OUT = "name a toolkit with --toolkit DIR or ASCEND_HOME_PATH, or unset ASCEND_HOME_PATH to use the bundled simulator"


class Kind(enum.Enum):
    CANN = "cann"
    SIMULATOR = "simulator"


class Origin(enum.Enum):
    """How a place came to be looked at: only a named one is an error if it holds no toolkit."""

    NAMED = "named"
    INSTALLED = "installed"
    BUNDLED = "bundled"


class Toolkit(NamedTuple):
    """A folder with `include/`, `lib64/` and `opp/`. `home` is absolute and free of symlinks, `reason` says why it is this one.

    `abi` is the _GLIBCXX_USE_CXX11_ABI that code linked with it should be compiled with; `stamp` changes when it is installed anew.
    """

    home: Path
    kind: Kind
    version: str
    abi: int
    arch: str
    origin: Origin
    reason: str
    stamp: str

    @property
    def is_simulator(self) -> bool:
        return self.kind is Kind.SIMULATOR

    @property
    def include(self) -> Path:
        return self.home / "include"

    @property
    def lib64(self) -> Path:
        return self.home / "lib64"

    @property
    def label(self) -> str:
        return f"{'host simulator' if self.is_simulator else 'CANN'} {self.version}, {self.arch}"

    def missing_headers(self) -> list[str]:
        """What the generated code includes and this toolkit lacks; an older CANN has no custom_op.h or no run-time compiler."""
        needed = ["acl/acl_rt.h", "acl/acl_rt_compile.h", "graph/custom_op.h", "graph/operator_reg.h", "ge/ge_api.h"]
        return [header for header in needed if not (self.include / header).is_file()]


class Candidate(NamedTuple):
    """A place where a toolkit may be, and what is there: a toolkit, or the reason why not."""

    path: Path
    origin: Origin
    reason: str
    toolkit: Toolkit | None
    refusal: str | None


def process_environment() -> dict[str, str]:
    """The environment opkit was started in. Everything behind the command line gets it as a value."""
    return dict(os.environ)


def discover(environ: Mapping[str, str], *, option: str | None = None, cwd: Path | None = None) -> Toolkit:
    """Gives the toolkit to use. Raises ToolkitError if the named one is none, or if there is none at all.

    `option` is the value of --toolkit; relative names count from `cwd`.
    """
    for candidate in _in_order(environ, option, cwd or Path.cwd()):
        if candidate.toolkit is not None:
            return candidate.toolkit
        if candidate.origin is Origin.NAMED:
            msg = f"{candidate.path} is no CANN toolkit"
            raise ToolkitError(msg, where=candidate.reason.removeprefix("named by "), because=candidate.refusal, help=_WAYS_OUT)
    msg = "no CANN toolkit named or found, and this opkit carries no simulator"
    raise ToolkitError(msg, because="opkit runs from a checkout that was never installed", help="pip install .")


def candidates(environ: Mapping[str, str], *, option: str | None = None, cwd: Path | None = None) -> list[Candidate]:
    """Every place in the order of preference, existing or named; for `opkit toolkit list`."""
    return [
        found
        for found in _in_order(environ, option, cwd or Path.cwd())
        if found.toolkit or found.refusal != "it does not exist" or found.origin is Origin.NAMED
    ]


def _in_order(environ: Mapping[str, str], option: str | None, cwd: Path) -> Iterator[Candidate]:
    if option is not None:
        yield _candidate(option, Origin.NAMED, "named by --toolkit", environ, cwd)
    if environ.get(_VARIABLE):
        yield _candidate(environ[_VARIABLE], Origin.NAMED, f"named by {_VARIABLE}={environ[_VARIABLE]}", environ, cwd)
    for base in _BASES:
        for name in _NAMES:
            yield _candidate(f"{base}/{name}", Origin.INSTALLED, "installed in a default place", environ, cwd)
    bundled = resources.bundled_toolkit()
    if bundled is not None:
        reason = "using the bundled host simulator: no CANN toolkit named or found"
        yield _candidate(str(bundled), Origin.BUNDLED, reason, environ, cwd)


def _candidate(name: str, origin: Origin, reason: str, environ: Mapping[str, str], cwd: Path) -> Candidate:
    path = Path(os.path.normpath(cwd / _home_expanded(name, environ)))
    try:
        refusal = _refusal(name, path)
    except OSError as fault:  # A name that is too long for the system, or a folder that may not be looked into.
        refusal = fault.strerror
    toolkit = None if refusal else _inspected(path.resolve(), origin, reason)
    return Candidate(path=path, origin=origin, reason=reason, toolkit=toolkit, refusal=refusal)


def _home_expanded(name: str, environ: Mapping[str, str]) -> str:
    # Not Path.expanduser: without HOME it asks the password database, and `~x` is then an exception instead of a wrong folder.
    home = environ.get("HOME")
    return home + name[1:] if home and (name == "~" or name.startswith("~/")) else name


def _refusal(name: str, path: Path) -> str | None:  # noqa: PLR0911 - one for each reason
    if not name.strip():
        return "the name is empty"
    if not path.exists():
        return "it does not exist"
    if not path.is_dir():
        return "it is a file, not a folder"
    for part in ("include", "lib64"):
        if not (path / part).is_dir():
            return f"it has no {part} folder"
    if not (path / "include" / "acl").is_dir():
        return "it has no include/acl folder"
    if os.pathsep in str(path):
        return "its path holds a ':', which LD_LIBRARY_PATH can't"
    return None


def _inspected(home: Path, origin: Origin, reason: str) -> Toolkit:
    mark = home / _SIMULATOR_MARK
    kind = Kind.SIMULATOR if mark.is_file() else Kind.CANN
    version, source = _version(home, mark)
    return Toolkit(
        home=home,
        kind=kind,
        version=version,
        # CANN's libraries are built with the old string ABI, and the simulator serves both.
        abi=0,
        arch=_arch(home),
        origin=origin,
        reason=reason,
        stamp="" if source is None else str(source.stat().st_mtime_ns),
    )


def _version(home: Path, mark: Path) -> tuple[str, Path | None]:
    if mark.is_file():
        try:
            return str(json.loads(mark.read_bytes())["version"]), mark
        except (ValueError, KeyError, TypeError, OSError) as fault:
            msg = f"{mark} is not what the simulator's installation writes"
            raise ToolkitError(msg, because=f"{type(fault).__name__}: {fault}", help="install the simulator again") from fault
    files = [home / name for name in _VERSION_FILES] + sorted(home.glob("*-linux/ascend_toolkit_install.info"))
    for file in files:
        if file.is_file():
            match = re.search(_VERSION_LINE, file.read_text("utf-8", "replace"))
            if match:
                return match[1], file
    return "unknown", None


def _arch(home: Path) -> str:
    for name in _PROBED_LIBRARIES:
        try:
            with (home / name).open("rb") as file:
                head = file.read(20)
        except OSError:
            continue
        machine = _MACHINES.get(int.from_bytes(head[18:20], "little")) if head[:4] == b"\x7fELF" else None
        if machine:
            return machine
    return host_arch()


def host_arch() -> str:
    machine = os.uname().machine
    return _ARCH_ALIASES.get(machine, machine)
