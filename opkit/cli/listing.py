"""`opkit list`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from opkit.cli.common import output_options, prefix_option, prefix_to_read
from opkit.console import console
from opkit.toolkit import process_environment

if TYPE_CHECKING:
    from opkit.run import Entry

__all__ = ["command"]


@click.command("list")
@prefix_option
@click.option("--python", type=click.Path(), metavar="PATH", help="Interpreter or virtual environment with wheels.  [default: opkit's own]")
@output_options
def command(prefix: str | None, python: str | None) -> None:
    """Show the packages that are installed in a prefix and in the wheels of a Python, by name: the order in which they are activated.

    What is missing or edited is named, and the ops that GE would drop because another package registers them first.
    """
    from opkit.run import Sources, take_inventory

    environ = process_environment()
    target = prefix_to_read(prefix, environ)
    sources = Sources(prefix=target, python=None if python is None else Path(python))
    entries = take_inventory(sources.prefix, environ, sources.python)
    for entry in entries:
        _show(entry)
    if not entries:
        console.say(f"nothing is installed in {sources}")
    console.document({"prefix": None if target is None else str(target), "packages": [_document(entry) for entry in entries]})


def _show(entry: Entry) -> None:
    manifest = entry.manifest
    version = "" if manifest is None else f" {manifest.version}"
    console.data(f"{console.paint(entry.package, 'bold')}{version}  {entry.path}{'  (wheel)' if entry.is_wheel else ''}")
    if manifest is not None:
        console.data(f"  ops: {', '.join(manifest.op_types)}")
        console.data(f"  built against {manifest.built_against.kind} {manifest.built_against.version}, for {manifest.target.arch}")
    if entry.source is not None:
        console.data(f"  from {entry.source}, {entry.installed}")
    for problem in entry.problems:
        console.data(f"  {console.paint('problem:', 'red')} {problem}")
    for each in entry.dropped:
        console.data(f"  {console.paint('shadowed:', 'yellow')} {each.op}, by that of {each.winner}")


def _document(entry: Entry) -> dict[str, object]:
    manifest = entry.manifest
    return {
        "package": entry.package,
        "version": None if manifest is None else manifest.version,
        "ops": [] if manifest is None else list(manifest.op_types),
        "built_against": None if manifest is None else manifest.built_against._asdict(),
        "opp_root": str(entry.path),
        "wheel": entry.is_wheel,
        "source": entry.source,
        "installed": entry.installed,
        "problems": list(entry.problems),
        "shadowed": [{"op": each.op, "winner": str(each.winner), "loser": str(each.loser)} for each in entry.dropped],
    }
