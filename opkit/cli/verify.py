"""`opkit verify`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from opkit.cli.common import announce, output_options, prefix_of, prefix_option
from opkit.console import console
from opkit.errors import NotInstalledError, VerifyError
from opkit.toolkit import discover, process_environment

if TYPE_CHECKING:
    from opkit.deliverable import OppRoot
    from opkit.packaging import Installed, Place, Verified

__all__ = ["command"]


class _Targets(NamedTuple):
    """What TARGET names: packages of a prefix, or the one of a wheel, or what a package may lie in."""

    packages: list[Installed]
    wheel: OppRoot | None = None
    place: Place | None = None


@click.command("verify")
@click.argument("target", required=False, type=click.Path(readable=False))  # what can't be read is told as elsewhere
@prefix_option
@click.option("--no-load", is_flag=True, help="Don't load the library; no toolkit is needed then.")
@click.option(
    "--toolkit", metavar="DIR", help="CANN toolkit to load it with.  [default: ASCEND_HOME_PATH, an installed one, the simulator]"
)
@output_options
def command(target: str | None, prefix: str | None, no_load: bool, toolkit: str | None) -> int:
    """Hold a package against its manifest, and load its library.

    TARGET is an archive, a wheel, an OPP root, a built project (default: the current folder), a folder with one archive, or a prefix;
    or the name of an installed package, with --prefix of one that is installed there.

    Files are held by size and SHA-256, libraries by what the manifest says of them, and an installed package by the receipt of its
    install too. If nothing differs, each library is loaded in a process of its own, in an empty folder with the toolkit and nothing else.
    Exits 4 with all that differs.
    """
    environ = process_environment()
    targets = _found(target, prefix, environ)
    child = None
    if not no_load:
        from opkit.run import alone

        found = discover(environ, option=toolkit, cwd=Path.cwd())
        announce(found)
        child = alone(found, environ)
    documents = [_reported(path, verified, is_archive=is_archive) for path, verified, is_archive in _verified(targets, child)]
    console.document({"packages": documents})
    return VerifyError.exit_code if any(document["violations"] for document in documents) else 0


def _found(target: str | None, prefix: str | None, environ: Mapping[str, str]) -> _Targets:
    from opkit.packaging import find_packages, find_place

    packages = find_packages(target, prefix=None if prefix is None else prefix_of(prefix, environ), environ=environ)
    if packages:
        return _Targets(packages)
    if target is not None and target.isidentifier() and not Path(target).exists():
        from opkit.run import Sources, find_installed

        try:
            (wheel,) = find_installed(Sources(prefix=None), [target])
        except NotInstalledError:
            pass
        else:
            return _Targets([], wheel=wheel)
    return _Targets([], place=find_place(target or "."))


def _verified(targets: _Targets, child: Mapping[str, str] | None) -> Iterator[tuple[Path, Verified, bool]]:
    """Each with its path and whether that is of an archive."""
    from opkit.packaging import PlaceKind, opened, verify, verify_installed

    for package in targets.packages:
        yield package.path, verify_installed(package, environ=child), False
    if targets.wheel is not None:
        yield targets.wheel.path, verify(targets.wheel, environ=child), False
    if targets.place is not None:
        with opened(targets.place) as root:
            is_archive = targets.place.kind is PlaceKind.ARCHIVE
            yield (targets.place.path if is_archive else root.path).absolute(), verify(root, environ=child), is_archive


def _reported(path: Path, verified: Verified, *, is_archive: bool) -> dict[str, Any]:
    manifest = None if verified.root is None else verified.root.manifest
    for sentence in verified.held:
        console.step("Held", sentence)
    for sentence in verified.skipped:
        console.step("Skipped", sentence)
    if verified.violations:
        msg = f"{path} isn't what its manifest says"
        console.error(VerifyError(msg, because="\n".join(verified.violations), help="make it again: opkit package, or opkit build --force"))
    elif manifest is not None:
        console.step("Verified", f"{manifest.package} {manifest.version}, for {manifest.target.os} {manifest.target.arch}")
    return {
        "archive": str(path) if is_archive else None,
        "opp_root": None if is_archive else str(path),
        "package": None if manifest is None else manifest.package,
        "version": None if manifest is None else manifest.version,
        "held": list(verified.held),
        "skipped": list(verified.skipped),
        "violations": list(verified.violations),
    }
