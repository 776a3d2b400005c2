"""CMake and Ninja or make as opkit calls them, and the log that keeps all they say."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from opkit import process
from opkit.build.fingerprint import child_environment
from opkit.build.generator import explained
from opkit.console import Progress, console
from opkit.errors import CommandNotExecutableError, CommandNotFoundError, ToolMissingError
from opkit.files import guard_writing

if TYPE_CHECKING:
    from opkit.build.generator import Generator
    from opkit.build.lock import BuildLock
    from opkit.build.project import Project
    from opkit.build.tree import Tree
    from opkit.spec import Package

__all__ = ["Driver"]

# What a user sets that reaches every compilation, CMake's own trial too.
_FLAGS_OF_ALL = ("CXX", "CXXFLAGS", "LDFLAGS")
_DEFINED_FLAGS_OF_ALL = ("CMAKE_CXX_FLAGS", "CMAKE_EXE_LINKER_FLAGS", "CMAKE_SYSROOT")
_UNUSED = "Manually-specified variables were not used by the project:"


class Driver:
    """One build's tools. The log appears with the first line worth keeping, so that a warm build leaves the last one in place."""

    def __init__(self, project: Project, tree: Tree, environ: Mapping[str, str], lock: BuildLock) -> None:
        self._project = project
        self._tree = tree
        self._environ = child_environment(environ)
        self._of_launcher: Mapping[str, str] = {}
        self._lock = lock
        self._log: BinaryIO | None = None

    def set_launcher(self, environment: Mapping[str, str]) -> None:
        """What the compiler launcher is to find in the environment, for it alone: it is the children's."""
        self._of_launcher = environment

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def configure(self, cmake: Path, generator: Generator, definitions: Mapping[str, str | os.PathLike[str] | int]) -> list[str]:
        """Gives the names of the definitions that nothing in the project reads. Raises BuildError with the cause."""
        options = [f"-D{name}={value}" for name, value in definitions.items()]
        flags = [f"{name}={self._environ[name]}" for name in _FLAGS_OF_ALL if self._environ.get(name)]
        flags += [f"-D {name}={value}" for name, value in definitions.items() if name.startswith(_DEFINED_FLAGS_OF_ALL)]
        argv: list[str | os.PathLike[str]] = [cmake, "-S", self._project.root, "-B", self._tree.path, "-G", generator.name, *options]
        return _unused(self._run("cmake", argv, flags=flags))

    def compile(self, generator: Generator, jobs: int, load: Callable[[], Package], *, is_explained: bool) -> list[str]:
        """Gives what the tool said of why it does something, if it can and `is_explained`.

        Raises BuildError with the cause; what `load` gives knows the op of a kernel that doesn't compile.
        """
        reasons: dict[str, None] = {}
        with ExitStack() as stack:
            progress: list[Progress] = []
            done = 0

            def show(line: str) -> None:
                nonlocal done
                reason = explained(line, self._tree.path, self._project.root)
                if reason is not None:
                    reasons[reason] = None
                step = generator.progress(line)
                if step is None:
                    return
                now, total, note = step
                if not progress:
                    if not console.is_terminal:
                        # make tells only how far it is, in percent.
                        console.step("Compiling", f"{total} step{'s' if total != 1 else ''}" if generator.is_ninja else "with make")
                    progress.append(stack.enter_context(console.progress("Building", total)))
                progress[0].advance(max(0, now - done), note=note[:60])
                done = max(done, now)

            argv = generator.argv(self._tree.path, jobs, is_explained=is_explained)
            self._run(generator.tool, argv, show, load, is_idle=generator.says_nothing)
        return list(reasons)

    def install(self, cmake: Path, stage: Path) -> None:
        """Raises BuildError with the cause."""
        self._run("cmake", [cmake, "--install", self._tree.path, "--prefix", stage])

    def _run(  # noqa: PLR0913 - what a step is made of
        self,
        step: str,
        argv: Sequence[str | os.PathLike[str]],
        on_line: Callable[[str], None] | None = None,
        load: Callable[[], Package] | None = None,
        *,
        is_idle: Callable[[str], bool] = lambda _: False,
        flags: Sequence[str] = (),
    ) -> str:
        unheard = [argv]

        def listen(line: str) -> None:
            if not is_idle(line):
                if unheard:
                    from shlex import join

                    self._note("+ " + join(os.fspath(part) for part in unheard.pop()))
                self._note(line)
                console.detail(line)
            if on_line is not None:
                on_line(line)

        try:
            done = process.run(
                argv,
                cwd=self._tree.path,
                env={**self._environ, **self._of_launcher},
                merge=True,
                on_line=listen,
                on_start=self._lock.note_session,
            )
        except (CommandNotFoundError, CommandNotExecutableError) as fault:
            msg = f"{step} went away while it was needed"
            raise ToolMissingError(msg, because=fault.message, help="opkit build") from fault
        finally:
            self._lock.note_session(None)
        if not done.ok:
            from opkit.build.diagnosis import diagnose

            self._note(f"exit {done.exit}")
            raise diagnose(done.stdout, root=self._project.root, log=self._tree.log, step=step, load=load, flags=flags)
        return done.stdout

    def _note(self, line: str) -> None:
        with guard_writing(self._tree.log):
            if self._log is None:
                self._log = self._tree.log.open("wb", buffering=0)
            self._log.write(line.encode("utf-8", "surrogateescape") + b"\n")


def _unused(output: str) -> list[str]:
    """The names of the definitions that CMake warns of: a paragraph of its own, a name a line."""
    _, found, rest = output.partition(_UNUSED)
    return rest.lstrip("\n").partition("\n\n")[0].split() if found else []
