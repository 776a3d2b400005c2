"""The checks that every declaration needs before its meaning is looked at: its arguments exist, are all there and of the right kind."""

from __future__ import annotations

import operator
import reprlib
from typing import TYPE_CHECKING, TypeVar

from opkit.spec.declare import Declaration, Phrase, Size
from opkit.spec.open_questions import report_open
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of

if TYPE_CHECKING:
    from collections.abc import Collection

T = TypeVar("T", bound=Declaration)


def check_call(declared: Declaration, problems: Problems, *, told: Collection[str] = ()) -> None:
    """Reports keywords that the declaration doesn't take, surplus positional arguments, and arguments left out that aren't `omittable`.
    The keywords `told` are the caller's to report.

    What is left out isn't reported beside a stray argument, which may well be it.
    """
    takes = f"{declared.kind} takes {one_of(declared.parameters)}"
    for name in (keyword for keyword in declared.unknown if keyword not in told):
        advice = did_you_mean(name, declared.parameters) or takes
        problems.add(Rule.UNKNOWN_KEYWORD, f"{declared.kind} takes no {name!r}", declared.where_of(name), advice=advice)
    if declared.surplus:
        count = declared.positional
        message = f"{declared.kind} takes {count} argument{'s' if count > 1 else ''} by position, and more are given"
        problems.add(Rule.UNKNOWN_KEYWORD, message, declared.where, because=f"{shown(declared.surplus[0])} has no name", advice=takes)
    for name in declared.open:
        report_open(f"{name} of {declared.kind}", declared.where_of(name), problems)
    for name in declared.parameters:
        if name not in declared.given and name not in declared.omittable and not declared.strays:
            # Not `where`: a copy lacks what the original lacks, which is one mistake.
            problems.add(Rule.MISSING_ARGUMENT, f"{declared.kind} lacks {name!r}", declared.made.where)


def text_of(declared: Declaration, name: str, problems: Problems) -> str | None:
    """A text argument; None if it is absent, or after reporting that it is no text."""
    if name not in declared.given:
        return None
    value = declared.given[name]
    if isinstance(value, str):
        return value
    problems.add(Rule.WRONG_KIND, f"{name} of {declared.kind} is {shown(value)}, not a text", declared.where_of(name))
    return None


def flag_of(declared: Declaration, name: str, problems: Problems) -> bool:
    """An argument that is True or False; False if it is absent, or after reporting that it is neither."""
    value = declared.given.get(name, False)
    if not isinstance(value, bool):
        message = f"{name} of {declared.kind} is {shown(value)}, not True or False"
        problems.add(Rule.WRONG_KIND, message, declared.where_of(name))
    return value is True


def sequence_of(declared: Declaration, name: str, problems: Problems, *, what: str) -> list[object] | None:
    """A list argument; None if it is absent, or after reporting that it is no list. `what` is an example for the reader."""
    if name not in declared.given:
        return None
    value = declared.given[name]
    if isinstance(value, (list, tuple)):
        return list(value)
    problems.add(
        Rule.WRONG_KIND, f"{name} of {declared.kind} is {shown(value)}, not a list", declared.where_of(name), advice=f"write {name}={what}"
    )
    return None


def declared_in(declared: Declaration, name: str, kind: type[T], problems: Problems) -> list[T]:
    """The elements of a list argument that are declarations of `kind`; the others are reported."""
    found: list[T] = []
    for index, element in enumerate(sequence_of(declared, name, problems, what=f"[{kind.__name__}(…), …]") or []):
        if isinstance(element, kind):
            found.append(element)
        else:
            message = f"{name} of {declared.kind} holds {shown(element)}, not {_article(kind.__name__)}"
            problems.add(Rule.WRONG_KIND, message, declared.where_of(name, index))
    return found


def lists_all(declared: Declaration, name: str, kind: type[Declaration]) -> bool:
    """Whether a list argument tells the names of all its elements. Where it doesn't, that is a mistake of its own, and a name that seems
    unknown may be one that it doesn't tell.
    """
    given = declared.given.get(name)
    if not isinstance(given, (list, tuple)):
        return False
    strays = [] if given else [each for stray in declared.strays if isinstance(stray, (list, tuple)) for each in stray]
    is_named = all(isinstance(each, kind) and isinstance(each.given.get(each.parameters[0]), str) for each in given)
    return is_named and not any(isinstance(each, kind) for each in strays)


def name_of(declared: Declaration, argument: str = "name") -> str:
    """The name of a declaration as messages and look-ups use it, whatever the user gave."""
    value = declared.given.get(argument)
    return value if isinstance(value, str) else shown(value)


def integer_of(value: object) -> int | None:
    """The integer that a value is (NumPy's count, bool doesn't), or None."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type] # asking is the point
    except TypeError:
        return None


_SHOWN_BITS = 128


class _Shown(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 80
        self.maxlist = self.maxtuple = self.maxdict = 8

    def repr_instance(self, x: object, level: int) -> str:  # noqa: ARG002 - the signature is reprlib's
        # Not repr: it may hold an address, which differs from run to run, or raise.
        if isinstance(x, Declaration):
            return _article(x.kind)
        if isinstance(x, (Size, Phrase)):
            return f"{x.word}(…)"
        return f"<{getattr(x, '__qualname__', type(x).__qualname__)}>"

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002 - the signature is reprlib's
        # Not repr: Python refuses to write one of more than 4300 digits.
        bits = x.bit_length()
        return repr(x) if bits <= _SHOWN_BITS else f"an integer of {bits} bits"

    repr_function = repr_type = repr_builtin_function_or_method = repr_instance

    def repr_float(self, x: float, level: int) -> str:  # noqa: ARG002 - the signature is reprlib's
        return repr(x)

    repr_bytes = repr_bool = repr_NoneType = repr_float  # noqa: N815 - the name is reprlib's


def shown(value: object) -> str:
    """A value as a message shows it: short, and the same in every run."""
    return _SHOWN.repr(value)


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}"


_SHOWN = _Shown()
