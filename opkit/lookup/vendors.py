"""`<opp>/vendors/config.ini`, CANN's list of installed vendors, as GE reads it. It is CANN's file: opkit never writes it."""

from __future__ import annotations

import attrs

__all__ = ["Vendors", "read_vendors", "vendors_meant"]

_KEY = b"load_priority"
_SPACE = b" \t\n\v\f\r"  # what C's isspace takes for space
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PARTS = 2


@attrs.frozen(kw_only=True)
class Vendors:
    """`names` are those that GE loads, in its order, None if it reads nothing; `faults` is what a person would have meant otherwise."""

    names: tuple[str, ...] | None
    faults: tuple[str, ...]


def read_vendors(content: bytes) -> Vendors:
    """GE reads the first line alone, which must have one `=`; what stands before it isn't looked at (plugin_manager.cc)."""
    first, *rest = content.split(b"\n")
    faults = []
    if any(line.strip(_SPACE) for line in rest):
        faults.append("only the first line is read")
    if not first:
        return Vendors(names=None, faults=("the first line is empty", *faults))
    # Empty parts are dropped, so that `a==b` is as good as `a=b`.
    parts = [part for part in first.split(b"=") if part]
    names = [name for name in parts[1].split(b",") if name] if len(parts) == _PARTS else []
    if not names:
        because = "has no '='" if b"=" not in first else "has more than one '='" if len(parts) > _PARTS else "has no name after its '='"
        return Vendors(names=None, faults=(f"the first line, {_shown(first)}, {because}", *faults))
    trimmed = [_text(name.strip(_SPACE)) for name in names]
    if first.startswith(_BYTE_ORDER_MARK):
        faults.append("it begins with a byte order mark")
    elif parts[0].strip(_SPACE) != _KEY:
        faults.append(f"{_shown(parts[0])} stands where load_priority belongs, and is read as that")
    if "" in trimmed:
        faults.append("a name is blank")
    faults += [f"{name} is named twice" for name in dict.fromkeys(trimmed) if trimmed.count(name) > 1]
    faults += [f"{name} is a path, not a name" for name in dict.fromkeys(trimmed) if "/" in name]
    return Vendors(names=tuple(trimmed), faults=tuple(faults))


def vendors_meant(content: bytes) -> list[str]:
    """The names that stand behind load_priority, on whichever line that is; GE's own names where there is no such line."""
    for line in content.removeprefix(_BYTE_ORDER_MARK).split(b"\n"):
        key, _, names = line.partition(b"=")
        if key.strip(_SPACE) == _KEY:
            return [*dict.fromkeys(_text(name.strip(_SPACE)) for part in names.split(b"=") for name in part.split(b","))]
    return [*dict.fromkeys(read_vendors(content).names or ())]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _shown(raw: bytes) -> str:
    return repr(raw.decode("utf-8", "replace"))
