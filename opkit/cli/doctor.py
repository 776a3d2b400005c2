"""`opkit doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from opkit.build import Project
from opkit.cli.options import output_options
from opkit.console import console
from opkit.errors import MachineError, NotAProjectError, UsageError
from opkit.toolkit import discover, process_environment

if TYPE_CHECKING:
    from opkit.run import Finding

__all__ = ["command"]


@click.command("doctor")
@click.argument("project", required=False, type=click.Path())
@click.option("--explain", metavar="OP", help="Say where GE looks for this op and who registers it, instead.")
@click.option("--report", is_flag=True, help="Print what may be shown to strangers: short, without names of people, computers and folders.")
@click.option("--build-dir", type=click.Path(), metavar="DIR", help="Folder of the build.  [default: PROJECT/build]")
@click.option("--output", type=click.Path(), metavar="DIR", help="Folder of the deliverable.  [default: PROJECT/output]")
@click.option("--toolkit", metavar="DIR", help="CANN toolkit to examine.  [default: ASCEND_HOME_PATH, an installed one, the simulator]")
@output_options
def command(  # noqa: PLR0913, PLR0917 - the options of the command line
    project: str | None, explain: str | None, report: bool, build_dir: str | None, output: str | None, toolkit: str | None
) -> int:
    """Look for what would stop a build or a run here: toolkit, tools, the deliverable of PROJECT, ASCEND_CUSTOM_OPP_PATH, device.

    Exits 3 if something would, or if nobody registers the op of --explain; a warning doesn't change the exit.
    """
    environ = process_environment()
    examined = _project(project, build_dir, output)
    if explain is not None:
        if not explain.strip():
            msg = "--explain needs the type of an op"
            raise UsageError(msg, help="opkit doctor --explain AddCustom")
        if report:
            msg = "--explain and --report can't be combined"
            raise UsageError(msg, help="opkit doctor --report")
        return _explained(explain, environ, examined, toolkit)
    from opkit.run import Status, examine, report_of

    findings = examine(environ, project=examined, option=toolkit)
    failures = sum(finding.status is Status.FAIL for finding in findings)
    if report:
        shown = report_of(findings, environ, project=examined)
        console.data("\n".join(shown.lines()))
        console.document({**shown.to_json(), "failures": failures})
    else:
        _print(findings)
        console.document({"findings": [finding.to_json() for finding in findings], "failures": failures})
    return MachineError.exit_code if failures else 0


def _print(findings: list[Finding]) -> None:
    from opkit.run import Status, with_helps

    styles = {Status.OK: ("green",), Status.WARN: ("yellow", "bold"), Status.FAIL: ("red", "bold")}
    width = max(len(finding.id) for finding in findings)
    for finding, advice in with_helps(findings):
        console.data(f"{console.paint(f'{finding.status.value:<4}', *styles[finding.status])}  {finding.id:<{width}}  {finding.evidence}")
        if advice:
            console.data(f"      {'':<{width}}  {advice}")


def _explained(op: str, environ: dict[str, str], project: Project | None, option: str | None) -> int:
    from opkit.run import activated, explain

    explanation = explain(op, environ, discover(environ, option=option), first=activated(environ, project))
    console.data("\n".join(explanation.lines()))
    console.document(explanation.to_json())
    return 0 if explanation.is_found else MachineError.exit_code


def _project(folder: str | None, build_dir: str | None, output: str | None) -> Project | None:
    try:
        return Project.find(folder or ".", build_dir=build_dir, output=output)
    except NotAProjectError:
        if folder is None:
            return None  # Outside of a project the computer is what is asked about.
        raise
