"""One wheel of this checkout for all packaging tests, built from a copy that is gone when the tests run."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from packaging_support import copy_checkout, pip_install, run

Checkout = Callable[[], AbstractContextManager[Path]]


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Makes a copy of the checkout for the time of a block, always at one place, so that ccache knows the second build from the first."""
    place = tmp_path_factory.mktemp("checkout")

    @contextmanager
    def copied() -> Iterator[Path]:
        try:
            yield copy_checkout(place)
        finally:
            shutil.rmtree(place)

    return copied


@pytest.fixture(scope="session")
def pip_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose temporary folder, where pip has opkit built, lies where ccache takes paths as relative ones."""
    return {**os.environ, "TMPDIR": str(tmp_path_factory.mktemp("pip"))}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory, checkout: Checkout, pip_environment: dict[str, str]) -> Path:
    """A wheel built from a copy of the checkout that no longer exists."""
    target = tmp_path_factory.mktemp("wheel")
    with checkout() as source:
        command: list[str | Path] = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", target, source]
        built = run(*command, env=pip_environment)
        assert built.returncode == 0, built.stderr
    return next(target.glob("*.whl"))


@pytest.fixture(scope="session")
def wheel_names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())


@pytest.fixture
def install_into(wheel: Path) -> Callable[[Path, str], Path]:
    """Makes a virtual environment with the wheel in it: (folder, interpreter) -> its bin folder."""

    def install(folder: Path, python: str = sys.executable) -> Path:
        made = run(python, "-m", "venv", "--without-pip", folder)
        assert made.returncode == 0, made.stderr
        pip_install(folder, wheel)
        return folder / "bin"

    return install
