"""Tools that some tests need and a machine with nothing but Python and g++ doesn't have."""

from __future__ import annotations

import os
import shutil

import pytest

__all__ = ["require_tool"]


def require_tool(program: str, package: str) -> str:
    """Gives the path of a program. Without it the test is skipped, or fails where all must be there, as .ci/run says by OPKIT_TEST_ALL."""
    path = shutil.which(program)
    if path is None:
        reason = f"needs {program}: sudo apt install {package}"
        if os.environ.get("OPKIT_TEST_ALL"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path
