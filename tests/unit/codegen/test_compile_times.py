"""The generated code of ops whose kernels are compiled at one time or another: each package has what its own ops need, and no more."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from compile_support import write_compiled

from opkit.codegen import render
from opkit.spec import load_package

if TYPE_CHECKING:
    from opkit.spec import Package

ROOT = Path(__file__).resolve().parents[3]
CLANG_FORMAT = Path(sys.executable).with_name("clang-format")
GERSEMI = Path(sys.executable).with_name("gersemi")

# A package of ops with one time each, and one of all.
PACKAGES = {
    "load": "add",
    "graph": 'add.replace(compile="graph")',
    "graph portable": "scale",
    "prebuilt": 'add.replace(compile="prebuilt")',
    "prebuilt portable": 'scale.replace(compile="prebuilt"), subtract.replace(compile="prebuilt")',
    "all": None,
}
STORE = {"kernel_compiler.cpp", "kernel_compiler.h", "kernel_store.cpp", "kernel_store.h"}


def package_of(which: str, folder: Path) -> Package:
    return load_package(write_compiled(folder, ops=PACKAGES[which]) / "ops.py")


@pytest.fixture
def files(which: str, tmp_path: Path) -> dict[str, str]:
    return {file.path: file.text for file in render(package_of(which, tmp_path)).files}


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("load", set()),
        ("graph", {*STORE, "op_compile.h", "op_target.h"}),
        ("graph portable", {*STORE, "op_compile.h", "op_target.h", "op_portable.h"}),
        ("prebuilt", {*STORE, "main.cc", "compiled_variants.h"}),
        ("prebuilt portable", {*STORE, "op_portable.h", "main.cc", "compiled_variants.h"}),
        ("all", {*STORE, "op_compile.h", "op_target.h", "op_portable.h", "main.cc", "compiled_variants.h"}),
    ],
)
def test_a_package_has_the_files_that_its_ops_need(files: dict[str, str], expected: set[str]) -> None:
    paths = {path for path in files if not path.startswith("session_run/")}
    optional = {*STORE, "op_compile.h", "op_target.h", "op_portable.h", "main.cc", "compiled_variants.h"}

    assert {path.rpartition("/")[2] for path in paths} & optional == expected


@pytest.mark.parametrize(
    ("which", "absent"),
    [
        # The manifest of every package has a place for the architecture.
        ("load", r'kernel_store|CompiledAt|[Pp]rebuil|NPU_ARCH=|npu_arch(?!\\")|(?<!wheel_)platform|SaveKernels'),
        ("graph", "CompiledAt|[Pp]rebuil|OPKIT_NPU_ARCH|SaveKernels|RestoreKernels|kMark"),
        ("graph portable", "CompiledAt|[Pp]rebuil|OPKIT_NPU_ARCH"),
        ("prebuilt", "CompiledAt|CompilableOp|PortableOp|PlatFormInfos"),
    ],
)
def test_no_word_of_what_only_other_ops_need(files: dict[str, str], absent: str) -> None:
    found = {path: re.findall(absent, text) for path, text in files.items()}

    assert {path: words for path, words in found.items() if words} == {}


@pytest.mark.parametrize("which", ["prebuilt"])
def test_a_library_of_prebuilt_kernels_knows_no_kernel_compiler(files: dict[str, str]) -> None:
    library = files["CMakeLists.txt"].split("add_library(cust_opapi", 1)[1].split("# GE loads the library", 1)[0]

    assert "kernel_compiler.cpp" not in library
    assert "acl_rtc" not in library
    assert "install(FILES ${kernels}" not in files["CMakeLists.txt"]


@pytest.mark.parametrize("which", ["all"])
def test_each_time_is_what_its_ops_say(files: dict[str, str]) -> None:
    assert "enum class CompiledAt {\n  kLoad,\n  kGraph,\n  kBuild,\n};" in files["ge/utils/rtc_kernel_loader.h"]
    code = files["ge/custom_op.cpp"]
    assert (
        "class ScaleInGraph : public CustomOp<ScaleInGraphImpl, ShapeInference, Execution, AddressRefresh, GraphCompilation, Portab" in code
    )
    assert "class AddInBuildPortable : public CustomOp<AddInBuildImpl, ShapeInference, Execution, Portability> {};" in code
    assert "struct AddInBuildImpl : AddInBuildVariants {" in code
    assert "struct SubtractInBuildLaunch2 : SubtractInBuildVariants2 {" in code
    assert "kBuild" not in code
    assert 'if (!Compile<SubtractInBuildVariants2>(job, "SubtractInBuild", kSubtractInBuildDtypes)) {' in files["prebuild/main.cc"]


@pytest.mark.skipif(not CLANG_FORMAT.exists(), reason="clang-format isn't installed beside this Python")
@pytest.mark.parametrize("which", PACKAGES)
def test_the_code_is_as_clang_format_would_write_it(which: str, tmp_path: Path) -> None:
    render(package_of(which, tmp_path)).write(tmp_path)
    shutil.copy(ROOT / ".clang-format", tmp_path)
    sources = [path for path in tmp_path.rglob("*") if path.suffix in {".h", ".cpp", ".cc"} and "kernels" not in path.parts]

    done = subprocess.run([CLANG_FORMAT, "--dry-run", "-Werror", *sources], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not GERSEMI.exists(), reason="gersemi isn't installed beside this Python")
@pytest.mark.parametrize("which", PACKAGES)
def test_the_cmake_project_is_as_gersemi_would_write_it(which: str, tmp_path: Path) -> None:
    render(package_of(which, tmp_path)).write(tmp_path)
    options: list[str | Path] = [
        "--indent",
        "2",
        "--line-length",
        "140",
        "--quiet",
        "--warnings-as-errors",
        "--definitions",
        tmp_path / "cmake",
    ]

    done = subprocess.run([GERSEMI, "--check", *options, tmp_path / "CMakeLists.txt"], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
