"""What an op declares: from its three lists or from `signature=`, which keeps the order of a prototype that mixes them."""

from __future__ import annotations

from itertools import chain
from typing import TypeVar

from opkit.spec.declare import Attr, Declaration, Input, Op, Output
from opkit.spec.fields import declared_in, lists_all, sequence_of, shown
from opkit.spec.problems import Problems, Rule

__all__ = ["check_signature", "declared_of", "tells_all"]

T = TypeVar("T", bound=Declaration)

_LISTS: dict[str, type[Declaration]] = {"inputs": Input, "outputs": Output, "attrs": Attr}


def check_signature(op: Op, problems: Problems) -> list[Input | Output | Attr]:
    """The declarations in the order of the prototype; what is no declaration, or in the wrong list, is reported."""
    if "signature" not in op.given:
        for name in ("inputs", "outputs"):
            if name not in op.given and not op.strays:
                advice = (
                    None
                    if any(each in op.given for each in ("inputs", "outputs"))
                    else "write inputs=[…] and outputs=[…], or signature=[…]"
                )
                problems.add(Rule.MISSING_ARGUMENT, f"Op lacks {name!r}", op.made.where, advice=advice)
        return [
            *declared_in(op, "inputs", Input, problems),
            *declared_in(op, "outputs", Output, problems),
            *declared_in(op, "attrs", Attr, problems),
        ]
    for name in _LISTS:
        if name in op.given:
            because = "signature holds the inputs, outputs and attrs in the order of the prototype"
            problems.add(Rule.SIGNATURE, f"the op has a signature and {name} too", op.where_of(name), because=because)
    found: list[Input | Output | Attr] = []
    for index, element in enumerate(sequence_of(op, "signature", problems, what="[Input(…), Attr(…), Output(…)]") or []):
        if isinstance(element, (Input, Output, Attr)):
            found.append(element)
        else:
            message = f"the signature holds {shown(element)}, not an Input, an Output or an Attr"
            problems.add(Rule.SIGNATURE, message, op.where_of("signature", index))
    return found


def declared_of(op: Op, kind: type[T]) -> list[T]:
    """The declarations of one kind in their order, without a report of what else is there."""
    given = [op.given.get("signature")] if "signature" in op.given else [op.given.get(name) for name in _LISTS]
    elements = chain.from_iterable(each for each in given if isinstance(each, (list, tuple)))
    return [each for each in elements if isinstance(each, kind)]


def tells_all(op: Op, *kinds: type[Declaration]) -> bool:
    """Whether the op tells the names of all its declarations of these kinds; as `lists_all`."""
    if "signature" in op.given:
        given = op.given["signature"]
        return isinstance(given, (list, tuple)) and all(
            isinstance(each, (Input, Output, Attr)) and isinstance(each.given.get("name"), str) for each in given
        )
    return all(kind not in kinds or _has_no_attrs(op, name) or lists_all(op, name, kind) for name, kind in _LISTS.items())


def _has_no_attrs(op: Op, name: str) -> bool:
    strays = chain.from_iterable(each for each in op.strays if isinstance(each, (list, tuple)))
    return name == "attrs" and name not in op.given and not any(isinstance(each, Attr) for each in strays)
