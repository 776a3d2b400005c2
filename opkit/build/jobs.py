"""How many compilers at once: as many as there are cores and as memory allows, within what the control group of a container grants."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["COMPILE_MB", "default_jobs"]

# Measured by `/usr/bin/time -f %M` with g++ 12.2 on x86_64 in a Release build: 310 MB for session_run/main.cc of the sample, the largest of
# a project, 178 MB for its ge/custom_op.cpp. The rest is for packages with more ops.
COMPILE_MB = 512


def default_jobs(root: Path = Path("/")) -> int:
    """`root` is where proc/ and sys/ lie."""
    memory = [_available(root), *(limit - used for limit, used in _granted_memory(root))]
    known = [each for each in memory if each is not None]
    cores = min([len(os.sched_getaffinity(0)), *_granted_cores(root)])
    return max(1, min([cores, *(each // (COMPILE_MB << 20) for each in known)]))


def _available(root: Path) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _granted_memory(root: Path) -> Iterator[tuple[int, int]]:
    """Limit and use, in bytes, of each group that has a limit; "max" is none (control groups v2)."""
    for folder in _groups(root, "memory"):
        for limit, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
            with suppress(OSError, ValueError):
                yield int((folder / limit).read_text()), int((folder / used).read_text())


def _granted_cores(root: Path) -> Iterator[int]:
    for folder in _groups(root, "cpu"):
        with suppress(OSError, ValueError):
            quota, period = map(int, (folder / "cpu.max").read_text().split())
            yield max(1, quota // period)
        with suppress(OSError, ValueError):
            quota = int((folder / "cpu.cfs_quota_us").read_text())
            if quota > 0:
                yield max(1, quota // int((folder / "cpu.cfs_period_us").read_text()))


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's control group and of those around it, whose limits count as well."""
    base = root / "sys/fs/cgroup"
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and controller not in controllers.split(","):
                continue
            top = base / controller if controllers else base
            group = top / path.lstrip("/")
            while group.is_relative_to(top):
                yield group
                group = group.parent
