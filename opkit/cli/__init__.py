"""The command line: one file a command, imported only when it is asked for. Here a process of opkit begins and is stopped.

Nothing is imported before `main` runs: all that a command needs takes a tenth of a second, and Ctrl-C may come as soon as that.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # Not that of typing, whose import is a tenth of that time.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

__all__ = ["main"]


class _Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: children are stopped as after Ctrl-C; `number` decides the exit."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    if argv is not None:
        return _ended(list(argv))
    import gc

    # What imports make stays until the end: to look for garbage among it, now and when Python ends, takes a sixth of a warm build.
    gc.set_threshold(50_000)
    try:
        return _ended(sys.argv[1:])
    finally:
        gc.freeze()


def _ended(arguments: list[str]) -> int:
    try:
        return _run(arguments)
    except _Terminated as ending:
        return 128 + ending.number
    except KeyboardInterrupt:
        from opkit.cli.endings import interrupted

        return interrupted(arguments)


def _run(arguments: list[str]) -> int:
    import signal

    # Who is started by nohup has SIGHUP ignored, and it stays so.
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, _terminate)
    try:
        from opkit.cli.endings import ended

        return ended(arguments, _command)
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _command(arguments: list[str]) -> int:
    # What is typed all day; with an option click reads it.
    if arguments[:1] == ["build"] and len(arguments) <= 2 and not any(word.startswith("-") for word in arguments):
        from opkit.cli.plain import build_plainly

        if build_plainly(arguments[1:]):
            return 0
    from opkit.cli.root import run

    return run(arguments)


def _terminate(number: int, _frame: FrameType | None) -> None:
    raise _Terminated(number)
