"""`opkit clean`."""

from __future__ import annotations

import click

from opkit.build import Project
from opkit.build import clean as clean_project
from opkit.cli.options import output_options, project_options, wait_option
from opkit.console import console

__all__ = ["command"]


@click.command("clean")
@project_options
@wait_option
@output_options
def command(project: Project, wait: float) -> None:
    """Remove the build folder of PROJECT and opkit's files in its output folder.

    Only what opkit made is removed; generated files of the project stay, because they are committed.
    """
    removed = clean_project(project, wait=wait)
    for path in removed:
        console.step("Removed", project.shown(path))
    if not removed:
        console.say("nothing to remove")
    console.document({"removed": [str(path) for path in removed]})
