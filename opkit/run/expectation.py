"""A case's truth: the spec's NumPy reference, called on fixed-seed inputs and held to the dtypes and shapes that the spec declares."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from opkit.errors import MachineError, SpecError
from opkit.run.arrays import Array, is_of_ml_dtypes, numpy_dtype, random_input, tolerance_of
from opkit.run.case import AttrItem, AttrValue, Case, OutputItem, TensorItem
from opkit.run.machine import host_memory
from opkit.spec.location import location_of
from opkit.spec.problems import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from opkit.spec import DType, GivenShape, Input, Op, Output, Package

GivenArray: TypeAlias = "Array | tuple[Array, ...] | None"
"""What an input is given: a tuple of arrays if it is dynamic, None if it is absent."""

__all__ = ["ExpectationError", "GivenArray", "build_case", "make_inputs", "reference_of", "require_memory", "shape_shown", "why_not_run"]

# The seed of every golden test and benchmark: a result that was wrong once is wrong again.
_SEED = 20240229
# A session program keeps two memory sets of each tensor.
_MEMORY_SETS = 2


class ExpectationError(SpecError):
    """The spec's reference raised, or gave something that can't be the op's result."""

    number = Rule.EXPECTATION.number


def require_memory(
    op: Op, shapes: Mapping[str, GivenShape], dtypes: Mapping[str, DType], attrs: Mapping[str, AttrValue] | None = None
) -> None:
    """Raises MachineError for tensors that this computer can't hold, before anything is allocated. ``shapes`` is by input."""
    for name, dtype in dtypes.items():
        if dtype.npy is None:
            msg = f"{op.type} can't be run with {dtype} here"
            raise MachineError(msg, because=f"NumPy has no {dtype}, so nothing can be made or compared for {name}")
    counts = op.output_counts(shapes, attrs or {})
    members = [(port.name, shape) for port in op.inputs for shape in port.shapes_in(shapes.get(port.name))]
    members += [(name, shape) for name, shape in op.infer_shapes(shapes, attrs).items() for _ in range(counts.get(name, 1))]
    # Python's integers: NumPy's would wrap around for the very shapes that are to be refused.
    tensors = sum(math.prod(shape) * dtypes[name].bytes for name, shape in members)
    available = host_memory()
    if tensors * _MEMORY_SETS > available:
        given = ", ".join(f"{name}={shape_shown(shape)}" for name, shape in shapes.items())
        msg = f"the tensors of {op.type} don't fit into this computer's memory"
        because = f"{given} come to {tensors:,} bytes with the outputs, twice for two memory sets; there are {available:,} bytes"
        raise MachineError(msg, because=because, help="give smaller shapes")


def why_not_run(op: Op) -> str | None:
    """Why a session program can't run an op, whatever it is given, or None."""
    names = [output.name for output in op.kernel_shaped]
    if not names:
        return None
    return f"only the kernel knows the shape of {', '.join(names)}: that needs GE's dynamic executor, and the simulator has none"


def make_inputs(
    op: Op, shapes: Mapping[str, GivenShape], dtypes: Mapping[str, DType], attrs: Mapping[str, AttrValue] | None = None
) -> dict[str, GivenArray]:
    """Gives what each input of ``op`` is given; equal ports of different ops get the same bytes. Raises as `require_memory`."""
    require_memory(op, shapes, dtypes, attrs)
    made: dict[str, GivenArray] = {}
    for port in op.inputs:
        dtype, members = dtypes[port.name].name, port.shapes_in(shapes.get(port.name))
        if port.is_dynamic:
            names = _dtypes_of(port, dtype, len(members))
            made[port.name] = tuple(random_input(f"{port.name}{n}", names[n], shape, seed=_SEED) for n, shape in enumerate(members))
        else:
            made[port.name] = random_input(port.name, dtype, members[0], seed=_SEED) if members else None
    return made


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
    inputs: Mapping[str, GivenArray],
    dtypes: Mapping[str, DType],
    attrs: Mapping[str, AttrValue],
    *,
    reference: Callable[..., Any] | None,
) -> Case:
    """Gives the case of ``op``; without a reference it has no outputs. Raises ExpectationError."""
    expected = () if reference is None or not op.outputs else _call(op, reference, inputs, attrs)
    given = {port.name: _shape_of(inputs[port.name]) for port in op.inputs}
    counts = op.output_counts(given, attrs)
    outputs = []
    if expected:
        shapes = op.infer_shapes(given, attrs)
        for port, value in zip(op.outputs, expected, strict=True):
            dtype = dtypes[port.name].name
            members = _list_held_to(op, port, value, counts) if port.is_dynamic else [value]
            source = op.mixed_input(port)
            names = [dtype] * len(members) if source is None else _dtypes_of(source, dtypes[source.name].name, len(members))
            for member, name in zip(members, names, strict=True):
                array = _held_to(op, port.name, member, name, shapes.get(port.name))
                outputs.append(OutputItem(port=port.name, dtype=name, array=array, tolerance=tolerance_of(name)))
            if port.is_dynamic:
                counts[port.name] = len(members)
    return Case(
        op=op.type,
        inputs=tuple(
            TensorItem(port=port.name, dtype=name, array=array)
            for port in op.inputs
            for members in [_members(inputs[port.name])]
            for name, array in zip(_dtypes_of(port, dtypes[port.name].name, len(members)), members, strict=True)
        ),
        attrs=tuple(AttrItem(name=attr.name, type=attr.type.value, value=attrs[attr.name]) for attr in op.attrs),
        outputs=tuple(outputs),
        counts=counts,
        dtypes={port.name: dtypes[port.name].name for port in op.outputs_told_by_graph()},
    )


def shape_shown(given: GivenShape) -> str:
    """A shape as a message shows it: of a list, its length and the shape of the first tensor."""
    if given is None:
        return "absent"
    if given and not isinstance(given[0], int):
        return f"{len(given)}*{list(given[0])}"
    return str(list(given))


def _dtypes_of(port: Input, dtype: str, count: int) -> list[str]:
    """One for each of its tensors: where each may have its own, all that NumPy has in turn, from `dtype` on."""
    names = [each.name for each in dict.fromkeys(port.dtypes) if each.npy is not None]
    if not port.is_mixed or dtype not in names:
        return [dtype] * count
    first = names.index(dtype)
    return [names[(first + number) % len(names)] for number in range(count)]


def _members(given: GivenArray) -> tuple[Array, ...]:
    if given is None:
        return ()
    return given if isinstance(given, tuple) else (given,)


def _shape_of(given: GivenArray) -> GivenShape:
    if isinstance(given, tuple):
        return tuple(array.shape for array in given)
    return None if given is None else given.shape


def _argument(given: GivenArray, *, is_in_place: bool) -> Any:  # noqa: ANN401 - what a reference takes
    """A reference may change an input in place that its op changes too: then it has a copy."""
    if isinstance(given, tuple):
        return [array.copy() if is_in_place else array for array in given]
    return given.copy() if is_in_place and given is not None else given


def _list_held_to(op: Op, port: Output, value: object, counts: Mapping[str, int]) -> list[object]:
    if not isinstance(value, (list, tuple)):
        msg = f"the reference of {op.type} gives no list for {port.name}, which is dynamic"
        raise ExpectationError(msg, where=str(op.where), help="return a list of arrays in its place")
    is_counted = port.count_attr is not None or op.input_in_place(port) is not None
    if is_counted and len(value) != counts[port.name]:
        msg = f"the reference of {op.type} gives {_counted(len(value), 'array')} for {port.name}, the case has {counts[port.name]}"
        raise ExpectationError(msg, where=str(op.where))
    return list(value)


def _call(op: Op, reference: Callable[..., Any], inputs: Mapping[str, GivenArray], attrs: Mapping[str, AttrValue]) -> tuple[Any, ...]:
    changed = {port.name for port in op.outputs}
    try:
        # An overflow, a NaN or the mean of nothing is a result to compare, not an event.
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            result = reference(*(_argument(inputs[port.name], is_in_place=port.name in changed) for port in op.inputs), **attrs)
    except Exception as error:  # the user's function may raise anything
        shapes = ", ".join(f"{name} {shape_shown(_shape_of(given))}" for name, given in inputs.items())
        msg = f"the reference of {op.type} fails for {shapes}"
        raise ExpectationError(msg, where=_raised_at(error, op), because=f"{type(error).__name__}: {error}") from error
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(op.outputs):
        gives = "a list" if isinstance(result, list) else _counted(len(results), "array")
        msg = f"the reference of {op.type} gives {gives}, the op has {_counted(len(op.outputs), 'output')}"
        raise ExpectationError(msg, where=str(op.where), help="return a tuple, one array for each output")
    return results


def _raised_at(error: BaseException, op: Op) -> str:
    """The deepest line of the file that declares the op, or the op where the error comes from nowhere in it."""
    place = op.where
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(op.where.file):
            place = location_of(op.where.file, trace.tb_lineno)
        trace = trace.tb_next
    return str(place)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _held_to(op: Op, port: str, value: object, dtype: str, shape: tuple[int, ...] | None) -> Array:
    """The shape of a rule in C++ isn't known here: it is held to the reference's when the case runs. A float64 result may stand for a
    float32 output, as NumPy's own functions give one; a float for an integer may not.
    """
    array = np.asarray(value)
    wanted = numpy_dtype(dtype)
    if shape is not None and array.shape != shape:
        msg = f"the reference of {op.type} gives {port} the shape {list(array.shape)}, the spec {list(shape)}"
        raise ExpectationError(msg, where=str(op.where))
    if (
        array.dtype != wanted
        and not np.can_cast(array.dtype, wanted, casting="same_kind")
        and not (array.dtype.kind == "f" and is_of_ml_dtypes(wanted))
    ):
        msg = f"the reference of {op.type} gives {port} as {array.dtype}, the spec says {dtype}"
        raise ExpectationError(msg, where=str(op.where))
    return array.astype(wanted, copy=False)
