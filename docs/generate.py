"""Writes docs/reference/{cli,doctor,errors,spec}.md from the code that they describe; --check only compares (nox -s docs)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from spec_page import spec_page

from opkit.cli.root import cli
from opkit.errors import SpecError, catalogue
from opkit.run.doctor_findings import Check
from opkit.spec.problems import Rule

REFERENCE = Path(__file__).parent / "reference"
SPEC_NOTE = "<!-- Made by docs/generate.py of spec.md.j2, which has the prose, and the code; `nox -s docs` writes it again. -->\n"
NOTE = "<!-- Made by docs/generate.py; `nox -s docs` writes it again. -->\n"

EXIT_CODES = """| exit | meaning |
| --- | --- |
| 0 | done |
| 1 | a fault of opkit: a traceback, and what to report |
| 2 | usage or spec |
| 3 | environment: no compiler, no toolkit, no device |
| 4 | a wrong result: a precision check, a test, drift |
| 5 | the build failed |
| 75 | another opkit holds the lock |
| 130 | interrupted |

`opkit run -- CMD` gives the command's own exit; before it starts: 125 opkit failed, 126 not executable, 127 not found.
"""


def helps(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None  # noqa: S101 - it was listed
            yield from helps(child, click.Context(child, info_name=name, parent=context, **child.context_settings))


def cli_page() -> str:
    root = click.Context(cli, info_name="opkit", **cli.context_settings)
    parts = [NOTE, "# Commands\n", EXIT_CODES]
    parts += [f"## {path}\n\n```text\n{text.rstrip()}\n```\n" for path, text in helps(cli, root)]
    return "\n".join(parts)


def errors_page() -> str:
    rows = [(kind.number, inspect.cleandoc(kind.__doc__ or "").split("\n")[0], str(kind.exit_code)) for kind in catalogue()]
    rows += [(rule.number, f"Spec: {rule.title}.", "none: a warning" if rule.is_warning else str(SpecError.exit_code)) for rule in Rule]
    parts = [
        NOTE,
        "# Error numbers\n",
        "A number keeps its meaning; the text after it may improve.\n",
        "| number | meaning | exit |\n| --- | --- | --- |",
    ]
    parts += [f"| {number} | {meaning} | {exit_code} |" for number, meaning, exit_code in sorted(rows)]
    return "\n".join(parts) + "\n"


def doctor_page() -> str:
    parts = [
        NOTE,
        "# What `opkit doctor` finds\n",
        "Each finding has an id, which is kept for scripts, and what was seen. Unless it is in order it has a help,",
        "which is one command that mends it in every usual shell, or where no command can do that a hint, which is words;",
        "in the JSON document these are two fields.",
        "What mends several is printed once, after the last of them.",
        "An id with a number, such as `opp-path[2]`, is about that element of a list.",
        "The page [When GE doesn't know the op](../how-to/op-not-found.md) goes by symptoms.\n",
        "| id | what is asked |\n| --- | --- |",
    ]
    parts += [f"| `{check.id}` | {check.question} |" for check in Check]
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    stale = []
    pages = {"cli.md": cli_page(), "doctor.md": doctor_page(), "errors.md": errors_page(), "spec.md": f"{SPEC_NOTE}\n{spec_page()}"}
    for name, text in pages.items():
        page = REFERENCE / name
        if not page.is_file() or page.read_text("utf-8") != text:
            stale.append(name)
            if "--check" not in arguments:
                page.write_text(text, "utf-8")
    if stale:
        print("out of date:" if "--check" in arguments else "written:", *stale)  # noqa: T201 - a script
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
