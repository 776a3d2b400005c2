"""`opkit check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from opkit.cli.common import load_spec, warnings_of
from opkit.cli.generate import drift_error
from opkit.cli.options import output_options, project_options
from opkit.console import console

if TYPE_CHECKING:
    from opkit.build import Project

__all__ = ["command"]


@click.command("check")
@project_options
@output_options
def command(project: Project) -> None:
    """Check PROJECT without building it: the spec, the kernel's signature against the launch arguments, and the generated files.

    Exits 2 for mistakes in the spec, all of them listed, and 4 for generated files that differ from it.
    """
    from opkit.codegen import drift, render

    package = load_spec(project)
    found = drift(project.root, render(package))
    for op in package.ops:
        for kernel in op.kernels:
            console.step("Checked", f"{op.type}: {project.shown(kernel.path)}, entry {kernel.entry}")
    if found:
        raise drift_error(found)
    console.document({"package": package.name, "ops": [op.type for op in package.ops], "warnings": warnings_of(package)})
