"""What the tests of generated projects share: a package that uses all that a spec can say, and the building and running of a project."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

from opkit.codegen import render
from opkit.spec import Package, load_package

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

# Plain loops over GM: what is tested is what the host tells the kernel, so the kernel should be easy to believe.
COPY_KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void copy_elements(GM_ADDR x, GM_ADDR y, uint64_t length) {
  for (uint64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ DTYPE_Y *>(y)[i] = reinterpret_cast<__gm__ DTYPE_X *>(x)[i];
  }
}
"""
AFFINE_KERNEL = """\
#include "kernel_operator.h"
#include "affine_math.h"
extern "C" __global__ __aicore__ void affine(GM_ADDR x, GM_ADDR y, bool negate, float alpha, int32_t times, uint32_t length, int64_t rest) {
  if (rest != length % 7 || PLUS != 3) {
    return;
  }
  for (uint32_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    const float value = Affine(static_cast<float>(reinterpret_cast<__gm__ DTYPE_X *>(x)[i]), alpha, times);
    reinterpret_cast<__gm__ DTYPE_Y *>(y)[i] = static_cast<DTYPE_Y>(negate ? -value : value);
  }
}
"""
AFFINE_HEADER = """\
#pragma once
#include "affine_terms.h"
__aicore__ inline float Affine(float x, float alpha, int32_t times) { return TERM(alpha * x) + static_cast<float>(times); }
"""
AFFINE_TERMS = """\
#pragma once
#define TERM(x) (x)  // [a; b]
"""
SIGNS_KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void split_signs(GM_ADDR x, GM_ADDR size, GM_ADDR is_negative, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    const DTYPE_X value = reinterpret_cast<__gm__ DTYPE_X *>(x)[i];
    reinterpret_cast<__gm__ DTYPE_X *>(size)[i] = value < DTYPE_X(0) ? DTYPE_X(-value) : value;
    reinterpret_cast<__gm__ uint8_t *>(is_negative)[i] = value < DTYPE_X(0) ? 1 : 0;
  }
}
"""
ROWS_KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void add_to_rows(GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR sums, uint32_t rows, uint32_t columns) {
  for (uint32_t row = AscendC::GetBlockIdx(); row < rows; row += AscendC::GetBlockNum()) {
    float sum = 0;
    for (uint32_t column = 0; column < columns; ++column) {
      const float value = reinterpret_cast<__gm__ float *>(x)[row * columns + column] + reinterpret_cast<__gm__ float *>(bias)[column];
      reinterpret_cast<__gm__ float *>(y)[row * columns + column] = value;
      sum += value;
    }
    reinterpret_cast<__gm__ float *>(sums)[row] = sum;
  }
}
"""
PAIRS_KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void add_pairs(GM_ADDR x, GM_ADDR y, int64_t pairs) {
  for (int64_t i = AscendC::GetBlockIdx(); i < pairs; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ int32_t *>(y)[i] =
        reinterpret_cast<__gm__ int32_t *>(x)[2 * i] + reinterpret_cast<__gm__ int32_t *>(x)[2 * i + 1];
  }
}
"""
VARIED_FILES = {
    "kernels/copy.asc": COPY_KERNEL,
    "kernels/affine.asc": AFFINE_KERNEL,
    "kernels/affine_math.h": AFFINE_HEADER,
    "kernels/affine_terms.h": AFFINE_TERMS,
    "kernels/signs.asc": SIGNS_KERNEL,
    "kernels/rows.asc": ROWS_KERNEL,
    "kernels/pairs.asc": PAIRS_KERNEL,
}
VARIED_SPEC = """\
from opkit import Attr, Benchmark, Input, Kernel, Op, Output, Package, attr, ceil_div, cores, dim, i32, max_, min_, numel, u32

ALL = ["float32", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool"]

copy = Op(
    "CopyElements",
    inputs=[Input("x", "T", shape="...")],
    outputs=[Output("y", "T", shape="...")],
    dtypes={"T": ALL},
    kernel=Kernel("kernels/copy.asc", entry="copy_elements", args=["x", "y", numel("x")], blocks=min_(numel("x"), cores()), strides=True),
    refresh="updater",
    reference=lambda x: x.copy(),
)
affine = Op(
    "Affine",
    inputs=[Input("x", ["float32", "int32"], shape="...")],
    outputs=[Output("y", ["float32", "float32"], shape="...")],
    attrs=[
        Attr("alpha", "float", default=0.1),
        Attr("times", "int"),
        Attr("negate", "bool", default=False),
        Attr("mode", "str", default='a"??/\\\\b'),
    ],
    kernel=Kernel(
        "kernels/affine.asc",
        entry="affine",
        args=["x", "y", attr("negate"), attr("alpha"), i32(attr("times")), u32(numel("y")), (numel("x") + 7) % 7],
        blocks=ceil_div(max_(numel("x") - 1, 1), 8) * 1 + 0 // 3,
        defines={"PLUS": 3},
    ),
    reference=lambda x, *, alpha, times, negate, mode: (-1 if negate else 1) * (x.astype("float32") * alpha + times),
)
signs = Op(
    "SplitSigns",
    inputs=[Input("x", "T", shape="...")],
    outputs=[Output("size", "T", shape="..."), Output("is_negative", "bool", shape="...")],
    dtypes={"T": ["float32", "int32", "int64"]},
    kernel=Kernel("kernels/signs.asc", entry="split_signs", args=["x", "size", "is_negative", numel("x")], blocks=8),
    refresh="updater",
    reference=lambda x: (abs(x), x < 0),
)
rows = Op(
    "AddToRows",
    inputs=[Input("x", "float32", shape="n k"), Input("bias", "float32", shape="k")],
    outputs=[Output("y", "float32", shape="n k"), Output("sums", "float32", shape="n")],
    kernel=Kernel("kernels/rows.asc", entry="add_to_rows", args=["x", "bias", "y", "sums", dim("x", 0), dim("y", -1)], blocks=dim("x", 0)),
    refresh="updater",
    reference=lambda x, bias: (x + bias, (x + bias).sum(axis=1)),
)
pairs = Op(
    "AddPairs",
    inputs=[Input("x", "int32", shape="n *batch 2")],
    outputs=[Output("y", "int32", shape="*batch n 1")],
    kernel=Kernel("kernels/pairs.asc", entry="add_pairs", args=["x", "y", numel("y")], blocks=numel("y")),
    reference=None,
)

package = Package(
    "varied",
    ops=[copy, affine, signs, rows, pairs],
    benchmark=Benchmark(affine, shapes={"x": (3, 5)}, attrs={"times": 2}, iters=3),
)
"""


def varied_project(root: Path, *, spec: Callable[[str], str] = str) -> Package:
    """Writes the varied package and its generated files below `root`; `spec` may change the text of ops.py."""
    for name, text in VARIED_FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "ops.py").write_text(spec(VARIED_SPEC))
    package = load_package(root / "ops.py")
    render(package).write(root)
    return package


def shell(*argv: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in argv], env={**os.environ, **(env or {})}, cwd=cwd, capture_output=True, text=True, check=False
    )


def succeed(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, f"{done.args} exited with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


# What generated code has none of.
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


def strictly(toolkit: Path) -> list[str]:
    """The flags with which generated code is checked and not built."""
    include = toolkit / "include"
    folders = [include, include / "graph", toolkit / "opp" / "built-in" / "op_proto" / "inc"]
    return [*WARNINGS, "-fsyntax-only", *(word for folder in folders for word in ("-isystem", str(folder)))]


class StrictCompiler:
    """Compiles each text once: what is generated into `ge/utils` follows from what the ops need, and is the same in many packages."""

    def __init__(self, toolkit: Path) -> None:
        self._flags = strictly(toolkit)
        self._clean: set[tuple[str, ...]] = set()

    def check(self, source: Path, *command: str) -> None:
        """Fails if the compiler has to say something of the source, or of what it includes from its own project."""
        text = "".join(_texts_of(source, {}).values())
        for name in set(re.findall(r"^namespace (\w+)_ops \{$", text, re.MULTILINE)):
            text = re.sub(rf"\b(?:{name}(?=_ops\b)|{name.upper()}(?=_))", "any", text)
        if (*command, text) not in self._clean:
            succeed(shell(*command, *self._flags, source))
            self._clean.add((*command, text))


def _texts_of(source: Path, found: dict[Path, str]) -> dict[Path, str]:
    """The texts of a file and of those that it includes from its own project, directly or not."""
    found[source] = source.read_text()
    for name in re.findall(r'^#include "(.+)"$', found[source], re.MULTILINE):
        path = (source.parent / name).resolve()
        if path.exists() and path not in found:
            _texts_of(path, found)
    return found


# For a tree by hand as deep in the project as those of opkit, with the compiler that it names: ccache finds what was compiled
# for one in the other, as relative paths and command lines are the same.
AS_DEEP = "build/by_hand"
NAMED_COMPILER = "-DCMAKE_CXX_COMPILER=g++"


def build_by_hand(project: Path, toolkit: Path, *options: str, tree: str = "build") -> None:
    """The recipe of the README, without opkit."""
    env = {"ASCEND_HOME_PATH": str(toolkit)}
    succeed(shell("cmake", "-S", project, "-B", project / tree, "-DCMAKE_BUILD_TYPE=Release", *options, env=env))
    succeed(shell("cmake", "--build", project / tree, "-j2", env=env))
    succeed(shell("cmake", "--install", project / tree, env=env))


def run_session(project: Path, name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a project's session program with its own output only."""
    env = {"ASCEND_CUSTOM_OPP_PATH": str(project / "output")}
    return shell(project / "build" / f"{name}_session_run", *arguments, env=env)


def run_program(project: Path, toolkit: Path, folder: Path, text: str) -> str:
    """What a program prints that is compiled as below."""
    return succeed(shell(build_program(project, toolkit, folder, text))).stdout


def build_program(project: Path, toolkit: Path, folder: Path, text: str) -> Path:
    """Compiles a program against the generated headers, with the sanitizer for undefined behaviour."""
    source = folder / "program.cpp"
    source.write_text(text)
    include = toolkit / "include"
    includes: list[str | Path] = ["-I", project / "ge", "-isystem", include, "-isystem", include / "graph"]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    libraries = [
        f"-L{toolkit / 'lib64'}",
        f"-Wl,-rpath,{toolkit / 'lib64'}",
        "-lge_runner",
        "-llowering",
        "-lgraph",
        "-lgraph_base",
        "-lmetadef",
        "-lplatform",
        "-lacl_rtc",
        "-lacl_rt",
    ]
    succeed(shell("g++", *flags, *includes, source, "-o", folder / "program", *libraries))
    return folder / "program"
