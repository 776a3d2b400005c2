"""The stem rule and the words that a name can't be."""

from __future__ import annotations

import inspect
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_support import SpecFolder, add_spec

from opkit.spec import stem_of

TABLE = {
    "AddRefreshOp": "add_refresh_op",
    "ADD": "add",
    "A": "a",
    "RMSNorm": "rms_norm",
    "Im2col": "im2col",
    "LayerNormV3GradV2": "layer_norm_v3_grad_v2",
    "GroupedMatmulSwigluQuantWeightNZ": "grouped_matmul_swiglu_quant_weight_nz",
    "Conv2D": "conv2_d",
    "ABCDef": "abc_def",
    "ABC2dEF": "abc2d_ef",
    "Abc2DEf": "abc2_d_ef",
    "Abc2DEF": "abc2_def",
    "TopKPQDistance": "top_kpq_distance",
    "FusedMulAddNL2loss": "fused_mul_add_nl2loss",
}
OP_TYPES = st.from_regex(r"[A-Z][A-Za-z0-9]{0,30}", fullmatch=True)


@pytest.mark.parametrize(("op_type", "stem"), TABLE.items())
def test_the_stem_of_known_op_types(op_type: str, stem: str) -> None:
    assert stem_of(op_type) == stem


def test_the_documented_table_is_what_the_rule_gives() -> None:
    rows = re.findall(r"^\s*\| (\w+) \| (\w+) \|$", inspect.getdoc(stem_of) or "", re.MULTILINE)[1:]

    assert len(rows) >= 10
    assert [(op_type, stem_of(op_type)) for op_type, _ in rows] == rows


@given(OP_TYPES)
def test_a_stem_is_a_lower_case_identifier_without_empty_words(op_type: str) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", stem_of(op_type))


@given(OP_TYPES)
def test_a_stem_keeps_every_letter_and_digit_in_order(op_type: str) -> None:
    assert stem_of(op_type).replace("_", "") == op_type.lower()


@given(st.lists(st.from_regex(r"[A-Z][a-z]{1,8}", fullmatch=True), min_size=1, max_size=6))
def test_plain_words_are_joined_by_underscores(words: list[str]) -> None:
    assert stem_of("".join(words)) == "_".join(words).lower()


@pytest.mark.parametrize(
    "op_type", ["add_custom", "2Add", "Add-Custom", "../Evil", "Add Custom", "Ädd", "", "A" * 2000, "my.op/add", "Add\n"]
)
def test_an_op_type_that_is_no_upper_camel_name_is_refused(folder: SpecFolder, op_type: str) -> None:
    error = folder.add_mistake(type=repr(op_type))

    assert error.number == "OPK0210"
    assert "can't be an op type" in error.message
    assert error.because is not None
    assert "[A-Z][A-Za-z0-9]*" in error.because
    assert len(error.message) < 200


@pytest.mark.parametrize(("op_type", "advice"), [("add_custom", "AddCustom"), ("Add-Custom", "AddCustom"), ("my.op/add", "MyOpAdd")])
def test_a_bad_op_type_comes_with_one_that_would_do(folder: SpecFolder, op_type: str, advice: str) -> None:
    assert folder.add_mistake(type=repr(op_type)).help == f"{advice!r} would do"


@pytest.mark.parametrize(
    ("op_type", "because"),
    [
        ("Data", "GE makes its graphs with an op of this name"),
        ("Tensor", "GE has a C++ class of this name"),
        ("RefreshedOp", "the generated C++ has a class of this name"),
        ("NAN", "it is a C++ macro"),
    ],
)
def test_an_op_type_that_somebody_has_is_refused(folder: SpecFolder, op_type: str, because: str) -> None:
    error = folder.add_mistake(type=repr(op_type))

    assert (error.number, error.because, error.help) == ("OPK0210", because, f"'{op_type}Custom' would do")


def test_a_built_in_op_s_type_is_refused_unless_it_is_meant(folder: SpecFolder) -> None:
    error = folder.add_mistake(type='"Add"')

    assert (error.number, error.because) == ("OPK0210", "GE has a built-in op of this name")
    assert error.help == "'AddCustom' would do; allow_builtin=True if it is meant to take the place of that one"
    assert folder.add_op(type='"Add"', allow_builtin="True").type == "Add"


def test_no_op_takes_the_place_of_what_ge_makes_its_graphs_with(folder: SpecFolder) -> None:
    assert folder.add_mistake(type='"Data"', allow_builtin="True").because == "GE makes its graphs with an op of this name"


def test_allow_builtin_is_a_bool(folder: SpecFolder) -> None:
    error = folder.add_mistake(allow_builtin='"yes"')

    assert (error.number, error.message) == ("OPK0208", "allow_builtin of Op is 'yes', not True or False")


def test_a_file_stem_stands_in_place_of_the_type_s(folder: SpecFolder) -> None:
    assert folder.add_op(type='"TopKPQDistance"').stem == "top_kpq_distance"
    assert folder.add_op(type='"TopKPQDistance"', file_stem='"top_k_pq_distance"').stem == "top_k_pq_distance"


@pytest.mark.parametrize("stem", ["AddCustom", "2add", "add-custom", "../add", "", "a" * 101, "add\n"])
def test_a_file_stem_that_is_no_plain_name_is_refused(folder: SpecFolder, stem: str) -> None:
    error = folder.add_mistake(file_stem=repr(stem))

    assert (error.number, error.because) == ("OPK0218", "it must match [a-z][a-z0-9_]* and have at most 100 characters")


@pytest.mark.parametrize(
    "others",
    [
        'op.replace(type="AddCustoM", file_stem="add_custom")',
        'op.replace(type="Other", file_stem="add_custom")',
        'op.replace(type="ADDCustom")',
    ],
)
def test_two_ops_with_one_file_stem_are_both_named(folder: SpecFolder, others: str) -> None:
    error = folder.mistake(add_spec().replace("ops=[op]", f"ops=[op, {others}]"))

    assert error.number == "OPK0218"
    assert re.fullmatch(r"the ops 'AddCustom' and '\w+' have one file stem, 'add_custom'", error.message)
    assert error.because == "the other one is ops.py:3"
    assert error.help == 'give one of them another: file_stem="add_custom_2"'


def test_another_file_stem_keeps_two_ops_apart(folder: SpecFolder) -> None:
    package = folder.load(add_spec().replace("ops=[op]", 'ops=[op, op.replace(type="ADDCustom", file_stem="add_custom_2")]'))

    assert [op.stem for op in package.ops] == ["add_custom", "add_custom_2"]


@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("int", "a C++ keyword"),
        ("and", "a C++ keyword"),
        ("lambda", "a Python keyword"),
        ("errno", "a C++ macro"),
        ("GM_ADDR", "a C++ macro"),
        ("2x", "it must match"),
        ("_x", "it must match"),
        ("a__b", "double underscore"),
        ("x y", "it must match"),
        ("größe", "it must match"),
        ("", "it must match"),
    ],
)
def test_a_port_name_that_cpp_or_python_owns_is_refused(folder: SpecFolder, name: str, because: str) -> None:
    ports = f'[Input({name!r}, "T", shape="..."), Input("y", "T", shape="...")]'
    error = folder.add_mistake(inputs=ports, launch={"args": f'[port({name!r}), "y", "z", numel("y")]', "blocks": "1"})

    assert error.number == "OPK0211"
    assert error.message == f"{name!r} can't name an input"
    assert because in (error.because or "")


@pytest.mark.parametrize(
    "name", ["My Pkg", "my-pkg", "2pkg", "Pkg", "", "p" * 101, "../up", "päckchen", "class", "all", "types", "opkit", "a/b"]
)
def test_a_package_name_that_is_no_cmake_target_and_python_module_is_refused(folder: SpecFolder, name: str) -> None:
    error = folder.mistake(add_spec().replace('"my_ops"', repr(name)))

    assert error.number == "OPK0209"
    assert error.because


def test_a_bad_package_name_comes_with_one_that_would_do(folder: SpecFolder) -> None:
    assert folder.mistake(add_spec().replace('"my_ops"', '"My Pkg-2"')).help == "'my_pkg_2' would do"


@pytest.mark.parametrize("header", ["../x.h", "x", "x.hpp", ".h", "a b.h", "dir/x.h", "", "-x.h"])
def test_a_header_that_is_no_plain_file_name_is_refused(folder: SpecFolder, header: str) -> None:
    error = folder.mistake(add_spec().replace("ops=[op]", f"ops=[op], header={header!r}"))

    assert error.number == "OPK0214"


def test_without_a_header_name_the_package_gives_it(folder: SpecFolder) -> None:
    package = folder.add()

    assert (package.header, package.stem) == ("my_ops.h", "my_ops")
