"""pytest runs what it finds: no folder of tests may be one that it passes over."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

TESTS = Path(__file__).resolve().parents[1]


def test_no_folder_of_tests_has_a_name_that_pytest_skips(request: pytest.FixtureRequest) -> None:
    folders = {parent for file in TESTS.rglob("test_*.py") for parent in file.relative_to(TESTS).parents if parent.name}
    skipped = request.config.getini("norecursedirs")
    assert Path("unit/build") in folders
    assert [str(folder) for folder in folders for pattern in skipped if fnmatch(folder.name, pattern)] == []
