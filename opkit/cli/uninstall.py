"""`opkit uninstall`."""

from __future__ import annotations

import difflib
from collections.abc import Collection

import click

from opkit.cli.common import kept_document, prefix_of, report_kept
from opkit.cli.options import output_options, prefix_option, wait_option
from opkit.console import console
from opkit.toolkit import process_environment

__all__ = ["command"]


@click.command("uninstall")
@click.argument("packages", nargs=-1, required=True, metavar="PACKAGE...")
@prefix_option
@wait_option
@output_options
def command(packages: tuple[str, ...], prefix: str | None, wait: float) -> None:
    """Take packages out of a prefix. Files that aren't opkit's and those that were edited stay.

    To take out what isn't there is no error.
    """
    from opkit.packaging import installed, uninstall
    from opkit.run import wheels_of

    target = prefix_of(prefix, process_environment())
    removals = uninstall(packages, target, wait=wait)
    wheels = {each.package for each in wheels_of(None)} if any(removal.removed is None for removal in removals) else set()
    for removal in removals:
        if removal.removed is None:
            _report_absent(removal.package, [each.package for each in installed(target)], wheels)
            continue
        console.step("Uninstalled", f"{removal.package} {removal.removed.marked_version or ''}".rstrip() + f" from {target}")
        for kept in removal.kept:
            report_kept(target / removal.package, kept)
    console.document(
        {
            "prefix": str(target),
            "packages": [
                {
                    "package": removal.package,
                    "removed": removal.removed is not None,
                    "version": None if removal.removed is None else removal.removed.version,
                    "kept": [kept_document(kept) for kept in removal.kept],
                }
                for removal in removals
            ],
        }
    )


def _report_absent(package: str, names: list[str], wheels: Collection[str]) -> None:
    if package in wheels:
        console.warn(f"{package} comes in a wheel, and nothing was removed", help=f"pip uninstall {package.replace('_', '-')}")
        return
    close = difflib.get_close_matches(package, names, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    console.say(f"{package} isn't installed, so nothing was removed{hint}")
