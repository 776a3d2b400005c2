"""What TARGET of `verify` and `inspect` names, if that is something installed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.cli.common import prefix_of, prefix_to_read, python_of
from opkit.console import console
from opkit.errors import NotInstalledError, OpkitError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

    from opkit.packaging import Installed
    from opkit.run import Candidate, Sources

__all__ = ["Targets", "find_installed_targets"]


class Targets(NamedTuple):
    """Packages of a prefix, or of wheels; none if nothing installed is meant. `is_all`: all that are there."""

    packages: list[Installed]
    wheels: list[Candidate]
    is_all: bool = False


def find_installed_targets(
    target: str | None, prefix: str | None, environ: Mapping[str, str], *, python: str | None, command: str
) -> Targets:
    """`prefix` and `python` are the options, of which one may be given; without one a path comes before a name, and that is told with the
    `command` that takes the name.

    Raises NotInstalledError for a prefix or a Python without the package, UsageError for a name that nobody has and for a path where a
    name is wanted, UnreadableError, and PythonError.
    """
    if python is not None:
        if prefix is not None:
            msg = "--prefix and --python exclude each other"
            raise UsageError(msg, because="a package is in the one or in the other", help="leave one of the two out")
        _require_name(target, "--python")
        return _of_python(target, python)
    if prefix is not None:
        _require_name(target, "--prefix")
    from opkit.packaging import find_packages

    packages = find_packages(target, prefix=None if prefix is None else prefix_of(prefix, environ), environ=environ)
    if packages:
        path = None if target is None else Path(os.path.abspath(target))  # noqa: PTH100 - not resolved: a package of a prefix is a link
        # Path.is_dir and Path.exists raise below a closed folder, and for a name that is too long.
        is_one = path is not None and (prefix is not None or not os.path.isdir(path) or path == packages[0].path)  # noqa: PTH112
        if target is not None and prefix is None and is_one:
            _tell_namesakes(target, environ, packages[0].path, command)
        return Targets(packages, [], is_all=not is_one)
    if target is None or os.sep in target or target in {os.curdir, os.pardir}:
        return Targets([], [])
    if os.path.lexists(target):
        _tell_namesakes(target, environ, Path(os.path.abspath(target)), command)  # noqa: PTH100 - as above
        return Targets([], [])
    return _named(target, environ)


def _require_name(target: str | None, option: str) -> None:
    """A package that is installed has the name of a Python module."""
    if target is not None and not target.isidentifier() and os.path.lexists(target):
        msg = f"{target} is a path, and {option} is for the name of an installed package"
        raise UsageError(msg, help=f"leave {option} out, or name the package")


def _of_python(target: str | None, python: str) -> Targets:
    from opkit.run import Sources, candidates

    sources = Sources(prefix=None, python=python_of(python))
    there = candidates(sources)
    found = [each for each in there if target in {None, each.package}]
    if found:
        return Targets([], found, is_all=target is None)
    if target is None:
        msg = f"nothing is installed in {sources}"
        raise NotInstalledError(msg, help="pip install a wheel there")
    raise _unknown(target, sources, there, is_path=False)


def _named(target: str, environ: Mapping[str, str]) -> Targets:
    """The one of a wheel: that of the usual prefix would have been found before."""
    from opkit.run import Sources, candidates

    sources = Sources(prefix=prefix_to_read(None, environ))
    there = candidates(sources)
    found = [each for each in there if each.package == target]
    if found:
        return Targets([], found[:1])
    raise _unknown(target, sources, there, is_path=True)


def _unknown(target: str, sources: Sources, there: Collection[Candidate], *, is_path: bool) -> UsageError:
    from opkit.packaging import nearby
    from opkit.spec.problems import did_you_mean

    names = sorted({each.package for each in there})
    because = f"there is no such file here, and no package of this name in {sources}" if is_path else f"it isn't in {sources}"
    if names:
        because += f", where there {'is' if len(names) == 1 else 'are'} {', '.join(names)}"
    meant = (nearby(Path(target)) if is_path else None) or did_you_mean(target, names)
    advice = meant or "name a project, an OPP root, an archive or an installed package: opkit list shows those"
    if is_path:
        msg = f"{target} doesn't exist"
        return UsageError(msg, because=because, help=advice)
    msg = f"{target} isn't installed"
    return NotInstalledError(msg, because=because, help=advice)


def _tell_namesakes(target: str, environ: Mapping[str, str], held: Path, command: str) -> None:
    """Says which installed packages have the name of a path: they are another matter than what lies there."""
    from opkit.packaging import installed
    from opkit.run import wheels_of

    namesakes: list[tuple[str, list[str]]] = []
    with suppress(OpkitError):  # Of a prefix that isn't asked for.
        usual = prefix_to_read(None, environ)
        there = [] if usual is None else installed(usual)
        namesakes = [(str(each.path), ["--prefix", str(usual)]) for each in there if each.package == target]
    namesakes += [(each.folder or "a wheel", ["--python", sys.executable]) for each in wheels_of(None) if each.package == target]
    for where, option in namesakes:
        if where != str(held):
            console.warn(
                f"this is {held}, and not the package {target} in {where}",
                help=f"that one: {shlex.join(['opkit', command, target, *option])}",
            )
