"""What the packaging tests share: a clean copy of the checkout, child processes, and a PATH with tools hidden."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


def copy_checkout(target: Path) -> Path:
    """Copies what git would clone, with the working tree's content, to ``target``."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=CHECKOUT, check=True, capture_output=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        source = CHECKOUT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)
    return target


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert isinstance(done, subprocess.CompletedProcess)
    return done


def pip_install(environment: Path, *what: str | Path, **options: object) -> None:
    """Installs into a virtual environment without pip; dependencies are compiled by whoever imports them."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    installed = run(*pip, "--python", environment, "install", "--no-compile", *what, **options)
    assert installed.returncode == 0, installed.stderr


def path_without(hidden: tuple[str, ...], folder: Path) -> str:
    """A PATH of links to every tool at hand but those whose name starts with one of ``hidden``."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        if not Path(place).is_dir():
            continue
        for tool in Path(place).iterdir():
            link = folder / tool.name
            if not tool.name.startswith(hidden) and not link.is_symlink():
                link.symlink_to(tool)
    return str(folder)
