"""The command that all others are below."""

from __future__ import annotations

from typing import NoReturn

import click

from opkit import __version__
from opkit.cli.endings import asks_for_help, command_in, require_folder
from opkit.cli.group import LazyGroup
from opkit.console import console
from opkit.errors import UsageError

__all__ = ["cli", "run"]


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--json", is_flag=True, hidden=True, expose_value=False)  # main() has seen it already
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def cli(context: click.Context, version: bool) -> None:
    """Ascend custom operators from a kernel and a short Python spec: generated, built, tested and measured, with or without an NPU."""
    if version:
        console.data(f"opkit {__version__}")
        console.document({"version": __version__})
        context.exit()
    if context.invoked_subcommand is None:
        raise click.exceptions.NoArgsIsHelpError(context)


def run(arguments: list[str]) -> int:
    """Gives the exit code. What click says of the arguments is raised as a UsageError."""
    try:
        # Not cli.main(): it would take Ctrl-C and a closed pipe for itself.
        with cli.make_context("opkit", arguments) as context:
            if command_in(arguments) is not None and not asks_for_help(arguments):
                require_folder()
            result = cli.invoke(context)
    except click.exceptions.NoArgsIsHelpError as request:
        console.say(request.format_message())
        mistake = UsageError("no command")
        console.document({"error": mistake.to_json()})
        return mistake.exit_code
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as mistake:
        _raise_usage(mistake, arguments)
    except click.Abort as ending:
        raise KeyboardInterrupt from ending
    return result if isinstance(result, int) else 0


def _raise_usage(mistake: click.ClickException, arguments: list[str]) -> NoReturn:
    context = mistake.ctx if isinstance(mistake, click.UsageError) else None
    path = context.command_path if context else " ".join(filter(None, ("opkit", command_in(arguments))))
    msg = mistake.format_message().rstrip(".")
    raise UsageError(msg, help=_meant(mistake) or f"{path} --help") from mistake


def _meant(mistake: click.ClickException) -> str | None:
    """Of a word that an option doesn't take, the nearest one that it does."""
    kind = mistake.param.type if isinstance(mistake, click.BadParameter) and mistake.param is not None else None
    if not isinstance(kind, click.Choice):
        return None
    import difflib

    word = mistake.message.partition(" is not ")[0].strip("'\"")
    close = difflib.get_close_matches(word, [str(choice) for choice in kind.choices], n=1, cutoff=0.7)
    return f"did you mean {close[0]}?" if close else None
