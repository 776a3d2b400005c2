"""How a command ends for whoever called it, in words and in JSON. Without click, whose import may be what was interrupted."""

from __future__ import annotations

from opkit.console import console
from opkit.errors import OpkitError

__all__ = ["asks_for_help", "command_in", "described", "interrupted", "is_json", "is_run"]

_INTERRUPTED = 130
_FLAGS_OF_RUN = {"--json", "--quiet", "--verbose", "--help"}  # its other options have a value each


def interrupted(arguments: list[str]) -> int:
    """Says so, and gives the exit code."""
    console.is_json = is_json(arguments)
    console.say("interrupted")
    console.document({"error": described("Interrupted", "interrupted", _INTERRUPTED)})
    return _INTERRUPTED


def described(kind: str, message: str, exit_code: int) -> dict[str, object]:
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
        if not argument.startswith("-") and is_run(own):
            break
        own.append(argument)
        if is_run(own) and argument.startswith("--") and "=" not in argument and argument not in _FLAGS_OF_RUN:
            own += [value for value in [next(rest, None)] if value is not None]
    return own


def is_run(arguments: list[str]) -> bool:
    return command_in(arguments) == "run"


def command_in(arguments: list[str]) -> str | None:
    return next((argument for argument in arguments if not argument.startswith("-")), None)
