"""`opkit build`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from opkit.build import BUILD_TYPES, RESERVED, Project, Settings
from opkit.build import build as build_project
from opkit.cli.finished import as_document, report
from opkit.cli.options import arch_option, output_options, toolkit_option, wait_option, workspace_options
from opkit.console import console
from opkit.toolkit import LAUNCHER_VARIABLE

if TYPE_CHECKING:
    from opkit.toolkit import Toolkit

__all__ = ["command"]


_NPU_ARCH = re.compile(r"dav-[a-z0-9]+")


def _npu_arch(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _NPU_ARCH.fullmatch(value):
        msg = f"{value!r} is no architecture of the kernel compiler's, such as dav-2201"
        raise click.BadParameter(msg)
    return value


_DEFINITION = re.compile(r"([A-Za-z_][A-Za-z0-9_.+-]*)=(.*)", re.DOTALL)


def _definitions(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    definitions = {}
    for value in values:
        match = _DEFINITION.fullmatch(value)
        if match is None:
            msg = f"{value!r} isn't NAME=VALUE"
            raise click.BadParameter(msg)
        name, text = match.groups()
        if name in RESERVED:
            msg = f"{name} is opkit's own; use {RESERVED[name]}"
            raise click.BadParameter(msg)
        definitions[name] = text
    return definitions


def _launcher(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not value.strip():
        msg = "it is empty; name a program, or none"
        raise click.BadParameter(msg)
    # A path would mean something else in another folder, and is kept.
    return os.path.abspath(value) if value is not None and os.sep in value else value  # noqa: PTH100 - as it was named


@click.command("build")
@workspace_options
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Compile at most N files at once.  [default: cores and memory]")
@click.option("--force", is_flag=True, help="Forget what earlier builds left and were asked for, and start from scratch.")
@click.option("--explain", is_flag=True, help="Print why each step ran, or why nothing had to.")
@click.option(
    "--build-type",
    type=click.Choice(BUILD_TYPES, case_sensitive=False),
    help=f"Kept until another is named.  [default: {BUILD_TYPES[0]}]",
)
@click.option("--abi", type=click.Choice(["0", "1"]), help="_GLIBCXX_USE_CXX11_ABI; kept until --force.  [default: the toolkit's]")
@click.option(
    "-D", "definitions", multiple=True, metavar="NAME=VALUE", callback=_definitions, help="An entry of CMake's cache; kept until --force."
)
@click.option(
    "--npu-arch",
    metavar="ARCH",
    callback=_npu_arch,
    help="Prebuild kernels for this architecture; kept until --force.  [default: this machine's device's]",
)
@click.option(
    "--launcher",
    metavar="NAME",
    callback=_launcher,
    help="Compile through ccache, sccache or another program, or none; kept until --force.  "
    f"[default: {LAUNCHER_VARIABLE}, else one found]",
)
@wait_option
@toolkit_option
@arch_option
@output_options
def command(  # noqa: PLR0913 - click passes each option
    *,
    project: Project | None,
    projects: Sequence[Project],
    toolkit: Toolkit,
    environ: Mapping[str, str],
    jobs: int | None,
    force: bool,
    explain: bool,
    build_type: str | None,
    abi: str | None,
    definitions: dict[str, str],
    npu_arch: str | None,
    launcher: str | None,
    wait: float,
) -> int:
    """Bring the deliverable of PROJECT (default: the current folder) up to date.

    Renders if the spec changed, configures if the toolkit, the compiler or a setting changed, and compiles and installs what is out of
    date. Each toolkit, ABI, architecture and build type has a tree of its own below PROJECT/build.

    Several projects, or a folder with projects below it, are built together: each is brought as far as it goes, and what failed is summed
    up at the end.
    """
    settings = Settings(
        build_type=build_type, abi=None if abi is None else int(abi), npu_arch=npu_arch, launcher=launcher, definitions=definitions
    )
    if project is None:
        from opkit.cli.workspace import build_workspace

        options = click.get_current_context().params
        return build_workspace(projects, toolkit, environ, settings=settings, options=options)
    built = build_project(project, toolkit, environ, settings=settings, is_forced=force, is_explained=explain, jobs=jobs, wait=wait)
    report(built)
    console.document(as_document(built, toolkit))
    return 0
