"""How every command ends: exit codes, streams, JSON, and what is imported on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

import opkit
from opkit.build import BUILD_TYPES
from opkit.cli import main
from opkit.cli.group import COMMANDS
from opkit.errors import BusyError

_NAMES = [name for names in COMMANDS.values() for name in names]


def _opkit(*arguments: str, environ: dict[str, str] | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "opkit", *arguments]
    return subprocess.run(argv, env={**os.environ, **(environ or {})}, cwd=cwd, capture_output=True, text=True, check=False)


def test_help_lists_every_command_and_imports_nothing_but_click() -> None:
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from opkit.cli import main\n"
        "main(['--help'])\n"
        "allowed = {'click', 'opkit', *sys.stdlib_module_names}\n"
        "extra = sorted({name.partition('.')[0] for name in set(sys.modules) - before} - allowed)\n"
        "rooms = sorted(name for name in sys.modules if name.startswith('opkit.') and name.count('.') == 1)\n"
        "print(extra, rooms, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(f"  {name} " in done.stdout for name in _NAMES)
    assert done.stderr == "[] ['opkit.cli', 'opkit.console', 'opkit.errors']\n"


@pytest.mark.parametrize("name", _NAMES)
def test_every_command_has_help_with_json_in_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [name, "path", "--help"] if name == "toolkit" else [name, "--help"]
    assert main(arguments) == 0
    assert "--json" in capsys.readouterr().out


def test_the_line_of_help_in_the_list_is_the_first_of_the_command_in_spirit() -> None:
    for name in _NAMES:
        line = next(lines[name] for lines in COMMANDS.values() if name in lines)
        assert line.endswith(".")
        assert len(line) <= 72


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["buld"], "no command buld; did you mean build?"),
        (["toolkit", "lst"], "no command lst; did you mean list?"),
        (["frobnicate"], "no command frobnicate"),
        (["build", "--nope"], "--nope"),
        (["package", "a", "b"], "unexpected extra argument"),
        (["build", "-j", "0"], "'-j'"),
        (["build", "--wait", "soon"], "'--wait'"),
        (["install", "--prefix"], "--prefix"),
        (["uninstall"], "PACKAGE"),
        (["env", "--shell", "tcsh"], "tcsh"),
        (["--nope"], "--nope"),
        (["toolkit", "frob"], "frob"),
        (["toolkit", "upgrade"], "no command upgrade\n"),
    ],
)
def test_wrong_arguments_are_one_error_with_exit_2_and_no_traceback(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert err.startswith("error[OPK0100]: ")
    assert "--help" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("upgrade", "install"),
        ("update", "install"),
        ("remove", "uninstall"),
        ("rm", "uninstall"),
        ("init", "new"),
        ("create", "new"),
        ("compile", "build"),
        ("make", "build"),
        ("pack", "package"),
        ("show", "inspect"),
        ("ls", "list"),
        ("lint", "check"),
        ("validate", "check"),
        ("render", "generate"),
        ("info", "inspect"),
        ("profile", "bench"),
        ("add", "install"),
        ("delete", "uninstall"),
        ("status", "doctor"),
        ("benchmark", "bench"),
        ("exec", "run"),
        ("activate", "env"),
        ("diagnose", "doctor"),
        ("help", "--help"),
        ("version", "--version"),
    ],
)
def test_a_word_of_other_tools_gets_the_command_that_does_it(word: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word, "demo"]) == 2
    assert capsys.readouterr().err.startswith(f"error[OPK0100]: no command {word}; opkit {meant} does that\n")
    # Or the advice would be none.
    assert main([meant, "--help"]) == 0


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["package", "--format", "whel"], "wheel"),
        (["env", "--shell", "bsh"], "bash"),
        (["build", "--build-type", "releas"], "Release"),
        (["toolkit", "build", "--arch", "arch64"], "aarch64"),
    ],
)
def test_a_word_that_an_option_does_not_take_gets_the_nearest_that_it_does(
    arguments: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.endswith(f"\n  help: did you mean {meant}?\n")


def test_an_error_with_json_is_one_document_and_the_text_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["build", str(tmp_path), "--json"]) == 2
    out, err = capsys.readouterr()
    error = json.loads(out)["error"]
    assert (error["number"], error["kind"], error["exit"]) == ("OPK0101", "NotAProjectError", 2)
    assert err.startswith("error[OPK0101]: ")


def test_a_wrong_option_with_json_is_a_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--json", "--nope"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "UsageError"


@pytest.mark.parametrize("arguments", [[], ["toolkit"]])
def test_no_command_shows_the_help_and_exits_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(" ".join(["Usage: opkit", *arguments]))


def test_no_command_with_json_is_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["message"] == "no command"


@pytest.mark.parametrize("arguments", [["--version"], ["--version", "--json"]])
def test_the_version_is_printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert json.loads(out) == {"version": opkit.__version__} if "--json" in arguments else out == f"opkit {opkit.__version__}\n"


def _failing(monkeypatch: pytest.MonkeyPatch, fault: BaseException) -> None:
    def fail() -> None:
        raise fault

    monkeypatch.setattr("opkit.cli.clean.command", click.Command("clean", callback=fail))


def test_an_error_of_a_room_gives_its_own_exit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _failing(monkeypatch, BusyError("build is in use", because="process 7"))
    assert main(["clean"]) == 75
    assert capsys.readouterr().err == "error[OPK0700]: build is in use\n  because: process 7\n"


def test_a_fault_of_opkit_shows_its_traceback_and_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _failing(monkeypatch, ZeroDivisionError("oops"))
    assert main(["clean", "--json"]) == 1 or main(["clean"]) == 1
    err = capsys.readouterr().err
    assert "ZeroDivisionError: oops" in err
    assert "Please report it" in err
    assert "opkit clean" in err


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt_exits_130_without_a_traceback(
    fault: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _failing(monkeypatch, fault)
    assert main(["clean"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_termination_exits_as_a_shell_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opkit.cli.clean.command", click.Command("clean", callback=lambda: os.kill(os.getpid(), signal.SIGTERM)))
    assert main(["clean"]) == 143
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_hangup_that_the_caller_ignores_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opkit.cli.clean.command", click.Command("clean", callback=lambda: os.kill(os.getpid(), signal.SIGHUP)))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert main(["clean"]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_reader_that_goes_away_is_no_fault() -> None:
    read, write = os.pipe()
    os.close(read)
    argv = [sys.executable, "-m", "opkit", "--version"]
    done = subprocess.run(argv, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.case("B13")
def test_no_command_reads_stdin_or_writes_in_the_current_folder(tmp_path: Path) -> None:
    for name in ("doctor", "clean", "check"):
        _opkit(name, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_a_path_in_another_script_is_the_same_in_every_locale(tmp_path: Path, locale: str) -> None:
    folder = tmp_path / "算子"
    folder.mkdir()
    done = _opkit("build", str(folder), "--json", environ={"LC_ALL": locale})
    assert done.returncode == 2
    assert "算子" in json.loads(done.stdout)["error"]["message"]


@pytest.mark.parametrize("named", ["debug", "RELEASE", "relwithdebinfo"])
def test_a_build_type_is_taken_in_any_case(named: str) -> None:
    context = import_module("opkit.cli.build").command.make_context("build", ["--build-type", named, "."])
    assert context.params["build_type"] in BUILD_TYPES


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_result_that_cannot_be_written_is_one_error(redirection: str, options: list[str]) -> None:
    done = _by_shell(redirection, "toolkit", "path", *options)
    because = "it is closed" if "-" in redirection else "No space left on device"
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.endswith(f"error[OPK0304]: cannot write to stdout\n  because: {because}\n")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
def test_what_is_for_people_alone_may_get_lost(redirection: str) -> None:
    done = _by_shell(redirection, "toolkit", "path")
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.rstrip("\n")).is_dir()
    done = _by_shell(redirection, "build", "nowhere", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["number"] == "OPK0101"


def _by_shell(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    argv = ["sh", "-c", f'"$@" {redirection}', "sh", sys.executable, "-m", "opkit", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=False)
