"""The generated code of real operators' specs: what one op needs doesn't disturb another in the same package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from generated_support import shell, strictly, succeed
from real_ops_support import write_real_ops

from opkit.codegen import render

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("real_ops")
    render(write_real_ops(root)).write(root)
    return root


@pytest.mark.slow
@pytest.mark.parametrize(("file", "abi"), [("ge/custom_op.cpp", 0), ("session_run/main.cc", 1)])
def test_the_ops_of_many_kinds_compile_together(project: Path, toolkit_home: Path, file: str, abi: int) -> None:
    succeed(shell("g++", "-std=c++17", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", *strictly(toolkit_home), project / file))
