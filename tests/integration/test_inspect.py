"""`opkit inspect`: a spec as people and machines read it."""

from __future__ import annotations

from pathlib import Path

from command_support import SAMPLE, copy_of_sample, opkit, opkit_json, replace_in


def test_people_get_every_op_with_its_ports_and_its_arguments_on_stdout() -> None:
    done = opkit("inspect", SAMPLE)
    assert done.stderr == ""
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for line in (
        "package args_refresh_add_custom, header add_custom.h",
        "AddRefreshOp ops.py:12",
        "input x T: float32 [...]",
        "output z T: float32 [...]",
        "kernel kernels/add_custom.asc, entry add_custom, 32 bytes of arguments",
        '24 int64_t length = numel("x") 8 bytes',
        "refresh none, compile load",
    ):
        assert line in lines, done.stdout


def test_machines_get_one_document() -> None:
    document = opkit_json("inspect", SAMPLE)
    assert document["schema"] == 1
    assert [op["type"] for op in document["ops"]] == ["AddRefreshOp", "AddNoRefreshOp"]


def test_a_mistaken_spec_is_told_as_by_check(tmp_path: Path) -> None:
    project = copy_of_sample(tmp_path)
    replace_in(project / "ops.py", '["float32"]', '["float23"]')
    assert "'float23'" in opkit("inspect", project, exit_code=2).stderr
