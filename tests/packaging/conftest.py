"""One wheel of this checkout for all packaging tests, built from a copy that is gone when the tests run."""

from __future__ import annotations

import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging_support import copy_checkout, run


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the checkout that no longer exists."""
    source = copy_checkout(tmp_path_factory.mktemp("checkout"))
    target = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", target, source)
    assert built.returncode == 0, built.stderr
    shutil.rmtree(source)
    return next(target.glob("*.whl"))


@pytest.fixture(scope="session")
def wheel_names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())


@pytest.fixture
def install_into(wheel: Path) -> Callable[[Path, str], Path]:
    """Makes a virtual environment with the wheel in it: (folder, interpreter) -> its bin folder."""

    def install(folder: Path, python: str = sys.executable) -> Path:
        made = run(python, "-m", "venv", folder)
        assert made.returncode == 0, made.stderr
        installed = run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        assert installed.returncode == 0, installed.stderr
        return folder / "bin"

    return install
