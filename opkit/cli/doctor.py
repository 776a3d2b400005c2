"""`opkit doctor`."""

from __future__ import annotations

import click

from opkit.build import Project
from opkit.cli.common import output_options
from opkit.console import console
from opkit.errors import MachineError, NotAProjectError
from opkit.toolkit import process_environment

__all__ = ["command"]


@click.command("doctor")
@click.argument("project", required=False, type=click.Path())
@click.option("--build-dir", type=click.Path(), metavar="DIR", help="Folder of the build.  [default: PROJECT/build]")
@click.option("--output", type=click.Path(), metavar="DIR", help="Folder of the deliverable.  [default: PROJECT/output]")
@click.option("--toolkit", metavar="DIR", help="CANN toolkit to examine.  [default: ASCEND_HOME_PATH, an installed one, the simulator]")
@output_options
def command(project: str | None, build_dir: str | None, output: str | None, toolkit: str | None) -> int:
    """Look for what would stop a build or a run here: toolkit, tools, the deliverable of PROJECT, ASCEND_CUSTOM_OPP_PATH, device.

    Exits 3 if something would; a warning doesn't change the exit.
    """
    from opkit.run import Status, examine

    findings = examine(process_environment(), project=_project(project, build_dir, output), option=toolkit)
    styles = {Status.OK: ("green",), Status.WARN: ("yellow", "bold"), Status.FAIL: ("red", "bold")}
    width = max(len(finding.id) for finding in findings)
    for finding in findings:
        console.data(f"{console.paint(f'{finding.status.value:<4}', *styles[finding.status])}  {finding.id:<{width}}  {finding.evidence}")
        if finding.help and finding.status is not Status.OK:
            console.data(f"      {'':<{width}}  help: {finding.help}")
    failures = sum(finding.status is Status.FAIL for finding in findings)
    console.document(
        {
            "findings": [
                {"id": finding.id, "status": finding.status.value, "evidence": finding.evidence, "help": finding.help}
                for finding in findings
            ],
            "failures": failures,
        }
    )
    return MachineError.exit_code if failures else 0


def _project(folder: str | None, build_dir: str | None, output: str | None) -> Project | None:
    try:
        return Project.find(folder or ".", build_dir=build_dir, output=output)
    except NotAProjectError:
        if folder is None:
            return None  # Outside of a project the computer is what is asked about.
        raise
