"""`opkit env`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from opkit.cli.activation import Wanted, activation_options
from opkit.cli.common import SHELLS, warn_of_other_processors
from opkit.cli.options import arch_option, output_options, toolkit_option
from opkit.console import console

if TYPE_CHECKING:
    from opkit.toolkit import Toolkit

__all__ = ["command"]


@click.command("env")
@click.argument("project", required=False, type=click.Path())
@activation_options
@click.option("--shell", type=click.Choice(SHELLS), default="sh", show_default=True, help="fish, or one that reads the lines of sh.")
@toolkit_option
@arch_option
@output_options
def command(toolkit: Toolkit, environ: Mapping[str, str], wanted: Wanted, shell: str) -> None:
    """Print the lines that activate the toolkit and deliverables in the current shell.

    Those are PROJECT's, or those that options name; without either, that of the project in the current folder, and where there is
    none, all packages that are installed, in the order of their names.

    In bash, dash and zsh: eval "$(opkit env)". In fish: opkit env --shell fish | source.
    """
    from opkit.run import CHANGED, activate, lines_for

    roots = wanted.roots(environ)
    warn_of_other_processors(toolkit, roots)
    environment = activate(toolkit, roots, environ)
    console.data("\n".join(lines_for(shell, toolkit, roots, environ)))
    console.document({name: environment[name] for name in CHANGED if name in environment})
