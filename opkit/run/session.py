"""One run of a project's session program: its command line, the relay of what it prints, and its JSON report as values.

The report is written by another process, so it is checked field by field; the program itself decides what is right and wrong, opkit only
reads it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from opkit import process
from opkit.errors import CompileError, DeviceError, OpkitError, SessionError, UsageError
from opkit.run.breakdown import TimedRuns
from opkit.run.case import shape_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

__all__ = ["Check", "Listener", "Mismatch", "SessionCase", "SessionReport", "SessionRequest", "is_told", "run_session"]

# What the generated programs say: the kernel loader before the log of a kernel that didn't compile, and session_run of a device that isn't
# there.
_RTC_MARK = "does not compile"
_NO_DEVICE_MARK = "there is no device"
_USAGE_EXIT = 2
_SHOWN_LINES = 8
# What the simulator and the generated programs put before a message.
_ORIGIN = re.compile(r"^(opkit simulator|\[[A-Z]+\] \S+:\d+): ")


@attrs.frozen(kw_only=True)
class Mismatch:
    """One wrong element: its flat index and the two values as the session program prints them."""

    index: int
    expected: str
    got: str


@attrs.frozen(kw_only=True)
class Check:
    """The comparison of one output of one memory set with its expectation."""

    set: int
    port: str
    passed: bool
    max_error: float
    mismatches: int
    first: tuple[Mismatch, ...]


@attrs.frozen(kw_only=True)
class SessionCase:
    """What one case came to. ``samples_us`` holds the total time of each repeat, none for a case that is wrong or was only checked.

    ``folder`` is empty without ``--case``. ``error`` is the failed call that ended a case, which then has no ``precision``.
    """

    folder: str
    op: str
    refresh: str
    shapes: Mapping[str, tuple[int, ...]]
    dtypes: Mapping[str, str]
    samples_us: tuple[float, ...]
    timed: TimedRuns
    precision: tuple[Check, ...]
    error: str | None = None

    @property
    def passed(self) -> bool:
        return self.error is None and all(check.passed for check in self.precision)


@attrs.frozen(kw_only=True)
class SessionReport:
    iters: int
    warmup: int
    repeats: int
    cases: tuple[SessionCase, ...]


@attrs.frozen(kw_only=True)
class SessionRequest:
    """What to run, behind ``launcher`` if it is for another processor. ``report`` is where the program writes its JSON; an option that is
    None is left to the program's own default.

    Without ``cases`` the program makes its own inputs, of ``shapes`` by input and ``dtypes`` by symbol, and compares the ops with each
    other.
    """

    program: Path
    report: Path
    launcher: tuple[str, ...] = ()
    cases: tuple[Path, ...] = ()
    shapes: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)
    dtypes: Mapping[str, str] = attrs.field(factory=dict)
    iters: int | None = None
    warmup: int | None = None
    repeat: int | None = None
    device: int | None = None
    is_check_only: bool = False

    def argv(self) -> list[str]:
        words = [*self.launcher, str(self.program), "--json", str(self.report)]
        for case in self.cases:
            words += ["--case", str(case)]
        for port, shape in self.shapes.items():
            words += ["--shape", f"{port}={shape_text(shape)}"]
        for symbol, dtype in self.dtypes.items():
            words += ["--dtype", f"{symbol}={dtype}"]
        for option in ("iters", "warmup", "repeat", "device"):
            value = getattr(self, option)
            if value is not None:
                words += [f"--{option}", str(value)]
        if self.is_check_only:
            words.append("--check-only")
        return words


class Listener(Protocol):
    """Who hears what a session program prints, line by line, as it comes."""

    def line(self, text: str) -> None: ...
    def error_line(self, text: str) -> None: ...


def run_session(request: SessionRequest, environment: Mapping[str, str], listener: Listener) -> SessionReport:
    """Runs the program in ``environment`` and gives its report, wrong results included.

    Raises CompileError if a kernel didn't compile, DeviceError if the device isn't there, UsageError if the program refused its command
    line, and SessionError if it ended without a report (a failed call, a signal).
    """
    request.report.unlink(missing_ok=True)
    watch = _CompileWatch(listener)
    ended = process.run(request.argv(), env=environment, on_line=listener.line, on_error_line=watch.line)
    watch.finish()
    if request.report.is_file():
        return read_report(request.report)
    raise _failure(request.program.name, ended)


def is_told(line: str, told: Collection[str]) -> bool:
    """Whether one of the lines ``told`` says what ``line`` says, or that says nothing. A runtime prints what it finds in a kernel, and the
    program whose call fails for it prints that again, with the call before it.
    """
    message = _ORIGIN.sub("", line).strip()
    return not message or any(message in other or (other.strip() and other.strip() in line) for other in told)


class _CompileWatch:
    """Ends the program at the first kernel that doesn't compile: each further case would only compile it again."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._log: list[str] | None = None

    def line(self, text: str) -> None:
        self._listener.error_line(text)
        if self._log is None:
            self._log = [] if _RTC_MARK in text else None
        elif text.startswith("["):
            self.finish()
        elif text.strip():
            self._log.append(text)

    def finish(self) -> None:
        """Raises CompileError with the compiler's own lines, each once."""
        if self._log is not None:
            msg = "a kernel doesn't compile"
            raise CompileError(msg, because="\n".join(list(dict.fromkeys(self._log))[:_SHOWN_LINES]))


def read_report(file: Path) -> SessionReport:
    """Raises SessionError for a file that isn't a report of schema 1."""
    try:
        fields = json.loads(file.read_text(encoding="utf-8"))
        return SessionReport(
            iters=int(fields["iters"]),
            warmup=int(fields["warmup"]),
            repeats=int(fields["repeats"]),
            cases=tuple(_case(case) for case in fields["cases"]),
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        msg = "the session program's report can't be read"
        raise SessionError(msg, where=str(file), because=f"{type(error).__name__}: {error}") from error


def _case(fields: Mapping[str, Any]) -> SessionCase:
    inputs: Sequence[Mapping[str, Any]] = fields["inputs"]
    spans = tuple((int(first), int(count)) for first, count in fields["timed_runs"])
    return SessionCase(
        folder=str(fields["case"]),
        op=str(fields["op"]),
        refresh=str(fields["refresh"]),
        shapes={str(tensor["port"]): tuple(int(dim) for dim in tensor["shape"]) for tensor in inputs},
        dtypes={str(tensor["port"]): str(tensor["dtype"]) for tensor in inputs},
        samples_us=tuple(float(sample) for sample in fields["samples_us"]),
        timed=TimedRuns(graph_id=int(fields["graph_id"]), spans=spans),
        precision=tuple(_check(check) for check in fields["precision"]),
        error=None if fields.get("error") is None else str(fields["error"]),
    )


def _check(fields: Mapping[str, Any]) -> Check:
    return Check(
        set=int(fields["set"]),
        port=str(fields["port"]),
        passed=bool(fields["passed"]),
        # JSON has no NaN: an error that is no number comes as null.
        max_error=float("nan") if fields["max_error"] is None else float(fields["max_error"]),
        mismatches=int(fields["mismatches"]),
        first=tuple(Mismatch(index=int(item["index"]), expected=str(item["expected"]), got=str(item["got"])) for item in fields["first"]),
    )


def _failure(program: str, ended: process.Finished) -> OpkitError:
    lines: list[str] = []
    for line in reversed(ended.stderr.splitlines()):
        if not is_told(line, lines):
            lines.insert(0, line)
    because = "\n".join(lines[-_SHOWN_LINES:]) or f"it printed nothing and exited with {ended.shell_exit}"
    if any(_NO_DEVICE_MARK in line for line in lines):
        return DeviceError("no such device", because=because)
    if ended.exit == _USAGE_EXIT:
        return UsageError(f"{program} refused its command line", because=because)
    if ended.exit < 0:
        return SessionError(f"{program} was ended by signal {-ended.exit}", because=because)
    return SessionError(f"{program} stopped with exit {ended.exit} before it had a result", because=because)
