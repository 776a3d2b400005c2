"""A build folder that is held while a program of it runs, and the folder for what that program is given to read."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opkit.build import Project, clean, held, scratch_folder
from opkit.errors import BusyError, UnwritableError
from opkit.toolkit import process_environment

if TYPE_CHECKING:
    from tiny_support import Tiny


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project.at(tmp_path)
    project.build_dir.mkdir()
    return project


def test_nobody_builds_or_cleans_while_it_is_held(tiny: Tiny) -> None:
    with held(tiny.project, tiny.toolkit, process_environment(), jobs=2) as built:
        with pytest.raises(BusyError):
            tiny.build()
        with pytest.raises(BusyError):
            clean(tiny.project, wait=0)
        assert built.program.is_file()
    assert tiny.build().steps == ()


def test_a_build_that_another_s_program_runs_has_none_of_its_own(tiny: Tiny, tmp_path: Path) -> None:
    other = tmp_path / "other_session_run"
    with held(tiny.project, tiny.toolkit, process_environment(), jobs=2, program=other) as built:
        assert built.program == other
    assert list((tiny.root / "build").glob("*_session_run")) == []
    again = tiny.build()
    assert "configured" in again.steps
    assert again.program.is_file()


def test_the_scratch_folder_is_gone_whatever_ends_the_run(project: Project) -> None:
    with suppress(KeyboardInterrupt), scratch_folder(project) as folder:
        (folder / "case").mkdir()
        (folder / "case" / "in0.npy").write_bytes(b"0")
        raise KeyboardInterrupt
    assert list(project.build_dir.iterdir()) == []


def test_a_second_interrupt_does_not_leave_half_of_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    remove = os.rmdir
    is_first = True

    def impatient(*arguments: object, **options: object) -> None:
        nonlocal is_first
        if is_first:
            is_first = False
            signal.raise_signal(signal.SIGINT)
        remove(*arguments, **options)  # type: ignore[arg-type]

    scratch = scratch_folder(project)
    folder = scratch.__enter__()
    (folder / "case").mkdir()
    monkeypatch.setattr(os, "rmdir", impatient)
    with pytest.raises(KeyboardInterrupt):
        scratch.__exit__(None, None, None)
    assert not folder.exists()


def test_what_a_killed_run_left_is_removed_by_the_next(project: Project) -> None:
    with scratch_folder(project) as folder:
        pass
    folder.mkdir()
    (folder / "report.json").write_text("old")
    with scratch_folder(project) as again:
        assert again == folder
        assert list(again.iterdir()) == []


def test_a_build_folder_that_takes_no_scratch_folder_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "build").write_text("")
    with pytest.raises(UnwritableError), scratch_folder(Project.at(tmp_path)):
        pass
