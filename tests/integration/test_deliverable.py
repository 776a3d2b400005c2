"""A deliverable of one real op whose kernel file is called .cpp: what its manifest says, what it shows, and what fails its build."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from command_support import edited, opkit, opkit_json

from opkit.deliverable import LIBRARY, MANIFEST, Manifest, library_folder
from opkit.deliverable.elf import read_library
from opkit.toolkit import host_arch

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("deliverable"), pytest.mark.usefixtures("toolkit_home")]

_FILES = {
    "ops.py": """\
import numpy as np
from opkit import *

pad = Op(
    "PadBoth",
    inputs=[Input("x", "T", shape="n")],
    outputs=[Output("y", "T", shape=cpp("ge/user/infer.h", "mine::InferPad"))],
    attrs=[Attr("pad", int, default=2), Attr("word", str, default='a "b"; c')],
    dtypes={"T": per_soc({"Ascend910B": ["float32", "int32"], "default": ["float32"]})},
    kernel=Kernel("kernels/pad.cpp", entry="pad", args=["x", "y", "pad", numel("x")], blocks=1),
    reference=lambda x, pad, word: np.pad(x, pad),
)
package = Package("padding", ops=[pad], benchmark=Benchmark(pad, shapes={"x": (64,)}))
""",
    "kernels/pad.cpp": """\
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void pad(GM_ADDR x, GM_ADDR y, int64_t pad, int64_t length) {
  for (int64_t i = 0; i < length + 2 * pad; ++i) {
    const bool is_inside = i >= pad && i < length + pad;
    reinterpret_cast<__gm__ DTYPE_Y *>(y)[i] = is_inside ? reinterpret_cast<__gm__ DTYPE_X *>(x)[i - pad] : DTYPE_Y(0);
  }
}
""",
    "ge/user/infer.h": """\
#pragma once
#include "exe_graph/runtime/infer_shape_context.h"

namespace mine {
inline bool InferPad(const gert::InferShapeContext &ctx, gert::Shape &shape) {
  const gert::Shape *const x = ctx.GetInputShape(0);
  const gert::RuntimeAttrs *const attrs = ctx.GetAttrs();
  const int64_t *const pad = attrs == nullptr ? nullptr : attrs->GetInt(0);
  if (x == nullptr || pad == nullptr || x->GetDimNum() != 1) {
    return false;
  }
  shape.AppendDim(x->GetDim(0) < 0 ? -1 : x->GetDim(0) + 2 * *pad);
  return true;
}
}  // namespace mine
""",
    "pyproject.toml": '[project]\nname = "padding"\nversion = "1.2.0"\n',
}
_LIBRARY = library_folder(host_arch()) / LIBRARY
_PROTOTYPE = (
    '.INPUT(x, "T").OUTPUT(y, "T").ATTR(pad, Int, 2).ATTR(word, String, "a \\"b\\"; c").DATATYPE(T, TensorType({DT_FLOAT, DT_INT32}))'
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("my ops 算子")
    for name, text in _FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    opkit("build", project)
    return project


@pytest.fixture
def manifest(project: Path) -> Manifest:
    manifest = Manifest.read(project / "output")
    assert manifest is not None
    return manifest


def test_the_manifest_says_what_the_spec_the_project_and_the_library_say(project: Path, manifest: Manifest) -> None:
    library = read_library(project / "output" / _LIBRARY)
    assert [(op.type, op.prototype) for op in manifest.ops] == [("PadBoth", _PROTOTYPE)]
    assert (manifest.package, manifest.version) == ("padding", "1.2.0")
    assert manifest.target.socs == ("Ascend910B",)
    requires = manifest.requires
    assert (requires.glibc, requires.glibcxx, requires.libraries) == (library.glibc, library.glibcxx, library.needed)
    assert (library.ops, library.prototypes, library.runpath) == (("PadBoth",), ("PadBoth",), ())


def test_cmake_by_hand_installs_the_same(project: Path, manifest: Manifest, tmp_path: Path) -> None:
    (tree,) = (path.parent for path in project.glob("build/*/CMakeCache.txt"))
    subprocess.run(["cmake", "--install", tree, "--prefix", tmp_path / "by hand"], check=True, capture_output=True)
    assert (tmp_path / "by hand" / MANIFEST).read_bytes() == (project / "output" / MANIFEST).read_bytes()
    assert manifest.violations(tmp_path / "by hand") == []


def test_a_new_version_is_published_without_compiling(project: Path) -> None:
    library = project / "output" / _LIBRARY
    before = library.stat()
    with edited(project / "pyproject.toml", "1.2.0", "1.3.0"):
        opkit("build", project)
        assert opkit_json("inspect", project / "output")["manifest"]["version"] == "1.3.0"
    opkit("build", project)
    assert opkit_json("inspect", project / "output")["manifest"]["version"] == "1.2.0"
    assert library.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.case("K5")
def test_nothing_in_the_deliverable_names_where_it_was_built(project: Path, manifest: Manifest) -> None:
    for file in manifest.files:
        assert str(project).encode() not in (project / "output" / file.path).read_bytes(), file.path


@pytest.mark.case("G9")
def test_a_kernel_file_of_any_name_is_compiled_as_ascend_c(project: Path) -> None:
    assert (project / "output" / library_folder(host_arch()) / "pad.cpp").is_file()
    program: list[str | Path] = [project / "build/padding_session_run", "--check-only", "--shape", "x=5"]
    environ = {**os.environ, "ASCEND_CUSTOM_OPP_PATH": str(project / "output")}
    told = subprocess.run(program, env=environ, check=True, capture_output=True, text=True).stdout
    assert "Precision check passed: PadBoth" in told


def test_people_see_what_it_registers_needs_and_is_for(project: Path) -> None:
    for target in (project / "output", project / "output" / _LIBRARY):
        lines = [" ".join(line.split()) for line in opkit("inspect", target).stdout.splitlines()]
        for line in (
            f"{target.name}: package padding 1.2.0+sim",
            "registers 1 op",
            f"PadBoth {_PROTOTYPE}",
            "toolkit CANN 9.2 or newer",
            f"processor {host_arch()}",
            "string ABI 0",
            "SoCs Ascend910B",
        ):
            assert line in lines, lines
        assert any(line.startswith("built against the host simulator") and line.endswith("not for a device") for line in lines)


def test_an_archive_shows_what_is_in_it(project: Path, tmp_path: Path) -> None:
    opkit("package", project, "--allow-simulator", "--dest", tmp_path)
    (archive,) = tmp_path.iterdir()
    inside, outside = opkit_json("inspect", archive), opkit_json("inspect", project / "output")
    assert inside["name"] == archive.name
    assert (inside["ops"], inside["libraries"]) == (outside["ops"], outside["libraries"])
    assert inside["violations"] == []


@pytest.mark.case("F2")
def test_a_function_that_no_library_has_fails_the_build(project: Path) -> None:
    before = (project / "output" / _LIBRARY).read_bytes()
    with (
        edited(project / "ge/user/infer.h", "  const gert::Shape *const x =", "  foo_missing();\n  const gert::Shape *const x ="),
        edited(project / "ge/user/infer.h", "namespace mine {", "void foo_missing();\nnamespace mine {"),
    ):
        error = opkit_json("build", project, exit_code=5)["error"]
    assert error["kind"] == "LinkError"
    assert error["message"] == "no library defines foo_missing()"
    assert (project / "output" / _LIBRARY).read_bytes() == before
