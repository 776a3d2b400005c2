"""A prototype that is brought along is the same prototype: rendered from the imported spec, its REG_OP is the text that was read."""

from __future__ import annotations

from pathlib import Path

import pytest
from import_support import answered, header, reg_op

from opkit.codegen import render
from opkit.spec import AttrType, Package, load_package
from opkit.spec.importers import bring

ROOT = Path(__file__).resolve().parents[4]

EVERY_CLAUSE = {
    "symbols": (
        'REG_OP(AddRefreshOp).INPUT(x, "T").INPUT(y, "T").OUTPUT(z, "T").DATATYPE(T, TensorType({DT_FLOAT, DT_BF16}))'
        ".OP_END_FACTORY_REG(AddRefreshOp)"
    ),
    "dtypes of one's own": (
        "REG_OP(WhereLike).INPUT(x, TensorType({DT_BOOL})).OUTPUT(y, TensorType({DT_INT64})).OP_END_FACTORY_REG(WhereLike)"
    ),
    "lists that pair": (
        "REG_OP(Pair).INPUT(x, TensorType({DT_FLOAT, DT_INT8})).OUTPUT(y, TensorType({DT_FLOAT, DT_INT8})).OP_END_FACTORY_REG(Pair)"
    ),
    "lists that are crossed": (
        "REG_OP(Cross).INPUT(x, TensorType({DT_FLOAT, DT_INT8, DT_BOOL})).INPUT(i, TensorType({DT_INT32, DT_INT64}))"
        ".OUTPUT(y, TensorType({DT_FLOAT})).OP_END_FACTORY_REG(Cross)"
    ),
    "symbols that are crossed": (
        'REG_OP(Slice).INPUT(x, "T").INPUT(begin, "I").OUTPUT(y, "T").DATATYPE(T, TensorType({DT_FLOAT, DT_INT8, DT_BOOL}))'
        ".DATATYPE(I, TensorType({DT_INT32, DT_INT64})).OP_END_FACTORY_REG(Slice)"
    ),
    "promotion": (
        'REG_OP(AxpyV2).INPUT(x1, "T1").INPUT(x2, "T2").OUTPUT(y, "T3").DATATYPE(T1, TensorType({DT_FLOAT, DT_FLOAT16}))'
        '.DATATYPE(T2, TensorType({DT_FLOAT16, DT_INT32})).DATATYPE(T3, Promote({"T1", "T2"})).OP_END_FACTORY_REG(AxpyV2)'
    ),
    "optional": (
        'REG_OP(Norm).INPUT(x, "T").OPTIONAL_INPUT(bias, "T").OPTIONAL_INPUT(scale, TensorType({DT_FLOAT})).OUTPUT(y, "T")'
        ".OUTPUT(mean, TensorType({DT_FLOAT})).DATATYPE(T, TensorType({DT_FLOAT16})).OP_END_FACTORY_REG(Norm)"
    ),
    "dynamic": (
        'REG_OP(Unpack).INPUT(axis, TensorType({DT_INT32})).DYNAMIC_INPUT(x, "T").DYNAMIC_OUTPUT(y, "T").ATTR(N, Int, 1)'
        ".DATATYPE(T, TensorType({DT_FLOAT16})).OP_END_FACTORY_REG(Unpack)"
    ),
    "in place": (
        "REG_OP(ApplyAdam).INPUT(var, TensorType({DT_FLOAT})).INPUT(m, TensorType({DT_FLOAT})).INPUT(grad, TensorType({DT_FLOAT}))"
        ".OUTPUT(var, TensorType({DT_FLOAT})).OUTPUT(m, TensorType({DT_FLOAT})).OP_END_FACTORY_REG(ApplyAdam)"
    ),
    "an order that mixes kinds": (
        'REG_OP(MatMulV9).INPUT(x1, "T").INPUT(x2, "T").OPTIONAL_INPUT(bias, "T").ATTR(begin_mask, Int, 0).OUTPUT(y, "T")'
        ".OPTIONAL_INPUT(offset_w, TensorType({DT_INT8})).REQUIRED_ATTR(transpose, Bool).DATATYPE(T, TensorType({DT_FLOAT}))"
        ".OP_END_FACTORY_REG(MatMulV9)"
    ),
    "no ports": "REG_OP(MemSetCustom).REQUIRED_ATTR(sizes, ListInt).OP_END_FACTORY_REG(MemSetCustom)",
    "defaults": (
        "REG_OP(Defaults).INPUT(x, TensorType({DT_FLOAT})).OUTPUT(y, TensorType({DT_FLOAT})).ATTR(i, Int, -3).ATTR(f, Float, 1e-05f)"
        '.ATTR(b, Bool, false).ATTR(s, String, "a\\"b\\\\n").ATTR(t, Type, DT_BF16).ATTR(te, Tensor, Tensor()).ATTR(by, Bytes, {1, 255})'
        ".ATTR(li, ListInt, {1, -2}).ATTR(no, ListInt, {}).ATTR(lf, ListFloat, {0.5f, 2.0f}).ATTR(lb, ListBool, {true, false})"
        '.ATTR(ls, ListString, {"x, y", ""}).ATTR(lt, ListType, {DT_FLOAT, DT_INT8}).ATTR(lte, ListTensor, {})'
        ".ATTR(lli, ListListInt, {{1, 2}, {}}).OP_END_FACTORY_REG(Defaults)"
    ),
    "required attrs": (
        "REG_OP(Required).INPUT(x, TensorType({DT_FLOAT})).OUTPUT(y, TensorType({DT_FLOAT}))"
        + "".join(f".REQUIRED_ATTR(a{index}, {word})" for index, word in enumerate(kind.ge_name for kind in AttrType))
        + ".OP_END_FACTORY_REG(Required)"
    ),
}


def _rendered_header(package: Package) -> str:
    return next(file.text for file in render(package) if file.path == f"ge/{package.header}")


@pytest.mark.parametrize("text", EVERY_CLAUSE.values(), ids=EVERY_CLAUSE)
def test_every_clause_comes_back_as_it_was_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "ops.h").write_text(header(text), encoding="utf-8")
    assert reg_op(answered(bring(tmp_path / "ops.h"), tmp_path / "project")) == [text]


def test_many_ops_of_one_header_come_back_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "ops.h").write_text(header(*EVERY_CLAUSE.values()), encoding="utf-8")
    assert reg_op(answered(bring(tmp_path / "ops.h"), tmp_path / "project")) == list(EVERY_CLAUSE.values())


def test_the_header_that_opkit_renders_of_the_sample_is_read_into_the_same_header(tmp_path: Path) -> None:
    package = load_package(ROOT / "samples" / "args_refresh_add_custom" / "ops.py")
    (tmp_path / package.header).write_text(_rendered_header(package))
    again = answered(bring(tmp_path / package.header), tmp_path / "project")
    assert again.header == package.header
    assert reg_op(again) == reg_op(package)
