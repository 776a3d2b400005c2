"""What all tests share: an environment without the caller's CANN and opkit settings, and the toolkit that the installed opkit bundles."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# A shell starts what runs in its background with SIGINT ignored, and each child inherits that: tests that interrupt one would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _compiler_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Dozens of tests build the same generated sources in folders of their own: with ccache at hand they are compiled once a run.

    Not for the next run as well: ccache doesn't tell objects apart by -ffile-prefix-map, so that one of another template would come back.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CMAKE_CXX_COMPILER_LAUNCHER", "CCACHE_DISABLE"):
            patch.delenv(name, raising=False)
        if shutil.which("ccache"):
            base = tmp_path_factory.getbasetemp()
            if "PYTEST_XDIST_WORKER" in os.environ:
                base = base.parent  # Workers share one.
            patch.setenv("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
            patch.setenv("CCACHE_DIR", str(base / "ccache"))
            patch.setenv("CCACHE_BASEDIR", str(base))
            patch.setenv("CCACHE_NOHASHDIR", "1")
        if shutil.which("make") is None:
            # What is built by hand, as a page says, would take make; opkit's own dependency does as well.
            patch.setenv("CMAKE_GENERATOR", "Ninja")
        yield


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in list(os.environ):
        if name.startswith(("ASCEND_", "OPKIT_SIM_")) and name != "OPKIT_SIM_CACHE_DIR":
            monkeypatch.delenv(name)
    # Nor the packages that they installed.
    monkeypatch.setenv("OPKIT_PREFIX", str(tmp_path_factory.getbasetemp() / "no-prefix"))
    # One cache of compiled kernels for the run: not the developer's, and not cold for each test.
    monkeypatch.setenv("OPKIT_SIM_CACHE_DIR", str(tmp_path_factory.getbasetemp().parent / "rtc-cache"))


@pytest.fixture(scope="session")
def toolkit_home() -> Path:
    """The folder of the bundled simulator; its absence is a failure, since everything that a user does needs it."""
    from opkit import resources

    home = resources.bundled_toolkit()
    assert home is not None, "opkit is not installed with its simulator: `pip install .` (nox -s tests does)"
    return home


@pytest.fixture
def as_nobody() -> None:
    """For tests that root goes on with as a user who owns nothing: it must reach opkit and the folder of temporary files."""
    import opkit

    places = [Path(opkit.__file__).resolve(), Path(tempfile.gettempdir()).resolve()]
    closed = next((folder for place in places for folder in place.parents if not folder.stat().st_mode & 0o001), None)
    if os.geteuid() == 0 and closed is not None:
        pytest.skip(f"other users can't enter {closed}")
