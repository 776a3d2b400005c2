"""Timing two things in turns, so that what else the machine does hits both alike; and the project that is measured."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["OPKIT", "SAMPLE", "bench_json", "copy_of_sample", "in_turns", "milliseconds", "run", "seconds_of"]

SAMPLE = Path(__file__).resolve().parent.parent / "samples" / "args_refresh_add_custom"
# The installed command, not `python -m`: what a user starts.
OPKIT = Path(sysconfig.get_path("scripts")) / "opkit"


def run(argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
    """Gives stdout; a failing command shows what it said and ends the benchmark."""
    ended = subprocess.run(argv, env={**os.environ, **(env or {})}, cwd=cwd, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(map(str, argv))} exited with {ended.returncode}\n{ended.stdout}\n{ended.stderr}")
    return ended.stdout


def seconds_of(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def in_turns(ours: Callable[[], object], peer: Callable[[], object], *, rounds: int) -> tuple[float, float]:
    """Gives the median seconds of each, after one round that isn't counted; the order changes each round."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        order = (0, 1) if number % 2 else (1, 0)
        for which in order:
            taken = seconds_of((ours, peer)[which])
            if number:
                times[which].append(taken)
    return statistics.median(times[0]), statistics.median(times[1])


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms"


def copy_of_sample(folder: Path) -> Path:
    """Gives a copy without what builds made, so that a measurement leaves the checkout as it is."""
    target = folder / "sample"
    shutil.copytree(SAMPLE, target, ignore=shutil.ignore_patterns("build", "output"))
    return target


def bench_json(project: Path, *options: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run([OPKIT, "bench", project, "--json", *options], env=env))
    return document
