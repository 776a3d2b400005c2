"""Any valid spec renders to code that compiles without a warning, whatever it combines and whatever its names are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from generated_support import shell, strictly
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from spec_strategies import OpText, op_texts, op_type_names, write_package

from opkit.codegen import render
from opkit.spec import load_package

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

# What an op is doesn't depend on those beside it, so a compiler is given many at a time.
OPS_AT_ONCE = 16


@st.composite
def op_lists(draw: Callable[..., list[str]]) -> list[OpText]:
    types = draw(st.lists(op_type_names(), min_size=OPS_AT_ONCE, max_size=OPS_AT_ONCE, unique_by=str.upper).filter(_are_apart))
    return [draw(op_texts(number, op_type)) for number, op_type in enumerate(types)]  # type: ignore[misc]


def _are_apart(types: Sequence[str]) -> bool:
    """Whether no op would hide the class that another is made of."""
    return all(f"{one}Impl" not in types for one in types)


def complaint(root: Path, ops: Sequence[OpText], toolkit: Path, *, only: str | None = None) -> str | None:
    """What a compiler says of a package of these ops, or of one file of it, or None."""
    files = render(load_package(write_package(root, ops)))
    files.write(root)
    for source in (file.path for file in files if file.path.endswith((".cpp", ".cc")) and only in {None, file.path}):
        done = shell("g++", "-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0", *strictly(toolkit), root / source)
        if done.returncode != 0:
            return done.stderr
    return None


@pytest.mark.slow
def test_a_valid_spec_renders_to_code_that_compiles(toolkit_home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    # A fault is narrowed by the ops of its package: shrinking would take hundreds of compilations.
    @settings(
        max_examples=int(os.environ.get("OPKIT_TEST_VALID_SPECS", "3")),
        derandomize="OPKIT_TEST_VALID_SPECS" not in os.environ,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(op_lists())
    def compile_all(ops: list[OpText]) -> None:
        if complaint(tmp_path_factory.mktemp("ops"), ops, toolkit_home) is None:
            return
        for op in ops:
            text = complaint(tmp_path_factory.mktemp("op"), [op], toolkit_home)
            assert text is None, f"{op.text}\n{op.files}\n{text}"
        pytest.fail("\n".join(op.text for op in ops) + "\ncompile one by one, and not in one package")

    compile_all()


def op_of(text: str, kernel: str) -> OpText:
    return OpText(variable="op", type="AnyCustom", text=f'op = Op("AnyCustom", {text})\n', files={"kernels/any.asc": kernel})


# Ops whose code in custom_op.cpp, or in a header of it, once had an error: each is the only one of its package.
ONCE_WRONG = {
    "the struct of a kernel's arguments had the name of a function of the op's class": op_of(
        'inputs=[], outputs=[Output("y", "int8", shape="8")], kernel=Kernel("kernels/any.asc", entry="fill", args=["y"], blocks=1)',
        'extern "C" __global__ __aicore__ void fill(GM_ADDR y) {}\n',
    ),
    "an attr and a dim were one variable": op_of(
        'inputs=[Input("x", "int8", shape="n_attr")], outputs=[Output("y", "int8", shape="n_attr dim_n")], attrs=[Attr("dim_n", int)], '
        'kernel=Kernel("kernels/any.asc", entry="copy", args=["x", "y"], blocks=1)',
        'extern "C" __global__ __aicore__ void copy(GM_ADDR x, GM_ADDR y) {}\n',
    ),
    "what counts blocks was there for other ops only": op_of(
        'signature=[], refresh="annotated", compile="graph", '
        'kernel=Kernel("kernels/any.asc", entry="wait", args=[workspace(cores() * 8)], blocks=8, strides=True)',
        'extern "C" __global__ __aicore__ void wait(GM_ADDR space) {}\n',
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", ONCE_WRONG)
def test_code_that_once_had_an_error_compiles(toolkit_home: Path, tmp_path: Path, what: str) -> None:
    assert complaint(tmp_path, [ONCE_WRONG[what]], toolkit_home, only="ge/custom_op.cpp") is None
