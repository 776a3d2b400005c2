"""The project folder that the tests of the spec write to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from spec_support import ADD_KERNEL, SpecFolder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> SpecFolder:
    made = SpecFolder(root=tmp_path)
    made.write("kernels/add.asc", ADD_KERNEL)
    return made
