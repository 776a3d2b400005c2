"""The only printer: text for people goes to stderr, data to stdout, and ``--json`` leaves exactly one document on stdout."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from opkit.errors import OpkitError
    from opkit.spec import SpecWarning

__all__ = ["Console", "Progress", "console", "discard"]

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Progress(Protocol):
    def advance(self, steps: int = 1, *, note: str | None = None) -> None: ...


class Console:
    """Streams are looked up at each call, so that a test or a pager may replace them."""

    def __init__(self) -> None:
        self.reset()

    def reset(self, *, is_json: bool = False) -> None:
        """Forgets the options of the command before; one process may run several."""
        self.is_json = is_json
        self.is_verbose = False
        self.is_quiet = False
        self._warned: set[SpecWarning] = set()
        self._warned_once: set[str] = set()

    def say(self, text: str = "") -> None:
        """A line for people."""
        if not self.is_quiet:
            _write(sys.stderr, text + "\n")

    def step(self, verb: str, text: str) -> None:
        """One thing that was done: a right-aligned verb and its object."""
        self.say(f"{self.paint(f'{verb:>12}', 'green', 'bold')} {text}")

    def failure(self, verb: str, text: str) -> None:
        """As `step`, of what went wrong: what follows would have no heading if --quiet took it."""
        _write(sys.stderr, f"{self.paint(f'{verb:>12}', 'red', 'bold')} {text}\n")

    def detail(self, text: str) -> None:
        """A line for people who asked for more with --verbose."""
        if self.is_verbose:
            _write(sys.stderr, self.paint(text, "dim") + "\n")

    def command(self, argv: Sequence[str | os.PathLike[str]]) -> None:
        if self.is_verbose:
            import shlex

            self.detail("+ " + shlex.join(os.fspath(part) for part in argv))

    def warn(self, text: str, *, help: str | None = None, is_once: bool = False) -> None:  # noqa: A002 - the word that is printed
        """`is_once`: however often the command comes to it."""
        if is_once and text in self._warned_once:
            return
        self._warned_once.add(text)
        _write(sys.stderr, f"{self.paint('warning:', 'yellow', 'bold')} {text}\n")
        if help:
            _write(sys.stderr, f"  help: {help}\n")

    def error(self, error: OpkitError) -> None:
        _write(sys.stderr, "".join(f"{self._labelled(line)}\n" for line in error.render().split("\n")))

    def warnings(self, warnings: Iterable[SpecWarning]) -> None:
        """Those of a spec: each once a command, however often that loads the spec."""
        for warning in warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                label, separator, rest = warning.render().partition(": ")
                _write(sys.stderr, f"{self.paint(label, 'yellow', 'bold')}{separator}{rest}\n")

    def _labelled(self, line: str) -> str:
        label, separator, message = line.partition(": ")
        return self.paint(label, "red", "bold") + separator + message if line.startswith("error[") else line

    def block(self, text: str) -> None:
        """What another opkit said to people, as it stands; it was asked to be as quiet as this one is."""
        _write(sys.stderr, text if text.endswith("\n") else text + "\n")

    def data(self, text: str) -> None:
        """What the command was asked for; with --json a command calls `document` instead."""
        if not self.is_json:
            _write(sys.stdout, text if text.endswith("\n") else text + "\n")

    def document(self, value: Any) -> None:  # noqa: ANN401 - any JSON document
        """The one JSON document of a command; without --json it isn't printed."""
        if self.is_json:
            _write(sys.stdout, json.dumps(value, indent=2) + "\n")

    @property
    def is_terminal(self) -> bool:
        """Whether a person watches stderr: progress and questions are only for a terminal."""
        return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def has_color(self) -> bool:
        if os.environ.get("NO_COLOR"):
            return False
        return bool(os.environ.get("FORCE_COLOR")) or self.is_terminal

    def paint(self, text: str, *styles: str) -> str:
        if not self.has_color:
            return text
        return f"\x1b[{';'.join(_STYLES[style] for style in styles)}m{text}\x1b[0m"

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Progress]:
        """A bar on a terminal; silence elsewhere, so that logs hold only lines with content."""
        if self.is_quiet or not self.is_terminal:
            yield _Silent()
            return
        # rich is only worth its 36 ms where a person sees it.
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
        )
        with RichProgress(*columns, console=RichConsole(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=total, note="")

            class _Bar:
                def advance(self, steps: int = 1, *, note: str | None = None) -> None:
                    if note is None:
                        bar.update(task, advance=steps)
                    else:
                        bar.update(task, advance=steps, note=note)

            yield _Bar()


class _Silent:
    def advance(self, steps: int = 1, *, note: str | None = None) -> None:
        pass


def discard(stream: TextIO | None) -> None:
    """Lets a stream that refuses what is written to it take all that is left in it, which Python tries again to write when it ends."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _write(stream: TextIO | None, text: str) -> None:
    """Raises BrokenPipeError, and UnwritableError for data that can't be written. What is for people alone may get lost: who closed
    stderr, or has no space left for it, wants the rest all the same.
    """
    try:
        _write_to(stream, text)
    except BrokenPipeError:
        raise
    except OSError as fault:
        discard(stream)
        if stream is not sys.stderr:
            from opkit.errors import UnwritableError

            msg = "cannot write to stdout"
            raise UnwritableError(msg, because=fault.strerror) from fault


def _write_to(stream: TextIO | None, text: str) -> None:
    if stream is None:  # What Python has for one that is closed.
        raise OSError(errno.EBADF, "it is closed")
    try:
        stream.write(text)
    except UnicodeEncodeError:
        # A path that isn't UTF-8 arrives with surrogates; the terminal gets its bytes back.
        stream.buffer.write(text.encode("utf-8", "surrogateescape"))
    stream.flush()


console = Console()
