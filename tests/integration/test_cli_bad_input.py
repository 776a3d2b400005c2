"""What a user gets wrong before anything is compiled: one clear error, the right exit code, nothing written."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from command_support import copy_of_sample, opkit, opkit_json, replace_in

pytestmark = pytest.mark.usefixtures("toolkit_home")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copy_of_sample(tmp_path / "my ops 算子")


def _without_build(project: Path) -> bool:
    return not (project / "output").exists() and list(project.glob("build/**/CMakeCache.txt")) == []


def test_no_compiler_names_the_package_to_install(project: Path, tmp_path: Path) -> None:
    done = opkit("build", project, env={"PATH": str(tmp_path)}, exit_code=3)
    assert done.stderr.count("error[") == 1
    assert "no C++ compiler: install the package g++" in done.stderr
    assert _without_build(project)


@pytest.mark.parametrize(("home", "because"), [("/nope", "it does not exist"), ("{}", "it has no include folder")])
def test_a_home_that_names_no_toolkit_is_refused(project: Path, tmp_path: Path, home: str, because: str) -> None:
    home = home.format(tmp_path)
    for arguments in (["build", project], ["toolkit", "path"], ["env", project]):
        error = opkit_json(*arguments, env={"ASCEND_HOME_PATH": home}, exit_code=3)["error"]
        assert (error["where"], error["because"]) == (f"ASCEND_HOME_PATH={home}", because)
    assert _without_build(project)


@pytest.mark.parametrize("output", ["{}/file/output", "/proc/no-such-place/output"], ids=["a file in the way", "refused even to root"])
def test_an_output_folder_that_cannot_be_is_told_before_a_compiler_runs(project: Path, tmp_path: Path, output: str) -> None:
    (tmp_path / "file").write_text("")
    done = opkit("build", project, "--output", output.format(tmp_path), exit_code=3)
    assert done.stderr.count("error[OPK0304]") == 1
    assert "--output DIR" in done.stderr
    assert _without_build(project)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_project_that_is_read_only_is_one_clear_error(project: Path) -> None:
    project.chmod(0o555)
    try:
        done = opkit("build", project, exit_code=3)
    finally:
        project.chmod(0o755)
    assert "--build-dir DIR" in done.stderr


def test_a_spec_that_raises_is_one_error_with_its_line_and_no_traceback(project: Path) -> None:
    with (project / "ops.py").open("a") as ops:
        ops.write("\nboom = 1 // 0\n")
    done = opkit("build", project, exit_code=2)
    assert done.stderr.count("error[OPK02") == 1
    assert "ZeroDivisionError" in done.stderr
    assert "boom = 1 // 0" in done.stderr
    assert "Traceback" not in done.stderr
    assert _without_build(project)


def test_an_entry_that_the_kernel_does_not_define_is_named_with_what_it_does_define(project: Path) -> None:
    replace_in(project / "ops.py", 'entry="add_custom"', 'entry="add_customs"')
    done = opkit("check", project, exit_code=2)
    assert "add_customs" in done.stderr
    assert "add_custom" in done.stderr.replace("add_customs", "")


def test_all_mistakes_of_a_spec_are_listed_at_once(project: Path) -> None:
    replace_in(project / "ops.py", 'entry="add_custom"', 'entry="nope"')
    replace_in(project / "ops.py", '"AddRefreshOp"', '"2AddRefreshOp"')
    replace_in(project / "ops.py", '["float32"]', '["float23"]')
    replace_in(project / "ops.py", 'header="add_custom.h"', 'header="../add.h"')
    document = opkit_json("build", project, exit_code=2)["error"]
    assert document["kind"] == "SpecErrors"
    assert len(document["errors"]) >= 4
    assert all(error["where"].startswith("ops.py:") for error in document["errors"])
    assert _without_build(project)


@pytest.mark.case("D5")
def test_a_generated_file_that_was_never_opkits_is_not_overwritten(project: Path) -> None:
    shutil.rmtree(project / ".opkit")
    (project / "CMakeLists.txt").write_text("# my own\n")
    done = opkit("build", project, exit_code=4)
    assert "CMakeLists.txt" in done.stderr
    assert (project / "CMakeLists.txt").read_text() == "# my own\n"


@pytest.mark.parametrize("command", ["build", "generate", "check", "inspect", "clean", "env"])
def test_a_folder_that_is_no_project_is_refused_by_every_command(command: str, tmp_path: Path) -> None:
    error = opkit_json(command, tmp_path, exit_code=2)["error"]
    assert error["kind"] == "NotAProjectError"
    assert list(tmp_path.iterdir()) == []


def test_check_is_content_with_the_sample_and_builds_nothing(project: Path) -> None:
    document = opkit_json("check", project)
    assert document == {"package": "args_refresh_add_custom", "ops": ["AddRefreshOp", "AddNoRefreshOp"], "warnings": []}
    assert not (project / "build").exists()


def test_generate_writes_what_is_missing_and_then_nothing(project: Path) -> None:
    (project / "run.sh").unlink()
    assert opkit_json("generate", project)["written"] == ["run.sh"]
    assert os.access(project / "run.sh", os.X_OK)
    assert opkit_json("generate", project)["written"] == []


def test_files_that_differ_from_the_spec_are_named_and_many_are_counted(project: Path) -> None:
    text = (project / "ops.py").read_text()
    (project / "ops.py").write_text(text.replace('"args_refresh_add_custom"', '"another_name"'))
    error = opkit_json("check", project, exit_code=4)["error"]
    assert error["because"].startswith("CMakeLists.txt (")
    assert re.search(r" and \d+ more$", error["because"])
    (project / "ops.py").write_text(text)
    (project / "run.sh").unlink()
    assert opkit_json("check", project, exit_code=4)["error"]["because"] == "run.sh (missing)"
