"""The attrs of an op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opkit.spec.attr_values import attr_type_of, attr_value, why_no_attr_type
from opkit.spec.fields import check_call, shown
from opkit.spec.model import Attr, AttrDefault
from opkit.spec.problems import Problems, Rule
from opkit.spec.resolve_names import port_name

if TYPE_CHECKING:
    from opkit.spec import declare

__all__ = ["resolve_attr"]


def resolve_attr(attr: declare.Attr, problems: Problems) -> Attr | None:
    """An attr whose default is wrong is one without: what names it can be looked at all the same."""
    before = len(problems)
    check_call(attr, problems)
    name = port_name(attr, problems)
    kind = None
    if "type" in attr.given:
        kind = attr_type_of(attr.given["type"])
        if kind is None:
            word = attr.given["type"]
            because, advice = why_no_attr_type(word)
            problems.add(Rule.ATTR_TYPE, f"{shown(word)} is no attr type", attr.where_of("type"), because=because, advice=advice)
    is_known = len(problems) == before
    default: AttrDefault | None = None
    if kind is not None and "default" in attr.given:
        default, because = attr_value(kind, attr.given["default"])
        if because:
            message = f"the default of attr {shown(name)} is {shown(attr.given['default'])}, and its type is {kind.value}"
            problems.add(Rule.ATTR_DEFAULT, message, attr.where_of("default"), because=because)
    return Attr(name=name, type=kind, default=default, where=attr.where) if is_known and kind is not None else None
