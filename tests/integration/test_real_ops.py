"""The generated code of real operators' specs: what one op needs doesn't disturb another in the same package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from generated_support import shell, succeed
from real_ops_support import write_real_ops

from opkit.codegen import render

if TYPE_CHECKING:
    from pathlib import Path

STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("real_ops")
    render(write_real_ops(root)).write(root)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("file", ["ge/custom_op.cpp", "session_run/main.cc"])
@pytest.mark.parametrize("abi", [0, 1])
def test_the_ops_of_many_kinds_compile_together(project: Path, toolkit_home: Path, file: str, abi: int) -> None:
    include = toolkit_home / "include"
    succeed(
        shell(
            "g++",
            "-std=c++17",
            f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
            *STRICT,
            "-isystem",
            include,
            "-isystem",
            include / "graph",
            project / file,
        )
    )
