"""Builds beside each other, and builds that are killed: neither stands in another's way, nor in its own later."""

from __future__ import annotations

import json
import multiprocessing
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tiny_support import Tiny

from opkit import codegen, spec
from opkit.build import Project, clean, held
from opkit.deliverable import Manifest
from opkit.toolkit import process_environment

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from opkit.toolkit import Toolkit

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def _start(action: Callable[[], object]) -> BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=action)
    process.start()
    return process


@pytest.mark.case("J1")
def test_eight_projects_built_at_once_from_one_folder_have_nothing_in_common(
    tmp_path: Path, toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    projects = [Tiny(tmp_path / f"p{number}", toolkit) for number in range(8)]
    monkeypatch.setattr(spec, "load_package", lambda ops_py: projects[int(ops_py.parent.name[1:])].load(ops_py))
    monkeypatch.setattr(codegen, "render", projects[0].render)

    def build(tiny: Tiny) -> None:
        program = tmp_path / "none_session_run"
        with held(Project.at(os.path.relpath(tiny.root)), toolkit, process_environment(), program=program, jobs=1):
            pass

    for number, tiny in enumerate(projects):
        tiny.say(str(1000 + number))
    running = [_start(lambda tiny=tiny: build(tiny)) for tiny in projects]  # type: ignore[misc]
    for process in running:
        process.join(120)
    assert [process.exitcode for process in running] == [0] * 8
    for number, tiny in enumerate(projects):
        assert f"return {1000 + number};" in (tiny.root / "ge/custom_op.cpp").read_text()
        assert str(tiny.root) in (tiny.root / "build/compile_commands.json").read_text()
        manifest = Manifest.read(tiny.root / "output")
        assert manifest is not None
        assert manifest.violations(tiny.root / "output") == []
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.case("J5")
def test_two_forced_builds_at_once_take_turns(tiny: Tiny, tmp_path: Path) -> None:
    tiny.build()
    log = tmp_path / "log"

    def note(what: str) -> None:
        with log.open("a") as file:
            file.write(f"{os.getpid()} {what}\n")

    load = tiny.load

    def noted_load(ops_py: Path) -> object:
        note("begins")
        return load(ops_py)

    def build() -> None:
        # In the child alone.
        setattr(spec, "load_package", noted_load)  # noqa: B010 - mypy takes no assignment to a function
        with held(tiny.project, tiny.toolkit, process_environment(), is_forced=True, jobs=1):
            note("ends")

    running = [_start(build) for _ in range(2)]
    for process in running:
        process.join(120)
    assert [process.exitcode for process in running] == [0, 0]
    lines = [line.split() for line in log.read_text().splitlines()]
    assert [what for _, what in lines] == ["begins", "ends"] * 2
    assert lines[0][0] == lines[1][0]


@pytest.mark.case("J3")
def test_a_build_that_is_killed_whenever_it_puts_a_file_in_place_is_finished_by_later_ones(tiny: Tiny) -> None:
    tiny.say("7")

    def build(calls: int) -> None:
        replace = Path.replace

        def killed(path: Path, target: Path) -> Path:
            nonlocal calls
            if calls == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            calls -= 1
            return replace(path, target)

        # In the child alone.
        setattr(Path, "replace", killed)  # noqa: B010 - mypy takes no assignment to a method
        tiny.build(environ={"CXXFLAGS": "-O1"})

    exits: list[int | None] = []
    manifest: Manifest | None = None
    for calls in range(40):
        process = _start(lambda calls=calls: build(calls))  # type: ignore[misc]
        process.join(60)
        exits.append(process.exitcode)
        for state in (tiny.root / "build").rglob("opkit-build.json"):
            json.loads(state.read_bytes())
        manifest = Manifest.read(tiny.root / "output")
        if exits[-1] == 0:
            break
    assert exits == [-signal.SIGKILL] * (len(exits) - 1) + [0]
    assert len(exits) > 3
    assert manifest is not None
    assert manifest.violations(tiny.root / "output") == []
    assert subprocess.run([tiny.build(environ={"CXXFLAGS": "-O1"}).program], check=False).returncode == 7
    assert [path for path in (tiny.root / "output").rglob("*") if path.name.startswith(".")] == []
    clean(tiny.project)
    assert not (tiny.root / "build").exists()
    assert not (tiny.root / "output").exists()


@pytest.mark.case("J3")
def test_a_build_that_is_killed_in_the_compiler_holds_up_nobody(
    tiny: Tiny, tmp_path: Path, make_program: Callable[[Path, str], Path]
) -> None:
    shim = make_program(
        tmp_path / "g++",
        f'#!/bin/sh\ncase "$*" in *custom_op*) [ -e "{tmp_path}/fast" ] || {{ touch "{tmp_path}/now"; sleep 60; }};; esac\nexec g++ "$@"\n',
    )
    environ = {"CXX": str(shim)}
    process = _start(lambda: tiny.build(environ=environ))
    deadline = time.monotonic() + 60
    while not (tmp_path / "now").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.join()
    (tmp_path / "fast").touch()
    started = time.monotonic()
    assert tiny.build(environ=environ).steps == ("compiled", "installed")
    assert time.monotonic() - started < 20


def test_a_terminal_shows_one_bar_with_the_step_and_anything_else_plain_lines(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny.build()
    plain = capsys.readouterr().err
    assert "\x1b" not in plain
    assert "\r" not in plain
    assert "   Compiling 4 steps\n" in plain
    tiny.say("7")
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        tiny.build()
        monkeypatch.undo()
        os.set_blocking(ours, False)
        shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "Compiling" not in shown
    assert re.search(r"Building.*\d/3.*(?:custom_op\.cpp\.o|libcust_opapi\.so|tiny_session_run)", shown), shown
    # The bar goes when it is done: its line is erased.
    assert "\x1b[2K" in shown
