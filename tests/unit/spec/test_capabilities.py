"""What GE can ask of an op: the words that say it, what goes together, and which kernels go with it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from spec_support import add_spec

from opkit.spec import Compile, Refresh
from opkit.spec.resolve_capabilities import Capabilities, why_not

if TYPE_CHECKING:
    from spec_support import SpecFolder

ANNOTATED = {"refresh": '"annotated"', "compile": '"graph"'}
CAN_BE = [
    *itertools.product([Refresh.UPDATER, Refresh.NONE], [Compile.LOAD], [False]),
    *itertools.product(Refresh, [Compile.GRAPH, Compile.PREBUILT], [False, True]),
]


def _capabilities(refresh: Refresh, compiled: Compile, *, is_portable: bool) -> Capabilities:
    return Capabilities(refresh=refresh, compile=compiled, is_portable=is_portable)


@pytest.mark.parametrize("is_portable", [False, True])
@pytest.mark.parametrize("compiled", Compile)
@pytest.mark.parametrize("refresh", Refresh)
def test_each_combination_can_be_or_is_refused_with_a_reason(refresh: Refresh, compiled: Compile, *, is_portable: bool) -> None:
    refusal = why_not(_capabilities(refresh, compiled, is_portable=is_portable))

    assert (refusal is None) == ((refresh, compiled, is_portable) in CAN_BE)
    if refusal is not None:
        assert "compile='load'" in refusal.message
        assert refusal.because
        assert refusal.advice == "give compile='graph' or compile='prebuilt'"


@pytest.mark.parametrize("is_portable", [False, True])
@pytest.mark.parametrize("compiled", Compile)
@pytest.mark.parametrize("refresh", Refresh)
def test_a_spec_says_each_combination_by_its_words(folder: SpecFolder, refresh: Refresh, compiled: Compile, *, is_portable: bool) -> None:
    words = {"refresh": repr(refresh.value), "compile": repr(compiled.value), "portable": repr(is_portable)}
    if (refresh, compiled, is_portable) not in CAN_BE:
        assert folder.mistake(add_spec(words)).number == "OPK0273"
        return

    op = folder.load(add_spec(words)).ops[0]

    assert (op.refresh, op.compile, op.is_portable) == (refresh, compiled, is_portable)


def test_without_words_an_op_is_compiled_when_it_is_loaded_and_stays_at_home(folder: SpecFolder) -> None:
    op = folder.add_op()

    assert (op.refresh, op.compile, op.is_portable) == (Refresh.UPDATER, Compile.LOAD, False)


def test_a_combination_that_can_t_be_is_told_where_it_was_asked_for(folder: SpecFolder) -> None:
    annotated = folder.add_mistake(refresh='"annotated"')
    portable = folder.add_mistake(portable="True")

    assert annotated.message == "refresh='annotated' doesn't go with compile='load'"
    assert annotated.because == "GE takes the compiled kernels of such an op while it compiles the graph, before any is loaded"
    assert portable.message == "portable=True doesn't go with compile='load'"
    assert portable.because == "an offline model carries the library and what it saves, and not the kernels' source"
    assert str(annotated.where).startswith("ops.py:3 ")


@pytest.mark.parametrize(
    ("word", "number", "message", "advice"),
    [
        (("refresh", '"updatr"'), "OPK0270", "'updatr' is no way to refresh addresses", "did you mean 'updater'?"),
        (("refresh", '"anotated"'), "OPK0270", "'anotated' is no way to refresh addresses", "did you mean 'annotated'?"),
        (("refresh", "True"), "OPK0270", "True is no way to refresh addresses", "refresh is 'updater', 'annotated' or 'none'"),
        (("compile", '"lode"'), "OPK0272", "'lode' is no time at which kernels are compiled", "did you mean 'load'?"),
        (("compile", '"Graph"'), "OPK0272", "'Graph' is no time at which kernels are compiled", "did you mean 'graph'?"),
        (("compile", '"pre_built"'), "OPK0272", "'pre_built' is no time at which kernels are compiled", "did you mean 'prebuilt'?"),
        (("compile", "None"), "OPK0272", "None is no time at which kernels are compiled", "compile is 'load', 'graph' or 'prebuilt'"),
        (("portable", '"yes"'), "OPK0208", "portable of Op is 'yes', not True or False", None),
        (("portabel", "True"), "OPK0206", "Op takes no 'portabel'", "did you mean 'portable'?"),
    ],
)
def test_a_misspelt_word_is_told_with_the_nearest(
    folder: SpecFolder, word: tuple[str, str], number: str, message: str, advice: str | None
) -> None:
    error = folder.mistake(add_spec({"compile": '"graph"', **dict([word])}))

    assert (error.number, error.message, error.help) == (number, message, advice)


def test_two_misspelt_words_are_told_at_once(folder: SpecFolder) -> None:
    found = folder.mistakes(add_spec(refresh='"never"', compile='"later"', portable="1"))

    assert [error.number for error in found] == ["OPK0270", "OPK0272", "OPK0208"]


@pytest.mark.parametrize(
    ("parameters", "args"),
    [
        ("GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t length", '["x", "y", "z", numel("x")]'),
        ("GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length", '["x", "y", "z", numel("x")]'),
        ("float alpha, GM_ADDR x, GM_ADDR y, GM_ADDR z", '["alpha", "x", "y", "z"]'),
        ("GM_ADDR x, bool flag, GM_ADDR y, double alpha, GM_ADDR z", '["x", "flag", "y", "alpha", "z"]'),
        ("GM_ADDR x, GM_ADDR y, GM_ADDR tmp, GM_ADDR z", '["x", "y", workspace(64), "z"]'),
    ],
)
def test_ge_fills_arguments_that_each_begin_where_eight_bytes_do(folder: SpecFolder, parameters: str, args: str) -> None:
    folder.kernel(parameters)
    attrs = '[Attr("alpha", float, default=1.0), Attr("flag", bool, default=False)]'

    assert folder.add_op(launch={"args": args}, attrs=attrs, **ANNOTATED).refresh is Refresh.ANNOTATED


TILING = "struct Tiling { int64_t length; };\n"


@pytest.mark.parametrize(
    ("source", "args", "because"),
    [
        (
            "(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length, uint32_t rest) {}",
            '["x", "y", "z", numel("x"), 3]',
            "GE fills arguments of 8 bytes each, and uint32_t rest begins at byte 28, not 32",
        ),
        (
            "(GM_ADDR x, GM_ADDR y, GM_ADDR z, Tiling tiling) {}",
            '["x", "y", "z", tiling("Tiling", length=numel("x"))]',
            "GE fills arguments of 8 bytes each, and Tiling tiling is a struct",
        ),
        (
            "(GM_ADDR x, GM_ADDR y, GM_ADDR z) { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY); }",
            '["x", "y", "z"]',
            "GE registers the kernels of such an op as those of vector cores, and this one runs on cube cores",
        ),
    ],
)
def test_a_kernel_whose_arguments_ge_can_t_fill_is_refused(folder: SpecFolder, source: str, args: str, because: str) -> None:
    folder.write("kernels/add.asc", f'{TILING}extern "C" __global__ __aicore__ void add{source}\n')

    error = folder.add_mistake(launch={"args": args}, **ANNOTATED)

    assert (error.number, error.message) == ("OPK0273", "refresh='annotated' doesn't go with the kernel 'add'")
    assert error.because == because
    folder.add_op(launch={"args": args}, compile='"graph"')


def test_an_address_list_isn_t_refreshed(folder: SpecFolder) -> None:
    inputs = '[Input("x", "T", shape="...", dynamic=True), Input("y", "T", shape="...")]'
    args = '[address_list("x"), "y", "z", numel("z")]'

    error = folder.add_mistake(launch={"args": args, "blocks": "1"}, inputs=inputs, **ANNOTATED)

    assert error.because == "GE refreshes addresses that are arguments, and GM_ADDR x is a list of them in memory"


def test_the_kernel_that_is_refused_may_be_any_of_an_op(folder: SpecFolder) -> None:
    folder.write("kernels/two.asc", 'extern "C" __global__ __aicore__ void fill(GM_ADDR z, uint32_t a, uint32_t b) {}\n')
    kernel = '[kernel, Kernel("kernels/two.asc", entry="fill", args=["z", 1, 2], blocks=1)]'

    error = folder.mistake(add_spec({"kernel": kernel, **ANNOTATED}))

    assert error.message == "refresh='annotated' doesn't go with the kernel 'fill'"
    assert error.because == "GE fills arguments of 8 bytes each, and uint32_t b begins at byte 12, not 16"
