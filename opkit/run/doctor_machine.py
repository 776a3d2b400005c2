"""What `doctor` finds out about the tools of a build: compiler and launcher, CMake, Ninja or make."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from opkit import process
from opkit.errors import CommandNotExecutableError, CommandNotFoundError, CompilerMissingError, OpkitError, UsageError
from opkit.run.doctor_findings import Check, Finding, Status, built_again, exported, failed
from opkit.toolkit import LAUNCHER_VARIABLE, NO_LAUNCHER, Tool, find_cmake, find_compiler, find_launcher, find_ninja

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from opkit.build import Project
    from opkit.toolkit import Compiler

__all__ = ["tools"]

_OLDEST_GCC = 7  # the first with all of C++17 that the generated code uses
# A header of the library and a symbol of it: a compiler without libstdc++'s parts finds out here.
_PROBE = '#include <cstddef>\nextern "C" int *opkit_probe(std::size_t size) { return new int[size]; }\n'
_INSTALL_COMPILER = "sudo apt install -y g++"


def tools(environ: Mapping[str, str], project: Project | None = None) -> Iterator[Finding]:
    yield _compiler(environ)
    yield from _launcher(environ, project)
    yield _tool(Check.CMAKE, find_cmake, environ)
    yield _ninja(environ)


def _compiler(environ: Mapping[str, str]) -> Finding:
    try:
        compiler = find_compiler(environ)
    except OpkitError as error:
        return failed(Check.COMPILER, error, help=_another_compiler(environ))
    shown = compiler.command
    try:
        done = process.run([*compiler.argv, "-dumpfullversion", "-dumpversion"], timeout=10)
    except (CommandNotFoundError, CommandNotExecutableError) as error:
        return failed(Check.COMPILER, error, help=_another_compiler(environ))
    version = done.stdout.strip() or "unknown"
    major = version.partition(".")[0]
    if "clang" not in compiler.path.name and major.isdigit() and int(major) < _OLDEST_GCC:
        evidence = f"{shown} is {version} ({compiler.reason}); needs {_OLDEST_GCC} or newer"
        return Finding(check=Check.COMPILER, status=Status.FAIL, evidence=evidence, help=_another_compiler(environ))
    try:
        reason = _why_it_does_not_compile(compiler, environ)
    except OSError as fault:
        evidence = f"{shown} {version} ({compiler.reason}) wasn't tried: no folder for temporary files ({fault.strerror})"
        return Finding(check=Check.COMPILER, status=Status.WARN, evidence=evidence, help=exported("TMPDIR", "/tmp"))  # noqa: S108 - the system's default
    if reason is not None:
        evidence = f"{shown} {version} ({compiler.reason}) can't compile and link a library: {reason}"
        return Finding(check=Check.COMPILER, status=Status.FAIL, evidence=evidence, help=_another_compiler(environ))
    return Finding(check=Check.COMPILER, status=Status.OK, evidence=f"{shown} {version} compiles and links ({compiler.reason})")


def _another_compiler(environ: Mapping[str, str]) -> str:
    return exported("CXX") if environ.get("CXX", "").strip() else _INSTALL_COMPILER


def _launcher(environ: Mapping[str, str], project: Project | None) -> Iterator[Finding]:
    """Without a compiler there is nothing to say; `_compiler` says that."""
    from opkit.build import remembered

    named = None if project is None else remembered(project).launcher
    try:
        launcher = find_launcher(environ, compiler := find_compiler(environ), named)
    except CompilerMissingError:
        return
    except OpkitError as error:
        mend = exported(LAUNCHER_VARIABLE) if named is None else _without_launcher(project)
        yield failed(Check.LAUNCHER, error, help=mend)
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
        return
    mend = _without_launcher(project)
    if named is None and environ.get(LAUNCHER_VARIABLE):
        mend = exported(LAUNCHER_VARIABLE)
    evidence = f"{shown} doesn't work, and builds go without it: {fault}"
    hint = None if mend else f"mend it or uninstall it; nothing is lost until then, and a project forgets it with --launcher {NO_LAUNCHER}"
    yield Finding(check=Check.LAUNCHER, status=Status.WARN, evidence=evidence, help=mend, hint=hint)


def _without_launcher(project: Project | None) -> str | None:
    """The command after which a project's builds look for none."""
    return None if project is None else built_again(project, "--launcher", NO_LAUNCHER)


def _why_it_does_not_compile(compiler: Compiler, environ: Mapping[str, str]) -> str | None:
    with tempfile.TemporaryDirectory(prefix="opkit-doctor.", dir=environ.get("TMPDIR") or None) as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(_PROBE)
        argv = [*compiler.argv, "-std=c++17", "-fPIC", "-shared", "-Wl,-z,defs", str(source), "-o", str(Path(folder) / "probe.so")]
        done = process.run(argv, env={**environ, "LC_ALL": "C.UTF-8"}, timeout=30)
    if done.ok:
        return None
    told = [line.strip().replace(f"{folder}/", "") for line in done.stderr.splitlines() if line.strip()]
    return next((line for line in told if "error" in line or "cannot" in line), told[0] if told else f"exit {done.exit}")


def _tool(check: Check, find: Callable[[Mapping[str, str]], Tool], environ: Mapping[str, str]) -> Finding:
    try:
        tool = find(environ)
    except OpkitError as error:
        return failed(check, error, help=f"pip install {check.id}")
    return Finding(check=check, status=Status.OK, evidence=f"{tool.path} {tool.version} ({tool.reason})")


def _ninja(environ: Mapping[str, str]) -> Finding:
    """Or the make that a build takes in its place."""
    from opkit.build import find_generator

    try:
        generator = find_generator(environ)
    except UsageError as error:
        return failed(Check.NINJA, error, help=exported("CMAKE_GENERATOR"))
    except OpkitError as error:
        return failed(Check.NINJA, error, help=_generator_installed(environ))
    if generator.is_ninja:
        return _tool(Check.NINJA, find_ninja, environ)
    return Finding(check=Check.NINJA, status=Status.OK, evidence=f"none: builds take {generator.program}")


def _generator_installed(environ: Mapping[str, str]) -> str:
    return "sudo apt install -y make" if environ.get("CMAKE_GENERATOR") == "Unix Makefiles" else "pip install ninja"
