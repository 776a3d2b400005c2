"""What to say when a kernel's args and parameters differ in number: which one is missing or has no place, as far as the names tell."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from opkit.spec.kernel_signature import KernelParam

__all__ = ["Argument", "count_advice"]


@attrs.frozen(kw_only=True)
class Argument:
    """An element of args as it is shown, and the port or attr that it stands for, if it is one as a whole."""

    shown: str
    name: str | None


def count_advice(args: Sequence[Argument], params: Sequence[KernelParam], names: Collection[str]) -> str:
    """`names` are the op's ports and attrs: a parameter that is called like one of them is most likely to take it."""
    return _missing(args, params, names) if len(args) < len(params) else _surplus(args, params)


def _missing(args: Sequence[Argument], params: Sequence[KernelParam], names: Collection[str]) -> str:
    given = {arg.name for arg in args}
    unnamed = [param for param in params if param.name not in given]
    meant = next((param for param in unnamed if param.name in names), None)
    if meant is not None:
        return f"`{meant.c_type} {meant.name}` has no argument of its name"
    first = params[len(args)]
    for in_args, in_params in _stretches(args, params):
        rest = [param for param in params[in_params.start + len(in_args) : in_params.stop] if param in unnamed]
        if rest:
            first = rest[0]
            break
    return f"the first without a value is `{first.c_type} {first.name}`"


def _surplus(args: Sequence[Argument], params: Sequence[KernelParam]) -> str:
    taken = {param.name for param in params}
    for in_args, in_params in _stretches(args, params):
        stretch = args[in_args.start : in_args.stop]
        named = [arg for arg in stretch if arg.name is not None and arg.name not in taken]
        is_clear = len(in_params) < len(params) and len(stretch) - len(named) >= len(in_params)
        if len(stretch) > len(in_params) and named and is_clear:
            return f"no parameter is named like {named[0].shown}"
        rest = [arg for arg in stretch[len(in_params) :] if arg.name not in taken]
        if rest:
            return f"the first without a parameter is {rest[0].shown}"
    names = [arg.name for arg in args]
    twice = next((arg for arg in args if arg.name in taken and names.count(arg.name) > 1), None)
    return f"the first without a parameter is {args[len(params)].shown}" if twice is None else f"{twice.shown} stands there twice"


def _stretches(args: Sequence[Argument], params: Sequence[KernelParam]) -> list[tuple[range, range]]:
    """The arguments and parameters between those whose names agree, in order."""
    matcher = difflib.SequenceMatcher(None, [arg.name for arg in args], [param.name for param in params], autojunk=False)
    return [(range(i, j), range(k, m)) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
