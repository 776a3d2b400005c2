"""Ports, dtypes and attrs: what is taken, what is refused, and what the resolved values then say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from spec_support import SpecFolder, add_spec

from opkit.spec import DTYPES, AttrType, DType, find_dtype

C_TYPES = Path(__file__).resolve().parents[3] / "simulator" / "include" / "graph" / "c_types.h"


@pytest.mark.case("B6")
def test_every_dtype_of_ge_is_there_with_its_number() -> None:
    numbers = {name: int(number) for name, number in re.findall(r"C_(DT_\w+) = (\d+)", C_TYPES.read_text())}

    assert numbers.pop("DT_UNDEFINED") == 28
    assert numbers.pop("DT_MAX") == len(numbers) + 2  # 5 is no dtype either
    assert {dtype.ge_enum: dtype.number for dtype in DTYPES.values()} == numbers


def test_dtypes_are_named_as_ge_names_them_but_for_the_floats() -> None:
    others = {dtype.name: dtype.ge_enum for dtype in DTYPES.values() if dtype.ge_enum != f"DT_{dtype.name.upper()}"}

    assert others == {"float32": "DT_FLOAT", "bfloat16": "DT_BF16", "float64": "DT_DOUBLE"}


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES.values() if dtype.npy], ids=str)
def test_a_dtype_agrees_with_numpy_about_name_and_size(dtype: DType) -> None:
    assert dtype.numpy().name in {dtype.name, f"{dtype.name}fnu"}
    assert dtype.numpy().itemsize == dtype.bytes


@pytest.mark.parametrize("name", ["complex32", "int4", "qint8", "string", "hifloat8", "float4_e2m1", "resource"])
def test_a_dtype_that_numpy_lacks_has_no_array(name: str) -> None:
    with pytest.raises(ValueError, match=f"NumPy has no {name}"):
        DTYPES[name].numpy()


def test_what_a_kernel_has_no_type_for_gets_none() -> None:
    lacking = {dtype.name for dtype in DTYPES.values() if dtype.kernel_type is None}

    assert {"string", "resource", "variant", "dual", "qint8", "complex128", "uint1"} < lacking
    assert not lacking & {"float64", "int4", "int16", "uint64", "complex64", "hifloat8", "float8_e4m3fn", "bool"}


@pytest.mark.case("B6")
@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("float", "float32"),
        ("float32", "float32"),
        ("fp32", "float32"),
        ("DT_FLOAT", "float32"),
        ("half", "float16"),
        ("fp16", "float16"),
        ("bf16", "bfloat16"),
        ("DT_BF16", "bfloat16"),
        ("DT_INT64", "int64"),
        ("double", "float64"),
        ("DT_DOUBLE", "float64"),
        ("fp8_e4m3fn", "float8_e4m3fn"),
        ("DT_FLOAT8_E8M0", "float8_e8m0"),
        ("fp4_e2m1", "float4_e2m1"),
        ("int4", "int4"),
        ("complex32", "complex32"),
    ],
)
def test_people_s_spellings_of_a_dtype_are_taken(spelling: str, name: str) -> None:
    found = find_dtype(spelling)

    assert found is not None
    assert found.name == name


@pytest.mark.case("B6")
@pytest.mark.parametrize("spelling", ["float23", "DT_MAX", "DT_UNDEFINED", "DT_FLOAT32", "DT_Bfp16", "Float32", "int5", ""])
def test_a_word_that_is_no_dtype_is_none(spelling: str) -> None:
    assert find_dtype(spelling) is None


@pytest.mark.case("B6")
@pytest.mark.parametrize(("word", "near"), [("float23", "float32"), ("T2", "T"), ("bfloat", "bfloat16"), ("DT_FLOAT32", "float32")])
def test_an_unknown_dtype_comes_with_the_nearest_known_word(folder: SpecFolder, word: str, near: str) -> None:
    error = folder.add_mistake(inputs=f'[Input("x", "T", shape="..."), Input("y", "{word}", shape="...")]')

    assert (error.number, error.message) == ("OPK0220", f"{word!r} is neither a dtype nor a symbol of this op")
    assert error.help in {f"did you mean {near!r}?", f"opkit knows {', '.join([*DTYPES, 'T'])}"}


def test_a_dtype_with_nothing_near_lists_all(folder: SpecFolder) -> None:
    error = folder.add_mistake(dtypes='{"T": ["decimal"]}')

    assert (error.message, error.help) == ("'decimal' is no dtype", f"opkit knows {', '.join(DTYPES)}")


@pytest.mark.case("B6")
@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ('"DT_FP16"', "did you mean 'float16'?"),
        ('"DT_FLOAT32"', "did you mean 'float32'?"),
        ('"Float32"', "did you mean 'float32'?"),
        ("np.float32", 'write "float32"'),
        ('np.dtype("int8")', 'write "int8"'),
        ("np.bool_", 'write "bool"'),
        ("float", 'write "float32"'),
        ("np.array", f"opkit knows {', '.join(DTYPES)}"),
    ],
)
def test_a_dtype_in_another_world_s_words_comes_with_opkit_s(folder: SpecFolder, written: str, advice: str) -> None:
    error = folder.mistake("import numpy as np\n" + add_spec(dtypes=f'{{"T": [{written}]}}'))

    assert (error.number, error.help) == ("OPK0220", advice)


@pytest.mark.parametrize(
    ("written", "advice"),
    [("np.float32", "write float"), ('np.dtype("int64")', "write int"), ("np.uint8", "write int"), ("np.bool_", "write bool")],
)
def test_a_numpy_type_is_no_attr_type_and_told_as_one(folder: SpecFolder, written: str, advice: str) -> None:
    error = folder.mistake("import numpy as np\n" + add_spec(attrs=f'[Attr("a", {written})]'))

    assert (error.number, error.help) == ("OPK0240", advice)


@pytest.mark.parametrize(("written", "value"), [("np.float32(0.5)", 0.5), ("np.float16(2)", 2.0), ("np.int64(3)", 3.0)])
def test_a_float_attr_takes_numpy_s_numbers(folder: SpecFolder, written: str, value: float) -> None:
    op = folder.load("import numpy as np\n" + add_spec(attrs=f'[Attr("a", float, default={written})]')).ops[0]

    assert (op.attrs[0].default, type(op.attrs[0].default)) == (value, float)


def combos_of(folder: SpecFolder, inputs: str, outputs: str, dtypes: str) -> list[dict[str, str]]:
    op = folder.add_op(inputs=inputs, outputs=outputs, dtypes=dtypes)
    return [{name: dtype.name for name, dtype in combo.ports.items()} for combo in op.dtype_combos()]


@pytest.mark.case("B8")
def test_symbols_pair_column_by_column(folder: SpecFolder) -> None:
    combos = combos_of(
        folder,
        '[Input("x", "T", shape="..."), Input("y", "U", shape="...")]',
        '[Output("z", "T", shape="...")]',
        '{"T": ["float32", "float16"], "U": ["int32", "int64"]}',
    )

    assert combos == [{"x": "float32", "y": "int32", "z": "float32"}, {"x": "float16", "y": "int64", "z": "float16"}]


def test_a_single_dtype_stands_for_every_column(folder: SpecFolder) -> None:
    combos = combos_of(
        folder,
        '[Input("x", ["bf16", "half"], shape="..."), Input("y", "int8", shape="...")]',
        '[Output("z", "T", shape="...")]',
        '{"T": "bool"}',
    )

    assert combos == [{"x": "bfloat16", "y": "int8", "z": "bool"}, {"x": "float16", "y": "int8", "z": "bool"}]


def test_the_symbols_of_a_combo_are_told_too(folder: SpecFolder) -> None:
    op = folder.add_op(dtypes='{"T": ["float32", "float16"]}')

    assert [{symbol: dtype.name for symbol, dtype in combo.symbols.items()} for combo in op.dtype_combos()] == [
        {"T": "float32"},
        {"T": "float16"},
    ]
    assert [port.symbol for port in op.ports] == ["T", "T", "T"]


def test_lists_of_different_lengths_don_t_pair(folder: SpecFolder) -> None:
    error = folder.add_mistake(
        inputs='[Input("x", "T", shape="..."), Input("y", ["int8", "uint8", "int32"], shape="...")]', dtypes='{"T": ["float32", "float16"]}'
    )

    assert (error.number, error.because) == ("OPK0221", "symbol 'T' has 2, input 'y' has 3")


def test_two_equal_columns_are_a_mistake(folder: SpecFolder) -> None:
    error = folder.add_mistake(outputs='[Output("z", "U", shape="...")]', dtypes='{"T": ["float32", "float32"], "U": ["bool", "bool"]}')

    assert (error.number, error.because) == ("OPK0221", "columns 1 and 2 have float32, float32, bool")


@pytest.mark.case("C12")
def test_a_symbol_that_no_port_uses_is_a_mistake(folder: SpecFolder) -> None:
    error = folder.add_mistake(dtypes='{"T": ["float32"], "U": ["int8"]}')

    assert (error.number, error.message) == ("OPK0222", "no port uses the dtype symbol 'U'")


@pytest.mark.case("C12")
@pytest.mark.parametrize(
    ("dtypes", "message"),
    [
        ('{"float32": ["float32"], "T": "int8"}', "'float32' can't be a dtype symbol"),
        ('{3: "int8", "T": "int8"}', "3 can't be a dtype symbol"),
        ('{"T": []}', "the symbol 'T' has no dtypes"),
        ('{"T": [np_float]}', "<np_float> is no dtype"),
    ],
)
def test_a_symbol_that_means_nothing_is_refused(folder: SpecFolder, dtypes: str, message: str) -> None:
    text = f"def np_float(): ...\n{add_spec(dtypes=dtypes)}"
    error = folder.mistake(text)

    assert (error.number, error.message) == ("OPK0220", message)


def test_a_port_may_not_be_declared_twice(folder: SpecFolder) -> None:
    error = folder.add_mistake(
        inputs='[Input("x", "T", shape="..."), Input("x", "T", shape="...")]', launch={"args": '["x", "x", "z", numel("x")]'}
    )

    assert (error.number, error.message) == ("OPK0212", "two ports have the name 'x'")


def test_an_attr_may_not_be_declared_twice(folder: SpecFolder) -> None:
    error = folder.add_mistake(attrs='[Attr("k", int), Attr("k", int)]')

    assert (error.number, error.message) == ("OPK0212", "two attrs have the name 'k'")


def test_ports_that_differ_in_case_only_would_share_a_macro(folder: SpecFolder) -> None:
    error = folder.add_mistake(
        inputs='[Input("x", "T", shape="..."), Input("X", "T", shape="...")]', launch={"args": '["x", "X", "z", numel("x")]'}
    )

    assert (error.number, error.message) == ("OPK0212", "the port names 'x' and 'X' differ in case only")


@pytest.mark.case("B5")
@pytest.mark.parametrize(
    ("declared", "kind", "default"),
    [
        ("int", AttrType.INT, None),
        ('"int", default=-3', AttrType.INT, -3),
        ("int, default=2**63 - 1", AttrType.INT, 2**63 - 1),
        ("int, default=-2**63", AttrType.INT, -(2**63)),
        ("float, default=1e-6", AttrType.FLOAT, 1e-6),
        ("float, default=2", AttrType.FLOAT, 2.0),
        ("float, default=3.4028235e38", AttrType.FLOAT, 3.4028235e38),
        ("float, default=1e-45", AttrType.FLOAT, 1e-45),
        ("float, default=-0.0", AttrType.FLOAT, -0.0),
        ("bool, default=False", AttrType.BOOL, False),
        ("str, default=''", AttrType.STR, ""),
        ('"Float"', AttrType.FLOAT, None),
        ("str, default='a\"b\\\\n\\n±'", AttrType.STR, 'a"b\\n\n±'),
        ('"type", default="DT_INT64"', AttrType.TYPE, "int64"),
        ('"Type", default="bf16"', AttrType.TYPE, "bfloat16"),
        ("bytes, default=b'a\\0\\xff'", AttrType.BYTES, b"a\0\xff"),
        ("'tensor', default=()", AttrType.TENSOR, ()),
        ("'ListTensor', default=[]", AttrType.LIST_TENSOR, ()),
        ("list[int], default=[1, -2]", AttrType.LIST_INT, (1, -2)),
        ('"ListInt", default=()', AttrType.LIST_INT, ()),
        ("list[float], default=(1, 0.5)", AttrType.LIST_FLOAT, (1.0, 0.5)),
        ('"list_bool", default=[True]', AttrType.LIST_BOOL, (True,)),
        ("list[str], default=['', 'a,b']", AttrType.LIST_STR, ("", "a,b")),
        ('"list_string"', AttrType.LIST_STR, None),
        ('"listFloat"', AttrType.LIST_FLOAT, None),
        ('"int[]"', AttrType.LIST_INT, None),
        ('"string[]"', AttrType.LIST_STR, None),
        ('"int[][]"', AttrType.LIST_LIST_INT, None),
        ('"ListType", default=["half", "DT_INT4"]', AttrType.LIST_TYPE, ("float16", "int4")),
        ("list[list[int]], default=[[], [1, 2]]", AttrType.LIST_LIST_INT, ((), (1, 2))),
    ],
)
def test_an_attr_has_its_type_and_default(folder: SpecFolder, declared: str, kind: AttrType, default: object) -> None:
    attr = folder.add_op(attrs=f'[Attr("alpha", {declared})]').attr("alpha")

    assert (attr.type, attr.default, type(attr.default)) == (kind, default, type(default))
    assert attr.is_required == (default is None)


@pytest.mark.case("B9")
def test_no_word_but_a_default_says_that_an_attr_may_be_left_out(folder: SpecFolder) -> None:
    error = folder.add_mistake(attrs='[Attr("dim", "ListInt", required=True, default=[1])]')

    assert (error.number, error.message) == ("OPK0206", "Attr takes no 'required'")
    op = folder.add_op(attrs='[Attr("dim", "ListInt"), Attr("keepdim", bool, default=False)]')
    assert [attr.is_required for attr in op.attrs] == [True, False]


@pytest.mark.case("B5")
def test_attr_types_have_the_words_of_reg_op() -> None:
    header = C_TYPES.with_name("operator_reg.h").read_text()
    words = set(re.findall(r"#define ATTR_(\w+)\(", header)) - {"AscendString", "ListAscendString", "NamedAttrs", "ListNamedAttrs"}

    assert {kind.ge_name for kind in AttrType} == words


@pytest.mark.case("B3")
@pytest.mark.parametrize(
    ("declared", "because"),
    [
        ("int, default=1.0", "an int is a whole number"),
        ("int, default=True", "an int is a whole number"),
        ("int, default='1'", "an int is a whole number"),
        ("int, default=2**63", "it doesn't fit in int64"),
        ("float, default=float('nan')", "a float attr is finite"),
        ("float, default=float('inf')", "a float attr is finite"),
        ("float, default=1e39", "it doesn't fit in float32"),
        ("float, default=10**400", "it doesn't fit in float32"),
        ("float, default=1e-46", "it is 0 as a float32"),
        ("float, default='0.5'", "a float is a number"),
        ("float, default=False", "a float is a number"),
        ("bool, default=0", "a bool is True or False"),
        ("str, default=b'x'", "a str is a text"),
        ("str, default='a\\0b'", "a C string can't hold a NUL"),
        ("str, default='\\ud800'", "it isn't valid Unicode"),
        ("int, default=None", "an int is a whole number"),
        ("list[int], default=[1, True]", "element 1 is True: an int is a whole number"),
        ("list[int], default=3", "a list_int is a list"),
        ("list[str], default='ab'", "a list_str is a list"),
        ("list[float], default=[0.5, float('inf')]", "element 1 is inf: a float attr is finite"),
        ("list[bool], default=[0]", "element 0 is 0: a bool is True or False"),
        ("list[str], default=['a', b'b']", "element 1 is b'b': a str is a text"),
        ("list[list[int]], default=[[], [1, 0.5]]", "element 1 is [1, 0.5]: element 1 is 0.5: an int is a whole number"),
        ("list[list[int]], default=[1]", "element 0 is 1: a list_int is a list"),
        ("'type', default='float23'", "a type is the name of a dtype; did you mean 'float32'?"),
        ("'type', default=0", "a type is the name of a dtype"),
        ("'list_type', default=['int32', 9]", "element 1 is 9: a type is the name of a dtype"),
        ("bytes, default='ab'", 'bytes are written b"…"'),
        ("'tensor', default=[1.0]", "a prototype can only have the empty tensor, ()"),
    ],
)
def test_a_default_that_the_type_can_t_hold_is_refused(folder: SpecFolder, declared: str, because: str) -> None:
    error = folder.add_mistake(attrs=f'[Attr("alpha", {declared})]')

    assert (error.number, error.because) == ("OPK0241", because)
    assert error.message.startswith("the default of attr 'alpha' is ")


@pytest.mark.parametrize(
    "word", ["list", "complex", "None", "3", "list[complex]", "list[list[float]]", "list[int, int]", "__import__('typing').List", "{}"]
)
def test_an_attr_type_that_opkit_doesn_t_know_lists_those_it_does(folder: SpecFolder, word: str) -> None:
    error = folder.add_mistake(attrs=f'[Attr("alpha", {word})]')

    assert error.number == "OPK0240"
    assert error.help == f"an attr is {', '.join(kind.value for kind in AttrType)}"


@pytest.mark.case("B5")
@pytest.mark.parametrize(
    ("word", "near"), [("IntList", "ListInt"), ("StringList", "ListString"), ("list_ints", "list_int"), ("boolean", "bool")]
)
def test_a_misspelt_attr_type_comes_with_the_nearest(folder: SpecFolder, word: str, near: str) -> None:
    error = folder.add_mistake(attrs=f'[Attr("alpha", "{word}")]')

    assert error.number == "OPK0240"
    assert error.help == f"did you mean {near!r}?"


@pytest.mark.case("B5")
@pytest.mark.parametrize("word", ["NamedAttrs", "ListNamedAttrs"])
def test_attrs_of_attrs_are_refused_with_the_reason(folder: SpecFolder, word: str) -> None:
    error = folder.add_mistake(attrs=f'[Attr("alpha", "{word}")]')

    assert (error.number, error.message) == ("OPK0240", f"{word!r} is no attr type")
    assert error.because == "GE's public headers only declare that class, so a prototype with it doesn't compile"


INPUT_TAKES = "name, dtype, shape, optional, dynamic, count_attr, same_dtype, formats, value_depend"


@pytest.mark.parametrize(
    ("op", "message", "advice"),
    [
        ('Input("x", "T", layout="ND")', "Input takes no 'layout'", f"Input takes {INPUT_TAKES}"),
        ('Input("x", "T", shap="...")', "Input takes no 'shap'", "did you mean 'shape'?"),
        ('Input("x", "T", "...")', "Input takes 2 arguments by position, and more are given", f"Input takes {INPUT_TAKES}"),
        ('Input("x")', "Input lacks 'dtype'", None),
        ("Input(3, 'T')", "name of Input is 3, not a text", None),
    ],
)
def test_an_argument_that_has_no_place_is_told_with_those_that_have(folder: SpecFolder, op: str, message: str, advice: str | None) -> None:
    found = folder.mistakes(add_spec().replace('Input("y", "T", shape="...")', op))

    assert [(error.message, error.help) for error in found if error.message == message] == [(message, advice)]


@pytest.mark.parametrize("reference", ["lambda x, y: x", "lambda *a: a", "lambda a, b, *, alpha=0: a", "np.add", "str.join"])
def test_a_reference_that_takes_the_inputs_is_kept_as_it_is(folder: SpecFolder, reference: str) -> None:
    op = folder.load("import numpy as np\n" + add_spec().replace("kernel=kernel", f"reference={reference}, kernel=kernel")).ops[0]

    assert callable(op.reference)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("lambda x: x", "the reference can't be called as reference(x, y, alpha=…)"),
        ("lambda x, y: x", "the reference can't be called as reference(x, y, alpha=…)"),
        ("lambda x, y, beta: x", "the reference can't be called as reference(x, y, alpha=…)"),
        ("3", "the reference is 3, which can't be called"),
    ],
)
def test_a_reference_that_can_t_be_called_with_inputs_and_attrs_is_refused(folder: SpecFolder, reference: str, message: str) -> None:
    error = folder.add_mistake(reference=reference, attrs='[Attr("alpha", int)]')

    assert (error.number, error.message) == ("OPK0271", message)


def test_a_message_shows_a_value_without_its_address(folder: SpecFolder) -> None:
    error = folder.add_mistake(reference="None", refresh="object()")

    assert error.message == "<object> is no way to refresh addresses"
    assert not re.search("0x[0-9a-f]+", error.render())


def test_a_value_may_be_numpy_s(folder: SpecFolder) -> None:
    text = add_spec().replace("kernel=kernel", 'attrs=[Attr("k", int, default=np.int64(3))], kernel=kernel')
    package = folder.load("import numpy as np\n" + text.replace("1024)", "np.int32(1024))"))

    assert (package.ops[0].attr("k").default, type(package.ops[0].attr("k").default)) == (3, int)
    assert str(package.ops[0].kernel.blocks) == 'ceil_div(numel("x"), 1024)'


def test_what_a_caller_looks_up_by_name(folder: SpecFolder, tmp_path: Path) -> None:
    package = folder.add(attrs='[Attr("alpha", float, default=0.5)]')
    (op,) = package.ops

    assert op.port("z") is op.outputs[0]
    assert op.attr("alpha").default == 0.5
    assert package.root == tmp_path
    assert package.kernel_files == (tmp_path / "kernels/add.asc",)
