"""Optional and dynamic ports, ports changed in place, ops without inputs or outputs, and the order of a signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from spec_support import SpecFolder, add_spec

from opkit.spec.formats import FORMATS

if TYPE_CHECKING:
    from opkit.spec import Op

SUM = 'Input("x", "T", dynamic=True, shape="...")'
LISTED = {"args": '[address_list("x"), "y", "z", numel("x")]'}


def kinds_of(op: Op) -> list[tuple[str, bool, bool]]:
    return [(port.name, port.is_optional, port.is_dynamic) for port in op.inputs]


def test_an_input_is_required_optional_dynamic_or_both(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR w, GM_ADDR v, GM_ADDR z, int64_t n")
    op = folder.add_op(
        inputs='[Input("x", "T", shape="..."), Input("y", "T", optional=True), Input("w", "T", dynamic=True), '
        'Input("v", "T", optional=True, dynamic=True)]',
        launch={"args": '["x", "y", address_list("w"), address_list("v"), "z", numel("x")]'},
    )

    assert kinds_of(op) == [("x", False, False), ("y", True, False), ("w", False, True), ("v", True, True)]


@pytest.mark.case("C5")
def test_an_int_attr_counts_the_tensors_of_a_port(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR z, int64_t n")
    op = folder.add_op(
        inputs='[Input("x", "T", dynamic=True, shape="...", count_attr="N")]',
        outputs='[Output("z", "T", shape="...", dynamic=attr("N"))]',
        attrs='[Attr("N", int)]',
        launch={"args": '[address_list("x"), address_list("z"), count("x")]'},
    )

    assert [port.count_attr for port in op.ports] == ["N", "N"]


@pytest.mark.parametrize(
    ("port", "attrs", "message"),
    [
        ('Input("x", "T", shape="...", count_attr="N")', '[Attr("N", int)]', "input 'x' has a count_attr, and it is one tensor"),
        ('Input("x", "T", shape="...", dynamic=True, count_attr="N")', "[]", "there is no attr 'N' to count the tensors of 'x'"),
        (
            'Input("x", "T", shape="...", dynamic=True, count_attr="N")',
            '[Attr("N", float)]',
            "the attr 'N' can't count the tensors of 'x'",
        ),
        ('Input("x", "T", shape="...", same_dtype=False)', "[]", "input 'x' can't have different dtypes"),
    ],
)
def test_a_port_that_ge_can_t_have_is_refused(folder: SpecFolder, port: str, attrs: str, message: str) -> None:
    args = LISTED if "dynamic" in port else {}
    error = folder.add_mistake(inputs=f'[{port}, Input("y", "T", shape="...")]', attrs=attrs, launch=args)

    assert (error.number, error.message) == ("OPK0215", message)


@pytest.mark.parametrize("other", ['Input("y", "T", shape="...")', 'Input("y", "T", shape="...", dynamic=True)'])
def test_a_port_of_one_dtype_can_t_have_the_symbol_of_a_list_of_any(folder: SpecFolder, other: str) -> None:
    found = folder.mistakes(
        add_spec(
            inputs=f'[Input("x", "T", shape="...", dynamic=True, same_dtype=False), {other}]',
            dtypes='{"T": ["float32", "int32"]}',
            launch={"args": '[address_list("x"), 0, "z", numel("x")]'},
        )
    )

    told = "has the dtype 'T', which is another for each tensor of 'x'"
    assert [error.message for error in found if error.number == "OPK0215"] == [f"{port!r} {told}" for port in ("y", "z")]


def test_a_list_of_outputs_has_the_dtypes_of_the_list_of_inputs_tensor_by_tensor(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR z, int64_t n")
    op = folder.add_op(
        inputs='[Input("x", "T", shape="...", dynamic=True, same_dtype=False)]',
        outputs='[Output("z", "T", shape="...", dynamic=True)]',
        dtypes='{"T": ["float32", "int32"]}',
        launch={"args": '[address_list("x"), address_list("z"), numel("x")]'},
    )

    assert [op.mixed_input(port) for port in op.ports] == [op.inputs[0], op.inputs[0]]


def test_an_output_is_counted_by_an_attr_and_nothing_else(folder: SpecFolder) -> None:
    error = folder.add_mistake(outputs='[Output("z", "T", shape="...", dynamic="N")]', launch={"args": '["x", "y", address_list("z"), 3]'})

    assert (error.number, error.message) == ("OPK0215", "dynamic of output 'z' is 'N', not True, False or an attr")
    assert error.help == 'write dynamic=attr("n") where the int attr n says how many'


@pytest.mark.parametrize("word", ["optional", "dynamic", "same_dtype"])
def test_a_flag_is_true_or_false(folder: SpecFolder, word: str) -> None:
    found = folder.mistakes(add_spec(inputs=f'[Input("x", "T", shape="...", {word}="yes"), Input("y", "T", shape="...")]'))

    assert ("OPK0208", f"{word} of Input is 'yes', not True or False") in [(error.number, error.message) for error in found]


@pytest.mark.case("C9")
def test_values_that_no_rule_reads_are_no_dependence(folder: SpecFolder) -> None:
    error = folder.add_mistake(inputs='[Input("x", "T", shape="...", value_depend="required"), Input("y", "T", shape="...")]')

    assert (error.number, error.message) == ("OPK0234", "no rule reads the values of input 'x'")


def test_an_output_s_dim_that_only_an_optional_input_binds_is_refused(folder: SpecFolder) -> None:
    error = folder.add_mistake(
        inputs='[Input("x", "T", shape="n"), Input("y", "T", shape="k", optional=True)]', outputs='[Output("z", "T", shape="n k")]'
    )

    assert (error.number, error.because) == ("OPK0231", "'y' binds it and may be absent")


# ---- in place ----


def test_an_output_with_the_name_of_an_input_is_that_input(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, int64_t n")
    op = folder.add_op(outputs='[Output("x", "T")]', launch={"args": '["x", "y", numel("x")]'})

    assert [(port.name, op.input_in_place(port)) for port in op.outputs] == [("x", op.inputs[0])]
    assert op.outputs[0].shape == op.inputs[0].shape
    assert op.infer_shapes({"x": (3,), "y": (3,)}) == {"x": (3,)}


def test_an_attr_can_t_decide_the_dtype_of_an_output_that_is_an_input(folder: SpecFolder) -> None:
    error = folder.add_mistake(
        inputs='[Input("x", ["float32", "float16"], shape="..."), Input("y", "T", shape="...")]',
        outputs='[Output("x", from_attr("d", ["float32", "float16"]), shape="...")]',
        attrs='[Attr("d", int)]',
        launch={"args": '["x", "y", "x", 3]'},
    )

    assert (error.number, error.message) == ("OPK0217", "'x' is changed in place, and an attr decides the dtype of its output")


@pytest.mark.parametrize(
    ("given", "output", "argument"),
    [
        ('"T", shape="..."', '"float32", shape="..."', "dtype"),
        ('"T", shape="n"', '"T", shape="m"', "shape"),
        ('"T"', '"T", shape="m"', "shape"),
        ('"T", shape="...", dynamic=True', '"T", shape="..."', "dynamic"),
        ('"T", shape="..."', '"T", shape="...", formats=("NCHW",)', "formats"),
    ],
)
def test_an_input_and_output_in_place_that_differ_are_refused(folder: SpecFolder, given: str, output: str, argument: str) -> None:
    args = '[address_list("x"), "y", "x", dim("y", 0)]' if "dynamic" in given else '["x", "y", "x", dim("y", 0)]'
    found = folder.mistakes(
        add_spec(
            inputs=f'[Input("x", {given}), Input("y", "T", shape="m")]',
            outputs=f'[Output("x", {output})]',
            launch={"args": args, "blocks": "1"},
        )
    )

    assert ("OPK0217", f"'x' is changed in place, and its input and output differ in their {argument}") in [
        (error.number, error.message) for error in found
    ]


def test_an_optional_input_can_t_be_changed_in_place(folder: SpecFolder) -> None:
    found = folder.mistakes(
        add_spec(
            inputs='[Input("x", "T", shape="...", optional=True), Input("y", "T", shape="...")]',
            outputs='[Output("x", "T", shape="...")]',
            launch={"args": '["x", "y", "x", numel("x")]'},
        )
    )

    assert ("OPK0217", "'x' is changed in place, and its input is optional") in [(error.number, error.message) for error in found]


def test_names_of_an_input_and_an_output_that_differ_in_case_are_refused(folder: SpecFolder) -> None:
    error = folder.add_mistake(outputs='[Output("X", "T", shape="...")]', launch={"args": '["x", "y", "X", numel("x")]'})

    assert (error.number, error.message) == ("OPK0212", "the port names 'x' and 'X' differ in case only")


# ---- no inputs, no outputs ----


def test_an_op_may_have_no_inputs_or_no_outputs(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR z")
    op = folder.add_op(inputs="[]", outputs='[Output("z", "T", shape="8")]', launch={"args": '["z"]', "blocks": "1"})
    assert (op.inputs, op.infer_shapes({})) == ((), {"z": (8,)})

    folder.kernel("GM_ADDR x, GM_ADDR y")
    op = folder.add_op(outputs="[]", launch={"args": '["x", "y"]'})
    assert (op.outputs, op.infer_shapes({"x": (2,), "y": (2,)})) == ((), {})

    folder.kernel("int64_t n")
    op = folder.add_op(inputs="[]", outputs="[]", dtypes="", launch={"args": "[3]", "blocks": "1"})
    assert (op.ports, len(op.dtype_combos())) == ((), 1)


# ---- signature ----


def test_a_signature_keeps_the_order_of_the_prototype(folder: SpecFolder) -> None:
    signature = '[Input("x", "T", shape="..."), Attr("k", int), Output("z", "T", shape="..."), Input("y", "T", shape="...")]'
    op = folder.add_op(inputs="", outputs="", signature=signature)

    assert [part.name for part in op.signature] == ["x", "k", "z", "y"]
    assert [port.name for port in op.inputs] == ["x", "y"]


def test_lists_beside_a_signature_are_refused(folder: SpecFolder) -> None:
    found = folder.mistakes(add_spec(signature='[Input("x", "T", shape="...")]'))

    assert [(error.number, error.message) for error in found if error.number == "OPK0216"] == [
        ("OPK0216", "the op has a signature and inputs too"),
        ("OPK0216", "the op has a signature and outputs too"),
    ]


def test_a_signature_holds_ports_and_attrs_only(folder: SpecFolder) -> None:
    signature = '[Input("x", "T", shape="..."), "y", Output("z", "T", shape="...")]'
    error = folder.add_mistake(inputs="", outputs="", signature=signature)

    assert (error.number, error.message) == ("OPK0216", "the signature holds 'y', not an Input, an Output or an Attr")


def test_an_op_lacks_its_lists_only_without_a_signature(folder: SpecFolder) -> None:
    found = folder.mistakes(add_spec(inputs="", outputs=""))

    assert [(error.number, error.message) for error in found][:2] == [("OPK0207", "Op lacks 'inputs'"), ("OPK0207", "Op lacks 'outputs'")]


# ---- formats ----


@pytest.mark.case("B14")
def test_formats_are_ge_s_names(folder: SpecFolder) -> None:
    op = folder.add_op(inputs='[Input("x", "T", shape="...", formats=("NCHW", "FORMAT_NHWC")), Input("y", "T", shape="...")]')

    assert [port.formats for port in op.ports] == [("NCHW", "NHWC"), ("ND",), ("ND",)]
    assert len(FORMATS) == len(set(FORMATS)) == 52


@pytest.mark.case("B14")
@pytest.mark.parametrize(
    ("formats", "message", "advice"),
    [
        ('("NHCW",)', "'NHCW' is no format", "did you mean 'NHWC'?"),
        ('("NCHWW",)', "'NCHWW' is no format", "did you mean 'NCHW'?"),
        ("(3,)", "3 is no format", None),
        ("()", "'x' has no formats", 'write formats=("ND",)'),
    ],
)
def test_an_unknown_format_is_refused(folder: SpecFolder, formats: str, message: str, advice: str | None) -> None:
    error = folder.add_mistake(inputs=f'[Input("x", "T", shape="...", formats={formats}), Input("y", "T", shape="...")]')

    assert (error.number, error.message) == ("OPK0223", message)
    assert advice in {None, error.help}


# ---- kernel arguments ----


def test_an_address_list_is_one_pointer(folder: SpecFolder) -> None:
    op = folder.add_op(inputs=f'[{SUM}, Input("y", "T", shape="...")]', launch=LISTED)

    assert [str(arg.value) for arg in op.kernel.args] == ['address_list("x")', 'port("y")', 'port("z")', 'numel("x")']


@pytest.mark.parametrize(
    ("argument", "number", "message"),
    [
        ('"x"', "OPK0264", "'x' is a list of tensors, which have no single address"),
        ('port("x")', "OPK0264", "'x' is a list of tensors, which have no single address"),
        ('address_list("y")', "OPK0264", "'y' is one tensor, not a list of them"),
        ('address_list("w")', "OPK0255", "there is no port 'w'"),
        ("address_list(3)", "OPK0208", "3 isn't the name of a port"),
    ],
)
def test_an_address_of_the_wrong_kind_is_refused(folder: SpecFolder, argument: str, number: str, message: str) -> None:
    error = folder.add_mistake(inputs=f'[{SUM}, Input("y", "T", shape="...")]', launch={"args": f'[{argument}, "y", "z", numel("x")]'})

    assert (error.number, error.message) == (number, message)


@pytest.mark.parametrize(
    ("size", "number", "message"),
    [
        ('count("y")', "OPK0265", "'y' is one tensor: there is nothing to count"),
        ('numel("w")', "OPK0265", "the tensors of 'w' needn't have one shape"),
        ('dim("w", 0)', "OPK0265", "the tensors of 'w' needn't have one shape"),
        ('address_list("x") + 1', "OPK0257", "address_list(…) is a whole kernel argument, no part of a size"),
    ],
)
def test_a_size_that_a_list_of_tensors_doesn_t_have_is_refused(folder: SpecFolder, size: str, number: str, message: str) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR w, GM_ADDR y, GM_ADDR z, int64_t n")
    error = folder.add_mistake(
        inputs=f'[{SUM}, Input("w", "T", dynamic=True), Input("y", "T", shape="...")]',
        launch={"args": f'[address_list("x"), address_list("w"), "y", "z", {size}]'},
    )

    assert (error.number, error.message) == (number, message)


def test_the_kernel_must_get_a_dynamic_output_as_a_list(folder: SpecFolder) -> None:
    found = folder.mistakes(add_spec(outputs='[Output("z", "T", shape="...", dynamic=True)]'))

    assert ("OPK0264", "'z' is a list of tensors, which have no single address") in [(error.number, error.message) for error in found]
