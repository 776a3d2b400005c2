"""How a command ends for whoever called it: the one place that turns every ending but that by a signal into words, JSON and an exit code.

Without click, whose import may be what was interrupted.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from opkit import __version__
from opkit.console import console, discard
from opkit.errors import CommandNotExecutableError, CommandNotFoundError, MachineError, OpkitError, UnwritableError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["asks_for_help", "command_in", "ended", "interrupted", "is_json", "require_folder"]

_FAULT = 1
_INTERRUPTED = 130
_PIPE_CLOSED = 141  # as a shell reports SIGPIPE
_FLAGS_OF_RUN = {"--json", "--quiet", "--verbose", "--help"}  # its other options have a value each


def ended(arguments: list[str], run: Callable[[list[str]], int]) -> int:
    """Gives the exit code for every ending of `run` but that by a signal."""
    console.reset(is_json=is_json(arguments))
    try:
        return run(arguments)
    except OpkitError as error:
        return _report(error, arguments)
    except BrokenPipeError:
        # The reader went away (opkit … | head); nothing may be flushed into the closed pipe at exit.
        for stream in (sys.stdout, sys.stderr):
            discard(stream)
        return _PIPE_CLOSED
    except Exception as fault:  # noqa: BLE001 - the last handler: whatever comes here is opkit's own fault
        return _report_fault(fault, arguments)


def require_folder() -> None:
    """Every command has folders that count from the current one. Raises MachineError where that is gone."""
    try:
        os.getcwd()  # noqa: PTH109 - not for its value
    except OSError as fault:
        msg = "there is no current folder"
        because = f"{fault.strerror}; it was removed while this shell was in it, or lies where you may not look"
        raise MachineError(msg, because=because, help='cd "$HOME"') from fault


def _report(error: OpkitError, arguments: list[str]) -> int:
    exit_code = _before_child(error) if _is_run(arguments) else error.exit_code
    console.error(error)
    with suppress(UnwritableError):  # It may be the very error.
        console.document({"error": {**error.to_json(), "exit": exit_code}})
    return exit_code


def _before_child(error: OpkitError) -> int:
    """The exits of env(1): any other is the child's own."""
    if isinstance(error, CommandNotFoundError):
        return 127
    return 126 if isinstance(error, CommandNotExecutableError) else 125


def _report_fault(fault: Exception, arguments: list[str]) -> int:
    import platform
    import shlex
    import traceback

    text = "".join(traceback.format_exception(fault))
    console.say(text + "\nThis is a fault of opkit. Please report it with the lines above and these:")
    console.say(f"  opkit {__version__}, Python {platform.python_version()}, {platform.platform()}")
    console.say(f"  {shlex.join(['opkit', *arguments])}")
    message = f"{type(fault).__name__}: {fault}"
    console.document({"error": {**_described("Fault", message, _FAULT), "because": text}})
    return _FAULT


def interrupted(arguments: list[str]) -> int:
    """Says so, and gives the exit code."""
    console.is_json = is_json(arguments)
    console.say("interrupted")
    console.document({"error": _described("Interrupted", "interrupted", _INTERRUPTED)})
    return _INTERRUPTED


def _described(kind: str, message: str, exit_code: int) -> dict[str, object]:
    return {**OpkitError(message).to_json(), "kind": kind, "exit": exit_code}


def is_json(arguments: list[str]) -> bool:
    """Whether a document is wanted: an error can come before --json is parsed."""
    return "--json" in _own(arguments)


def asks_for_help(arguments: list[str]) -> bool:
    return not {"-h", "--help"}.isdisjoint(_own(arguments))


def _own(arguments: list[str]) -> list[str]:
    """Those that aren't the child's of `opkit run`, which begin with its first word, or behind --."""
    own: list[str] = []
    rest = iter(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    for argument in rest:
        if not argument.startswith("-") and _is_run(own):
            break
        own.append(argument)
        if _is_run(own) and argument.startswith("--") and "=" not in argument and argument not in _FLAGS_OF_RUN:
            own += [value for value in [next(rest, None)] if value is not None]
    return own


def _is_run(arguments: list[str]) -> bool:
    return command_in(arguments) == "run"


def command_in(arguments: list[str]) -> str | None:
    return next((argument for argument in arguments if not argument.startswith("-")), None)
