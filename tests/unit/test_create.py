"""`create_project`: what the spec's own rules refuse is told of the argument that it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opkit.codegen import NewProject
from opkit.create import create_project, op_type_of
from opkit.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "op_type", "told"),
    [
        ("class", None, ["NAME class", "it is a C++ keyword", "opkit new class_ops"]),
        ("lambda", None, ["NAME lambda", "it is a Python keyword", "opkit new lambda_ops"]),
        ("json", None, ["NAME json", "Python has a module of this name", "opkit new json_ops"]),
        ("demo", "Graph", ["--op Graph", "GE has a C++ class of this name", "'GraphCustom' would do"]),
        ("demo", "Ge op", ["--op Ge op", "it must match [A-Z][A-Za-z0-9]*", "'GeOp' would do"]),
    ],
)
def test_a_name_that_the_spec_refuses_is_told_at_its_argument(tmp_path: Path, name: str, op_type: str | None, told: list[str]) -> None:
    project = NewProject(
        name=name, op_type=op_type or op_type_of(name), kernel="add_custom.asc", entry="add_custom", dtypes=("float32",), author=""
    )
    with pytest.raises(UsageError) as caught:
        create_project(project, tmp_path / name)
    assert [caught.value.where, (caught.value.because or "")[: len(told[1])], caught.value.help] == told
    assert list(tmp_path.iterdir()) == []
