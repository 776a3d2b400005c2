"""A shell in a folder that was removed: each command says so, and none has a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from opkit.cli.group import COMMANDS

_NAMES = [name for names in COMMANDS.values() for name in names]
_ARGUMENTS = {"new": ["x"], "run": ["--", "true"], "toolkit": ["list"], "install": ["x"], "uninstall": ["x"]}
# opkit has to be found from nowhere.
_IN_A_GONE_FOLDER = """\
import os, sys
from opkit.cli import main
os.rmdir(os.getcwd())
sys.exit(main(sys.argv[1:]))
"""


def _told(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir()
    argv = [sys.executable, "-c", _IN_A_GONE_FOLDER, *arguments]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", _NAMES)
def test_a_command_in_a_folder_that_is_gone_is_one_clear_error(tmp_path: Path, name: str) -> None:
    done = _told(tmp_path / "gone", name, *_ARGUMENTS.get(name, []))
    assert done.returncode == (125 if name == "run" else 3), done.stderr
    assert done.stderr.splitlines()[0] == "error[OPK0300]: there is no current folder"
    assert "Traceback" not in done.stderr


def test_the_error_is_a_document_too(tmp_path: Path) -> None:
    done = _told(tmp_path / "gone", "doctor", "--json")
    error = json.loads(done.stdout)["error"]
    assert (error["number"], error["exit"], error["help"]) == ("OPK0300", 3, 'cd "$HOME"')


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["build", "--help"], ["toolkit", "list", "-h"], ["run", "-h"]])
def test_help_and_version_need_no_folder(tmp_path: Path, arguments: list[str]) -> None:
    assert _told(tmp_path / "gone", *arguments).returncode == 0
