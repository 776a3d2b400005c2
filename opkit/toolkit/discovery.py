"""Finding the toolkit: the one named, else one installed where CANN installs itself, else the bundled host simulator.

The order and the refusal of a wrong name are one rule: a named toolkit is used or is an error, never silently replaced by another.
"""

from __future__ import annotations

import enum
import errno
import json
import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from opkit import resources
from opkit.errors import ToolkitError
from opkit.files import LARGEST_SETTINGS, content_of, plain_file, whose
from opkit.layout import HOME_VARIABLE

__all__ = [
    "ARCHITECTURES",
    "OLDEST_CANN",
    "SIMULATOR_MARK",
    "Candidate",
    "Kind",
    "Origin",
    "Toolkit",
    "arch_named",
    "candidates",
    "discover",
    "elf_arch",
    "elf_arch_of",
    "host_arch",
    "process_environment",
]

OLDEST_CANN = (9, 2)
_VARIABLE = HOME_VARIABLE
SIMULATOR_MARK = "opkit-simulator.json"
_SIMULATOR_ABI = 0  # of CANN's releases; it serves both
# Where CANN's installers put a toolkit, for root and for one user, newest naming first.
_BASES = ("/usr/local/Ascend", "~/Ascend")
_NAMES = ("cann", "latest", "ascend-toolkit/latest")
_VERSION_FILES = ("version.info", "compiler/version.info", "runtime/version.info", "version.cfg")
# These two are also in cmake/write_manifest.cmake.
_VERSION_LINE = (
    r"(?aim)^[ \t\r]*(?:version|compiler_version|toolkit_version|runtime_running_version)[ \t]*=[ \t]*\[?(?:[0-9.]+:)?([a-z0-9_.+-]+)"
)
# Of a package that has a version of its own, the release that it belongs to.
_RELEASE_LINE = r"(?aim)^[ \t\r]*version_dir[ \t]*=[ \t]*(?:cann-)?([0-9][a-z0-9_.+-]*)"
_PROBED_LIBRARIES = ("lib64/libascendcl.so", "lib64/libacl_rt.so", "lib64/libgraph.so")
_MACHINES = {183: "aarch64", 62: "x86_64"}  # e_machine of the ELF specification
_ELF_HEAD = 20  # bytes, of which e_machine is the last two
# As GE names them.
ARCHITECTURES = tuple(_MACHINES.values())
_ARCH_ALIASES = {"amd64": "x86_64", "arm64": "aarch64"}
_HEADERS = ("acl/acl_rt.h", "acl/acl_rt_compile.h", "graph/custom_op.h", "graph/operator_reg.h", "ge/ge_api.h")
_LIBRARIES = ("acl_rt", "acl_rtc", "ge_runner", "graph", "graph_base", "lowering", "metadef")
_WAYS_OUT = "name a toolkit with --toolkit DIR or ASCEND_HOME_PATH, or unset ASCEND_HOME_PATH to use the bundled simulator"
_INSTALL_AGAIN = "pip install --force-reinstall ascend-opkit"


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

    @property
    def is_too_old(self) -> bool:
        """Whether it says that it is older than the interfaces that generated code uses; not for a version that can't be read."""
        release = re.match(r"(\d+)\.(\d+)", self.version)
        return release is not None and tuple(int(part) for part in release.groups()) < OLDEST_CANN

    @property
    def way_out(self) -> str:
        """A command that takes another toolkit for one build, or makes the bundled one whole."""
        if self.origin is Origin.BUNDLED:
            return _INSTALL_AGAIN
        bundled = resources.bundled_toolkit()
        if bundled is None:
            return "opkit build --toolkit DIR"
        return f"opkit build --toolkit {shlex.quote(str(bundled))}"

    def missing_headers(self) -> list[str]:
        """What the generated code includes and this toolkit lacks; an older CANN has no custom_op.h or no run-time compiler."""
        return [header for header in _HEADERS if not (self.include / header).is_file()]

    def missing_libraries(self) -> list[str]:
        """What the generated CMake project links with and this toolkit lacks."""
        return [name for name in (f"lib{library}.so" for library in _LIBRARIES) if not os.path.exists(self.lib64 / name)]  # noqa: PTH110 - a link may lead where this user isn't let in

    def require_current(self) -> None:
        """Raises ToolkitError if custom ops can't be built with it: it is too old, or a part of it isn't installed."""
        missing = self.missing_headers()
        if not missing and not self.is_too_old:
            return
        oldest = ".".join(map(str, OLDEST_CANN))
        msg = f"the toolkit {self.home} can't build custom ops: needs CANN {oldest} or newer, found {self.version}"
        because = f"it has no include/{', include/'.join(missing)}" if missing else "the interfaces of custom ops came with that release"
        raise ToolkitError(msg, because=because, help=f"{self.way_out}, or name a newer one")


class Candidate(NamedTuple):
    """A place where a toolkit may be, and what is there: a toolkit, or the reason why not. `is_closed` is one that this user can't read."""

    path: Path
    origin: Origin
    reason: str
    toolkit: Toolkit | None
    refusal: str | None
    is_closed: bool = False

    @property
    def is_misplaced(self) -> bool:
        """Whether no toolkit could be used there, however whole it is."""
        return os.pathsep in str(self.path)

    @property
    def mend(self) -> str:
        """What to do about opkit's own."""
        if self.is_misplaced:
            return f"install opkit where no folder above has a '{os.pathsep}' in its name"
        if self.is_closed:
            return f"let every user read it: chmod -R a+rX {shlex.quote(str(self.path))}; or {_INSTALL_AGAIN}"
        return _INSTALL_AGAIN


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
            advice = _nearest_toolkit(candidate.path) or _WAYS_OUT
            raise ToolkitError(msg, where=candidate.reason.removeprefix("named by "), because=candidate.refusal, help=advice)
        if candidate.origin is Origin.BUNDLED:
            msg = f"opkit's own simulator, {candidate.path}, can't be used"
            raise ToolkitError(msg, because=candidate.refusal, help=candidate.mend)
    msg = "no CANN toolkit named or found, and this opkit carries no simulator"
    because = (
        f"{_VARIABLE} is not set, nothing is installed in {' or '.join(_BASES)}, and opkit runs from a checkout that was never installed"
    )
    raise ToolkitError(msg, because=because, help=f"pass --toolkit DIR, or export {_VARIABLE}=DIR, or install the simulator: pip install .")


def candidates(environ: Mapping[str, str], *, option: str | None = None, cwd: Path | None = None) -> list[Candidate]:
    """Every place in the order of preference, existing or named; for `opkit toolkit list`."""
    there = [
        found
        for found in _in_order(environ, option, cwd or Path.cwd())
        if found.toolkit or found.refusal != "it does not exist" or found.origin is Origin.NAMED
    ]
    homes = [found.toolkit.home for found in there if found.toolkit and found.origin is not Origin.BUNDLED]
    # Of the bundled one that is named too, the reason of the bundled one isn't true.
    return [found for found in there if found.origin is not Origin.BUNDLED or found.toolkit is None or found.toolkit.home not in homes]


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
    is_closed = False
    try:
        refusal = _refusal(name, path)
        toolkit = None if refusal else _inspected(path.resolve(), origin, reason, environ)
    except PermissionError as fault:
        refusal, toolkit, is_closed = f"it can't be read: {whose(Path(os.fsdecode(fault.filename)))}", None, True
    except OSError as fault:  # A name that is too long for the system, or a file of it without end.
        refusal, toolkit = fault.strerror if fault.filename in {None, str(path)} else f"{fault.filename}: {fault.strerror}", None
    return Candidate(path=path, origin=origin, reason=reason, toolkit=toolkit, refusal=refusal, is_closed=is_closed)


def _home_expanded(name: str, environ: Mapping[str, str]) -> str:
    # Not Path.expanduser: without HOME it asks the password database, and `~x` is then an exception instead of a wrong folder.
    home = environ.get("HOME")
    return home + name[1:] if home and (name == "~" or name.startswith("~/")) else name


def _nearest_toolkit(path: Path) -> str | None:
    """A question for the toolkit beside `path` whose name is nearly that, if nothing is called so."""
    if os.path.lexists(path):
        return None
    import difflib

    try:
        names = [each.name for each in path.parent.iterdir() if (each / "include").is_dir() and (each / "lib64").is_dir()]
    except OSError:
        return None
    close = difflib.get_close_matches(path.name, names, n=1)
    return f"did you mean {shlex.quote(str(path.with_name(close[0])))}?" if close else None


def _refusal(name: str, path: Path) -> str | None:
    """Raises PermissionError for a folder that this user can't enter."""
    if not name.strip():
        return "the name is empty"
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return "it does not exist"
    if not is_folder:
        return "it is a file, not a folder"
    _require_open(path)
    for part in ("include", "lib64", "include/acl"):
        if not (path / part).is_dir():
            return f"it has no {part} folder"
        _require_open(path / part)
    for header in _HEADERS:
        _require_open((path / "include" / header).parent)
    return "its path holds a ':', which LD_LIBRARY_PATH can't" if os.pathsep in str(path) else None


def _require_open(folder: Path) -> None:
    # In one that can be listed and not entered, each file would seem to be missing.
    if folder.is_dir() and not os.access(folder, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _inspected(home: Path, origin: Origin, reason: str, environ: Mapping[str, str]) -> Toolkit:
    mark = home / SIMULATOR_MARK
    kind = Kind.SIMULATOR if mark.is_file() else Kind.CANN
    version, source = _version(home, mark)
    return Toolkit(
        home=home,
        kind=kind,
        version=version,
        abi=_abi(home, kind, environ),
        arch=_arch(home),
        origin=origin,
        reason=reason,
        stamp=_stamp(home, source),
    )


def _abi(home: Path, kind: Kind, environ: Mapping[str, str]) -> int:
    if kind is Kind.SIMULATOR:
        return _SIMULATOR_ABI
    from opkit.toolkit.abi import abi_of

    return abi_of(home, environ)


def _stamp(home: Path, source: Path | None) -> str:
    """The file that tells the version, and the libraries that generated code is linked with, as they are."""
    told = []
    for path in (source, *(home / "lib64" / f"lib{library}.so" for library in _LIBRARIES)):
        with suppress(OSError):
            if path is not None:
                found = path.stat()
                told.append(f"{path.name} {found.st_size}.{found.st_mtime_ns}")
    return ",".join(told)


def _version(home: Path, mark: Path) -> tuple[str, Path | None]:
    if mark.is_file():
        try:
            return str(json.loads(content_of(mark, most=LARGEST_SETTINGS))["version"]), mark
        except (ValueError, KeyError, TypeError, RecursionError) as fault:
            msg = f"{mark} is not what the simulator's installation writes"
            raise ToolkitError(msg, because=f"{type(fault).__name__}: {fault}", help="install the simulator again") from fault
    files = [home / name for name in _VERSION_FILES] + sorted(home.glob("*-linux/ascend_toolkit_install.info"))
    for file in files:
        if file.is_file():
            text = content_of(file, most=LARGEST_SETTINGS).decode("utf-8", "replace")
            match = re.search(_RELEASE_LINE, text) or re.search(_VERSION_LINE, text)
            if match:
                return match[1], file
    return "unknown", None


def _arch(home: Path) -> str:
    for name in _PROBED_LIBRARIES:
        machine = elf_arch(home / name)
        if machine is not None and machine in ARCHITECTURES:
            return machine
    return host_arch()


def elf_arch(path: Path) -> str | None:
    """What an ELF file is for, by its header; None for any other file, and one that can't be read."""
    try:
        with plain_file(path) as file:
            return elf_arch_of(file.read(_ELF_HEAD))
    except OSError:
        return None


def elf_arch_of(head: bytes) -> str | None:
    """What a file that begins so is for: a name that GE knows, or the number of another machine. None for one that is no ELF file."""
    if head[:4] != b"\x7fELF" or len(head) < _ELF_HEAD:
        return None
    machine = int.from_bytes(head[18:_ELF_HEAD], "little")
    return _MACHINES.get(machine, f"machine {machine}")


def host_arch() -> str:
    return arch_named(os.uname().machine)


def arch_named(name: str) -> str:
    """What GE calls the processor that a kernel or a compiler may call otherwise."""
    return _ARCH_ALIASES.get(name, name)
