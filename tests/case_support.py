"""Reads case folders and their arrays back, so that tests know what a session program would be given."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from opkit.run.arrays import Array, Tolerance, numpy_dtype
from opkit.run.case import AttrItem, AttrValue, Case, OutputItem, TensorItem

if TYPE_CHECKING:
    from pathlib import Path

_FROM_TEXT = {"int": int, "float": float, "str": unquote, "bool": {"true": True, "false": False}.__getitem__}


def load(path: Path, dtype: str) -> Array:
    array: Array = np.load(path, allow_pickle=False)
    return array.view(numpy_dtype(dtype)) if dtype == "bfloat16" else array


def read_case(folder: Path) -> Case:
    op = ""
    inputs: list[TensorItem] = []
    items: list[AttrItem] = []
    outputs: list[OutputItem] = []
    for line in (folder / "case.txt").read_text(encoding="ascii").splitlines():
        kind, name, *words = line.split(" ")
        name = unquote(name)
        if kind == "op":
            op = name
        elif kind == "attr":
            type_, text = words
            value: AttrValue = _FROM_TEXT[type_](text)  # type: ignore[operator]
            items.append(AttrItem(name=name, type=type_, value=value))
        else:
            dtype, shape, file, *tolerance = words
            array = load(folder / file, dtype)
            assert shape == (",".join(map(str, array.shape)) or "scalar")
            if kind == "input":
                inputs.append(TensorItem(port=name, dtype=dtype, array=array))
            else:
                rtol, atol = map(float, tolerance)
                outputs.append(OutputItem(port=name, dtype=dtype, array=array, tolerance=Tolerance(rtol=rtol, atol=atol)))
    return Case(op=op, inputs=tuple(inputs), attrs=tuple(items), outputs=tuple(outputs))
