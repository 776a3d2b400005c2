"""Shape patterns: what they bind, what they refuse, and the shapes and dtypes of outputs that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.errors import SpecError
from opkit.spec import DimGroup, FixedDim, NamedDim, Op
from opkit.spec.shapes import Bindings, PatternError, match, parse_pattern, shape_of

if TYPE_CHECKING:
    from spec_support import SpecFolder


def bound(pattern: str, shape: tuple[int, ...]) -> Bindings:
    bindings: Bindings = {}
    reason = match(parse_pattern(pattern), shape, bindings)
    assert reason is None, reason
    return bindings


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("", ()),
        ("...", (DimGroup("..."),)),
        ("n", (NamedDim("n"),)),
        ("3", (FixedDim(3),)),
        ("0", (FixedDim(0),)),
        ("  n   k ", (NamedDim("n"), NamedDim("k"))),
        ("*batch n 3", (DimGroup("batch"), NamedDim("n"), FixedDim(3))),
        ("n ... 16", (NamedDim("n"), DimGroup("..."), FixedDim(16))),
    ],
)
def test_a_pattern_is_its_words(text: str, items: tuple[object, ...]) -> None:
    assert parse_pattern(text).items == items


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("n, k", "dims are separated by blanks, not commas"),
        ("-1", "'-1' is no dim: a dim is a name, a number, `...` or `*name`"),
        ("n*2", "'n*2' is no dim: a dim is a name, a number, `...` or `*name`"),
        ("*", "'*' is no dim: a dim is a name, a number, `...` or `*name`"),
        ("_", "'_' is no dim: a dim is a name, a number, `...` or `*name`"),
        ("٣", "'٣' is no dim: a dim is a name, a number, `...` or `*name`"),
        ("n *n", "'n' is a dim and a group at once"),
        ("9223372036854775808", "9223372036854775808 doesn't fit in int64"),
        ("1 " * 26, "26 dims, and GE has at most 25"),
    ],
)
def test_a_text_that_is_no_pattern_says_why(text: str, because: str) -> None:
    with pytest.raises(PatternError) as caught:
        parse_pattern(text)
    assert str(caught.value) == because


def test_a_group_takes_what_the_other_dims_leave() -> None:
    assert bound("b ... n", (2, 3, 4, 5)) == {NamedDim("b"): (2,), DimGroup("..."): (3, 4), NamedDim("n"): (5,)}
    assert bound("b ... n", (2, 5)) == {NamedDim("b"): (2,), DimGroup("..."): (), NamedDim("n"): (5,)}
    assert bound("...", ()) == {DimGroup("..."): ()}


@pytest.mark.parametrize(
    ("pattern", "shape", "reason"),
    [
        ("n k", (3,), "the rank is 1, and the pattern 'n k' has 2"),
        ("", (3,), "the rank is 1, and the pattern '' has 0"),
        ("b ... n", (3,), "the rank is 1, and the pattern 'b ... n' has at least 2"),
        ("n 3", (2, 4), "dim 1 is 4, and the pattern 'n 3' fixes 3"),
        ("n n", (2, 4), "`n` is 4 here and 2 on an input before"),
    ],
)
def test_a_shape_that_breaks_its_pattern_says_where(pattern: str, shape: tuple[int, ...], reason: str) -> None:
    assert match(parse_pattern(pattern), shape, {}) == reason


dims = st.integers(0, 9)


@given(st.lists(dims, max_size=3), st.lists(dims, max_size=4), st.lists(dims, max_size=3))
def test_a_matched_pattern_gives_the_shape_back(before: list[int], middle: list[int], after: list[int]) -> None:
    words = [*(f"a{index}" for index in range(len(before))), "*mid", *(f"z{index}" for index in range(len(after)))]
    pattern = parse_pattern(" ".join(words))
    shape = (*before, *middle, *after)
    bindings: Bindings = {}

    assert match(pattern, shape, bindings) is None
    assert bindings[DimGroup("mid")] == tuple(middle)
    assert shape_of(pattern, bindings) == shape


@given(st.lists(dims, max_size=6), st.lists(dims, max_size=6))
def test_two_ports_of_one_group_agree_exactly_when_their_shapes_are_equal(first: list[int], second: list[int]) -> None:
    bindings: Bindings = {}
    pattern = parse_pattern("...")

    assert match(pattern, first, bindings) is None
    assert (match(pattern, second, bindings) is None) == (first == second)


def matmul(folder: SpecFolder) -> Op:
    return folder.add_op(
        inputs='[Input("x", "T", shape="*batch m k"), Input("y", "T", shape="k n")]',
        outputs='[Output("z", "T", shape="*batch m n 1")]',
        attrs="[]",
    )


def test_output_shapes_follow_from_the_inputs(folder: SpecFolder) -> None:
    op = matmul(folder)

    assert op.infer_shapes({"x": (7, 2, 3), "y": (3, 5)}) == {"z": (7, 2, 5, 1)}
    assert op.infer_shapes({"x": [2, 0], "y": [0, 5]}) == {"z": (2, 5, 1)}


@pytest.mark.parametrize(
    ("shapes", "message", "because"),
    [
        ({"x": (2, 3), "y": (4, 5)}, "AddCustom can't take [4, 5] as input 'y'", "`k` is 4 here and 3 on an input before"),
        ({"x": (3,), "y": (4, 5)}, "AddCustom can't take [3] as input 'x'", "the rank is 1, and the pattern '*batch m k' has at least 2"),
        ({"x": (2, -1), "y": (4, 5)}, "AddCustom can't take [2, -1] as input 'x'", "a dim is negative"),
        ({"x": (2, 2**63), "y": (4, 5)}, "AddCustom can't take [2, 9223372036854775808] as input 'x'", "a dim doesn't fit in int64"),
        ({"x": (1,) * 26, "y": (4, 5)}, f"AddCustom can't take {[1] * 26} as input 'x'", "GE has at most 25 dims"),
        ({"x": (2, 3)}, "AddCustom gets no shape for input 'y'", None),
        ({"x": (2, 3), "y": (3, 4), "yy": (1,)}, "AddCustom has no input 'yy'", None),
    ],
)
def test_shapes_that_the_op_can_t_take_are_one_clear_error(
    folder: SpecFolder, shapes: dict[str, tuple[int, ...]], message: str, because: str | None
) -> None:
    with pytest.raises(SpecError) as caught:
        matmul(folder).infer_shapes(shapes)
    assert (caught.value.number, caught.value.message, caught.value.because) == ("OPK0290", message, because)
    assert caught.value.where is not None
    assert caught.value.where.startswith("ops.py:3 ")


def test_an_input_without_a_pattern_takes_any_shape(folder: SpecFolder) -> None:
    op = folder.add_op(inputs='[Input("x", "T", shape="n"), Input("y", "T")]', outputs='[Output("z", "T", shape="n")]')

    assert op.inputs[1].shape is None
    assert op.infer_shapes({"x": (3,), "y": (1, 2, 3)}) == {"z": (3,)}


def test_an_output_may_have_fixed_dims_only(folder: SpecFolder) -> None:
    op = folder.add_op(outputs='[Output("z", "T", shape="8 3")]')

    assert op.infer_shapes({"x": (2,), "y": (2,)}) == {"z": (8, 3)}


@pytest.mark.parametrize("outputs", ['[Output("z", "T")]', '[Output("z", "T", shape=None)]'])
def test_an_output_without_a_shape_rule_is_refused(folder: SpecFolder, outputs: str) -> None:
    error = folder.add_mistake(outputs=outputs)

    assert (error.number, error.message) == ("OPK0213", "output 'z' has no shape rule")
    assert error.because == "GE would infer an unknown rank and leave the static path"


def test_each_output_needs_its_own_shape_rule(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR mask")
    error = folder.add_mistake(
        outputs='[Output("z", "T", shape="..."), Output("mask", "uint8")]', launch={"args": '["x", "y", "z", "mask"]'}
    )

    assert (error.number, error.message) == ("OPK0213", "output 'mask' has no shape rule")


def test_an_output_that_uses_a_name_which_no_input_binds_is_refused(folder: SpecFolder) -> None:
    error = folder.add_mistake(
        inputs='[Input("x", "T", shape="rows cols"), Input("y", "T", shape="rows cols")]', outputs='[Output("z", "T", shape="rows col")]'
    )

    assert (error.number, error.message) == ("OPK0231", "the shape of output 'z' uses `col`, which no input binds")
    assert error.help == "did you mean 'cols'?"


def test_an_output_group_needs_an_input_of_that_group(folder: SpecFolder) -> None:
    error = folder.add_mistake(inputs='[Input("x", "T", shape="n"), Input("y", "T")]')

    assert (error.message, error.help) == ("the shape of output 'z' uses `...`, which no input binds", "the inputs bind n")


def test_two_groups_in_an_input_are_ambiguous(folder: SpecFolder) -> None:
    error = folder.add_mistake(inputs='[Input("x", "T", shape="*a *b"), Input("y", "T", shape="...")]')

    assert (error.number, error.message) == ("OPK0230", "the shape of input 'x' has 2 groups")


def test_two_groups_in_an_output_are_joined(folder: SpecFolder) -> None:
    op = folder.add_op(inputs='[Input("x", "T", shape="*a"), Input("y", "T", shape="*b")]', outputs='[Output("z", "T", shape="*b *a")]')

    assert op.infer_shapes({"x": (1, 2), "y": (3,)}) == {"z": (3, 1, 2)}


@pytest.mark.parametrize("shape", ["(3, 4)", "3", "['n']"])
def test_a_shape_that_is_no_text_is_refused(folder: SpecFolder, shape: str) -> None:
    error = folder.add_mistake(inputs=f'[Input("x", "T", shape={shape}), Input("y", "T", shape="...")]')

    assert error.number == "OPK0208"
    assert error.message.startswith("shape of Input is ")


def test_each_output_has_its_own_dtype(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR mask, GM_ADDR idx, int64_t n")
    op = folder.add_op(
        inputs='[Input("x", "float16", shape="...")]',
        outputs='[Output("y", "float16", shape="..."), Output("mask", "uint8", shape="..."), Output("idx", "int32", shape="...")]',
        dtypes="",
        launch={"args": '["x", "y", "mask", "idx", numel("x")]'},
    )

    (combo,) = op.dtype_combos()
    assert {name: dtype.name for name, dtype in combo.ports.items()} == {"x": "float16", "y": "float16", "mask": "uint8", "idx": "int32"}
    assert [dtype.bytes for dtype in combo.ports.values()] == [2, 2, 1, 4]
