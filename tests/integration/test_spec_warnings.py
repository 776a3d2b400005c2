"""Warnings about a spec: each command that loads it tells them, and goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_support import copy_of_sample, opkit, opkit_json, replace_in

if TYPE_CHECKING:
    from pathlib import Path

_WARNING = """\
warning[OPK0219]: 'Mul' is the type of a built-in op
  --> ops.py:21   add_no_refresh = add_refresh.replace(type="Mul", refresh="none")
  because: GE has one op of a type: a graph that means the built-in one may run this one, or the other way round
  help: 'MulCustom' would do; allow_builtin=True if it is meant to take the place of that one
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = copy_of_sample(tmp_path)
    replace_in(folder / "ops.py", "AddNoRefreshOp", "Mul")
    return folder


def count_in(text: str) -> int:
    assert _WARNING in text, text
    return text.count("OPK0219")


@pytest.mark.case("A6")
def test_commands_that_only_load_a_spec_tell_its_warnings_and_succeed(project: Path) -> None:
    for arguments in (["generate"], ["generate", "--check"], ["check"], ["inspect"], ["check", "--quiet"]):
        assert count_in(opkit(arguments[0], project, *arguments[1:]).stderr) == 1


@pytest.mark.case("A6")
def test_machines_get_the_warnings_in_the_document(project: Path) -> None:
    opkit("generate", project)
    for arguments in (["generate"], ["generate", "--check"], ["check"], ["inspect"]):
        (warning,) = opkit_json(arguments[0], project, *arguments[1:])["warnings"]
        assert (warning["number"], warning["message"]) == ("OPK0219", "'Mul' is the type of a built-in op")
        assert warning["where"].startswith("ops.py:21   ")


@pytest.mark.case("A6")
def test_an_op_that_is_allowed_to_take_the_place_of_a_built_in_one_is_not_warned_of(project: Path) -> None:
    replace_in(project / "ops.py", 'type="Mul",', 'type="Mul", allow_builtin=True,')
    assert "warning" not in opkit("generate", project).stderr
    assert opkit_json("check", project)["warnings"] == []


def test_a_spec_with_a_mistake_too_exits_as_one_with_a_mistake(project: Path) -> None:
    replace_in(project / "ops.py", '["float32"]', '["float23"]')
    assert "'float23'" in opkit("check", project, exit_code=2).stderr


def test_a_new_project_with_a_built_in_op_s_type_is_made_with_a_warning(tmp_path: Path) -> None:
    done = opkit("new", "my_ops", "--op", "Add", cwd=tmp_path)
    assert done.stderr.count("warning[OPK0219]: 'Add' is the type of a built-in op") == 1
    assert (tmp_path / "my_ops" / "ge" / "my_ops.h").is_file()


@pytest.mark.parametrize(("op", "told"), [("Add", ["'Add' is the type of a built-in op"]), ("AddCustom", [])])
def test_machines_get_the_warnings_of_a_new_project_in_the_document(tmp_path: Path, op: str, told: list[str]) -> None:
    done = opkit("new", "my_ops", "--op", op, "--json", cwd=tmp_path)
    assert [warning["message"] for warning in json.loads(done.stdout)["warnings"]] == told


def test_a_project_with_questions_has_no_warnings_yet(tmp_path: Path) -> None:
    prototype = "REG_OP(Add).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Add)"
    (tmp_path / "ops.h").write_text(prototype, "utf-8")
    done = opkit("new", "my_ops", "--from", "ops.h", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["warnings"] == []


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit_home")
def test_an_op_that_only_warns_is_built_tested_and_measured(project: Path) -> None:
    """Each command tells it once, though a command that builds loads the spec twice; a warm build, which doesn't load it, tells nothing."""
    opkit("generate", project)
    for arguments in (["test"], ["bench", "--iters", "1", "--repeat", "1", "--shape", "x=8,8", "--shape", "y=8,8"]):
        done = opkit(arguments[0], project, *arguments[1:], "--json")
        assert count_in(done.stderr) == 1
        assert len(json.loads(done.stdout)["warnings"]) == 1
    warm = opkit("build", project, "--json")
    assert ("OPK0219" in warm.stderr, json.loads(warm.stdout)["warnings"]) == (False, [])
    with (project / "ops.py").open("a") as spec:
        spec.write("\n")
    changed = opkit("build", project, "--json")
    assert (count_in(changed.stderr), len(json.loads(changed.stdout)["warnings"])) == (1, 1)
