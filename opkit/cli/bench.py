"""`opkit bench`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from opkit.build import Project, held
from opkit.cli.common import load_spec, warnings_of
from opkit.cli.finished import report as report_build
from opkit.cli.options import arch_to_run_option, output_options, project_options, toolkit_option, wait_option
from opkit.console import Progress, console
from opkit.errors import OpkitError, PrecisionError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from opkit.run import BenchReport
    from opkit.toolkit import Toolkit

_REPEAT_LINE = "[Perf] repeat "
_SPEEDUP_LINE = "[Perf] Speedup: "


def _shapes(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> dict[str, tuple[int, ...]]:
    shapes = {}
    for value in values:
        port, equals, text = value.partition("=")
        dims = [] if text.strip() in {"", "scalar"} else text.split(",")
        if not port or not equals or not all(dim.strip().isdecimal() for dim in dims):
            msg = f"{value!r} is not like x=4096,4096, or x=scalar for a tensor of rank 0"
            raise click.BadParameter(msg)
        shapes[port] = tuple(int(dim) for dim in dims)
    return shapes


def _dtypes(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    dtypes = {}
    for value in values:
        symbol, equals, dtype = value.rpartition("=")
        # A dtype alone is told which symbols there are once the spec is known.
        if not dtype or (equals and not symbol):
            msg = f"{value!r} is not like T=float16"
            raise click.BadParameter(msg)
        dtypes[symbol] = dtype
    return dtypes


@click.command("bench")
@project_options
@toolkit_option
@arch_to_run_option
@click.option("--iters", metavar="N", type=click.IntRange(min=1), help="Executions that one repeat times.  [default: the spec's]")
@click.option("--warmup", metavar="N", type=click.IntRange(min=0), default=5, show_default=True, help="Executions before the timed ones.")
@click.option(
    "--repeat", metavar="N", type=click.IntRange(min=1), default=3, show_default=True, help="Repeats of each op, in turns with the other's."
)
@click.option(
    "--shape",
    "shapes",
    metavar="PORT=DIMS",
    multiple=True,
    callback=_shapes,
    help="Shape of an input, 4096,4096 or scalar; inputs of the same shape follow.  [default: the spec's]",
)
@click.option(
    "--dtype",
    "dtypes",
    metavar="SYMBOL=DTYPE",
    multiple=True,
    callback=_dtypes,
    help="Dtype of a symbol or port.  [default: the spec's first on this SoC]",
)
@click.option("--device", metavar="N", type=click.IntRange(min=0), default=0, show_default=True, help="Device to run on.")
@wait_option
@output_options
def command(  # noqa: PLR0913 - one argument an option
    *,
    project: Project,
    toolkit: Toolkit,
    environ: Mapping[str, str],
    iters: int | None,
    warmup: int,
    repeat: int,
    shapes: Mapping[str, tuple[int, ...]],
    dtypes: Mapping[str, str],
    device: int,
    wait: float,
) -> int:
    """Measure address refresh against its baseline, check every result, and show where the difference comes from."""
    from opkit.run import BenchRequest, Host, measure, plan_of, soc_for

    package = load_spec(project)
    request = BenchRequest(iters=iters, warmup=warmup, repeat=repeat, shapes=shapes, dtypes=dtypes, device=device)
    host = Host(toolkit=toolkit, environ=environ)
    plan = plan_of(package, request, soc_for(package.ops, host))
    with held(project, toolkit, environ, wait=wait) as built:
        report_build(built)
        with _relay(steps=repeat * len(plan.ops)) as relay:
            report = measure(package, built, host, plan, relay)
    _show(report)
    console.document({**report.to_json(), "warnings": warnings_of(package)})
    if report.passed:
        return 0
    error = PrecisionError("a result is wrong", because="\n".join(_mismatches(report)))
    console.error(error)
    return error.exit_code


class _Relay:
    """Passes the session program's lines on: at once to a log; on a terminal after the progress bar, which they would tear. Not that of the
    speedup: the report has one that says what it is worth.

    What it says on stderr comes last, without what the error that ended it says too.
    """

    def __init__(self, progress: Progress, *, is_held: bool) -> None:
        self._progress = progress
        self._is_held = is_held
        self._held: list[tuple[str, bool]] = []

    def line(self, text: str) -> None:
        if text.startswith(_SPEEDUP_LINE):
            return
        is_step = text.startswith(_REPEAT_LINE)
        if is_step:
            self._progress.advance(note=text.removeprefix(_REPEAT_LINE))
        if not self._is_held:
            _print(text, is_error=False)
        elif not is_step:
            self._held.append((text, False))

    def error_line(self, text: str) -> None:
        self._held.append((text, True))

    def release(self, told: Collection[str]) -> None:
        from opkit.run import is_told

        for text, is_error in self._held:
            if not is_error or not is_told(text, told):
                _print(text, is_error=is_error)


@contextmanager
def _relay(steps: int) -> Iterator[_Relay]:
    relay = None
    told: list[str] = []
    try:
        with console.progress("measuring", steps) as progress:
            relay = _Relay(progress, is_held=console.is_terminal)
            yield relay
    except OpkitError as error:
        told = (error.because or "").splitlines()
        raise
    finally:
        if relay is not None:
            relay.release(told)


def _print(text: str, *, is_error: bool) -> None:
    # With --json stdout holds the document alone.
    (console.say if is_error or console.is_json else console.data)(text)


def _show(report: BenchReport) -> None:
    from opkit.run import render_table

    speedup = report.speedup_line()
    if speedup is not None:
        _print(speedup, is_error=False)
    _print(report.machine.label, is_error=False)
    if console.is_terminal:
        head, rows = report.times()
        _print(render_table(head, rows), is_error=False)
    if report.speedup is None:
        return
    if isinstance(report.analysis, str):
        _print(f"no analysis: {report.analysis}", is_error=False)
        return
    head, rows = report.sources()
    _print(render_table(head, rows, title="Where the extra time goes, mean per run:"), is_error=False)
    if report.analysis.why_no_share:
        _print(report.analysis.why_no_share, is_error=False)


def _mismatches(report: BenchReport) -> Iterator[str]:
    from opkit.run import check_lines

    for case in report.cases:
        yield from (f"{case.op}: {line}" if not line.startswith(" ") else line for line in check_lines(case.precision))
