"""`opkit run`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from opkit import process
from opkit.cli.activation import Wanted, activation_options
from opkit.cli.common import announce, prefix_to_read, python_of, toolkit_of, warn_of_other_processors
from opkit.cli.options import arch_click_option, output_options
from opkit.errors import CommandNotExecutableError, CommandNotFoundError, NotAProjectError, OpkitError
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
    try:
        roots = wanted.roots(environ)
        found = toolkit_of(arch, found, environ)
        warn_of_other_processors(found, roots)
        process.become(argv, activate(found, roots, environ))
    except (NotAProjectError, CommandNotFoundError, CommandNotExecutableError) as error:
        if wanted.project is None and not wanted.opp:
            error.help = _with_command(argv, wanted, environ) or error.help
        raise


def _with_command(argv: Sequence[str], wanted: Wanted, environ: Mapping[str, str]) -> str | None:
    """What to write, if the first word is what shall be activated, and not what shall be run with it."""
    named, *command = argv
    if os.path.isfile(os.path.join(named, "ops.py")):  # noqa: PTH113, PTH118 - Path's raises for a name that is too long
        options = ["--project", named]
    else:
        package = named.replace("-", "_")
        sources = [("--prefix", wanted.prefix), ("--python", wanted.python)]
        options = [word for option, value in sources if value is not None for word in (option, value)] + ["--package", package]
        if not _is_installed(package, wanted, environ):
            return None
    return f"{shlex.join(['opkit', 'run', *options])} -- {shlex.join(command) or 'CMD'}"


def _is_installed(package: str, wanted: Wanted, environ: Mapping[str, str]) -> bool:
    from opkit.run import Sources, candidates

    try:
        sources = Sources(prefix=prefix_to_read(wanted.prefix, environ), python=python_of(wanted.python))
        return any(each.package == package and not each.faults for each in candidates(sources))
    except OpkitError:  # The one that was raised already is the one to tell.
        return False
