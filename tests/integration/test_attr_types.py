"""Attrs of every type: what a spec says as default, what a case says, and what a kernel is given are the same values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_support import opkit_json
from generated_support import run_program

from opkit.codegen import render
from opkit.run.case import AttrItem, Case, CaseWriter
from opkit.spec import load_package

if TYPE_CHECKING:
    from pathlib import Path

    from opkit.spec import AttrDefault

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("attrs")]

TEXT = 'q"uo\\te\n%s ??/ 昇, {}'
CPP_TEXT = r'"q\"uo\\te\n%s ?" "?/ \346\230\207, {}"'

# The word of a spec, a value, and that value in C++.
VALUES: tuple[tuple[str, AttrDefault, str, str], ...] = (
    ("int", -(2**63), "int64_t", "INT64_MIN"),
    ("float", 0.1, "float", "0.1F"),
    ("bool", True, "bool", "true"),
    ("str", TEXT, "ge::AscendString", CPP_TEXT),
    ("type", "bfloat16", "ge::DataType", "ge::DT_BF16"),
    ("bytes", b"\0\xffa", "std::vector<uint8_t>", "{0, 255, 97}"),
    ("tensor", (), "ge::Tensor", ""),
    ("list_int", (1,), "std::vector<int64_t>", "{1}"),
    ("list_float", (1e-45, -0.5), "std::vector<float>", "{1e-45F, -0.5F}"),
    ("list_bool", (True, False), "std::vector<bool>", "{true, false}"),
    ("list_str", (TEXT, ""), "std::vector<ge::AscendString>", f'{{{CPP_TEXT}, ""}}'),
    ("list_type", ("int4", "float32"), "std::vector<ge::DataType>", "{ge::DT_INT4, ge::DT_FLOAT}"),
    ("list_tensor", (), "std::vector<ge::Tensor>", "{}"),
    ("list_list_int", ((1, 2), (), (3,)), "std::vector<std::vector<int64_t>>", "{{1, 2}, {}, {3}}"),
)
# The shortest lists: each has an overload of its own that a brace could mean.
EDGES: tuple[tuple[str, AttrDefault, str, str], ...] = (
    ("list_int", (), "std::vector<int64_t>", "{}"),
    ("list_float", (), "std::vector<float>", "{}"),
    ("list_float", (2.0,), "std::vector<float>", "{2.0F}"),
    ("list_bool", (), "std::vector<bool>", "{}"),
    ("list_bool", (True,), "std::vector<bool>", "{true}"),
    ("list_str", (), "std::vector<ge::AscendString>", "{}"),
    ("list_str", ("a",), "std::vector<ge::AscendString>", '{"a"}'),
    ("list_str", ("a", "b"), "std::vector<ge::AscendString>", '{"a", "b"}'),
    ("list_type", (), "std::vector<ge::DataType>", "{}"),
    ("list_type", ("int8",), "std::vector<ge::DataType>", "{ge::DT_INT8}"),
    ("list_list_int", (), "std::vector<std::vector<int64_t>>", "{}"),
    ("list_list_int", ((),), "std::vector<std::vector<int64_t>>", "{std::vector<int64_t>{}}"),
    ("list_list_int", ((7,),), "std::vector<std::vector<int64_t>>", "{std::vector<int64_t>{7}}"),
    ("bytes", b"", "std::vector<uint8_t>", "{}"),
    ("bytes", b"\x05", "std::vector<uint8_t>", "{5}"),
)
ALL = (*VALUES, *EDGES)

ECHO_KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void echo(GM_ADDR x, GM_ADDR y, int64_t whole, float real, bool flag, int32_t type) {
  __gm__ int64_t *out = reinterpret_cast<__gm__ int64_t *>(y);
  union {
    float real;
    int32_t bits;
  } as = {real};
  out[0] = whole;
  out[1] = as.bits;
  out[2] = flag ? 1 : 0;
  out[3] = type;
}
"""
ECHO_SPEC = f"""\
import numpy as np
from opkit import Attr, Input, Kernel, Op, Output, Package

NUMBERS = {{"float32": 0, "int64": 9, "bfloat16": 27}}


def echo(x, whole, real, flag, to, **others):
    bits = int(np.float32(real).view(np.int32))
    return np.array([whole, bits, flag, NUMBERS[to]], dtype=np.int64)


first = Op(
    "EchoDefaults",
    inputs=[Input("x", "int64", shape="4")],
    outputs=[Output("y", "int64", shape="4")],
    attrs=[
        Attr("whole", int, default=-(2**63)),
        Attr("real", float, default=0.1),
        Attr("flag", bool, default=True),
        Attr("to", "type", default="bf16"),
        *(Attr(f"a{{index}}", kind, default=value) for index, (kind, value) in enumerate({[(kind, value) for kind, value, *_ in ALL]!r})),
    ],
    kernel=Kernel("kernels/echo.asc", entry="echo", args=["x", "y", "whole", "real", "flag", "to"], blocks=1),
    reference=echo,
)
required = first.replace(
    type="EchoRequired",
    attrs=[
        Attr("whole", int), Attr("real", float), Attr("flag", bool), Attr("to", "type"),
        *(Attr(f"a{{index}}", kind) for index, kind in enumerate({[kind for kind, *_ in VALUES]!r})),
    ],
)
package = Package("echo_ops", ops=[first, required])
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("echo")
    (root / "kernels").mkdir()
    (root / "kernels" / "echo.asc").write_text(ECHO_KERNEL)
    (root / "ops.py").write_text(ECHO_SPEC)
    render(load_package(root / "ops.py")).write(root)
    return root


PROGRAM = """\
#include <cstdint>
#include <cstdio>
#include "../session_run/case_run.h"
using namespace echo_ops_ops;
namespace {
int failures = 0;
template <typename T>
bool Equal(const T &one, const T &other) { return one == other; }
template <>
bool Equal(const ge::Tensor &one, const ge::Tensor &other) { return one.GetSize() == other.GetSize(); }
template <>
bool Equal(const std::vector<ge::Tensor> &one, const std::vector<ge::Tensor> &other) { return one.size() == other.size(); }
template <typename T>
void Check(const ge::Operator &op, const char *name, const T &wanted) {
  T found{};
  if (op.GetAttr(name, found) != ge::GRAPH_SUCCESS || !Equal(found, wanted)) {
    std::printf("%s differs\\n", name);
    ++failures;
  }
}
}
"""


@pytest.mark.case("B5", "B9")
def test_a_default_is_read_back_as_the_spec_has_it(project: Path, toolkit_home: Path, tmp_path: Path) -> None:
    checks = [f'  Check<{c_type}>(op, "a{index}", {text or c_type + "()"});\n' for index, (_, _, c_type, text) in enumerate(ALL)]
    body = f'int main() {{\n  const ge::op::EchoDefaults op("op");\n{"".join(checks)}  return failures;\n}}\n'
    assert run_program(project, toolkit_home, tmp_path, PROGRAM + body) == ""


def test_a_value_of_a_case_reaches_the_operator(project: Path, toolkit_home: Path, tmp_path: Path) -> None:
    items = tuple(AttrItem(name=f"a{index}", type=kind, value=value) for index, (kind, value, *_) in enumerate(VALUES))
    folder = CaseWriter(tmp_path).write("case", Case(op="EchoRequired", inputs=(), attrs=items))
    checks = [f'  Check<{c_type}>(op, "a{index}", {text or c_type + "()"});\n' for index, (_, _, c_type, text) in enumerate(VALUES)]
    read = f'  ge::op::EchoRequired op("op");\n  const Case given = ReadCase("{folder}");\n'
    read += "  for (const AttrValue &attr : given.attrs) {\n"
    read += "    std::visit([&](const auto &value) { SetAttr(op, attr.name.c_str(), value); }, attr.data);\n  }\n"
    body = f"int main() {{\n{read}{''.join(checks)}  return failures;\n}}\n"
    assert run_program(project, toolkit_home, tmp_path, PROGRAM + body) == ""


@pytest.mark.case("B1")
@pytest.mark.usefixtures("toolkit_home")
def test_a_kernel_is_given_the_bits_of_each_number(project: Path) -> None:
    report = opkit_json("test", project)
    results = [result for result in report["results"] if result["status"] != "skipped"]
    assert {(result["op"], result["status"]) for result in results} == {("EchoDefaults", "passed"), ("EchoRequired", "passed")}
    assert any(result["why"].startswith("whole = ") for result in results)
