"""What an installer meets on the way: a bad copy, a machine that can't unpack, another installation."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from install_support import KERNEL, LIBRARY
from run_installer_support import ENVIRON, Case, Steps, is_as_built, run, tree_with_modes


def test_a_copy_that_differs_is_not_installed(case: Case, tmp_path: Path, steps: Steps) -> None:
    environ = steps.environ(0, ":")
    (tmp_path / "steps" / "bin" / "cp").write_text('#!/bin/sh\n"$REAL/cp" "$@"\nfor last; do :; done\necho more >>"$last"\n')
    done = case.script("1.0", "--install-path", tmp_path / "p", env=environ)
    assert done.returncode == 4
    assert "is damaged" in done.stderr
    assert f"{LIBRARY}: FAILED; " in done.stderr
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("tool", "script", "told"),
    [
        ("tar", "exit 1", "Extraction failed."),
        ("df", "echo head; echo d 9 9 1 9% /", "Not enough space left"),
        ("gzip", "exit 1", "Decompression failed."),
        ("mkdir", "exit 1", "\n  help: name a folder for temporary files that can be written: TMPDIR=DIR\n"),
    ],
)
def test_what_makeself_cannot_unpack_is_a_fault_of_the_machine(case: Case, tmp_path: Path, tool: str, script: str, told: str) -> None:
    for folder in ("bin", "tmp"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bin" / tool).write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "bin" / tool).chmod(0o755)
    environ = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(tmp_path / "tmp")}
    done = run(case.installers["1.0"], "--install-path", tmp_path / "p", env=environ)
    assert (done.returncode, told in done.stderr) == (3, True), done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "p").exists()


def test_what_was_changed_after_unpacking_is_refused(case: Case, tmp_path: Path) -> None:
    for name, change in ((LIBRARY, "another"), (KERNEL, None)):
        unpacked = shutil.copytree(case.unpacked["1.0"], tmp_path / name / "unpacked")
        if change is None:
            (unpacked / "opp" / name).unlink()
        else:
            (unpacked / "opp" / name).write_text(change)
        done = case.script("1.0", "--install-path", tmp_path / "p", cwd=unpacked)
        assert done.returncode == 4
        assert f"{name}: FAILED" in done.stderr
        assert not (tmp_path / "p").exists()


@pytest.mark.case("J6")
def test_two_installations_in_one_prefix_wait_for_each_other(case: Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    case.script("1.0", "--install-path", prefix)
    (tmp_path / "bin").mkdir()
    # Its second ends at once, so that the patience of a minute is over soon.
    (tmp_path / "bin" / "sleep").write_text(f"#!/bin/sh\necho >>{tmp_path}/seconds\n")
    (tmp_path / "bin" / "sleep").chmod(0o755)
    impatient = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    with (prefix / ".opkit" / ".lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        before = tree_with_modes(prefix)
        for options in ([], ["--uninstall"]):
            (tmp_path / "seconds").write_text("")
            done = case.script("2.0", "--install-path", prefix, *options, env=impatient)
            assert done.returncode == 75
            assert f"error: {prefix} is in use by another installation\n" in done.stderr
            assert done.stdout == f"waiting for another installation in {prefix}\n"
            assert len((tmp_path / "seconds").read_text()) == 60
        assert tree_with_modes(prefix) == before
        waiting = subprocess.Popen(["dash", "install.sh", "--install-path", prefix], cwd=case.unpacked["2.0"], env=ENVIRON, stdout=-1)
        assert waiting.stdout is not None
        assert waiting.stdout.readline().startswith(b"waiting for")
    waiting.communicate(timeout=20)
    assert waiting.returncode == 0
    assert is_as_built(prefix, "2.0")
