"""pytest runs what it finds, and keeps together what shares a build."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def test_no_folder_of_tests_has_a_name_that_pytest_skips(request: pytest.FixtureRequest) -> None:
    folders = {parent for file in TESTS.rglob("test_*.py") for parent in file.relative_to(TESTS).parents if parent.name}
    skipped = request.config.getini("norecursedirs")
    assert Path("unit/build") in folders
    assert [str(folder) for folder in folders for pattern in skipped if fnmatch(folder.name, pattern)] == []


@pytest.mark.xdist_group("collection")
def test_tests_of_a_group_stay_on_one_worker(request: pytest.FixtureRequest) -> None:
    """pytest-xdist writes the group into the test's id; without that, two workers each build what a module shares, and nothing says so."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("needs --dist loadgroup, as nox -s tests gives it")
    assert request.node.nodeid.endswith("@collection")
