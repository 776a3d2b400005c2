"""Parts of the generated C++ on their own: shape rules with unknown dims, element types, and the fixed-seed generator."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest
from generated_support import build_program, run_program, shell, succeed, varied_project

from opkit.codegen import render
from opkit.spec import load_package

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("generated_cpp")]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("varied")
    varied_project(root)
    return root


RULES = """\
#include <cstdio>
#include "varied_rules.h"
using namespace varied_ops;
namespace {
void Infer(const gert::Shape &x, const gert::Shape &bias) {
  const gert::Shape *inputs[] = {&x, &bias};
  gert::Shape outputs[2];
  if (!AddToRowsRules::InferShapes({"AddToRows", "node"}, inputs, outputs)) {
    std::printf("refused\\n");
    return;
  }
  std::printf("%s %s\\n", TextOf(outputs[0]).c_str(), TextOf(outputs[1]).c_str());
}
void Infer(const gert::Shape &x) {
  const gert::Shape *inputs[] = {&x};
  gert::Shape outputs[1];
  const bool matches = AddPairsRules::InferShapes({"AddPairs", "node"}, inputs, outputs);
  std::printf("%s\\n", matches ? TextOf(outputs[0]).c_str() : "refused");
}
}
int main() {
"""


# What is inferred for which call.
INFERRED = {
    "Infer({2, 3}, {3})": "[2, 3] [2]",
    "Infer({2, 3}, {4})": "refused",
    "Infer({2, -1}, {3})": "[2, 3] [2]",
    "Infer({-1, 3}, {-1})": "[-1, 3] [-1]",
    "Infer({-1, -1}, {-1})": "[-1, -1] [-1]",
    # Unknown rank: what the other port says stays known.
    "Infer({-2}, {3})": "[-1, 3] [-1]",
    "Infer({2, 3}, {-2})": "[2, 3] [2]",
    "Infer({-2}, {-2})": "[-1, -1] [-1]",
    "Infer({2, 3, 4}, {4})": "refused",
    # "n *batch 2" gives "*batch n 1".
    "Infer({5, 3, 4, 2})": "[3, 4, 5, 1]",
    "Infer({5, 2})": "[5, 1]",
    "Infer({5, -1, -1})": "[-1, 5, 1]",
    "Infer({5, 3})": "refused",
    "Infer({2})": "refused",
    "Infer({-2})": "[-2]",
}


@pytest.fixture(scope="module")
def inferred(project: Path, toolkit_home: Path, tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    calls = [call.replace("({", "(gert::Shape{").replace(", {", ", gert::Shape{") for call in INFERRED]
    text = RULES + "".join(f"  {call};\n" for call in calls) + "}\n"
    return succeed(shell(build_program(project, toolkit_home, tmp_path_factory.mktemp("rules"), text)))


def test_unknown_dims_match_anything_and_give_way_to_known_ones(inferred: subprocess.CompletedProcess[str]) -> None:
    assert inferred.stdout.splitlines() == list(INFERRED.values())


def test_a_refused_shape_is_told_by_node_port_rule_and_both_values(inferred: subprocess.CompletedProcess[str]) -> None:
    assert "AddToRows 'node': bias has shape [4], but by its rule \"k\" dim 0 must be 3" in inferred.stderr


def test_a_group_that_two_ports_name_must_agree(toolkit_home: Path, tmp_path: Path) -> None:
    varied_project(tmp_path, spec=lambda text: re.sub(r'shape="(n k|k|n)"', 'shape="..."', text))
    expected = {
        "Infer({2, 3}, {2, 3})": "[2, 3] [2, 3]",
        "Infer({2, -1}, {-1, 3})": "[2, 3] [2, 3]",
        "Infer({2, 3}, {2})": "refused",
        "Infer({2, 3}, {3, 3})": "refused",
        "Infer({-2}, {2, 3})": "[2, 3] [2, 3]",
        "Infer({-2}, {-2})": "[-2] [-2]",
        "Infer({}, {})": "[] []",
        "Infer({}, {1})": "refused",
    }
    calls = [call.replace("({", "(gert::Shape{").replace(", {", ", gert::Shape{") for call in expected]
    text = RULES + "".join(f"  {call};\n" for call in calls) + "  Infer(gert::Shape{1, 2});\n}\n"
    assert run_program(tmp_path, toolkit_home, tmp_path, text).splitlines()[:-1] == list(expected.values())


ELEMENTS = """\
#include <cstdio>
#include <string>
#include "../session_run/elements.h"
using namespace varied_ops;
namespace {
void PrintHalves() {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    std::printf("%a %a\\n", HalfToDouble(half), BFloatToDouble(half));
  }
}
void PrintNumbers() {
  Pcg random(42, 54);
  for (int i = 0; i < 6; ++i) {
    std::printf("%08x\\n", random.Next());
  }
}
void PrintInputs() {
  for (const ElementType &type : kElementTypes) {
    const Bytes data = RandomBytes(type, 1000 * type.bytes, 7, 3);
    for (size_t at = 0; at < data.size(); at += type.bytes) {
      std::printf("%s %.17g\\n", type.name, ToDouble(type.dtype, &data[at]));
    }
  }
}
}
int main(int, char **argv) {
  const std::string what = argv[1];
  what == "halves" ? PrintHalves() : what == "numbers" ? PrintNumbers() : PrintInputs();
}
"""


@pytest.fixture(scope="module")
def elements(project: Path, toolkit_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_program(project, toolkit_home, tmp_path_factory.mktemp("elements"), ELEMENTS)


def test_half_and_bfloat16_read_as_numpy_reads_them(elements: Path) -> None:
    lines = succeed(shell(elements, "halves")).stdout.splitlines()
    bits = np.arange(65536, dtype=np.uint16)
    for column, dtype in enumerate((np.float16, ml_dtypes.bfloat16)):
        read = np.array([float.fromhex(line.split()[column]) for line in lines])
        with np.errstate(invalid="ignore"):  # signalling NaN are among the patterns
            expected = bits.view(dtype).astype(np.float64)
        np.testing.assert_array_equal(read, expected)


def test_the_generator_is_pcg32(elements: Path) -> None:
    # The demo output that PCG's author publishes for this seed and stream.
    expected = ["a15c02b7", "7b47f409", "ba1d3330", "83d2f293", "bfa4784b", "cbed606e"]
    assert succeed(shell(elements, "numbers")).stdout.split() == expected


def test_fixed_seed_inputs_lie_in_range_and_are_exact_in_their_type(elements: Path) -> None:
    values: dict[str, list[float]] = {}
    for line in succeed(shell(elements, "inputs")).stdout.splitlines():
        name, value = line.split()
        values.setdefault(name, []).append(float(value))
    limits = {"int8": (-50, 50), "uint8": (0, 100), "bool": (0, 1), "int32": (-(10**6), 10**6), "int64": (-(10**6), 10**6)}
    for name, found in values.items():
        low, high = limits.get(name, (-1, 1))
        assert low <= min(found) < max(found) <= high, name
        # Spread over the range: neither a constant nor one half of it.
        assert min(found) < low + (high - low) / 4 or name == "bool", name
        assert max(found) > high - (high - low) / 4, name
    assert len(values) == 8


VALUES_SPEC = """\
from opkit import *

fill = Op(
    "FillCustom",
    inputs=[Input("sizes", "int32", shape="rank", value_depend="required")],
    outputs=[Output("y", "float32", shape=cpp("ge/user/infer.h", "InferFill"))],
    kernel=Kernel("kernels/fill.asc", entry="fill", args=["sizes", "y", numel("y")], blocks=1),
)
package = Package("values", ops=[fill])
"""
VALUES_RULE = """\
#pragma once
#include "exe_graph/runtime/infer_shape_context.h"
inline bool InferFill(const gert::InferShapeContext &ctx, gert::Shape &shape) {
  const gert::Shape *const rank = ctx.GetInputShape(0);
  const gert::Tensor *const sizes = ctx.GetInputTensor(0);
  const int32_t *const values = sizes == nullptr ? nullptr : sizes->GetData<int32_t>();
  for (int64_t axis = 0; axis < rank->GetDim(0); ++axis) {
    shape.AppendDim(values == nullptr ? -1 : values[axis]);
  }
  return true;
}
"""
VALUES_PROGRAM = """\
#include <cstdio>
#include <map>
#include "acl/acl_rt.h"
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#include "custom_op.cpp"
#include "ge/ge_api.h"
#include "graph/graph.h"
#include "graph/operator_factory.h"
#include "utils/rtc_kernel_loader.cpp"
#include "values.h"
namespace ge {
REG_OP(Const).OUTPUT(y, TensorType::ALL()).ATTR(value, Tensor, Tensor()).OP_END_FACTORY_REG(Const)
REG_OP(Data).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).ATTR(index, Int, 0).OP_END_FACTORY_REG(Data)
}  // namespace ge
namespace {
void Print(ge::Session &session, uint32_t id, ge::Operator &sizes) {
  ge::op::FillCustom fill("fill");
  fill.set_input_sizes(sizes);
  ge::Graph graph(std::to_string(id).c_str());
  graph.SetInputs({sizes}).SetOutputs({fill});
  if (session.AddGraph(id, graph) != ge::SUCCESS || session.CompileGraph(id) != ge::SUCCESS) {
    std::printf("%s\\n", ge::GEGetErrorMsgV2().GetString());
    return;
  }
  std::vector<ge::Shape> shapes;
  (void)session.GetCompiledGraphSummary(id)->GetOutputShapes(shapes);
  for (const int64_t dim : shapes.at(0).GetDims()) {
    std::printf("%lld ", static_cast<long long>(dim));
  }
  std::printf("\\n");
}
}  // namespace
int main() {
  const std::map<ge::AscendString, ge::AscendString> options = {{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "1"}};
  if (ge::GEInitialize(options) != ge::SUCCESS) {
    return 1;
  }
  {
    ge::Session session(std::map<ge::AscendString, ge::AscendString>{});
    const ge::TensorDesc desc(ge::Shape({2}), ge::FORMAT_ND, ge::DT_INT32);
    const int32_t values[] = {2, 3};
    ge::Operator constant = ge::OperatorFactory::CreateOperator("sizes", "Const");
    (void)constant.SetAttr("value", ge::Tensor(desc, reinterpret_cast<const uint8_t *>(values), sizeof(values)));
    (void)constant.UpdateOutputDesc("y", desc);
    Print(session, 0, constant);
    ge::Operator data = ge::OperatorFactory::CreateOperator("sizes", "Data");
    (void)data.UpdateInputDesc("x", desc);
    (void)data.UpdateOutputDesc("y", desc);
    Print(session, 1, data);
  }
  return ge::GEFinalize() == ge::SUCCESS ? 0 : 1;
}
"""


@pytest.mark.case("C9")
def test_a_rule_of_the_user_s_reads_values_where_the_graph_has_them(toolkit_home: Path, tmp_path: Path) -> None:
    kernel = 'extern "C" __global__ __aicore__ void fill(GM_ADDR sizes, GM_ADDR y, int64_t length) {}\n'
    for name, text in {"ops.py": VALUES_SPEC, "kernels/fill.asc": kernel, "ge/user/infer.h": VALUES_RULE}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    render(load_package(tmp_path / "ops.py")).write(tmp_path)
    constant, data, *_ = run_program(tmp_path, toolkit_home, tmp_path, VALUES_PROGRAM).splitlines()
    assert constant == "2 3 "
    # What comes while the graph runs is unknown while it is compiled; the simulator goes no further.
    assert "shape [-1, -1] has unknown dims" in data
