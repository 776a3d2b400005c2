"""Shape patterns: what they bind, what they refuse, and the shapes and dtypes of outputs that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_support import add_spec

from opkit.errors import SpecError
from opkit.spec import DimGroup, FixedDim, NamedDim, Op
from opkit.spec.shapes import Bindings, PatternError, UserShape, match, parse_pattern, shape_of

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
        ("n*2", "'n*2' is no dim: an expression stands in brackets, as in `n (k // 2)`"),
        ("*", "'*' is no dim: a dim is a name, a number, `...` or `*name`"),
        ("_", "'_' is no dim: a dim is a name, a number, `...` or `*name`"),
        ("٣", "'٣' is no dim: a dim is a name, a number, `...` or `*name`"),
        ("n *n", "'n' is a dim and a group at once"),
        ("9223372036854775808", "9223372036854775808 doesn't fit in int64"),
        ("9" * 5000, "a number of 5000 digits doesn't fit in int64"),
        ("(0x" + "f" * 5000 + ")", "an integer of 20000 bits doesn't fit in int64"),
        (f"({'+'.join(['n'] * 102)})", "its operators stand more than 100 deep inside each other"),
        (f"({'+'.join(['n'] * 990)})", "its operators stand more than 100 deep inside each other"),
        ("1 " * 26, "26 dims, and GE has at most 25"),
    ],
)
def test_a_text_that_is_no_pattern_says_why(text: str, because: str) -> None:
    with pytest.raises(PatternError) as caught:
        parse_pattern(text)
    assert str(caught.value) == because


@pytest.mark.parametrize("text", ["n\nk", "n\r\n  k", " n \u2028k\x0b"])
def test_a_pattern_of_several_lines_is_told_on_one(text: str) -> None:
    # It stands behind `//` in the generated C++.
    assert parse_pattern(text).text == "n k"
    assert parse_pattern("n (k //\n 2)").with_attrs(["k"]).text == "n (k // 2)"


def test_a_dim_may_be_a_long_sum(folder: SpecFolder) -> None:
    op = folder.add_op(
        inputs='[Input("x", "T", shape="n"), Input("y", "T")]', outputs=f'[Output("z", "T", shape="({" + ".join(["n"] * 101)})")]'
    )

    assert op.infer_shapes({"x": (3,), "y": (1,)}) == {"z": (303,)}


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
    assert shape_of(pattern, bindings, {}) == shape


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


@pytest.mark.case("C1")
@pytest.mark.parametrize("outputs", ['[Output("z", "T")]', '[Output("z", "T", shape=None)]'])
def test_an_output_without_a_shape_rule_is_refused(folder: SpecFolder, outputs: str) -> None:
    error = folder.add_mistake(outputs=outputs)

    assert (error.number, error.message) == ("OPK0213", "output 'z' has no shape rule")
    assert error.because == "GE would infer an unknown rank and leave the static path"


@pytest.mark.case("C1")
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


@pytest.mark.case("C2")
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


def output(folder: SpecFolder, shape: str, **changes: str) -> Op:
    given = {"outputs": f'[Output("z", "T", shape={shape})]', "inputs": MATRICES, "attrs": INTS, **changes}
    return folder.load(add_spec(given)).ops[0]


def output_mistake(folder: SpecFolder, shape: str, **changes: str) -> SpecError:
    return folder.mistake(add_spec({"outputs": f'[Output("z", "T", shape={shape})]', "inputs": MATRICES, "attrs": INTS, **changes}))


MATRICES = '[Input("x", "T", shape="n k"), Input("y", "T", shape="*b k")]'
INTS = '[Attr("bins", int), Attr("times", int, default=2), Attr("mode", str, default="")]'
X_AND_Y = {"x": (4, 7), "y": (3, 7)}


@pytest.mark.parametrize(
    ("shape", "attrs", "expected"),
    [
        ('"bins"', {"bins": 5}, (5,)),
        ('"n bins *b"', {"bins": 0}, (4, 0, 3)),
        ('"n (k // 2)"', {"bins": 5}, (4, 3)),
        ('"(k // times) (n+1)"', {"bins": 5}, (3, 5)),
        ('"(k // times)"', {"bins": 5, "times": 3}, (2,)),
        ('"(k)  ( n )"', {"bins": 5}, (7, 4)),
        ('"(2 * 3) k"', {"bins": 5}, (6, 7)),
        ('"(ceil_div(k, 2)) (min_(n, k)) (max_(n, bins))"', {"bins": 5}, (4, 4, 5)),
        ('"(-n + k)"', {"bins": 5}, (3,)),
    ],
)
def test_a_dim_may_be_an_attr_or_computed(folder: SpecFolder, shape: str, attrs: dict[str, int], expected: tuple[int, ...]) -> None:
    assert output(folder, shape).infer_shapes(X_AND_Y, attrs)["z"] == expected


@pytest.mark.parametrize(
    ("shape", "attrs", "because"),
    [
        ('"(n - k)"', {}, "the dim `n - k` has no size here: it is -3"),
        ('"bins"', {"bins": -1}, "the dim `bins` has no size here: it is -1"),
        (
            '"(n // bins)"',
            {"bins": 0},
            'the size expression `n // attr("bins")` has no value here: 4 // 0 divides by 0, and a divisor must be positive',
        ),
    ],
)
def test_a_computed_dim_without_a_size_is_an_error(folder: SpecFolder, shape: str, attrs: dict[str, int], because: str) -> None:
    with pytest.raises(SpecError) as caught:
        output(folder, shape).infer_shapes(X_AND_Y, attrs)
    assert (caught.value.message, caught.value.because) == ("AddCustom has no shape for output 'z'", because)


def test_a_shape_from_an_attr_that_isn_t_given_is_an_error(folder: SpecFolder) -> None:
    with pytest.raises(SpecError, match="gets no attr 'bins', which output 'z' has in its shape"):
        output(folder, '"bins"').infer_shapes(X_AND_Y)


@pytest.mark.parametrize(
    ("shape", "number", "because"),
    [
        ('"n (k / 2)"', "0232", "`k / 2` gives a fraction: write // to round down, ceil_div to round up"),
        ('"(k ** 2)"', "0232", "`k ** 2` can't be part of a dim: use names, numbers, + - * // %, ceil_div, min_, max_ of two, rank(x)"),
        ('"(k + 1.5)"', "0232", "`1.5` can't be part of a dim: use names, numbers, + - * // %, ceil_div, min_, max_ of two, rank(x)"),
        ('"(numel(x))"', "0232", "`numel(x)` can't be part of a dim: use names, numbers, + - * // %, ceil_div, min_, max_ of two, rank(x)"),
        ('"(k +)"', "0232", "`k +` is no expression"),
        ('"()"', "0232", "`()` can't be part of a dim: use names, numbers, + - * // %, ceil_div, min_, max_ of two, rank(x)"),
        ('"(2 - 3)"', "0232", "`2 - 3` is -1, and a dim isn't negative"),
        ('"(2 // 0)"', "0232", "2 // 0 divides by 0, and a divisor must be positive"),
        ('"(9223372036854775808)"', "0232", "9223372036854775808 doesn't fit in int64"),
        ('"(k // 2"', "0230", "'(k // 2' opens and closes different numbers of brackets"),
        ('"k) (n"', "0230", "'k) (n' opens and closes different numbers of brackets"),
        ('"ceil_div(k, 2)"', "0230", "'ceil_div(k, 2)' is no dim: an expression stands in brackets, as in `n (k // 2)`"),
    ],
)
def test_an_expression_that_is_no_dim_says_why(folder: SpecFolder, shape: str, number: str, because: str) -> None:
    error = output_mistake(folder, shape)

    assert (error.number, error.because) == (f"OPK{number}", because)


@pytest.mark.parametrize(
    ("shape", "number", "message"),
    [
        ('"mode"', "0232", "the shape of output 'z' has the attr `mode` as a dim"),
        ('"(k // mode)"', "0232", "the shape of output 'z' has the attr `mode` as a dim"),
        ('"(k // m)"', "0231", "the shape of output 'z' uses `m`, which no input binds"),
        ('"*bins"', "0231", "the shape of output 'z' uses `*bins`, which no input binds"),
        ('broadcast("x")', "0232", "broadcast takes the names of two inputs or more"),
        ('broadcast("x", "w")', "0231", "output 'z' broadcasts 'w', which is no input"),
        ('Promote("x", "y")', "0232", "Promote(…) is no shape"),
    ],
)
def test_a_shape_of_what_isn_t_there_is_refused(folder: SpecFolder, shape: str, number: str, message: str) -> None:
    error = output_mistake(folder, shape)

    assert (error.number, error.message) == (f"OPK{number}", message)


def test_a_name_that_is_a_dim_and_an_attr_is_refused_where_a_shape_has_it(folder: SpecFolder) -> None:
    error = output_mistake(folder, '"n k"', attrs='[Attr("k", int)]')
    assert (error.number, error.message) == ("OPK0256", "`k` in the shape of output 'z' is both a dim and an attr")
    assert output(folder, '"n"', attrs='[Attr("k", int)]').attr("k").name == "k"


@pytest.mark.parametrize(
    ("shape", "number", "message"),
    [
        ("n (k // 2)", "0232", "the shape of input 'y' computes a dim, `k // 2`"),
        ("(2)", None, None),
        ("(k)", None, None),
    ],
)
def test_an_input_has_no_computed_dims(folder: SpecFolder, shape: str, number: str | None, message: str | None) -> None:
    spec = add_spec(inputs=f'[Input("x", "T", shape="n k"), Input("y", "T", shape="{shape}")]', outputs='[Output("z", "T", shape="n k")]')
    if message is None:
        folder.load(spec)
    else:
        error = folder.mistake(spec)
        assert (error.number, error.message) == (f"OPK{number}", message)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ((4, 3), (4, 3), (4, 3)),
        ((4, 3), (), (4, 3)),
        ((1, 3), (4, 1), (4, 3)),
        ((3,), (5, 4, 1), (5, 4, 3)),
        ((0, 3), (1, 1), (0, 3)),
        ((2, 3), (4, 3), None),
        ((0,), (2,), None),
    ],
)
def test_a_broadcast_follows_numpy(folder: SpecFolder, x: tuple[int, ...], y: tuple[int, ...], expected: tuple[int, ...] | None) -> None:
    op = output(folder, 'broadcast("x", "y")', inputs='[Input("x", "T"), Input("y", "T", shape="*b")]')
    if expected is None:
        with pytest.raises(SpecError, match="can't broadcast its inputs"):
            op.infer_shapes({"x": x, "y": y})
    else:
        assert op.infer_shapes({"x": x, "y": y})["z"] == expected == np.broadcast_shapes(x, y)


USER_HEADER = "inline bool InferPad(const gert::InferShapeContext &ctx, gert::Shape &shape) { return true; }\n"


def test_a_shape_may_be_inferred_by_c_of_the_user_s(folder: SpecFolder) -> None:
    header = folder.write("ge/user/infer.h", USER_HEADER)
    op = output(folder, 'cpp("ge/user/infer.h", "InferPad")')

    assert op.outputs[0].shape == UserShape(header, "ge/user/infer.h", "InferPad")
    assert op.infer_shapes(X_AND_Y, {"bins": 1}) == {}
    assert header.read_text() == USER_HEADER


@pytest.mark.parametrize(
    ("shape", "message", "because"),
    [
        ('cpp("ge/user/infer.h")', "cpp takes the path of a header and the name of a function", None),
        ('cpp("ge/user/infer.h", "Infer Pad")', "'Infer Pad' is no name of a C++ function", None),
        ('cpp("ge/user/infer.h", "InferPadding")', "ge/user/infer.h has no function 'InferPadding'", None),
        ('cpp("ge/user/infer.h", "mine::InComment")', "ge/user/infer.h has no function 'mine::InComment'", None),
        ('cpp("ge/user/infer.h", "InText")', "ge/user/infer.h has no function 'InText'", None),
        ('cpp("ge/user/infer.h", "NoCall")', "ge/user/infer.h has no function 'NoCall'", None),
        (
            'cpp("../infer.h", "InferPad")',
            "'../infer.h' can't hold the shape rule of output 'z'",
            "it must be a path below the project that ends in .h or .hpp",
        ),
        (
            'cpp("ge/utils/size.h", "InferPad")',
            "'ge/utils/size.h' can't hold the shape rule of output 'z'",
            "opkit writes that file or folder itself",
        ),
        (
            'cpp("ge/infer.h", "InferPad")',
            "'ge/infer.h' can't hold the shape rule of output 'z'",
            "opkit writes that file or folder itself",
        ),
        (
            'cpp("ge/user/other.h", "InferPad")',
            "'ge/user/other.h' can't hold the shape rule of output 'z'",
            "{root}/ge/user/other.h doesn't exist",
        ),
    ],
)
def test_c_of_the_user_s_that_isn_t_there_is_refused(folder: SpecFolder, shape: str, message: str, because: str | None) -> None:
    folder.write("ge/user/infer.h", USER_HEADER + '// InComment(x)\nconst char *a = "InText(x)";\nstruct NoCall {};\n')
    error = output_mistake(folder, shape)

    assert (error.number, error.message) == ("OPK0233", message)
    assert error.because == (because and because.format(root=folder.root))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('const char *const kernels = "kernels/*.asc";\n', "/* the end */\n"),
        ('const char *const fence = R"(/*)";\n', "// */\n"),
        ("const char quote = '\"'; const int big = 1'000;\n", "const char other = '\"';\n"),
        ("#define EXPORT [[gnu::used]]\nnamespace pad {\nEXPORT ", "} // namespace pad\n"),
        ("template <typename T> ", ""),
    ],
)
def test_a_text_in_a_header_hides_no_function(folder: SpecFolder, before: str, after: str) -> None:
    folder.write("ge/user/infer.h", before + USER_HEADER + after)

    assert output(folder, 'cpp("ge/user/infer.h", "InferPad")')


@pytest.mark.parametrize("name", ["loop.h", "a" * 300 + ".h"])
def test_a_header_that_no_path_leads_to_is_refused(folder: SpecFolder, name: str) -> None:
    (folder.root / "loop.h").symlink_to("loop.h")
    error = output_mistake(folder, f'cpp("{name}", "InferPad")')

    assert error.number == "OPK0233"
    assert "can't hold the shape rule of output 'z'" in error.message


@pytest.mark.case("C9")
def test_only_c_of_the_user_s_reads_values(folder: SpecFolder) -> None:
    folder.write("ge/user/infer.h", USER_HEADER)
    inputs = '[Input("x", "T"), Input("y", "T", value_depend="required")]'

    error = output_mistake(folder, 'broadcast("x", "y")', inputs=inputs)
    assert (error.number, error.message) == ("OPK0234", "no rule reads the values of input 'y'")
    error = output_mistake(folder, 'cpp("ge/user/infer.h", "InferPad")', inputs=inputs.replace("required", "always"))
    assert (error.number, error.help) == ("OPK0234", "it is 'required' or 'optional'")
    assert output(folder, 'cpp("ge/user/infer.h", "InferPad")', inputs=inputs)


def test_a_benchmark_doesn_t_judge_sizes_of_a_shape_that_c_of_the_user_s_infers(folder: SpecFolder) -> None:
    folder.write("ge/user/infer.h", USER_HEADER)
    given = {"outputs": '[Output("z", "T", shape=cpp("ge/user/infer.h", "InferPad"))]', "inputs": MATRICES}
    spec = add_spec(given, launch={"args": '["x", "y", "z", dim("z", 0)]', "blocks": 'ceil_div(numel("z"), 8)'})
    package = folder.load(spec.replace("ops=[op]", 'ops=[op], benchmark=Benchmark(op, shapes={"x": (4, 7), "y": (7,)})'))

    assert package.benchmark is not None
    with pytest.raises(SpecError, match="has no value here") as caught:
        package.ops[0].kernel.blocks.evaluate(package.ops[0].scope({"x": (4, 7), "y": (7,)}, {}))
    assert caught.value.because == "the shape of 'z' is known only when the op runs"


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ('"n//2"', 'write "(n // 2)"'),
        ('"n // 2"', 'write "(n // 2)"'),
        ('"b n+1 k"', 'write "b (n + 1) k"'),
        ('"n k/2"', 'write "n (k // 2)"'),
        ('"2n"', 'write "(2 * n)"'),
        ('"ceil_div(n, 2)"', 'write "(ceil_div(n, 2))"'),
        ('"n,k"', 'write "n k"'),
        ('"(n, k)"', 'write "n k"'),
        ('"[n, k // 2]"', 'write "n (k // 2)"'),
        ('"n \u00d7 k"', 'write "n k"'),
        ('"n, *batch"', 'write "n *batch"'),
        ('"()"', 'write "": a tensor of rank 0'),
        ("()", 'write "": a tensor of rank 0'),
        ("[]", 'write "": a tensor of rank 0'),
        ("3", 'write "3"'),
        ('(3, "n")', 'write "3 n"'),
        ('["n", 4]', 'write "n 4"'),
        ('(..., "n")', 'write "... n"'),
        ("(-1, 64)", 'a dim of any size has a name, e.g. "n", and any number of dims is "..."'),
        ('"? 64"', 'a dim of any size has a name, e.g. "n", and any number of dims is "..."'),
        ('"n!"', 'write e.g. "...", "n k" or "n (k // 2)"'),
    ],
)
def test_a_shape_in_another_notation_is_told_in_this_one(folder: SpecFolder, given: str, advice: str) -> None:
    error = folder.add_mistake(
        inputs='[Input("x", "T", shape="b n k"), Input("y", "T", shape="*batch")]', outputs=f'[Output("z", "T", shape={given})]'
    )

    assert error.number in {"OPK0208", "OPK0230", "OPK0232"}
    assert error.help == advice


def test_an_input_isn_t_told_to_compute_a_dim(folder: SpecFolder) -> None:
    error = folder.add_mistake(inputs='[Input("x", "T", shape="n//2"), Input("y", "T", shape="...")]')

    assert (error.number, error.because) == ("OPK0230", "'n//2' is no dim: an expression stands in brackets, as in `n (k // 2)`")
    assert error.help == 'an input has names and numbers, e.g. "n k"; an output can compute a dim, e.g. "n (k // 2)"'
