"""The ops.py of an import: Python that a person would write, with a question at each thing that the prototype doesn't say."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest
from import_support import header

from opkit.errors import SpecErrors
from opkit.spec import load_package
from opkit.spec.importers import SpecText, bring, spec_text
from opkit.spec.problems import Rule

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

SAMPLE = 'REG_OP({0}).INPUT(x, "T").INPUT(y, "T").OUTPUT(z, "T").DATATYPE(T, TensorType({{DT_FLOAT}})).OP_END_FACTORY_REG({0})'
MIXED = (
    'REG_OP(MatMulV9).INPUT(x1, "T").DYNAMIC_INPUT(parts, TensorType::BasicType()).OPTIONAL_INPUT(bias, "T").OUTPUT(y, "T")'
    ".OPTIONAL_INPUT(offset_w, TensorType({DT_INT8})).ATTR(names, ListString, kNames).ATTR(axes, ListInt, {0, -1})"
    ".DATATYPE(T, TensorType({DT_FLOAT, DT_FLOAT16})).OP_END_FACTORY_REG(MatMulV9)"
)


def _text(folder: Path, *ops: str) -> SpecText:
    (folder / "ops.h").write_text(header(*ops), encoding="utf-8")
    return spec_text(bring(folder / "ops.h"), "demo")


def test_what_a_person_gets_for_the_sample_s_header(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    assert _text(tmp_path, SAMPLE.format("AddRefreshOp"), SAMPLE.format("AddNoRefreshOp")).text == snapshot


def test_what_a_person_gets_where_kinds_mix_and_defaults_are_unknown(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    assert _text(tmp_path, MIXED).text == snapshot


@pytest.mark.parametrize("op", [SAMPLE.format("AddRefreshOp"), MIXED], ids=["plain", "mixed"])
def test_check_tells_the_questions_and_nothing_else(tmp_path: Path, op: str) -> None:
    spec = _text(tmp_path, op)
    (tmp_path / "ops.py").write_text(spec.text, encoding="utf-8")
    with pytest.raises(SpecErrors) as caught:
        load_package(tmp_path / "ops.py")
    assert {error.number for error in caught.value.errors} == {Rule.OPEN.number}
    told = [(int(re.findall(r"ops\.py:(\d+)", error.where or "")[0]), error.help) for error in caught.value.errors]
    assert told == [(question.line, question.text) for question in spec.questions]


def test_no_line_is_too_long_for_a_reader_and_the_file_is_python(tmp_path: Path) -> None:
    text = _text(tmp_path, SAMPLE.format("Add" + "Very" * 20), MIXED).text
    ast.parse(text)
    assert max(map(len, text.splitlines())) <= 140


@pytest.mark.parametrize("op_type", ["Attr", "Port", "Numel", "Kernel", "Package", "Lambda", "Print", "Min", "CeilDiv", "Op"])
def test_no_variable_hides_what_the_file_or_its_reader_needs(tmp_path: Path, op_type: str) -> None:
    text = _text(tmp_path, SAMPLE.format(op_type), SAMPLE.format("Kernel" if op_type != "Kernel" else "Other")).text
    import opkit

    assigned = [
        target.id
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    assert len(set(assigned)) == len(assigned)
    assert not set(assigned) & set(opkit.__all__)


def test_an_output_in_place_has_its_input_s_shape_without_a_question(tmp_path: Path) -> None:
    op = "REG_OP(ApplyD).INPUT(var, TensorType({DT_FLOAT})).OUTPUT(var, TensorType({DT_FLOAT})).OP_END_FACTORY_REG(ApplyD)"
    spec = _text(tmp_path, op)
    assert 'Input("var", "float32", shape="*var")' in spec.text
    assert 'outputs=[Output("var", "float32")]' in spec.text
    assert not [question for question in spec.questions if "shape" in question.text]


def test_a_list_in_place_is_asked_for_its_shape_on_both_sides(tmp_path: Path) -> None:
    op = "REG_OP(MemSetX).DYNAMIC_INPUT(x, TensorType({DT_INT8})).DYNAMIC_OUTPUT(x, TensorType({DT_INT8})).OP_END_FACTORY_REG(MemSetX)"
    assert [question.text for question in _text(tmp_path, op).questions if "shape" in question.text] == [
        'which shape has x, the same as its input: e.g. shape="*x" on both?'
    ]


@pytest.mark.parametrize(
    ("ports", "symbols", "told"),
    [
        ('.INPUT(x, "T").OUTPUT(y, "T")', ".DATATYPE(T, TensorType({DT_FLOAT, DT_INT8}))", None),
        ('.INPUT(x, "T").INPUT(i, TensorType({DT_INT32}))', ".DATATYPE(T, TensorType({DT_FLOAT, DT_INT8}))", None),
        (
            '.INPUT(x, "T").INPUT(i, "I")',
            ".DATATYPE(T, TensorType({DT_FLOAT, DT_INT8})).DATATYPE(I, TensorType({DT_INT32, DT_INT64}))",
            'dtype_mode="product"',
        ),
        (".INPUT(x, TensorType({DT_FLOAT, DT_INT8})).OUTPUT(y, TensorType({DT_FLOAT, DT_INT8}))", "", "pair column by column"),
        (".INPUT(x, TensorType({DT_FLOAT, DT_INT8})).OUTPUT(y, TensorType({DT_INT32, DT_INT64}))", "", "dtype_mode=..."),
        ('.INPUT(x, "T").INPUT(y, "U")', ".DATATYPE(T, TensorType::ALL()).DATATYPE(U, TensorType::ALL())", 'dtype_mode="product"'),
        (
            '.INPUT(x, "T").INPUT(y, "U").INPUT(z, "V")',
            ".DATATYPE(T, TensorType::ALL()).DATATYPE(U, TensorType::ALL()).DATATYPE(V, TensorType::ALL())",
            "dtype_mode=...",
        ),
    ],
    ids=["one symbol", "one list that varies", "two symbols", "equal lists", "other lists", "many", "too many"],
)
def test_which_dtypes_go_together_is_said_as_far_as_the_prototype_says_it(
    tmp_path: Path, ports: str, symbols: str, told: str | None
) -> None:
    text = _text(tmp_path, f"REG_OP(Foo){ports}{symbols}.OP_END_FACTORY_REG(Foo)").text
    if told is None:
        assert "dtype_mode" not in text
        assert "pair column" not in text
    else:
        assert told in text


def test_the_name_of_the_file_can_t_break_out_of_the_docstring(tmp_path: Path) -> None:
    file = tmp_path / 'a"""\nimport os\\.h'
    file.write_text(header(SAMPLE.format("AddOne")))
    text = spec_text(bring(file), "demo").text
    assert ast.get_docstring(ast.parse(text)) is not None
    assert "import os" not in text.replace("\\nimport os", "")


def test_an_op_that_ge_has_too_may_keep_its_type(tmp_path: Path) -> None:
    assert "allow_builtin=True" in _text(tmp_path, SAMPLE.format("Conv2D")).text
    assert "allow_builtin" not in _text(tmp_path, SAMPLE.format("Conv2DCustom")).text
