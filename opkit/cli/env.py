"""`opkit env`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from opkit.cli.common import opp_roots, output_options, toolkit_option
from opkit.console import console

if TYPE_CHECKING:
    from opkit.toolkit import Toolkit

__all__ = ["command"]


@click.command("env")
@click.argument("project", default=".", type=click.Path())
@click.option(
    "--opp", type=click.Path(), multiple=True, metavar="DIR", help="Activate this OPP root instead; may be repeated, the first wins."
)
@click.option("--shell", type=click.Choice(["sh", "fish"]), default="sh", show_default=True, help="sh is right for bash, dash and zsh.")
@toolkit_option
@output_options
def command(toolkit: Toolkit, environ: Mapping[str, str], project: str, opp: tuple[str, ...], shell: str) -> None:
    r"""Print the lines that activate the toolkit and the deliverable of PROJECT in the current shell.

    \b
    sh:    eval "$(opkit env)"
    fish:  opkit env --shell fish | source
    """
    from opkit.run import CHANGED, activate, lines_for

    roots = opp_roots(None if opp else project, opp)
    environment = activate(toolkit, roots, environ)
    console.data("\n".join(lines_for(shell, toolkit, roots, environ)))
    console.document({name: environment[name] for name in CHANGED if name in environment})
