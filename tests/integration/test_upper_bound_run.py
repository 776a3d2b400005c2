"""Ops of which only the kernel knows an output's shape: their code compiles anywhere, and Execute gives what the kernel wrote.

The simulator has no dynamic executor, which alone runs such an op. Its part is played by a program that makes the context itself, with
memory of the simulator's for the outputs, and calls Execute on a real stream.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_support import opkit, replace_in
from generated_support import run_program, shell, strictly, succeed
from upper_bound_support import write_runs, write_wheres

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping

    from opkit.spec import Package

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("upper_bound")]

ROOT = Path(__file__).resolve().parents[2]
# What stands for the executor. Arguments: an op type, then for each input its shape and its elements, separated by commas.
PROGRAM = """\
#include "ge/custom_op.cpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "graph/graph_internal.h"
#include "lowering/context_frame.h"
#include "lowering/node_info.h"
#include "lowering/node_memory.h"

namespace {
namespace lowering = opkit_sim::lowering;
using Context = gert::EagerOpExecutionContext;
constexpr size_t kInputCells = static_cast<size_t>(Context::AdditionalInputIndex::kNum);
constexpr size_t kOutputCells = static_cast<size_t>(Context::AdditionalOutputIndex::kNum);
// GE hands out memory in such pieces.
constexpr size_t kPiece = 512;

void Check(bool is_right, const char *what) {
  if (!is_right) {
    std::fprintf(stderr, "the test program fails: %s\\n", what);
    std::exit(3);
  }
}

std::vector<int64_t> Numbers(const std::string &text) {
  std::vector<int64_t> numbers;
  std::stringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    numbers.push_back(std::stoll(word));
  }
  return numbers;
}

gert::Tensor MakeTensor(const std::vector<int64_t> &dims, ge::DataType dtype, size_t bytes) {
  gert::StorageShape shape;
  for (const int64_t dim : dims) {
    shape.MutableOriginShape().AppendDim(dim);
    shape.MutableStorageShape().AppendDim(dim);
  }
  gert::Tensor tensor(shape, {ge::FORMAT_ND, ge::FORMAT_ND, gert::ExpandDimsType()}, dtype);
  void *address = nullptr;
  Check(aclrtMalloc(&address, bytes == 0 ? kPiece : bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS, "aclrtMalloc");
  tensor.SetData(gert::TensorData(address, nullptr, bytes, gert::kOnDeviceHbm));
  return tensor;
}

std::string TextOf(const gert::Shape &shape) {
  std::string text = "[";
  for (size_t axis = 0; axis < shape.GetDimNum(); ++axis) {
    text.append(axis == 0 ? "" : ", ").append(std::to_string(shape.GetDim(axis)));
  }
  return text + "]";
}

void Print(const char *port, const gert::Tensor &tensor) {
  Check(tensor.GetOriginShape() == tensor.GetStorageShape(), "the two shapes differ");
  std::printf("%s %s, %zu bytes:", port, TextOf(tensor.GetStorageShape()).c_str(), tensor.GetSize());
  std::vector<uint8_t> bytes(tensor.GetSize());
  if (!bytes.empty()) {
    Check(aclrtMemcpy(bytes.data(), bytes.size(), tensor.GetAddr(), bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS, "aclrtMemcpy");
  }
  for (int64_t index = 0; index < tensor.GetShapeSize(); ++index) {
    const uint8_t *const at = bytes.data() + index * (tensor.GetDataType() == ge::DT_INT64 ? 8 : 4);
    int64_t wide = 0;
    int32_t narrow = 0;
    tensor.GetDataType() == ge::DT_INT64 ? std::memcpy(&wide, at, 8) : std::memcpy(&narrow, at, 4);
    std::printf(" %lld", static_cast<long long>(wide + narrow));
  }
  std::printf("\\n");
}

std::map<std::string, std::function<std::unique_ptr<ge::EagerExecuteOp>()>> Ops() {
  return {
// OPS
  };
}
}  // namespace

int main(int argc, char **argv) {
  Check(aclrtSetDevice(0) == ACL_SUCCESS, "aclrtSetDevice");
  aclrtStream stream = nullptr;
  Check(aclrtCreateStream(&stream) == ACL_SUCCESS, "aclrtCreateStream");
  opkit_sim::graph::NodeDesc node;
  node.name = "node";
  node.type = argv[1];
  Check(opkit_sim::graph::FindProto(argv[1], node.proto), "no prototype");
  std::vector<gert::Tensor> inputs;
  size_t most = 0;
  for (int word = 2; word + 1 < argc; word += 2) {
    opkit_sim::graph::InputDesc input;
    input.port = inputs.size();
    input.name = node.proto.inputs[input.port].name;
    input.source.node = 0;
    const ge::DataType dtype = input.name == ge::AscendString("x") && kIsBool ? ge::DT_BOOL : ge::DT_INT32;
    input.desc = ge::TensorDesc(ge::Shape(Numbers(argv[word])), ge::FORMAT_ND, dtype);
    node.inputs.push_back(input);
    const std::vector<int64_t> elements = Numbers(argv[word + 1]);
    std::vector<uint8_t> bytes;
    for (const int64_t element : elements) {
      const auto value = static_cast<int32_t>(element);
      const auto *const first = reinterpret_cast<const uint8_t *>(&value);
      bytes.insert(bytes.end(), first, first + (dtype == ge::DT_BOOL ? 1 : 4));
    }
    most = elements.size();
    inputs.push_back(MakeTensor(Numbers(argv[word]), dtype, bytes.size()));
    if (!bytes.empty()) {
      const aclError error = aclrtMemcpy(inputs.back().GetAddr(), bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE);
      Check(error == ACL_SUCCESS, "aclrtMemcpy");
    }
  }
  std::vector<gert::Tensor> outputs;
  for (size_t port = 0; port < node.proto.outputs.size(); ++port) {
    opkit_sim::graph::OutputDesc output;
    output.port = port;
    output.name = node.proto.outputs[port].name;
    node.outputs.push_back(output);
    outputs.push_back(MakeTensor({}, ge::DT_UNDEFINED, (most * 2 * sizeof(int64_t) / kPiece + 1) * kPiece));
  }
  const lowering::NodeInfo info(node);
  lowering::DeviceBlocks blocks;
  lowering::NodeMemory memory(blocks, nullptr);
  memory.shared_input_of_output.assign(outputs.size(), lowering::kNotShared);
  lowering::ContextFrame frame(inputs.size() + kInputCells, outputs.size() + kOutputCells, info.get());
  for (size_t index = 0; index < inputs.size(); ++index) {
    frame.SetInput(index, &inputs[index]);
  }
  for (size_t index = 0; index < outputs.size(); ++index) {
    frame.SetOutput(index, &outputs[index]);
  }
  frame.SetInput(inputs.size() + static_cast<size_t>(Context::AdditionalInputIndex::kDeviceAllocator), &memory);
  frame.SetInput(inputs.size() + static_cast<size_t>(Context::AdditionalInputIndex::kStream), stream);
  const auto op = Ops().at(argv[1])();
  const ge::graphStatus status = op->Execute(frame.As<Context>());
  std::printf("%s\\n", status == ge::GRAPH_SUCCESS ? "done" : "refused");
  for (size_t index = 0; status == ge::GRAPH_SUCCESS && index < outputs.size(); ++index) {
    Print(node.outputs[index].name.GetString(), outputs[index]);
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def wheres(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("wheres")
    write_wheres(root)
    return root


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    write_runs(root)
    return root


def includes(project: Path, toolkit: Path) -> list[str | Path]:
    return ["-I", project, "-I", project / "ge", "-isystem", toolkit / "include", "-isystem", toolkit / "include" / "graph"]


def build(project: Path, toolkit: Path, *, is_bool: bool) -> Path:
    """The program with the ops of a project, and the kernels beside it as beside the op library."""
    code = (project / "ge" / "custom_op.cpp").read_text()
    namespace = re.search(r"^namespace (\w+) \{$", code, re.MULTILINE)
    assert namespace is not None
    made = "".join(
        f'    {{"{op}", [] {{ return std::make_unique<{namespace[1]}::registered::{op}>(); }}}},\n'
        for op in re.findall(r"^REG_AUTO_MAPPING_OP\((\w+)\);", code, re.MULTILINE)
    )
    program = PROGRAM.replace("// OPS\n", made).replace("kIsBool", "true" if is_bool else "false")
    (project / "program.cpp").write_text(program)
    for kernel in (project / "kernels").iterdir():
        shutil.copy(kernel, project)
    lib = toolkit / "lib64"
    flags = ["-std=c++17", "-g", "-Wall", "-Wextra", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    libraries = [f"-L{lib}", f"-Wl,-rpath,{lib}", "-llowering", "-lgraph", "-lgraph_base", "-lmetadef", "-lge_common"]
    libraries += ["-lplatform", "-lacl_rtc", "-lacl_rt", "-ldl", "-lpthread"]
    sources = [project / "program.cpp", project / "ge" / "utils" / "rtc_kernel_loader.cpp"]
    options = [*flags, *includes(project, toolkit), "-isystem", ROOT / "simulator" / "src"]
    succeed(shell("g++", *options, *sources, "-o", project / "program", *libraries))
    return project / "program"


@pytest.fixture(scope="module")
def where_program(wheres: Path, toolkit_home: Path) -> Path:
    return build(wheres, toolkit_home, is_bool=True)


@pytest.fixture(scope="module")
def runs_program(runs: Path, toolkit_home: Path) -> Path:
    return build(runs, toolkit_home, is_bool=False)


def execute(program: Path, toolkit: Path, *words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return succeed(shell(program, *words, env={"ASCEND_HOME_PATH": str(toolkit), **(env or {})}))


@pytest.mark.parametrize(
    ("package", "compiler", "files"),
    [
        ("wheres", ["g++", "-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0"], ["ge/custom_op.cpp", "session_run/main.cc"]),
        ("runs", ["g++", "-std=c++20", "-D_GLIBCXX_USE_CXX11_ABI=1"], ["ge/custom_op.cpp", "session_run/main.cc"]),
        ("runs", ["clang++", "-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=1"], ["ge/custom_op.cpp"]),
    ],
    ids=["wheres-g++-17", "runs-g++-20", "runs-clang++-17"],
)
def test_the_code_is_clean_for_every_compiler(
    request: pytest.FixtureRequest, toolkit_home: Path, package: str, compiler: list[str], files: list[str]
) -> None:
    project: Path = request.getfixturevalue(package)
    for file in files:
        succeed(shell(*compiler, *strictly(toolkit_home), project / file))


@pytest.mark.parametrize("write", [write_wheres, write_runs])
def test_the_code_is_as_clang_format_leaves_it(tmp_path: Path, write: Callable[[Path], Package]) -> None:
    write(tmp_path)
    files = [file for file in tmp_path.rglob("*") if file.suffix in {".h", ".cpp", ".cc"}]
    succeed(shell("clang-format", f"--style=file:{ROOT / '.clang-format'}", "--dry-run", "-Werror", *files))


@pytest.mark.case("C6")
def test_while_a_graph_is_compiled_the_dim_is_unknown(wheres: Path, toolkit_home: Path, tmp_path: Path) -> None:
    program = """
#include <cstdio>
#include "wheres_rules.h"
using namespace wheres_ops;
int main() {
  const Node node{"WhereLike", "node"};
  for (const gert::Shape &x : {gert::Shape{8, 3}, gert::Shape{0}, gert::Shape{-1}, gert::Shape{-2}}) {
    const gert::Shape *inputs[] = {&x};
    gert::Shape outputs[1];
    const bool is_right = WhereLikeRules::InferShapes(node, inputs, outputs);
    std::printf("%d %s\\n", is_right, TextOf(outputs[0]).c_str());
  }
}
"""
    assert run_program(wheres, toolkit_home, tmp_path, program) == "1 [-1, 2]\n1 [-1, 1]\n1 [-1, 1]\n1 [-1, -1]\n"


@pytest.mark.case("C6")
@pytest.mark.parametrize(
    ("shape", "flags", "found"),
    [
        ("8", "0,0,0,0,0,0,0,0", "y [0, 1], 0 bytes:"),
        ("8", "0,0,0,1,0,0,0,0", "y [1, 1], 8 bytes: 3"),
        ("8", "1,0,1,0,1,0,0,1", "y [4, 1], 32 bytes: 0 2 4 7"),
        ("8", "1,1,1,1,1,1,1,1", "y [8, 1], 64 bytes: 0 1 2 3 4 5 6 7"),
        ("1", "1", "y [1, 1], 8 bytes: 0"),
        ("2,3", "0,1,0,1,0,1", "y [3, 2], 48 bytes: 0 1 1 0 1 2"),
    ],
)
def test_an_output_has_the_shape_that_its_kernel_writes(
    where_program: Path, toolkit_home: Path, shape: str, flags: str, found: str
) -> None:
    for op in ("WhereLike", "WhereDocumented") if "," not in shape else ("WhereLike",):
        done = execute(where_program, toolkit_home, op, shape, flags)
        assert done.stdout.splitlines() == ["done", found], done.stderr


@pytest.mark.parametrize(("shape", "found"), [("0", "[0, 1]"), ("0,3", "[0, 2]"), ("3,0", "[0, 2]")])
def test_an_output_that_can_have_no_elements_needs_no_launch(
    where_program: Path, toolkit_home: Path, tmp_path: Path, shape: str, found: str
) -> None:
    records = tmp_path / "tasks.jsonl"
    done = execute(where_program, toolkit_home, "WhereLike", shape, "", env={"OPKIT_SIM_TASK_RECORDS": str(records)})
    assert done.stdout.splitlines() == ["done", f"y {found}, 0 bytes:"], done.stderr
    assert [json.loads(line) for line in (records.read_text() if records.exists() else "").splitlines()] == []


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("WhereBeyond", 'the kernel gives y the shape [5, 1], but dim 0, found, is at most numel("x"), 4'),
        ("WhereOtherRank", "the kernel gives y a shape of 3 dims, but by its rule it has 2"),
        ("WhereOtherDim", "the kernel gives y the shape [2, 7], but dim 1 must be 1"),
        ("WhereHalf", "the kernel gives y the shape [2, nothing], but dim 1 must be 1"),
        ("WhereSilent", "the kernel writes no shape of y"),
    ],
)
def test_a_kernel_that_writes_another_shape_or_none_fails_the_run(where_program: Path, toolkit_home: Path, op: str, message: str) -> None:
    done = execute(where_program, toolkit_home, op, "4", "1,0,0,1")
    assert done.stdout == "refused\n"
    assert f"{op} 'node': {message}\n" in done.stderr


def test_a_bound_that_comes_out_negative_fails_the_run(where_program: Path, toolkit_home: Path) -> None:
    assert execute(where_program, toolkit_home, "WhereBelow", "6", "1,0,0,1,0,0").stdout.splitlines() == ["done", "y [2, 1], 16 bytes: 0 3"]
    done = execute(where_program, toolkit_home, "WhereBelow", "2", "1,0")
    assert done.stdout == "refused\n"
    assert "WhereBelow 'node': y can't have a dim found of at most numel(\"x\") - 4, which is -2\n" in done.stderr


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["5", "3,3,3,8,3"], ["values [3], 12 bytes: 3 8 3", "total []: 5", "lengths [3], 24 bytes: 3 1 1"]),
        (["2", "7,7", "2", "40,2"], ["values [1], 4 bytes: 7", "total []: 42", "lengths [1], 8 bytes: 2"]),
        # Another output has an element, so the kernels run, and say that there are no runs.
        (["0", ""], ["values [0], 0 bytes:", "total []: 0", "lengths [0], 0 bytes:"]),
    ],
)
def test_several_outputs_have_the_shapes_that_the_last_kernel_writes(
    runs_program: Path, toolkit_home: Path, words: list[str], found: list[str]
) -> None:
    done = execute(runs_program, toolkit_home, "RunsLike", *words)
    # The memory of an output of known shape stays as large as it was given.
    lines = [line.replace("total [], 512 bytes", "total []") for line in done.stdout.splitlines()]
    assert lines == ["done", *found], done.stderr


def test_outputs_that_share_a_dim_must_agree_on_it(runs_program: Path, toolkit_home: Path) -> None:
    done = execute(runs_program, toolkit_home, "RunsApart", "3", "1,1,2")
    assert done.stdout == "refused\n"
    assert "RunsApart 'node': the kernel gives lengths the shape [1], but dim 0, runs, is 2 where it stands before\n" in done.stderr


def test_what_runs_ops_says_that_it_can_t_run_such_a_one(tmp_path: Path, toolkit_home: Path) -> None:
    write_wheres(tmp_path)
    replace_in(tmp_path / "ops.py", 'ops=[*wheres, where("WhereBelow", 0, numel("x") - 4), documented]', "ops=[wheres[0]]")
    done = opkit("test", tmp_path, "--toolkit", toolkit_home, exit_code=4)
    reason = "only the kernel knows the shape of y: that needs GE's dynamic executor, and the simulator has none"
    assert f"skipped: WhereLike x=bool, y=int64 x=[1, 4097] (a shape that only the kernel knows)\n  {reason}\n" in done.stdout
    assert "1 skipped" in done.stdout
    assert "error[OPK0403]: nothing was compared\n  because: every case was skipped\n" in done.stderr
    done = shell(tmp_path / "build" / "wheres_session_run")
    assert done.returncode == 2
    assert (
        "only its kernel knows the shape of what WhereLike gives: it needs GE's dynamic executor, and this program runs static graphs\n"
        in done.stderr
    )
    assert done.stderr.count("\n") == 1
