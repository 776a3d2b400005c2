"""`opkit run`."""

from __future__ import annotations

from pathlib import Path

import click

from opkit import process
from opkit.cli.common import announce, opp_roots, output_options
from opkit.toolkit import discover, process_environment

__all__ = ["command"]


@click.command("run")
@click.option("--project", type=click.Path(), metavar="PROJECT", help="Project whose deliverable is activated.  [default: .]")
@click.option(
    "--opp", type=click.Path(), multiple=True, metavar="DIR", help="Activate this OPP root instead; may be repeated, the first wins."
)
@click.option("--toolkit", metavar="DIR", help="CANN toolkit to use.  [default: ASCEND_HOME_PATH, an installed one, the simulator]")
@output_options
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD [ARGS]...")
def command(project: str | None, opp: tuple[str, ...], toolkit: str | None, argv: tuple[str, ...]) -> None:
    """Run a command with the toolkit and the deliverable activated, and pass its exit on.

    Before the command has started, opkit exits 125 for a failure of its own, 126 for a command that can't be executed
    and 127 for one that isn't there.
    """
    from opkit.run import activate

    environ = process_environment()
    found = discover(environ, option=toolkit, cwd=Path.cwd())
    announce(found)
    process.become(argv, activate(found, opp_roots(project, opp), environ))
