"""`...` in a spec: a question that is still open is one mistake, at its line, in the words of the comment above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from spec_support import ADD_LAUNCH, add_spec

from opkit.spec import declare
from opkit.spec.problems import Rule

if TYPE_CHECKING:
    from spec_support import SpecFolder


@pytest.mark.parametrize(
    ("changes", "launch", "message"),
    [
        ({"outputs": '[Output("z", "T", shape=...)]'}, {}, "shape of Output is still open"),
        ({"inputs": '[Input("x", "T", shape=...), Input("y", "T", shape="...")]'}, {}, "shape of Input is still open"),
        ({"attrs": '[Attr("a", int, default=...)]'}, {}, "default of Attr is still open"),
        ({"attrs": '[Attr("a", ...)]'}, {}, "type of Attr is still open"),
        ({"reference": "..."}, {}, "reference of Op is still open"),
        ({"kernel": "..."}, {}, "kernel of Op is still open"),
        ({"dtypes": "..."}, {}, "dtypes of Op is still open"),
        ({"refresh": "..."}, {}, "refresh of Op is still open"),
        (
            {"dtypes": '{"T": ["float32", "int8"], "U": ["int8", "bool", "float16"]}', "dtype_mode": "..."},
            {},
            "dtype_mode of Op is still open",
        ),
        ({}, {"source": "..."}, "source of Kernel is still open"),
        ({}, {"entry": "..."}, "entry of Kernel is still open"),
        ({}, {"args": "..."}, "args of Kernel is still open"),
        ({}, {"blocks": "..."}, "blocks of Kernel is still open"),
        ({}, {"args": '["x", "y", "z", ...]'}, "an argument of the kernel is still open"),
    ],
)
def test_an_open_argument_is_the_one_mistake_told(
    folder: SpecFolder, changes: dict[str, str], launch: dict[str, str], message: str
) -> None:
    mistake = folder.add_mistake(launch=launch, **changes)
    assert (mistake.message, mistake.number) == (message, Rule.OPEN.number)


def test_the_comment_above_is_the_help_and_the_line_is_that_of_the_question(folder: SpecFolder) -> None:
    text = add_spec(outputs='[\n    # question: which shape has z,\n    #   and why?\n    Output("z", "T",\n        shape=...)\n]')
    mistake = folder.mistake(text)
    assert mistake.help == "which shape has z, and why?"
    assert mistake.where == "ops.py:7   shape=...)"


def test_a_comment_that_asks_nothing_is_no_help(folder: SpecFolder) -> None:
    mistake = folder.mistake(add_spec(outputs='[\n    # the sum\n    Output("z", "T", shape=...)\n]'))
    assert mistake.help is None


def test_another_mistake_is_told_beside_it(folder: SpecFolder) -> None:
    told = folder.mistakes(add_spec(launch={"blocks": "...", "entry": '"nope"'}))
    assert {mistake.number for mistake in told} == {Rule.OPEN.number, Rule.ENTRY.number}


def test_a_copy_asks_once_and_an_answer_in_it_counts(folder: SpecFolder) -> None:
    spec = add_spec(reference="...").replace("ops=[op]", 'ops=[op, op.replace(type="Other")]')
    assert folder.mistake(spec).number == Rule.OPEN.number
    answered = add_spec(reference="...").replace("ops=[op]", "ops=[op.replace(reference=None)]")
    assert folder.load(answered).ops[0].reference is None
    asked = add_spec().replace("ops=[op]", "ops=[op.replace(reference=...)]")
    assert folder.mistake(asked).message == "reference of Op is still open"


_WHOLE = {
    "Input": {"name": '"x"', "dtype": '"T"', "shape": '"..."'},
    "Output": {"name": '"z"', "dtype": '"T"', "shape": '"..."'},
    "Attr": {"name": '"a"', "type": "int", "default": "3"},
    "Kernel": ADD_LAUNCH,
    "Op": {
        "dtypes": '{{"T": ["float32"]}}',
        "type": '"AddCustom"',
        "inputs": "[{Input}]",
        "outputs": "[{Output}]",
        "attrs": "[{Attr}]",
        "kernel": "{Kernel}",
    },
    "Benchmark": {"op": "op", "shapes": '{{"x": (4,)}}'},
    "Package": {"name": '"my_ops"', "ops": "[op]", "benchmark": "{Benchmark}"},
}


def _whole(changed: str, parameter: str) -> str:
    """A spec with one of each declaration, in which one argument of one is open."""
    texts: dict[str, str] = {}
    for kind, arguments in _WHOLE.items():
        given = {**arguments, parameter: "..."} if kind == changed else arguments
        texts[kind] = f"{kind}({', '.join(f'{name}={value.format(**texts)}' for name, value in given.items())})"
    return f"from opkit import *\nop = {texts['Op']}\npackage = {texts['Package']}\n"


@pytest.mark.parametrize(
    ("kind", "parameter"),
    [(kind, parameter) for kind in _WHOLE for parameter in getattr(declare, kind).parameters],
    ids=lambda value: value,
)
def test_any_argument_may_be_open(folder: SpecFolder, kind: str, parameter: str) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t n")
    told = folder.mistakes(_whole(kind, parameter))
    assert f"{parameter} of {kind} is still open" in [mistake.message for mistake in told]
