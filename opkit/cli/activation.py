"""What `opkit env` and `opkit run` share: the options that say which deliverables are activated, and their OPP roots."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from opkit.cli.common import opp_roots, prefix_to_read, python_of
from opkit.cli.options import python_option
from opkit.errors import NotAProjectError, NotInstalledError, UsageError

__all__ = ["Wanted", "activation_options"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Wanted(NamedTuple):
    """What the command line names. Nothing of it is: the project of the current folder, and where there is none, what is installed."""

    project: str | None
    opp: tuple[str, ...]
    prefix: str | None
    python: str | None
    packages: tuple[str, ...]

    def roots(self, environ: Mapping[str, str]) -> list[Path]:
        """In the order of activation, the first wins. Raises UsageError for options that exclude each other, and what the rooms raise."""
        is_installed = self.prefix is not None or self.python is not None or bool(self.packages)
        if is_installed and (self.opp or self.project is not None):
            msg = "--prefix, --python and --package choose among installed packages, and a project or --opp isn't one"
            raise UsageError(msg, help="leave one of the two out")
        if self.opp or self.project is not None:
            return opp_roots(None if self.opp else self.project, self.opp)
        if is_installed or not (Path.cwd() / "ops.py").is_file():
            return self._installed(environ, is_asked=is_installed)
        return opp_roots(None, ())

    def _installed(self, environ: Mapping[str, str], *, is_asked: bool) -> list[Path]:
        from opkit.run import Sources, find_installed

        sources = Sources(prefix=prefix_to_read(self.prefix, environ), python=python_of(self.python))
        roots = [root.path for root in find_installed(sources, self.packages, is_needed=True)]
        if roots:
            return roots
        because = f"no package is installed in {sources}"
        if is_asked:
            msg = "there is nothing to activate"
            raise NotInstalledError(msg, because=because, help="opkit install, or pip install a wheel")
        msg = ". is no opkit project"
        help_text = "name the folder of a project, start one with: opkit new NAME, or install a package: opkit install"
        raise NotAProjectError(msg, because=f"it has no ops.py, and {because}", help=help_text)


def activation_options(function: _Function) -> _Function:
    """Adds --opp, --prefix, --python and --package; the command gets `wanted` for those and its `project`."""

    @functools.wraps(function)
    def wrapped(
        *args: Any,  # noqa: ANN401 - click's values
        project: str | None,
        opp: tuple[str, ...],
        prefix: str | None,
        python: str | None,
        packages: tuple[str, ...],
        **options: Any,  # noqa: ANN401 - as above
    ) -> Any:  # noqa: ANN401 - as above
        wanted = Wanted(project=project, opp=opp, prefix=prefix, python=python, packages=packages)
        return function(*args, wanted=wanted, **options)

    decorated: Any = wrapped
    for option in (
        click.option("--package", "packages", multiple=True, metavar="NAME", help="Only this installed package; may be repeated."),
        python_option,
        click.option(
            "--prefix", type=click.Path(), metavar="DIR", help="Prefix with packages.  [default: OPKIT_PREFIX, or the user's own]"
        ),
        click.option(
            "--opp", type=click.Path(), multiple=True, metavar="DIR", help="This OPP root instead; may be repeated, the first wins."
        ),
    ):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]
