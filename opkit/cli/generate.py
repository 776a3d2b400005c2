"""`opkit generate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from opkit.cli.common import load_spec, warnings_of
from opkit.cli.options import output_options, project_options
from opkit.console import console
from opkit.errors import DriftError

if TYPE_CHECKING:
    from opkit.codegen import Drift

if TYPE_CHECKING:
    from opkit.build import Project

__all__ = ["command", "drift_error"]

_NAMED_FILES = 6


@click.command("generate")
@project_options
@click.option("--check", is_flag=True, help="Write nothing; exit 4 with a diff if the generated files differ from the spec.")
@output_options
def command(project: Project, check: bool) -> None:
    """Write the generated files of PROJECT (default: the current folder) from its ops.py.

    Files that differ are written, those no longer needed are removed, and a file that was edited by hand is never touched.
    """
    from opkit.codegen import drift, render

    package = load_spec(project)
    files = render(package)
    if check:
        found = drift(project.root, files)
        for difference in found:
            console.data(difference.diff)
        if found:
            raise drift_error(found)
        console.say(f"{len(files)} generated files agree with the spec")
        console.document({"checked": [file.path for file in files], "warnings": warnings_of(package)})
        return
    changes = files.write(project.root)
    for path in changes.written:
        console.step("Wrote", path)
    for path in changes.removed:
        console.step("Removed", path)
    for path in changes.kept:
        console.warn(f"{path} is no longer needed, but was edited; it stays")
    if not changes:
        console.say(f"{len(files)} generated files are up to date")
    done = {"written": list(changes.written), "removed": list(changes.removed), "kept": list(changes.kept)}
    console.document({**done, "warnings": warnings_of(package)})


def drift_error(found: Sequence[Drift]) -> DriftError:
    count = len(found)
    msg = f"{count} generated file{'s differ' if count > 1 else ' differs'} from the spec"
    because = ", ".join(f"{drift.path} ({drift.kind.value})" for drift in found[:_NAMED_FILES])
    if count > _NAMED_FILES:
        because += f" and {count - _NAMED_FILES} more"
    is_edited = any(drift.kind.value == "edited" for drift in found)
    edited_help = "move the edit to ops.py or to a file of your own, delete the generated file, then: opkit generate"
    return DriftError(msg, because=because, help=edited_help if is_edited else "opkit generate")
