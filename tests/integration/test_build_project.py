"""`opkit build` on the shipped sample with the real simulator: what is made, what a second build does, and what may disturb it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_support import copy_of_sample, opkit, opkit_json

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("build"), pytest.mark.usefixtures("toolkit_home")]

_ARCH = os.uname().machine
_LIBRARY = f"op_graph/lib/linux/{_ARCH}/libcust_opapi.so"
_PROGRAM = "build/args_refresh_add_custom_session_run"
_SMALL = ("--shape", "x=8", "--shape", "y=8", "--check-only")

# Compiles like g++, but takes its time for one file as long as a flag is set.
_SLOW_COMPILER = """\
#!/bin/sh
case "$*" in
  *" -c "*custom_op.cpp*)
    if [ -e "{folder}/slow" ]; then
      echo $$ >> "{folder}/compiling"
      sleep 60
    fi ;;
esac
exec g++ "$@"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, built once, in a folder with a space and another script in its name."""
    project = copy_of_sample(tmp_path_factory.mktemp("my ops 算子"))
    opkit("build", project)
    return project


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A folder with a compiler that hangs while the file `slow` is there."""
    compiler = tmp_path / "slow-g++"
    compiler.write_text(_SLOW_COMPILER.format(folder=tmp_path))
    compiler.chmod(0o755)
    (tmp_path / "slow").write_text("")
    return tmp_path


@contextmanager
def _building(project: Path, slow: Path) -> Iterator[subprocess.Popen[str]]:
    """A build that hangs in the compiler."""
    argv = [sys.executable, "-m", "opkit", "build", str(project)]
    environ = {**os.environ, "CXX": str(slow / "slow-g++")}
    with subprocess.Popen(argv, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as build:
        try:
            _wait_for(lambda: (slow / "compiling").exists() or build.poll() is not None)
            assert build.poll() is None, build.communicate()
            yield build
        finally:
            build.kill()


def _wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _compilers(slow: Path) -> list[int]:
    pids = [int(line) for line in (slow / "compiling").read_text().split()]
    return [pid for pid in pids if Path(f"/proc/{pid}/cwd").exists()]


@pytest.mark.case("D8")
def test_what_was_built_is_an_opp_root_with_a_true_manifest(project: Path) -> None:
    manifest = json.loads((project / "output/opkit-manifest.json").read_text())
    assert [file["path"] for file in manifest["files"]] == [
        "op_graph/include/add_custom.h",
        f"op_graph/lib/linux/{_ARCH}/add_custom.asc",
        _LIBRARY,
    ]
    assert [op["type"] for op in manifest["ops"]] == ["AddRefreshOp", "AddNoRefreshOp"]
    assert manifest["built_against"]["kind"] == "simulator"
    assert (project / "output" / _LIBRARY).stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(("options", "imported"), [((), []), (("--explain",), ["click"])])
def test_a_warm_build_imports_neither_the_spec_nor_a_renderer_and_click_only_for_an_option(
    project: Path, options: tuple[str, ...], imported: list[str]
) -> None:
    code = (
        "import sys\n"
        "from opkit.cli import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "packages = {name.partition('.')[0] for name in sys.modules} - {'opkit', '__main__', *sys.stdlib_module_names}\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('opkit.')}\n"
        "print(sorted(name for name in packages if not name.startswith('_')), sorted(rooms & {'spec', 'codegen', 'run'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, "build", project, *options], capture_output=True, text=True, check=True)
    assert done.stdout == f"{imported} []\n"
    assert "up to date" in done.stderr


def test_verbose_shows_each_command_before_it_runs_and_what_it_prints(project: Path) -> None:
    os.utime(project / "ge/custom_op.cpp")
    quiet = opkit("build", project)
    os.utime(project / "ge/custom_op.cpp")
    loud = opkit("build", "-v", project)
    assert "ninja" not in quiet.stderr
    assert re.search(r"^\+ \S*ninja -C ", loud.stderr, re.MULTILINE), loud.stderr
    assert re.search(r"^\[1/\d+\] Building CXX object", loud.stderr, re.MULTILINE), loud.stderr


def test_force_does_every_step_again(project: Path) -> None:
    assert opkit_json("build", project)["steps"] == []
    assert opkit_json("build", project, "--force")["steps"] == ["configured", "compiled", "installed"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_jobs_is_how_many_compilers_run_at_once(project: Path, tmp_path: Path, jobs: int) -> None:
    compiler = tmp_path / "g++"
    # Each waits for a second one for a while: with -j 1 in vain.
    compiler.write_text(
        "#!/bin/sh\n"
        'case "$*" in *" -c "*/ge/*|*" -c "*/session_run/*)\n'
        f'  mkdir -p "{tmp_path}/now"; touch "{tmp_path}/now/$$"\n'
        "  tries=0\n"
        f'  while [ "$(ls "{tmp_path}/now" | wc -l)" -lt 2 ] && [ $tries -lt 10 ]; do sleep 0.1; tries=$((tries + 1)); done\n'
        f'  ls "{tmp_path}/now" | wc -l >> "{tmp_path}/seen"\n'
        # What it was to make isn't needed: the build ends with the first of them.
        "  exit 1;;\n"
        "esac\n"
        'exec g++ "$@"\n'
    )
    compiler.chmod(0o755)
    folders = ("--build-dir", tmp_path / "build", "--output", tmp_path / "output")
    opkit("build", project, *folders, "-j", str(jobs), env={"CXX": str(compiler)}, exit_code=5)
    assert max(int(line) for line in (tmp_path / "seen").read_text().split()) == jobs


def test_json_of_a_build_says_where_everything_is(project: Path) -> None:
    document = opkit_json("build", project)
    assert document["opp_root"] == str(project / "output")
    assert document["program"] == str(project / _PROGRAM)
    assert document["steps"] == []
    assert document["toolkit"]["kind"] == "simulator"


def test_the_deliverable_runs_through_opkit_run_from_where_it_was_moved(project: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(project / "output", tmp_path / "moved 算子")
    (project / "output").rename(project / "hidden")
    try:
        done = opkit("run", "--opp", moved, "--", project / _PROGRAM, *_SMALL, cwd=tmp_path)
    finally:
        (project / "hidden").rename(project / "output")
    assert "Precision check passed: AddRefreshOp set 1" in done.stdout


def test_an_installed_deliverable_runs_without_the_project(project: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "in stall"
    installed = opkit("install", project, "--prefix", prefix)
    assert "built against the host simulator" in installed.stderr
    opkit("run", "--prefix", prefix, "--", project / _PROGRAM, *_SMALL, cwd=tmp_path)


def test_doctor_finds_a_built_project_in_order(project: Path) -> None:
    findings = {finding["id"]: finding["status"] for finding in opkit_json("doctor", project)["findings"]}
    assert {findings[name] for name in ("toolkit", "compiler", "cmake", "ninja", "deliverable", "header", "library", "device")} == {"ok"}


@pytest.mark.case("G3")
def test_a_broken_library_beside_the_deliverable_stops_a_run_and_doctor_names_it(project: Path, tmp_path: Path) -> None:
    root = shutil.copytree(project / "output", tmp_path / "output")
    broken = root / f"op_graph/lib/linux/{_ARCH}/libbroken.so"
    broken.write_text("no library")
    argv = [sys.executable, "-m", "opkit", "run", "--opp", str(root), "--", str(project / _PROGRAM), *_SMALL]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "libbroken.so" in done.stdout + done.stderr
    told = opkit("doctor", env={"ASCEND_CUSTOM_OPP_PATH": str(root)}, cwd=tmp_path, exit_code=3)
    assert f"{broken} doesn't load" in told.stdout


def test_an_edited_generated_file_is_named_and_kept(project: Path) -> None:
    edited = project / "ge/custom_op.cpp"
    before, times = edited.read_text(), edited.stat()
    edited.write_text(before + "// mine\n")
    try:
        for command in (("build",), ("generate",)):
            done = opkit(*command, project, exit_code=4)
            assert done.stderr.count("error[OPK0402]") == 1
            assert "ge/custom_op.cpp" in done.stderr
        check = opkit("generate", project, "--check", exit_code=4)
        assert "-// mine" in check.stdout
        error = opkit_json("check", project, exit_code=4)["error"]
        assert (error["kind"], error["because"]) == ("DriftError", "ge/custom_op.cpp (edited)")
        assert edited.read_text() == before + "// mine\n"
    finally:
        edited.write_text(before)
        os.utime(edited, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "agree with the spec" in opkit("generate", project, "--check").stderr
    assert opkit_json("build", project)["steps"] == []


@pytest.mark.case("H11")
def test_a_flag_that_the_compiler_refuses_shows_the_compilers_own_words(project: Path) -> None:
    build = project / "b2"
    done = opkit("build", project, "--build-dir", build, env={"CXXFLAGS": "-include /no/such/header.h"}, exit_code=5)
    (log,) = build.glob("*/opkit-build.log")
    shutil.rmtree(build)
    assert done.stderr.count("error[OPK05") == 1
    assert "/no/such/header.h: No such file or directory" in done.stderr
    assert str(log) in done.stderr


def test_a_build_that_is_disturbed_stops_its_compilers_and_leaves_neither_a_lock_nor_half_a_file(slow: Path) -> None:
    project = copy_of_sample(slow)
    with _building(project, slow) as build:
        for command in ("build", "test", "bench", "clean"):
            error = opkit_json(command, project, "--wait", "0.2", exit_code=75)["error"]
            assert f"process {build.pid} " in error["because"]
        build.send_signal(signal.SIGINT)
        _, told = build.communicate(timeout=20)
    assert build.returncode == 130
    assert "Traceback" not in told
    assert told.splitlines()[-1] == "interrupted"
    assert _compilers(slow) == []
    assert not (project / "output").exists()
    assert list(project.rglob("*.part")) == []

    (slow / "compiling").unlink()
    with _building(project, slow) as build:
        build.kill()
        build.communicate()
    (slow / "slow").unlink()
    assert opkit_json("build", project, env={"CXX": str(slow / "slow-g++")})["steps"] == ["compiled", "installed"]
    assert _compilers(slow) == []


@pytest.mark.case("I1", "I3", "E1")
def test_spaces_and_other_scripts_in_every_path_and_a_locale_without_them_are_no_matter(tmp_path: Path, toolkit_home: Path) -> None:
    """From `new` to `uninstall`, with a toolkit of its own beside one in a default place, which has no part in it."""
    home = shutil.copytree(toolkit_home, tmp_path / "cann root 昇", symlinks=True)
    another = tmp_path / "a home/Ascend"
    another.mkdir(parents=True)
    (another / "latest").symlink_to(toolkit_home)
    env = {"LC_ALL": "C", "ASCEND_HOME_PATH": str(home), "HOME": str(another.parent)}
    places: list[str | Path] = [tmp_path / "my ops 算子" / "add custom", "--build-dir", tmp_path / "b 一", "--output", tmp_path / "o 二"]
    prefix, dist = tmp_path / "in stall 装", tmp_path / "di st 包"
    opkit("new", "add_custom", "--dir", places[0], env=env, cwd=tmp_path)
    built = opkit_json("build", *places, "--build-type", "Debug", env=env)
    assert built["toolkit"]["home"] == str(home)
    assert opkit_json("build", *places, env=env)["steps"] == []
    _hold_to_one_root(tmp_path / "b 一", home, [toolkit_home, another])
    told = next(finding for finding in opkit_json("doctor", places[0], env=env)["findings"] if finding["id"] == "toolkit")
    assert told["status"] == "ok"
    assert told["evidence"].startswith(f"{home}: ")
    assert "ASCEND_HOME_PATH" in told["evidence"]
    done = opkit("run", "--opp", built["opp_root"], "--", built["program"], "--check-only", env=env, cwd=tmp_path)
    assert "Precision check passed" in done.stdout
    archive = Path(opkit_json("package", *places, "--allow-simulator", "--dest", dist, env=env)["path"])
    assert archive.parent == dist
    opkit("install", archive, "--prefix", prefix, env=env)
    for verified in (archive, prefix, tmp_path / "o 二"):
        (document,) = opkit_json("verify", verified, env=env)["packages"]
        assert (document["violations"], document["skipped"]) == ([], [])
    (listed,) = opkit_json("list", "--prefix", prefix, env=env)["packages"]
    assert (listed["opp_root"], listed["problems"]) == (str(prefix / "add_custom"), [])
    done = opkit("run", "--prefix", prefix, "--", built["program"], "--check-only", env=env, cwd=tmp_path)
    assert "Precision check passed" in done.stdout
    opkit("uninstall", "add_custom", "--prefix", prefix, env=env)
    assert opkit_json("list", "--prefix", prefix, env=env)["packages"] == []
    removed = opkit_json("clean", *places, env=env)["removed"]
    assert removed == [str(tmp_path / "b 一"), str(tmp_path / "o 二")]
    assert not (tmp_path / "b 一").exists()


def _hold_to_one_root(build_dir: Path, home: Path, others: list[Path]) -> None:
    """Headers, libraries and CMake files of a toolkit are those of `home`, and the compiler is of none."""
    (tree,) = {path.parent for path in build_dir.rglob("CMakeCache.txt")}
    # A space is `$ ` to Ninja and `\\ ` to a shell, in JSON with two of them.
    names = ("CMakeCache.txt", "build.ninja", "compile_commands.json")
    texts = {name: re.sub(r"[$\\]+ ", " ", (tree / name).read_text("utf-8")) for name in names}
    assert f"{home}/include" in texts["compile_commands.json"]
    assert f"{home}/lib64" in texts["build.ninja"]
    for name, text in texts.items():
        assert [str(other) for other in others if f"{other}/" in text] == [], name
    (compiler,) = re.findall(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", texts["CMakeCache.txt"], re.MULTILINE)
    assert not Path(compiler).resolve().is_relative_to(home)
    assert f"\nCONFIGURED_TOOLKIT:INTERNAL={home}\n" in texts["CMakeCache.txt"]


def test_two_builds_at_once_take_turns(project: Path) -> None:
    os.utime(project / "kernels/add_custom.asc")
    argv = [sys.executable, "-m", "opkit", "build", str(project), "--json"]
    builds = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    documents = [json.loads(build.communicate(timeout=120)[0]) for build in builds]
    assert [build.returncode for build in builds] == [0, 0]
    assert sorted(len(document["steps"]) for document in documents) == [0, 2]
