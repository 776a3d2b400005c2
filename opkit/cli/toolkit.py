"""`opkit toolkit path|env|list`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from opkit.cli.common import output_options, toolkit_option
from opkit.console import console
from opkit.toolkit import Candidate, Toolkit, candidates, process_environment

__all__ = ["command"]


@click.group("toolkit")
def command() -> None:
    """Show which toolkit is used and which others are there."""


@command.command("path")
@toolkit_option
@output_options
def path(toolkit: Toolkit, environ: Mapping[str, str]) -> None:  # noqa: ARG001 - every user of --toolkit gets it
    """Print the folder of the toolkit in use: ASCEND_HOME_PATH for a build by hand."""
    console.data(str(toolkit.home))
    console.document(as_document(toolkit))


@command.command("env")
@click.option("--shell", type=click.Choice(["sh", "fish"]), default="sh", show_default=True, help="sh is right for bash, dash and zsh.")
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
    """Print every toolkit that is named or found, the one in use first."""
    found = candidates(process_environment(), option=toolkit, cwd=Path.cwd())
    for candidate in found:
        console.data(_line(candidate))
    console.document(
        [
            {"path": str(each.path), "reason": each.reason, "refusal": each.refusal, **(as_document(each.toolkit) if each.toolkit else {})}
            for each in found
        ]
    )


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
