"""What the tests of whole commands share: opkit as a child process, projects to run it on, and kernels that are wrong in one way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
from contextlib import contextmanager

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "samples" / "args_refresh_add_custom"


def opkit(
    *arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, exit_code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Runs a command without a terminal and holds it to its exit code."""
    # Not -m: that would take the checkout's opkit, where pytest runs, before the installed one.
    done = subprocess.run(
        [Path(sys.executable).with_name("opkit"), *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit_code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def opkit_json(*arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, exit_code: int = 0) -> dict[str, Any]:
    """Gives the document; stdout must hold nothing else."""
    document: dict[str, Any] = json.loads(opkit(*arguments, "--json", cwd=cwd, env=env, exit_code=exit_code).stdout)
    return document


def copy_of_sample(folder: Path) -> Path:
    project = folder / "sample"
    shutil.copytree(SAMPLE, project, ignore=shutil.ignore_patterns("build", "output"))
    return project


def replace_in(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, f"{file} has no {old!r}"
    file.write_text(text.replace(old, new))


@contextmanager
def edited(file: Path, old: str, new: str) -> Iterator[None]:
    """Changes a file for the time of a block: tests that share a built project need no build of their own."""
    text = file.read_text()
    replace_in(file, old, new)
    try:
        yield
    finally:
        file.write_text(text)
