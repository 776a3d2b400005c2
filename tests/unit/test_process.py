"""Children: what is captured, what is stopped, and that nothing outlives an interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from opkit import process
from opkit.errors import CommandNotExecutableError, CommandNotFoundError


def _python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def _ends_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.02)
    return False


def test_output_exit_and_time_are_reported() -> None:
    done = process.run(_python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"))
    assert (done.exit, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert not done.ok
    assert done.seconds > 0


def test_merged_output_keeps_the_order_of_writing() -> None:
    code = "import os; os.write(1, b'1\\n'); os.write(2, b'2\\n'); os.write(1, b'3\\n')"
    assert process.run(_python(code), merge=True).stdout.splitlines() == ["1", "2", "3"]


def test_arguments_meet_no_shell() -> None:
    hostile = "$(touch pwned); 'two words' \"*\""
    assert process.run(_python("import sys; print(sys.argv[1])", hostile)).stdout == hostile + "\n"


def test_lines_are_seen_as_they_come() -> None:
    seen: list[tuple[str, float]] = []
    code = "import time; print('a', flush=True); time.sleep(0.4); print('b', end='')"
    process.run(_python(code), on_line=lambda line: seen.append((line, time.monotonic())))
    assert [line for line, _ in seen] == ["a", "b"]
    assert seen[1][1] - seen[0][1] > 0.2


def test_lines_of_both_streams_go_to_their_own_listener() -> None:
    out: list[str] = []
    err: list[str] = []
    process.run(_python("import sys; print('o'); print('e', file=sys.stderr)"), on_line=out.append, on_error_line=err.append)
    assert (out, err) == (["o"], ["e"])


def test_more_output_than_a_pipe_holds_on_both_streams_does_not_block() -> None:
    done = process.run(_python("import sys; sys.stdout.write('x' * 300_000); sys.stderr.write('y' * 300_000)"), timeout=20)
    assert (len(done.stdout), len(done.stderr)) == (300_000, 300_000)


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert process.run(_python("import os; os.write(1, b'a\\xff\\n')")).stdout == "a\N{REPLACEMENT CHARACTER}\n"


def test_stdin_is_empty() -> None:
    assert process.run(_python("import sys; print(repr(sys.stdin.read()))")).stdout == "''\n"


def test_the_environment_is_the_given_one() -> None:
    done = process.run(["/usr/bin/env"], env={"ONLY": "this"})
    assert done.stdout.splitlines() == ["ONLY=this"]


def test_an_absent_program_is_one_clear_error() -> None:
    with pytest.raises(CommandNotFoundError, match="command not found: no-such-program"):
        process.run(["no-such-program"])


def test_an_absent_folder_is_not_taken_for_an_absent_program(tmp_path: Path) -> None:
    with pytest.raises(CommandNotFoundError, match="no such folder"):
        process.run(["/bin/true"], cwd=tmp_path / "gone")


def test_a_file_without_execute_permission_is_one_clear_error(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(CommandNotExecutableError) as caught:
        process.run([script])
    assert caught.value.because == "Permission denied"


def test_a_child_that_takes_too_long_is_stopped_and_its_output_kept() -> None:
    started = time.monotonic()
    done = process.run(_python("import time; print('begun', flush=True); time.sleep(60)"), timeout=0.5)
    assert done.timed_out
    assert not done.ok
    assert done.stdout == "begun\n"
    assert time.monotonic() - started < 10


def test_a_child_that_ignores_interrupts_is_stopped_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_LADDER", ((signal.SIGINT, 0.2), (signal.SIGTERM, 0.2), (signal.SIGKILL, 5.0)))
    code = "import signal, time\nfor s in (2, 15): signal.signal(s, signal.SIG_IGN)\nprint('deaf', flush=True)\ntime.sleep(60)"
    done = process.run(_python(code), timeout=0.5)
    assert done.timed_out
    assert done.exit == -signal.SIGKILL
    assert done.shell_exit == 137


def test_a_fault_in_a_listener_stops_the_child_and_its_children(tmp_path: Path) -> None:
    # The grandchild has a process group of its own, as compilers under Ninja have.
    grandchild = "import os, sys, time; os.setpgid(0, 0); open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"
    note = tmp_path / "pid"
    code = (
        "import pathlib, subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {grandchild!r}, {str(note)!r}])\n"
        f"while not pathlib.Path({str(note)!r}).exists() or not pathlib.Path({str(note)!r}).read_text(): time.sleep(0.02)\n"
        "print('ready', flush=True); time.sleep(60)"
    )

    def fail(line: str) -> None:
        raise ZeroDivisionError(line)

    with pytest.raises(ZeroDivisionError):
        process.run(_python(code), on_line=fail)
    assert _ends_within(int(note.read_text()), 5)


def test_an_interrupt_of_the_caller_stops_the_child(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    child = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    parent = subprocess.Popen(
        _python(f"import sys\nfrom opkit import process\nprocess.run([sys.executable, '-c', {child!r}])"), stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 30
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    parent.send_signal(signal.SIGINT)
    assert parent.wait(30) != 0
    assert _ends_within(int(note.read_text()), 15)


def test_the_session_of_a_child_is_told_at_its_start() -> None:
    sessions: list[int] = []
    done = process.run(_python("import os; print(os.getsid(0))"), on_start=sessions.append)
    assert sessions == [int(done.stdout)]


def test_members_of_a_session_are_found_whatever_their_name(tmp_path: Path) -> None:
    sleeper = tmp_path / "a) S 1 (b"
    sleeper.symlink_to("/bin/sleep")
    child = subprocess.Popen([sleeper, "30"], start_new_session=True)
    try:
        assert process.session_members(child.pid) == [child.pid]
    finally:
        child.kill()
        child.wait()
    assert process.session_members(child.pid) == []


@pytest.mark.parametrize(("code", "expected"), [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 9)", -9)])
def test_becoming_a_command_gives_its_own_ending(code: str, expected: int) -> None:
    parent = _python(f"import os, sys\nfrom opkit import process\nprocess.become([sys.executable, '-c', {code!r}], os.environ)")
    assert subprocess.run(parent, check=False).returncode == expected


def test_the_command_that_opkit_becomes_has_the_signals_that_the_caller_of_opkit_gave() -> None:
    show = "grep SigIgn /proc/self/status"
    parent = _python(f"import os\nfrom opkit import process\nprocess.become(['/bin/sh', '-c', {show!r}], os.environ)")
    plain = subprocess.run(["/bin/sh", "-c", show], check=True, capture_output=True, text=True).stdout
    assert subprocess.run(parent, check=True, capture_output=True, text=True).stdout == plain
    ignored = subprocess.run(["/usr/bin/nohup", *parent], check=True, capture_output=True, text=True).stdout
    assert int(ignored.split()[1], 16) & 1 << (signal.SIGHUP - 1)


def test_becoming_an_absent_command_is_one_clear_error() -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGPIPE, signal.SIGXFSZ)}
    with pytest.raises(CommandNotFoundError):
        process.become(["no-such-program"], dict(os.environ))
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_children_that_run_together_are_given_as_they_end_no_more_than_asked_for_at_once() -> None:
    asked: list[int] = []

    def commands() -> Iterator[tuple[int, process.Command]]:
        for number, seconds in enumerate((0.5, 0.0, 0.0, 0.0)):
            asked.append(number)
            yield number, process.Command(_python(f"import sys, time; time.sleep({seconds}); print({number}); sys.exit({number})"))

    ended: list[int] = []
    for number, done in process.run_together(commands(), at_once=2):
        # Those that ended, the one that did just now, and one more at most.
        assert len(asked) <= len(ended) + 2
        assert (done.exit, done.stdout) == (number, f"{number}\n")
        ended.append(number)
    assert sorted(ended) == [0, 1, 2, 3]
    assert ended[0] != 0


def test_more_output_than_pipes_hold_of_children_together_does_not_block() -> None:
    code = "import sys; sys.stdout.write('o' * 300_000); sys.stderr.write('e' * 300_000)"
    for _, done in process.run_together([(number, process.Command(_python(code))) for number in range(3)], at_once=3):
        assert (len(done.stdout), len(done.stderr)) == (300_000, 300_000)


def test_leaving_children_that_run_together_stops_them_and_theirs(tmp_path: Path) -> None:
    starts = "child = subprocess.Popen(['sleep', '60']); open(sys.argv[1], 'w').write(str(child.pid))"
    code = f"import subprocess, sys, time; {starts}; time.sleep(60)"
    pids = [tmp_path / str(number) for number in range(2)]
    slow = [(path.name, process.Command(_python(code, str(path)))) for path in pids]
    last = (
        "last",
        process.Command(_python(f"import os, time\nwhile not all(map(os.path.exists, {list(map(str, pids))})): time.sleep(0.02)")),
    )
    with closing(process.run_together([*slow, last], at_once=3)) as ended:
        assert next(ended)[0] == "last"
    assert [path for path in pids if not _ends_within(int(path.read_text()), 5)] == []


def test_a_program_that_is_absent_stops_those_that_run_beside_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"

    def commands() -> Iterator[tuple[int, process.Command]]:
        yield 0, process.Command(_python(code, str(pid)))
        while not pid.exists() or not pid.read_text():
            time.sleep(0.02)
        yield 1, process.Command(["no-such-program"])

    with pytest.raises(CommandNotFoundError):
        list(process.run_together(commands(), at_once=2))
    assert _ends_within(int(pid.read_text()), 5)
