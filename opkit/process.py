"""The only spawner: argument lists without a shell, a session for each child, and an interrupt that reaches all that the child started."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, NamedTuple, NoReturn, TypeVar

from opkit.console import console
from opkit.errors import CommandNotExecutableError, CommandNotFoundError

__all__ = ["Command", "Finished", "become", "run", "run_together", "session_members"]

Argv = Sequence["str | os.PathLike[str]"]
_Child = subprocess.Popen  # noqa: TID251 - this is the one place
_Key = TypeVar("_Key")

# Ninja and compilers need a moment after SIGINT to remove their partial outputs.
_LADDER = ((signal.SIGINT, 3.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0))


class Finished(NamedTuple):
    """A child that ended. `exit` is its exit code, or minus the number of the signal that ended it."""

    argv: tuple[str, ...]
    exit: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        return self.exit == 0 and not self.timed_out

    @property
    def shell_exit(self) -> int:
        """The exit as a shell would give it: 128 + signal for a child that a signal ended."""
        return self.exit if self.exit >= 0 else 128 - self.exit


class Command(NamedTuple):
    """One of several children; each part is as for `run`."""

    argv: Argv
    cwd: Path | None = None
    env: Mapping[str, str] | None = None


def run(  # noqa: PLR0913 - each is one independent wish
    argv: Argv,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    merge: bool = False,
    on_line: Callable[[str], None] | None = None,
    on_error_line: Callable[[str], None] | None = None,
    on_start: Callable[[int], None] | None = None,
    timeout: float | None = None,
) -> Finished:
    """Runs a child to its end and captures what it prints; `merge` puts stderr into stdout in the order it was written.

    `on_line` sees each line of stdout as it comes, without its newline, `on_error_line` each of stderr; `on_start`
    gets the number of the child's session. The child's stdin is empty.
    A timeout, an exception in a callback and Ctrl-C stop the child's whole session by SIGINT, then SIGTERM, then SIGKILL;
    a timeout is reported in the result, the rest propagates. Raises CommandNotFoundError or CommandNotExecutableError.
    """
    arguments = tuple(os.fspath(part) for part in argv)
    console.command(arguments)
    started = time.monotonic()
    child = _spawn(arguments, cwd, env, merge=merge)
    sinks = [_Sink(child.stdout, on_line), _Sink(child.stderr, on_error_line)]
    timed_out = False
    try:
        if on_start is not None:
            on_start(child.pid)
        timed_out = not _drain(child, sinks, None if timeout is None else started + timeout)
        if timed_out:
            _stop(child)
    except BaseException:
        _stop(child)
        raise
    finally:
        for sink in sinks:
            sink.close()
    return Finished(
        argv=arguments,
        exit=child.wait(),
        stdout=sinks[0].text(),
        stderr=sinks[1].text(),
        seconds=time.monotonic() - started,
        timed_out=timed_out,
    )


def run_together(commands: Iterable[tuple[_Key, Command]], *, at_once: int) -> Generator[tuple[_Key, Finished], None, None]:
    """Runs each as `run` does, `at_once` at a time, and gives each with its key as it ends; the next is asked for when there is room.

    Whoever closes the iterator before its end stops all that run, as do an exception and Ctrl-C.
    """
    upcoming, running = iter(commands), list[_Running[_Key]]()
    try:
        with selectors.DefaultSelector() as selector:
            while True:
                while len(running) < at_once and (following := next(upcoming, None)) is not None:
                    running.append(_Running(*following, selector))
                if not running:
                    return
                for key, _ in selector.select():
                    key.data[0].take(key, selector)
                for ended in [each for each in running if not each.is_open]:
                    finished = ended.finished()
                    running.remove(ended)
                    yield ended.key, finished
    finally:
        # All of them first, so that they end at the same time.
        for each in running:
            _signal_group(each.child.pid, _LADDER[0][0])
        for each in running:
            _stop(each.child)
            each.close()


def become(argv: Argv, env: Mapping[str, str]) -> NoReturn:
    """Replaces opkit by the command: its exit, its signals and its terminal are then the caller's own, with nothing of opkit between."""
    arguments = [os.fspath(part) for part in argv]
    console.command(arguments)
    # Python ignores these for itself, and what is ignored stays so over exec. Handlers don't, and what the caller ignored must.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(arguments[0], arguments, dict(env))  # noqa: S606 - no shell is the point
    except OSError as fault:
        raise _cannot_start(arguments[0], fault) from fault


class _Sink:
    """One stream of a child: bytes in, whole lines out."""

    def __init__(self, pipe: object, on_line: Callable[[str], None] | None) -> None:
        self.pipe = pipe if hasattr(pipe, "fileno") else None
        self._on_line = on_line
        self._chunks: list[bytes] = []
        self._rest = b""

    def take(self, chunk: bytes) -> None:
        self._chunks.append(chunk)
        if self._on_line is None:
            return
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._on_line(_decoded(line).rstrip("\r"))

    def finish(self) -> None:
        if self._rest and self._on_line is not None:
            self._on_line(_decoded(self._rest))
        self._rest = b""

    def text(self) -> str:
        return _decoded(b"".join(self._chunks))

    def close(self) -> None:
        if self.pipe is not None:
            self.pipe.close()  # type: ignore[attr-defined]


class _Running(Generic[_Key]):
    """A child among others, until its pipes are closed."""

    def __init__(self, key: _Key, command: Command, selector: selectors.BaseSelector) -> None:
        self.key = key
        self._arguments = tuple(os.fspath(part) for part in command.argv)
        console.command(self._arguments)
        self._started = time.monotonic()
        self.child = _spawn(self._arguments, command.cwd, command.env, merge=False)
        self._sinks = [_Sink(self.child.stdout, None), _Sink(self.child.stderr, None)]
        self._open = len(self._sinks)
        for sink in self._sinks:
            selector.register(sink.pipe, selectors.EVENT_READ, (self, sink))

    @property
    def is_open(self) -> bool:
        return self._open > 0

    def take(self, key: selectors.SelectorKey, selector: selectors.BaseSelector) -> None:
        chunk = os.read(key.fd, 1 << 16)
        if chunk:
            key.data[1].take(chunk)
        else:
            selector.unregister(key.fileobj)
            self._open -= 1

    def finished(self) -> Finished:
        done = Finished(
            argv=self._arguments,
            exit=self.child.wait(),
            stdout=self._sinks[0].text(),
            stderr=self._sinks[1].text(),
            seconds=time.monotonic() - self._started,
        )
        self.close()
        return done

    def close(self) -> None:
        for sink in self._sinks:
            sink.close()


def _spawn(arguments: tuple[str, ...], cwd: Path | None, env: Mapping[str, str] | None, *, merge: bool) -> _Child[bytes]:
    if cwd is not None and not cwd.is_dir():
        msg = f"cannot start {arguments[0]} in {cwd}: no such folder"
        raise CommandNotFoundError(msg)
    try:
        return _Child(
            arguments,
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merge else subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
    except OSError as fault:
        raise _cannot_start(arguments[0], fault) from fault


def _drain(child: _Child[bytes], sinks: Sequence[_Sink], deadline: float | None) -> bool:
    """Feeds the sinks until the child has ended and its pipes are empty; gives False when the deadline passed first."""
    with selectors.DefaultSelector() as selector:
        for sink in sinks:
            if sink.pipe is not None:
                selector.register(sink.pipe, selectors.EVENT_READ, sink)
        while selector.get_map():
            wait = None if deadline is None else deadline - time.monotonic()
            if wait is not None and wait <= 0:
                return False
            for key, _ in selector.select(wait):
                chunk = os.read(key.fd, 1 << 16)
                if chunk:
                    key.data.take(chunk)
                else:
                    selector.unregister(key.fileobj)
                    key.data.finish()
    try:
        child.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _stop(child: _Child[bytes]) -> None:
    for number, patience in _LADDER:
        _signal_group(child.pid, number)
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        except KeyboardInterrupt:
            continue  # A second Ctrl-C climbs the ladder instead of leaving compilers behind.
        break
    # Ninja gives each compiler a process group of its own, so the group of the leader isn't all: whoever is still in the session ends here.
    for pid in session_members(child.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    child.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def session_members(session: int) -> list[int]:
    """The living processes of a session, as /proc knows them."""
    members = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            # The command name in field 2 may hold spaces and brackets; the fields after its last bracket are state, ppid, pgrp, session.
            state, _, _, sid = Path(entry.path, "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if int(sid) == session and state not in "ZX":
            members.append(int(entry.name))
    return members


def _cannot_start(program: str, fault: OSError) -> CommandNotFoundError | CommandNotExecutableError:
    if isinstance(fault, FileNotFoundError | NotADirectoryError):
        return CommandNotFoundError(f"command not found: {program}")
    return CommandNotExecutableError(f"cannot execute {program}", because=fault.strerror)


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
