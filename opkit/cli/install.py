"""`opkit install`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opkit.cli.common import announce, kept_document, prefix_of, report_kept
from opkit.cli.options import output_options, prefix_option, wait_option
from opkit.console import console
from opkit.errors import UsageError
from opkit.toolkit import discover, process_environment

if TYPE_CHECKING:
    from opkit.deliverable import OppRoot
    from opkit.packaging import Change
    from opkit.run import Dropped

__all__ = ["command"]


@click.command("install")
@click.argument("sources", nargs=-1, type=click.Path(), metavar="[SOURCE]...")
@prefix_option
@click.option("--build-dir", type=click.Path(), metavar="DIR", help="Folder of the build of a project.  [default: PROJECT/build]")
@click.option("--output", type=click.Path(), metavar="DIR", help="Folder of the deliverable of a project.  [default: PROJECT/output]")
@wait_option
@click.option("--toolkit", metavar="DIR", help="CANN toolkit for projects.  [default: ASCEND_HOME_PATH, an installed one, the simulator]")
@output_options
def command(  # noqa: PLR0913 - click passes each option
    *, sources: tuple[str, ...], prefix: str | None, build_dir: str | None, output: str | None, wait: float, toolkit: str | None
) -> None:
    """Install packages into a prefix, each to DIR/PACKAGE.

    A SOURCE is a project, which is brought up to date first (default: the current folder), an OPP root, or an archive or wheel of opkit
    package. All are checked before the first is installed. An upgrade removes what the new version lacks; files that aren't opkit's and
    those that were edited stay.
    """
    from opkit.packaging import PlaceKind, find_place, install_all, open_source
    from opkit.run import Sources, dropped_ops_of, this_machine_for

    places = [find_place(source) for source in sources or (".",)]
    if (build_dir or output) and [place.kind for place in places] != [PlaceKind.PROJECT]:
        msg = "--build-dir and --output are for one project"
        raise UsageError(msg, help="install the others in a call of their own")
    environ = process_environment()
    target = prefix_of(prefix, environ)

    @contextmanager
    def build(project: Path) -> Iterator[OppRoot]:
        from opkit.build import Project, held, require_fixed_version

        found = discover(environ, option=toolkit, cwd=Path.cwd())
        announce(found)
        named = Project.find(project, build_dir=build_dir, output=output)
        require_fixed_version(named)
        with held(named, found, environ, wait=wait) as built:
            yield built.read_opp_root()

    with ExitStack() as stack:
        opened = [stack.enter_context(open_source(place, build=build)) for place in places]
        machine = this_machine_for([source.root.manifest for source in opened], environ, option=toolkit)
        changes = install_all(opened, target, machine=machine, wait=wait)
    dropped = dropped_ops_of([change.installed.path for change in changes], Sources(prefix=target), environ)
    for change in changes:
        _report(change)
    for each in dropped:
        told = f"GE keeps the first registration, in {each.winning}, and drops that in {each.losing}"
        console.warn(f"{each.op} of {each.loser} is shadowed by that of {each.winner}: {told}")
    roots = " ".join(f"--opp {shlex.quote(str(change.installed.path))}" for change in changes)
    console.say(f'activate it with: eval "$(opkit env {roots})"')
    console.document({"prefix": str(target), "packages": [_document(change, dropped) for change in changes]})


def _report(change: Change) -> None:
    installed, previous = change.installed, change.previous
    version, before = installed.marked_version, None if previous is None else previous.marked_version
    came_from = "" if before in {None, version} else f"{before} -> "
    console.step(change.verb, f"{installed.package} {came_from}{version} in {installed.path}")
    for kept in change.kept:
        report_kept(installed.path, kept)
    for doubt in change.doubts:
        console.warn(f"{doubt.message}: {doubt.because}", help=doubt.help)


def _document(change: Change, dropped: list[Dropped]) -> dict[str, object]:
    installed, previous = change.installed, change.previous
    manifest = installed.manifest
    return {
        "package": installed.package,
        "version": installed.version,
        "opp_root": str(installed.path),
        "what": change.verb.lower(),
        "previous": None if previous is None else previous.version,
        "files": [] if manifest is None else [str(file.path) for file in manifest.files],
        "built_against": None if manifest is None else manifest.built_against._asdict(),
        "kept": [kept_document(kept) for kept in change.kept],
        "shadowed": [each.to_json() for each in dropped if installed.path in (each.winner, each.loser)],
    }
