"""CMake and Ninja as opkit calls them, and the log that keeps all they say."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from opkit import process
from opkit.build.fingerprint import BUILD_TYPE, GENERATOR, child_environment
from opkit.console import Progress, console
from opkit.errors import CommandNotExecutableError, CommandNotFoundError, ToolMissingError
from opkit.files import guard_writing

if TYPE_CHECKING:
    from opkit.build.lock import BuildLock
    from opkit.build.project import Project
    from opkit.spec import Package
    from opkit.toolkit import Compiler, Toolkit

__all__ = ["Driver"]

_STATUS = re.compile(r"^\[(\d+)/(\d+)\] ")
_NO_WORK = ("ninja: Entering directory", "ninja: no work to do.")


class Driver:
    """One build's tools. The log appears with the first line worth keeping, so that a warm build leaves the last one in place."""

    def __init__(self, project: Project, environ: Mapping[str, str], lock: BuildLock) -> None:
        self._project = project
        self._environ = child_environment(environ)
        self._lock = lock
        self._log: BinaryIO | None = None

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def configure(  # noqa: PLR0913 - what CMake is told
        self, cmake: Path, ninja: Path, compiler: Compiler, toolkit: Toolkit, *, npu_arch: str | None, has_program: bool
    ) -> None:
        """Raises BuildError with the cause."""
        project = self._project
        definitions = {
            "CMAKE_BUILD_TYPE": BUILD_TYPE,
            "CMAKE_MAKE_PROGRAM": ninja,
            "CMAKE_INSTALL_PREFIX": project.output,
            "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
            "ASCEND_HOME_PATH": toolkit.home,
            "OPKIT_CXX11_ABI": toolkit.abi,
        }
        if not has_program:
            definitions["OPKIT_SESSION_RUN"] = "OFF"
        if npu_arch is not None:
            definitions["OPKIT_NPU_ARCH"] = npu_arch
        if not compiler.is_named:
            definitions["CMAKE_CXX_COMPILER"] = compiler.path
        options = [f"-D{name}={value}" for name, value in definitions.items()]
        self._run("cmake", [cmake, "-S", project.root, "-B", project.build_dir, "-G", GENERATOR, *options])

    def compile(self, ninja: Path, jobs: int | None, load: Callable[[], Package]) -> None:
        """Raises BuildError with the cause; what `load` gives knows the op of a kernel that doesn't compile."""
        with ExitStack() as stack:
            progress: list[Progress] = []

            def show(line: str) -> None:
                match = _STATUS.match(line)
                if match is None:
                    return
                if not progress:
                    if not console.is_terminal:
                        console.step("Compiling", f"{match[2]} step{'s' if match[2] != '1' else ''}")
                    progress.append(stack.enter_context(console.progress("Building", int(match[2]))))
                progress[0].advance(note=line[match.end() :].rpartition("/")[2][:60])

            self._run("ninja", [ninja, "-C", self._project.build_dir, *([] if jobs is None else [f"-j{jobs}"])], show, load)

    def install(self, cmake: Path, stage: Path) -> None:
        """Raises BuildError with the cause."""
        self._run("cmake", [cmake, "--install", self._project.build_dir, "--prefix", stage])

    def _run(
        self,
        step: str,
        argv: Sequence[str | os.PathLike[str]],
        on_line: Callable[[str], None] | None = None,
        load: Callable[[], Package] | None = None,
    ) -> None:
        unheard = [argv]

        def listen(line: str) -> None:
            if not line.startswith(_NO_WORK):
                if unheard:
                    from shlex import join

                    self._note("+ " + join(os.fspath(part) for part in unheard.pop()))
                self._note(line)
                console.detail(line)
            if on_line is not None:
                on_line(line)

        try:
            done = process.run(
                argv, cwd=self._project.build_dir, env=self._environ, merge=True, on_line=listen, on_start=self._lock.note_session
            )
        except (CommandNotFoundError, CommandNotExecutableError) as fault:
            msg = f"{step} went away while it was needed"
            raise ToolMissingError(msg, because=fault.message, help="opkit build --force") from fault
        finally:
            self._lock.note_session(None)
        if not done.ok:
            from opkit.build.diagnosis import diagnose

            self._note(f"exit {done.exit}")
            raise diagnose(done.stdout, root=self._project.root, log=self._project.log, step=step, load=load)

    def _note(self, line: str) -> None:
        with guard_writing(self._project.log):
            if self._log is None:
                self._log = self._project.log.open("wb", buffering=0)
            self._log.write(line.encode("utf-8", "surrogateescape") + b"\n")
