"""A case's truth: the spec's NumPy reference, called on fixed-seed inputs and held to the dtypes and shapes that the spec declares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from opkit.errors import MachineError, SpecError
from opkit.run.arrays import Array, numpy_dtype, random_input, tolerance_of
from opkit.run.case import AttrItem, AttrValue, Case, OutputItem, TensorItem
from opkit.run.machine import host_memory
from opkit.spec.problems import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from opkit.spec import DType, Op, Package

__all__ = ["ExpectationError", "build_case", "make_inputs", "reference_of", "require_memory"]

# The seed of every golden test and benchmark: a result that was wrong once is wrong again.
_SEED = 20240229
# A session program keeps two memory sets of each tensor.
_MEMORY_SETS = 2


class ExpectationError(SpecError):
    """The spec's reference raised, or gave something that can't be the op's result."""

    number = Rule.EXPECTATION.number


def require_memory(op: Op, shapes: Mapping[str, tuple[int, ...]], dtypes: Mapping[str, DType]) -> None:
    """Raises MachineError for tensors that this computer can't hold, before anything is allocated. ``shapes`` is by input."""
    all_shapes = {**shapes, **op.infer_shapes(shapes)}
    # Python's integers: NumPy's would wrap around for the very shapes that are to be refused.
    tensors = sum(math.prod(shape) * dtypes[name].bytes for name, shape in all_shapes.items())
    available = host_memory()
    if tensors * _MEMORY_SETS > available:
        given = ", ".join(f"{name}={list(shape)}" for name, shape in shapes.items())
        msg = f"the tensors of {op.type} don't fit into this computer's memory"
        because = f"{given} come to {tensors:,} bytes with the outputs, twice for two memory sets; there are {available:,} bytes"
        raise MachineError(msg, because=because, help="give smaller shapes")


def make_inputs(op: Op, shapes: Mapping[str, tuple[int, ...]], dtypes: Mapping[str, DType]) -> dict[str, Array]:
    """Gives an array for each input of ``op``; equal ports of different ops get the same bytes. Raises as `require_memory`."""
    require_memory(op, shapes, dtypes)
    return {port.name: random_input(port.name, dtypes[port.name].name, shapes[port.name], seed=_SEED) for port in op.inputs}


def reference_of(package: Package, op: Op) -> Callable[..., Any] | None:
    """An op without a reference takes that of the op it is benchmarked against, which must compute the same."""
    benchmark = package.benchmark
    if op.reference is None and benchmark is not None and benchmark.baseline is not None:
        pair = (benchmark.op, benchmark.baseline)
        if op.type in {member.type for member in pair}:
            return next((member.reference for member in pair if member.reference is not None), None)
    return op.reference


def build_case(
    op: Op,
    inputs: Mapping[str, Array],
    dtypes: Mapping[str, DType],
    attrs: Mapping[str, AttrValue],
    *,
    reference: Callable[..., Any] | None,
) -> Case:
    """Gives the case of ``op``; without a reference it has no outputs. Raises ExpectationError."""
    expected = () if reference is None else _call(op, reference, inputs, attrs)
    outputs = []
    if expected:
        shapes = op.infer_shapes({name: array.shape for name, array in inputs.items()})
        for port, value in zip(op.outputs, expected, strict=True):
            dtype = dtypes[port.name].name
            array = _held_to(op, port.name, value, dtype, shapes[port.name])
            outputs.append(OutputItem(port=port.name, dtype=dtype, array=array, tolerance=tolerance_of(dtype)))
    return Case(
        op=op.type,
        inputs=tuple(TensorItem(port=port.name, dtype=dtypes[port.name].name, array=inputs[port.name]) for port in op.inputs),
        attrs=tuple(AttrItem(name=attr.name, type=attr.type.value, value=attrs[attr.name]) for attr in op.attrs),
        outputs=tuple(outputs),
    )


def _call(op: Op, reference: Callable[..., Any], inputs: Mapping[str, Array], attrs: Mapping[str, AttrValue]) -> tuple[Any, ...]:
    try:
        # An overflow or a NaN is a result to compare, not an event.
        with np.errstate(all="ignore"):
            result = reference(*(inputs[port.name] for port in op.inputs), **attrs)
    except Exception as error:  # the user's function may raise anything
        shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in inputs.items())
        msg = f"the reference of {op.type} fails for {shapes}"
        raise ExpectationError(msg, where=str(op.where), because=f"{type(error).__name__}: {error}") from error
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(op.outputs):
        msg = f"the reference of {op.type} gives {len(results)} arrays, the op has {len(op.outputs)} outputs"
        raise ExpectationError(msg, where=str(op.where), help="return one array for each output, as a tuple")
    return results


def _held_to(op: Op, port: str, value: object, dtype: str, shape: tuple[int, ...]) -> Array:
    """A float64 result may stand for a float32 output, as NumPy's own functions give one; a float for an integer may not."""
    array = np.asarray(value)
    wanted = numpy_dtype(dtype)
    if array.shape != shape:
        msg = f"the reference of {op.type} gives {port} the shape {list(array.shape)}, the spec {list(shape)}"
        raise ExpectationError(msg, where=str(op.where))
    if (
        array.dtype != wanted
        and not np.can_cast(array.dtype, wanted, casting="same_kind")
        and not (array.dtype.kind == "f" and wanted.name == "bfloat16")
    ):
        msg = f"the reference of {op.type} gives {port} as {array.dtype}, the spec says {dtype}"
        raise ExpectationError(msg, where=str(op.where))
    return array.astype(wanted, copy=False)
