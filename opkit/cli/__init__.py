"""The command line: one file a command, imported only when it is asked for, and one place that turns every ending into an exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

import click

from opkit.cli.group import LazyGroup
from opkit.console import console
from opkit.errors import CommandNotExecutableError, CommandNotFoundError, OpkitError, UsageError

__all__ = ["main"]

_FAULT = 1
_USAGE = 2
_INTERRUPTED = 130
_PIPE_CLOSED = 141  # as a shell reports SIGPIPE
_FLAGS_OF_RUN = {"--json", "--quiet", "--verbose", "--help"}  # its other options have a value each


class _Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: children are stopped as after Ctrl-C; `number` decides the exit."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--json", is_flag=True, hidden=True, expose_value=False)  # main() has seen it already
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def cli(context: click.Context, version: bool) -> None:
    """Ascend custom operators from a kernel and a short Python spec: generated, built, tested and measured, with or without an NPU."""
    if version:
        console.data(f"opkit {_version()}")
        console.document({"version": _version()})
        context.exit()
    if context.invoked_subcommand is None:
        raise click.exceptions.NoArgsIsHelpError(context)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # An error can come before --json is parsed.
    console.reset(is_json="--json" in _own(arguments))
    # Who is started by nohup has SIGHUP ignored, and it stays so.
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, _terminate)
    try:
        return _run(arguments)
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


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
    return next((argument for argument in arguments if not argument.startswith("-")), None) == "run"


def _run(arguments: list[str]) -> int:  # noqa: PLR0911 - one for each way to end
    try:
        # Not cli.main(): it would take Ctrl-C and a closed pipe for itself.
        with cli.make_context("opkit", arguments) as context:
            result = cli.invoke(context)
    except OpkitError as error:
        return _report(error, arguments)
    except click.exceptions.NoArgsIsHelpError as request:
        console.say(request.format_message())
        console.document({"error": UsageError("no command").to_json()})
        return _USAGE
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as mistake:
        return _report_usage(mistake, arguments)
    except _Terminated as ending:
        return 128 + ending.number
    except (KeyboardInterrupt, click.Abort):
        console.say("interrupted")
        console.document({"error": _described("Interrupted", "interrupted", _INTERRUPTED)})
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader went away (opkit … | head); nothing may be flushed into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except Exception as fault:  # noqa: BLE001 - the last handler: whatever comes here is opkit's own fault
        return _report_fault(fault, arguments)
    return result if isinstance(result, int) else 0


def _report(error: OpkitError, arguments: list[str]) -> int:
    exit_code = _before_child(error) if _is_run(arguments) else error.exit_code
    console.error(error)
    console.document({"error": {**error.to_json(), "exit": exit_code}})
    return exit_code


def _before_child(error: OpkitError) -> int:
    """The exits of env(1): any other is the child's own."""
    if isinstance(error, CommandNotFoundError):
        return 127
    return 126 if isinstance(error, CommandNotExecutableError) else 125


def _report_usage(mistake: click.ClickException, arguments: list[str]) -> int:
    context = mistake.ctx if isinstance(mistake, click.UsageError) else None
    path = context.command_path if context else "opkit"
    return _report(UsageError(mistake.format_message().rstrip("."), help=f"{path} --help"), arguments)


def _report_fault(fault: Exception, arguments: list[str]) -> int:
    import platform
    import shlex
    import traceback

    text = "".join(traceback.format_exception(fault))
    console.say(text + "\nThis is a fault of opkit. Please report it with the lines above and these:")
    console.say(f"  opkit {_version()}, Python {platform.python_version()}, {platform.platform()}")
    console.say(f"  {shlex.join(['opkit', *arguments])}")
    message = f"{type(fault).__name__}: {fault}"
    console.document({"error": {**_described("Fault", message, _FAULT), "because": text}})
    return _FAULT


def _described(kind: str, message: str, exit_code: int) -> dict[str, object]:
    return {**OpkitError(message).to_json(), "kind": kind, "exit": exit_code}


def _version() -> str:
    from opkit import __version__

    return __version__


def _terminate(number: int, _frame: FrameType | None) -> None:
    raise _Terminated(number)
