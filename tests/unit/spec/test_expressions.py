"""Size expressions: what they are worth, how they are written back, and that another reading sees the same tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from opkit.errors import SpecError
from opkit.spec import AddressList, AttrValue, Binary, BinaryOp, Cores, Count, Dim, Expr, Number, Numel, Rank, Scope
from opkit.spec.expressions import INT64_MAX, INT64_MIN, is_constant, replace_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from spec_support import SpecFolder

SCOPE = Scope(shapes={"x": (3, 4), "s": (), "e": (5, 0)}, attrs={"k": 7, "flag": True, "alpha": 0.5}, cores=40)
LEAVES: list[tuple[Expr, int]] = [
    (Numel("x"), 12),
    (Numel("s"), 1),
    (Numel("e"), 0),
    (Dim("x", 0), 3),
    (Dim("x", -1), 4),
    (Rank("x"), 2),
    (Rank("s"), 0),
    (AttrValue("k"), 7),
    (AttrValue("flag"), 1),
    (Cores(), 40),
]
PYTHON: dict[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.ADD: lambda a, b: a + b,
    BinaryOp.SUB: lambda a, b: a - b,
    BinaryOp.MUL: lambda a, b: a * b,
    BinaryOp.FLOOR_DIV: lambda a, b: a // b,
    BinaryOp.MOD: lambda a, b: a % b,
    BinaryOp.CEIL_DIV: lambda a, b: a // b + (a % b != 0),
    BinaryOp.MIN: lambda a, b: min(b, a),
    BinaryOp.MAX: lambda a, b: max(b, a),
}

leaves = st.sampled_from([leaf for leaf, _ in LEAVES]) | st.builds(Number, st.integers(-(2**40), 2**40))
trees = st.recursive(leaves, lambda inner: st.builds(Binary, st.sampled_from(BinaryOp), inner, inner), max_leaves=12)


def plainly(expr: Expr) -> int | None:
    """The same arithmetic in Python's unbounded integers; None where the rule gives no value."""
    if isinstance(expr, Number):
        return expr.value
    if isinstance(expr, Binary):
        left, right = plainly(expr.left), plainly(expr.right)
        if left is None or right is None or (expr.op.divides and right <= 0):
            return None
        value = PYTHON[expr.op](left, right)
        return value if INT64_MIN <= value <= INT64_MAX else None
    return next(value for leaf, value in LEAVES if leaf == expr)


@given(trees)
def test_a_tree_is_worth_what_python_says_or_has_no_value(expr: Expr) -> None:
    expected = plainly(expr)
    if expected is None:
        with pytest.raises(SpecError) as caught:
            expr.evaluate(SCOPE)
        assert caught.value.number == "OPK0292"
    else:
        assert expr.evaluate(SCOPE) == expected


@given(trees)
def test_a_tree_is_written_back_as_a_text_of_the_same_worth(expr: Expr) -> None:
    expected = plainly(expr)
    assume(expected is not None)
    words = {
        "numel": lambda port: Numel(port).evaluate(SCOPE),
        "dim": lambda port, axis: Dim(port, axis).evaluate(SCOPE),
        "rank": lambda port: Rank(port).evaluate(SCOPE),
        "attr": lambda name: AttrValue(name).evaluate(SCOPE),
        "cores": lambda: 40,
        "ceil_div": PYTHON[BinaryOp.CEIL_DIV],
        "min_": min,
        "max_": max,
    }
    assert eval(str(expr), words) == expected  # noqa: S307 - the text is what this test made


class _Names:
    """A reading of another kind than numbers: the names that a tree uses, in the order in which it is read."""

    def number(self, value: int) -> list[str]:
        return [str(value)]

    def numel(self, port: str) -> list[str]:
        return [port]

    def dim(self, port: str, axis: int) -> list[str]:
        return [f"{port}.{axis}"]

    def rank(self, port: str) -> list[str]:
        return [f"rank {port}"]

    def count(self, port: str) -> list[str]:
        return [f"#{port}"]

    def attr(self, name: str) -> list[str]:
        return [name]

    def named_dim(self, name: str) -> list[str]:
        return [f"`{name}`"]

    def cores(self) -> list[str]:
        return ["cores"]

    def binary(self, op: BinaryOp, left: list[str], right: list[str]) -> list[str]:
        return [*left, *right, op.name]


def test_a_reading_visits_operands_before_their_operation_left_before_right() -> None:
    expr = Binary(BinaryOp.SUB, Binary(BinaryOp.MUL, Numel("x"), Number(2)), Binary(BinaryOp.MAX, Dim("x", 1), Cores()))

    assert expr.read(_Names()) == ["x", "2", "MUL", "x.1", "cores", "MAX", "SUB"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('numel("x") // 5', 2),
        ('numel("x") % 5', 2),
        ('(0 - numel("x")) // 5', -3),
        ('-numel("x") % 5', 3),
        ('ceil_div(numel("x"), 5)', 3),
        ('ceil_div(0 - numel("x"), 5)', -2),
        ('min_(numel("x"), 5, 9)', 5),
        ('max_("k", dim("x", 0), 1)', 7),
        ('1 + 2 * numel("x") - 3', 22),
        ("min_(cores(), 8)", 8),
        ('attr("k") + "k"', 14),
        ("3 - 1", 2),
        ('dim("x", axis=-1)', 4),
        ('rank("x") + rank(port="x")', 4),
    ],
)
def test_what_a_spec_writes_is_worth_what_it_says(folder: SpecFolder, text: str, expected: int) -> None:
    op = folder.add_op(attrs='[Attr("k", int)]', launch={"blocks": f"1 + {text}", "strides": "True"})

    assert op.kernel.blocks.evaluate(SCOPE) == 1 + expected


def test_constants_are_folded(folder: SpecFolder) -> None:
    op = folder.add_op(launch={"blocks": 'ceil_div(numel("x"), 4 * 256 - 0)'})

    assert op.kernel.blocks == Binary(BinaryOp.CEIL_DIV, Numel("x"), Number(1024))


def test_a_product_beyond_int64_has_no_value_and_says_which() -> None:
    scope = Scope(shapes={"x": (2**32, 2**31)})

    with pytest.raises(SpecError) as caught:
        Binary(BinaryOp.MUL, Number(2), Numel("x")).evaluate(scope)
    assert caught.value.because == 'numel("x") is 9223372036854775808, which doesn\'t fit in int64'

    with pytest.raises(SpecError) as caught:
        Binary(BinaryOp.MUL, Number(2), Dim("x", 0)).evaluate(Scope(shapes={"x": (2**62,)}))
    assert caught.value.message == 'the size expression `2 * dim("x", 0)` has no value here'
    assert caught.value.because == "2 * 4611686018427387904 is 9223372036854775808, which doesn't fit in int64"


def test_an_axis_outside_the_shape_has_no_value() -> None:
    with pytest.raises(SpecError) as caught:
        Dim("x", 2).evaluate(Scope(shapes={"x": (3, 4)}))
    assert caught.value.because == 'dim("x", 2) is outside the shape (3, 4)'


def test_a_float_attr_has_no_integer_value() -> None:
    with pytest.raises(SpecError) as caught:
        AttrValue("alpha").evaluate(SCOPE)
    assert caught.value.because == "attr 'alpha' is 0.5, not an integer"


def test_replacing_a_number_leaves_all_others() -> None:
    expr = Binary(BinaryOp.ADD, Binary(BinaryOp.CEIL_DIV, Numel("x"), Number(1024)), Number(1))

    assert str(replace_number(expr, 1024, 16)) == 'ceil_div(numel("x"), 16) + 1'
    assert replace_number(expr, 7, 16) == expr


@given(trees)
def test_a_tree_is_constant_when_it_names_nothing(expr: Expr) -> None:
    assert is_constant(expr) == (not any(word in str(expr) for word in ("numel", "dim", "rank", "attr", "cores")))


@pytest.mark.parametrize(
    ("blocks", "message", "advice"),
    [
        ('numel("x") / 1024', "`/` gives a fraction, and a size is an integer", "write // to round down, ceil_div to round up"),
        ('ceil_div(numel("x"), 0)', '`ceil_div(numel("x"), 0)` divides by 0', "a divisor must be positive"),
        ('numel("x") // -4', '`numel("x") // (-4)` divides by -4', "a divisor must be positive"),
        ('numel("x") % 0', '`numel("x") % 0` divides by 0', "a divisor must be positive"),
        ("2**62 * cores() * 2 + 2**63", "9223372036854775808 doesn't fit in int64", None),
        ('"x"', "'x' is a port, and a size needs a number", 'write numel("x") or dim("x", 0)'),
        ('port("x") + 1', "an address is no part of a size", 'use numel("x") or dim("x", 0)'),
        ('i64(numel("x")) + 1', "i64(…) is a whole kernel argument, no part of a size", None),
        ('ceil_div(numel("x"))', "ceil_div takes 2 operands, not 1", None),
        ('min_(numel("x"))', "min_ takes at least 2 operands, not 1", None),
        ("numel()", "numel takes 1 operand, not 0", None),
        ("cores(1)", "cores takes 0 operands, not 1", None),
        ('dim("x", "k")', "the axis of dim is 'k', not an integer", None),
        ("True", "True is no size expression", "use numel, dim, rank, attr, cores, ceil_div, min_, max_, + - * // %"),
        ("1.5", "1.5 is no size expression", "a float reaches a kernel as a float attr"),
        ('sum([numel("x")] * 3000)', "a size expression is too large", None),
        ('ceil_div(max_(*[numel("x")] * 102), 2)', "a size expression is too large", None),
        ('__import__("functools").reduce(lambda size, _: size + size, range(90), numel("x"))', "a size expression is too large", None),
        ('dim("x", 25)', 'dim("x", 25) is outside the shape', None),
        ('dim("x", 10**5000)', 'dim("x", an integer of 16610 bits) is outside the shape', None),
        ("None", "None is no size expression", "use numel, dim, rank, attr, cores, ceil_div, min_, max_, + - * // %"),
    ],
)
def test_an_expression_without_a_meaning_is_one_clear_error(folder: SpecFolder, blocks: str, message: str, advice: str | None) -> None:
    error = folder.add_mistake(launch={"blocks": blocks})

    assert (error.number, error.message, error.help) == ("OPK0257", message, advice)


def test_a_size_may_be_a_long_sum(folder: SpecFolder) -> None:
    op = folder.add_op(launch={"blocks": 'sum([numel("x")] * 99) + max_(*[numel("x")] * 98)'})

    assert op.kernel.blocks.evaluate(Scope(shapes={"x": (2,)})) == 200


def test_an_axis_beyond_a_fixed_rank_is_a_mistake(folder: SpecFolder) -> None:
    error = folder.add_mistake(
        inputs='[Input("x", "T", shape="n k"), Input("y", "T", shape="n k")]',
        outputs='[Output("z", "T", shape="n k")]',
        launch={"blocks": 'dim("x", 2)'},
    )

    assert (error.number, error.message, error.because) == ("OPK0257", 'dim("x", 2) is outside the shape', "'x' has 2 dims")


@pytest.mark.parametrize("kind", ["float", "str"])
def test_a_float_or_text_attr_is_no_part_of_a_size(folder: SpecFolder, kind: str) -> None:
    error = folder.add_mistake(attrs=f'[Attr("alpha", {kind})]', launch={"blocks": 'numel("x") * attr("alpha")'})

    assert (error.number, error.message) == ("OPK0257", "attr 'alpha' can't be part of a size")


def test_a_constant_overflow_is_told_when_the_spec_is_loaded(folder: SpecFolder) -> None:
    error = folder.add_mistake(launch={"blocks": "max_(2**62, 1) + max_(2**62, 1)"})

    assert (error.number, error.message) == ("OPK0257", "`max_(4611686018427387904, 1) + max_(4611686018427387904, 1)` has no value")
    assert error.because == "4611686018427387904 + 4611686018427387904 is 9223372036854775808, which doesn't fit in int64"


def test_asking_a_size_expression_for_its_truth_is_an_error_at_that_line(folder: SpecFolder) -> None:
    error = folder.mistake('from opkit import *\nblocks = numel("x") or 1\n')

    assert error.number == "OPK0204"
    assert error.where == 'ops.py:2   blocks = numel("x") or 1'
    assert "min_ and max_" in (error.because or "")


def test_a_port_without_a_tensor_has_no_elements_and_dims_of_0() -> None:
    scope = Scope(shapes={"x": None, "y": (2, 3)}, counts={"x": 0, "y": 17})

    assert [expr.evaluate(scope) for expr in (Numel("x"), Dim("x", 1), Count("x"), Numel("y"), Count("y"))] == [0, 0, 0, 6, 17]
    assert [str(expr) for expr in (Count("x"), AddressList("x"))] == ['count("x")', 'address_list("x")']
