"""opkit itself: builds against CMake by hand, start-up against click, installation, rendering by the number of ops."""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import venv
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import OPKIT, copy_of_sample, in_turns, milliseconds, run, seconds_of
from benchmarks.row import Row
from opkit.toolkit import LAUNCHER_VARIABLE, Tool, discover, find_cmake, find_ninja

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["cold_build", "doctor", "help_page", "installing", "pip_install", "rendering", "warm_build"]

_CHECKOUT = Path(__file__).resolve().parent.parent
_MANY_OPS = 1000


class _ByHand:
    """What a user of the hand-written project types: configure, build, install."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.build = folder / "build"
        self._env = {"ASCEND_HOME_PATH": str(discover(os.environ).home), "CMAKE_GENERATOR": "Ninja", LAUNCHER_VARIABLE: ""}
        cmake: Tool = find_cmake(os.environ)
        self._steps: list[list[str | Path]] = [
            [cmake.path, "-S", project, "-B", self.build, "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_INSTALL_PREFIX={folder / 'output'}"],
            [cmake.path, "--build", self.build],
            [cmake.path, "--install", self.build],
        ]
        self._steps[0].append(f"-DCMAKE_MAKE_PROGRAM={find_ninja(os.environ).path}")

    def __call__(self) -> None:
        for step in self._steps:
            run(step, env=self._env)


def warm_build() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        project = copy_of_sample(Path(folder))
        by_hand = _ByHand(project, Path(folder) / "hand")
        ours, peer = in_turns(lambda: run([OPKIT, "build", project]), by_hand, rounds=9)
        what = "warm opkit build"
        yield Row(
            what=what, ours=milliseconds(ours), peer=f"configure + build + install {milliseconds(peer)}", ratio=ours / peer, limit=1.0
        )
        yield Row(what=what, ours=milliseconds(ours), peer="100 ms", ratio=ours / 0.1, limit=1.0)


def cold_build() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        project = copy_of_sample(Path(folder))
        by_hand = _ByHand(project, Path(folder) / "hand")

        caches = Path(folder) / "caches"

        def ours_cold(env: Mapping[str, str] | None = None) -> None:
            shutil.rmtree(project / "build", ignore_errors=True)
            shutil.rmtree(project / "output", ignore_errors=True)
            run([OPKIT, "build", project, "--launcher", "none"], env=env)

        def ours_first() -> None:
            shutil.rmtree(caches, ignore_errors=True)
            ours_cold({"XDG_CACHE_HOME": str(caches)})

        def peer_cold() -> None:
            shutil.rmtree(by_hand.build, ignore_errors=True)
            by_hand()

        for what, action in (("cold opkit build", ours_cold), ("a user's first opkit build, without a cache", ours_first)):
            ours, peer = in_turns(action, peer_cold, rounds=3)
            limit = (peer + 0.2) / peer
            yield Row(what=what, ours=f"{ours:.2f} s", peer=f"cmake by hand {peer:.2f} s, and 200 ms", ratio=ours / peer, limit=limit)


def help_page() -> Iterator[Row]:
    ours, peer = in_turns(lambda: run([OPKIT, "--help"]), lambda: run([sys.executable, "-c", "import click"]), rounds=15)
    yield Row(what="opkit --help", ours=milliseconds(ours), peer=f"import click {milliseconds(peer)}", ratio=ours / peer, limit=1.5)


def doctor() -> Iterator[Row]:
    """All of it, with a library that is loaded in a child, against what CMake takes to describe a machine."""
    with tempfile.TemporaryDirectory() as folder:
        project = copy_of_sample(Path(folder))
        run([OPKIT, "build", project])
        by_cmake: list[str | Path] = [find_cmake(os.environ).path, "--system-information"]
        ours, peer = in_turns(lambda: run([OPKIT, "doctor", project]), lambda: run(by_cmake, cwd=Path(folder)), rounds=5)
    yield Row(
        what="opkit doctor", ours=milliseconds(ours), peer=f"cmake --system-information {milliseconds(peer)}", ratio=ours / peer, limit=1.0
    )
    yield Row(what="opkit doctor", ours=milliseconds(ours), peer="1 s", ratio=ours, limit=1.0)


def pip_install() -> Iterator[Row]:
    """Cold: a new environment, and no build folder from before. pip's cache of other projects' wheels is the machine's own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "venv"
        venv.create(environment, with_pip=True)
        taken = seconds_of(lambda: run([environment / "bin" / "pip", "install", "--quiet", _CHECKOUT]))
        yield Row(what="pip install ., cold", ours=f"{taken:.1f} s", peer="90 s", ratio=taken / 90, limit=1.0)


def installing() -> Iterator[Row]:
    """The sample's deliverable, from its archive and, for pip, from the wheel with the same files."""
    with tempfile.TemporaryDirectory() as folder:
        project, prefix, site = copy_of_sample(Path(folder)), Path(folder) / "prefix", Path(folder) / "site"
        for kind in ("tar", "wheel"):
            run([OPKIT, "package", project, "--format", kind, "--allow-simulator"])
        (archive,) = (project / "dist").glob("*.tar.gz")
        (wheel,) = (project / "dist").glob("*.whl")
        by_pip: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--target",
            site,
            "--upgrade",
            wheel,
        ]
        ours, peer = in_turns(lambda: run([OPKIT, "install", archive, "--prefix", prefix]), lambda: run(by_pip), rounds=9)
        what = "opkit install of the sample"
        yield Row(what=what, ours=milliseconds(ours), peer=f"pip install of its wheel {milliseconds(peer)}", ratio=ours / peer, limit=1.0)
        yield Row(what=what, ours=milliseconds(ours), peer="200 ms", ratio=ours / 0.2, limit=1.0)


def rendering() -> Iterator[Row]:
    """Ops that have something of their own each: ops that are alike share their code."""
    from opkit.codegen import render
    from opkit.spec import load_package

    with tempfile.TemporaryDirectory() as folder:
        project = copy_of_sample(Path(folder))
        taken = {}
        for count in (_MANY_OPS // 10, _MANY_OPS):
            spec = project / f"ops_{count}.py"
            spec.write_text(_spec_of(project, count), encoding="utf-8")
            package = load_package(spec)
            taken[count] = statistics.median(seconds_of(partial(render, package)) for _ in range(3))
        few, many = taken.values()
        what = f"rendering {_MANY_OPS} ops"
        yield Row(what=what, ours=f"{many:.2f} s", peer=f"10 times a tenth of them {10 * few:.2f} s", ratio=many / (10 * few))
        yield Row(what=what, ours=f"{many:.2f} s", peer="5 s", ratio=many / 5, limit=1.0)


def _spec_of(project: Path, count: int) -> str:
    spec = (project / "ops.py").read_text(encoding="utf-8")
    ops = [
        f'add_refresh.replace(type="Add{number}Op", dtypes={{"T": ["float32", "float16"]}}, attrs=[Attr("number", int, default={number}), '
        f'Attr("scale", float, default={number}.5), Attr("name", str, default="add {number}")], reference=None)'
        for number in range(count)
    ]
    return f'{spec}\npackage = Package("many", ops=[{", ".join(ops)}], header="many.h")\n'
