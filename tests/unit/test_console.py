"""The printer: which stream, which colour, and one document with --json."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from opkit.console import Console
from opkit.errors import SpecError, SpecErrors, UsageError
from opkit.spec.problems import SpecWarning


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Console:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Console()


def test_people_read_stderr_and_machines_stdout(console: Console, capsys: pytest.CaptureFixture[str]) -> None:
    console.say("hello")
    console.warn("careful", help="do that")
    console.data("/a/path")
    out, err = capsys.readouterr()
    assert out == "/a/path\n"
    assert err == "hello\nwarning: careful\n  help: do that\n"


def test_json_mode_leaves_one_document_on_stdout(console: Console, capsys: pytest.CaptureFixture[str]) -> None:
    console.reset(is_json=True)
    console.data("not for machines")
    console.document({"path": "/算子"})
    out, _ = capsys.readouterr()
    assert json.loads(out) == {"path": "/算子"}


def test_without_json_no_document_is_printed(console: Console, capsys: pytest.CaptureFixture[str]) -> None:
    console.document({"path": "/"})
    assert capsys.readouterr().out == ""


def test_quiet_keeps_warnings_and_errors(console: Console, capsys: pytest.CaptureFixture[str]) -> None:
    console.is_quiet = True
    console.say("hello")
    console.step("Built", "it")
    console.warn("careful")
    console.error(UsageError("wrong"))
    assert capsys.readouterr().err == "warning: careful\nerror[OPK0100]: wrong\n"


def test_a_warning_about_the_spec_looks_as_an_error_does_and_comes_once(
    console: Console, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    console.is_quiet = True
    warning = SpecWarning(number="OPK0219", message="odd", where="ops.py:3   Op(", because="it: is", help="mend it")
    console.warnings([warning, warning])
    console.warnings([warning])
    assert capsys.readouterr().err == "warning[OPK0219]: odd\n  --> ops.py:3   Op(\n  because: it: is\n  help: mend it\n"
    console.reset()
    monkeypatch.setenv("FORCE_COLOR", "1")
    console.warnings([warning])
    assert capsys.readouterr().err.startswith("\x1b[33;1mwarning[OPK0219]\x1b[0m: odd\n")


def test_commands_are_echoed_quoted_with_verbose_only(console: Console, capsys: pytest.CaptureFixture[str]) -> None:
    console.command(["cmake", "-S", "my project"])
    console.is_verbose = True
    console.command(["cmake", "-S", "my project"])
    assert capsys.readouterr().err == "+ cmake -S 'my project'\n"


@pytest.mark.parametrize(
    ("no_color", "force_color", "is_colored"),
    [("", "", False), ("", "1", True), ("1", "", False), ("1", "1", False)],
)
def test_no_color_wins_over_force_color_wins_over_the_terminal(
    console: Console, monkeypatch: pytest.MonkeyPatch, no_color: str, force_color: str, is_colored: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("FORCE_COLOR", force_color)
    assert ("\x1b[" in console.paint("x", "red")) is is_colored


def test_each_mistake_of_many_has_its_label_painted(
    console: Console, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    console.error(SpecErrors([SpecError("one"), SpecError("two")]))
    assert capsys.readouterr().err.count("\x1b[31;1merror[OPK0200]\x1b[0m: ") == 2


def test_a_path_that_is_no_utf8_comes_out_as_its_bytes() -> None:
    code = "import sys; from opkit.console import console; print('before'); console.data(sys.argv[1])"
    done = subprocess.run([sys.executable, "-X", "utf8", "-c", code, b"/caf\xe9"], capture_output=True, check=True)
    assert done.stdout == b"before\n/caf\xe9\n"


def test_progress_is_silent_where_no_person_watches(console: Console, capsys: pytest.CaptureFixture[str]) -> None:
    with console.progress("Building", 3) as progress:
        progress.advance(note="a.cpp")
    assert capsys.readouterr().err == ""


def test_progress_on_a_terminal_shows_a_bar(console: Console, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Console, "is_terminal", property(lambda _: True))
    monkeypatch.setenv("FORCE_COLOR", "1")
    with console.progress("Building", 2) as progress:
        progress.advance()
        progress.advance(note="a.cpp")
    assert "Building" in capsys.readouterr().err


def test_a_warning_of_both_builds_of_a_command_is_printed_once(console: Console, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        console.warn("ccache doesn't work", help="mend it", is_once=True)
        console.warn("each time")
    assert capsys.readouterr().err == "warning: ccache doesn't work\n  help: mend it\n" + "warning: each time\n" * 2
    console.reset()
    console.warn("ccache doesn't work", is_once=True)
    assert capsys.readouterr().err == "warning: ccache doesn't work\n"
