"""`opkit build`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from opkit.build import Built, Project
from opkit.build import build as build_project
from opkit.cli.common import output_options, project_options, toolkit_option, wait_option, warnings_of
from opkit.console import console

if TYPE_CHECKING:
    from opkit.toolkit import Toolkit

__all__ = ["command"]


_NPU_ARCH = re.compile(r"dav-[a-z0-9]+")


def _npu_arch(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _NPU_ARCH.fullmatch(value):
        msg = f"{value!r} is no architecture of the kernel compiler's, such as dav-2201"
        raise click.BadParameter(msg)
    return value


@click.command("build")
@project_options
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Compile at most N files at once.")
@click.option("--force", is_flag=True, help="Forget what earlier builds left and start from scratch.")
@click.option(
    "--npu-arch",
    metavar="ARCH",
    callback=_npu_arch,
    help="Prebuild kernels for this architecture; kept until --force.  [default: this machine's device's]",
)
@wait_option
@toolkit_option
@output_options
def command(  # noqa: PLR0913 - click passes each option
    *, project: Project, toolkit: Toolkit, environ: Mapping[str, str], jobs: int | None, force: bool, npu_arch: str | None, wait: float
) -> None:
    """Bring the deliverable of PROJECT (default: the current folder) up to date.

    Renders if the spec changed, configures if the toolkit or the compiler changed, and compiles and installs what is out of date.
    """
    built = build_project(project, toolkit, environ, is_forced=force, npu_arch=npu_arch, jobs=jobs, wait=wait)
    report(built)
    console.document(as_document(built, toolkit))


def report(built: Built) -> None:
    what = ", ".join(built.steps) if built.steps else "up to date"
    console.step("Finished", f"{built.package}: {what} ({built.seconds:.2f} s)")


def as_document(built: Built, toolkit: Toolkit) -> dict[str, object]:
    return {
        "package": built.package,
        "ops": list(built.opp_root.manifest.ops),
        "opp_root": str(built.opp_root.path),
        "program": str(built.program),
        "toolkit": {"home": str(toolkit.home), "kind": toolkit.kind.value, "version": toolkit.version},
        "steps": list(built.steps),
        "seconds": round(built.seconds, 3),
        "warnings": warnings_of(built),
    }
