"""Outputs of which only the kernel knows the shape: what a spec says of them, and what it can't."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opkit.spec import Dim, Number, Numel, Rank, ShapeBuffer, UpperBound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spec_support import SpecFolder

KERNEL = "GM_ADDR x, GM_ADDR y, GM_ADDR z, __gm__ uint64_t *shape"
LAUNCH = {"args": '["x", "y", "z", shape_of("z")]', "blocks": "1"}


def bounded(shape: str, **changes: str) -> dict[str, str]:
    """The add op with an upper bound of its output."""
    return {"outputs": f'[Output("z", "T", shape={shape})]', "refresh": '"none"', **changes}


@pytest.fixture(autouse=True)
def _kernel(folder: SpecFolder) -> None:
    folder.kernel(KERNEL)


@pytest.mark.case("C6")
def test_a_dim_that_only_the_kernel_knows_is_at_most_its_bound(folder: SpecFolder) -> None:
    op = folder.add_op(launch=LAUNCH, **bounded('upper_bound("found (rank(x)) 2", found=numel("x"))'))
    rule = op.outputs[0].shape

    assert isinstance(rule, UpperBound)
    assert rule.bounds == (("found", Numel("x")),)
    assert rule.text == 'upper_bound("found (rank(x)) 2", found=numel("x"))'
    assert rule.rank == 3
    assert [str(dim) for dim in rule.open_dims] == ["found"]
    assert op.kernel_shaped == op.outputs
    assert op.kernel.args[3].value == ShapeBuffer("z")
    # Before the op runs there is no such shape.
    assert op.infer_shapes({"x": (4,), "y": (4,)}) == {}


@pytest.mark.parametrize(
    ("bound", "found"),
    [
        ("7", Number(7)),
        ('dim("x", -1)', Dim("x", -1)),
        ('rank("x")', Rank("x")),
        ('attr("k") + 1', None),
        ('min_(numel("x"), cores())', None),
    ],
)
def test_a_bound_is_any_size_of_inputs_and_attrs(folder: SpecFolder, bound: str, found: object) -> None:
    op = folder.add_op(launch=LAUNCH, attrs='[Attr("k", int)]', **bounded(f'upper_bound("found", found={bound})'))
    rule = op.outputs[0].shape

    assert isinstance(rule, UpperBound)
    assert found is None or rule.bounds == (("found", found),)


@pytest.mark.parametrize(
    ("shape", "number", "message"),
    [
        ('upper_bound("found")', "0235", "upper_bound says of no dim of output 'z' how large it can be"),
        ('upper_bound("...")', "0235", "upper_bound says of no dim of output 'z' how large it can be"),
        ("upper_bound()", "0235", "upper_bound takes one pattern, not none"),
        ("upper_bound(3, found=1)", "0235", "upper_bound takes one pattern, not 3"),
        ('upper_bound("found", 8, found=1)', "0235", "upper_bound takes one pattern, not 'found', 8"),
        ('upper_bound("foudn", found=1)', "0235", "upper_bound bounds `found`, and 'foudn' has no such dim"),
        ('upper_bound("*found", found=1)', "0235", "upper_bound bounds `found`, and '*found' has no such dim"),
        ('upper_bound("n", n=1)', "0235", "upper_bound bounds `n`, which input 'x' binds"),
        ('upper_bound("k", k=1)', "0235", "upper_bound bounds `k`, which is an attr"),
        ('upper_bound("found (found + 1)", found=1)', "0235", "`found` of upper_bound is part of the computed dim `found + 1`"),
        ('upper_bound("found", found=-1)', "0235", "`found` can't be at most -1"),
        ('upper_bound("found", found=numel("z"))', "0235", "the bound of `found` reads output 'z'"),
        ('upper_bound("found", found=8 - dim("z", 0))', "0235", "the bound of `found` reads output 'z'"),
        ('upper_bound("found", found=1.5)', "0257", "1.5 is no size expression"),
        ('upper_bound("found", found=workspace(8))', "0257", "workspace(…) is a whole kernel argument, no part of a size"),
        ('upper_bound("found", found="n")', "0255", "there is no attr 'n'"),
        ('upper_bound("found", found=numel("w"))', "0255", "there is no port 'w'"),
        ('upper_bound("found m", found=1)', "0231", "the shape of output 'z' uses `m`, which no input binds"),
        ('upper_bound("found,", found=1)', "0230", "'found,' is no shape"),
    ],
)
def test_a_bound_that_can_t_be_is_one_clear_error(folder: SpecFolder, shape: str, number: str, message: str) -> None:
    inputs = '[Input("x", "T", shape="n"), Input("y", "T", shape="n")]'
    error = folder.add_mistake(launch=LAUNCH, attrs='[Attr("k", int)]', inputs=inputs, **bounded(shape))

    assert (error.number, error.message) == (f"OPK{number}", message)


def test_the_name_of_a_dim_for_a_bound_is_told_as_a_dim(folder: SpecFolder) -> None:
    inputs = '[Input("x", "T", shape="... n"), Input("y", "T", shape="... n")]'
    error = folder.add_mistake(launch=LAUNCH, inputs=inputs, **bounded('upper_bound("found", found="n")'))

    assert error.help == "write dim(\"x\", -1): 'n' is a dim of 'x'"


def test_a_list_has_no_upper_bound(folder: SpecFolder) -> None:
    outputs = '[Output("z", "T", dynamic=True, shape=upper_bound("found", found=1))]'
    error = folder.add_mistake(
        launch={"args": '["x", "y", address_list("z"), shape_of("z")]', "blocks": "1"}, outputs=outputs, refresh='"none"'
    )

    assert (error.number, error.message) == ("OPK0235", "output 'z' is a list and can't have an upper bound")


def test_a_name_has_one_bound_in_all_outputs(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR w, GM_ADDR z_shape, GM_ADDR w_shape")
    launch = {"args": '["x", "y", "z", "w", shape_of("z"), shape_of("w")]', "blocks": "1"}
    outputs = '[Output("z", "T", shape=upper_bound("found", found={})), Output("w", "T", shape=upper_bound("2 found", found=numel("x")))]'
    error = folder.add_mistake(launch=launch, outputs=outputs.format("8"), refresh='"none"')

    assert error.message == "`found` is at most numel(\"x\") in output 'w', and 8 in output 'z'"
    assert len(folder.add_op(launch=launch, outputs=outputs.format('numel("x")'), refresh='"none"').kernel_shaped) == 2


def test_an_input_has_no_upper_bound(folder: SpecFolder) -> None:
    inputs = '[Input("x", "T", shape=upper_bound("n", n=8)), Input("y", "T", shape="...")]'
    error = folder.add_mistake(launch={"args": '["x", "y", "z", "z"]'}, inputs=inputs)

    assert error.message == "upper_bound(…) is the rule of an output"


@pytest.mark.parametrize(
    ("launch", "number", "message"),
    [
        ({"args": '["x", "y", "z", "z"]'}, "0235", "the kernel never gets the place for the shape of output 'z'"),
        ({"args": '["x", "y", "z", shape_of("x")]'}, "0235", "no kernel writes the shape of 'x'"),
        ({"args": '["x", "y", "z", shape_of("w")]'}, "0255", "there is no port 'w'"),
        ({"args": '["x", "y", "z", shape_of()]'}, "0257", "shape_of takes 1 operand, not 0"),
        ({"blocks": 'shape_of("z")'}, "0257", "shape_of(…) is a whole kernel argument, no part of a size"),
    ],
)
def test_a_kernel_must_write_the_shape_and_no_other(folder: SpecFolder, launch: Mapping[str, str], number: str, message: str) -> None:
    error = folder.add_mistake(launch={**LAUNCH, **launch}, **bounded('upper_bound("found", found=numel("x"))'))

    assert (error.number, error.message) == (f"OPK{number}", message)


def test_a_shape_that_the_spec_knows_is_written_by_no_kernel(folder: SpecFolder) -> None:
    error = folder.add_mistake(launch=LAUNCH)

    assert (error.number, error.message) == ("OPK0235", "no kernel writes the shape of 'z'")
    assert error.because == "the spec says what shape it has"


@pytest.mark.parametrize(
    ("shape", "number"),
    [
        ("", "0213"),
        ("shape=...", "0297"),
        ('shape="m"', "0231"),
        ('shape="n,"', "0230"),
        ('shape=cpp("ge/user/infer.h")', "0233"),
        ('shape=upper_bound("found", fond=8)', "0235"),
    ],
)
def test_an_output_with_a_mistaken_shape_may_be_bounded(folder: SpecFolder, shape: str, number: str) -> None:
    error = folder.add_mistake(launch=LAUNCH, outputs=f'[Output("z", "T", {shape})]', refresh='"none"')

    assert error.number == f"OPK{number}"
    assert number != "0213" or "upper_bound(…)" in (error.help or "")


def test_a_mistaken_bound_asks_for_no_place_of_the_shape(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z")
    error = folder.add_mistake(launch={**LAUNCH, "args": '["x", "y", "z"]'}, **bounded('upper_bound("found", fond=8)'))

    assert (error.message, error.help) == ("upper_bound bounds `fond`, and 'found' has no such dim", "did you mean 'found'?")


def test_the_place_for_a_shape_that_args_lack_is_one_mistake(folder: SpecFolder) -> None:
    error = folder.add_mistake(launch={**LAUNCH, "args": '["x", "y", "z"]'}, **bounded('upper_bound("found", found=8)'))

    assert (error.message, error.help) == ("args has 3 elements, and the kernel takes 4", 'add shape_of("z")')


def test_a_dim_that_another_output_bounds_is_known_to_the_kernel_only(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR w, GM_ADDR shape")
    outputs = '[Output("z", "T", shape=upper_bound("found", found=8)), Output("w", "T", shape="2 found")]'
    error = folder.add_mistake(launch={"args": '["x", "y", "z", "w", shape_of("z")]'}, outputs=outputs, refresh='"none"')

    assert (error.number, error.message) == ("OPK0231", "the shape of output 'w' uses `found`, which no input binds")
    assert error.because == "only the kernel knows it: it has an upper bound in output 'z'"
    assert error.help == "give this output an upper_bound(…) with the same bound too"


@pytest.mark.parametrize("parameter", ["GM_ADDR shape", "__gm__ uint64_t *shape", "__gm__ int64_t *shape", "__gm__ void *shape"])
def test_a_shape_is_written_to_words_of_64_bits(folder: SpecFolder, parameter: str) -> None:
    folder.kernel(f"GM_ADDR x, GM_ADDR y, GM_ADDR z, {parameter}")

    assert folder.add_op(launch=LAUNCH, **bounded('upper_bound("found", found=numel("x"))')).kernel_shaped


@pytest.mark.parametrize(
    ("parameter", "because"),
    [("__gm__ int32_t *shape", "a shape is written as uint64_t"), ("uint64_t shape", "a shape is written to an address")],
)
def test_a_shape_is_written_nowhere_else(folder: SpecFolder, parameter: str, because: str) -> None:
    folder.kernel(f"GM_ADDR x, GM_ADDR y, GM_ADDR z, {parameter}")
    error = folder.add_mistake(launch=LAUNCH, **bounded('upper_bound("found", found=numel("x"))'))

    assert (error.number, error.because) == ("OPK0254", because)


@pytest.mark.parametrize("more", [{"refresh": '"updater"'}, {"refresh": ""}, {"refresh": '"annotated"', "compile": '"graph"'}])
def test_a_graph_that_is_loaded_once_has_no_such_op(folder: SpecFolder, more: dict[str, str]) -> None:
    error = folder.add_mistake(launch=LAUNCH, **bounded('upper_bound("found", found=numel("x"))', **more))
    refresh = (more["refresh"] or '"updater"').replace('"', "'")

    assert error.number == "OPK0273"
    assert error.message == f"refresh={refresh} doesn't go with the upper bound of output 'z'"
    assert error.because == "a loaded graph replays launches, and nobody would read the shape that the kernel writes"


@pytest.mark.parametrize(
    ("shape", "number", "message"),
    [
        ('"(rank(x) + n)"', None, None),
        ('"(rank(w))"', "0231", "the shape of output 'z' has the rank of 'w', which is no input"),
        ('"(rank(z))"', "0231", "the shape of output 'z' has the rank of 'z', which is no input"),
        ('"(rank(y))"', "0232", "the shape of output 'z' can't have the rank of 'y'"),
        ('"(rank(x, y))"', "0232", "'(rank(x, y))' is no shape"),
        ('"(rank(3))"', "0232", "'(rank(3))' is no shape"),
    ],
)
def test_a_shape_may_have_the_rank_of_an_input_that_is_always_there(
    folder: SpecFolder, shape: str, number: str | None, message: str | None
) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z")
    launch = {"args": '["x", "y", "z"]', "blocks": "1"}
    inputs = '[Input("x", "T", shape="n ..."), Input("y", "T", shape="n", optional=True)]'
    outputs = f'[Output("z", "T", shape={shape})]'
    if number is None:
        assert folder.add_op(launch=launch, inputs=inputs, outputs=outputs).infer_shapes({"x": (5, 2, 2)}) == {"z": (8,)}
    else:
        error = folder.add_mistake(launch=launch, inputs=inputs, outputs=outputs)
        assert (error.number, error.message) == (f"OPK{number}", message)
