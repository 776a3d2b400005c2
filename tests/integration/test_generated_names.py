"""A package may have the name of any generated file, or of a header of someone else's: each include still finds the file that it means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from command_support import opkit_json
from generated_support import shell, succeed

from opkit.codegen import render
from opkit.spec import load_package

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void copy(GM_ADDR x, GM_ADDR y, uint64_t length) {
  for (uint64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ float *>(y)[i] = reinterpret_cast<__gm__ float *>(x)[i];
  }
}
"""
SPEC = """\
from opkit import Input, Kernel, Op, Output, Package, numel

copy = Op(
    "CopyCustom",
    inputs=[Input("x", "float32", shape="...")],
    outputs=[Output("y", "float32", shape="...")],
    kernel=Kernel("kernels/copy.asc", entry="copy", args=["x", "y", numel("x")], blocks=8, strides=True),
    refresh="updater",
    reference=None,
)
package = Package(PACKAGE, ops=[copy])
"""
SOURCES = ("ge/custom_op.cpp", "session_run/main.cc")
# Files of session_run, of ge/utils, of the C library, of the toolkit, and one that GE's own headers include by its bare name.
NAMES = ("ops", "report", "options", "failure", "elements", "npy", "case_file", "case_run", "default_cases", "log", "size", "op_rules")
FOREIGN = ("string.h", "stdio.h", "errno.h", "custom_op.h", "ge_api.h", "ops_proto_legacy.h", "types.h", "ge_error_codes.h")


def project_of(folder: Path, name: str, header: str | None = None) -> Path:
    (folder / "kernels").mkdir()
    (folder / "kernels" / "copy.asc").write_text(KERNEL)
    (folder / "ops.py").write_text(SPEC.replace("PACKAGE", repr(name) if header is None else f"{name!r}, header={header!r}"))
    render(load_package(folder / "ops.py")).write(folder)
    return folder


def compiler_of(project: Path, toolkit: Path) -> list[str]:
    """The command with which CMake compiles the project's sources, up to what it makes of them."""
    succeed(shell("cmake", "-S", project, "-B", project / "build", env={"ASCEND_HOME_PATH": str(toolkit)}))
    commands = (project / "build" / "compile_commands.json").read_text()
    line = next(line for line in commands.splitlines() if '"command"' in line and "main.cc" in line)
    words = line.split('"')[3].split()
    return [word for word in words[: words.index("-o")] if word != "-c"]


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> list[str]:
    """The command is the same for all packages: no folder of the project is on its include path."""
    project = project_of(tmp_path_factory.mktemp("any"), "any_ops")
    command = compiler_of(project, toolkit_home)
    assert str(project / "ge") not in " ".join(command)
    return command


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory, compiler: list[str]) -> dict[str, set[str]]:
    """What each source includes in a package whose name nobody else has."""
    project = project_of(tmp_path_factory.mktemp("ordinary"), "any_ops")
    return {source: included(compiler, project, source) for source in SOURCES}


def included(compiler: list[str], project: Path, source: str) -> set[str]:
    """The files that a source includes, directly or not; those of the project by their place in it."""
    rule = succeed(shell(*compiler, "-M", project / source)).stdout.replace("\\\n", " ")
    paths = [path.replace("session_run/../", "") for path in rule.split()[1:]]
    return {path.removeprefix(f"{project}/") for path in paths}


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_every_include_finds_the_file_that_it_means(
    compiler: list[str], ordinary: dict[str, set[str]], tmp_path: Path, source: str
) -> None:
    for number, header in enumerate((*(f"{name}.h" for name in NAMES), *FOREIGN)):
        folder = tmp_path / str(number)
        folder.mkdir()
        stem = header.removesuffix(".h")
        wanted = {re.sub(r"^ge/any_ops(?=\.h|_rules|_kernel)", f"ge/{stem}", path) for path in ordinary[source]}
        assert included(compiler, project_of(folder, "any_ops", header), source) == wanted, header


@pytest.mark.slow
@pytest.mark.parametrize(("name", "header"), [("ops", None), ("report", None), ("varied", "utils_log.h"), ("varied", "session_run_ops.h")])
def test_a_package_of_the_name_of_a_generated_file_compiles(compiler: list[str], tmp_path: Path, name: str, header: str | None) -> None:
    project = project_of(tmp_path, name, header)
    for source in SOURCES:
        succeed(shell(*compiler, "-Werror", "-fsyntax-only", project / source))


@pytest.mark.case("A6")
@pytest.mark.slow
@pytest.mark.usefixtures("toolkit_home")
def test_ops_in_place_of_built_in_ones_are_built_and_run(tmp_path: Path) -> None:
    project = project_of(tmp_path, "any_ops")
    text = SPEC.replace("PACKAGE", '"any_ops"').replace("reference=None", "reference=lambda x: x, allow_builtin=True")
    text = text.replace("ops=[copy]", 'ops=[copy, *(copy.replace(type=name) for name in ("Cast", "Add", "Relu", "MatMul"))]')
    (project / "ops.py").write_text(text)
    results = opkit_json("test", project)["results"]
    ran = {result["op"] for result in results if result["status"] == "passed"}
    assert ran == {"CopyCustom", "Cast", "Add", "Relu", "MatMul"}
    assert "failed" not in {result["status"] for result in results}


def test_no_two_generated_headers_share_a_guard(tmp_path: Path) -> None:
    """Whatever the header is called: the first of two with one guard would hide the other."""
    stems = ["ops", *NAMES, *(f"{folder}_{name}" for folder in ("utils", "session_run") for name in NAMES)]
    for number, stem in enumerate(stems):
        for package in ("ops", "varied", "ops_utils"):
            folder = tmp_path / f"{number}{package}"
            folder.mkdir()
            project = project_of(folder, package, f"{stem}.h")
            guards = [re.search(r"^#ifndef (\w+)$", path.read_text(), re.MULTILINE) for path in project.rglob("*.h")]
            names = [guard[1] for guard in guards if guard]
            assert len(names) == len(set(names)) == len(guards), (package, stem)
