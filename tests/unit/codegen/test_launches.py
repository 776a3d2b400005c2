"""What the generated code has for structs by value, mangled entries, several kernels and cube cores, and only if an op needs it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from launch_support import write_launches

from opkit.codegen import render
from opkit.spec import load_package

if TYPE_CHECKING:
    from collections.abc import Callable

    from opkit.spec import Package

ROOT = Path(__file__).resolve().parents[3]
CLANG_FORMAT = Path(sys.executable).with_name("clang-format")
KERNEL = """\
struct Tiling { int64_t n; };
extern "C" __global__ __aicore__ void copy(GM_ADDR x, GM_ADDR y, int64_t n) {}
extern "C" __global__ __aicore__ void tiled(GM_ADDR x, GM_ADDR y, Tiling t) {}
extern "C" __global__ __aicore__ void cube(GM_ADDR x, GM_ADDR y, int64_t n) { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY); }
namespace ops { template <typename T> __global__ __aicore__ void plain(GM_ADDR x, GM_ADDR y, int64_t n) {} }
namespace v2 { struct Tiling { int32_t m; }; }
extern "C" __global__ __aicore__ void tiled2(GM_ADDR x, GM_ADDR y, v2::Tiling t) {}
"""
COPY = ("copy", 'numel("x")')


def op(number: int, *launches: tuple[str, str], dtypes: str = '["float32"]') -> str:
    kernels = ", ".join(f'Kernel("kernels/k.asc", entry="{entry}", args=["x", "y", {last}], blocks=1)' for entry, last in launches)
    ports = 'inputs=[Input("x", "T", shape="...")], outputs=[Output("y", "T", shape="...")]'
    return f'Op("Copy{number}Custom", {ports}, dtypes={{"T": {dtypes}}}, kernel=[{kernels}])'


def files_of(package_of: Callable[..., Package], *ops: str) -> dict[str, str]:
    package = package_of(f'package = Package("copies", ops=[{", ".join(ops)}])', KERNEL)
    return {file.path: file.text for file in render(package).files}


@pytest.mark.parametrize(
    ("launches", "words"),
    [
        ([COPY, COPY], ["LaunchList", "LaunchAll", "RefreshAll"]),
        ([("ops::plain<{T}>", "1")], ["aclrtcAddNameExpr", "aclrtcGetLoweredName", "is_expression"]),
        ([("tiled", 'tiling("Tiling", n=1)')], ["namespace kernel_structs"]),
        ([("cube", "cores()")], ["is_cube", "ELF_CUBE_CORE", "ACL_DEV_ATTR_CUBE_CORE_NUM"]),
    ],
)
def test_only_an_op_that_needs_it_brings_code_along(
    package_of: Callable[..., Package], launches: list[tuple[str, str]], words: list[str]
) -> None:
    plain = "".join(files_of(package_of, op(1, COPY)).values())
    rich = "".join(files_of(package_of, op(1, COPY), op(2, *launches)).values())

    assert [word for word in words if word in plain] == []
    assert [word for word in words if word not in rich] == []


def test_a_list_of_one_kernel_is_one_kernel(package_of: Callable[..., Package]) -> None:
    listed = op(1, COPY)

    assert files_of(package_of, listed) == files_of(package_of, listed.replace("kernel=[", "kernel=").replace("])", ")", 1))


def test_structs_of_one_name_are_told_apart(package_of: Callable[..., Package]) -> None:
    text = files_of(package_of, op(1, ("tiled", 'tiling("Tiling", n=1)')), op(2, ("tiled2", 'tiling("v2::Tiling", m=1)')))[
        "ge/copies_kernel.h"
    ]

    assert "struct Tiling {\n  int64_t n;\n};" in text
    assert "struct Tiling2 {\n  int32_t m;\n};" in text
    assert "  kernel_structs::Tiling2 t;" in text


def test_an_instance_of_a_template_is_named_for_each_row(package_of: Callable[..., Package]) -> None:
    one = files_of(package_of, op(1, ("ops::plain<{T}>", "1")))["ge/custom_op.cpp"]
    two = files_of(package_of, op(1, ("ops::plain<{T}>", "1"), dtypes='["float32", "float16"]'))["ge/custom_op.cpp"]

    assert '"ops::plain<float>",' in one
    assert '    std::string entry = "ops::plain<";\n    entry += KernelTypeOf(kDtypes[row].inputs[0]);\n    entry += ">";\n' in two


def test_instances_of_a_template_have_one_struct_of_arguments(package_of: Callable[..., Package]) -> None:
    text = files_of(package_of, op(1, ("ops::plain<{T}>", "1"), ("ops::plain<int>", "1")))["ge/copies_kernel.h"]

    assert text.count("struct OpsPlainArgs {") == 1


@pytest.mark.skipif(not CLANG_FORMAT.exists(), reason="clang-format isn't installed beside this Python")
def test_rendered_cpp_is_as_clang_format_would_write_it(tmp_path: Path) -> None:
    shutil.copy(ROOT / ".clang-format", tmp_path)
    for file in render(load_package(write_launches(tmp_path) / "ops.py")):
        if file.path.endswith((".h", ".cpp", ".cc")):
            name = tmp_path / "rendered" / file.path
            name.parent.mkdir(parents=True, exist_ok=True)
            name.write_text(file.text)
            formatted = subprocess.run([CLANG_FORMAT, name], capture_output=True, text=True, check=True)
            assert formatted.stdout == file.text, file.path


@pytest.mark.parametrize("name", ["ctx_n", "node"])
def test_a_parameter_that_no_argument_reads_has_no_name_whatever_the_kernel_s_are_called(
    package_of: Callable[..., Package], name: str
) -> None:
    kernel = f'extern "C" __global__ __aicore__ void lists(GM_ADDR x, GM_ADDR y, int32_t {name}) {{}}\n'
    ports = 'inputs=[Input("x", "float32", dynamic=True, shape="n")], outputs=[Output("y", "float32", dynamic=True, shape="n")]'
    launch = 'Kernel("kernels/k.asc", entry="lists", args=[address_list("x"), address_list("y"), 5], blocks=1)'
    package = package_of(f'package = Package("lists", ops=[Op("CopyLists", {ports}, kernel={launch})])', kernel)
    text = next(file.text for file in render(package).files if file.path == "ge/custom_op.cpp")
    assert "static bool FillArgs(const Node &node, const gert::EagerOpExecutionContext &, Args &args)" in text
