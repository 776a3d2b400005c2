"""What an installer removes, and what it leaves."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from install_support import install
from run_installer_support import ENVIRON, Case, Steps

from opkit.packaging import installed


@pytest.mark.parametrize("link", ["left", "left.2"])
def test_what_an_earlier_removal_left_stays_when_the_next_one_leaves_something(case: Case, tmp_path: Path, link: str) -> None:
    prefix = tmp_path / "p"
    for number, name in enumerate(("left", link)):
        install(case.roots["1.0"], prefix)
        (prefix / "add" / f"{number}.txt").write_text("mine")
        if number and link != "left":
            # As one that can't be removed.
            (prefix / ".opkit" / "add" / "left").mkdir()
            (prefix / ".opkit" / "add" / "left" / "x").write_text("")
            shutil.copy(str(shutil.which("true")), tmp_path / "rm")
        environ = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"} if (tmp_path / "rm").exists() else ENVIRON
        done = case.script("1.0", "--install-path", prefix, "--uninstall", env=environ)
        assert done.returncode == 0, done.stderr
        assert (prefix / "add").readlink() == Path(".opkit", "add", name)
        assert (prefix / "add" / "0.txt").read_text() == "mine"
        assert installed(prefix) == []


def test_a_second_uninstall_is_no_error(case: Case, tmp_path: Path) -> None:
    prefix = tmp_path / "not" / "there"
    case.script("1.0", "--install-path", prefix)
    for told in ("removed add from", "add isn't installed in", "add isn't installed in"):
        done = case.script("1.0", "--install-path", prefix, "--uninstall")
        assert (done.returncode, done.stdout) == (0, f"{told} {prefix}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_prefix_that_was_moved_goes_without_the_folders_above_it(case: Case, tmp_path: Path) -> None:
    case.script("1.0", "--install-path", tmp_path / "made" / "p")
    (tmp_path / "mine" / "too").mkdir(parents=True)
    (tmp_path / "made" / "p").rename(tmp_path / "mine" / "too" / "p")
    assert case.script("1.0", "--install-path", tmp_path / "mine" / "too" / "p", "--uninstall").returncode == 0
    assert list((tmp_path / "mine" / "too").iterdir()) == []


def test_a_folder_that_another_removes_meanwhile_is_made_again_and_goes_at_the_end(case: Case, tmp_path: Path, steps: Steps) -> None:
    prefix = tmp_path / "new" / "p"
    prefix.mkdir(parents=True)
    done = case.script("1.0", "--install-path", prefix, env=steps.environ(1, f"rmdir {prefix} {prefix.parent}"))
    assert done.returncode == 0, done.stderr
    assert case.script("1.0", "--install-path", prefix, "--uninstall").returncode == 0
    assert list(tmp_path.iterdir()) == [tmp_path / "steps"]
