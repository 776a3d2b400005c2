"""What is generated for ports that aren't always one tensor of their own, and that nothing of it is there for ports that are."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from generated_support import WARNINGS, shell, strictly, succeed
from port_kinds_support import write_port_kinds

from opkit.codegen import render
from opkit.spec import Package, load_package
from opkit.spec.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[3]
CLANG_FORMAT = Path(sys.executable).with_name("clang-format")
SAMPLE = ROOT / "samples" / "args_refresh_add_custom"


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return load_package(write_port_kinds(tmp_path_factory.mktemp("kinds")) / "ops.py")


@pytest.fixture(scope="module")
def texts(kinds: Package) -> dict[str, str]:
    return {file.path: file.text for file in render(kinds)}


def part_of(text: str, head: str) -> str:
    """From a line on to the first line that closes what it opens."""
    found = re.search(rf"^( *){re.escape(head)}.*?^\1}}", text, re.MULTILINE | re.DOTALL)
    assert found is not None, head
    return found[0]


def test_the_clauses_stand_in_the_order_of_the_spec(texts: dict[str, str]) -> None:
    proto = texts["ge/port_kinds.h"].split("REG_OP(AxpyInPlace)")[1].split(".OP_END")[0]
    assert [line.strip() for line in proto.strip().splitlines()] == [
        '.INPUT(x, "T")',
        ".ATTR(alpha, Float, 2.0f)",
        '.OUTPUT(y, "T")',
        '.INPUT(y, "T")',
        ".DATATYPE(T, TensorType({DT_FLOAT}))",
    ]


@pytest.mark.parametrize(
    "clause",
    [
        ".OPTIONAL_INPUT(bias, TensorType({DT_FLOAT}))",
        ".DYNAMIC_INPUT(x, TensorType({DT_FLOAT}))",
        # REG_OP has no clause for a list that may be empty.
        ".DYNAMIC_INPUT(bonus, TensorType({DT_INT32}))",
        ".DYNAMIC_OUTPUT(parts, TensorType({DT_INT32}))",
        # Its tensors may each have another of these dtypes.
        ".DATATYPE(T, ListTensorType(TensorType({DT_FLOAT, DT_INT32})))",
    ],
)
def test_each_kind_of_port_has_its_clause(texts: dict[str, str], clause: str) -> None:
    assert clause in texts["ge/port_kinds.h"]


def test_the_kinds_of_an_op_s_ports_are_a_table(texts: dict[str, str]) -> None:
    rules = texts["ge/port_kinds_rules.h"]
    tables = {
        name: [
            " ".join(row.split())
            for row in part_of(part_of(rules, f"struct {name}Rules"), f"static constexpr PortKind {side}").splitlines()[1:-1]
        ]
        for name, side in (
            ("AddBias", "kInputKinds"),
            ("SumList", "kInputKinds"),
            ("ScaleAll", "kOutputKinds"),
            ("CopyPlain", "kInputKinds"),
        )
    }
    assert tables == {
        "AddBias": ["{1, 1},", "{0, 1},"],
        "SumList": ['{1, kAnyNumber, {"N", 0}},', "{1, 1},"],
        "ScaleAll": ["{0, kAnyNumber, {}, {}, {}, 0},", "{1, 1},"],
        "CopyPlain": ["{1, 1},"],
    }


def test_a_list_of_any_dtypes_is_no_column_of_the_dtype_table(texts: dict[str, str]) -> None:
    rules = part_of(texts["ge/port_kinds_rules.h"], "struct CopyMixedRules")
    assert part_of(rules, "static constexpr Row kDtypes[]").count("ge::DT_UNDEFINED") == 2
    assert "DTYPE_" not in part_of(texts["ge/custom_op.cpp"], "struct CopyMixedImpl")


def test_an_optional_input_s_address_is_never_read_through_a_null_pointer(texts: dict[str, str]) -> None:
    fill = part_of(part_of(texts["ge/custom_op.cpp"], "struct AddBiasImpl"), "static bool FillArgs")
    assert "args.bias = AddressOf(ctx.GetOptionalInputTensor(1));" in fill
    assert "const gert::Shape *const bias_shape = ShapeOf(ctx.GetOptionalInputTensor(1));" in fill
    assert "args.x = ctx.GetInputTensor(0)->GetAddr();" in fill


@pytest.mark.case("C4")
def test_behind_a_list_a_port_is_found_by_its_place_in_the_prototype(texts: dict[str, str]) -> None:
    code = texts["ge/custom_op.cpp"]
    assert "args.scale = ctx.GetRequiredInputTensor(1)->GetAddr();" in part_of(part_of(code, "struct SumListImpl"), "static bool FillArgs")
    assert "args.total = OutputTensor(ctx, 1)->GetAddr();" in part_of(part_of(code, "struct SpreadListImpl"), "static bool FillArgs")


def test_the_one_function_that_fills_arguments_leaves_lists_to_their_own_blocks(texts: dict[str, str]) -> None:
    op = part_of(texts["ge/custom_op.cpp"], "struct ScaleAllImpl")
    assert "{&Args::x, true, 0}," in op
    assert "{&Args::bonus, true, 1}," in op
    assert "args.x" not in op
    assert op.count("FillArgs(") == 1


@pytest.mark.parametrize("word", ["PortKind", "Members", "AddressList", "PortShapes", "AddressOf", "ShapeOf", "kOwnMemory", "Counts"])
def test_ops_whose_ports_are_one_tensor_each_carry_nothing_of_it(word: str) -> None:
    for file in render(load_package(SAMPLE / "ops.py")):
        assert not re.search(rf"\b{word}\b", file.text), file.path


def test_rendered_cpp_is_as_clang_format_would_write_it(texts: dict[str, str], tmp_path: Path) -> None:
    shutil.copy(ROOT / ".clang-format", tmp_path)
    for path, text in texts.items():
        if path.endswith((".h", ".cpp", ".cc")):
            name = tmp_path / path
            name.parent.mkdir(parents=True, exist_ok=True)
            name.write_text(text)
            formatted = subprocess.run([CLANG_FORMAT, name], capture_output=True, text=True, check=True)
            assert formatted.stdout == text, path


OPEN = """\
ports = [Input("x", "T", shape="..."), Input("y", "V", optional=True), Input("w", "V", optional=True)]
op = Op("AddTwoOrNone", inputs=ports, outputs=[Output("z", "V", shape="...")],
        dtypes={"T": ["int8", "int8", "int32"], "V": ["float32", "float16", "float32"]},
        kernel=Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("x")], blocks=1))
package = Package("open", ops=[op])
"""
OPEN_PROGRAM = """\
#include <cstdio>
#include "open_rules.h"
int main() {
  using Rules = open_ops::AddTwoOrNoneRules;
  const auto find = [](ge::DataType x, ge::DataType y, ge::DataType w) {
    size_t row = 9;
    const bool is_found = open_ops::FindRow<Rules>({"AddTwoOrNone", "n"}, {{x, y, w}, {}}, row);
    std::printf("%d", is_found ? static_cast<int>(row) : -1);
  };
  find(ge::DT_INT8, ge::DT_FLOAT16, ge::DT_UNDEFINED);
  find(ge::DT_INT8, ge::DT_UNDEFINED, ge::DT_FLOAT);
  find(ge::DT_INT32, ge::DT_UNDEFINED, ge::DT_UNDEFINED);
  find(ge::DT_INT8, ge::DT_UNDEFINED, ge::DT_UNDEFINED);
}
"""


def ran(program: str, toolkit_home: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """A program of its own over the rendered headers in `folder`."""
    (folder / "program.cpp").write_text(program)
    places: list[str | Path] = ["-I", folder / "ge", "-isystem", toolkit_home / "include", folder / "program.cpp", "-o", folder / "program"]
    subprocess.run(["g++", "-std=c++17", *WARNINGS, *places], check=True)
    return subprocess.run([folder / "program"], capture_output=True, text=True, check=True)


def test_no_row_answers_where_the_absent_inputs_would_decide_an_output_s_dtype(
    package_of: Callable[..., Package], toolkit_home: Path, tmp_path: Path
) -> None:
    """One of two inputs is enough, so neither can be held against the spec."""
    render(package_of(OPEN)).write(tmp_path)
    done = ran(OPEN_PROGRAM, toolkit_home, tmp_path)
    assert done.stdout == "102-1", done.stderr
    assert ": x int8, y absent, w absent leaves the dtype of z open; the spec has (x, y, w -> z):" in done.stderr


SOC_SPEC = """\
by_soc = per_soc({"Ascend910B": ["float32", "int8"], "default": ["float16"]})
op = Op("AddOfSoc", inputs=[Input("x", "int8", shape="..."), Input("y", "T", PORT)], outputs=[Output("z", "int8", shape="...")],
        dtypes={"T": by_soc}, kernel=Kernel("kernels/k.asc", entry="add_custom", args=["x", ARG, "z", numel("x")], blocks=1))
package = Package("open", ops=[op])
"""
SOC_PROGRAM = """\
#include <cstdio>
#include "open_rules.h"
#include "utils/op_dtypes.h"
extern "C" const char *aclrtGetSocName() { return "Ascend310P3"; }
int main() {
  using Rules = open_ops::AddOfSocRules;
  for (const ge::DataType y : {ge::DT_UNDEFINED, ge::DT_FLOAT16, ge::DT_INT8}) {
    size_t row = 0;
    const open_ops::Node node = {"AddOfSoc", "n"};
    const Rules::Row request = {{ge::DT_INT8, y}, {}};
    const bool is_found = open_ops::FindRow<Rules>(node, request, row) && open_ops::FindRowOfThisSoc<Rules>(node, request, row);
    std::printf("%d ", is_found ? static_cast<int>(row) : -1);
  }
}
"""


@pytest.mark.parametrize(
    ("port", "arg"), [("optional=True", '"y"'), ("dynamic=True, same_dtype=False", 'address_list("y")')], ids=["absent", "mixed"]
)
def test_an_input_without_a_dtype_of_its_own_leaves_the_rows_of_this_soc(
    package_of: Callable[..., Package], toolkit_home: Path, tmp_path: Path, port: str, arg: str
) -> None:
    render(package_of(SOC_SPEC.replace("PORT", port).replace("ARG", arg))).write(tmp_path)
    done = ran(SOC_PROGRAM, toolkit_home, tmp_path)
    assert done.stdout.split()[0] == "2", done.stderr
    if arg == '"y"':
        assert done.stdout == "2 2 -1 "
        assert "the spec has no kernel for x int8, y int8 on the SoC 'Ascend310P3'" in done.stderr


@pytest.mark.parametrize("word", ["IsTheAnswer"])
def test_an_op_whose_required_inputs_decide_carries_no_such_check(texts: dict[str, str], word: str) -> None:
    assert all(word not in text for text in texts.values())


@pytest.mark.slow
@pytest.mark.parametrize("file", ["ge/custom_op.cpp", "session_run/main.cc"])
@pytest.mark.parametrize(
    "dialect", [["-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0"], ["-std=c++20", "-D_GLIBCXX_USE_CXX11_ABI=1"]], ids=["17-0", "20-1"]
)
def test_every_source_is_clean_under_strict_warnings(
    kinds: Package, toolkit_home: Path, tmp_path: Path, dialect: list[str], file: str
) -> None:
    render(kinds).write(tmp_path)
    succeed(shell("g++", *dialect, *strictly(toolkit_home), tmp_path / file))


@pytest.mark.case("B14")
def test_the_formats_are_those_of_the_toolkit_s_header(toolkit_home: Path) -> None:
    header = (toolkit_home / "include" / "graph" / "types.h").read_text()
    declared = set(re.findall(r"\bFORMAT_(\w+) = C_FORMAT_", header)) - {"RESERVED", "ALL", "NULL", "END", "MAX"}
    assert set(FORMATS) == declared
