"""What all tests share: an environment without the caller's CANN and opkit settings, and the toolkit that the installed opkit bundles."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

# A shell starts what runs in its background with SIGINT ignored, and each child inherits that: tests that interrupt one would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in list(os.environ):
        if name.startswith(("ASCEND_", "OPKIT_SIM_")) and name != "OPKIT_SIM_CACHE_DIR":
            monkeypatch.delenv(name)
    # One cache of compiled kernels for the run: not the developer's, and not cold for each test.
    monkeypatch.setenv("OPKIT_SIM_CACHE_DIR", str(tmp_path_factory.getbasetemp().parent / "rtc-cache"))


@pytest.fixture(scope="session")
def toolkit_home() -> Path:
    """The folder of the bundled simulator; its absence is a failure, since everything that a user does needs it."""
    from opkit import resources

    home = resources.bundled_toolkit()
    assert home is not None, "opkit is not installed with its simulator: `pip install .` (nox -s tests does)"
    return home
