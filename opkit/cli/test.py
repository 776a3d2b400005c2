"""`opkit test`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from opkit.build import Project, held
from opkit.cli.common import load_spec, warnings_of
from opkit.cli.finished import report as report_build
from opkit.cli.options import arch_to_run_option, output_options, project_options, toolkit_option, wait_option
from opkit.console import console
from opkit.errors import OpkitError, PrecisionError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from opkit.testing import GoldenReport
    from opkit.toolkit import Toolkit

_MOST_FAILURES = 5


@click.command("test")
@project_options
@toolkit_option
@arch_to_run_option
@click.option("--device", metavar="N", type=click.IntRange(min=0), default=0, show_default=True, help="Device to run on.")
@wait_option
@output_options
def command(*, project: Project, toolkit: Toolkit, environ: Mapping[str, str], device: int, wait: float) -> int:
    """Run every op over the sizes around its block edges, in every dtype, against its reference."""
    from opkit.run import Host, machine_of, render_table, soc_for
    from opkit.testing import GoldenReport, count_cases, run_tests

    package = load_spec(project)
    host = Host(toolkit=toolkit, environ=environ)
    relay = _Relay()
    with held(project, toolkit, environ, wait=wait) as built:
        report_build(built)
        console.step("Testing", f"{count_cases(package, soc_for(package.ops, host))} cases")
        try:
            results = run_tests(package, built, host, relay, device=device)
        except OpkitError as stopped:
            relay.release((stopped.because or "").splitlines())
            raise
    relay.release([line for result in results for line in result.reason.splitlines()])
    report = GoldenReport(machine=machine_of(host, device=device), results=results)
    head, rows = report.table()
    console.data(render_table(head, rows))
    for line in report.details(most=None if console.is_verbose else _MOST_FAILURES):
        (console.say if console.is_json else console.data)(line)
    console.data(report.summary())
    console.document({**report.to_json(), "warnings": warnings_of(package)})
    if report.passed:
        return 0
    errors = _errors_of(report)
    for error in errors:
        console.error(error)
    return errors[0].exit_code


def _errors_of(report: GoldenReport) -> tuple[OpkitError, ...]:
    """Each kernel that doesn't compile, which outranks a wrong result, then the cases that failed for another reason."""
    uncompiled = report.uncompiled
    failed = report.count()["failed"] - sum(result.error is not None for result in report.results)
    if failed:
        return (*uncompiled, PrecisionError(f"{failed} of {len(report.results)} cases failed"))
    return uncompiled or (_nothing_compared(has_run="no reference" in report.count()),)


def _nothing_compared(*, has_run: bool) -> PrecisionError:
    msg = "nothing was compared"
    if not has_run:
        return PrecisionError(msg, because="every case was skipped")
    return PrecisionError(msg, because="no op has a reference", help="give the ops reference=, a NumPy function of their inputs")


class _Relay:
    """The report tells what passed and why something failed; with --verbose the program's own lines are shown as they come."""

    def __init__(self) -> None:
        self._held: list[str] = []

    def line(self, text: str) -> None:
        console.detail(text)

    def error_line(self, text: str) -> None:
        if console.is_verbose:
            console.detail(text)
        else:
            self._held.append(text)

    def release(self, told: Collection[str]) -> None:
        """Shows what the program said on stderr and ``told`` doesn't: a warning of the simulator, a failed call of no case."""
        from opkit.run import is_told

        for text in dict.fromkeys(self._held):
            if not is_told(text, told):
                console.say(text)
