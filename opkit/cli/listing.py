"""`opkit list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from opkit.cli.common import prefix_to_read, python_of
from opkit.cli.options import output_options, prefix_option, python_option
from opkit.console import console
from opkit.toolkit import process_environment

if TYPE_CHECKING:
    from opkit.run import Entry

__all__ = ["command"]


@click.command("list")
@prefix_option
@python_option
@output_options
def command(prefix: str | None, python: str | None) -> None:
    """Show the packages that are installed in a prefix and in the wheels of a Python, by name: the order in which they are activated.

    What is missing, edited or put there by somebody is named, which of two packages of one name is activated, and the ops that GE would
    drop because another library registers them first.
    """
    from opkit.run import Sources, take_inventory

    environ = process_environment()
    target = prefix_to_read(prefix, environ)
    sources = Sources(prefix=target, python=python_of(python))
    entries = take_inventory(sources.prefix, environ, sources.python)
    for entry in entries:
        _show(entry)
    if not entries:
        console.say(f"nothing is installed in {sources}")
    console.document({"prefix": None if target is None else str(target), "packages": [_document(entry) for entry in entries]})


def _show(entry: Entry) -> None:
    manifest = entry.manifest
    version = "" if manifest is None else f" {manifest.marked_version}"
    where = f"  {entry.path}" if entry.is_somewhere else ""
    console.data(f"{console.paint(entry.package, 'bold')}{version}{where}{'  (wheel)' if entry.is_wheel else ''}")
    if manifest is not None:
        console.data(f"  ops: {', '.join(manifest.op_types)}")
        console.data(f"  built against {manifest.built_against.label}, for {manifest.target.arch}")
    if entry.source is not None:
        console.data(f"  from {entry.source}, {entry.installed}")
    for problem in (*entry.problems, *entry.strays):
        console.data(f"  {console.paint('problem:', 'red')} {problem}")
    if entry.hidden_by is not None:
        console.data(f"  {console.paint('hidden:', 'yellow')} by {entry.hidden_by}, which is activated in its stead")
    for each in entry.dropped:
        console.data(f"  {console.paint('shadowed:', 'yellow')} {each.op} of {each.losing}, by that of {each.winning}")


def _document(entry: Entry) -> dict[str, object]:
    manifest = entry.manifest
    return {
        "package": entry.package,
        "version": None if manifest is None else manifest.version,
        "ops": [] if manifest is None else list(manifest.op_types),
        "built_against": None if manifest is None else manifest.built_against._asdict(),
        "opp_root": str(entry.path) if entry.is_somewhere else None,
        "wheel": entry.is_wheel,
        "source": entry.source,
        "installed": entry.installed,
        "problems": [*entry.problems, *entry.strays],
        "hidden_by": None if entry.hidden_by is None else str(entry.hidden_by),
        "shadowed": [each.to_json() for each in entry.dropped],
    }
