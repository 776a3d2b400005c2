"""What `doctor` finds out about the computer: opkit itself, the toolkit, the tools of a build, folders and devices."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from opkit import process
from opkit.errors import CommandNotExecutableError, CommandNotFoundError, CompilerMissingError, OpkitError
from opkit.packaging import default_prefix
from opkit.run.doctor_findings import Check, Finding, Status, failed
from opkit.run.machine import simulator_threads
from opkit.toolkit import (
    OLDEST_CANN,
    Tool,
    Toolkit,
    candidates,
    discover,
    find_cmake,
    find_compiler,
    find_launcher,
    find_ninja,
    host_arch,
    user_cache,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from opkit.build import Project

__all__ = ["commands", "device", "distribution", "examined_toolkit", "folders", "tools"]

_DISTRIBUTION = "ascend-opkit"
_NAMESAKE = "opkit"
_OLDEST_GCC = 7  # the first with all of C++17 that the generated code uses
# A header of the library and a symbol of it: a compiler without libstdc++'s parts finds out here.
_PROBE = '#include <cstddef>\nextern "C" int *opkit_probe(std::size_t size) { return new int[size]; }\n'
_FULL = 1 << 20  # bytes under which a build has no room
_NO_PROGRAMS = 8  # ST_NOEXEC, which Python has no name for on every system


def distribution() -> Iterator[Finding]:
    """Another distribution, of the index's name `opkit`, has a package of the same name: whichever was installed last is imported."""
    from importlib import metadata

    imported = Path(__file__).resolve().parent.parent
    try:
        namesake = metadata.distribution(_NAMESAKE)
    except metadata.PackageNotFoundError:
        namesake = None
    if namesake is not None:
        evidence = f"the distribution {_NAMESAKE} {namesake.version} is installed as well, and has a package of the same name"
        mend = f"pip uninstall -y {_NAMESAKE} && pip install --force-reinstall {_DISTRIBUTION}"
        yield Finding(check=Check.OPKIT, status=Status.FAIL, evidence=evidence, help=mend)
    try:
        own = metadata.distribution(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        evidence = f"{imported} runs, but {_DISTRIBUTION} isn't installed for {sys.executable}"
        yield Finding(check=Check.OPKIT, status=Status.WARN, evidence=evidence, help="pip install .")
        return
    installed = _package_of(own)
    if installed is not None and installed != imported:
        evidence = f"{imported} was imported, not {installed}, which {_DISTRIBUTION} {own.version} installed: it comes earlier in sys.path"
        # `python -m opkit` looks in the current folder first.
        mend = "cd / && opkit doctor" if imported.parent == Path.cwd() else "unset PYTHONPATH"
        yield Finding(check=Check.OPKIT, status=Status.FAIL, evidence=evidence, help=mend)
    elif namesake is None:
        yield Finding(check=Check.OPKIT, status=Status.OK, evidence=f"{_DISTRIBUTION} {own.version} in {imported}")


def commands(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Which `opkit` a shell starts, if there are several."""
    found: list[Path] = []
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(folder) / _NAMESAKE
        if folder and path.is_file() and os.access(path, os.X_OK) and not any(path.samefile(other) for other in found):
            found.append(path)
    if len(found) > 1:
        evidence = f"a shell starts {found[0]}, and {', '.join(map(str, found[1:]))} is on PATH too"
        yield Finding(check=Check.OPKIT, status=Status.WARN, evidence=evidence, help=f"{shlex.quote(str(found[0]))} --version")


def examined_toolkit(environ: Mapping[str, str], option: str | None) -> tuple[Toolkit | None, list[Finding]]:
    found = candidates(environ, option=option)
    try:
        toolkit = discover(environ, option=option)
    except OpkitError as error:
        others = [f"{each.path} ({each.toolkit.label})" for each in found if each.toolkit is not None]
        return None, [failed(Check.TOOLKIT, error), *_others(others)]
    others = [
        f"{each.path} ({each.toolkit.label if each.toolkit else f'refused: {each.refusal}'})"
        for each in found
        if each.toolkit is None or each.toolkit.home != toolkit.home
    ]
    told = f"{toolkit.home}: {toolkit.label} ({toolkit.reason})"
    return toolkit, [Finding(check=Check.TOOLKIT, status=Status.OK, evidence=told), *_others(others), *_fitness(toolkit)]


def tools(environ: Mapping[str, str]) -> Iterator[Finding]:
    yield _compiler(environ)
    yield from _launcher(environ)
    yield _tool(Check.CMAKE, find_cmake, environ)
    yield _ninja(environ)


def folders(environ: Mapping[str, str], project: Project | None, toolkit: Toolkit | None) -> Iterator[Finding]:
    """What can't be written, is full, or is mounted so that nothing in it can be loaded; asked of the system, without writing."""
    # Kernels are loaded from memory, so that only what a build or an install leaves has to lie where programs may.
    needed: dict[str, tuple[Path, str, bool]] = {}
    if project is not None:
        needed["the build folder"] = (project.build_dir, "opkit build --build-dir DIR", True)
        needed["the output folder"] = (project.output, "opkit build --output DIR", True)
    temporary = Path(environ.get("TMPDIR") or "/tmp")  # noqa: S108 - the system's default, which is only looked at
    needed["TMPDIR"] = (temporary, "export TMPDIR=/tmp", False)
    refused = 0
    try:
        prefix = default_prefix(environ)
    except OpkitError as error:
        prefix = None
        refused += 1
        yield failed(Check.FOLDER, error)
    if prefix is not None:
        needed["the prefix of installed packages"] = (prefix, "opkit install --prefix DIR", True)
    cache = _kernel_cache(environ) if toolkit is not None and toolkit.is_simulator else None
    if cache is not None:
        needed["the simulator's cache of kernels"] = (cache, "export OPKIT_SIM_CACHE_DIR=DIR", False)
    if project is not None and os.pathsep in str(project.output):
        refused += 1
        evidence = f"the output folder, {project.output}: its path holds a '{os.pathsep}', so that no path list can name it"
        mend = f"opkit build {shlex.quote(str(project.root))} --output DIR"
        yield Finding(check=Check.FOLDER, status=Status.FAIL, evidence=evidence, help=mend)
    for what, (path, mend, is_loaded_from) in needed.items():
        # Nobody makes the folder for temporary files.
        is_gone = path == temporary and not path.exists()
        reason = "it does not exist" if is_gone else _refusal(path, is_loaded_from=is_loaded_from)
        if reason is not None:
            refused += 1
            yield Finding(check=Check.FOLDER, status=Status.FAIL, evidence=f"{what}, {path}: {reason}", help=mend)
    if not refused:
        yield Finding(check=Check.FOLDER, status=Status.OK, evidence=f"{', '.join(needed)} can be written")


def device(toolkit: Toolkit, environ: Mapping[str, str]) -> Finding:
    if toolkit.is_simulator:
        threads = simulator_threads(environ)
        evidence = f"host simulator, {toolkit.arch}, {threads} threads: results are real, times are this computer's"
        return Finding(check=Check.DEVICE, status=Status.OK, evidence=evidence)
    nodes = sorted(str(node) for node in Path("/dev").glob("davinci[0-9]*"))
    if nodes:
        return Finding(check=Check.DEVICE, status=Status.OK, evidence=", ".join(nodes))
    return Finding(
        check=Check.DEVICE,
        status=Status.WARN,
        evidence="no /dev/davinci* here: a build works, a run doesn't",
        help="unset ASCEND_HOME_PATH to run on the simulator",
    )


def _package_of(own: object) -> Path | None:
    """The folder that the distribution's `opkit` is in: in site-packages, or in the checkout of an editable install."""
    import json
    from importlib.metadata import Distribution
    from urllib.parse import unquote, urlsplit

    assert isinstance(own, Distribution)  # noqa: S101 - tells the type checker, without the import at the top
    installed = Path(str(own.locate_file("opkit/__init__.py")))
    if installed.is_file():
        return installed.resolve().parent
    try:
        origin = json.loads(own.read_text("direct_url.json") or "{}")
        is_editable, url = bool(origin["dir_info"].get("editable")), urlsplit(origin["url"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    package = Path(unquote(url.path)) / "opkit"
    return package.resolve() if is_editable and package.is_dir() else None


def _others(names: list[str]) -> Iterator[Finding]:
    if names:
        yield Finding(check=Check.OTHER_TOOLKITS, status=Status.OK, evidence=f"not used: {', '.join(names)}")


def _fitness(toolkit: Toolkit) -> Iterator[Finding]:
    oldest = ".".join(map(str, OLDEST_CANN))
    if toolkit.is_too_old:
        evidence = f"needs CANN {oldest} or newer, found {toolkit.version}"
        yield Finding(check=Check.TOOLKIT_VERSION, status=Status.FAIL, evidence=evidence, help=toolkit.way_out)
    elif toolkit.version == "unknown":
        evidence = f"no file in {toolkit.home} says which version it is; needs CANN {oldest} or newer"
        yield Finding(check=Check.TOOLKIT_VERSION, status=Status.WARN, evidence=evidence, help="opkit toolkit list")
    else:
        yield Finding(check=Check.TOOLKIT_VERSION, status=Status.OK, evidence=f"{toolkit.version}, needs CANN {oldest} or newer")
    missing = toolkit.missing_headers()
    if missing:
        evidence = f"{toolkit.include} has no {', '.join(missing)}"
        yield Finding(check=Check.HEADERS, status=Status.FAIL, evidence=evidence, help=toolkit.way_out)
    else:
        yield Finding(check=Check.HEADERS, status=Status.OK, evidence=f"all that generated code includes is in {toolkit.include}")
    missing = toolkit.missing_libraries()
    if missing:
        evidence = f"{toolkit.lib64} has no {', '.join(missing)}"
        yield Finding(check=Check.TOOLKIT_LIBRARIES, status=Status.FAIL, evidence=evidence, help=toolkit.way_out)
    else:
        yield Finding(check=Check.TOOLKIT_LIBRARIES, status=Status.OK, evidence=f"all that a project links with is in {toolkit.lib64}")
    if toolkit.arch != host_arch():
        evidence = f"the toolkit is for {toolkit.arch}, this computer is {host_arch()}"
        yield Finding(check=Check.ARCH, status=Status.FAIL, evidence=evidence, help="opkit toolkit list")
    yield Finding(check=Check.ABI, status=Status.OK, evidence=f"_GLIBCXX_USE_CXX11_ABI={toolkit.abi}")


def _compiler(environ: Mapping[str, str]) -> Finding:
    try:
        compiler = find_compiler(environ)
    except OpkitError as error:
        return failed(Check.COMPILER, error)
    command = [str(compiler.path), *(shlex.split(environ["CXX"])[1:] if compiler.is_named else [])]
    shown = shlex.join(command)
    try:
        done = process.run([*command, "-dumpfullversion", "-dumpversion"], timeout=10)
    except (CommandNotFoundError, CommandNotExecutableError) as error:
        return failed(Check.COMPILER, error)
    version = done.stdout.strip() or "unknown"
    major = version.partition(".")[0]
    if "clang" not in compiler.path.name and major.isdigit() and int(major) < _OLDEST_GCC:
        evidence = f"{shown} is {version} ({compiler.reason}); needs {_OLDEST_GCC} or newer"
        return Finding(check=Check.COMPILER, status=Status.FAIL, evidence=evidence, help="sudo apt install -y g++")
    try:
        reason = _why_it_does_not_compile(command, environ)
    except OSError as fault:
        evidence = f"{shown} {version} ({compiler.reason}) wasn't tried: no folder for temporary files ({fault.strerror})"
        return Finding(check=Check.COMPILER, status=Status.WARN, evidence=evidence, help="export TMPDIR=/tmp")
    if reason is not None:
        evidence = f"{shown} {version} ({compiler.reason}) can't compile and link a library: {reason}"
        mend = "unset CXX" if compiler.is_named else "sudo apt install -y g++"
        return Finding(check=Check.COMPILER, status=Status.FAIL, evidence=evidence, help=mend)
    return Finding(check=Check.COMPILER, status=Status.OK, evidence=f"{shown} {version} compiles and links ({compiler.reason})")


def _launcher(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Without a compiler there is nothing to say; `_compiler` says that."""
    try:
        launcher = find_launcher(environ, compiler := find_compiler(environ))
    except CompilerMissingError:
        return
    except OpkitError as error:
        yield failed(Check.LAUNCHER, error)
        return
    if launcher is None:
        yield Finding(check=Check.LAUNCHER, status=Status.OK, evidence="none: every compilation is done by the compiler")
        return
    shown = f"{launcher.shown} ({launcher.reason})"
    try:
        with tempfile.TemporaryDirectory(prefix="opkit-doctor.", dir=environ.get("TMPDIR") or None) as folder:
            fault = launcher.fault(compiler, Path(folder), environ)
    except OSError:
        return  # `_compiler` says that there is no folder for temporary files.
    if fault is None:
        yield Finding(check=Check.LAUNCHER, status=Status.OK, evidence=f"{shown} compiles")
    else:
        evidence = f"{shown} doesn't work, and builds go without it: {fault}"
        yield Finding(check=Check.LAUNCHER, status=Status.WARN, evidence=evidence, help="opkit build --launcher none")


def _why_it_does_not_compile(command: list[str], environ: Mapping[str, str]) -> str | None:
    with tempfile.TemporaryDirectory(prefix="opkit-doctor.", dir=environ.get("TMPDIR") or None) as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(_PROBE)
        argv = [*command, "-std=c++17", "-fPIC", "-shared", "-Wl,-z,defs", str(source), "-o", str(Path(folder) / "probe.so")]
        done = process.run(argv, env={**environ, "LC_ALL": "C.UTF-8"}, timeout=30)
    if done.ok:
        return None
    told = [line.strip().replace(f"{folder}/", "") for line in done.stderr.splitlines() if line.strip()]
    return next((line for line in told if "error" in line or "cannot" in line), told[0] if told else f"exit {done.exit}")


def _tool(check: Check, find: Callable[[Mapping[str, str]], Tool], environ: Mapping[str, str]) -> Finding:
    try:
        tool = find(environ)
    except OpkitError as error:
        return failed(check, error)
    return Finding(check=check, status=Status.OK, evidence=f"{tool.path} {tool.version} ({tool.reason})")


def _ninja(environ: Mapping[str, str]) -> Finding:
    """Or the make that a build takes in its place."""
    from opkit.build import find_generator

    try:
        generator = find_generator(environ)
    except OpkitError as error:
        return failed(Check.NINJA, error)
    if generator.is_ninja:
        return _tool(Check.NINJA, find_ninja, environ)
    return Finding(check=Check.NINJA, status=Status.OK, evidence=f"none: builds take {generator.program}")


def _kernel_cache(environ: Mapping[str, str]) -> Path | None:
    """Where the simulator keeps compiled kernels, by its own rules; None where it has no place and compiles each time."""
    if environ.get("OPKIT_SIM_CACHE_DIR"):
        return Path(environ["OPKIT_SIM_CACHE_DIR"])
    folder = user_cache(environ)
    return None if folder is None else folder / "opkit" / "rtc"


def _refusal(path: Path, *, is_loaded_from: bool) -> str | None:  # noqa: PLR0911 - one for each reason
    """Why files can't be made in `path`, which needn't exist yet."""
    existing = Path(os.path.abspath(path))  # noqa: PTH100 - links are for the system to follow
    try:
        while not existing.exists() and not existing.is_symlink():
            existing = existing.parent
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
