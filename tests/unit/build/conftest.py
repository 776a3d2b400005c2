"""The tiny project of `tests/tiny_support.py`, with spec and rendering stood in for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tiny_support import Tiny

from opkit import codegen, spec

if TYPE_CHECKING:
    from opkit.toolkit import Toolkit


@pytest.fixture
def tiny(tmp_path: Path, toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    tiny = Tiny(tmp_path / "my ops 算子" / "tiny", toolkit)
    monkeypatch.setattr(spec, "load_package", tiny.load)
    monkeypatch.setattr(codegen, "render", tiny.render)
    return tiny
