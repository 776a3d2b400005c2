"""Which folder is meant, and what can't be one: one table for opkit and for the installer that runs without it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from opkit import resources
from opkit.cli import main

# Variables, the option, and the folder that is meant or the exit code; {} is an empty folder, {}/home is the only one in it.
_TABLE = [
    ({"HOME": "{}/home"}, None, "{}/home/.local/share/opkit/opp"),
    ({"HOME": "{}/home", "XDG_DATA_HOME": "{}/data"}, None, "{}/data/opkit/opp"),
    ({"HOME": "{}/home", "XDG_DATA_HOME": "data"}, None, "{}/home/.local/share/opkit/opp"),
    ({"HOME": "{}/home", "XDG_DATA_HOME": ""}, None, "{}/home/.local/share/opkit/opp"),
    ({"XDG_DATA_HOME": "{}/data"}, None, "{}/data/opkit/opp"),
    ({"HOME": "{}/gone", "XDG_DATA_HOME": "{}/data"}, None, "{}/data/opkit/opp"),
    ({"HOME": "{}/home", "XDG_DATA_HOME": "{}/a:b"}, None, 2),
    ({"HOME": "{}/gone"}, None, 3),
    ({"HOME": "home"}, None, 3),
    ({"HOME": ""}, None, 3),
    ({}, None, 3),
    ({"XDG_DATA_HOME": "data"}, None, 3),
    ({"HOME": "{}/home", "OPKIT_PREFIX": "{}/own"}, None, "{}/own"),
    ({"HOME": "{}/home", "OPKIT_PREFIX": ""}, None, "{}/home/.local/share/opkit/opp"),
    ({"OPKIT_PREFIX": "{}/o wn//算 子/./x/../y/"}, None, "{}/o wn/算 子/y"),
    ({"OPKIT_PREFIX": "own"}, None, 2),
    ({"OPKIT_PREFIX": "{}/a:{}/b"}, None, 2),
    ({"OPKIT_PREFIX": "{}/a\nb"}, None, 2),
    ({"OPKIT_PREFIX": "/"}, None, 2),
    ({"OPKIT_PREFIX": "own"}, "{}/named", "{}/named"),
    ({}, "{}/named/", "{}/named"),
    ({}, "{}/a/..", "{}"),
    ({}, "", 2),
    ({}, "/", 2),
    ({}, "//", 2),
    ({}, "/.", 2),
    ({}, "/a/..", 2),
    ({}, "{}/a:b", 2),
    ({}, "{}/a\tb", 2),
    ({}, "{}/a\x7fb", 2),
]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """What a self-extracting installer unpacks, as much of it as an uninstall reads."""
    folder = tmp_path / "unpacked"
    folder.mkdir()
    (folder / "install.sh").write_bytes((resources.templates() / "package" / "install.sh").read_bytes())
    (folder / "package").write_text("package=add\n")
    return folder


@pytest.mark.parametrize(("variables", "option", "expected"), _TABLE)
def test_opkit_and_the_installer_mean_the_same_folder(  # noqa: PLR0917 - a row, and where it is tried
    script: Path,
    tmp_path: Path,
    variables: dict[str, str],
    option: str | None,
    expected: str | int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "folder"
    (folder / "home").mkdir(parents=True)
    for name in ("HOME", "XDG_DATA_HOME", "OPKIT_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(*[folder] * 2))
    named = None if option is None else option.format(folder)
    argv = ["sh", "install.sh", "--uninstall", *([] if named is None else ["--install-path", named])]
    done = subprocess.run(argv, cwd=script, env=dict(os.environ), capture_output=True, text=True, check=False)
    capsys.readouterr()
    code = main(["uninstall", "add", "--json", *([] if named is None else ["--prefix", named])])
    document = json.loads(capsys.readouterr().out)
    if isinstance(expected, int):
        assert (code, done.returncode) == (expected, expected)
        origin = "--prefix" if named is not None else next((name for name in ("OPKIT_PREFIX", "XDG_DATA_HOME") if variables.get(name)), "")
        assert expected == 3 or document["error"]["message"].startswith(origin)
    else:
        assert (code, document["prefix"]) == (0, expected.format(folder))
        assert (done.returncode, done.stdout) == (0, f"add isn't installed in {expected.format(folder)}\n")
    assert [path.name for path in folder.rglob("*")] == ["home"]
