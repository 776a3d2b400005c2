"""Many projects in one call: with nothing to do, and from nothing with and without ccache."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import OPKIT, copy_of_sample, in_turns, milliseconds, run
from benchmarks.row import Row
from opkit.toolkit import find_cmake

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cold", "warm"]

_MANY = 200
_FEW = 8


def warm() -> Iterator[Row]:
    """Against what a user of as many hand-written projects types. The first build of them all takes minutes, with ccache at hand."""
    with tempfile.TemporaryDirectory() as folder:
        projects = _copies(Path(folder), _MANY)
        env = {"CCACHE_DIR": f"{folder}/ccache"}
        run([OPKIT, "build", "ops", "--quiet"], env=env, cwd=Path(folder))
        cmake = find_cmake(os.environ).path
        trees = [next(project.glob("build/simulator-*")) for project in projects]

        def by_hand() -> None:
            for tree in trees:
                run([cmake, "--build", tree])

        ours, peer = in_turns(lambda: run([OPKIT, "build", "ops"], cwd=Path(folder)), by_hand, rounds=5)
    what = f"warm opkit build of {_MANY} projects"
    yield Row(what=what, ours=milliseconds(ours), peer=f"{_MANY} times cmake --build {milliseconds(peer)}", ratio=ours / peer, limit=1.0)
    yield Row(what=what, ours=milliseconds(ours), peer="2 s", ratio=ours / 2, limit=1.0)


def cold() -> Iterator[Row]:
    """The checkout is new each time; ccache knows what is in it."""
    with tempfile.TemporaryDirectory() as folder:
        projects = _copies(Path(folder), _FEW)
        env = {"CCACHE_DIR": f"{folder}/ccache"}

        def build(launcher: str) -> None:
            for project in projects:
                for made in ("build", "output"):
                    shutil.rmtree(project / made, ignore_errors=True)
            run([OPKIT, "build", "ops", "--launcher", launcher], env=env, cwd=Path(folder))

        ours, peer = in_turns(lambda: build("ccache"), lambda: build("none"), rounds=1)
    yield Row(
        what=f"cold opkit build of {_FEW} projects, warm ccache",
        ours=f"{ours:.1f} s",
        peer=f"without ccache {peer:.1f} s",
        ratio=ours / peer,
        limit=0.25,
    )


def _copies(folder: Path, count: int) -> list[Path]:
    sample = copy_of_sample(folder)
    projects = [folder / "ops" / f"add_{number}" for number in range(count)]
    for project in projects:
        shutil.copytree(sample, project)
    return projects
