"""The rules of dtypes: crossed lists, promotion, an attr that decides, SoCs that differ, and what each refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from spec_support import add_spec

if TYPE_CHECKING:
    from spec_support import SpecFolder

    from opkit.spec import Op

TWO_SYMBOLS = '[Input("x", "T1", shape="..."), Input("y", "T2", shape="...")]'


def rows(op: Op) -> list[str]:
    return [" ".join(dtype.name for dtype in combo.ports.values()) for combo in op.dtype_combos()]


def from_attr(folder: SpecFolder, output: str = 'from_attr("to", ["float16", "int8"])', **changes: str) -> Op:
    return folder.load(add_spec({"outputs": f'[Output("z", {output}, shape="...")]', "attrs": '[Attr("to", int)]', **changes})).ops[0]


def test_product_crosses_symbols_and_lists_the_last_fastest(folder: SpecFolder) -> None:
    op = folder.add_op(
        inputs='[Input("x", "T", shape="..."), Input("y", ["int32", "int64"], shape="...")]',
        dtypes='{"T": ["float32", "float16"]}',
        dtype_mode='"product"',
    )

    assert rows(op) == ["float32 int32 float32", "float32 int64 float32", "float16 int32 float16", "float16 int64 float16"]
    assert [dtype.name for dtype in op.dtypes["T"]] == ["float32", "float32", "float16", "float16"]
    assert op.outputs_told_by_graph() == ()


def test_columns_are_the_mode_without_a_word(folder: SpecFolder) -> None:
    assert rows(folder.add_op(dtypes='{"T": ["float32", "int8"]}')) == rows(
        folder.add_op(dtypes='{"T": ["float32", "int8"]}', dtype_mode='"columns"')
    )


@pytest.mark.case("C12")
def test_a_promotion_follows_from_each_combination(folder: SpecFolder) -> None:
    op = folder.add_op(
        inputs=TWO_SYMBOLS,
        outputs='[Output("z", "T3", shape="...")]',
        dtypes='{"T1": ["int32", "float16"], "T2": ["bool", "float32"], "T3": Promote("T1", "T2")}',
        dtype_mode='"product"',
    )

    assert rows(op) == ["int32 bool int32", "int32 float32 float32", "float16 bool float16", "float16 float32 float32"]
    assert op.promotes == {"T3": ("T1", "T2")}


def test_crossed_dtypes_without_a_promotion_are_no_combination(folder: SpecFolder) -> None:
    op = folder.add_op(
        inputs=TWO_SYMBOLS,
        outputs='[Output("z", "T3", shape="...")]',
        dtypes='{"T1": ["float32", "uint64"], "T2": ["float32", "uint64"], "T3": Promote("T1", "T2")}',
        dtype_mode='"product"',
    )

    assert rows(op) == ["float32 float32 float32", "uint64 uint64 uint64"]


def test_an_attr_chooses_an_output_s_dtype_beside_any_inputs(folder: SpecFolder) -> None:
    for output, dtypes in (('from_attr("to", ["float16", "int8"])', "{}"), ('"U"', '{"U": from_attr("to", ["float16", "int8"])}')):
        op = from_attr(folder, output, dtypes=dtypes[:-1] + (", " if dtypes != "{}" else "") + '"T": ["float32", "int32"]}')

        assert sorted(rows(op)) == sorted(f"{x} {x} {z}" for x in ("float32", "int32") for z in ("float16", "int8"))
        assert op.outputs[0].dtype_attr == "to"
        assert op.outputs_told_by_graph() == ()


def test_an_attr_names_a_dtype_by_ge_s_number(folder: SpecFolder) -> None:
    op = from_attr(folder, attrs='[Attr("to", int, default=2)]')

    assert [op.attr("to").naming(combo.ports["z"]) for combo in op.dtype_combos()] == [1, 2]


def test_columns_that_differ_in_outputs_only_are_told_apart_by_the_graph(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR mask, int64_t length")
    op = folder.add_op(
        outputs='[Output("z", "U", shape="..."), Output("mask", "uint8", shape="...")]',
        dtypes='{"T": ["float32", "float32", "int8"], "U": ["float32", "bool", "int8"]}',
        launch={"args": '["x", "y", "z", "mask", numel("x")]'},
    )

    assert rows(op) == ["float32 float32 float32 uint8", "float32 float32 bool uint8", "int8 int8 int8 uint8"]
    assert [output.name for output in op.outputs_told_by_graph()] == ["z"]


def test_a_soc_has_the_rows_of_the_longest_name_that_its_own_begins_with(folder: SpecFolder) -> None:
    by_soc = 'per_soc({"default": ["float32", "float16"], "Ascend910": ["float32"], "Ascend910B": ["float32", "bfloat16"]})'
    op = folder.add_op(dtypes=f'{{"T": {by_soc}}}')

    assert [row.split()[0] for row in rows(op)] == ["float32", "float16", "bfloat16"]
    assert op.soc_rows == {
        "Ascend910": (True, False, False),
        "Ascend910B": (True, False, True),
        "default": (True, True, False),
    }


def test_a_soc_that_one_symbol_names_takes_the_others_by_their_names(folder: SpecFolder) -> None:
    op = folder.add_op(
        inputs=TWO_SYMBOLS,
        outputs='[Output("z", "T1", shape="...")]',
        dtypes='{"T1": per_soc({"Ascend910": "int8", "default": "int32"}), "T2": per_soc({"Ascend910B": "int8", "default": "bool"})}',
        dtype_mode='"product"',
    )

    allowed = {soc: [row for row, is_there in zip(rows(op), there, strict=True) if is_there] for soc, there in op.soc_rows.items()}
    assert allowed == {"Ascend910": ["int8 bool int8"], "Ascend910B": ["int8 int8 int8"], "default": ["int32 bool int32"]}


@pytest.mark.parametrize(
    ("soc", "here"),
    [
        ("Ascend910B3", ["float32", "bfloat16"]),
        ("Ascend910A", ["float32"]),
        ("Ascend310P3", ["float32", "float16"]),
        ("ascend910B3", ["float32", "float16"]),
        ("default", ["float32", "float16"]),
        (None, ["float32"]),
    ],
)
def test_the_combinations_on_a_soc_are_those_of_the_longest_name(folder: SpecFolder, soc: str | None, here: list[str]) -> None:
    by_soc = 'per_soc({"default": ["float32", "float16"], "Ascend910": ["float32"], "Ascend910B": ["float32", "bfloat16"]})'
    op = folder.add_op(dtypes=f'{{"T": {by_soc}}}')

    assert [combo.symbols["T"].name for combo in op.combos_on(soc)] == here


def test_a_soc_that_no_name_stands_for_has_no_combination(folder: SpecFolder) -> None:
    op = folder.add_op(dtypes='{"T": per_soc({"Ascend310P": ["float16"]})}')

    assert op.combos_on("Ascend910B3") == ()
    assert folder.add_op(dtypes='{"T": ["float32"]}').combos_on("Ascend910B3") != ()


@pytest.mark.parametrize(
    ("soc", "likely"),
    [
        ("ascend910b", "Ascend910B"),
        ("ascend910b3", "Ascend910B3"),
        ("ascend910", "Ascend910"),
        ("ASCEND950", "Ascend950"),
        ("ascend950pr_9599", "Ascend950PR_9599"),
        ("Ascned310P", "Ascend310P"),
        ("Ascend91093", "Ascend910_93"),
        ("910B", "Ascend910B"),
        ("Default", "default"),
        ("A100", None),
    ],
)
def test_a_name_that_no_soc_s_begins_with_is_warned_of(folder: SpecFolder, soc: str, likely: str | None) -> None:
    (warning,) = folder.add(dtypes=f'{{"T": per_soc({{"{soc}": ["float32"], "Ascend310B": ["float16"]}})}}').warnings

    assert (warning.number, warning.message) == ("OPK0225", f"no SoC that opkit knows has a name that begins with '{soc}'")
    assert warning.help == (None if likely is None else f"did you mean '{likely}'?")
    assert warning.where.startswith("ops.py:")


@pytest.mark.parametrize("soc", ["Ascend910X", "Ascend9101", "Ascend310Px", "Ascend610Light"])
def test_a_name_that_only_begins_as_one_does_is_warned_of_too(folder: SpecFolder, soc: str) -> None:
    assert [warning.number for warning in folder.add(dtypes=f'{{"T": per_soc({{"{soc}": ["float32"]}})}}').warnings] == ["OPK0225"]


@pytest.mark.parametrize(
    "soc",
    ["default", "Ascend", "Ascend310", "Ascend310P", "Ascend910", "Ascend910B", "Ascend910B2C", "Ascend910B4-1", "Ascend910B9",
     "Ascend910_93", "Ascend910_9599", "Ascend910ProA", "Ascend950", "Ascend950PR_9599", "KirinX90", "BS9SX1AA"],
)  # fmt: skip
def test_a_soc_and_a_new_model_of_a_known_family_are_not_warned_of(folder: SpecFolder, soc: str) -> None:
    assert folder.add(dtypes=f'{{"T": per_soc({{"{soc}": ["float32"]}})}}').warnings == ()


def test_too_many_combinations_are_refused_with_their_factors(folder: SpecFolder) -> None:
    ints = '["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool", "float32", "float16"]'
    error = folder.add_mistake(
        inputs=TWO_SYMBOLS,
        outputs='[Output("z", "T3", shape="...")]',
        dtypes=f'{{"T1": {ints}, "T2": {ints}, "T3": {ints}}}',
        dtype_mode='"product"',
    )

    assert (error.number, error.message) == ("OPK0224", "the dtypes make 1,331 combinations, and an op has at most 1,024")
    assert error.because == "11 (symbol 'T1') x 11 (symbol 'T2') x 11 (symbol 'T3')"


@pytest.mark.case("C12")
@pytest.mark.parametrize(
    ("dtypes", "mode", "number", "message", "because"),
    [
        ('{"T1": "int8", "T2": "int8", "T3": Promote("T1")}', "columns", "0224", "Promote takes two symbols or more", None),
        ('{"T1": "int8", "T2": "int8", "T3": Promote("T1", 3)}', "columns", "0224", "Promote takes two symbols or more", None),
        ('{"T1": "int8", "T2": "int8", "T3": Promote("T1", "T9")}', "columns", "0224", "'T3' can't promote 'T9'", "dtypes has T1, T2"),
        (
            '{"T1": "int8", "T2": "int8", "T3": Promote("T1", "T3")}',
            "columns",
            "0224",
            "'T3' can't promote 'T3'",
            "that is a promotion itself; name what it promotes",
        ),
        (
            '{"T1": ["int8", "string"], "T2": "int8", "T3": Promote("T1", "T2")}',
            "columns",
            "0224",
            "the symbol 'T3' has no dtype in one column: there is no promotion",
            "a column has T1 string, T2 int8",
        ),
        ('{"T1": "string", "T2": "int8", "T3": Promote("T1", "T2")}', "product", "0224", "no combination of the dtypes promotes", None),
        ('{"T1": ["int8", "int8"], "T2": "int8", "T3": "int8"}', "product", "0221", "symbol 'T1' has int8 twice", None),
        ('{"T1": "int8", "T2": "int8", "T3": "int8"}', "produkt", "0224", "'produkt' is no dtype_mode", None),
        ('{"T1": "int8", "T2": "int8", "T3": "int8"}', ["columns"], "0224", "['columns'] is no dtype_mode", None),
        ('{"T1": "int8", "T2": "int8", "T3": per_soc({})}', "columns", "0224", "per_soc takes a dict of dtypes by SoC", None),
        ('{"T1": "int8", "T2": "int8", "T3": per_soc(["int8"])}', "columns", "0224", "per_soc takes a dict of dtypes by SoC", None),
        ('{"T1": "int8", "T2": "int8", "T3": per_soc({"default": []})}', "columns", "0224", "the SoC 'default' has no dtypes", None),
        ('{"T1": "int8", "T2": "int8", "T3": per_soc({"default": "int9"})}', "columns", "0220", "'int9' is no dtype", None),
        (
            '{"T1": "int8", "T2": "int8", "T3": per_soc({"a b": "int8"})}',
            "columns",
            "0224",
            "'a b' is no SoC",
            'a SoC is what its name begins with, such as "Ascend910B", or "default"',
        ),
    ],
)
def test_a_rule_that_gives_no_dtypes_says_why(  # noqa: PLR0917 - a row of a table
    folder: SpecFolder, dtypes: str, mode: str, number: str, message: str, because: str | None
) -> None:
    error = folder.add_mistake(inputs=TWO_SYMBOLS, outputs='[Output("z", "T3", shape="...")]', dtypes=dtypes, dtype_mode=repr(mode))

    assert (error.number, error.message, error.because) == (f"OPK{number}", message, because)


@pytest.mark.parametrize(
    ("output", "attrs", "message", "because"),
    [
        ('from_attr("t0", ["int8"])', "[Attr('to', int)]", "the dtype of output 'z' is from an attr 't0', which the op doesn't have", None),
        (
            'from_attr("to", ["int8"])',
            "[Attr('to', bool)]",
            "the dtype of output 'z' can't be from the attr 'to'",
            "it is a bool, and a dtype is a Type or, as GE's number, an int",
        ),
        (
            'from_attr("to", ["int8", "float16"])',
            "[Attr('to', int, default=7)]",
            "the default of 'to' is none of the dtypes of output 'z'",
            "it is 7, and they are int8 (2), float16 (1)",
        ),
        (
            'from_attr("to")',
            "[Attr('to', int)]",
            "from_attr takes the name of an attr and the dtypes that it can name",
            "REG_OP names the dtypes that an output can have",
        ),
        ('from_attr("to", [])', "[Attr('to', int)]", "from_attr('to', …) has no dtypes", None),
        ('Promote("T", "T")', "[Attr('to', int)]", "Promote(…) can't be the dtype of a port", "Promote is the rule of a symbol"),
        ('per_soc({"default": "int8"})', "[Attr('to', int)]", "per_soc(…) can't be the dtype of a port", "per_soc is the rule of a symbol"),
    ],
)
def test_a_dtype_that_no_attr_can_give_is_refused(folder: SpecFolder, output: str, attrs: str, message: str, because: str | None) -> None:
    error = folder.add_mistake(outputs=f'[Output("z", {output}, shape="...")]', attrs=attrs)

    assert (error.number, error.message, error.because) == ("OPK0224", message, because)


def test_an_input_can_t_have_its_dtype_from_an_attr(folder: SpecFolder) -> None:
    inline = add_spec(attrs='[Attr("to", int)]').replace('Input("y", "T"', 'Input("y", from_attr("to", ["int8"])')
    symbol = add_spec(attrs='[Attr("to", int)]', dtypes='{"T": "int8", "U": from_attr("to", ["int8"])}').replace('"y", "T"', '"y", "U"')
    for spec in (inline, symbol):
        error = folder.mistake(spec)
        assert (error.number, error.message) == ("OPK0224", "the dtype of input 'y' can't follow an attr")


def test_an_output_changed_in_place_is_crossed_once(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, int64_t length")
    op = folder.add_op(
        inputs='[Input("x", ["int8", "int32"], shape="..."), Input("y", ["bool", "uint8"], shape="...")]',
        outputs='[Output("x", ["int8", "int32"], shape="...")]',
        dtypes="",
        dtype_mode='"product"',
        launch={"args": '["x", "y", numel("x")]'},
    )

    assert len(op.dtype_combos()) == 4
    assert op.outputs[0].dtypes == op.inputs[0].dtypes


def test_a_benchmark_whose_attr_names_no_dtype_of_the_output_is_refused(folder: SpecFolder) -> None:
    spec = add_spec(outputs='[Output("z", from_attr("to", ["float16", "int8"]), shape="...")]', attrs='[Attr("to", int)]')
    measured = spec.replace("ops=[op]", 'ops=[op], benchmark=Benchmark(op, shapes={"x": (8,), "y": (8,)}, attrs={"to": TO})')

    error = folder.mistake(measured.replace("TO}", "9}"))
    assert (error.number, error.because) == ("OPK0280", "z is float16, int8")
    benchmark = folder.load(measured.replace("TO}", "2}")).benchmark
    assert benchmark is not None
    assert [combo.ports["z"].name for combo in benchmark.op.dtype_combos(benchmark.attrs)] == ["int8"]


# ---- an output's dtype that nothing says ----

ABSENT = {
    "inputs": '[Input("x", "T", shape="..."), Input("y", "U", shape="...", optional=True)]',
    "outputs": '[Output("z", "V", shape="...")]',
    "dtypes": '{"T": ["float32", "float16"], "U": ["float32", "float16"], "V": Promote("T", "U")}',
    "dtype_mode": '"product"',
}


@pytest.mark.parametrize("kind", ["optional=True", "optional=True, dynamic=True"])
def test_an_output_s_dtype_can_t_depend_on_an_input_that_may_be_absent(folder: SpecFolder, kind: str) -> None:
    changes = ABSENT | {"inputs": ABSENT["inputs"].replace("optional=True", kind)}
    args = '["x", address_list("y"), "z", 3]' if "dynamic" in kind else '["x", "y", "z", 3]'
    error = folder.mistake(add_spec(changes, launch={"args": args}))

    assert (error.number, error.message) == ("OPK0224", "the dtype of 'z' depends on 'y', which may be absent")
    assert error.because == "x float16 gives z float32 in combination 3, and float16 in combination 4"


def test_an_output_s_dtype_can_t_depend_on_the_soc_s_dtype_of_an_absent_input(folder: SpecFolder) -> None:
    """GE asks for an output's dtype before anything knows the SoC, so what one SoC alone would decide stays open."""
    by_soc = 'per_soc({"Ascend910B": ["float32"], "default": ["float16"]})'
    changes = ABSENT | {"dtype_mode": '"columns"', "inputs": ABSENT["inputs"].replace('"T"', '"int8"')}
    error = folder.mistake(add_spec(changes | {"dtypes": f'{{"U": {by_soc}, "V": ["float32", "float16"]}}'}))

    assert (error.number, error.message) == ("OPK0224", "the dtype of 'z' depends on 'y', which may be absent")
    assert error.because == "x int8 gives z float32 in combination 1, and float16 in combination 2"
    assert folder.load(add_spec(changes, dtypes=f'{{"U": {by_soc}, "V": ["int32", "int32"]}}')).ops[0].outputs_told_by_graph() == ()


def test_a_column_differs_from_another_without_the_input_that_may_be_absent(folder: SpecFolder) -> None:
    columns = '{"T": ["float32", "float32"], "U": ["float32", "float16"], "V": ["float32", "float16"]}'
    error = folder.mistake(add_spec(ABSENT | {"dtypes": columns, "dtype_mode": '"columns"'}))

    assert error.message == "the dtype of 'z' depends on 'y', which may be absent"
    assert error.because == "x float32 gives z float32 in combination 1, and float16 in combination 2"


@pytest.mark.parametrize(
    "changes",
    [
        {"dtypes": '{"T": ["float32", "float16"], "U": ["float32", "float16"], "V": ["float32", "float16"]}', "dtype_mode": '"columns"'},
        {"outputs": '[Output("z", from_attr("to", ["float32", "float16"]), shape="...")]', "attrs": '[Attr("to", int)]',
         "dtypes": '{"T": ["float32", "float16"], "U": ["float32", "float16"]}'},
        # The graph tells the dtype of z, whatever y is.
        {"dtypes": '{"T": ["int8"] * 3, "U": ["int8", "int8", "int32"], "V": ["int8", "int32", "int8"]}', "dtype_mode": '"columns"'},
    ],
    ids=["the others decide", "an attr decides", "the graph decides"],
)  # fmt: skip
def test_an_absent_input_leaves_a_dtype_that_something_else_decides(folder: SpecFolder, changes: dict[str, str]) -> None:
    assert folder.load(add_spec(ABSENT | changes))


def test_an_output_s_dtype_can_t_depend_on_a_list_of_any_dtypes(folder: SpecFolder) -> None:
    inputs = '[Input("x", "T", shape="..."), Input("y", "U", shape="...", dynamic=True, same_dtype=False)]'
    error = folder.mistake(add_spec(ABSENT | {"inputs": inputs}, launch={"args": '["x", address_list("y"), "z", 3]'}))

    assert (error.number, error.message) == (
        "OPK0224",
        "the dtype of 'z' depends on 'y', whose tensors may each have another",
    )
