"""`opkit package`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from opkit.build import Built, Project, held, require_fixed_version, require_wheel_version
from opkit.cli.options import arch_option, output_options, project_options, toolkit_option, wait_option
from opkit.console import console
from opkit.errors import UsageError

if TYPE_CHECKING:
    from opkit.deliverable import OppRoot
    from opkit.packaging import Packed
    from opkit.toolkit import Toolkit

__all__ = ["command"]


class _Order(NamedTuple):
    """What is to be packed, and how the command line wants it."""

    built: Built
    opp_root: OppRoot
    dest: Path
    compression: str
    is_simulator_allowed: bool
    is_manylinux: bool
    toolkit: Toolkit
    environ: Mapping[str, str]


def _tar(order: _Order) -> Packed:
    from opkit.packaging import Compression, pack, source_date_epoch

    return pack(
        order.opp_root,
        order.dest,
        compression=Compression(order.compression),
        epoch=source_date_epoch(order.environ),
        is_simulator_allowed=order.is_simulator_allowed,
    )


def _run(order: _Order) -> Packed:
    from opkit.packaging import pack_run, source_date_epoch

    return pack_run(
        order.opp_root,
        order.dest,
        epoch=source_date_epoch(order.environ),
        environ=order.environ,
        is_simulator_allowed=order.is_simulator_allowed,
    )


def _wheel(order: _Order) -> Packed:
    from opkit.packaging import make_wheel, require_package

    # What the backend builds is what was built here: the other forms are held to it as they are packed.
    require_package(order.opp_root)
    return make_wheel(
        order.built.project,
        order.opp_root.manifest,
        order.toolkit,
        order.dest,
        order.environ,
        settings=order.built.settings,
        is_simulator_allowed=order.is_simulator_allowed,
        is_manylinux=order.is_manylinux,
    )


_FORMATS: dict[str, Callable[[_Order], Packed]] = {"tar": _tar, "wheel": _wheel, "run": _run}


@click.command("package")
@project_options
@click.option("--format", "form", type=click.Choice(list(_FORMATS)), default="tar", show_default=True, help="What to make.")
@click.option("--dest", type=click.Path(), metavar="DIR", help="Folder of the archive.  [default: PROJECT/dist]")
@click.option(
    "--compression", type=click.Choice(["gz", "zst"]), default="gz", show_default=True, help="Of a tar; zst needs the extra `zstd`."
)
@click.option("--manylinux", is_flag=True, help="Of a wheel: name the oldest platform that has the glibc it needs, for an index.")
@click.option("--allow-simulator", is_flag=True, help="Pack what was built against the simulator; its version is marked +sim.")
@wait_option
@toolkit_option
@arch_option
@output_options
def command(  # noqa: PLR0913 - click passes each option
    *,
    project: Project,
    toolkit: Toolkit,
    environ: Mapping[str, str],
    form: str,
    dest: str | None,
    compression: str,
    manylinux: bool,
    allow_simulator: bool,
    wait: float,
) -> None:
    """Make one file of the deliverable of PROJECT (default: the current folder), to be installed on other machines.

    Brings the deliverable up to date first. The same deliverable gives the same bytes in any folder: no entry has an owner, and all
    have the time of SOURCE_DATE_EPOCH, or 1980-01-01.
    """
    from opkit.packaging import simulator_refused, source_date_epoch

    source_date_epoch(environ)
    if manylinux and form != "wheel":
        msg = f"--manylinux says nothing of a {form}"
        raise UsageError(msg, help="--format wheel --manylinux")
    if compression != "gz" and form != "tar":
        msg = f"--compression says nothing of a {form}"
        raise UsageError(msg, help=f"--format tar --compression {compression}")
    if form == "run":
        from opkit.packaging import require_makeself

        require_makeself(environ)
    if form == "wheel":
        from opkit.packaging import require_wheel_entries

        require_wheel_version(project)
        require_wheel_entries(project)
    else:
        # A wheel's backend finds a version out; an archive has what is written down.
        require_fixed_version(project)
    if toolkit.is_simulator and not allow_simulator:
        msg = f"{toolkit.home} is the host simulator, and a package that is built with it is for no device"
        raise simulator_refused(msg)
    folder = project.root / "dist" if dest is None else Path(os.path.abspath(dest))  # noqa: PTH100 - links stay as they are named
    # Held, so that no other build changes the deliverable while it is read.
    with held(project, toolkit, environ, wait=wait) as built:
        opp_root = built.read_opp_root()
        packed = _FORMATS[form](_Order(built, opp_root, folder, compression, allow_simulator, manylinux, toolkit, environ))
    console.step("Packed", f"{packed.path} ({packed.size} bytes, sha256 {packed.sha256})")
    console.data(str(packed.path))
    console.document(
        {
            "path": str(packed.path),
            "sha256": packed.sha256,
            "size": packed.size,
            "format": form,
            "package": built.package,
            "version": opp_root.manifest.version,
            "built_against": opp_root.manifest.built_against._asdict(),
        }
    )
