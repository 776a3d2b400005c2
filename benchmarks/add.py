"""The simulated add of the sample against NumPy's and onnxruntime's, by threads, and the sample's own speedup against the ratio of bytes
moved.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measure import bench_json, copy_of_sample, milliseconds, seconds_of
from benchmarks.row import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

__all__ = ["add", "small_adds"]

_SIDE = 4096
_ITERS = 10
_REPEATS = 5
_ROUNDS = 5
_SMALL_RUNS = 10_000
# 576 MB and 192 MB for three tensors of 64 MB: copied in, read, written, copied out, against read and written.
_BYTES_RATIO = 3.0


def add() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        project = copy_of_sample(Path(folder))
        speedups: list[float] = []
        for threads, limit in ((2, 1.0), (1, 1 / 0.8)):
            ours: list[float] = []
            numpy_times: list[float] = []
            onnx_times: list[float] = []
            for _ in range(_ROUNDS):
                # The time from launch to synchronisation, each of a few executions: as the peers', a median of runs.
                report = bench_json(project, "--iters", str(_ITERS), "--repeat", str(_REPEATS), env={"OPKIT_SIM_THREADS": str(threads)})
                ours.append(statistics.median(report["cases"][0]["samples_us"]) / _ITERS / 1e6)
                speedups += [report["speedup"]["median"]] if threads == 2 else []
                numpy_times.append(_numpy_add())
                onnx_times.append(_onnx_add(threads))
            mine, numpy_time, onnx_time = (statistics.median(times) for times in (ours, numpy_times, onnx_times))
            what = f"add of float32 [{_SIDE}, {_SIDE}], {threads} thread{'s' if threads > 1 else ''}"
            yield Row(what=what, ours=milliseconds(mine), peer=f"numpy {milliseconds(numpy_time)}", ratio=mine / numpy_time, limit=limit)
            yield Row(what=what, ours=milliseconds(mine), peer=f"onnxruntime {milliseconds(onnx_time)}", ratio=mine / onnx_time)
        speedup = statistics.median(speedups)
        peer = f"{_BYTES_RATIO:g}, the ratio of bytes moved"
        yield Row(what="[Perf] Speedup of the sample", ours=f"{speedup:.2f}", peer=peer, ratio=speedup / _BYTES_RATIO)


def small_adds() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        project = copy_of_sample(Path(folder))
        ours: list[float] = []
        peer: list[float] = []
        for _ in range(_ROUNDS):
            report = bench_json(project, "--shape", "x=8", "--iters", str(_SMALL_RUNS), "--repeat", "1")
            ours.append(report["cases"][0]["avg_us"] / 1e6)
            peer.append(_onnx_small())
        mine, theirs = statistics.median(ours), statistics.median(peer)
        what = f"{_SMALL_RUNS} executions of 8 elements, refreshed, alternating addresses: one"
        yield Row(
            what=what, ours=f"{mine * 1e6:.2f} us", peer=f"onnxruntime, IO binding {theirs * 1e6:.2f} us", ratio=mine / theirs, limit=1.0
        )
        report = bench_json(project, "--shape", "x=8", "--iters", "1", "--repeat", "200")
        latency = statistics.median(report["cases"][0]["samples_us"]) / 1e6
        what = "execute and synchronise, 8 elements, addresses as before"
        yield Row(what=what, ours=f"{latency * 1e6:.2f} us", peer=f"onnxruntime, IO binding {theirs * 1e6:.2f} us", ratio=latency / theirs)


def _tensors(shape: tuple[int, ...]) -> list[npt.NDArray[np.float32]]:
    generator = np.random.default_rng(1)
    return [generator.random(shape, dtype=np.float32) for _ in range(3)]


def _numpy_add() -> float:
    x, y, z = _tensors((_SIDE, _SIDE))
    np.add(x, y, out=z)
    return statistics.median(seconds_of(lambda: np.add(x, y, out=z)) for _ in range(_ITERS * _REPEATS))


def _onnx_add(threads: int) -> float:
    session, bindings = _onnx_session((_SIDE, _SIDE), threads)
    session.run_with_iobinding(bindings[0])
    return statistics.median(seconds_of(lambda: session.run_with_iobinding(bindings[0])) for _ in range(_ITERS * _REPEATS))


def _onnx_small() -> float:
    session, bindings = _onnx_session((8,), 2)
    for number in range(100):
        session.run_with_iobinding(bindings[number % 2])
    start = time.perf_counter()
    for number in range(_SMALL_RUNS):
        session.run_with_iobinding(bindings[number % 2])
    return (time.perf_counter() - start) / _SMALL_RUNS


def _onnx_session(shape: tuple[int, ...], threads: int) -> tuple[Any, list[Any]]:
    """A session of one Add, and two IO bindings with buffers of their own."""
    import onnxruntime
    from onnx import TensorProto, helper

    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xyz"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "y"], ["z"])], "add", ports[:2], ports[2:])
    # An old opset and IR version: the installed onnxruntime may be older than the installed onnx.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    bindings = []
    for _ in range(2):
        x, y, z = (onnxruntime.OrtValue.ortvalue_from_numpy(tensor) for tensor in _tensors(shape))
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", x)
        binding.bind_ortvalue_input("y", y)
        binding.bind_ortvalue_output("z", z)
        bindings.append(binding)
    return session, bindings
