"""Case folders: the inputs, the attrs and the NumPy expectation of one run of one op, in the files that a session program reads with
`--case`.

The format is a contract with the generated `session_run/main.cc`. Words are separated by one space and percent-encoded where they hold
anything but plain characters, so a value with a space or a line break is still one word; an empty text is an empty word. A list is the
number of its elements and then each of them, a dtype GE's number of it. The tensors of a dynamic port are lines that follow each other;
`count` says how many an output has, which the case need not expect. `dtype`
says what a graph must tell of an output before it is compiled:

    op AddRefreshOp
    input x float32 4096,4096 x.npy
    attr alpha float 0.5
    attr axes list_int 2 0 -1
    attr to type 9
    count parts 3
    dtype y float16
    output z float32 4096,4096 z.npy 1e-05 1e-08
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

import attrs
import numpy as np

from opkit.run.arrays import Array, Tolerance, save
from opkit.spec import AttrType, find_dtype

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from opkit.spec import AttrDefault

__all__ = ["AttrItem", "AttrValue", "Case", "CaseWriter", "OutputItem", "TensorItem", "shape_text"]

AttrValue: TypeAlias = "AttrDefault"

_FILE = "case.txt"
# What stays readable; the rest is encoded, among it the separators of words, lists and lines.
_PLAIN = "/+:=@"


@attrs.frozen(kw_only=True)
class TensorItem:
    port: str
    dtype: str
    array: Array = attrs.field(eq=attrs.cmp_using(eq=np.array_equal))


@attrs.frozen(kw_only=True)
class OutputItem:
    port: str
    dtype: str
    array: Array = attrs.field(eq=attrs.cmp_using(eq=np.array_equal))
    tolerance: Tolerance


@attrs.frozen(kw_only=True)
class AttrItem:
    """One attr; ``type`` is the spec's word: int, list_float …"""

    name: str
    type: str
    value: AttrValue


@attrs.frozen(kw_only=True)
class Case:
    """What one op is given and what it must give. An optional input that is absent has no item; an output without a reference has none
    either. A dynamic port has an item for each of its tensors, and `counts` how many tensors each dynamic output has. `dtypes` has the
    dtype of each output that the graph tells.
    """

    op: str
    inputs: tuple[TensorItem, ...]
    counts: Mapping[str, int] = attrs.field(factory=dict)
    dtypes: Mapping[str, str] = attrs.field(factory=dict)
    attrs: tuple[AttrItem, ...] = ()
    outputs: tuple[OutputItem, ...] = ()


class CaseWriter:
    """Writes cases below one folder; an array that several cases share (the same object) is stored once and hard-linked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # The arrays are kept alive with their files: an id() alone may be given again after its array is gone.
        self._stored: dict[int, tuple[Array, Path]] = {}

    def write(self, name: str, case: Case) -> Path:
        """Gives the case's folder, ``<folder>/<name>``."""
        folder = self._folder / name
        folder.mkdir(parents=True)
        lines = [f"op {_word(case.op)}"]
        for number, tensor in enumerate(case.inputs):
            file = f"in{number}.npy"
            self._store(tensor.array, folder / file)
            lines.append(f"input {_word(tensor.port)} {_word(tensor.dtype)} {shape_text(tensor.array.shape)} {file}")
        lines += [f"attr {_word(item.name)} {_word(item.type)}{_attr_words(AttrType(item.type), item.value)}" for item in case.attrs]
        lines += [f"count {_word(port)} {count}" for port, count in case.counts.items()]
        lines += [f"dtype {_word(port)} {_word(dtype)}" for port, dtype in case.dtypes.items()]
        for number, output in enumerate(case.outputs):
            file = f"out{number}.npy"
            self._store(output.array, folder / file)
            tolerance = f"{output.tolerance.rtol:g} {output.tolerance.atol:g}"
            lines.append(f"output {_word(output.port)} {_word(output.dtype)} {shape_text(output.array.shape)} {file} {tolerance}")
        (folder / _FILE).write_text("\n".join(lines) + "\n", encoding="ascii")
        return folder

    def _store(self, array: Array, path: Path) -> None:
        stored = self._stored.get(id(array))
        if stored is None:
            save(path, array)
            self._stored[id(array)] = (array, path)
            return
        try:
            os.link(stored[1], path)
        except OSError:  # a file system without hard links
            save(path, array)


def shape_text(shape: tuple[int, ...]) -> str:
    """Gives the word of a shape, here and in ``--shape``."""
    return ",".join(str(dim) for dim in shape) if shape else "scalar"


def _word(text: str) -> str:
    return quote(text, safe=_PLAIN)


def _attr_words(kind: AttrType, value: AttrValue) -> str:
    """The words of a value, each with the space before it."""
    match value:
        case bytes():
            return _list_words(f" {byte}" for byte in value)
        case tuple():
            # The one tensor that has a text is the empty one.
            return "" if kind.element is None else _list_words(_attr_words(kind.element, each) for each in value)
        case bool():
            return " true" if value else " false"
        case str():
            dtype = find_dtype(value) if kind is AttrType.TYPE else None
            return f" {_word(value) if dtype is None else dtype.number}"
    # repr of a float is the shortest text that reads back to the same value.
    return f" {value!r}"


def _list_words(elements: Iterable[str]) -> str:
    words = list(elements)
    return "".join([f" {len(words)}", *words])
