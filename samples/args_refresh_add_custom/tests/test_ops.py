"""Runs `opkit test` from pytest: every op over the sizes around its block edges, against its reference."""

import subprocess
import sys
from pathlib import Path


def test_every_op_agrees_with_its_reference() -> None:
    project = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-m", "opkit", "test", str(project)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
