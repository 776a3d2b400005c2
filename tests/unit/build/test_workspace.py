"""Many projects in one call: which they are, which of them an opkit is started for, and what is told of those that fail."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from opkit.build import Project, Settings
from opkit.build.lock import locked
from opkit.build.workspace import Outcome, build_all, exit_of, find_projects
from opkit.cli import main, workspace
from opkit.errors import ForeignFileError, NotAProjectError, SpecErrors
from opkit.toolkit import discover, process_environment

if TYPE_CHECKING:
    from opkit.toolkit import Toolkit

_TESTS = Path(__file__).resolve().parents[2]
_STAND_IN = f"import sys; sys.path[:1] = [{str(_TESTS)!r}]; import tiny_support; tiny_support.stand_in()\n"
_OPKIT = _STAND_IN + "from opkit.cli import main; sys.exit(main())"


def _spec(root: Path, answer: str = "0") -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "ops.py").write_text(f"/* opkit */ {answer}")
    return root


@pytest.fixture
def folder(tmp_path: Path, toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, current for the command line; each opkit that is started finds tiny projects."""
    folder = tmp_path / "all ops 算子"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit.home))
    monkeypatch.setattr(workspace, "_START", _OPKIT)
    return folder


# ---- which projects


def test_projects_below_a_folder_are_found_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in (
        "b",
        "a/deep/er",
        "a/first",
        "c",
        "c/inside",
        "build/x",
        "x/output/y",
        "dist/z",
        ".hidden",
        "node_modules/n",
        "__pycache__/p",
    ):
        _spec(tmp_path / name)
    for name, mark in (("env", "pyvenv.cfg"), ("cache", "CACHEDIR.TAG")):
        _spec(tmp_path / name / "lib")
        (tmp_path / name / mark).write_text("")
    (tmp_path / "python").mkdir()
    (tmp_path / "python/ops.py").write_text("def add(x, y):\n    return x + y\n")
    (tmp_path / "link").symlink_to(tmp_path / "b", target_is_directory=True)
    found = [str(project.root.relative_to(tmp_path)) for project in find_projects([tmp_path])]
    assert found == ["a/deep/er", "a/first", "b", "c"]


def test_projects_are_taken_in_the_order_that_they_are_named_in_and_each_once(tmp_path: Path) -> None:
    roots = [_spec(tmp_path / name) for name in ("a", "b", "c")]
    named = [tmp_path / "c", roots[1] / "ops.py", tmp_path, tmp_path / "c"]
    assert [project.root for project in find_projects(named)] == [roots[2], roots[1], roots[0]]


def test_a_folder_without_a_project_is_an_error_even_beside_others(tmp_path: Path) -> None:
    _spec(tmp_path / "a")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotAProjectError, match="empty is no opkit project, and holds none"):
        find_projects([tmp_path / "a", tmp_path / "empty"])
    with pytest.raises(NotAProjectError, match="gone is no opkit project"):
        find_projects([tmp_path / "gone"])


@pytest.mark.parametrize("name", ["/", "//", "link/.."])
def test_the_whole_computer_is_no_workspace(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opkit.build.workspace._roots", lambda _: pytest.fail("it is searched"))
    (folder / "link").symlink_to("/usr")
    with pytest.raises(NotAProjectError, match=r"^/ is no opkit project, and no folder of projects$") as caught:
        find_projects([name])
    assert caught.value.because == "each ops.py of this computer would be run"


def test_a_spec_that_cannot_be_read_is_a_project_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/ops.py").symlink_to("ops.py")
    assert [project.root.name for project in find_projects([tmp_path])] == ["a"]


def test_only_a_folder_that_is_named_is_searched(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _spec(folder / "a")
    assert main(["build"]) == 2
    assert "error[OPK0101]" in capsys.readouterr().err
    assert not (folder / "a/build").exists()


@pytest.mark.parametrize("option", ["--build-dir", "--output"])
def test_a_folder_for_one_project_is_refused_for_several(folder: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    _spec(folder / "a")
    assert main(["build", ".", option, "x"]) == 2
    assert f"{option} is for one project" in capsys.readouterr().err


# ---- building them


def _document(capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def test_a_workspace_is_built_and_what_fails_is_summed_up_after_the_rest(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, answer in (("a", "1"), ("below/b", "no_such_thing"), ("c", "3")):
        _spec(folder / name, answer)
    assert main(["build", ".", "--json", "-j", "2"]) == 5
    document, told = _document(capsys)
    assert [(each["project"], each["exit"]) for each in document["packages"]] == [
        (f"{folder}/a", 0),
        (f"{folder}/below/b", 5),
        (f"{folder}/c", 0),
    ]
    assert document["failed"] == 1
    assert document["packages"][0]["steps"] == ["rendered", "configured", "compiled", "installed"]
    assert document["packages"][1]["error"]["number"] == "OPK0502"
    assert document["clashes"] == [{"kind": "op", "name": "Tiny", "projects": [f"{folder}/a", f"{folder}/c"]}]
    assert "warning: the op type Tiny is in a and c: of those that are activated together, GE takes the first\n" in told
    # The block of the one that failed, in one piece, and at the very end the cause again.
    head, block = told.split("Failed below/b (", 1)
    assert "Building 3 projects" in head
    assert block.splitlines()[1].startswith("error[OPK0502]: ")
    summed_up = told[told.index("error[OPK0570]: 1 of 3 projects failed, the others are up to date\n") :]
    assert summed_up.splitlines()[1].startswith("  because: below/b: OPK0502 ")
    assert "(ge/custom_op.cpp:3:" in summed_up

    # Mended: the others have nothing to do, and no opkit is started for them.
    _spec(folder / "below/b", "2")
    assert main(["build", "a", "below", "c"]) == 0
    told = capsys.readouterr().err
    assert (
        "    Finished below/b: rendered, configured, compiled, installed (" in told
        or "Finished below/b: rendered, compiled, installed (" in told
    )
    assert "Finished a" not in told
    assert "Finished 3 projects: 1 built, 2 up to date (" in told

    monkeypatch.setattr(workspace, "_START", "raise SystemExit('no opkit has to start')")
    assert main(["build", ".", "--explain"]) == 0
    told = capsys.readouterr().err
    assert told.count("nothing to do: the spec and its 5 generated files") == 3
    assert "Finished 3 projects: 3 up to date (" in told


def test_quiet_errors_have_their_project_above_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        _spec(folder / name, "no_such_thing")
    assert main(["build", ".", "-q", "-j", "1"]) == 5
    told = capsys.readouterr().err
    for name in ("a", "b"):
        assert told[told.index(f"Failed {name} (") :].splitlines()[1].startswith("error[OPK0502]: ")


def test_a_workspace_says_at_once_which_project_another_opkit_builds(
    folder: Path, built: Callable[..., tuple[list[Outcome], _Started]], capsys: pytest.CaptureFixture[str]
) -> None:
    _spec(folder / "a", "1")
    assert main(["build", "."]) == 0
    with locked(Project.find(folder / "a"), wait=0):
        built()
    assert f"{folder}/a is in use by another opkit\n" in capsys.readouterr().err


def test_the_cause_of_one_mistake_in_a_spec_has_its_own_number(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _spec(folder / "a", "1")
    _spec(folder / "b", "1")
    document = {"error": SpecErrors([ForeignFileError("ops.py is no Python", where="ops.py:1   0")]).to_json()}
    monkeypatch.setattr(workspace, "_START", f"import json, sys; print(json.dumps({document!r})); sys.exit(2)")
    assert main(["build", "."]) == 2
    assert f"a: {ForeignFileError.number} ops.py is no Python (ops.py:1)" in capsys.readouterr().err


_FAKE = "import json, sys; print(json.dumps({'package': 'made', 'ops': [], 'steps': ['compiled'], 'argv': sys.argv[1:]}))"


class _Started:
    """In place of an opkit for each: what it was asked to build, and with how many jobs."""

    def __init__(self, code: str = _FAKE) -> None:
        self.code = code
        self.jobs: dict[str, int] = {}

    def __call__(self, project: Project, jobs: int) -> Sequence[str]:
        self.jobs[project.root.name] = jobs
        return [sys.executable, "-c", self.code, project.root.name]


@pytest.fixture
def built(folder: Path) -> Callable[..., tuple[list[Outcome], _Started]]:
    """Builds with a stand-in for each opkit that would be started."""

    def run(code: str = _FAKE, **options: Any) -> tuple[list[Outcome], _Started]:  # noqa: ANN401 - of build_all
        started, environ = _Started(code), process_environment()
        wished = {"settings": Settings(), "command": started, **options}
        return list(build_all(find_projects([folder]), discover(environ), environ, **wished)), started

    return run


def test_jobs_are_shared_by_as_many_projects_as_there_are_jobs(folder: Path, built: Callable[..., tuple[list[Outcome], _Started]]) -> None:
    for name in ("a", "b", "c"):
        _spec(folder / name)
    assert built(jobs=7)[1].jobs == {"a": 2, "b": 2, "c": 2}
    assert built(jobs=2)[1].jobs == {"a": 1, "b": 1, "c": 1}


def test_an_opkit_is_started_for_whatever_may_have_something_to_do(
    folder: Path, built: Callable[..., tuple[list[Outcome], _Started]], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = _spec(folder / "a")
    assert main(["build", "."]) == 0
    source, output = root / "ge/custom_op.cpp", root / "output/op_graph/include/tiny.h"
    assert built()[1].jobs == {}

    def is_started(**options: object) -> bool:
        return bool(built(**options)[1].jobs)

    # What Ninja alone sees, as in a build.
    library = next(root.glob("build/*/libcust_opapi.so"))
    library.unlink()
    assert is_started()
    assert main(["build", "."]) == 0
    assert not is_started()
    os.utime(source)
    assert is_started()
    assert main(["build", "."]) == 0
    # What opkit sees by itself: the spec, the output, the settings, the tools.
    for change in (lambda: _spec(root, "5"), output.unlink, lambda: (root / "build/opkit-build.json").write_text("{")):
        change()
        assert is_started(), change
        assert main(["build", "."]) == 0
        assert not is_started()
    assert is_started(settings=Settings(build_type="Debug"))
    assert is_started(is_forced=True)
    monkeypatch.setenv("CXXFLAGS", "-O1")
    assert is_started()
    monkeypatch.delenv("CXXFLAGS")
    # One that another opkit works on is left to its own, which waits.
    with (root / "build/.opkit.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert is_started()
    assert not is_started()


def test_a_build_that_ends_without_a_word_is_an_error_of_its_project(
    folder: Path, built: Callable[..., tuple[list[Outcome], _Started]]
) -> None:
    for name in ("a", "b"):
        _spec(folder / name)
    code = "import os, sys, json; os.kill(os.getpid(), 9) if sys.argv[1] == 'a' else print(json.dumps({'package': 'b'}))"
    outcomes, _ = built(code)
    by_name = {outcome.project.root.name: outcome for outcome in outcomes}
    assert by_name["b"].exit == 0
    assert by_name["a"].exit == 137
    assert by_name["a"].error is not None
    assert by_name["a"].error["number"] == "OPK0571"
    assert by_name["a"].error["because"] == "signal 9 stopped it"


@pytest.mark.parametrize(
    ("exits", "expected"), [([], 0), ([0, 0], 0), ([0, 5, 5], 5), ([2, 0, 2], 2), ([75], 75), ([2, 5], 5), ([3, 2, 137], 5), ([5, 1, 2], 1)]
)
def test_the_exit_is_what_failures_have_in_common(tmp_path: Path, exits: list[int], expected: int) -> None:
    assert exit_of(Outcome(project=Project.at(tmp_path), exit=each, seconds=0.0) for each in exits) == expected


def test_packages_of_one_name_are_told_once(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_START", _FAKE)
    for name in ("a", "b", "c"):
        _spec(folder / name)
    assert main(["build", "."]) == 0
    assert capsys.readouterr().err.count("warning: the package name made is given by a, b and c: a prefix holds one of them\n") == 1
    for name in ("d", "e", "f"):
        _spec(folder / name)
    assert main(["build", "."]) == 0
    assert "warning: the package name made is given by a, b, c and 3 more: a prefix holds one of them\n" in capsys.readouterr().err


def test_every_option_reaches_each_opkit(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_START", _FAKE)
    _spec(folder / "a")
    options = ["--force", "--explain", "--build-type", "Debug", "--abi", "1", "-D", "X=a b", "--npu-arch", "dav-1", "--launcher", "none"]
    assert main(["build", ".", "--json", *options, "--wait", "3", "-j", "1"]) == 0
    argv = _document(capsys)[0]["packages"][0]["argv"]
    assert argv[:4] == ["build", str(folder / "a"), "--json", "--jobs=1"]
    assert sorted(argv[4:]) == sorted(
        ["--force", "--explain", "--build-type=Debug", "--abi=1", "-DX=a b", "--npu-arch=dav-1", "--launcher=none", "--wait=3.0"]
    )


@pytest.mark.slow
def test_an_interrupt_stops_the_compilers_of_all_projects(folder: Path, tmp_path: Path, make_program: Callable[[Path, str], Path]) -> None:
    for name in ("a", "b"):
        _spec(folder / name)
    started = tmp_path / "started"
    # CMake's own trials go through; what is compiled for a project hangs.
    hangs = f'#!/bin/sh\ncase "$*" in *custom_op*) echo $$ >> {started}; exec sleep 300;; esac\nexec g++ "$@"\n'
    compiler = make_program(tmp_path / "hangs", hangs)
    code = f"{_STAND_IN}from opkit.cli import main, workspace; workspace._START = {_OPKIT!r}; sys.exit(main())"
    argv = [sys.executable, "-c", code, "build", ".", "-j", "2", "--launcher", "none"]
    running = subprocess.Popen(argv, env={**os.environ, "CXX": str(compiler)}, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not started.exists() or len(started.read_text().split()) < 2):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=30)
    assert running.returncode == 130, told
    pids = started.read_text().split()
    assert len(pids) == 2
    # Whoever inherits what was killed may take a moment to let go of it.
    deadline = time.monotonic() + 10
    while (left := [pid for pid in pids if Path(f"/proc/{pid}").exists()]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == []
    assert told.rstrip().endswith("interrupted")
