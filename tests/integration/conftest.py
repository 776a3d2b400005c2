"""What the tests of whole commands build once, for all modules of an xdist group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_support import copy_of_sample

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample for the group "sample"; the first test that needs it built builds it."""
    return copy_of_sample(tmp_path_factory.mktemp("bench"))
