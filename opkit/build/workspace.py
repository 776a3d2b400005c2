"""Many projects at once: those below a folder, which of them have nothing to do, and a build of each of the others by an opkit of its own.

An opkit for each, because specs are Python that runs in it, and one that fails or is stopped leaves the others alone. Those with nothing
to do are known without one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from opkit.build.building import Question, asked
from opkit.build.jobs import default_jobs
from opkit.build.project import Project
from opkit.build.rendering import own_stats
from opkit.console import console
from opkit.errors import BusyError, LostBuildError, NotAProjectError, OpkitError
from opkit.files import LARGEST_TEXT, content_of
from opkit.process import Command, run_together

if TYPE_CHECKING:
    from opkit.build.built import Built
    from opkit.build.settings import Settings
    from opkit.process import Finished
    from opkit.toolkit import Toolkit

__all__ = ["Clash", "Outcome", "build_all", "clashes", "exit_of", "find_projects"]

# Folders of builds, of deliverables and of other people's packages.
_PASSED_OVER = frozenset({"build", "output", "dist", "node_modules", "__pycache__"})
_MARKS = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})
# Other Python calls a module ops.py too; a spec can't but name opkit.
_SPEC = re.compile(rb"\bopkit\b")
_FAULT = 1
_BUILD_FAILED = 5


class Outcome(NamedTuple):
    """How one project ended: `built` if it had nothing to do, else the `document` of its own opkit with what that said to people."""

    project: Project
    exit: int
    seconds: float
    built: Built | None = None
    document: Mapping[str, Any] = {}
    text: str = ""

    @property
    def error(self) -> Mapping[str, Any] | None:
        found = self.document.get("error")
        return found if isinstance(found, dict) else None


class Clash(NamedTuple):
    """A name that several projects of a workspace give: of a package, or of an op type."""

    is_op: bool
    name: str
    projects: tuple[Project, ...]


def find_projects(folders: Sequence[str | Path]) -> list[Project]:
    """The projects that the folders are, and those below the folders that are none, each once. Raises NotAProjectError for one with none.

    Below a folder: in the order of their names, not inside each other, no links, and nothing hidden, built or installed.
    """
    found: dict[Path, Project] = {}
    for folder in folders:
        try:
            projects = [Project.find(folder)]
        except NotAProjectError as fault:
            if os.path.realpath(folder) == "/":
                msg = "/ is no opkit project, and no folder of projects"
                raise NotAProjectError(msg, because="each ops.py of this computer would be run", help="name the folder of yours") from fault
            roots = list(_roots(Path(folder)))
            if not roots:
                if os.path.isdir(folder):  # noqa: PTH112 - it raises nothing, whatever the name
                    msg = f"{folder} is no opkit project, and holds none"
                    raise NotAProjectError(msg, because="neither it nor a folder below it has an ops.py", help=fault.help) from fault
                raise
            projects = [Project.at(root) for root in roots]
        found.update((project.root, project) for project in projects)
    return list(found.values())


def _roots(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        if Path(place) != folder and not _MARKS.isdisjoint(files):
            folders.clear()
            continue
        if "ops.py" in files and _is_spec(Path(place, "ops.py")):
            folders.clear()
            yield Path(place)
            continue
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER and not name.startswith("."))


def _is_spec(ops_py: Path) -> bool:
    try:
        return _SPEC.search(content_of(ops_py, most=LARGEST_TEXT)) is not None
    except OSError:
        return True  # Whoever loads it says why not.


def build_all(  # noqa: PLR0913 - each is one independent wish
    projects: Sequence[Project],
    toolkit: Toolkit,
    environ: Mapping[str, str],
    *,
    settings: Settings,
    command: Callable[[Project, int], Sequence[str | Path]],
    is_forced: bool = False,
    jobs: int | None = None,
) -> Generator[Outcome, None, None]:
    """Brings each up to date and gives each as it ends. `command` is what builds one with so many compilers at once, and prints a document.

    `jobs` are shared: as many projects at once as there are jobs, and each gets its part of them. Whoever closes the iterator stops all.
    """
    jobs = jobs or default_jobs()
    left = list(projects)
    if not is_forced:
        with closing(_current(projects, toolkit, environ, settings, jobs)) as current:
            for outcome in current:
                left.remove(outcome.project)
                yield outcome
    at_once = max(1, min(jobs, len(left)))
    commands = ((project, Command(command(project, jobs // at_once), env=environ)) for project in left)
    with closing(run_together(commands, at_once=at_once)) as ended:
        for project, finished in ended:
            yield _outcome(project, finished)


def _current(
    projects: Sequence[Project], toolkit: Toolkit, environ: Mapping[str, str], settings: Settings, at_once: int
) -> Generator[Outcome, None, None]:
    def questions() -> Iterator[tuple[tuple[Project, Question, ExitStack], Command]]:
        for project in projects:
            with ExitStack() as stack:
                try:
                    question = stack.enter_context(asked(project, toolkit, environ, settings=settings, own=own))
                except OpkitError as fault:
                    # Its own opkit says what is wrong; but what that says while it waits is shown when it ends.
                    if isinstance(fault, BusyError):
                        console.say(f"{project.root} is in use by another opkit")
                    continue
                if question is not None:
                    held.push(kept := stack.pop_all())
                    yield (project, question, kept), question.command

    own = own_stats()
    with ExitStack() as held, closing(run_together(questions(), at_once=at_once)) as answers:
        for (project, question, kept), ended in answers:
            with kept:
                built = question.answer(ended)
            if built is not None:
                yield Outcome(project=project, exit=0, seconds=built.seconds, built=built)


def _outcome(project: Project, ended: Finished) -> Outcome:
    try:
        document = json.loads(ended.stdout)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        msg = "its build ended without a result"
        how = f"signal {-ended.exit} stopped it" if ended.exit < 0 else f"it exits with {ended.exit}"
        fault = LostBuildError(msg, because=how, help="opkit build -j 1, if memory is short")
        document = {"error": fault.to_json()}
    exit_code = ended.shell_exit
    if "error" in document and exit_code == 0:
        exit_code = _BUILD_FAILED
    return Outcome(project=project, exit=exit_code, seconds=ended.seconds, document=document, text=ended.stderr)


def clashes(outcomes: Iterable[Outcome]) -> list[Clash]:
    """Names that only one package of a prefix, or of a GE session, can have."""
    named: dict[tuple[bool, str], list[Project]] = {}
    for outcome in outcomes:
        built, document = outcome.built, outcome.document
        package = document.get("package") if built is None else built.package
        ops = document.get("ops", ()) if built is None else built.ops
        for key in ([(False, package)] if package else []) + [(True, op) for op in ops]:
            named.setdefault(key, []).append(outcome.project)
    return [Clash(is_op, name, tuple(projects)) for (is_op, name), projects in named.items() if len(projects) > 1]


def exit_of(outcomes: Iterable[Outcome]) -> int:
    """0 if none failed, a fault of opkit's own before anything else, what the failures have in common, else that of a failed build."""
    exits = {outcome.exit for outcome in outcomes if outcome.exit}
    if _FAULT in exits:
        return _FAULT
    return exits.pop() if len(exits) == 1 else _BUILD_FAILED if exits else 0
