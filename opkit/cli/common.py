"""Options that commands share, parsed once into the values of the rooms: a Project, a Toolkit, an environment."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from opkit.build import Project, find_built
from opkit.console import console
from opkit.deliverable import LIBRARY, root_above
from opkit.errors import UsageError
from opkit.toolkit import Origin, Toolkit, discover, process_environment

__all__ = ["announce", "load_spec", "opp_roots", "output_options", "project_options", "toolkit_option", "wait_option", "warnings_of"]

if TYPE_CHECKING:
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

    decorated: Any = wrapped
    for option in (
        click.option("--output", type=click.Path(), metavar="DIR", help="Folder of the deliverable.  [default: PROJECT/output]"),
        click.option("--build-dir", type=click.Path(), metavar="DIR", help="Folder of the build.  [default: PROJECT/build]"),
        click.argument("project", default=".", type=click.Path()),
    ):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


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


def wait_option(function: _Function) -> _Function:
    """Adds --wait; the command gets `wait` in seconds."""
    return click.option("--wait", type=click.FloatRange(min=0), default=60.0, show_default=True, help="Seconds to wait for another opkit.")(
        function
    )


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
    root = folder.resolve()
    if (root / "op_graph").is_dir() or (root / LIBRARY).is_file():
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


def _set_json(_context: click.Context, _option: click.Parameter, is_set: bool) -> None:
    console.is_json |= is_set


def _set_verbose(_context: click.Context, _option: click.Parameter, is_set: bool) -> None:
    console.is_verbose |= is_set


def _set_quiet(_context: click.Context, _option: click.Parameter, is_set: bool) -> None:
    console.is_quiet |= is_set
