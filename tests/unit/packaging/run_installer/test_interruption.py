"""An installation that is killed, interrupted, or fails at any of its steps."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest
from install_support import install
from run_installer_support import Case, Steps, run, tree_with_modes

from opkit.packaging import installed


def _version(prefix: Path) -> str | None:
    packages = installed(prefix)
    assert all(package.problems() == [] for package in packages)
    return packages[0].version if packages else None


@pytest.mark.parametrize(("before", "action"), [("", []), ("1.0", []), ("1.0", ["--uninstall"])], ids=["new", "upgrade", "uninstall"])
def test_killed_at_any_step_the_package_is_the_old_or_the_new(case: Case, tmp_path: Path, before: str, action: list[str]) -> None:
    # Of the copies that are made before, one stands for all.
    steps = Steps(tmp_path / "steps", ("ln", "mv", "rm"))
    prefix = tmp_path / "p"
    allowed = {before or None, None if action else "2.0"}
    seen = set()
    for at in range(1, 100):
        shutil.rmtree(prefix, ignore_errors=True)
        if before:
            install(case.roots[before], prefix)
            (prefix / "add" / "notes.txt").write_text("mine")
        done = case.script("2.0", "--install-path", prefix, *action, env=steps.environ(at, "kill -9 0"), start_new_session=True)
        assert _version(prefix) in allowed
        assert not before or (prefix / "add" / "notes.txt").read_text() == "mine"
        seen.add(_version(prefix))
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        assert case.script("2.0", "--install-path", prefix).returncode == 0
        assert _version(prefix) == "2.0"
        assert not before or (prefix / "add" / "notes.txt").read_text() == "mine"
        left = {path.name for path in (prefix / ".opkit").rglob("*") if path.name.startswith(".")}
        assert left <= {".lock", ".made"}
        assert len(list((prefix / ".opkit" / "add").iterdir())) == 1
    assert steps.count() < at
    assert at > 4
    assert seen == allowed


@pytest.mark.case("F6")
def test_a_step_that_fails_is_told_and_undone(case: Case, tmp_path: Path, steps: Steps) -> None:
    prefix = tmp_path / "p"
    install(case.roots["1.0"], prefix)
    before = tree_with_modes(prefix)
    failures = 0
    for at in range(1, 100):
        done = case.script("2.0", "--install-path", prefix, env=steps.environ(at, "echo no such luck >&2; exit 1"))
        if done.returncode == 0:
            # What only tidies up may fail.
            assert _version(prefix) == "2.0"
            install(case.roots["1.0"], prefix)
            assert tree_with_modes(prefix).keys() == before.keys()
            before = tree_with_modes(prefix)
        else:
            failures += 1
            assert done.returncode == 3
            assert f"error: cannot write {prefix}\n  because: no such luck\n  help: " in done.stderr
            assert done.stdout == ""
            assert tree_with_modes(prefix) == before
        if steps.count() < at:
            break
    assert failures > 8


def test_interrupted_at_any_step_it_undoes_what_it_did(case: Case, tmp_path: Path, steps: Steps) -> None:
    prefix = tmp_path / "p"
    install(case.roots["1.0"], prefix)
    before = tree_with_modes(prefix)
    for at in range(1, 100):
        done = case.script("2.0", "--install-path", prefix, env=steps.environ(at, "kill -INT 0"), start_new_session=True)
        if _version(prefix) == "2.0":
            break
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
        assert tree_with_modes(prefix) == before
    assert at > 8
    assert done.returncode in (0, 130)


def test_interrupted_the_first_time_it_leaves_nothing(case: Case, tmp_path: Path, steps: Steps) -> None:
    for at in (2, 5, 8):
        environ = {**steps.environ(at, "kill -INT 0"), "TMPDIR": str(tmp_path / "tmp")}
        (tmp_path / "tmp").mkdir()
        done = run(case.installers["1.0"], "--install-path", tmp_path / "new" / "p", env=environ, start_new_session=True)
        assert done.returncode == 130
        assert "installed" not in done.stdout
        assert not (tmp_path / "new").exists()
        assert list((tmp_path / "tmp").iterdir()) == []
        (tmp_path / "tmp").rmdir()
