"""A package for each combination of refresh, compile and portable that can be: its code is clean under strict warnings and as formatted."""

from __future__ import annotations

import itertools
import shutil
from typing import TYPE_CHECKING

import pytest
from annotated_support import SPEC, write_annotated
from generated_support import StrictCompiler

from opkit.codegen import render
from opkit.spec import Compile, Refresh, load_package
from opkit.spec.resolve_capabilities import Capabilities, why_not

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("combinations")]

CAN_BE = [
    capabilities
    for refresh, compiled, is_portable in itertools.product(Refresh, Compile, [False, True])
    if why_not(capabilities := Capabilities(refresh=refresh, compile=compiled, is_portable=is_portable)) is None
]
# The first op alone too: it needs less, and has no lists, workspaces or several kernels beside it that would give it what it needs.
PACKAGES = {"all": "ops=declared", "one": "ops=[scaled]"}


def write_package(root: Path, capabilities: Capabilities, which: str) -> Path:
    words = f'refresh="{capabilities.refresh.value}", compile="{capabilities.compile.value}", portable={capabilities.is_portable},'
    spec = SPEC.replace('refresh="annotated",\n    compile="graph",', words).replace(", baseline=copied[0]", "")
    spec = spec.replace("ops=[*declared, *updated, *copied]", PACKAGES[which])
    render(load_package(write_annotated(root, spec=spec) / "ops.py")).write(root)
    return root


def named(capabilities: Capabilities) -> str:
    return f"{capabilities.refresh.value}-{capabilities.compile.value}{'-portable' if capabilities.is_portable else ''}"


@pytest.fixture(scope="module")
def compiler(toolkit_home: Path) -> StrictCompiler:
    return StrictCompiler(toolkit_home)


@pytest.mark.parametrize("which", PACKAGES)
@pytest.mark.parametrize("capabilities", CAN_BE, ids=named)
def test_the_code_of_each_combination_is_clean_under_strict_warnings(
    tmp_path: Path, compiler: StrictCompiler, capabilities: Capabilities, which: str
) -> None:
    project = write_package(tmp_path, capabilities, which)
    sources = [project / "ge" / "custom_op.cpp"]
    # These depend on the capabilities, and on the ops in little beside: for the first op alone one kind of refresh is enough.
    if which == "all" or capabilities.refresh is Refresh.UPDATER:
        sources += [*sorted((project / "ge" / "utils").glob("*.cpp")), *project.glob("prebuild/*.cc")]

    for source in sources:
        compiler.check(source, "g++", "-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0")
        if which == "all" and shutil.which("clang++") is not None:
            compiler.check(source, "clang++", "-std=c++20", "-D_GLIBCXX_USE_CXX11_ABI=1")


def test_each_header_of_an_op_whose_launches_ge_knows_includes_what_it_uses(tmp_path: Path, compiler: StrictCompiler) -> None:
    capabilities = Capabilities(refresh=Refresh.ANNOTATED, compile=Compile.GRAPH, is_portable=True)
    project = write_package(tmp_path, capabilities, "all")

    for header in sorted((project / "ge").glob("utils/*.h")):
        compiler.check(header, "g++", "-std=c++17", "-x", "c++")
