"""`opkit new --from`: a project out of an operator that exists already, and what is left to answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_support import SAMPLE, opkit, opkit_json, replace_in

HEADER = """\
#include "graph/operator_reg.h"
namespace ge {
REG_OP(AddRefreshOp)
    .INPUT(x, "T")
    .INPUT(y, "T")
    .OUTPUT(z, "T")
    .DATATYPE(T, TensorType({DT_FLOAT}))
    .OP_END_FACTORY_REG(AddRefreshOp);
}
"""
CLASS = "namespace ge {\nclass AddRefreshOp : public EagerExecuteOp, public ArgsUpdater, public ShapeInferOp { };\n}\n"
JSON = [
    {
        "op": "AddCustom",
        "input_desc": [{"name": name, "param_type": "required", "format": ["ND"], "type": ["fp16"]} for name in "xy"],
        "output_desc": [{"name": "z", "param_type": "required", "format": ["ND"], "type": ["fp16"]}],
    }
]


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def by_hand(tmp_path: Path) -> Path:
    """A folder such as the genuine samples, with the kernel of ours."""
    folder = tmp_path / "by hand"
    (folder / "ge").mkdir(parents=True)
    (folder / "ge" / "add_custom.h").write_text(HEADER)
    (folder / "ge" / "custom_op.cpp").write_text(CLASS)
    (folder / "add_custom_kernel").mkdir()
    kernel = (SAMPLE / "kernels" / "add_custom.asc").read_text()
    (folder / "add_custom_kernel" / "add_custom.asc").write_text(kernel)
    return folder


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_a_folder_becomes_a_project_whose_questions_are_told_by_the_command_and_by_check(by_hand: Path, workplace: Path) -> None:
    document = opkit_json("new", "mine", "--from", by_hand, cwd=workplace)
    project = workplace / "mine"
    assert (document["ops"], document["mistakes"]) == (["AddRefreshOp"], [])
    assert set(document["files"]) == files_of(project)
    assert {"ops.py", "kernels/add_custom.asc", "README.md", "pyproject.toml", ".gitignore", "tests/test_ops.py"} == files_of(project)
    errors = opkit_json("check", project, exit_code=2)["error"]["errors"]
    asked = [(f"ops.py:{question['line']}", question["question"]) for question in document["questions"]]
    assert [(error["where"].split()[0], error["help"]) for error in errors] == asked
    assert [path.name for path in workplace.iterdir()] == ["mine"]


def test_people_get_the_questions_with_their_lines(by_hand: Path, workplace: Path) -> None:
    done = opkit("new", "mine", "--from", by_hand, cwd=workplace)
    assert done.stdout == ""
    ops_py = (workplace / "mine" / "ops.py").read_text().splitlines()
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip().startswith("ops.py:")]
    assert lines
    for line in lines:
        assert "..." in ops_py[int(line.split(":")[1]) - 1]


def test_with_the_questions_answered_it_has_the_same_prototype(by_hand: Path, workplace: Path) -> None:
    opkit("new", "mine", "--from", by_hand, cwd=workplace)
    ops_py = workplace / "mine" / "ops.py"
    replace_in(ops_py, 'Input("x", "T"), Input("y", "T")', 'Input("x", "T", shape="..."), Input("y", "T", shape="...")')
    replace_in(ops_py, "shape=...", 'shape="..."')
    replace_in(ops_py, "        ...,", '        numel("x"),')
    replace_in(ops_py, "blocks=...", 'blocks=ceil_div(numel("x"), 1024), strides=True')
    replace_in(ops_py, "reference=...", "reference=lambda x, y: x + y")
    opkit("generate", workplace / "mine")
    opkit("check", workplace / "mine")
    header = (workplace / "mine" / "ge" / "add_custom.h").read_text()
    chain = HEADER.partition("REG_OP")[2].partition(";")[0]
    assert "".join(f"REG_OP{chain}".split()) in "".join(header.split())
    assert opkit_json("inspect", workplace / "mine")["ops"][0]["refresh"] == "updater"


def test_a_header_alone_and_a_json_ask_for_the_kernel(by_hand: Path, workplace: Path) -> None:
    (workplace / "add.json").write_text(json.dumps(JSON))
    for name, source, op_type in (
        ("one", by_hand / "ge" / "add_custom.h", "AddRefreshOp"),
        ("two", workplace / "add.json", "AddCustom"),
    ):
        document = opkit_json("new", name, "--from", source, "--author", "Ada", cwd=workplace)
        assert document["ops"] == [op_type]
        assert any("which file has the kernel" in question["question"] for question in document["questions"])
        assert not (workplace / name / "kernels").exists()
        assert "Ada" in (workplace / name / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("REG_OP(AddCustom)\n.INPUT(x, TensorType({DT_FLAOT}))\n.OP_END_FACTORY_REG(AddCustom)", ["error[OPK0296]", "ops.h:2", "DT_FLOAT"]),
        ("REG_OP(While)\n.GRAPH(body)\n.OP_END_FACTORY_REG(While)", ["error[OPK0274]", "ops.h:2"]),
        ("int x;", ["error[OPK0296]", "no REG_OP"]),
        # What GE's registration and generated C++ can't have, found by the rules of a spec, is told at the header's line.
        ("REG_OP(Ok)\n.INPUT(class, TensorType({DT_FLOAT}))\n.OP_END_FACTORY_REG(Ok)", ["ops.h:2", "'class'", "C++ keyword"]),
        ("REG_OP(not_camel)\n.OP_END_FACTORY_REG(not_camel)", ["ops.h:1", "'not_camel' can't be an op type"]),
        ("REG_OP(Ok)\n.INPUT(x, TensorType({DT_FLOAT}))\n.INPUT(x, TensorType({DT_FLOAT}))\n.OP_END_FACTORY_REG(Ok)", ["ops.h:3", "'x'"]),
    ],
    ids=["no dtype", "subgraph", "no op", "a keyword", "an op type", "a port twice"],
)
def test_a_bad_file_is_one_error_with_its_line_and_leaves_nothing(workplace: Path, text: str, words: list[str]) -> None:
    (workplace / "ops.h").write_text(text)
    done = opkit("new", "mine", "--from", "ops.h", cwd=workplace, exit_code=2)
    assert done.stderr.count("error[") == 1
    assert all(word in done.stderr for word in words), done.stderr
    assert [path.name for path in workplace.iterdir()] == ["ops.h"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mine", "--from", "nope.h"], ["there is no file nope.h"]),
        (["mine", "--from", "ops.h", "--op", "Foo"], ["--op can't be given with --from"]),
        (["mine", "--from", "ops.h", "--dtype", "int8"], ["--dtype can't be given with --from"]),
        (["mine", "--from", "ops.h", "--kernel", "add_custom"], ["--kernel can't be given with --from"]),
        (["Mine", "--from", "ops.h"], ["'Mine' is no package name"]),
        (["class", "--from", "ops.h"], ["--> NAME class", "C++ keyword"]),
    ],
)
def test_a_command_that_can_t_be_is_refused_with_nothing_written(workplace: Path, arguments: list[str], words: list[str]) -> None:
    (workplace / "ops.h").write_text(HEADER)
    done = opkit("new", *arguments, cwd=workplace, exit_code=2)
    assert all(word in done.stderr for word in words), done.stderr
    assert [path.name for path in workplace.iterdir()] == ["ops.h"]


@pytest.mark.parametrize("option", ["--from", "--dir"])
def test_an_empty_path_isn_t_the_current_folder(workplace: Path, option: str) -> None:
    (workplace / "ops.h").write_text(HEADER)
    done = opkit("new", "mine", option, "", cwd=workplace, exit_code=2)
    assert f"{option} is empty" in done.stderr
    assert [path.name for path in workplace.iterdir()] == ["ops.h"]


@pytest.mark.parametrize(("option", "exit_code", "words"), [("--from", 2, "can't be read"), ("--dir", 3, "cannot write")])
def test_a_path_that_is_too_long_is_one_error(workplace: Path, option: str, exit_code: int, words: str) -> None:
    (workplace / "ops.h").write_text(HEADER)
    more = ["--from", "ops.h"] if option == "--dir" else []
    done = opkit("new", "mine", *more, option, "x" * 5000, cwd=workplace, exit_code=exit_code)
    assert words in done.stderr
    assert done.stderr.count("error[") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("folder", ["d5/d6/d7", "d5/d6/" + "x" * 300])
def test_what_fails_leaves_no_folder_above_the_project(workplace: Path, folder: str) -> None:
    (workplace / "bad.h").write_text("REG_OP(not_camel)\n.OP_END_FACTORY_REG(not_camel)")
    (workplace / "d5").mkdir()
    opkit("new", "mine", "--from", "bad.h", "--dir", folder, cwd=workplace, exit_code=2)
    assert sorted(path.relative_to(workplace).as_posix() for path in workplace.rglob("*")) == ["bad.h", "d5"]


def test_clauses_under_a_condition_are_taken_with_a_warning(workplace: Path) -> None:
    (workplace / "ops.h").write_text(HEADER.replace('    .INPUT(y, "T")\n', '#ifdef TWO\n    .INPUT(y, "T")\n#endif\n'))
    document = opkit_json("new", "mine", "--from", "ops.h", cwd=workplace)
    assert document["conditions"] == [{"op": "AddRefreshOp", "where": "ops.h:5   #ifdef TWO"}]
    done = opkit("new", "again", "--from", "ops.h", cwd=workplace)
    assert "warning: clauses of AddRefreshOp are under a condition, and all are taken (ops.h:5   #ifdef TWO)" in done.stderr


def test_a_folder_that_holds_something_is_left_as_it_is(workplace: Path) -> None:
    (workplace / "ops.h").write_text(HEADER)
    (workplace / "mine").mkdir()
    (workplace / "mine" / "notes.txt").write_text("mine")
    assert "error[OPK0102]" in opkit("new", "mine", "--from", "ops.h", cwd=workplace, exit_code=2).stderr
    assert files_of(workplace / "mine") == {"notes.txt"}


def test_a_kernel_that_can_t_be_launched_as_it_is_is_told_beside_the_questions(by_hand: Path, workplace: Path) -> None:
    replace_in(by_hand / "add_custom_kernel" / "add_custom.asc", "GM_ADDR z, int64_t length) {", "GM_ADDR z, Elsewhere length) {")
    document = opkit_json("new", "mine", "--from", by_hand, cwd=workplace)
    assert [mistake["number"] for mistake in document["mistakes"]] == ["OPK0252"]
    done = subprocess.run(
        [sys.executable, "-m", "opkit", "new", "again", "--from", by_hand], cwd=workplace, capture_output=True, text=True, check=True
    )
    assert "warning: 'add_custom' has a parameter of a type that opkit can't pass" in done.stderr
