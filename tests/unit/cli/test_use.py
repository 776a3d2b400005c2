"""run, env, toolkit and doctor as a person or a script calls them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from install_support import LIBRARY, install, opp_root

from opkit.cli import main

_PRINT = (
    "import os, json; print(json.dumps({n: os.environ.get(n) for n in ('ASCEND_HOME_PATH', 'ASCEND_CUSTOM_OPP_PATH', 'LD_LIBRARY_PATH')}))"
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, make_toolkit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    home = make_toolkit(tmp_path / "a toolkit", simulator="9.2.0-sim")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    return home


def _opkit(*arguments: str | Path, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "opkit", *map(str, arguments)]
    return subprocess.run(argv, cwd=cwd, env=os.environ | environ, capture_output=True, text=True, check=False)


def test_run_activates_the_project_of_the_current_folder(built_project: Path, home: Path) -> None:
    done = _opkit("run", "--", sys.executable, "-c", _PRINT, cwd=built_project)
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "ASCEND_HOME_PATH": str(home),
        "ASCEND_CUSTOM_OPP_PATH": str(built_project / "output"),
        "LD_LIBRARY_PATH": str(home / "lib64"),
    }


def test_run_activates_an_output_folder_that_was_moved(built_project: Path, tmp_path: Path) -> None:
    moved = (built_project / "output").rename(tmp_path / "moved away")
    shutil.rmtree(built_project)
    done = _opkit("run", "--opp", moved, "--", sys.executable, "-c", _PRINT, cwd=tmp_path)
    assert json.loads(done.stdout)["ASCEND_CUSTOM_OPP_PATH"] == str(moved)


def test_run_gives_the_first_of_several_roots_the_first_place(built_project: Path, tmp_path: Path) -> None:
    other = shutil.copytree(built_project / "output", tmp_path / "other")
    done = _opkit("run", "--opp", other, "--opp", built_project / "output", "--", sys.executable, "-c", _PRINT)
    assert json.loads(done.stdout)["ASCEND_CUSTOM_OPP_PATH"] == f"{other}:{built_project}/output"


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "raise SystemExit(2)", "raise SystemExit(125)"])
def test_run_passes_the_exit_of_the_command_on(built_project: Path, code: str) -> None:
    assert _opkit("run", "--project", built_project, "--", sys.executable, "-c", code).returncode == int(code[17:-1])


def test_run_passes_a_signal_on(built_project: Path) -> None:
    assert _opkit("run", "--project", built_project, "--", "/bin/sh", "-c", "kill -9 $$").returncode == -9


def test_run_passes_options_of_the_command_on_untouched(built_project: Path) -> None:
    done = _opkit("run", "--project", built_project, "--", "echo", "--json", "-v", "--help")
    assert done.stdout == "--json -v --help\n"


@pytest.mark.parametrize("own", [[], ["--toolkit", "{home}"], ["-q"]])
def test_run_takes_no_option_behind_the_first_word_for_its_own(own: list[str], built_project: Path, home: Path) -> None:
    own = [word.format(home=home) for word in own]
    done = _opkit("run", "--project", built_project, *own, "echo", "-v", "--help", "--json", "--toolkit", "x", "--", "y")
    assert (done.returncode, done.stdout) == (0, "-v --help --json --toolkit x -- y\n")


@pytest.mark.parametrize("own", [["run", "--json"], ["--json", "run"], ["run", "--toolkit=x", "--json"]])
def test_run_with_an_option_of_its_own_before_the_first_word_has_it(own: list[str], tmp_path: Path) -> None:
    done = _opkit(*own, "--project", tmp_path / "gone", "true", "--", "--json")
    assert json.loads(done.stdout)["error"]["exit"] == done.returncode == 125


@pytest.mark.parametrize("before", [["--project", "{gone}"], ["--opp={gone}"]])
def test_json_of_the_command_is_not_runs(before: list[str], tmp_path: Path) -> None:
    done = _opkit("run", *(word.format(gone=tmp_path / "gone") for word in before), "true", "--json")
    assert (done.returncode, done.stdout) == (125, "")


def test_run_says_before_the_command_what_kept_it_from_starting(built_project: Path, tmp_path: Path) -> None:
    (tmp_path / "script").write_text("")
    assert _opkit("run", "--project", built_project, "--", "no-such-command").returncode == 127
    assert _opkit("run", "--project", built_project, "--", tmp_path / "script").returncode == 126
    assert _opkit("run", "--project", tmp_path / "gone", "--", "true").returncode == 125
    assert _opkit("run", "--toolkit", tmp_path / "gone", "--project", built_project, "--", "true").returncode == 125
    assert _opkit("run", "--no-such-option", "--", "true").returncode == 125
    assert _opkit("run").returncode == 125


@pytest.mark.parametrize(("prefix", "spelling", "exit_code"), [("none", "{}", 125), ("packages", "{}", 127), ("packages", "./{}", 126)])
def test_run_with_a_project_where_the_command_should_be_says_what_to_write(
    prefix: str, spelling: str, exit_code: int, built_project: Path, tmp_path: Path
) -> None:
    install(opp_root(tmp_path / "root", {LIBRARY: "library"}), tmp_path / "packages")
    project = spelling.format(built_project.name)
    done = _opkit("run", project, "python3", "my file.py", cwd=built_project.parent, OPKIT_PREFIX=str(tmp_path / prefix))
    assert done.returncode == exit_code
    assert done.stderr.endswith(f"\n  help: opkit run --project {shlex.quote(project)} -- python3 'my file.py'\n")
    assert "error[" in done.stderr


def test_run_with_a_package_where_the_command_should_be_says_what_to_write(tmp_path: Path) -> None:
    prefix = tmp_path / "my packages"
    install(opp_root(tmp_path / "root", {LIBRARY: "library"}, package="my_ops"), prefix)
    for name in ("my_ops", "my-ops"):
        done = _opkit("run", name, cwd=tmp_path, OPKIT_PREFIX=str(prefix))
        assert done.returncode == 127
        assert done.stderr.endswith(f": command not found: {name}\n  help: opkit run --package my_ops -- CMD\n")
        named = _opkit("run", "--prefix", prefix, name, cwd=tmp_path)
        assert named.stderr.endswith(f"\n  help: opkit run --prefix '{prefix}' --package my_ops -- CMD\n")
    # Neither is.
    assert "help" not in _opkit("run", "no-such-command", cwd=tmp_path, OPKIT_PREFIX=str(prefix)).stderr
    # A program of that name is what was meant.
    assert _opkit("run", "true", cwd=tmp_path, OPKIT_PREFIX=str(prefix)).returncode == 0


def test_run_with_json_says_the_exit_that_it_has(tmp_path: Path) -> None:
    done = _opkit("run", "--json", "--project", tmp_path / "gone", "--", "true")
    assert json.loads(done.stdout)["error"]["exit"] == done.returncode == 125


def test_run_needs_a_built_project(built_project: Path) -> None:
    shutil.rmtree(built_project / "output")
    done = _opkit("run", "--project", built_project, "--", "true")
    assert done.returncode == 125
    assert f"help: opkit build {shlex.quote(str(built_project))}" in done.stderr


def test_a_folder_inside_an_opp_root_is_refused_with_the_root(built_project: Path) -> None:
    done = _opkit("run", "--opp", built_project / "output/op_graph/lib", "--", "true")
    assert done.returncode == 125
    assert f"help: --opp {built_project}/output" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
def test_env_activates_a_shell(shell: str, built_project: Path, home: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    script = f'set -eu; eval "$({sys.executable} -m opkit env)"; eval "$({sys.executable} -m opkit env)"; {sys.executable} -c "$1"'
    done = subprocess.run([shell, "-c", script, shell, _PRINT], cwd=built_project, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {
        "ASCEND_HOME_PATH": str(home),
        "ASCEND_CUSTOM_OPP_PATH": str(built_project / "output"),
        "LD_LIBRARY_PATH": str(home / "lib64"),
    }


def test_a_failing_env_leaves_a_shell_as_it_was(tmp_path: Path) -> None:
    done = _opkit("env", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")


def test_env_as_json_is_the_environment_of_a_child(built_project: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["env", str(built_project), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ASCEND_HOME_PATH"] == str(home)


def test_toolkit_path_is_one_line_for_a_build_by_hand(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["toolkit", "path"]) == 0
    assert capsys.readouterr().out == f"{home}\n"


def test_toolkit_path_with_a_wrong_toolkit_is_exit_3_and_no_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["toolkit", "path", "--toolkit", "/nope"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "because: it does not exist" in err


def test_toolkit_env_activates_the_toolkit_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["toolkit", "env"]) == 0
    out = capsys.readouterr().out
    assert f"export ASCEND_HOME_PATH='{home}'" in out
    assert "ASCEND_CUSTOM_OPP_PATH" not in out


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
def test_toolkit_env_takes_a_shell_by_its_own_name(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["toolkit", "env", "--shell", "sh"]) == 0
    expected = capsys.readouterr().out
    assert main(["toolkit", "env", "--shell", shell]) == 0
    assert capsys.readouterr().out == expected


def test_toolkit_list_shows_what_is_named_and_why_something_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["toolkit", "list", "--toolkit", "/nope"]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "/nope  refused: it does not exist  (named by --toolkit)"
    assert second.startswith(f"{home}  host simulator 9.2.0-sim")
    assert main(["toolkit", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["kind"] == "simulator"


def test_toolkit_list_shows_a_toolkit_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("ASCEND_HOME_PATH")
    assert main(["toolkit", "path"]) == 0
    bundled = capsys.readouterr().out.strip()
    monkeypatch.setenv("ASCEND_HOME_PATH", bundled)
    assert main(["toolkit", "list", "--json"]) == 0
    assert [each["path"] for each in json.loads(capsys.readouterr().out)].count(bundled) == 1


def test_doctor_exits_3_for_a_failure_and_0_for_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", f"{tmp_path}:")
    assert main(["doctor"]) == 0
    assert "warn  opp-path[1]" in capsys.readouterr().out
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", f"{tmp_path}/gone:{tmp_path}/lost")
    assert main(["doctor"]) == 3
    assert "FAIL" not in (out := capsys.readouterr().out)
    assert "fail  opp-path[0]" in out
    assert out.count("help: export ASCEND_CUSTOM_OPP_PATH=\n") == 1


def test_doctor_as_json_holds_every_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASCEND_HOME_PATH", "/nope")
    assert main(["doctor", "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["failures"] == 1
    failure = next(finding for finding in document["findings"] if finding["status"] == "fail")
    assert (failure["id"], "does not exist" in failure["evidence"]) == ("toolkit", True)
    # A script may run the one, and not the other.
    assert (failure["help"].startswith("export ASCEND_HOME_PATH=/"), failure["hint"]) == (True, None)


def test_doctor_names_a_header_that_the_deliverable_lost(built_project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (built_project / "output/op_graph/include/add.h").unlink()
    assert main(["doctor", str(built_project)]) == 3
    out = capsys.readouterr().out
    assert "op_graph/include/add.h is missing" in out
    assert f"help: opkit build {shlex.quote(str(built_project))}\n" in out


def test_doctor_refuses_a_folder_that_is_no_project(tmp_path: Path) -> None:
    assert main(["doctor", str(tmp_path)]) == 2


def test_clean_needs_a_project(tmp_path: Path) -> None:
    assert main(["clean", str(tmp_path)]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a toolkit"]
