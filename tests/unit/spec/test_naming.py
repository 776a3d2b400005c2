"""The stem rule and the words that a name can't be."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_support import SpecFolder, add_spec

from opkit.spec import Naming, stem_of
from opkit.spec.built_in_ops import BUILT_IN_OPS
from opkit.spec.reserved import is_built_in, why_no_op_type

# By msopgen's rule and by that of CANN's documents.
TABLE = [
    ("AddRefreshOp", "add_refresh_op", "add_refresh_op"),
    ("ADD", "add", "add"),
    ("A", "a", "a"),
    ("RMSNorm", "rms_norm", "rms_norm"),
    ("Im2col", "im2col", "im2col"),
    ("LayerNormV3GradV2", "layer_norm_v3_grad_v2", "layer_norm_v3_grad_v2"),
    ("GroupedMatmulSwigluQuantWeightNZ", "grouped_matmul_swiglu_quant_weight_nz", "grouped_matmul_swiglu_quant_weight_nz"),
    ("Conv2D", "conv2_d", "conv2d"),
    ("Conv2DBackpropInput", "conv2_d_backprop_input", "conv2d_backprop_input"),
    ("ABCDef", "abc_def", "abc_def"),
    ("ABC2dEF", "abc2d_ef", "abc2d_ef"),
    ("Abc2DEf", "abc2_d_ef", "abc2d_ef"),
    ("Abc2DEF", "abc2_def", "abc2def"),
    ("TopKPQDistance", "top_kpq_distance", "top_kpq_distance"),
    ("FusedMulAddNL2loss", "fused_mul_add_nl2loss", "fused_mul_add_nl2loss"),
]
OP_TYPES = st.from_regex(r"[A-Z][A-Za-z0-9]{0,30}", fullmatch=True)
RULES = st.sampled_from(Naming)


@pytest.mark.case("A2")
@pytest.mark.parametrize(("op_type", "msopgen", "cann"), TABLE)
def test_the_stems_of_known_op_types(op_type: str, msopgen: str, cann: str) -> None:
    assert stem_of(op_type) == msopgen
    assert {naming: stem_of(op_type, naming) for naming in Naming} == {Naming.MSOPGEN: msopgen, Naming.CANN: cann}


@given(OP_TYPES, RULES)
def test_a_stem_is_a_lower_case_identifier_without_empty_words(op_type: str, naming: Naming) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", stem_of(op_type, naming))


@given(OP_TYPES, RULES)
def test_a_stem_keeps_every_letter_and_digit_in_order(op_type: str, naming: Naming) -> None:
    assert stem_of(op_type, naming).replace("_", "") == op_type.lower()


@given(st.lists(st.from_regex(r"[A-Z][a-z]{1,8}", fullmatch=True), min_size=1, max_size=6), RULES)
def test_plain_words_are_joined_by_underscores(words: list[str], naming: Naming) -> None:
    assert stem_of("".join(words), naming) == "_".join(words).lower()


@given(st.from_regex(r"[A-Z][A-Za-z]{0,30}", fullmatch=True))
def test_the_rules_differ_for_types_with_digits_only(op_type: str) -> None:
    assert len({stem_of(op_type, naming) for naming in Naming}) == 1


@pytest.mark.parametrize(
    ("naming", "stem"), [("", "conv2_d_custom"), ('naming="msopgen"', "conv2_d_custom"), ('naming="cann"', "conv2d_custom")]
)
def test_a_package_says_by_which_rule_its_stems_are_made(folder: SpecFolder, naming: str, stem: str) -> None:
    package = folder.load(add_spec(type='"Conv2DCustom"').replace("ops=[op]", f"ops=[op], {naming}"))

    assert package.ops[0].stem == stem


def test_a_file_stem_counts_whatever_the_rule(folder: SpecFolder) -> None:
    package = folder.load(add_spec(type='"Conv2DCustom"', file_stem='"conv"').replace("ops=[op]", 'ops=[op], naming="cann"'))

    assert package.ops[0].stem == "conv"


def test_stems_that_collide_by_the_rule_of_the_package_are_refused(folder: SpecFolder) -> None:
    text = add_spec(type='"Conv2D1"').replace("ops=[op]", 'ops=[op, op.replace(type="Conv2d1")]')

    assert [op.stem for op in folder.load(text).ops] == ["conv2_d1", "conv2d1"]
    error = folder.mistake(text.replace('replace(type="Conv2d1")]', 'replace(type="Conv2d1")], naming="cann"'))
    assert error.message == "the ops 'Conv2D1' and 'Conv2d1' have one file stem, 'conv2d1'"


@pytest.mark.parametrize(
    ("naming", "advice"),
    [('"msopgn"', "did you mean 'msopgen'?"), ('"tbe"', "naming is 'msopgen' or 'cann'"), ("1", "naming is 'msopgen' or 'cann'")],
)
def test_an_unknown_rule_for_stems_is_refused(folder: SpecFolder, naming: str, advice: str) -> None:
    error = folder.mistake(add_spec().replace("ops=[op]", f"ops=[op], naming={naming}"))

    assert (error.number, error.help) == ("OPK0218", advice)
    assert error.message.endswith("is no rule for file stems")


@pytest.mark.case("A4")
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
        ("AddressRefresh", "the generated C++ has a class of this name"),
        ("NAN", "it is a C++ macro"),
    ],
)
def test_an_op_type_that_somebody_has_is_refused(folder: SpecFolder, op_type: str, because: str) -> None:
    error = folder.add_mistake(type=repr(op_type))

    assert (error.number, error.because, error.help) == ("OPK0210", because, f"'{op_type}Custom' would do")


@pytest.mark.case("A6")
@pytest.mark.parametrize("op_type", ["Add", "Mul", "Conv2D", "MatMul", "Cast", "LayerNormV3", "TransData", "Softmax", "ConcatV2"])
def test_a_built_in_op_s_type_comes_with_a_warning_that_names_it(folder: SpecFolder, op_type: str) -> None:
    package = folder.add(type=repr(op_type))

    assert [op.type for op in package.ops] == [op_type]
    (warning,) = package.warnings
    assert (warning.number, warning.message) == ("OPK0219", f"'{op_type}' is the type of a built-in op")
    assert warning.where.startswith("ops.py:3   ")
    assert warning.help == f"'{op_type}Custom' would do; allow_builtin=True if it is meant to take the place of that one"


@pytest.mark.case("A6")
@pytest.mark.parametrize(("op_type", "allow_builtin"), [('"Add"', "True"), ('"AddCustom"', "False")])
def test_a_built_in_op_s_type_that_is_meant_comes_with_no_warning(folder: SpecFolder, op_type: str, allow_builtin: str) -> None:
    assert folder.add(type=op_type, allow_builtin=allow_builtin).warnings == ()


def test_a_copy_repeats_no_warning_and_each_op_has_its_own(folder: SpecFolder) -> None:
    others = 'op.replace(refresh="none", type="Mul"), op.replace(type="Sub", allow_builtin=True), op.replace(type="Relu")'
    package = folder.load(add_spec(type='"Add"').replace("ops=[op]", f"ops=[\n  op,\n  {others}]"))

    assert [re.findall(r"'\w+'", warning.message) for warning in package.warnings] == [["'Add'"], ["'Mul'"], ["'Relu'"]]


def test_what_a_built_in_op_is_called_can_be_an_op_type() -> None:
    """A name that is refused anyway has no place in the list of those that are warned of."""
    known = BUILT_IN_OPS.split()

    assert known == sorted(set(known))
    assert len(known) > 2100
    assert [name for name in known if why_no_op_type(name) or not is_built_in(name) or not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name)] == []


@pytest.mark.parametrize(
    "op_type",
    [
        "FlashAttentionScore",
        "FlashAttentionScoreGrad",
        "FusedInferAttentionScore",
        "GroupedMatmul",
        "IncreFlashAttention",
        "MlaProlog",
        "MoeTokenPermute",
        "NsaCompressAttention",
        "PromptFlashAttention",
        "RotaryMul",
        "RotaryMulGrad",
        "SparseFlashAttention",
    ],
)
def test_the_ops_of_large_models_are_built_in(op_type: str) -> None:
    assert is_built_in(op_type)


def test_no_op_takes_the_place_of_what_ge_makes_its_graphs_with(folder: SpecFolder) -> None:
    assert folder.add_mistake(type='"Data"', allow_builtin="True").because == "GE makes its graphs with an op of this name"


def test_allow_builtin_is_a_bool(folder: SpecFolder) -> None:
    error = folder.add_mistake(allow_builtin='"yes"')

    assert (error.number, error.message) == ("OPK0208", "allow_builtin of Op is 'yes', not True or False")


@pytest.mark.case("A1")
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
