"""The command that all others are below, and the one place that turns every ending but that by a signal into an exit code."""

from __future__ import annotations

import os
import sys

import click

from opkit.cli.endings import asks_for_help, command_in, described, interrupted, is_json, is_run
from opkit.cli.group import LazyGroup
from opkit.console import console
from opkit.errors import CommandNotExecutableError, CommandNotFoundError, MachineError, OpkitError, UsageError

__all__ = ["cli", "run"]

_FAULT = 1
_USAGE = 2
_PIPE_CLOSED = 141  # as a shell reports SIGPIPE


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


def _require_folder() -> None:
    """Every command has folders that count from the current one. Raises MachineError where that is gone."""
    try:
        os.getcwd()  # noqa: PTH109 - not for its value
    except OSError as fault:
        msg = "there is no current folder"
        because = f"{fault.strerror}; it was removed while this shell was in it, or lies where you may not look"
        raise MachineError(msg, because=because, help='cd "$HOME"') from fault


def run(arguments: list[str]) -> int:  # noqa: PLR0911 - one for each way to end
    """Gives the exit code for every ending but that by a signal."""
    console.reset(is_json=is_json(arguments))
    try:
        # Not cli.main(): it would take Ctrl-C and a closed pipe for itself.
        with cli.make_context("opkit", arguments) as context:
            if command_in(arguments) is not None and not asks_for_help(arguments):
                _require_folder()
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
    except click.Abort:
        return interrupted(arguments)
    except BrokenPipeError:
        # The reader went away (opkit … | head); nothing may be flushed into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except Exception as fault:  # noqa: BLE001 - the last handler: whatever comes here is opkit's own fault
        return _report_fault(fault, arguments)
    return result if isinstance(result, int) else 0


def _report(error: OpkitError, arguments: list[str]) -> int:
    exit_code = _before_child(error) if is_run(arguments) else error.exit_code
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
    path = context.command_path if context else " ".join(filter(None, ("opkit", command_in(arguments))))
    return _report(UsageError(mistake.format_message().rstrip("."), help=_meant(mistake) or f"{path} --help"), arguments)


def _meant(mistake: click.ClickException) -> str | None:
    """Of a word that an option doesn't take, the nearest one that it does."""
    kind = mistake.param.type if isinstance(mistake, click.BadParameter) and mistake.param is not None else None
    if not isinstance(kind, click.Choice):
        return None
    import difflib

    word = mistake.message.partition(" is not ")[0].strip("'\"")
    close = difflib.get_close_matches(word, [str(choice) for choice in kind.choices], n=1, cutoff=0.7)
    return f"did you mean {close[0]}?" if close else None


def _report_fault(fault: Exception, arguments: list[str]) -> int:
    import platform
    import shlex
    import traceback

    text = "".join(traceback.format_exception(fault))
    console.say(text + "\nThis is a fault of opkit. Please report it with the lines above and these:")
    console.say(f"  opkit {_version()}, Python {platform.python_version()}, {platform.platform()}")
    console.say(f"  {shlex.join(['opkit', *arguments])}")
    message = f"{type(fault).__name__}: {fault}"
    console.document({"error": {**described("Fault", message, _FAULT), "because": text}})
    return _FAULT


def _version() -> str:
    from opkit import __version__

    return __version__
