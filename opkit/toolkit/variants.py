"""The toolkit for another processor: CANN's beside the one in use, or the bundled simulator, built for it once into the user's cache."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from opkit import process, resources
from opkit.console import Progress, console
from opkit.errors import NoCacheError, ToolkitArchError, ToolkitError, ToolMissingError, VariantBuildError
from opkit.files import LARGEST_SETTINGS, content_of, guard_reading, guard_writing, make_folders, write_whole
from opkit.lock import acquire, note
from opkit.toolkit.cache import is_of_user, user_cache
from opkit.toolkit.discovery import ARCHITECTURES, SIMULATOR_MARK, Candidate, Origin, Toolkit, discover
from opkit.toolkit.tools import Compiler, cross_definitions, find_cmake, find_cross_compiler, find_make, find_ninja

__all__ = ["Variant", "build_variant", "built_variants", "toolkit_for"]

_FOLDER = Path("opkit", "toolkits")
_RECORD = "opkit-variant.json"
_PARTS = ("CMakeLists.txt", "cmake", "include", "opp", "src")
_VERSION = re.compile(r"project\(opkit_simulator VERSION ([\d.]+)")
_NAME = re.compile(rf"[\d.]+-(?P<arch>{'|'.join(ARCHITECTURES)})-[0-9a-f]{{16}}")
# What the tools need of the environment. No flags: what all projects use must not depend on those of one.
_KEPT = ("PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "CMAKE_CXX_COMPILER_LAUNCHER")
_KEPT_OF = ("CCACHE_", "SCCACHE_")
_STATUS = re.compile(r"^\[ *(\d+)(?:/(\d+)|%)\] ")
_SHOWN_LINES = 8
_OTHER_CACHE = "set XDG_CACHE_HOME to a folder that can be written"
_OWN_CACHE = "set XDG_CACHE_HOME to a folder of yours that not everybody may write to"


class Variant(NamedTuple):
    """`seconds` is how long it took to build now, None if it was there."""

    toolkit: Toolkit
    seconds: float | None


class _Record(NamedTuple):
    """What built a variant, and the sizes of its files by their paths."""

    compiler: str
    sizes: Mapping[str, int]

    @classmethod
    def read(cls, home: Path) -> _Record | None:
        """None where there is none that can be read."""
        try:
            document = json.loads(content_of(home / _RECORD, most=LARGEST_SETTINGS))
            return cls(str(document["compiler"]), {str(name): int(size) for name, size in document["sizes"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def write(self, home: Path) -> None:
        write_whole(home / _RECORD, json.dumps(self._asdict(), indent=1).encode())


def toolkit_for(arch: str, toolkit: Toolkit, environ: Mapping[str, str], *, jobs: int, wait: float = 600.0) -> Toolkit:
    """The toolkit in use if it is for `arch`, else its like that is: of CANN the folder below or beside it, of the bundled simulator the
    variant, which is built if need be.

    Raises ToolkitArchError where there is none, and what `build_variant` raises.
    """
    if toolkit.arch == arch:
        return toolkit
    if _is_bundled(toolkit):
        return build_variant(arch, environ, jobs=jobs, wait=wait).toolkit
    where = toolkit.reason.removeprefix("named by ") if toolkit.origin is Origin.NAMED else None
    msg = f"the toolkit {toolkit.home} is for {toolkit.arch}, not for {arch}"
    if toolkit.is_simulator:
        because = "only opkit's own simulator is built for other processors, and this is another"
        raise ToolkitArchError(msg, where=where, because=because, help="unset ASCEND_HOME_PATH, or name a toolkit with --toolkit DIR")
    # CANN's packages for two processors share a folder, in which each has one of its own.
    above = toolkit.home.parent if toolkit.home.name == f"{toolkit.arch}-linux" else toolkit.home
    beside = above / f"{arch}-linux"
    advice = f"install the toolkit for {arch} beside it, or name one with --toolkit DIR"
    try:
        found = discover(environ, option=str(beside))
    except ToolkitError as fault:
        raise ToolkitArchError(msg, where=where, because=f"{beside} is none for {arch}: {fault.because}", help=advice) from fault
    if found.arch != arch:
        raise ToolkitArchError(msg, where=where, because=f"{beside} is for {found.arch}", help=advice)
    version = toolkit.version if found.version == "unknown" else found.version
    return found._replace(version=version, origin=toolkit.origin, reason=f"the one for {arch} of {toolkit.home}")


def build_variant(arch: str, environ: Mapping[str, str], *, jobs: int, wait: float = 600.0) -> Variant:
    """The bundled simulator for `arch`: it stays in the user's cache and is used for as long as its sources and the compiler are the same.

    Raises CompilerMissingError or ToolMissingError, NoCacheError or UnwritableError for the cache, BusyError after `wait` seconds while
    another opkit builds it, and VariantBuildError.
    """
    bundled = resources.bundled_toolkit()
    if bundled is not None:
        own = discover(environ, option=str(bundled))
        if own.arch == arch:
            reason = "the bundled host simulator as it is"
            return Variant(own._replace(origin=Origin.BUNDLED, reason=reason), None)
    compiler = find_cross_compiler(environ, arch)
    source = resources.simulator_source()
    home = _toolkits(environ) / f"{_version(source)}-{arch}-{_digest(source, compiler)}"
    seconds = None
    if not _is_whole(home):
        with _locked(home, wait):
            # Whoever was waited for may have built it.
            if not _is_whole(home):
                seconds = _build(home, source, arch, compiler=compiler, environ=environ, jobs=jobs)
    toolkit = discover(environ, option=str(home))
    return Variant(toolkit._replace(origin=Origin.BUNDLED, reason=f"the bundled host simulator, built for {arch}"), seconds)


def built_variants(environ: Mapping[str, str]) -> list[Candidate]:
    """Those in the user's cache, for `opkit toolkit list`; of other sources or another compiler too, which nothing uses any more."""
    cache = user_cache(environ)
    if cache is None:
        return []
    found = []
    for home in _folders_in(cache / _FOLDER):
        match = _NAME.fullmatch(home.name)
        if match is not None and _is_whole(home):
            record = _Record.read(home)
            reason = f"built for --arch {match['arch']}" + (f" by {record.compiler}" if record else "")
            toolkit = discover(environ, option=str(home))._replace(origin=Origin.BUNDLED, reason=reason)
            found.append(Candidate(path=home, origin=Origin.BUNDLED, reason=reason, toolkit=toolkit, refusal=None))
    return found


def _folders_in(folder: Path) -> list[Path]:
    with guard_reading(folder):
        try:
            return sorted(folder.iterdir())
        except FileNotFoundError:
            return []


def _is_bundled(toolkit: Toolkit) -> bool:
    bundled = resources.bundled_toolkit()
    return bundled is not None and toolkit.home == bundled.resolve()


def _is_whole(home: Path) -> bool:
    """Whether it is as it was built, as far as sizes tell: it appeared by a rename, but caches are cleaned, and disks fail."""
    with guard_reading(home):
        record = _Record.read(home)
        return record is not None and (home / SIMULATOR_MARK).is_file() and record.sizes == _sizes(home)


def _sizes(home: Path) -> dict[str, int]:
    found = {str(path.relative_to(home)): path.stat().st_size for path in home.rglob("*") if path.is_file()}
    return {name: size for name, size in sorted(found.items()) if name != _RECORD}


def _toolkits(environ: Mapping[str, str]) -> Path:
    cache = user_cache(environ)
    if cache is None:
        msg = "there is no folder to build the simulator for another processor in"
        because = "it is kept in the user's cache, and neither XDG_CACHE_HOME nor HOME names a folder"
        raise NoCacheError(msg, because=because, help=_OTHER_CACHE)
    if not is_of_user(cache, _FOLDER):
        msg = f"the simulator for another processor isn't taken from {cache / _FOLDER}"
        raise NoCacheError(msg, because="another user could put libraries there, which would run as you", help=_OWN_CACHE)
    return cache / _FOLDER


def _version(source: Path) -> str:
    match = _VERSION.search((source / "CMakeLists.txt").read_text("utf-8"))
    assert match is not None, "a file of this package"  # noqa: S101 - tests hold it
    return match[1]


def _digest(source: Path, compiler: Compiler) -> str:
    sha = hashlib.sha256()
    for path in (source / part for part in _PARTS):
        for file in [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file()):
            content = file.read_bytes()
            sha.update(f"{file.relative_to(source)} {len(content)}\n".encode())
            sha.update(content)
    sha.update(f"{compiler.command} {compiler.stamp}".encode())
    return sha.hexdigest()[:16]


@contextmanager
def _locked(home: Path, wait: float) -> Iterator[None]:
    folder = home.parent

    def prepare() -> None:
        with guard_writing(folder, help=_OTHER_CACHE):
            make_folders(folder)

    descriptor = acquire(
        folder / f".{home.name}.lock",
        wait=wait,
        shown=f"the simulator in {folder}",
        guard_help=_OTHER_CACHE,
        busy_help="wait for it",
        prepare=prepare,
    )
    try:
        note(descriptor, {})
        yield
    finally:
        os.close(descriptor)


def _build(  # noqa: PLR0913 - what it is built from, and how
    home: Path, source: Path, arch: str, *, compiler: Compiler, environ: Mapping[str, str], jobs: int
) -> float:
    started = time.monotonic()
    if home.exists():
        console.warn(f"the simulator in {home} isn't as it was built; it is built again")
    cmake = find_cmake(environ).path
    generator, program = _generator(environ)
    log = home.with_name(f"{home.name}.log")
    console.step("Building", f"the simulator for {arch}, once, into {home} (log: {log})")
    # What a killed opkit left; a compiler of it that still runs loses its folder.
    for left in home.parent.glob(f".{home.name}.build-*"):
        shutil.rmtree(left, ignore_errors=True)
    work = home.with_name(f".{home.name}.build-{os.getpid()}")
    tree, stage = work / "tree", work / "toolkit"
    definitions = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_MAKE_PROGRAM": program,
        **cross_definitions(arch),
        "CMAKE_INSTALL_PREFIX": stage,
        # Most of the build is parsing headers: whole libraries at once take half the time that single files do.
        "CMAKE_UNITY_BUILD": "ON",
        "OPKIT_SIM_BUILD_TESTS": "OFF",
        **({} if compiler.is_named else {"CMAKE_CXX_COMPILER": compiler.path}),
    }
    kept = {name: value for name, value in environ.items() if name in _KEPT or name.startswith(_KEPT_OF)}
    kept |= {"LC_ALL": "C.UTF-8", "NINJA_STATUS": "[%f/%t] ", **({"CXX": environ["CXX"]} if compiler.is_named else {})}
    try:
        with guard_writing(home, help=_OTHER_CACHE):
            make_folders(tree)
            with log.open("wb", buffering=0) as file, ExitStack() as stack:

                def run(argv: Sequence[str | os.PathLike[str]], on_line: Callable[[str], None] = console.detail) -> None:
                    def listen(line: str) -> None:
                        file.write(line.encode("utf-8", "surrogateescape") + b"\n")
                        on_line(line)

                    done = process.run(argv, env=kept, merge=True, on_line=listen)
                    if not done.ok:
                        raise _failure(arch, done.stdout, log)

                run([cmake, "-S", source, "-B", tree, "-G", generator, *(f"-D{name}={value}" for name, value in definitions.items())])
                run([cmake, "--build", tree, "-j", str(jobs)], _shown(stack))
                run([cmake, "--install", tree])
            _Record(compiler.command, _sizes(stage)).write(stage)
            shutil.rmtree(home, ignore_errors=True)
            stage.rename(home)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    seconds = time.monotonic() - started
    console.step("Built", f"the simulator for {arch} in {seconds:.0f} s; it is used again from now on")
    return seconds


def _shown(stack: ExitStack) -> Callable[[str], None]:
    """What moves the bar with each line of Ninja's or make's status."""
    bars: list[Progress] = []
    done = 0

    def show(line: str) -> None:
        nonlocal done
        console.detail(line)
        match = _STATUS.match(line)
        if match is None:
            return
        now, total = int(match[1]), int(match[2] or 100)
        if not bars:
            bars.append(stack.enter_context(console.progress("Building", total)))
        bars[0].advance(max(0, now - done), note=line[match.end() :].rpartition("/")[2][:60])
        done = max(done, now)

    return show


def _generator(environ: Mapping[str, str]) -> tuple[str, Path]:
    try:
        return "Ninja", find_ninja(environ).path
    except ToolMissingError:
        return "Unix Makefiles", find_make(environ).path


def _failure(arch: str, output: str, log: Path) -> VariantBuildError:
    lines = [line for line in output.splitlines() if line.strip()]
    causes = [line for line in lines if "error:" in line.lower() or "CMake Error" in line]
    msg = f"the simulator can't be built for {arch}"
    shown = causes[:_SHOWN_LINES] or lines[-_SHOWN_LINES:]
    return VariantBuildError(msg, because="\n".join(shown) or "the tool that failed said nothing", help=f"the full log is {log}")
