"""One opkit at a time in a build folder, and none locked out by a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from opkit.build import Project
from opkit.build.lock import LOCK, locked
from opkit.errors import BusyError, UsageError

_HOLD = """
import sys
from opkit.build import Project
from opkit.build.lock import locked
with locked(Project.at(sys.argv[1]), wait=0) as lock:
    {inside}
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.at(tmp_path)


@contextmanager
def _held(project: Project, inside: str = "pass") -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-c", _HOLD.format(inside=inside), str(project.root)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield holder
        finally:
            holder.kill()


def test_a_second_opkit_is_told_who_holds_the_lock(project: Project) -> None:
    with _held(project) as holder, pytest.raises(BusyError) as caught, locked(project, wait=0.1):
        pass
    assert str(holder.pid) in (caught.value.because or "")
    assert caught.value.exit_code == 75


def test_a_second_opkit_waits_says_so_once_and_goes_on(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with _held(project) as holder:
        assert holder.stdin is not None
        released = subprocess.Popen(["/bin/sh", "-c", f"sleep 0.4; kill {holder.pid}"])
        with locked(project, wait=20):
            pass
        released.wait()
    assert capsys.readouterr().err.count(f"waiting for process {holder.pid}") == 1


def test_a_killed_holder_leaves_no_lock(project: Project) -> None:
    with _held(project) as holder:
        holder.kill()
        holder.wait()
        with locked(project, wait=0):
            pass


def test_what_a_killed_holder_left_running_in_the_folder_is_ended(project: Project) -> None:
    inside = (
        "import subprocess; child = subprocess.Popen(['sleep', '60'], cwd=sys.argv[1] + '/build', start_new_session=True); "
        "lock.note_session(child.pid)"
    )
    with _held(project, inside) as holder:
        session = int((project.build_dir / LOCK).read_text().split('"session": ')[1].rstrip("}"))
        holder.kill()
        holder.wait()
    os.kill(session, 0)
    with locked(project, wait=0):
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and Path(f"/proc/{session}/stat").exists() and _state(session) != "Z":
            time.sleep(0.02)
    assert not Path(f"/proc/{session}").exists() or _state(session) == "Z"


def test_a_session_that_works_elsewhere_is_none_of_opkits_business(project: Project) -> None:
    with locked(project, wait=0):
        pass
    bystander = subprocess.Popen(["sleep", "60"], cwd="/", start_new_session=True)
    try:
        (project.build_dir / LOCK).write_text(f'{{"pid": 1, "session": {bystander.pid}}}')
        with locked(project, wait=0):
            pass
        assert bystander.poll() is None
    finally:
        bystander.send_signal(signal.SIGKILL)
        bystander.wait()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x", "session": "y"}', '{"session": -1}', "\xff" * 5000])
def test_a_lock_file_with_anything_in_it_is_only_a_file(project: Project, text: str) -> None:
    with locked(project, wait=0):
        pass
    (project.build_dir / LOCK).write_text(text)
    with locked(project, wait=0):
        assert str(os.getpid()) in (project.build_dir / LOCK).read_text()


def test_who_waited_for_a_clean_builds_in_a_new_folder(project: Project) -> None:
    # The holder removes the folder and the lock file in it, as `opkit clean` does, before it lets go.
    with _held(project, "import shutil; shutil.rmtree(sys.argv[1] + '/build')") as holder:
        released = subprocess.Popen(["/bin/sh", "-c", f"sleep 0.2; kill {holder.pid}"])
        with locked(project, wait=20):
            assert (project.build_dir / LOCK).is_file()
            with pytest.raises(BusyError), locked(project, wait=0):
                pass
        released.wait()


def test_a_folder_of_someone_else_is_not_even_locked(project: Project) -> None:
    project.build_dir.mkdir()
    (project.build_dir / "mine").write_text("")
    with pytest.raises(UsageError), locked(project, wait=0):
        pass
    assert [path.name for path in project.build_dir.iterdir()] == ["mine"]


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
