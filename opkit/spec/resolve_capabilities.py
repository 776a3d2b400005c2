"""What GE can ask of an op: how it follows new addresses, when its kernels are compiled, whether they travel; and what goes together."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import attrs

from opkit.spec.expressions import AddressList, ShapeBuffer
from opkit.spec.fields import flag_of, shown
from opkit.spec.model import Compile, CoreType, Refresh
from opkit.spec.problems import Problems, Rule, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opkit.spec import declare
    from opkit.spec.model import Kernel, Op

_Word = TypeVar("_Word", Refresh, Compile)

# Of one kernel argument that GE fills and refreshes.
_SLOT_BYTES = 8
_ADVICE = "refresh='updater' takes any kernel"


@attrs.frozen(kw_only=True)
class Capabilities:
    refresh: Refresh
    compile: Compile
    is_portable: bool


@attrs.frozen(kw_only=True)
class Refusal:
    """What capabilities don't go with, why, and what could be instead. `keyword` is the one of an op to blame."""

    keyword: str
    message: str
    because: str
    advice: str


def resolve_capabilities(op: declare.Op, problems: Problems) -> Capabilities | None:
    """What an op says that it can do; None after reporting words that say nothing, or don't go together."""
    before = len(problems)
    refresh = _word(op, "refresh", Refresh, (Rule.REFRESH, "no way to refresh addresses"), problems)
    compiled = _word(op, "compile", Compile, (Rule.COMPILE, "no time at which kernels are compiled"), problems)
    is_portable = flag_of(op, "portable", problems)
    if refresh is None or compiled is None or len(problems) > before:
        return None
    capabilities = Capabilities(refresh=refresh, compile=compiled, is_portable=is_portable)
    return None if _refuses(op, why_not(capabilities), problems) else capabilities


def check_capabilities(declared: declare.Op, op: Op, problems: Problems) -> None:
    """Reports kernels that the op's capabilities don't go with."""
    capabilities = Capabilities(refresh=op.refresh, compile=op.compile, is_portable=op.is_portable)
    _refuses(declared, why_not(capabilities, op.kernels), problems)


def why_not(capabilities: Capabilities, kernels: Sequence[Kernel] = ()) -> Refusal | None:
    """Why an op with these kernels can't have these capabilities, or None."""
    is_annotated = capabilities.refresh is Refresh.ANNOTATED
    if is_annotated and capabilities.compile is Compile.LOAD:
        return Refusal(
            keyword="refresh",
            message="refresh='annotated' doesn't go with compile='load'",
            because="GE takes the compiled kernels of such an op while it compiles the graph, before any is loaded",
            advice="give compile='graph' or compile='prebuilt'",
        )
    if capabilities.is_portable and capabilities.compile is Compile.LOAD:
        return Refusal(
            keyword="portable",
            message="portable=True doesn't go with compile='load'",
            because="an offline model carries the library and what it saves, and not the kernels' source",
            advice="give compile='graph' or compile='prebuilt'",
        )
    bounded = next((arg.value.port for kernel in kernels for arg in kernel.args if isinstance(arg.value, ShapeBuffer)), None)
    if bounded is not None and capabilities.refresh is not Refresh.NONE:
        return Refusal(
            keyword="refresh",
            message=f"refresh={capabilities.refresh.value!r} doesn't go with the upper bound of output {bounded!r}",
            because="a loaded graph replays launches, and nobody would read the shape that the kernel writes",
            advice="give refresh='none'",
        )
    refused = ((kernel, reason) for kernel in kernels if is_annotated and (reason := _why_not_annotated(kernel)) is not None)
    for kernel, (because, advice) in refused:
        message = f"refresh='annotated' doesn't go with the kernel {kernel.signature.name!r}"
        return Refusal(keyword="refresh", message=message, because=because, advice=advice)
    return None


def _why_not_annotated(kernel: Kernel) -> tuple[str, str] | None:
    """Why GE can't fill the arguments of a kernel one by one, or not launch it, and what to do about it, or None."""
    if kernel.core is CoreType.AIC:
        return "GE registers the kernels of such an op as those of vector cores, and this one runs on cube cores", _ADVICE
    for index, arg in enumerate(kernel.args):
        param, offset = arg.param, index * _SLOT_BYTES
        parameter = f"{param.c_type} {param.name}"
        if param.struct is not None:
            return f"GE fills arguments of {_SLOT_BYTES} bytes each, and {parameter} is a struct", "give the kernel its members one by one"
        if isinstance(arg.value, AddressList):
            return f"GE refreshes addresses that are arguments, and {parameter} is a list of them in memory", _ADVICE
        if param.offset != offset:
            because = f"GE fills arguments of {_SLOT_BYTES} bytes each, and {parameter} begins at byte {param.offset}, not {offset}"
            return because, "let each parameter after one of less than 8 bytes be one of 8"
    return None


def _word(op: declare.Op, keyword: str, words: type[_Word], failure: tuple[Rule, str], problems: Problems) -> _Word | None:
    given = op.given[keyword]
    known = [word.value for word in words]
    if isinstance(given, str) and given in known:
        return words(given)
    *others, last = map(repr, known)
    advice = (did_you_mean(given, known) if isinstance(given, str) else None) or f"{keyword} is {', '.join(others)} or {last}"
    rule, what = failure
    problems.add(rule, f"{shown(given)} is {what}", op.where_of(keyword), advice=advice)
    return None


def _refuses(op: declare.Op, refusal: Refusal | None, problems: Problems) -> bool:
    if refusal is not None:
        where = op.where_of(refusal.keyword)
        problems.add(Rule.CAPABILITY, refusal.message, where, because=refusal.because, advice=refusal.advice)
    return refusal is not None
