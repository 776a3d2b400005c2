"""`opkit install`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from opkit.build import Project, find_built
from opkit.cli.common import output_options, project_options
from opkit.console import console

__all__ = ["command"]


@click.command("install")
@project_options
@click.option("--prefix", required=True, type=click.Path(), metavar="DIR", help="OPP root to install to, for ASCEND_CUSTOM_OPP_PATH.")
@output_options
def command(project: Project, prefix: str) -> None:
    """Copy the built deliverable of PROJECT to an OPP root of its own.

    The files come whole and readable for everyone; installing again replaces them and removes what the new build no longer has.
    """
    from opkit.packaging import install

    installed = install(find_built(project).opp_root, Path(prefix))
    built = installed.manifest.built_against
    console.step("Installed", f"{installed.manifest.package} -> {installed.path}")
    if built.is_simulator:
        console.warn(f"it was built against the host simulator ({built.arch}); build again with a CANN toolkit before it goes to a device")
    console.say(f"activate it with: opkit env --opp {shlex.quote(str(installed.path))}")
    console.document(
        {"opp_root": str(installed.path), "files": [str(file.path) for file in installed.manifest.files], "built_against": built.to_json()}
    )
