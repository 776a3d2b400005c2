"""Ctrl-C in the first tenth of a second, while Python imports opkit: a real signal, in a real process, at a known import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# As the script of the installed command, with the signal at the moment when the named module is about to be imported.
_OPKIT = """\
import importlib.util, os, signal, sys

class Interrupting:
    name = sys.argv.pop(1)

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == cls.name:
            cls.name = None
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting)
from opkit.cli import main
sys.exit(main())
"""


def _interrupted(module: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", _OPKIT, module, *map(str, arguments)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "module",
    ["opkit.cli.root", "click", "click.core", "opkit.console", "opkit.errors", "opkit.cli.group", "opkit.cli.clean", "opkit.build.project"],
)
def test_an_interrupt_while_modules_are_imported_ends_as_any_other(module: str, tmp_path: Path) -> None:
    done = _interrupted(module, "clean", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("module", ["opkit.cli.endings", "opkit.console", "opkit.cli.plain", "opkit.build.project", "subprocess"])
def test_an_interrupt_while_a_build_is_imported_ends_as_any_other(module: str, tmp_path: Path) -> None:
    done = _interrupted(module, "build", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize("module", ["click", "opkit.cli.clean"])
def test_an_interrupt_with_json_is_a_document_even_before_options_are_read(module: str, tmp_path: Path) -> None:
    done = _interrupted(module, "clean", tmp_path, "--json")
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert json.loads(done.stdout)["error"]["kind"] == "Interrupted"


def test_nothing_is_imported_before_an_interrupt_is_heard() -> None:
    # What finds opkit in an editable install comes before.
    code = (
        "import __future__, importlib.machinery, importlib.util, sys\n"
        "before = set(sys.modules)\n"
        "from opkit.cli import main\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "opkit opkit.cli\n"
