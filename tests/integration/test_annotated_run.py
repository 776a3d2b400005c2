"""Ops whose launches GE knows beforehand, built once and run: they give what their references do, and GE refreshes their addresses."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from annotated_support import SPEC, write_annotated
from command_support import edited, opkit_json
from generated_support import AS_DEEP, NAMED_COMPILER, build_by_hand, run_program, run_session

from opkit.codegen import render
from opkit.run import CaseWriter
from opkit.run.case import AttrItem, Case, TensorItem
from opkit.run.records import read_records
from opkit.spec import load_package

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("annotated"), pytest.mark.usefixtures("toolkit_home")]

DECLARED = ["AddScaled", "SubtractSum", "AddBias", "CountUp", "AddCount"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_annotated(tmp_path_factory.mktemp("annotated"))


@pytest.fixture(scope="module")
def results(project: Path, toolkit_home: Path) -> list[dict[str, Any]]:
    report: dict[str, Any] = opkit_json("test", project)
    found: list[dict[str, Any]] = report["results"]
    return [result for result in found if result["status"] != "skipped"]


@pytest.mark.parametrize("op", DECLARED)
@pytest.mark.parametrize("refresh", ["", "Updated", "Copied"])
def test_each_case_of_an_op_passes_however_its_addresses_are_refreshed(results: list[dict[str, Any]], op: str, refresh: str) -> None:
    cases = [result for result in results if result["op"] == f"{op}{refresh}"]

    assert {result["status"] for result in cases} == {"passed"}
    # Both sets of memory, of which the second has other addresses.
    assert {check["set"] for result in cases for check in result["checks"]} == {0, 1}


def test_the_cases_have_each_dtype_each_attr_and_no_elements(results: list[dict[str, Any]]) -> None:
    cases = [result for result in results if result["op"] == "AddScaled"]

    assert {result["dtypes"]["x"] for result in cases} == {"float32", "float16", "int32"}
    assert {result["attrs"]["negate"] for result in cases} == {True, False}
    assert len({result["attrs"]["alpha"] for result in cases}) > 1
    assert [0] in [result["shapes"]["x"] for result in cases]


def test_an_optional_input_may_be_absent_and_a_list_of_any_length(results: list[dict[str, Any]]) -> None:
    absent = [result["shapes"].get("bias") is None for result in results if result["op"] == "AddBias"]
    lengths = {len(result["shapes"]["x"]) for result in results if result["op"] == "AddCount"}

    assert set(absent) == {True, False}
    assert len(lengths) > 1


def case(op: str) -> Case:
    x = np.arange(2048, dtype="float32")
    attrs = [("alpha", "float", 0.5), ("offset", "float", 3.0), ("negate", "bool", False)]
    return Case(
        op=op,
        inputs=tuple(TensorItem(port=port, dtype="float32", array=x) for port in ("x", "y")),
        attrs=tuple(AttrItem(name=name, type=type_, value=value) for name, type_, value in attrs),
    )


@pytest.mark.usefixtures("results")
def test_a_run_has_the_kernel_and_no_copy_beside_it(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks: dict[str, Counter[str]] = {}
    for op in ("AddScaled", "AddScaledUpdated", "AddScaledCopied"):
        records = tmp_path / f"{op}.jsonl"
        monkeypatch.setenv("OPKIT_SIM_TASK_RECORDS", str(records))
        folder = CaseWriter(tmp_path / op).write("case", case(op))
        done = run_session(project, "annotated", "--iters", "4", "--case", folder)
        assert done.returncode == 0, done.stderr
        tasks[op] = Counter(task.kind for task in read_records(records) if task.run == 3)

    # The addresses go to the device in one table; only a graph that can't refresh copies what they are of.
    assert tasks["AddScaled"] == tasks["AddScaledUpdated"] == {"ARGS_H2D": 1, "KERNEL": 1}
    assert (tasks["AddScaledCopied"]["KERNEL"], tasks["AddScaledCopied"]["MEMCPY_ASYNC"]) == (1, 3)


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(("baseline", "copies"), [("copied[0]", 3), ("updated[0]", 0)])
def test_bench_compares_it_with_each_of_the_other_ways(project: Path, baseline: str, copies: int) -> None:
    with edited(project / "ops.py", "baseline=copied[0]", f"baseline={baseline}"):
        report = opkit_json("bench", project, "--repeat", "2")

    declared, other = report["cases"]
    assert (declared["op"], declared["refresh"]) == ("AddScaled", "annotated")
    assert other["refresh"] == ("none" if copies else "updater")
    assert all(check["passed"] for each in report["cases"] for check in each["precision"])
    assert next(source["count"] for source in report["analysis"] if source["source"] == "MEMCPY_ASYNC") == copies


PROGRAM = """\
#include <cstdint>
#include <cstdio>
#include <map>
#include <unistd.h>

#include "annotated.h"
#include "ge/ge_api.h"
#include "graph/graph.h"
#include "graph/operator_reg.h"

namespace ge {
REG_OP(Data).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).ATTR(index, Int, 0).OP_END_FACTORY_REG(Data)
}

using Options = std::map<ge::AscendString, ge::AscendString>;

ge::op::Data DataOf(const char *name, int64_t elements, ge::DataType dtype) {
  const ge::TensorDesc desc(ge::Shape({elements}), ge::FORMAT_ND, dtype);
  ge::op::Data data(name);
  (void)data.update_input_desc_x(desc);
  (void)data.update_output_desc_y(desc);
  return data;
}

ge::Status Compile(uint32_t id, int64_t elements, const Options &options) {
  ge::Session session(Options{});
  ge::op::Data floats = DataOf("floats", elements, ge::DT_FLOAT);
  ge::op::Data integers = DataOf("integers", elements, ge::DT_INT32);
  ge::op::AddScaled first("first");
  first.set_input_x(floats).set_input_y(floats);
  ge::op::AddScaled second("second");
  second.set_input_x(integers).set_input_y(integers);
  ge::Graph graph("two");
  graph.SetInputs({floats, integers}).SetOutputs({first, second});
  return session.AddGraph(id, graph, options) == ge::SUCCESS ? session.CompileGraph(id) : ge::FAILED;
}

int main() {
  (void)dup2(STDOUT_FILENO, STDERR_FILENO);
  ge::GEInitialize(Options{{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "1"}});
  const bool is_compiled = Compile(1, 100, {}) == ge::SUCCESS;
  const bool is_folded = Compile(2, 0, {}) == ge::SUCCESS;
  const bool is_declared = Compile(3, 0, {{"ge.oo.constantFolding", "false"}}) == ge::SUCCESS;
  std::printf("two dtypes %d, no elements %d, unfolded %d\\n", is_compiled, is_folded, is_declared);
  ge::GEFinalize();
  return 0;
}
"""


@pytest.mark.usefixtures("results")
def test_a_graph_may_hold_an_op_twice_and_nodes_without_elements_that_ge_folds(
    project: Path, toolkit_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(project / "output"))

    done = run_program(project, toolkit_home, tmp_path, PROGRAM)

    assert done.splitlines()[-1] == "two dtypes 1, no elements 1, unfolded 0"
    assert "AddScaled 'first': all outputs are empty, and GE takes no such op without a launch" in done


# One op for each time at which kernels can be compiled, and one whose dtypes differ by SoC.
TARGETED = """\
built = scaled.replace(type="AddScaledBuilt", compile="prebuilt")
chosen = scaled.replace(
    type="AddScaledChosen", dtypes={"T": per_soc({"Ascend910B": ["float32"], "Ascend310P": ["float16"], "default": ["int32"]})}
)
package = Package("annotated", ops=[scaled, built, chosen])
"""

# Compiles graphs as on a machine without a device would be done, for any target: what GE tells of it comes from here, a compiled kernel is
# the name of its architecture, and of what an op declares the binary is shown.
TARGETS = """\
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <string>
#include <unistd.h>

#include "acl/acl_rt_compile.h"
#include "annotated.h"
#include "exe_graph/runtime/annotated_args_context.h"
#include "exe_graph/runtime/op_compile_context.h"
#include "ge/ge_api.h"
#include "graph/graph.h"
#include "graph/operator_reg.h"

namespace ge {
REG_OP(Data).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).ATTR(index, Int, 0).OP_END_FACTORY_REG(Data)
}

std::string architecture;
std::string soc;
std::string compiled_for;

namespace gert {
ge::graphStatus OpCompileContext::GetPlatformInfos(fe::PlatFormInfos &platform, fe::OptionalInfos &options) const {
  std::map<std::string, std::string> version = {{"NpuArch", architecture}};
  (void)platform.Init();
  (void)options.Init();
  platform.SetPlatformRes("version", version);
  options.SetSocVersion(soc);
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus AnnotatedArgsContext::AddLaunch(const AnnotatedKernelLaunchInfo &launch, AnnotatedKernelArgs &&) {
  const std::string code(static_cast<const char *>(launch.kernel_bin), launch.kernel_bin_size);
  std::printf("%s: %s\\n", launch.kernel_name, code.size() > 100 ? "what was built" : code.c_str());
  return ge::GRAPH_SUCCESS;
}
}  // namespace gert

extern "C" {
aclError aclrtcCompileProg(aclrtcProg, int, const char **options) {
  compiled_for = options[0];
  return 0;
}
aclError aclrtcGetBinDataSize(aclrtcProg, size_t *size) {
  *size = compiled_for.size();
  return 0;
}
aclError aclrtcGetBinData(aclrtcProg, char *code) {
  (void)std::memcpy(code, compiled_for.data(), compiled_for.size());
  return 0;
}
}

using Options = std::map<ge::AscendString, ge::AscendString>;

template <typename Type>
void Compile(const char *for_architecture, const char *for_soc, ge::DataType dtype) {
  architecture = for_architecture;
  soc = for_soc;
  ge::Session session(Options{});
  const ge::TensorDesc desc(ge::Shape({100}), ge::FORMAT_ND, dtype);
  ge::op::Data data("data");
  (void)data.update_input_desc_x(desc);
  (void)data.update_output_desc_y(desc);
  Type op("op");
  op.set_input_x(data).set_input_y(data);
  ge::Graph graph("graph");
  graph.SetInputs({data}).SetOutputs({op});
  if (session.AddGraph(1, graph, Options{}) == ge::SUCCESS) {
    (void)session.CompileGraph(1);
  }
}

int main() {
  (void)dup2(STDOUT_FILENO, STDERR_FILENO);
  (void)std::setvbuf(stdout, nullptr, _IONBF, 0);
  ge::GEInitialize(Options{{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "1"}});
  COMPILED
  ge::GEFinalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def targeted(tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> Path:
    """A project whose prebuilt kernels are for the dav-2201."""
    head, tail = SPEC.split("several = Op(")
    assert tail
    spec = head.replace("import Attr,", "import per_soc, Attr,") + TARGETED
    root = write_annotated(tmp_path_factory.mktemp("targeted"), spec=spec)
    render(load_package(root / "ops.py")).write(root)
    build_by_hand(root, toolkit_home, "-DOPKIT_SESSION_RUN=OFF", NAMED_COMPILER, tree=AS_DEEP)
    return root


def declared(project: Path, toolkit: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, *graphs: str) -> list[str]:
    """What is shown while graphs with one op each are compiled, one after the other in one process."""
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(project / "output"))
    compiled = "\n  ".join(f"Compile<ge::op::{graph};" for graph in graphs)
    return run_program(project, toolkit, folder, TARGETS.replace("COMPILED", compiled)).splitlines()


def test_an_op_declares_the_kernel_for_what_its_graph_is_compiled_for(
    targeted: Path, toolkit_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third graph finds its kernel compiled, and another compiled after it."""
    graphs = [f'AddScaled>("{architecture}", "", ge::DT_FLOAT)' for architecture in ("2201", "3510", "2201")]

    shown = declared(targeted, toolkit_home, tmp_path, monkeypatch, *graphs)

    launches = [line for line in shown if line.startswith("add_scaled_of")]
    assert launches == [f"add_scaled_of_AddScaled_0: --npu-arch=dav-{architecture}" for architecture in ("2201", "3510", "2201")]


def test_a_prebuilt_kernel_of_another_architecture_is_refused_while_the_graph_is_compiled(
    targeted: Path, toolkit_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = [f'AddScaledBuilt>("{architecture}", "", ge::DT_FLOAT)' for architecture in ("3510", "2201")]

    shown = declared(targeted, toolkit_home, tmp_path, monkeypatch, *graphs)

    kernel = "add_scaled_of_AddScaledBuilt_0"
    assert [line for line in shown if line.startswith(kernel)] == [f"{kernel}: what was built"]
    assert sum(f"kernel {kernel} of scaled.asc is compiled for dav-2201, and the device is a dav-3510" in line for line in shown) == 1
    assert any("DeclareLaunchArgs failed, op_name:op" in line for line in shown)


def test_the_dtypes_are_those_of_the_soc_that_the_graph_is_compiled_for(
    targeted: Path, toolkit_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = [f'AddScaledChosen>("2201", "Ascend310P3", ge::{dtype})' for dtype in ("DT_FLOAT16", "DT_FLOAT")]

    shown = declared(targeted, toolkit_home, tmp_path, monkeypatch, *graphs)

    assert sum(line.startswith("add_scaled_of_AddScaledChosen_") for line in shown) == 1
    assert any("the spec has no kernel for x float32" in line and line.endswith("on the SoC 'Ascend310P3'") for line in shown)
