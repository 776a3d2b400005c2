"""What commands share: where they look, and what they say of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from opkit.build import Project, read_opp_root
from opkit.console import console
from opkit.deliverable import LIBRARY, is_opp_root, other_processors, root_above
from opkit.errors import MachineError, UsageError
from opkit.toolkit import Origin, Toolkit, discover, process_environment

if TYPE_CHECKING:
    from opkit.packaging import Kept
    from opkit.spec import Package, SpecWarning

__all__ = [
    "SHELLS",
    "announce",
    "kept_document",
    "load_spec",
    "opp_roots",
    "prefix_of",
    "prefix_to_read",
    "python_of",
    "report_kept",
    "toolkit_in_use",
    "toolkit_of",
    "warn_of_other_processors",
    "warnings_of",
]

SHELLS = ("sh", "bash", "dash", "zsh", "fish")


def toolkit_in_use(named: str | None = None) -> tuple[Toolkit, Mapping[str, str]]:
    """The toolkit that --toolkit, the environment or the machine names, and that environment. People are told if it is the simulator."""
    environ = process_environment()
    found = discover(environ, option=named, cwd=Path.cwd())
    announce(found)
    return found, environ


def toolkit_of(arch: str | None, toolkit: Toolkit, environ: Mapping[str, str]) -> Toolkit:
    """The toolkit in use, or its like for the processor that --arch names."""
    if arch is None or arch == toolkit.arch:
        return toolkit
    from opkit.build.jobs import default_jobs
    from opkit.toolkit.variants import toolkit_for

    found = toolkit_for(arch, toolkit, environ, jobs=default_jobs())
    console.detail(f"toolkit {found.home} ({found.reason}): {found.label}")
    return found


def warn_of_other_processors(toolkit: Toolkit, roots: Sequence[Path]) -> None:
    """Says of each OPP root that is activated with a toolkit whose GE finds no library in it."""
    for root in roots:
        found = other_processors(root, toolkit.arch)
        if found:
            advice = f"build it for {toolkit.arch}, or take the toolkit for its own: --arch {found[0]}"
            console.warn(f"{root} is for {' and '.join(found)} alone, and GE on {toolkit.arch} finds no op in it", help=advice)


def python_of(named: str | None) -> Path | None:
    """What is named with a '/' is that file, and not a command of its name: a Path would forget the "./"."""
    if named is None:
        return None
    return _absolute(Path(named)) if os.sep in named else Path(named)


def prefix_of(named: str | None, environ: Mapping[str, str]) -> Path:
    """The prefix to change. Raises MachineError where none is named and the user has no folder for one."""
    prefix = prefix_to_read(named, environ)
    if prefix is None:
        msg = "there is no place to install to"
        raise MachineError(msg, because="you have no home folder here", help="name a folder with --prefix DIR or OPKIT_PREFIX")
    return prefix


def prefix_to_read(named: str | None, environ: Mapping[str, str]) -> Path | None:
    """None where none is named and the user has none. Raises UsageError for what can't be one."""
    from opkit.packaging import checked_prefix, default_prefix

    prefix = default_prefix(environ) if named is None else checked_prefix(named)
    if prefix is not None and os.path.exists(prefix) and not os.path.isdir(prefix):  # noqa: PTH110, PTH112 - Path's raise below a closed folder
        msg = f"the prefix {prefix} is no folder"
        raise UsageError(msg, because="it is a file", help="name the folder of the installed packages: --prefix DIR")
    return prefix


def report_kept(root: Path, kept: Kept) -> None:
    """Tells which file of an installed package stays, and where."""
    moved = "" if kept.place == kept.path else f", as {kept.place}"
    if kept.is_edited:
        console.warn(f"{root / kept.path} was edited; it stays{moved}")
    elif moved:
        console.warn(f"{root / kept.path} isn't opkit's and is in the way; it stays{moved}")
    else:
        console.say(f"{root / kept.path} isn't opkit's; it stays")


def kept_document(kept: Kept) -> dict[str, object]:
    return {"path": str(kept.path), "place": str(kept.place), "edited": kept.is_edited}


def load_spec(project: Project) -> Package:
    """The package of ops.py; its warnings are printed. Raises SpecErrors."""
    from opkit.spec import load_package

    package = load_package(project.ops_py)
    console.warnings(package.warnings)
    return package


class _Warned(Protocol):
    @property
    def warnings(self) -> tuple[SpecWarning, ...]: ...


def warnings_of(told: _Warned) -> list[dict[str, Any]]:
    """The warnings of a spec that were printed, for the document of a command."""
    return [warning.to_json() for warning in told.warnings]


def opp_roots(project: str | None, opp: Sequence[str]) -> list[Path]:
    """The OPP roots that the user named, or the one of the built project. Raises UsageError for a folder that is none."""
    if not opp:
        return [read_opp_root(Project.find(project or ".")).path]
    return [_opp_root(Path(folder)) for folder in opp]


def _opp_root(folder: Path) -> Path:
    if not folder.is_dir():
        msg = f"--opp {folder} is no folder"
        raise UsageError(msg)
    root = _absolute(folder)  # Not resolved: an installed package is a link that its upgrades rename.
    if is_opp_root(root):
        return root
    above = root_above(root)
    help_text = None if above is None else f"--opp {above}"
    msg = f"--opp {folder} is no OPP root"
    raise UsageError(msg, because=f"it holds neither op_graph nor {LIBRARY}", help=help_text)


def announce(toolkit: Toolkit) -> None:
    if toolkit.origin is Origin.BUNDLED:
        console.say(toolkit.reason)
    else:
        console.detail(f"toolkit {toolkit.home} ({toolkit.reason}): {toolkit.label}")


def _absolute(folder: Path) -> Path:
    return Path(os.path.abspath(folder))  # noqa: PTH100 - without "..", and links stay as they are named
