"""An installer that is run by a user who doesn't own all that it meets."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from install_support import HEADER
from run_installer_support import Case, Nobody, is_as_built

from opkit.deliverable import MANIFEST
from opkit.packaging import installed


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.case("F9")
def test_another_user_is_told_whose_the_folder_is(public: Path, nobody: Nobody) -> None:
    own, closed = public / "own", public / "closed"
    own.mkdir()
    closed.mkdir()
    nobody.own(own)
    closed.chmod(0o555)
    for _ in range(2):
        assert nobody.script("--install-path", own).returncode == 0
    assert is_as_built(own, "1.0")
    done = nobody.script("--install-path", closed / "below")
    assert done.returncode == 3
    owner = closed.stat().st_uid
    assert f"because: {closed} is owned by uid {owner}, mode 0555; you are uid {nobody.uid}\n" in done.stderr
    assert "help: name another folder with --install-path DIR" in done.stderr
    assert list(closed.iterdir()) == []


@pytest.mark.usefixtures("as_nobody")
def test_what_cannot_be_entered_is_not_told_as_not_installed(case: Case, public: Path, nobody: Nobody) -> None:
    closed = public / "closed"
    case.script("1.0", "--install-path", closed / "p")
    for folder in (closed, closed / "p", closed / "p" / ".opkit"):
        folder.chmod(0)
        for options in (["--uninstall"], []):
            done = nobody.script("--install-path", closed / "p", *options)
            assert (done.returncode, done.stdout) == (3, "")
            assert f"error: cannot {'read' if options else 'write'} {closed / 'p'}\n" in done.stderr
            assert re.search(f"because: {closed}.* is owned by uid {os.geteuid()}, mode 0...; you are uid {nobody.uid}\n", done.stderr)
        folder.chmod(0o755)


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.parametrize("name", ["notes.txt", HEADER, "sub/notes.txt", MANIFEST])
def test_a_file_that_cannot_be_read_is_told_as_such(case: Case, public: Path, nobody: Nobody, name: str) -> None:
    prefix = public / "p"
    case.script("2.0", "--install-path", prefix)
    (prefix / ".opkit" / "add.json").unlink()
    place = prefix / "add" / name
    place.parent.mkdir(exist_ok=True)
    place.touch()
    nobody.own(prefix)
    place.chmod(0)
    before = [(str(path), path.lstat().st_mode) for path in sorted(prefix.rglob("*"))]
    for options in (["--uninstall"], []):
        done = nobody.script("--install-path", prefix, *options)
        real = (prefix / "add").resolve() / name
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == (
            f"error: cannot read {real}\n  because: {real} is owned by uid {nobody.uid}, mode 0000; you are uid {nobody.uid}\n"
            f"  help: let yourself read it: chmod u+rX {real}; or move it away\n"
        )
        assert [(str(path), path.lstat().st_mode) for path in sorted(prefix.rglob("*"))] == before


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what another can't remove")
def test_what_cannot_be_removed_is_no_end(case: Case, public: Path, nobody: Nobody) -> None:
    prefix = public / "p"
    case.script("1.0", "--install-path", prefix)
    nobody.own(prefix)
    nobody.own(public)
    trace = prefix / "add" / "prof" / "trace.json"
    trace.parent.mkdir()
    trace.write_text("of root")
    for number in (2, 3, 4):
        assert nobody.script("--install-path", prefix).returncode == 0
        assert is_as_built(prefix, "1.0")
        assert (prefix / "add").readlink().name.endswith(f".{number}") == (number < 4)
        assert trace.read_text() == "of root"
    for _ in range(2):
        assert nobody.script("--install-path", prefix, "--uninstall").returncode == 0
        assert installed(prefix) == []
        assert trace.read_text() == "of root"
    assert nobody.script("--install-path", prefix).returncode == 0
    assert is_as_built(prefix, "1.0")
