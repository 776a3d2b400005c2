"""A Kernel against its file: the entry, and every argument against the parameter that it fills."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from spec_support import SpecFolder, add_spec

from opkit.spec import AttrType, AttrValue, Dim, Number, Numel, PortAddress, Scope

if TYPE_CHECKING:
    from pathlib import Path

ATTRS = '[Attr("k", int), Attr("alpha", float), Attr("flag", bool), Attr("mode", str)]'


def test_a_missing_kernel_file_is_told_with_the_one_that_is_there(folder: SpecFolder) -> None:
    error = folder.add_mistake(launch={"source": '"kernels/ad.asc"'})

    assert (error.number, error.message) == ("OPK0250", "there is no kernel file 'kernels/ad.asc'")
    assert error.because == f"{folder.root}/kernels/ad.asc doesn't exist"
    assert error.help == "did you mean 'kernels/add.asc'?"


def test_a_kernel_file_of_quite_another_name_is_listed_and_not_meant(folder: SpecFolder) -> None:
    error = folder.add_mistake(launch={"source": '"kernels/leaky_relu.asc"'})

    assert error.number == "OPK0250"
    assert error.help == "the project has kernels/add.asc"


def test_a_folder_is_no_kernel_file(folder: SpecFolder) -> None:
    error = folder.add_mistake(launch={"source": '"kernels"'})

    assert (error.number, error.because) == ("OPK0250", f"{folder.root}/kernels is no file")


@pytest.mark.parametrize("source", ["../add.asc", "/etc/add.asc", "kernels/../../add.asc", "", "kernels\\add.asc"])
def test_a_kernel_outside_the_project_is_refused(folder: SpecFolder, source: str) -> None:
    error = folder.add_mistake(launch={"source": repr(source)})

    assert (error.number, error.message) == ("OPK0250", f"the kernel {source!r} isn't a path inside the project")


@pytest.mark.parametrize("source", ['a"b.asc', "a;b.asc", "${x}/a.asc", "a\nb.asc", "a#b.asc"])
def test_a_kernel_name_that_cmake_would_misread_is_refused(folder: SpecFolder, source: str) -> None:
    error = folder.add_mistake(launch={"source": repr(source)})

    assert (error.number, error.message) == ("OPK0250", f"the kernel {source!r} has a character that can't be in its name")


def test_a_kernel_name_may_have_blanks_and_letters_of_any_script(folder: SpecFolder) -> None:
    (folder.root / "kernels/add.asc").rename(folder.root / "kernels/mein add 算子.asc")

    assert folder.add_op(launch={"source": '"kernels/mein add 算子.asc"'}).kernel.relative == "kernels/mein add 算子.asc"


@pytest.mark.parametrize("source", ["9" * 5000, "loop.asc"])
def test_a_kernel_that_no_path_leads_to_is_missing(folder: SpecFolder, source: str) -> None:
    (folder.root / "loop.asc").symlink_to("loop.asc")
    error = folder.add_mistake(launch={"source": repr(source)})

    assert error.number == "OPK0250"
    assert len(error.message) < 200


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_kernel_is_told_with_its_path(folder: SpecFolder) -> None:
    (folder.root / "kernels/add.asc").chmod(0)
    error = folder.add_mistake()

    assert (error.number, error.because) == ("OPK0250", f"{folder.root}/kernels/add.asc: Permission denied")


def test_a_header_from_outside_the_project_is_refused(folder: SpecFolder, tmp_path: Path) -> None:
    inner = SpecFolder(root=tmp_path / "inner")
    folder.write("shared.h", "")
    inner.write(
        "kernels/add.asc", '#include "../../shared.h"\nextern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, int n) {}'
    )
    error = inner.add_mistake()

    assert (error.number, error.message) == ("OPK0250", "the kernel 'kernels/add.asc' includes a file from outside the project")


def test_an_entry_that_the_kernel_doesn_t_define_comes_with_candidates(folder: SpecFolder) -> None:
    error = folder.add_mistake(launch={"entry": '"add_kernel"'})

    assert (error.number, error.message) == ("OPK0251", "add.asc doesn't define an entry 'add_kernel'")
    assert (error.because, error.help) == ("it defines add", "did you mean 'add'?")


def test_a_kernel_without_any_entry_says_so(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", "void add() {}\n")
    error = folder.add_mistake()

    assert error.because == "it defines no __global__ function"
    assert error.help == 'extern "C" __global__ __aicore__ void add(…)'


def test_an_entry_hidden_by_a_syntax_error_is_told_with_the_line_that_isn_t_understood(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", 'int n;\nextern "C" __global__ __aicore__ void add(GM_ADDR x ((( {\n')
    error = folder.add_mistake()

    assert error.number == "OPK0251"
    assert "as far as it can be read: line 2 isn't understood" in (error.because or "")


def test_an_entry_that_two_branches_define_differently_is_refused(folder: SpecFolder) -> None:
    entry = 'extern "C" __global__ __aicore__ void add(GM_ADDR x{}) {{}}\n'
    folder.write("kernels/add.asc", "#ifdef A\n" + entry.format("") + "#else\n" + entry.format(", int n") + "#endif\n")
    error = folder.add_mistake()

    assert (error.number, error.because) == ("OPK0252", "add.asc:2 and add.asc:4")


def test_an_entry_that_two_branches_define_alike_is_one(folder: SpecFolder) -> None:
    entry = 'extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t n) {}\n'
    folder.write("kernels/add.asc", f"#ifdef A\n{entry}#else\n{entry}#endif\n")

    assert folder.add_op().kernel.signature.line == 2


def test_a_parameter_of_unknown_size_is_told_with_those_opkit_can_pass(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z, AddTiling tiling")
    error = folder.add_mistake()

    assert (error.number, error.because) == ("OPK0252", "parameter 'tiling' has type 'AddTiling' at add.asc:1")
    assert "GM_ADDR" in (error.help or "")


@pytest.mark.parametrize(
    ("args", "count"), [('["x", "y", "z"]', "3 elements"), ('["x", "y", "z", numel("x"), 1]', "5 elements"), ('["z"]', "1 element")]
)
def test_a_wrong_number_of_args_shows_the_kernel_s_signature(folder: SpecFolder, args: str, count: str) -> None:
    error = folder.add_mistake(launch={"args": args})

    assert (error.number, error.message) == ("OPK0253", f"args has {count}, and the kernel takes 4")
    assert error.because == "add(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t length) at add.asc:5"


@pytest.mark.parametrize(
    ("parameters", "args", "advice"),
    [
        ("GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t length", '"x", "y", "z"', "the first without a value is `int64_t length`"),
        (
            "GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t n, float alpha",
            '"x", "z", numel("x"), "alpha"',
            "`GM_ADDR y` has no argument of its name",
        ),
        ("GM_ADDR x, GM_ADDR z, float alpha, int64_t n", '"x", "z", numel("x")', "`float alpha` has no argument of its name"),
        ("GM_ADDR x, GM_ADDR y, GM_ADDR bias, GM_ADDR z, int64_t n", '"x", "y", "z", 1', "the first without a value is `GM_ADDR bias`"),
        ("GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t n", '"y", "x", "z"', "the first without a value is `int64_t n`"),
        ("GM_ADDR a, GM_ADDR b, GM_ADDR c, int64_t n", '"x", "y", "z"', "the first without a value is `int64_t n`"),
        ("GM_ADDR x, GM_ADDR y, GM_ADDR z", '"x", "y", "z", numel("x")', 'the first without a parameter is numel("x")'),
        ("GM_ADDR x, GM_ADDR z, int64_t n", '"x", "y", "z", numel("x")', 'no parameter is named like "y"'),
        ("GM_ADDR x, GM_ADDR z, int64_t n", '"x", port("y"), "z", numel("x")', 'no parameter is named like port("y")'),
        ("GM_ADDR x, GM_ADDR z, int64_t n", '"x", "z", numel("x"), "alpha"', 'no parameter is named like "alpha"'),
        ("GM_ADDR a, GM_ADDR b", '"x", "y", "z"', 'the first without a parameter is "z"'),
        ("GM_ADDR x, GM_ADDR y, GM_ADDR z", '"x", "y", "y", "z"', '"y" stands there twice'),
        ("GM_ADDR x, GM_ADDR other, GM_ADDR z", '"x", "x", "y", "z"', 'no parameter is named like "y"'),
        ("GM_ADDR x", '"z", "x"', 'no parameter is named like "z"'),
    ],
)
def test_the_parameter_or_argument_too_many_is_told_by_name(folder: SpecFolder, parameters: str, args: str, advice: str) -> None:
    folder.kernel(parameters)
    error = folder.add_mistake(attrs=ATTRS, launch={"args": f"[{args}]"})

    assert (error.number, error.help) == ("OPK0253", advice)


@pytest.mark.parametrize(
    ("launch", "advice"),
    [
        ({"blocks": '"n"'}, """write dim("x", 0): 'n' is a dim of 'x'"""),
        ({"blocks": '"m"'}, """write dim("y", -1): 'm' is a dim of 'y'"""),
        ({"blocks": 'ceil_div("k", 8)'}, """write dim("x", 1): 'k' is a dim of 'x'"""),
        ({"args": '["x", "y", "z", "k"]'}, """write dim("x", 1): 'k' is a dim of 'x'"""),
        ({"args": '["x", "y", "z", dim("x", "k")]'}, 'write dim("x", 1)'),
        ({"args": '["x", "y", "z", dim("x", "kk")]'}, None),
    ],
)
def test_the_name_of_a_dim_where_a_size_is_wanted_is_told_as_a_dim(folder: SpecFolder, launch: dict[str, str], advice: str | None) -> None:
    error = folder.add_mistake(
        inputs='[Input("x", "T", shape="n k"), Input("y", "T", shape="k ... m")]', outputs='[Output("z", "T", shape="n")]', launch=launch
    )

    assert error.help == advice


@pytest.mark.parametrize(
    ("parameter", "argument", "because"),
    [
        ("int64_t n", '"x"', "a port is passed as an address"),
        ("GM_ADDR p", 'numel("x")', "a pointer takes the address of a port or a workspace"),
        ("GM_ADDR p", '"k"', "a pointer takes the address of a port or a workspace"),
        ("GM_ADDR p", "0", "a pointer takes the address of a port or a workspace"),
        ("int64_t n", 'i32(numel("x"))', "the spec says int32_t, and the kernel int64_t"),
        ("uint32_t n", 'i32(numel("x"))', "the spec says int32_t, and the kernel uint32_t"),
        ("int32_t n", 'u32("k")', "the spec says uint32_t, and the kernel int32_t"),
        ("int32_t n", 'i64("k")', "the spec says int64_t, and the kernel int32_t"),
        ("double d", 'f32("alpha")', "the spec says float, and the kernel double"),
        ("int64_t n", '"alpha"', "the attr is a float"),
        ("bool b", '"alpha"', "the attr is a float"),
        ("float f", '"k"', "the attr is an int"),
        ("bool b", '"k"', "the attr is an int"),
        ("float f", '"flag"', "the attr is a bool"),
        ("float f", 'numel("x")', "a size is an integer"),
        ("bool b", 'numel("x")', "a size is an integer"),
        ("uint8_t n", "256", "uint8_t holds 0 to 255"),
        ("int8_t n", "-129", "int8_t holds -128 to 127"),
        ("uint64_t n", "-1", "uint64_t holds 0 to 18446744073709551615"),
    ],
)
def test_an_argument_that_doesn_t_fit_its_parameter_is_refused(folder: SpecFolder, parameter: str, argument: str, because: str) -> None:
    folder.kernel(f"GM_ADDR x, GM_ADDR y, GM_ADDR z, {parameter}")
    error = folder.add_mistake(attrs=ATTRS, launch={"args": f'["x", "y", "z", {argument}]'})

    assert (error.number, error.because) == ("OPK0254", because)
    assert error.message.startswith("argument 4, ")
    assert error.message.endswith(f"doesn't fit {parameter}")


@pytest.mark.parametrize(
    ("parameter", "argument", "value"),
    [
        ("__gm__ float* p", '"y"', PortAddress("y")),
        ("uint32_t n", 'u32(numel("x"))', Numel("x")),
        ("uint8_t n", "255", Number(255)),
        ("int16_t n", 'dim("x", -1)', Dim("x", -1)),
        ("int32_t n", '"k"', AttrValue("k")),
        ("float f", '"alpha"', AttrValue("alpha")),
        ("double d", '"alpha"', AttrValue("alpha")),
        ("float f", 'f32(attr("alpha"))', AttrValue("alpha")),
        ("bool b", '"flag"', AttrValue("flag")),
        ("int32_t n", '"flag"', AttrValue("flag")),
    ],
)
def test_an_argument_that_fits_is_kept(folder: SpecFolder, parameter: str, argument: str, value: object) -> None:
    folder.kernel(f"GM_ADDR x, GM_ADDR y, GM_ADDR z, {parameter}")
    op = folder.add_op(attrs=ATTRS, launch={"args": f'["x", "y", "z", {argument}]'})

    assert op.kernel.args[3].value == value


def test_a_kernel_without_arguments_reaches_nothing(folder: SpecFolder) -> None:
    folder.kernel("")
    found = folder.mistakes(add_spec(outputs="[]", inputs='[Input("x", "T", shape="...")]', launch={"args": "[]", "blocks": "1"}))

    assert [(error.number, error.message) for error in found] == [("OPK0253", "the kernel 'add' takes no arguments")]


@pytest.mark.parametrize("kind", ["str", "bytes", "tensor", *(kind.value for kind in AttrType if kind.element is not None)])
def test_an_attr_that_is_no_number_is_no_kernel_argument(folder: SpecFolder, kind: str) -> None:
    error = folder.add_mistake(attrs=f'[Attr("mode", "{kind}")]', launch={"args": '["x", "y", "z", "mode"]'})

    assert (error.number, error.message) == ("OPK0254", "attr 'mode' can't be a kernel argument")
    assert error.because == f"it is a {kind}, and a kernel takes numbers"


@pytest.mark.parametrize("kind", ["float", "type", "str", "list_int", "bytes"])
def test_an_attr_that_is_no_integer_is_no_part_of_a_size(folder: SpecFolder, kind: str) -> None:
    error = folder.add_mistake(attrs=f'[Attr("mode", "{kind}")]', launch={"blocks": 'attr("mode") + 1'})

    assert (error.number, error.because) == ("OPK0257", f"it is a {kind}, and a size is an integer")


@pytest.mark.parametrize("parameter", ["int32_t", "int64_t", "uint32_t", "uint8_t"])
def test_a_type_reaches_a_kernel_as_ge_s_number_of_the_dtype(folder: SpecFolder, parameter: str) -> None:
    folder.kernel(f"GM_ADDR x, GM_ADDR y, GM_ADDR z, {parameter} n")
    op = folder.add_op(attrs='[Attr("to", "type", default="int64")]', launch={"args": '["x", "y", "z", "to"]'})

    assert op.kernel.args[3].value == AttrValue("to")
    assert AttrValue("to").evaluate(Scope(attrs={"to": "int64"})) == 9


@pytest.mark.parametrize("parameter", ["float", "double", "bool"])
def test_a_type_is_no_float_and_no_bool(folder: SpecFolder, parameter: str) -> None:
    folder.kernel(f"GM_ADDR x, GM_ADDR y, GM_ADDR z, {parameter} n")
    error = folder.add_mistake(attrs='[Attr("to", "type")]', launch={"args": '["x", "y", "z", "to"]'})

    assert (error.number, error.because) == ("OPK0254", "the attr is a type: GE's number of a dtype")


def test_a_bare_name_that_is_port_and_attr_has_to_be_told_apart(folder: SpecFolder) -> None:
    error = folder.add_mistake(attrs='[Attr("x", int)]')

    assert (error.number, error.message) == ("OPK0256", "'x' is both a port and an attr")
    assert error.help == 'write port("x") for the address, attr("x") for the value'

    op = folder.add_op(attrs='[Attr("x", int)]', launch={"args": '[port("x"), "y", "z", attr("x")]'})
    assert [arg.value for arg in op.kernel.args] == [PortAddress("x"), PortAddress("y"), PortAddress("z"), AttrValue("x")]


@pytest.mark.parametrize(
    ("argument", "message", "advice"),
    [
        ('"lenght"', "there is no port or attr 'lenght'", "did you mean 'length'?"),
        ('numel("w")', "there is no port 'w'", "the op has x, y, z"),
        ('attr("lengt")', "there is no attr 'lengt'", "did you mean 'length'?"),
        ('port("w")', "there is no port 'w'", "the op has x, y, z"),
        ('dim("yy", 0)', "there is no port 'yy'", "did you mean 'y'?"),
        ('i64("lengt")', "there is no attr 'lengt'", "did you mean 'length'?"),
    ],
)
def test_an_unknown_name_comes_with_the_known_ones(folder: SpecFolder, argument: str, message: str, advice: str) -> None:
    error = folder.add_mistake(attrs='[Attr("length", int)]', launch={"args": f'["x", "y", "z", {argument}]'})

    assert (error.number, error.message, error.help) == ("OPK0255", message, advice)


def test_an_output_that_the_kernel_never_gets_is_a_mistake(folder: SpecFolder) -> None:
    error = folder.add_mistake(launch={"args": '["x", "y", "y", numel("x")]'})

    assert (error.number, error.message) == ("OPK0254", "the kernel never gets output 'z'")


@pytest.mark.parametrize("blocks", ["0", "-1", "65536", "2 * max_(65536, 1)"])
def test_a_constant_number_of_blocks_has_to_be_launchable(folder: SpecFolder, blocks: str) -> None:
    error = folder.add_mistake(launch={"blocks": blocks})

    assert (error.number, error.because) == ("OPK0258", "a launch has 1 to 65535 blocks")


def test_a_kernel_that_strides_may_have_more_blocks_than_a_launch(folder: SpecFolder) -> None:
    kernel = folder.add_op(launch={"blocks": "65536", "strides": "True"}).kernel

    assert (kernel.blocks, kernel.strides) == (Number(65536), True)


def test_strides_is_true_or_false(folder: SpecFolder) -> None:
    error = folder.add_mistake(launch={"strides": "1"})

    assert (error.number, error.message) == ("OPK0208", "strides of Kernel is 1, not True or False")


@pytest.mark.parametrize("missing", ["source", "entry", "args", "blocks"])
def test_a_kernel_lacking_an_argument_says_which(folder: SpecFolder, missing: str) -> None:
    error = folder.add_mistake(launch={missing: ""})

    assert (error.number, error.message) == ("OPK0207", f"Kernel lacks {missing!r}")


def test_defines_are_kept_and_win_over_the_kernel_s_default(folder: SpecFolder) -> None:
    kernel = folder.add_op(launch={"defines": '{"BLOCK_SIZE": 512, "FAST": "1 + 1"}', "blocks": 'ceil_div(numel("x"), 512)'}).kernel
    small = kernel.with_define("BLOCK_SIZE", 16)

    assert kernel.defines == {"BLOCK_SIZE": 512, "FAST": "1 + 1"}
    assert kernel.integer_defaults == {"BLOCK_SIZE": 1024}
    assert small.defines == {"BLOCK_SIZE": 16, "FAST": "1 + 1"}
    assert str(small.blocks) == 'ceil_div(numel("x"), 16)'


def test_a_smaller_block_reaches_the_kernel_s_arguments_too(folder: SpecFolder) -> None:
    args = '["x", "y", "z", ceil_div(numel("x"), 1024) * 1024]'
    kernel = folder.add_op(launch={"args": args}).kernel
    small = kernel.with_define("BLOCK_SIZE", 16)

    assert [str(arg.value) for arg in small.args] == ['port("x")', 'port("y")', 'port("z")', 'ceil_div(numel("x"), 16) * 16']
    assert [arg.param for arg in small.args] == [arg.param for arg in kernel.args]
    # The kernel itself is as it was.
    assert str(kernel.args[3].value) == 'ceil_div(numel("x"), 1024) * 1024'
    assert str(kernel.blocks) == 'ceil_div(numel("x"), 1024)'


@pytest.mark.parametrize("name", ["TILE", "FAST"])
def test_a_define_without_an_integer_can_t_be_made_smaller(folder: SpecFolder, name: str) -> None:
    kernel = folder.add_op(launch={"defines": '{"FAST": "yes"}'}).kernel

    with pytest.raises(KeyError):
        kernel.with_define(name, 16)


@pytest.mark.parametrize(
    ("defines", "number", "message"),
    [
        ('{"1A": 1}', "OPK0259", "'1A' is no macro name"),
        ("{1: 1}", "OPK0259", "1 is no macro name"),
        ('{"DTYPE_X": "float"}', "OPK0259", "'DTYPE_X' can't be defined here"),
        ('{"A": 1.5}', "OPK0259", "the define 'A' is 1.5, not an integer or a text"),
        ('{"A": True}', "OPK0259", "the define 'A' is True, not an integer or a text"),
        (r'{"A": "1\n#error"}', "OPK0259", r"the define 'A' is '1\n#error', which isn't one line"),
        (r'{"A": "1 \\"}', "OPK0259", r"the define 'A' is '1 \\', which isn't one line"),
        (r'{"A": "\ud800"}', "OPK0259", r"the define 'A' is '\ud800', which isn't valid Unicode"),
        ('{"A": "1 /*"}', "OPK0259", "the define 'A' is '1 /*', which opens a comment or a text and doesn't close it"),
        ("{'A': 'R\"('}", "OPK0259", "the define 'A' is 'R\"(', which opens a comment or a text and doesn't close it"),
        ('{"int": "float"}', "OPK0259", "'int' can't be defined here"),
        ('{"defined": 1}', "OPK0259", "'defined' can't be defined here"),
        ('{"A": 10**5000}', "OPK0259", "the define 'A' is an integer of 16610 bits, which doesn't fit in 64 bits"),
        ('{"A": 2**64}', "OPK0259", "the define 'A' is 18446744073709551616, which doesn't fit in 64 bits"),
        ('["A"]', "OPK0208", "defines is ['A'], not a dict"),
    ],
)
def test_a_define_that_is_no_macro_is_refused(folder: SpecFolder, defines: str, number: str, message: str) -> None:
    error = folder.add_mistake(launch={"defines": defines})

    assert (error.number, error.message) == (number, message)


@pytest.mark.parametrize(
    "value", ['"/* one */ 1 // two /*"', "'\"kernels/*.asc\"'", "'R\"(/*)\"'", "\"'/'\"", '"1\'000"', "2**64 - 1", "-(2**63)"]
)
def test_a_define_may_be_any_value_that_ends(folder: SpecFolder, value: str) -> None:
    assert folder.add_op(launch={"defines": f'{{"A": {value}}}'}).kernel.defines == {"A": eval(value)}  # noqa: S307 - the tests' own text


@pytest.mark.parametrize("name", ["errno", "stdin", "GM_ADDR", "INT64_MAX"])
def test_a_parameter_named_as_a_macro_is_refused(folder: SpecFolder, name: str) -> None:
    folder.kernel(f"GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t {name}")
    error = folder.add_mistake()

    assert (error.number, error.message) == ("OPK0252", f"parameter {name!r} of 'add' can't have that name")
    assert error.because == "it is a C++ macro, and generated C++ has the name too, add.asc:1"


@pytest.mark.parametrize("name", ["lambda", "None", "pass"])
def test_a_parameter_may_be_a_python_keyword(folder: SpecFolder, name: str) -> None:
    folder.kernel(f"GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t {name}")

    assert folder.add_op().kernel.signature.params[3].name == name


@pytest.mark.parametrize("kernel", ["[]", "[kernel, 1]", '"kernels/add.asc"', "add"])
def test_an_op_launches_kernels(folder: SpecFolder, kernel: str) -> None:
    folder.write("add.py", "")
    error = folder.mistake(
        "import add\n" + add_spec(kernel=kernel),
    )

    assert (error.number, error.help) == ("OPK0208", "an op launches one Kernel(…), or those of a list in its order")
