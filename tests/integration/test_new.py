"""`opkit new`: what it makes, where, what it refuses, and when it asks."""

from __future__ import annotations

import os
import pty
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from command_support import opkit, opkit_json

from opkit import resources
from opkit.create import kernels_offered

if TYPE_CHECKING:
    from pathlib import Path

GENERATED = {
    "CMakeLists.txt",
    "run.sh",
    "ge/custom_op.cpp",
    "ge/utils/log.h",
    "ge/utils/rtc_kernel_loader.h",
    "ge/utils/rtc_kernel_loader.cpp",
    "session_run/main.cc",
    ".opkit/generated.json",
}


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.case("D1")
def test_a_new_project_is_complete_and_agrees_with_its_spec(tmp_path: Path) -> None:
    document = opkit_json("new", "demo", cwd=tmp_path)
    project = tmp_path / "demo"
    assert document["folder"] == str(project)
    assert set(document["files"]) == files_of(project)
    assert {"ops.py", "kernels/add_custom.asc", "pyproject.toml", "README.md"} < files_of(project)
    assert files_of(project) > GENERATED
    opkit("generate", "--check", project)
    assert stat.S_IMODE(project.stat().st_mode) == 0o755
    # Nothing staged stays beside it.
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


def test_every_answer_has_a_flag(tmp_path: Path) -> None:
    options = [
        "--op",
        "FastAdd",
        "--dtype",
        "float16",
        "--dtype",
        "int32",
        "--kernel",
        "add_custom",
        "--author",
        "Ada L.",
        "--dir",
        "place/here",
    ]
    opkit("new", "fast_ops", *options, cwd=tmp_path)
    project = tmp_path / "place" / "here"
    spec = (project / "ops.py").read_text()
    assert '"FastAdd"' in spec
    assert '"float16", "int32"' in spec
    assert '"fast_ops"' in spec
    assert "Ada L." in (project / "pyproject.toml").read_text()


@pytest.mark.case("I4")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["my-ops"], ["'my-ops' is no package name", "opkit new my_ops"]),
        (["acme corp"], ["'acme corp' is no package name", "opkit new acme_corp"]),
        (["Demo"], ["'Demo' is no package name", "opkit new demo"]),
        (["2fast"], ["'2fast' is no package name", "opkit new fast"]),
        (["../evil"], ["is no package name"]),
        ([""], ["is no package name"]),
        (["class"], ["--> NAME class", "it is a C++ keyword", "opkit new class_ops"]),
        (["demo", "--op", "add custom"], ["add custom"]),
        (["demo", "--op", "Graph"], ["--> --op Graph", "GraphCustom"]),
        (["demo", "--dtype", "float23"], ["no such dtype: float23", "help: did you mean 'float32'?"]),
        (["demo", "--dtype", "quaternion"], ["no such dtype: quaternion", "for instance --dtype float32"]),
        (["demo", "--kernel", "mul"], ["opkit has no kernel mul", "help: one of: add_custom"]),
        (["demo", "--kernel", "kernels/add_cstom.asc"], ["opkit has no kernel add_cstom", "help: did you mean 'add_custom'?"]),
        ([], ["a project needs a name"]),
    ],
)
def test_a_name_that_can_not_be_is_refused_with_nothing_written(tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    done = opkit("new", *arguments, cwd=tmp_path, exit_code=2)
    assert all(word in done.stderr for word in words), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "notes.txt").write_text("mine")
    done = opkit("new", "demo", cwd=tmp_path, exit_code=2)
    assert "error[OPK0102]" in done.stderr
    assert files_of(tmp_path) == {"demo/notes.txt"}


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    opkit("new", "demo", cwd=tmp_path)
    assert (tmp_path / "demo" / "ops.py").is_file()


def test_the_folder_that_one_stands_in_stays_the_same_folder(tmp_path: Path) -> None:
    script = f'"{sys.executable}" -m opkit new demo --dir . && ls && "{sys.executable}" -m opkit generate --check'
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ops.py" in done.stdout.split()
    assert files_of(tmp_path) > GENERATED
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".opkit-new")]


@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "uint8", "int64", "bool", "bf16"])
def test_a_dtype_that_the_kernel_can_not_compute_in_is_refused_with_those_it_can(tmp_path: Path, dtype: str) -> None:
    done = opkit("new", "demo", "--dtype", "float32", "--dtype", dtype, cwd=tmp_path, exit_code=2)
    assert f"the kernel add_custom can't compute in {dtype}" in done.stderr
    assert "float32, float16, int32" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.case("D1")
def test_every_kernel_that_ships_is_offered() -> None:
    assert kernels_offered() == tuple(sorted(file.stem for file in resources.kernels().glob("*.asc")))


def test_an_unwritable_place_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = opkit("new", "demo", "--dir", tmp_path / "file" / "demo", exit_code=3)
    assert "error[OPK0304]" in done.stderr


@pytest.mark.case("B13")
def test_without_a_terminal_nothing_is_asked(tmp_path: Path) -> None:
    done = opkit("new", "demo", cwd=tmp_path)
    assert "?" not in done.stderr
    assert done.stdout == ""


def test_on_a_terminal_what_is_not_given_is_asked_for(tmp_path: Path) -> None:
    main, side = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "opkit", "new", "--op", "MyAdd"],
        cwd=tmp_path,
        stdin=side,
        stderr=side,
        stdout=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
    )
    os.close(side)
    os.write(main, b"asked_ops\nfloat16 int32\nAda\n")
    child.communicate(timeout=60)
    shown = os.read(main, 65536).decode()
    os.close(main)
    assert child.returncode == 0, shown
    assert "Name of the project" in shown
    # It was given, so it isn't asked for.
    assert "Type of its op" not in shown
    spec = (tmp_path / "asked_ops" / "ops.py").read_text()
    assert '"MyAdd"' in spec
    assert '"float16", "int32"' in spec


@pytest.mark.case("D1")
@pytest.mark.slow
@pytest.mark.usefixtures("toolkit_home")
def test_a_new_project_passes_its_own_tests_in_a_folder_with_a_space_and_other_letters(tmp_path: Path) -> None:
    folder = tmp_path / "first ops 算子"
    folder.mkdir()
    opkit("new", "demo", cwd=folder)
    assert opkit_json("test", cwd=folder / "demo")["passed"]
    report = opkit_json("bench", "--shape", "x=64,64", "--iters", "5", "--repeat", "1", cwd=folder / "demo")
    assert all(check["passed"] for case in report["cases"] for check in case["precision"])
