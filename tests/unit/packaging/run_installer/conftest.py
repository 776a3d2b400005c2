"""The installers that the tests of this folder run, made once."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_installer_support import Case, Nobody, Steps
from tool_support import require_tool


@pytest.fixture(scope="session", autouse=True)
def _makeself() -> None:
    require_tool("makeself", "makeself")


@pytest.fixture(scope="session")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("installers"))


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def nobody(case: Case, public: Path) -> Nobody:
    return Nobody(case, public)


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    return Steps(tmp_path / "steps", ("cp", "ln", "mkdir", "mv", "rm"))
