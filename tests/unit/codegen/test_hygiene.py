"""What generating code must never do: keep a name that the spec doesn't say, read what isn't there, or touch what isn't its own."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from command_support import copy_of_sample

from opkit import resources
from opkit.cli import main
from opkit.codegen import render

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from opkit.spec import Package

COPY = """
op = Op("FusedMulAddNL2loss", inputs=[Input("x", "float32", shape="...")], outputs=[Output("z", "float32", shape="...")],
        {more}kernel=Kernel("kernels/k.asc", entry="scaled", args=["x", "z", numel("x"), "scale", "axis", "keep"], blocks=1),
        attrs=[Attr("scale", float, default=0.5), Attr("axis", {axis}), Attr("keep", bool, default=False)])
package = Package("my_ops", ops=[op])
"""


def _state(root: Path) -> dict[str, tuple[int, bytes]]:
    files = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


@pytest.mark.case("A1")
def test_of_an_op_with_a_file_stem_nothing_has_the_stem_of_its_type(package_of: Callable[..., Package]) -> None:
    package = package_of(COPY.format(more='file_stem="fused_mul_addn_l2loss", ', axis="int, default=1"))
    assert package.ops[0].stem == "fused_mul_addn_l2loss"
    for file in render(package):
        assert "fused_mul_add_nl2loss" not in file.path + file.text, file.path


@pytest.mark.case("B1")
@pytest.mark.parametrize("axis", ["int, default=1", "'type', default='int8'"])
def test_an_attr_is_read_by_the_width_of_its_type_and_its_absence_is_an_error(package_of: Callable[..., Package], axis: str) -> None:
    (code,) = (file.text for file in render(package_of(COPY.format(more="", axis=axis))) if file.path == "ge/custom_op.cpp")
    third = r"const int64_t \*const axis_attr = IntAttr" if "int," in axis else r"const ge::DataType \*const axis_attr = TypeAttr"
    for name, read in {"scale": r"const float \*const scale_attr = FloatAttr", "axis": third, "keep": "BoolAttr"}.items():
        assert re.search(rf"{read}\([^;]*;\n\s*if \({name}_attr == nullptr\) {{\n\s*return false;", code), name


@pytest.mark.parametrize("entry", ["fill", "_", "_1", "add_1", "_fill"])
def test_the_arguments_of_any_kernel_have_a_struct_that_no_op_hides(package_of: Callable[..., Package], entry: str) -> None:
    kernel = f'extern "C" __global__ __aicore__ void {entry}(GM_ADDR z, uint64_t n) {{}}\n'
    text = f'Op("OneCustom", inputs=[], outputs=[Output("z", "float32", shape="8")], kernel=Kernel("kernels/k.asc", entry="{entry}"'
    package = package_of(f'package = Package("my_ops", ops=[{text}, args=["z", numel("z")], blocks=1))])\n', kernel)
    (header,) = (file.text for file in render(package) if file.path == "ge/my_ops_kernel.h")
    (name,) = re.findall(r"^struct (\w+) {", header, re.MULTILINE)
    assert re.fullmatch(r"[A-Z]\w*", name)
    assert name not in {"Args", "FillArgs"}


def test_an_attr_and_a_dim_of_any_name_are_different_variables_of_a_shape_rule(package_of: Callable[..., Package]) -> None:
    text = (
        COPY.format(more="", axis="int, default=1")
        .replace('"axis"', '"dim_n"')
        .replace('"float32", shape="..."', '"float32", shape="n_attr"', 1)
    )
    package = package_of(text.replace('shape="..."', 'shape="n_attr dim_n"'))
    (rules,) = (file.text for file in render(package) if file.path == "ge/my_ops_rules.h")
    locals_ = re.findall(r"(?:int64_t|\*const|const RuledShape) (\w+)[ ({]", rules.split("static bool InferShapes")[1])
    assert len(locals_) == len(set(locals_)) == 3, rules


@pytest.mark.case("D4")
def test_a_template_that_fails_leaves_the_project_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = copy_of_sample(tmp_path)
    (project / "notes.txt").write_text("mine\n")
    (project / "ge" / "add_custom.h").unlink()
    shutil.copytree(resources.templates(), tmp_path / "templates")
    last = tmp_path / "templates" / "deliverable" / "session_run" / "report.h.j2"
    last.write_text(last.read_text() + "{{ no_such_name }}\n")
    monkeypatch.setattr(resources, "templates", lambda: tmp_path / "templates")
    before = _state(project)
    assert main(["generate", str(project)]) == 1
    assert _state(project) == before


@pytest.mark.case("D5")
def test_an_edited_kernel_stays_as_the_user_wrote_it(tmp_path: Path) -> None:
    project = copy_of_sample(tmp_path)
    kernel = project / "kernels" / "add_custom.asc"
    kernel.write_text(kernel.read_text() + "// mine\n")
    assert main(["generate", str(project)]) == 0
    before = _state(project)
    assert main(["generate", str(project)]) == 0
    assert _state(project) == before
    assert kernel.read_text().endswith("// mine\n")


@pytest.mark.case("D5")
def test_an_edited_generated_file_is_named_and_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = copy_of_sample(tmp_path)
    main(["generate", str(project)])
    header = project / "ge" / "add_custom.h"
    header.write_text(header.read_text().replace("REG_OP(AddRefreshOp)", "REG_OP(AddRefreshOp)  // mine"))
    (project / "ops.py").write_text((project / "ops.py").read_text().replace("AddNoRefreshOp", "AddOtherOp"))
    before = _state(project)
    capsys.readouterr()
    assert main(["generate", str(project)]) == 4
    assert "ge/add_custom.h" in capsys.readouterr().err
    assert _state(project) == before
