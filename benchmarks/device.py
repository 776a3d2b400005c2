"""The runtime's copy against memcpy, and a kernel's compilation against the same from the cache; each inside a small C++ program of its
own.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import milliseconds, run
from benchmarks.row import Row
from opkit import resources
from opkit.toolkit import Toolkit, discover, find_compiler

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["copy", "rtc"]

_SOURCES = Path(__file__).resolve().parent / "cpp"
_ROUNDS = 3


def copy() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        program, toolkit = _compiled("copy", Path(folder))
        times = [[float(word) for word in run([program], env=_libraries(toolkit)).split()] for _ in range(_ROUNDS)]
        ours, peer = (statistics.median(pair[which] for pair in times) / 1e6 for which in (0, 1))
        yield Row(
            what="64 MB device-to-device copy", ours=milliseconds(ours), peer=f"memcpy {milliseconds(peer)}", ratio=ours / peer, limit=1.1
        )


def rtc() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        program, toolkit = _compiled("rtc", Path(folder))
        kernel = resources.kernels() / "add_custom.asc"
        real: list[float] = []
        cached: list[float] = []
        for number in range(_ROUNDS):
            environment = {**_libraries(toolkit), "OPKIT_SIM_CACHE_DIR": str(Path(folder) / f"cache{number}")}
            real.append(float(run([program, kernel], env=environment)) / 1e6)
            cached += [float(run([program, kernel], env=environment)) / 1e6 for _ in range(5)]
        ours, peer = statistics.median(cached), statistics.median(real)
        yield Row(
            what="RTC compile of add_custom.asc, cached",
            ours=milliseconds(ours),
            peer=f"itself, real {milliseconds(peer)}",
            ratio=ours / peer,
            limit=0.01,
        )


def _compiled(name: str, folder: Path) -> tuple[Path, Toolkit]:
    toolkit = discover(os.environ)
    program = folder / name
    options = ["-std=c++17", "-O2", f"-I{toolkit.include}", f"-L{toolkit.lib64}"]
    libraries = ["-lascendcl", "-lacl_rtc", f"-Wl,-rpath,{toolkit.lib64}"]
    run([find_compiler(os.environ).path, *options, _SOURCES / f"{name}.cpp", "-o", program, *libraries])
    return program, toolkit


def _libraries(toolkit: Toolkit) -> dict[str, str]:
    return {"LD_LIBRARY_PATH": str(toolkit.lib64)}
