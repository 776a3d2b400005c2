"""Device memory over the life of many graphs: what the generated ops and their graphs took is given back before the device is reset."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from command_support import opkit, opkit_json

from opkit.run import Case, CaseWriter
from opkit.run.case import TensorItem

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sample"), pytest.mark.usefixtures("toolkit_home")]

GRAPHS = 60
# Loaded before the simulator: asks its ledger whenever the program waits for a stream, and once more when it gives the device back.
WATCHER = """
#include <dlfcn.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace opkit_sim::rt {
enum class Owner : uint32_t { kUser = 0, kGraph = 1 };
size_t OutstandingAllocations(Owner owner);
}  // namespace opkit_sim::rt

using opkit_sim::rt::OutstandingAllocations;
using opkit_sim::rt::Owner;

static size_t most_user = 0;
static size_t most_graph = 0;

extern "C" int aclrtSynchronizeStream(void *stream) {
  const size_t user = OutstandingAllocations(Owner::kUser);
  const size_t graph = OutstandingAllocations(Owner::kGraph);
  most_user = user > most_user ? user : most_user;
  most_graph = graph > most_graph ? graph : most_graph;
  return reinterpret_cast<int (*)(void *)>(dlsym(RTLD_NEXT, "aclrtSynchronizeStream"))(stream);
}

extern "C" int aclrtResetDevice(int32_t device) {
  std::fprintf(stderr, "outstanding: program %zu of %zu, graphs %zu of %zu\\n", OutstandingAllocations(Owner::kUser), most_user,
               OutstandingAllocations(Owner::kGraph), most_graph);
  return reinterpret_cast<int (*)(int32_t)>(dlsym(RTLD_NEXT, "aclrtResetDevice"))(device);
}
"""


def test_many_graphs_leave_no_device_memory_behind(sample: Path, tmp_path: Path) -> None:
    built = opkit_json("build", sample)
    toolkit = built["toolkit"]["home"]
    (tmp_path / "watcher.cpp").write_text(WATCHER)
    library = tmp_path / "watcher.so"
    argv = ["g++", "-std=c++17", "-shared", "-fPIC", str(tmp_path / "watcher.cpp"), "-o", str(library)]
    subprocess.run([*argv, f"-L{toolkit}/lib64", "-lacl_rt", "-ldl", f"-Wl,-rpath,{toolkit}/lib64"], check=True)
    x = np.zeros(2000, np.float32)
    inputs = tuple(TensorItem(port=port, dtype="float32", array=x) for port in ("x", "y"))
    writer = CaseWriter(tmp_path / "cases")
    folders = [writer.write(op, Case(op=op, inputs=inputs)) for op in ("AddRefreshOp", "AddNoRefreshOp")]
    cases = [word for folder in folders for _ in range(GRAPHS // 2) for word in ("--case", str(folder))]
    told = opkit(
        "run", "--project", sample, "--", built["program"], "--check-only", *cases, env={**os.environ, "LD_PRELOAD": str(library)}
    ).stderr
    found = re.search(r"outstanding: program (\d+) of (\d+), graphs (\d+) of (\d+)", told)
    assert found is not None, told
    left_user, most_user, left_graph, most_graph = map(int, found.groups())
    # It did see them.
    assert most_user >= 6
    assert most_graph > 0
    # One graph at a time: what it had is gone before the next has it.
    assert most_graph < GRAPHS
    assert (left_user, left_graph) == (0, 0)
