"""A build from its start to its end: the lock, the steps in their order, and a launcher that fails on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from opkit.build.driver import Driver
from opkit.build.fingerprint import child_environment
from opkit.build.folder import require_owner
from opkit.build.lock import locked
from opkit.build.project import require_plain_names
from opkit.build.request import Request
from opkit.build.settings import Settings
from opkit.build.state import STATE, FolderState, Stat, TreeState
from opkit.build.steps import Steps
from opkit.console import console
from opkit.errors import BuildError, NoSpaceError
from opkit.lock import WAIT
from opkit.process import Command

if TYPE_CHECKING:
    from pathlib import Path

    from opkit.build.built import Built
    from opkit.build.lock import BuildLock
    from opkit.build.project import Project
    from opkit.process import Finished
    from opkit.spec import Package
    from opkit.toolkit import Toolkit

__all__ = ["Question", "asked", "build", "held"]


def build(  # noqa: PLR0913 - each is one independent wish
    project: Project,
    toolkit: Toolkit,
    environ: Mapping[str, str],
    *,
    package: Package | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    is_forced: bool = False,
    is_explained: bool = False,
    jobs: int | None = None,
    wait: float = WAIT,
) -> Built:
    """Brings output/ up to date.

    With `package` the spec isn't loaded from ops.py, which needn't exist: a variant is built in a folder of its own. What `settings` leave
    open is what an earlier build was asked for; with `is_forced` that is forgotten. With `is_explained` each reason is printed.
    Raises SpecErrors, EditedFileError, BuildError, BusyError, UnwritableError, UsageError for an output folder that holds something else,
    or a MachineError for a tool that is missing.
    """
    with held(
        project,
        toolkit,
        environ,
        package=package,
        settings=settings,
        is_forced=is_forced,
        is_explained=is_explained,
        jobs=jobs,
        wait=wait,
    ) as built:
        return built


@contextmanager
def held(  # noqa: PLR0913 - as `build`
    project: Project,
    toolkit: Toolkit,
    environ: Mapping[str, str],
    *,
    package: Package | None = None,
    program: Path | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    is_forced: bool = False,
    is_explained: bool = False,
    jobs: int | None = None,
    wait: float = WAIT,
) -> Iterator[Built]:
    """As `build`, and keeps every other opkit out of the build folder until the end: a program of it runs meanwhile.

    With `program` none is built. It knows ops by their prototypes, so that of a package runs a variant whose kernels alone differ.
    """
    started = time.monotonic()
    require_plain_names(project)
    with locked(project, wait=wait) as lock:
        known = FolderState.read(project.build_dir)
        require_owner(project, known)
        if known == FolderState() and (project.build_dir / STATE).exists() and not is_forced:
            console.warn(
                f"{project.shown(project.build_dir / STATE)} can't be read: what earlier builds were asked for isn't known any more",
                help="name it again, if there was something: --abi, --build-type, -D, --launcher, --npu-arch",
            )
        folder = FolderState(output=known.output) if is_forced else known
        request = Request.of(project, toolkit, environ, asked=settings, named=folder.named, has_program=program is None)
        state = TreeState() if is_forced else TreeState.read(request.tree.path)
        with _steps(request, lock, folder, state, is_explained=is_explained) as steps:
            steps.render(package)
            steps.configure()
            try:
                steps.compile(jobs, package)
            except (BuildError, NoSpaceError):
                if not steps.gives_up_launcher():
                    raise
                steps.compile(jobs, package)
            steps.install()
            steps.sum_up()
        yield steps.built(time.monotonic() - started, program)


class Question(NamedTuple):
    """What is left to ask of a project in whose files opkit sees nothing to do: `command`, whose end tells `answer` the rest."""

    command: Command
    answer: Callable[[Finished], Built | None]


@contextmanager
def asked(
    project: Project, toolkit: Toolkit, environ: Mapping[str, str], *, settings: Settings, own: Mapping[str, Stat]
) -> Iterator[Question | None]:
    """What tells whether a build has nothing to do, without building: Ninja, which looks at as much for it as in a build.

    None if opkit sees itself that there is something to do, and where make builds, which can't be asked. The build folder is kept from
    others until the end. `own` is what `own_stats` gave, once for many projects. Raises BusyError for a folder that another opkit works
    in, and what a build of the project would raise.
    """
    started = time.monotonic()
    folder = FolderState.read(project.build_dir)
    require_owner(project, folder)
    if folder.rendered is None or folder.named != settings.over(folder.named):
        yield None
        return
    request = Request.of(project, toolkit, environ, asked=settings, named=folder.named, has_program=True)
    with locked(project, wait=0) as lock, _steps(request, lock, folder, TreeState.read(request.tree.path)) as steps:
        # Another opkit may have ended in between.
        argv = steps.question(own) if FolderState.read(project.build_dir) == folder else None

        def answer(ended: Finished) -> Built | None:
            return steps.built(time.monotonic() - started) if steps.is_current(ended) else None

        yield None if argv is None else Question(Command(argv, project.build_dir, child_environment(environ)), answer)


@contextmanager
def _steps(request: Request, lock: BuildLock, folder: FolderState, state: TreeState, *, is_explained: bool = False) -> Iterator[Steps]:
    with closing(Driver(request.project, request.tree, request.environ, lock)) as driver:
        yield Steps(request, driver, folder=folder, state=state, is_explained=is_explained)
