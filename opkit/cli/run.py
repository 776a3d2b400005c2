"""`opkit run`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit import process
from opkit.cli.activation import Wanted, activation_options
from opkit.cli.common import announce, arch_click_option, output_options, toolkit_of, warn_of_other_processors
from opkit.toolkit import discover, process_environment

__all__ = ["command"]


# From the first word on all is the command's, its options too.
@click.command("run", context_settings={"allow_interspersed_args": False})
@click.option("--project", type=click.Path(), metavar="PROJECT", help="Project whose deliverable is activated.  [default: . if it is one]")
@activation_options
@click.option("--toolkit", metavar="DIR", help="CANN toolkit to use.  [default: ASCEND_HOME_PATH, an installed one, the simulator]")
@arch_click_option
@output_options
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="[--] CMD [ARGS]...")
def command(wanted: Wanted, toolkit: str | None, arch: str | None, argv: tuple[str, ...]) -> None:
    """Run a command with the toolkit and deliverables activated, and pass its exit on.

    Those are the project's, or those that options name; without either, that of the project in the current folder, and where there is
    none, all packages that are installed, in the order of their names.

    Before the command has started, opkit exits 125 for a failure of its own, 126 for a command that can't be executed
    and 127 for one that isn't there.
    """
    from opkit.run import activate

    environ = process_environment()
    found = discover(environ, option=toolkit, cwd=Path.cwd())
    announce(found)
    roots = wanted.roots(environ)
    found = toolkit_of(arch, found, environ)
    warn_of_other_processors(found, roots)
    process.become(argv, activate(found, roots, environ))
