"""How many compilers run at once: what cores, memory and the control group of a container allow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opkit.build.jobs import COMPILE_MB, default_jobs

_MB = 1 << 20


def _machine(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(autouse=True)
def _many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))


def _memory(compiles: float) -> str:
    return f"MemTotal: 999999999 kB\nMemAvailable: {int(compiles * COMPILE_MB * 1024)} kB\n"


@pytest.mark.parametrize(("compiles", "jobs"), [(100, 64), (3.9, 3), (1, 1), (0.1, 1)])
def test_memory_limits_the_jobs_and_one_always_runs(tmp_path: Path, compiles: float, jobs: int) -> None:
    assert default_jobs(_machine(tmp_path, {"proc/meminfo": _memory(compiles)})) == jobs


def test_what_cannot_be_read_limits_nothing(tmp_path: Path) -> None:
    assert default_jobs(tmp_path) == 64
    assert default_jobs(_machine(tmp_path, {"proc/meminfo": "MemAvailable:\n", "proc/self/cgroup": "0::/\n"})) == 64


def test_a_control_group_and_those_around_it_limit_cores_and_memory(tmp_path: Path) -> None:
    group = "sys/fs/cgroup/a/b"
    files = {
        "proc/meminfo": _memory(100),
        "proc/self/cgroup": "0::/a/b\n",
        f"{group}/memory.max": "max\n",
        f"{group}/memory.current": "0\n",
        f"{group}/cpu.max": "max 100000\n",
    }
    assert default_jobs(_machine(tmp_path, files)) == 64
    around = "sys/fs/cgroup/a"
    assert default_jobs(_machine(tmp_path, {f"{around}/cpu.max": "250000 100000\n"})) == 2
    more = {f"{around}/cpu.max": "900000 100000\n", f"{around}/memory.max": str(9 * COMPILE_MB * _MB), f"{around}/memory.current": "0"}
    assert default_jobs(_machine(tmp_path, more)) == 9
    assert default_jobs(_machine(tmp_path, {f"{around}/memory.current": str(4 * COMPILE_MB * _MB)})) == 5


def test_control_groups_of_the_first_version_count_too(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "5:cpu,cpuacct:/c\n4:memory:/c\n",
        "sys/fs/cgroup/cpu/c/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "600000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }
    assert default_jobs(_machine(tmp_path, files)) == 6
    memory = {"memory.limit_in_bytes": str(3 * COMPILE_MB * _MB), "memory.usage_in_bytes": "0"}
    assert default_jobs(_machine(tmp_path, {f"sys/fs/cgroup/memory/c/{name}": text for name, text in memory.items()})) == 3
