"""Real commands on machines unlike the developer's: no home, nothing that may be written, another CMake, other builds at the same time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import cmake
import pytest
from command_support import copy_of_sample, opkit, opkit_json, replace_in

from opkit.deliverable import MANIFEST, Manifest, library_folder
from opkit.toolkit import host_arch

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sample"), pytest.mark.usefixtures("toolkit_home")]

_COMMAND = Path(sys.executable).with_name("opkit")
_PROGRAM = "args_refresh_add_custom_session_run"
_SMALL = ("--shape", "x=8", "--shape", "y=8", "--check-only")
_PASSED = "Precision check passed: AddRefreshOp set 1"


@pytest.fixture(scope="module")
def for_everyone(sample: Path) -> Iterator[Path]:
    """The deliverable and the program of the sample where any user may read: pytest's own folders are the developer's."""
    opkit("build", sample)
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(sample / "output", folder / "output")
        shutil.copy(sample / "build" / _PROGRAM, folder / _PROGRAM)
        yield folder


# The modules are loaded before: this test's Python may be for root alone.
_AS_NOBODY = """\
import os, sys
import opkit.process
from opkit.cli import main
folder, place, *words = sys.argv[1:]
main(["env", "--opp", f"{folder}/output"])
os.chdir(place)
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
sys.exit(main(["run", "--opp", f"{folder}/output", "--", *words]))
"""


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.case("E12", "I6")
@pytest.mark.parametrize(("place", "cache"), [("/usr/bin", None), ("{folder}/closed", "{folder}/cache"), ("{folder}/own", "/nonexistent")])
def test_a_session_runs_for_a_user_who_owns_nothing_and_leaves_nothing(for_everyone: Path, place: str, cache: str | None) -> None:
    """No home, a cache that is none, can't be written or can't be made; and a folder that could be written to stays empty."""
    folder = Path(place.format(folder=for_everyone))
    folder.mkdir(exist_ok=True, mode=0o555)
    if folder.name == "own":
        folder.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
    (for_everyone / "cache").mkdir(exist_ok=True, mode=0o555)
    before = sorted(folder.iterdir())
    environ = {"PATH": os.environ["PATH"], **({} if cache is None else {"OPKIT_SIM_CACHE_DIR": cache.format(folder=for_everyone)})}
    words: list[str | Path] = [sys.executable, "-c", _AS_NOBODY, for_everyone, folder, for_everyone / _PROGRAM, *_SMALL]

    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert _PASSED in done.stdout
    assert sorted(folder.iterdir()) == before
    assert list((for_everyone / "cache").iterdir()) == []


@pytest.mark.case("I6")
def test_without_a_home_a_project_is_built_and_runs(sample: Path, tmp_path: Path) -> None:
    """`env -i`: where programs are, the language, and the compiler cache of the tests are all that the processes get."""
    opkit("build", sample)  # Its objects are in the compiler cache, which knows them by the language too.
    project = copy_of_sample(tmp_path)
    kept = ("PATH", "LANG", "LC_", "CCACHE_", "CMAKE_")
    environ = {name: value for name, value in os.environ.items() if name.startswith(kept)}

    def run(*words: str | Path, home: str | None = None) -> str:
        variables = [f"{name}={value}" for name, value in environ.items()] + ([] if home is None else [f"HOME={home}"])
        done = subprocess.run(["env", "-i", *variables, _COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    assert "installed" in json.loads(run("build", project, "--json"))["steps"]
    assert json.loads(run("build", project, "--json", home=str(tmp_path / "gone")))["steps"] == []
    assert _PASSED in run("run", "--project", project, "--", project / "build" / _PROGRAM, *_SMALL, home=str(tmp_path / "gone"))
    assert [path.name for path in tmp_path.iterdir()] == ["sample"]


@pytest.mark.case("J1")
def test_commands_at_once_from_one_folder_keep_their_projects_apart(sample: Path, tmp_path: Path) -> None:
    """Processes as a user starts them, five of `opkit generate` and three of `opkit build`, on projects whose kernels differ."""
    opkit("build", sample)  # Its objects are in the compiler cache.
    (tmp_path / "here").mkdir()
    commands = ["generate"] * 5 + ["build"] * 3
    projects = []
    for number in range(len(commands)):
        project = copy_of_sample(tmp_path / f"p{number}")
        kernel = project / "kernels/add_custom.asc"
        kernel.write_text(f"// kernel {number}\n{kernel.read_text()}")
        if commands[number] == "generate":
            replace_in(project / "ops.py", 'numel("x"), 1024', f'numel("x"), {1000 + number}')
        else:
            # The same C++ in each, which is in the compiler cache.
            shutil.rmtree(project / "ge")
        projects.append(project)

    running = [
        subprocess.Popen(
            [_COMMAND, command, os.path.relpath(project, tmp_path / "here")],
            cwd=tmp_path / "here", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for command, project in zip(commands, projects, strict=True)
    ]  # fmt: skip
    said = [process.communicate(timeout=300)[1] for process in running]

    assert [process.returncode for process in running] == [0] * len(commands), said
    for number, (command, project) in enumerate(zip(commands, projects, strict=True)):
        blocks = 1000 + number if command == "generate" else 1024
        assert f"{blocks}" in (project / "ge/custom_op.cpp").read_text()
        if command == "build":
            output = project / "output"
            assert (output / library_folder(host_arch()) / "add_custom.asc").read_text().startswith(f"// kernel {number}\n")
            manifest = Manifest.read(output)
            assert manifest is not None
            assert manifest.violations(output) == []
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.case("H9")
def test_an_input_that_was_added_is_in_the_header_that_the_next_build_installs(sample: Path, tmp_path: Path) -> None:
    """A real op: the prototype in the library, in the manifest and in the header is the new one."""
    opkit("build", sample)  # Its objects are in the compiler cache.
    project = copy_of_sample(tmp_path)
    opkit("build", project)
    header = project / "output/op_graph/include/add_custom.h"
    assert ".INPUT(added" not in header.read_text()
    replace_in(project / "ops.py", 'Input("y", "T", shape="...")]', 'Input("y", "T", shape="..."), Input("added", "T", shape="...")]')
    replace_in(project / "ops.py", "lambda x, y: x + y", "lambda x, y, added: x + y")
    replace_in(project / "ops.py", '"y": (4096, 4096)', '"y": (4096, 4096), "added": (4096, 4096)')

    assert "compiled" in opkit_json("build", project)["steps"]

    assert ".INPUT(added" in header.read_text()
    ops = json.loads((project / "output" / MANIFEST).read_text())["ops"]
    assert [".INPUT(added" in op["prototype"] for op in ops] == [True, True]
    done = opkit("run", "--project", project, "--", project / "build" / _PROGRAM, *_SMALL, "--shape", "added=8")
    assert _PASSED in done.stdout


def _real_cmakes() -> list[Path]:
    """Those of this computer: the system's and that of opkit's dependency."""
    found = shutil.which("cmake", path="/usr/local/bin:/usr/bin")
    return [Path(cmake.CMAKE_BIN_DIR, "cmake"), *([] if found is None else [Path(found)])]


@pytest.mark.case("G7")
@pytest.mark.parametrize("program", _real_cmakes(), ids=["of the wheel", "of the system"][: len(_real_cmakes())])
def test_a_project_is_configured_without_a_word_by_each_cmake_that_is_here(program: Path, toolkit_home: Path, tmp_path: Path) -> None:
    """3.20, the oldest that is taken, and what comes after the newest here, can't be had offline. For those stands the range in
    cmake_minimum_required: an old one refuses what it doesn't know by its first line, a new one keeps the policies of the range.
    """
    project = copy_of_sample(tmp_path)
    done = subprocess.run(
        [program, "-S", project, "-B", tmp_path / "by_hand", "-Wdeprecated", f"-DASCEND_HOME_PATH={toolkit_home}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    first = next(line for line in (project / "CMakeLists.txt").read_text().splitlines() if not line.startswith("#") and line)
    assert first == "cmake_minimum_required(VERSION 3.20...3.31)"
