"""The first step: the generated files, rendered again if the spec, what it reads, or opkit's own text changed."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit import resources
from opkit.build.state import STATE, Rendered, Stat, Tracked, identity_of, stat_of, track, tracked_again
from opkit.console import console
from opkit.files import guard_writing

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.spec import Package, SpecWarning

__all__ = ["VERSION_FILE", "Rendering", "checked", "own_stats", "rendered"]

# What CMake reads when it installs.
VERSION_FILE = "pyproject.toml"
_NAMED_FILES = 4
# Where the files lie that kernels and the generated C++ include, beside the folders of those that the spec names.
_WATCHED = ("kernels", "ge")
# A time that was restored lies further behind than what a slow disk takes.
_RESTORED_NS = 1_000_000_000


class Rendering(NamedTuple):
    """`is_changed` says whether a file in the project was written or removed."""

    rendered: Rendered
    is_changed: bool
    warnings: tuple[SpecWarning, ...]


def own_stats() -> dict[str, Stat]:
    """opkit's own text as it is now, for those who check many projects."""
    return {name: identity_of(path) for name, path in _own_files().items()}


def checked(project: Project, known: Rendered, own_now: Mapping[str, Stat] | None = None) -> tuple[Rendered, list[str]]:
    """What is known as it is now, and why it has to be rendered again, if anything changed.

    A changed file whose time doesn't tell so gets the time of now: Ninja and make know files by nothing else.
    """
    root = str(project.root)
    own: Mapping[str, Tracked] = known.own
    changed_own: list[str] = []
    if own_now is None or None in own_now.values() or own_now != {name: tracked.stat for name, tracked in own.items()}:
        own, changed_own = tracked_again(_own_files(), own)
    sources, changed_sources = tracked_again({name: os.path.join(root, name) for name in known.sources}, known.sources)  # noqa: PTH118
    watched, changed_watched = tracked_again(_watched_files(project, known.sources, known.generated), known.watched)
    for before, changed, now in ((known.sources, changed_sources, sources), (known.watched, changed_watched, watched)):
        for name in changed:
            if name in before and name in now and now[name].sha and not name.endswith(".py"):
                now[name] = _freshened(project, name, now[name])
    generated, changed = tracked_again({path: f"{root}/{path}" for path in known.generated}, known.generated)
    reasons = [f"{name} changed" for name in changed_sources]
    reasons += [f"{path} {'changed' if generated[path].sha else 'is gone'}" for path in changed]
    if changed_own:
        reasons.append(f"opkit itself changed ({changed_own[0]})")
    return known._replace(own=own, sources=sources, generated=generated, watched=watched), reasons


def rendered(project: Project, package: Package | None) -> Rendering:
    """Raises SpecErrors or EditedFileError."""
    from opkit.codegen import OWNED_FILES, render
    from opkit.spec import load_package

    loaded = load_package(project.ops_py) if package is None else package
    console.warnings(loaded.warnings)
    names = (_name(project, path) for path in (project.ops_py, *loaded.sources, *loaded.kernel_files, *loaded.user_headers))
    # Before rendering: a file that is saved meanwhile must count as changed at the next build.
    sources = {name: track(project.root / name) for name in dict.fromkeys(names)}
    own = {name: track(Path(path)) for name, path in _own_files().items()}
    files = render(loaded)
    generated = [file.path for file in files]
    watched = {name: track(Path(path)) for name, path in _watched_files(project, sources, generated).items()}
    changes = files.write(project.root)
    for path in changes.kept:
        console.warn(f"{path} is no longer needed, but was edited; it stays")
    if changes:
        told = [*changes.written, *(f"{path} (removed)" for path in changes.removed)]
        console.step("Rendered", ", ".join(told) if len(told) <= _NAMED_FILES else f"{len(told)} files")
    made = Rendered(
        package=loaded.name,
        ops=tuple(op.type for op in loaded.ops),
        sources=sources if package is None else {},
        own=own,
        generated={path: track(project.root / path) for path in (*generated, OWNED_FILES)},
        watched=watched,
    )
    return Rendering(made, bool(changes), loaded.warnings)


def _own_files() -> dict[str, str]:
    package, templates = Path(__file__).resolve().parent.parent, resources.templates() / "deliverable"
    files = {"opkit/layout.py": str(package / "layout.py")}
    for top, name in ((package / "spec", "opkit/spec"), (package / "codegen", "opkit/codegen"), (templates, "templates/deliverable")):
        start = len(str(top))
        for folder, folders, found in os.walk(top):
            folders[:] = [each for each in folders if each != "__pycache__"]
            for file in found:
                files[f"{name}{folder[start:]}/{file}"] = f"{folder}/{file}"
    return files


def _watched_files(project: Project, sources: Iterable[str], generated: Container[str]) -> dict[str, str]:
    """The files of the user that may be read without the spec's knowing, each with its path."""
    root = str(project.root)
    tops = dict.fromkeys((*_WATCHED, *(name.partition("/")[0] for name in sources if "/" in name and name[0] != "/")))
    known = {*sources}
    files = {}
    if os.path.isfile(f"{root}/{VERSION_FILE}"):  # noqa: PTH113 - in every build
        files[VERSION_FILE] = f"{root}/{VERSION_FILE}"
    for top in tops:
        for folder, folders, found in os.walk(f"{root}/{top}"):
            folders[:] = [name for name in folders if name[0] != "." and name != "__pycache__"]
            for file in found:
                path = f"{folder}/{file}"
                files[path[len(root) + 1 :]] = path
    return {name: path for name, path in files.items() if name not in known and name not in generated}


def _freshened(project: Project, name: str, now: Tracked) -> Tracked:
    path = project.root / name
    stat, built = identity_of(path), stat_of(project.build_dir / STATE)
    if stat is None or built is None or stat[1] >= max(built[1], stat[2] - _RESTORED_NS):
        return now
    with guard_writing(path):
        os.utime(path)
    return track(path)


def _name(project: Project, path: Path) -> str:
    return str(path.relative_to(project.root)) if path.is_relative_to(project.root) else str(path)
