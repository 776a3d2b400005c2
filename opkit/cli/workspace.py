"""`opkit build` of many projects: each one's own lines together, its time, and at the end what failed and why."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opkit.build.workspace import Clash, Outcome, build_all, clashes, exit_of
from opkit.cli.finished import as_document, summary
from opkit.console import console
from opkit.errors import WorkspaceError

if TYPE_CHECKING:
    from opkit.build import Project, Settings
    from opkit.toolkit import Toolkit

__all__ = ["build_workspace"]

# Not -m: that would let a folder named opkit in the current one be opkit.
_START = "import sys; sys.path[:] = filter(None, sys.path); from opkit.cli import main; sys.exit(main())"
# Options with a value that each project's own opkit gets as well.
_VALUES = ("build_type", "abi", "npu_arch", "launcher", "wait", "toolkit", "arch")
_TOLD_ERRORS = 20
_TOLD_CLASHES = 8
_TOLD_PROJECTS = 4


def build_workspace(
    projects: Sequence[Project],
    toolkit: Toolkit,
    environ: Mapping[str, str],
    *,
    settings: Settings,
    options: Mapping[str, Any],
) -> int:
    """`options` are those of the command line, which each project's own opkit gets too."""
    started = time.monotonic()
    outcomes: dict[Path, Outcome] = {}
    # Its errors are shown as they are here, in color where this terminal has it.
    colored = {**environ, "FORCE_COLOR": "1"} if console.has_color else environ

    def command(project: Project, jobs: int) -> list[str]:
        return [sys.executable, "-c", _START, "build", str(project.root), "--json", f"--jobs={jobs}", *_passed_on(options)]

    console.step("Building", f"{len(projects)} project{'s' if len(projects) != 1 else ''}")
    with (
        closing(
            build_all(
                projects, toolkit, colored, settings=settings, command=command, is_forced=bool(options["force"]), jobs=options["jobs"]
            )
        ) as ended,
        console.progress("Building", len(projects)) as progress,
    ):
        for outcome in ended:
            outcomes[outcome.project.root] = outcome
            _tell(outcome, is_explained=bool(options["explain"]))
            progress.advance(note=_shown(outcome.project))
    in_order = [outcomes[project.root] for project in projects]
    found = clashes(in_order)
    _warn_of(found)
    exit_code = exit_of(in_order)
    seconds = time.monotonic() - started
    console.document(
        {
            "packages": [_document(outcome, toolkit) for outcome in in_order],
            "failed": sum(outcome.exit != 0 for outcome in in_order),
            "clashes": [_clash_document(clash) for clash in found],
            "seconds": round(seconds, 3),
        }
    )
    _sum_up(in_order, seconds)
    return exit_code


def _passed_on(options: Mapping[str, Any]) -> list[str]:
    passed = [f"--{name.replace('_', '-')}={options[name]}" for name in _VALUES if options[name] is not None]
    passed += [f"-D{name}={value}" for name, value in options["definitions"].items()]
    passed += [f"--{name}" for name in ("force", "explain") if options[name]]
    if console.is_verbose:
        return [*passed, "--verbose"]
    return passed if options["explain"] else [*passed, "--quiet"]


def _tell(outcome: Outcome, *, is_explained: bool) -> None:
    """Nothing of one that had nothing to do: a line for each of two hundred hides the one that matters."""
    shown = _shown(outcome.project)
    built = outcome.built
    if built is not None:
        if is_explained or console.is_verbose:
            console.step("Finished", f"{shown}: {summary(built.steps, built.seconds)}")
            for reason in built.reasons:
                console.say(reason)
        return
    if outcome.exit:
        console.failure("Failed", f"{shown} ({outcome.seconds:.2f} s)")
    else:
        console.step("Finished", f"{shown}: {summary(outcome.document.get('steps', ()), outcome.seconds)}")
    if outcome.text:
        console.block(outcome.text)


def _sum_up(outcomes: Sequence[Outcome], seconds: float) -> None:
    failed = [outcome for outcome in outcomes if outcome.exit]
    if failed:
        lines = [f"{_shown(outcome.project)}: {_cause(outcome)}" for outcome in failed[:_TOLD_ERRORS]]
        if len(failed) > _TOLD_ERRORS:
            lines.append(f"and {len(failed) - _TOLD_ERRORS} more")
        msg = f"{len(failed)} of {len(outcomes)} projects failed, the others are up to date"
        console.error(WorkspaceError(msg, because="\n".join(lines)))
        return
    worked = sum(outcome.built is None and bool(outcome.document.get("steps")) for outcome in outcomes)
    built = [f"{worked} built"] if worked else []
    current = [f"{len(outcomes) - worked} up to date"] if worked < len(outcomes) else []
    what = f"{len(outcomes)} project{'s' if len(outcomes) != 1 else ''}: {', '.join(built + current)}"
    console.step("Finished", f"{what} ({seconds:.2f} s)")


def _cause(outcome: Outcome) -> str:
    error = outcome.error or {}
    several = error.get("errors", ())
    if len(several) == 1:
        (error,) = several
    where = f" ({str(error['where']).split('   ')[0]})" if error.get("where") else ""
    return f"{error.get('number', 'OPK0000')} {error.get('message', '')}{where}"


def _warn_of(found: Sequence[Clash]) -> None:
    for clash in found[:_TOLD_CLASHES]:
        shown = [_shown(project) for project in clash.projects]
        *most, last = shown if len(shown) <= _TOLD_PROJECTS else [*shown[: _TOLD_PROJECTS - 1], f"{len(shown) - _TOLD_PROJECTS + 1} more"]
        places = f"{', '.join(most)} and {last}"
        if clash.is_op:
            console.warn(f"the op type {clash.name} is in {places}: of those that are activated together, GE takes the first")
        else:
            console.warn(f"the package name {clash.name} is given by {places}: a prefix holds one of them")
    if len(found) > _TOLD_CLASHES:
        console.warn(f"{len(found) - _TOLD_CLASHES} more names are given twice; --json lists them")


def _document(outcome: Outcome, toolkit: Toolkit) -> dict[str, object]:
    told = outcome.document if outcome.built is None else as_document(outcome.built, toolkit)
    return {"project": str(outcome.project.root), "exit": outcome.exit, **told}


def _clash_document(clash: Clash) -> dict[str, object]:
    kind = "op" if clash.is_op else "package"
    return {"kind": kind, "name": clash.name, "projects": [str(project.root) for project in clash.projects]}


def _shown(project: Project) -> str:
    """As a user in the current folder would type it."""
    current = Path(os.getcwd())  # noqa: PTH109 - without resolving again
    return str(project.root.relative_to(current)) if project.root.is_relative_to(current) else str(project.root)
