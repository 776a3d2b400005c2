"""`opkit toolkit path|env|list|build`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from opkit.cli.common import SHELLS
from opkit.cli.group import NamingGroup
from opkit.cli.options import arch_option, output_options, toolkit_option
from opkit.console import console
from opkit.toolkit import ARCHITECTURES, Candidate, Toolkit, candidates, process_environment

__all__ = ["command"]


@click.group("toolkit", cls=NamingGroup)
def command() -> None:
    """Show which toolkit is used and which others are there; build the simulator for another processor."""


@command.command("path")
@toolkit_option
@arch_option
@output_options
def path(toolkit: Toolkit, environ: Mapping[str, str]) -> None:  # noqa: ARG001 - every user of --toolkit gets it
    """Print the folder of the toolkit in use: ASCEND_HOME_PATH for a build by hand.

    With --arch that of the one for another processor; the simulator is built for it if it wasn't yet.
    """
    console.data(str(toolkit.home))
    console.document(as_document(toolkit))


@command.command("env")
@click.option("--shell", type=click.Choice(SHELLS), default="sh", show_default=True, help="fish, or one that reads the lines of sh.")
@toolkit_option
@output_options
def env(toolkit: Toolkit, environ: Mapping[str, str], shell: str) -> None:
    """Print the lines that activate the toolkit alone in the current shell."""
    from opkit.run import HOME, LIBRARIES, activate, lines_for

    console.data("\n".join(lines_for(shell, toolkit, [], environ)))
    environment = activate(toolkit, [], environ)
    console.document({name: environment[name] for name in (HOME, LIBRARIES)})


@command.command("list")
@click.option("--toolkit", metavar="DIR", help="CANN toolkit to look at first.")
@output_options
def list_(toolkit: str | None) -> None:
    """Print every toolkit that is named or found, in the order of preference, and what the simulator was built for besides."""
    from opkit.toolkit.variants import built_variants

    environ = process_environment()
    found = [*candidates(environ, option=toolkit, cwd=Path.cwd()), *built_variants(environ)]
    for candidate in found:
        console.data(_line(candidate))
    console.document(
        [
            {"path": str(each.path), "reason": each.reason, "refusal": each.refusal, **(as_document(each.toolkit) if each.toolkit else {})}
            for each in found
        ]
    )


@command.command("build")
@click.option("--arch", type=click.Choice(ARCHITECTURES), required=True, help="Processor to build the simulator for.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Compile at most N files at once.  [default: cores and memory]")
@click.option("--wait", type=click.FloatRange(min=0), default=600.0, show_default=True, help="Seconds to wait for another opkit.")
@output_options
def build(arch: str, jobs: int | None, wait: float) -> None:
    """Build the bundled simulator for another processor, if it isn't yet.

    It stays in the user's cache folder until opkit or the compiler changes. Commands with --arch do this themselves when they need it.
    """
    from opkit.build.jobs import default_jobs
    from opkit.toolkit.variants import build_variant

    variant = build_variant(arch, process_environment(), jobs=jobs or default_jobs(), wait=wait)
    if variant.seconds is None:
        console.say(f"nothing to build: {variant.toolkit.reason}")
    console.data(str(variant.toolkit.home))
    console.document({**as_document(variant.toolkit), "seconds": None if variant.seconds is None else round(variant.seconds, 3)})


def as_document(toolkit: Toolkit) -> dict[str, object]:
    return {
        "home": str(toolkit.home),
        "kind": toolkit.kind.value,
        "version": toolkit.version,
        "abi": toolkit.abi,
        "arch": toolkit.arch,
        "reason": toolkit.reason,
    }


def _line(candidate: Candidate) -> str:
    return (
        f"{candidate.path}  {candidate.toolkit.label if candidate.toolkit else 'refused: ' + str(candidate.refusal)}  ({candidate.reason})"
    )
