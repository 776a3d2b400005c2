"""A group that knows its commands by name and line of help, and imports the file of one only to run it."""

from __future__ import annotations

import importlib

import click

__all__ = ["COMMANDS", "LazyGroup", "NamingGroup"]

# In the order of the work. Each names the module below opkit.cli whose `command` it is; the line is what `opkit --help` shows.
COMMANDS: dict[str, dict[str, str]] = {
    "Create": {
        "new": "Start a project that builds, tests and benchmarks as it stands.",
        "generate": "Write the generated files of a project; --check only compares.",
        "check": "Check the spec, the kernel's signature and the generated files.",
        "inspect": "Show a spec, or what a library or package registers, needs and is for.",
    },
    "Build": {
        "build": "Bring output/ up to date with the spec and the kernel.",
        "clean": "Remove what builds made.",
    },
    "Measure": {
        "test": "Run every op over its sizes against its reference.",
        "bench": "Measure address refresh against its baseline.",
    },
    "Use": {
        "run": "Run a command with the toolkit and the deliverable activated.",
        "env": "Print the shell lines that activate the toolkit and the deliverable.",
    },
    "Ship": {
        "package": "Make one file of the deliverable, for other machines.",
        "verify": "Hold a package against its manifest, and load its library.",
        "install": "Install packages: from projects, archives or wheels.",
        "uninstall": "Take packages out of a prefix again.",
        "list": "Show which packages are installed, and what is wrong with them.",
    },
    "Machine": {
        "doctor": "Look for what would stop a build or a run here.",
        "toolkit": "Show which toolkit is used and which others are there.",
    },
}

# What other tools call it.
_SYNONYMS = {
    "init": "new",
    "create": "new",
    "render": "generate",
    "lint": "check",
    "validate": "check",
    "show": "inspect",
    "info": "inspect",
    "compile": "build",
    "make": "build",
    "benchmark": "bench",
    "profile": "bench",
    "exec": "run",
    "activate": "env",
    "pack": "package",
    "upgrade": "install",
    "update": "install",
    "add": "install",
    "remove": "uninstall",
    "delete": "uninstall",
    "rm": "uninstall",
    "ls": "list",
    "diagnose": "doctor",
    "status": "doctor",
    "help": "--help",
    "version": "--version",
}

# A module is a name in its package, where this one would hide the built-in.
_MODULES = {"list": "listing"}


class NamingGroup(click.Group):
    """A group that names the command that was meant."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in self.list_commands(ctx) or name.startswith("-"):
            return super().resolve_command(ctx, args)
        msg = f"no command {name}{self.hint(ctx, name)}"
        raise click.UsageError(msg, ctx)

    def hint(self, ctx: click.Context, name: str) -> str:
        import difflib

        close = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
        return f"; did you mean {close[0]}?" if close else ""


class LazyGroup(NamingGroup):
    def hint(self, ctx: click.Context, name: str) -> str:
        return f"; opkit {_SYNONYMS[name]} does that" if name in _SYNONYMS else super().hint(ctx, name)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [name for names in COMMANDS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"opkit.cli.{_MODULES.get(cmd_name, cmd_name)}").command
        assert isinstance(command, click.Command)  # noqa: S101 - a file of this package
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))
