"""Where things lie in an OPP root."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from opkit.deliverable import include_folder, library_folder, mode_of, root_above


def test_the_layout_is_what_ge_searches() -> None:
    assert library_folder("x86_64") == PurePosixPath("op_graph/lib/linux/x86_64")
    assert include_folder() == PurePosixPath("op_graph/include")


@pytest.mark.parametrize("inner", ["op_graph", "op_graph/lib", "op_graph/lib/linux", "op_graph/lib/linux/x86_64"])
def test_a_folder_inside_an_opp_root_knows_its_root(inner: str) -> None:
    assert root_above(Path("/a/output") / inner) == Path("/a/output")


def test_an_opp_root_lies_in_no_other() -> None:
    assert root_above(Path("/a/output")) is None


def test_libraries_are_executable_and_nothing_else() -> None:
    assert [mode_of(PurePosixPath(name)) for name in ("libcust_opapi.so", "add.asc", "add.h")] == [0o755, 0o644, 0o644]
