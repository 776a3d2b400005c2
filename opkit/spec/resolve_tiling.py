"""`tiling(…)`: a value for each member of a struct that a kernel takes by value, or the function of the user's that fills it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from opkit.spec import declare
from opkit.spec.expressions import Expr, Tiling, TilingMember, UserTiling
from opkit.spec.fields import shown
from opkit.spec.kernel_signature import KernelParam
from opkit.spec.location import Spot
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.user_functions import find_user_function

if TYPE_CHECKING:
    from pathlib import Path

    from opkit.spec.kernel_structs import KernelStruct, StructField

__all__ = ["resolve_tiling"]

MemberValue: TypeAlias = Callable[[object, KernelParam, Spot], Expr | None]

_FORM = 'write tiling("AddTiling", total=numel("x")) or tiling(cpp("ge/user/tiling.h", "FillTiling"))'


def resolve_tiling(
    size: declare.Size, struct: KernelStruct | None, root: Path, value_of: MemberValue, problems: Problems
) -> Tiling | UserTiling | None:
    """The argument; None after reporting what is wrong. Without a `struct`, which is a mistake of its own, it has no members.

    `value_of` gives the value of a member, which it is to fit as it would a parameter, and reports what is wrong with it.
    """
    where = Spot(call=size.call)
    operand = size.operands[0] if len(size.operands) == 1 else None
    if isinstance(operand, declare.Phrase) and operand.word == "cpp" and not size.members:
        parameters = f"const gert::EagerOpExecutionContext &ctx, {struct.name if struct is not None else 'Struct'} &tiling"
        example = 'tiling(cpp("ge/user/tiling.h", "FillTiling"))'
        role = f"what fills {struct.name}" if struct is not None else "what fills a struct"
        found = find_user_function(operand, root, role=role, parameters=parameters, example=example, problems=problems)
        return None if found is None else UserTiling(found.path, found.relative, found.function)
    if not isinstance(operand, str):
        advice = _in_keywords(size) or _FORM
        problems.add(Rule.TILING, "tiling takes the name of a struct and a value for each member, or cpp(…) alone", where, advice=advice)
        return None
    if struct is None:
        return Tiling(operand, ())
    if operand.removeprefix("::") not in {struct.name, struct.plain_name}:
        because = f"{struct.place} defines it"
        problems.add(Rule.TILING, f"the kernel takes {struct.name} there, not {shown(operand)}", where, because=because)
        return None
    if not _has_all(size, struct, where, problems):
        return None
    members = [member for field in struct.fields for member in _members(field, size, value_of, problems)]
    return None if None in members else Tiling(struct.name, tuple(member for member in members if member is not None))


def _in_keywords(size: declare.Size) -> str | None:
    """What to write in place of members in a dict."""
    match size.operands:
        case (str(name), Mapping() as members) if members and all(isinstance(member, str) for member in members):
            values = ", ".join(f"{member}={'…' if isinstance(value, declare.Size) else shown(value)}" for member, value in members.items())
            return f'give the members by keyword: tiling("{name}", {values})'
    return None


def _has_all(size: declare.Size, struct: KernelStruct, where: Spot, problems: Problems) -> bool:
    names = [field.name for field in struct.fields]
    unknown = [name for name in size.members if name not in names]
    missing = [name for name in names if name not in size.members]
    holds = f"{struct.name} has {one_of(names)}, {struct.place}"
    for name in unknown:
        advice = did_you_mean(name, missing)
        problems.add(
            Rule.TILING, f"{struct.name} has no member {name!r}", Spot(call=size.call, argument=name), because=holds, advice=advice
        )
    # A misspelt member is one mistake, not two.
    meant = {name for name in missing if any(did_you_mean(other, [name]) for other in unknown)}
    left_out = [name for name in missing if name not in meant]
    if left_out:
        problems.add(Rule.TILING, f"the tiling leaves out {one_of(left_out)}", where, because=holds)
    return not unknown and not missing


def _members(field: StructField, size: declare.Size, value_of: MemberValue, problems: Problems) -> Iterator[TilingMember | None]:
    value = size.members[field.name]
    where = Spot(call=size.call, argument=field.name)
    is_list = isinstance(value, (list, tuple))
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if is_list != (field.length is not None) or len(values) != (field.length or 1):
        wanted = "one value" if field.length is None else f"a list of {field.length}"
        message = f"{field.name} takes {wanted}, and {f'a list of {len(values)}' if is_list else 'one value'} is given"
        bounds = "" if field.length is None else f"[{field.length}]"
        problems.add(Rule.TILING, message, where, because=f"it is {field.c_type} {field.name}{bounds}")
        yield None
        return
    for index, element in enumerate(values):
        spot = Spot(call=element.call) if isinstance(element, declare.Size) else where
        expr = value_of(element, _param(field), spot)
        position = None if field.length is None else index
        yield None if expr is None else TilingMember(name=field.name, index=position, scalar=field.scalar, value=expr)


def _param(field: StructField) -> KernelParam:
    return KernelParam(
        name=field.name,
        c_type=field.c_type,
        scalar=field.scalar,
        offset=field.offset,
        bytes=field.scalar.bytes,
        alignment=field.scalar.bytes,
        line=field.line,
    )
