"""`opkit verify`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from opkit.cli.common import announce
from opkit.cli.options import output_options, prefix_option, python_option
from opkit.cli.targets import find_installed_targets
from opkit.console import console
from opkit.errors import VerifyError
from opkit.toolkit import discover, process_environment

if TYPE_CHECKING:
    from opkit.cli.targets import Targets
    from opkit.packaging import Place, Verified

__all__ = ["command"]


class _Held(NamedTuple):
    """A package, where it lies if its wheel leads anywhere, what was found, and how it is mended."""

    path: Path | None
    verified: Verified
    mend: str
    is_archive: bool = False
    is_of_wheel: bool = False


@click.command("verify")
@click.argument("target", required=False, type=click.Path(readable=False))  # what can't be read is told as elsewhere
@prefix_option
@python_option
@click.option("--no-load", is_flag=True, help="Don't load the library; no toolkit is needed then.")
@click.option(
    "--toolkit", metavar="DIR", help="CANN toolkit to load it with.  [default: ASCEND_HOME_PATH, an installed one, the simulator]"
)
@output_options
def command(target: str | None, *, prefix: str | None, python: str | None, no_load: bool, toolkit: str | None) -> int:
    """Hold a package against its manifest, and load its library.

    TARGET is an archive, a wheel, an OPP root, a built project (default: the current folder), a folder with one archive, or a prefix;
    or the name of an installed package, with --prefix or --python of one that is installed there, and without a name of all. A path comes
    before a name, and what was held is told.

    Files are held by size and SHA-256, libraries by what the manifest says of them, and an installed package by the receipt of its
    install too. If nothing differs, each library is loaded in a process of its own, in an empty folder with the toolkit and nothing else.
    Exits 4 with all that differs.
    """
    from opkit.packaging import find_place

    environ = process_environment()
    targets = find_installed_targets(target, prefix, environ, python=python, command="verify")
    place = None if targets.packages or targets.wheels else find_place(target or ".")
    child = None
    if not no_load:
        from opkit.run import alone

        found = discover(environ, option=toolkit, cwd=Path.cwd())
        announce(found)
        child = alone(found, environ)
    documents = [_reported(held) for held in _verified(targets, place, child)]
    console.document({"packages": documents})
    return VerifyError.exit_code if any(document["violations"] for document in documents) else 0


def _verified(targets: Targets, place: Place | None, child: Mapping[str, str] | None) -> Iterator[_Held]:
    from opkit.build import build_anew
    from opkit.packaging import WHEEL_AGAIN, PlaceKind, Verified, is_of_wheel, opened, verify, verify_installed
    from opkit.run import mend_of

    for package in targets.packages:
        yield _Held(package.path, verify_installed(package, environ=child), mend_of(package))
    for wheel in targets.wheels:
        if wheel.root is None:
            verified = Verified(root=None, held=(), violations=wheel.faults, skipped=())
        else:
            verified = verify(wheel.root, environ=child, is_of_wheel=True)
        yield _Held(wheel.path, verified, wheel.mend, is_of_wheel=True)
    if place is not None:
        with opened(place) as root:
            is_archive = place.kind is PlaceKind.ARCHIVE
            path = (place.path if is_archive else root.path).absolute()
            is_wheel = not is_archive and is_of_wheel(root.path)
            help_text = f"build it again in its project: {build_anew(root.path)}"
            help_text = "make it again: opkit package" if is_archive else WHEEL_AGAIN if is_wheel else help_text
            verified = verify(root, environ=child, is_of_wheel=is_wheel)
            yield _Held(path, verified, help_text, is_archive=is_archive, is_of_wheel=is_wheel)


def _mended(held: _Held) -> str:
    """What opkit installs leaves a stranger's library where it is, so that has to be taken out by whoever put it there."""
    from opkit.packaging import mended, strays

    verified = held.verified
    if verified.root is None or held.is_archive:
        return held.mend
    return mended(verified.root, verified.violations, again=held.mend, strays=strays(verified.root), is_of_wheel=held.is_of_wheel)


def _reported(held: _Held) -> dict[str, Any]:
    path, verified = held.path, held.verified
    manifest = None if verified.root is None else verified.root.manifest
    for sentence in verified.held:
        console.step("Held", sentence)
    for sentence in verified.skipped:
        console.step("Skipped", sentence)
    if verified.violations:
        msg = f"{path or 'a wheel'} isn't what its manifest says"
        console.error(VerifyError(msg, because="\n".join(verified.violations), help=_mended(held)))
    elif manifest is not None:
        console.step("Verified", f"{manifest.package} {manifest.marked_version}, for {manifest.target.os} {manifest.target.arch}: {path}")
    return {
        "archive": str(path) if held.is_archive else None,
        "opp_root": None if held.is_archive or path is None else str(path),
        "package": None if manifest is None else manifest.package,
        "version": None if manifest is None else manifest.version,
        "built_against": None if manifest is None else manifest.built_against._asdict(),
        "held": list(verified.held),
        "skipped": list(verified.skipped),
        "violations": list(verified.violations),
    }
