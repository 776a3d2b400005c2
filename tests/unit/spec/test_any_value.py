"""Whatever a user puts where: loading gives a package or names a mistake, and never shows a fault of opkit's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opkit.errors import SpecErrors
from opkit.spec import Package, load_package

if TYPE_CHECKING:
    from spec_support import SpecFolder

SPEC = """\
from opkit import *
import typing
import numpy as np


class Odd:
    def __repr__(self):
        raise RuntimeError


kernel = Kernel({kernel})
attr_k = Attr({attr})
x = Input({input})
z = Output({output})
op = Op({op})
base = op.replace(type="AddBase", refresh="none")
bench = Benchmark({benchmark})
package = Package({package})
"""
CALLS = {
    "kernel": {
        "source": '"kernels/add.asc"',
        "entry": '"add"',
        "args": '["x", "y", "z", numel("x")]',
        "blocks": 'ceil_div(numel("x"), 1024)',
        "strides": "True",
        "defines": '{"BLOCK_SIZE": 1024}',
    },
    "attr": {"name": '"k"', "type": "int", "default": "3"},
    "input": {
        "name": '"x"',
        "dtype": '"T"',
        "shape": '"..."',
        "optional": "False",
        "dynamic": "False",
        "count_attr": "None",
        "same_dtype": "True",
        "formats": '("ND",)',
        "value_depend": "None",
    },
    "output": {"name": '"z"', "dtype": '"T"', "shape": '"..."', "dynamic": "False", "formats": '("ND",)'},
    "op": {
        "type": '"AddCustom"',
        "inputs": '[x, Input("y", "T", shape="...")]',
        "outputs": "[z]",
        "attrs": "[attr_k]",
        "dtypes": '{"T": ["float32", "float16"]}',
        "dtype_mode": '"columns"',
        "kernel": "kernel",
        "refresh": '"updater"',
        "reference": "lambda x, y, k: x",
    },
    "benchmark": {"op": "op", "baseline": "base", "shapes": '{"x": (8, 4), "y": (8, 4)}', "attrs": '{"k": 5}', "iters": "10"},
    "package": {"name": '"my_ops"', "ops": "[op, base]", "header": '"add.h"', "benchmark": "bench"},
}
ARGUMENTS = [(call, name) for call, arguments in CALLS.items() for name in arguments]
VALUES = [
    "None",
    "True",
    "-1",
    "2**70",
    "10**5000",
    "-(10**5000)",
    "1.5",
    "float('nan')",
    "'x'",
    "'T'",
    "'...'",
    "'9' * 5000",
    "'(0x' + 'f' * 5000 + ')'",
    "'n\\nk'",
    r"'\ud800'",
    "b'x'",
    "list[int, int]",
    "typing.List",
    "typing.List[int]",
    "{'A': 10**5000}",
    r"{'A': '\ud800'}",
    "{'A': '1 /*'}",
    "{'int': 'float'}",
    "()",
    "[None]",
    "['x', 3]",
    "[[]]",
    "{'x': None}",
    "{3: 'x'}",
    "{'T': None, 'x': ['int8', 'int8']}",
    "Odd()",
    "lambda: 0",
    "np.int64(3)",
    "np.zeros(3)",
    "np.array(['columns', 'product'])",
    "x",
    "op",
    "[op]",
    "[x, x]",
    "numel('x')",
    "port('x')",
    "f32(f32('k'))",
    "max_()",
    "cores() + numel(numel)",
    "dim('x', 'x') // None",
    "dim('x', 10**5000)",
    "sum([numel('x')] * 3000)",
    "min_(*[numel('x')] * 3000)",
]


def outcome(folder: SpecFolder, *changes: tuple[str, str, str]) -> Package | SpecErrors | None:
    """The package or its mistakes; None if the value isn't defined where it stands, which is Python's affair."""
    calls = {call: dict(arguments) for call, arguments in CALLS.items()}
    for call, name, value in changes:
        calls[call][name] = value
    text = SPEC.format(**{call: ", ".join(f"{name}={value}" for name, value in arguments.items()) for call, arguments in calls.items()})
    folder.write("ops.py", text)
    try:
        return load_package(folder.ops_py)
    except SpecErrors as errors:
        return None if errors.errors[0].number == "OPK0204" and "NameError" in errors.errors[0].message else errors


def test_the_spec_that_the_values_are_put_into_is_good(folder: SpecFolder) -> None:
    assert isinstance(outcome(folder), Package)


@pytest.mark.parametrize(("call", "name"), ARGUMENTS)
def test_any_value_of_one_argument_gives_a_package_or_a_mistake(folder: SpecFolder, call: str, name: str) -> None:
    for value in VALUES:
        found = outcome(folder, (call, name, value))
        if isinstance(found, SpecErrors):
            text = found.render()
            assert all(error.number.startswith("OPK02") for error in found.errors)
            assert "ops.py:" in text
            assert " at 0x" not in text
            assert text.encode()
        elif found is not None:
            assert len(found.ops) == 2


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(ARGUMENTS), st.sampled_from(VALUES)), min_size=2, max_size=5))
def test_any_values_of_several_arguments_give_a_package_or_mistakes(folder: SpecFolder, changes: list[tuple[tuple[str, str], str]]) -> None:
    found = outcome(folder, *((call, name, value) for (call, name), value in changes))

    assert found is None or isinstance(found, SpecErrors) or len(found.ops) == 2
