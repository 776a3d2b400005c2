"""Options that commands share, parsed once into the values of the rooms: a Project, a Toolkit, an environment."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from opkit.build import Project, find_built
from opkit.console import console
from opkit.deliverable import LIBRARY, is_opp_root, other_processors, root_above
from opkit.errors import MachineError, NotAProjectError, UsageError
from opkit.toolkit import ARCHITECTURES, Origin, Toolkit, discover, process_environment

__all__ = [
    "SHELLS",
    "announce",
    "arch_click_option",
    "arch_option",
    "arch_to_run_option",
    "kept_document",
    "load_spec",
    "opp_roots",
    "output_options",
    "prefix_of",
    "prefix_option",
    "prefix_to_read",
    "project_options",
    "python_of",
    "python_option",
    "report_kept",
    "toolkit_of",
    "toolkit_option",
    "wait_option",
    "warn_of_other_processors",
    "warnings_of",
    "workspace_options",
]

SHELLS = ("sh", "bash", "dash", "zsh", "fish")

if TYPE_CHECKING:
    from opkit.packaging import Kept
    from opkit.spec import Package, SpecWarning

_Function = TypeVar("_Function", bound=Callable[..., Any])


def output_options(function: _Function) -> _Function:
    """Adds --json, --verbose and --quiet; every command has them."""
    for option in (
        click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=_set_quiet, help="Print only warnings and errors."),
        click.option("-v", "--verbose", is_flag=True, expose_value=False, callback=_set_verbose, help="Print each command before it runs."),
        click.option("--json", is_flag=True, expose_value=False, callback=_set_json, help="Print one JSON document on stdout."),
    ):
        function = option(function)
    return function


def project_options(function: _Function) -> _Function:
    """Adds [PROJECT], --build-dir and --output; the command gets `project`."""

    @functools.wraps(function)
    def wrapped(*args: Any, project: str, build_dir: str | None, output: str | None, **options: Any) -> Any:  # noqa: ANN401 - click's values
        return function(*args, project=Project.find(project, build_dir=build_dir, output=output), **options)

    return _with_places(wrapped, click.argument("project", default=".", type=click.Path()))  # type: ignore[no-any-return]


def workspace_options(function: _Function) -> _Function:
    """Adds [PROJECT]..., --build-dir and --output; the command gets `project` for one that was named, else `projects`."""

    @functools.wraps(function)
    def wrapped(
        *args: Any,  # noqa: ANN401 - click's values
        project: tuple[str, ...],
        build_dir: str | None,
        output: str | None,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        one = None
        if len(project) < 2:
            try:
                one = Project.find(project[0] if project else ".", build_dir=build_dir, output=output)
            except NotAProjectError:
                # Only a folder that is named is searched: without a name this may be a home folder, or /.
                if not project:
                    raise
        if one is not None:
            return function(*args, project=one, projects=(), **options)
        from opkit.build.workspace import find_projects

        found = find_projects(project)
        given = [name for name, value in (("--build-dir", build_dir), ("--output", output)) if value is not None]
        if given:
            msg = f"{given[0]} is for one project"
            raise UsageError(msg, because=f"{len(found)} are named, and each has its own", help="name the folder of one project")
        return function(*args, project=None, projects=found, **options)

    return _with_places(wrapped, click.argument("project", nargs=-1, type=click.Path()))  # type: ignore[no-any-return]


def _with_places(function: Any, project: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - click's decorators
    for option in (
        click.option("--output", type=click.Path(), metavar="DIR", help="Folder of the deliverable.  [default: PROJECT/output]"),
        click.option("--build-dir", type=click.Path(), metavar="DIR", help="Folder of the build.  [default: PROJECT/build]"),
        project,
    ):
        function = option(function)
    return function


def toolkit_option(function: _Function) -> _Function:
    """Adds --toolkit; the command gets `toolkit` and `environ`, and people are told if it is the bundled simulator."""

    @functools.wraps(function)
    def wrapped(*args: Any, toolkit: str | None, **options: Any) -> Any:  # noqa: ANN401 - click's values
        environ = process_environment()
        found = discover(environ, option=toolkit, cwd=Path.cwd())
        announce(found)
        return function(*args, toolkit=found, environ=environ, **options)

    return click.option(
        "--toolkit", metavar="DIR", help="CANN toolkit to use.  [default: ASCEND_HOME_PATH, an installed one, the simulator]"
    )(wrapped)  # type: ignore[return-value]


arch_click_option = click.option("--arch", type=click.Choice(ARCHITECTURES), help="Processor of the deliverable.  [default: the toolkit's]")


def arch_option(function: _Function) -> _Function:
    """Adds --arch, below `toolkit_option`: the command gets the `toolkit` for that processor, built first if it is the simulator."""
    return _arch_option(function, is_run=False)


def arch_to_run_option(function: _Function) -> _Function:
    """As `arch_option` for a command that runs what it builds: before anything is built, what is to emulate that processor is there."""
    return _arch_option(function, is_run=True)


def _arch_option(function: _Function, *, is_run: bool) -> _Function:
    @functools.wraps(function)
    def wrapped(
        *args: Any,  # noqa: ANN401 - click's values
        toolkit: Toolkit,
        environ: Mapping[str, str],
        arch: str | None,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        if is_run and arch is not None:
            from opkit.run import launcher_for

            launcher_for(arch, environ)
        return function(*args, toolkit=toolkit_of(arch, toolkit, environ), environ=environ, **options)

    return arch_click_option(wrapped)  # type: ignore[return-value]


def toolkit_of(arch: str | None, toolkit: Toolkit, environ: Mapping[str, str]) -> Toolkit:
    """The toolkit in use, or its like for the processor that --arch names."""
    if arch is None or arch == toolkit.arch:
        return toolkit
    from opkit.build.jobs import default_jobs
    from opkit.toolkit.variants import toolkit_for

    found = toolkit_for(arch, toolkit, environ, jobs=default_jobs())
    console.detail(f"toolkit {found.home} ({found.reason}): {found.label}")
    return found


def warn_of_other_processors(toolkit: Toolkit, roots: Sequence[Path]) -> None:
    """Says of each OPP root that is activated with a toolkit whose GE finds no library in it."""
    for root in roots:
        found = other_processors(root, toolkit.arch)
        if found:
            advice = f"build it for {toolkit.arch}, or take the toolkit for its own: --arch {found[0]}"
            console.warn(f"{root} is for {' and '.join(found)} alone, and GE on {toolkit.arch} finds no op in it", help=advice)


def wait_option(function: _Function) -> _Function:
    """Adds --wait; the command gets `wait` in seconds."""
    return click.option("--wait", type=click.FloatRange(min=0), default=60.0, show_default=True, help="Seconds to wait for another opkit.")(
        function
    )


def prefix_option(function: _Function) -> _Function:
    """Adds --prefix; the command gets `prefix`."""
    return click.option(
        "--prefix", type=click.Path(), metavar="DIR", help="Folder of the installed packages.  [default: OPKIT_PREFIX, or the user's own]"
    )(function)


def python_option(function: _Function) -> _Function:
    """Adds --python; the command gets `python`, for `python_of`."""
    return click.option(
        "--python", type=click.Path(), metavar="PATH", help="Interpreter or virtual environment with wheels.  [default: opkit's own]"
    )(function)


def python_of(named: str | None) -> Path | None:
    """What is named with a '/' is that file, and not a command of its name: a Path would forget the "./"."""
    if named is None:
        return None
    return _absolute(Path(named)) if os.sep in named else Path(named)


def prefix_of(named: str | None, environ: Mapping[str, str]) -> Path:
    """The prefix to change. Raises MachineError where none is named and the user has no folder for one."""
    prefix = prefix_to_read(named, environ)
    if prefix is None:
        msg = "there is no place to install to"
        raise MachineError(msg, because="you have no home folder here", help="name a folder with --prefix DIR or OPKIT_PREFIX")
    return prefix


def prefix_to_read(named: str | None, environ: Mapping[str, str]) -> Path | None:
    """None where none is named and the user has none. Raises UsageError for what can't be one."""
    from opkit.packaging import checked_prefix, default_prefix

    prefix = default_prefix(environ) if named is None else checked_prefix(named)
    if prefix is not None and os.path.exists(prefix) and not os.path.isdir(prefix):  # noqa: PTH110, PTH112 - Path's raise below a closed folder
        msg = f"the prefix {prefix} is no folder"
        raise UsageError(msg, because="it is a file", help="name the folder of the installed packages: --prefix DIR")
    return prefix


def report_kept(root: Path, kept: Kept) -> None:
    """Tells which file of an installed package stays, and where."""
    moved = "" if kept.place == kept.path else f", as {kept.place}"
    if kept.is_edited:
        console.warn(f"{root / kept.path} was edited; it stays{moved}")
    elif moved:
        console.warn(f"{root / kept.path} isn't opkit's and is in the way; it stays{moved}")
    else:
        console.say(f"{root / kept.path} isn't opkit's; it stays")


def kept_document(kept: Kept) -> dict[str, object]:
    return {"path": str(kept.path), "place": str(kept.place), "edited": kept.is_edited}


def load_spec(project: Project) -> Package:
    """The package of ops.py; its warnings are printed. Raises SpecErrors."""
    from opkit.spec import load_package

    package = load_package(project.ops_py)
    console.warnings(package.warnings)
    return package


class _Warned(Protocol):
    @property
    def warnings(self) -> tuple[SpecWarning, ...]: ...


def warnings_of(told: _Warned) -> list[dict[str, Any]]:
    """The warnings of a spec that were printed, for the document of a command."""
    return [warning.to_json() for warning in told.warnings]


def opp_roots(project: str | None, opp: Sequence[str]) -> list[Path]:
    """The OPP roots that the user named, or the one of the built project. Raises UsageError for a folder that is none."""
    if not opp:
        return [find_built(Project.find(project or ".")).opp_root.path]
    return [_opp_root(Path(folder)) for folder in opp]


def _opp_root(folder: Path) -> Path:
    if not folder.is_dir():
        msg = f"--opp {folder} is no folder"
        raise UsageError(msg)
    root = _absolute(folder)  # Not resolved: an installed package is a link that its upgrades rename.
    if is_opp_root(root):
        return root
    above = root_above(root)
    help_text = None if above is None else f"--opp {above}"
    msg = f"--opp {folder} is no OPP root"
    raise UsageError(msg, because=f"it holds neither op_graph nor {LIBRARY}", help=help_text)


def announce(toolkit: Toolkit) -> None:
    if toolkit.origin is Origin.BUNDLED:
        console.say(toolkit.reason)
    else:
        console.detail(f"toolkit {toolkit.home} ({toolkit.reason}): {toolkit.label}")


def _absolute(folder: Path) -> Path:
    return Path(os.path.abspath(folder))  # noqa: PTH100 - without "..", and links stay as they are named


def _set_json(_context: click.Context, _option: click.Parameter, is_set: bool) -> None:
    console.is_json |= is_set


def _set_verbose(_context: click.Context, _option: click.Parameter, is_set: bool) -> None:
    console.is_verbose |= is_set


def _set_quiet(_context: click.Context, _option: click.Parameter, is_set: bool) -> None:
    console.is_quiet |= is_set
