"""Options that commands share, parsed once into the values of the rooms: a Project, a Toolkit, an environment."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from opkit.build import Project
from opkit.cli.common import toolkit_in_use, toolkit_of
from opkit.console import console
from opkit.errors import NotAProjectError, UsageError
from opkit.lock import WAIT
from opkit.toolkit import ARCHITECTURES

if TYPE_CHECKING:
    from opkit.toolkit import Toolkit

__all__ = [
    "arch_click_option",
    "arch_option",
    "arch_to_run_option",
    "output_options",
    "prefix_option",
    "project_options",
    "python_option",
    "toolkit_option",
    "wait_option",
    "workspace_options",
]

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
        found, environ = toolkit_in_use(toolkit)
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


def wait_option(function: _Function) -> _Function:
    """Adds --wait; the command gets `wait` in seconds."""
    return click.option("--wait", type=click.FloatRange(min=0), default=WAIT, show_default=True, help="Seconds to wait for another opkit.")(
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


def _set_json(_context: click.Context, _option: click.Parameter, is_set: bool) -> None:
    console.is_json |= is_set


def _set_verbose(_context: click.Context, _option: click.Parameter, is_set: bool) -> None:
    console.is_verbose |= is_set


def _set_quiet(_context: click.Context, _option: click.Parameter, is_set: bool) -> None:
    console.is_quiet |= is_set
