"""Reads case folders and their arrays back, so that tests know what a session program would be given."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from opkit.run.arrays import Array, Tolerance, is_of_ml_dtypes, numpy_dtype
from opkit.run.case import AttrItem, AttrValue, Case, OutputItem, TensorItem
from opkit.spec import DTYPES, AttrType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_BY_NUMBER = {str(dtype.number): dtype.name for dtype in DTYPES.values()}
_FROM_TEXT: dict[AttrType, Callable[[str], AttrValue]] = {
    AttrType.INT: int,
    AttrType.FLOAT: float,
    AttrType.STR: unquote,
    AttrType.BOOL: {"true": True, "false": False}.__getitem__,
    AttrType.TYPE: _BY_NUMBER.__getitem__,
}


def _value(kind: AttrType, words: Iterator[str]) -> AttrValue:
    if kind is AttrType.TENSOR:
        return ()
    if kind is AttrType.BYTES:
        return bytes(int(next(words)) for _ in range(int(next(words))))
    if kind.element is not None:
        return tuple(_value(kind.element, words) for _ in range(int(next(words))))
    return _FROM_TEXT[kind](next(words))


def load(path: Path, dtype: str) -> Array:
    array: Array = np.load(path, allow_pickle=False)
    return array.view(numpy_dtype(dtype)) if is_of_ml_dtypes(numpy_dtype(dtype)) else array


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
            type_, *rest = words
            left = iter(rest)
            items.append(AttrItem(name=name, type=type_, value=_value(AttrType(type_), left)))
            assert next(left, None) is None
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
