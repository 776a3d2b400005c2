"""Pages of the documentation as a reader takes them: what they tell to type, in order, and what they show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from command_support import ROOT

__all__ = ["follow", "how_to", "shell_blocks", "shown"]


def how_to(name: str) -> Path:
    return ROOT / "docs" / "how-to" / name


def shell_blocks(page: Path) -> list[str]:
    return _blocks(page, "sh")


def shown(page: Path) -> str:
    """The one output that the page shows."""
    (text,) = _blocks(page, "text")
    return text


def follow(page: Path, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Types all commands of the page into one shell in the folder; each has to succeed, or to be told as one that doesn't."""
    script = "\n".join(["set -e", *shell_blocks(page)])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, **environ}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def _blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), flags=re.DOTALL | re.MULTILINE)
