"""Where an op is looked for, in order, who registers it, and what it may have been meant to be: what GE's "not found" doesn't say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from opkit.files import LARGEST_LIBRARY, content_of
from opkit.lookup import Library, Lookup, Origin, Place, State, lookup, opened
from opkit.run.doctor_loading import load_all
from opkit.spec.built_in_ops import BUILT_IN_OPS
from opkit.spec.problems import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from opkit.toolkit import Toolkit

__all__ = ["Explanation", "explain"]

_BUILT_IN = frozenset(BUILT_IN_OPS.split())
_ALIKE = 0.8  # there are so many that one is always a little alike
# What users search for is often a function of CANN's own C interface, whose name holds that of its op.
_FUNCTION = re.compile(r"aclnn(?P<op>[A-Z]\w*?)(?:GetWorkspaceSize)?")


@attrs.frozen(kw_only=True)
class Explanation:
    """`registered` are the libraries that register the op and load, the one that GE keeps first.

    `described` are those of prototypes that hold its name, `silent` those that hold it too and tell nothing else.
    `nearest` is an op that is there and has a name like it. `broken` are the libraries that don't load, each with the reason: one is enough
    to keep GE from starting.
    """

    asked: str
    op: str
    found: Lookup
    registered: tuple[Library, ...]
    described: tuple[Library, ...]
    silent: tuple[Library, ...]
    is_built_in: bool
    nearest: str | None
    broken: tuple[tuple[Library, str], ...]

    @property
    def is_found(self) -> bool:
        return bool(self.registered) and not self.broken

    def lines(self) -> Iterator[str]:
        if self.asked != self.op:
            yield f"{self.asked} is a function of CANN's C interface; its op is {self.op}"
        yield f"GE looks for {self.op} here, in this order, in {self.found.host.folder}:"
        if not self.found.custom:
            yield "  nowhere: ASCEND_CUSTOM_OPP_PATH is not set, no built project is here, and no package is installed"
        seen: set[str] = set()
        for place in self.found.custom:
            yield from self._told(place, seen)
        packages = [place for place in self.found.prototypes if place.origin is not Origin.BUILT_IN]
        # In the old layout nobody names the one place, so that nobody misses it.
        packages = [place for place in packages if place.state is not State.MISSING or not self.found.is_old_layout]
        if packages:
            yield "and reads the prototypes of packages of CANN's own kind, in this order:"
        for place in packages:
            mark = "  <- has the name" if any(library in self.described for library in place.libraries) else ""
            yield f"  {place.origin.value}[{place.position}]  {place.path}: {_described(place)}{mark}"
        yield ""
        yield from self._verdict()

    def to_json(self) -> dict[str, Any]:
        return {
            "op": self.op,
            "asked": self.asked,
            "searched": str(self.found.host.folder),
            "places": [_place_json(place) for place in self.found.custom],
            "prototypes": [_place_json(place) for place in self.found.prototypes],
            "registered_by": str(self.registered[0].path) if self.is_found else None,
            "shadowed": [str(library.path) for library in self.registered[1:]],
            "described_by": [str(library.path) for library in self.described],
            "built_in": self.is_built_in,
            "nearest": self.nearest,
            "broken": [{"path": str(library.path), "reason": reason} for library, reason in self.broken],
        }

    def _told(self, place: Place, seen: set[str]) -> Iterator[str]:
        """`seen` are the libraries of the places before, and gets those of this one."""
        label = "activated by opkit run" if place.position < 0 else f"ASCEND_CUSTOM_OPP_PATH[{place.position}]"
        state = "" if place.state is State.FOUND else f": {_described(place)}"
        yield f"  {label}  {place.name or '(empty)'}{state}"
        for library in place.libraries:
            yield f"    {library.path.relative_to(place.path)}: {self._state_of(library)}{self._mark(library, seen)}"
            seen.add(library.real)

    def _state_of(self, library: Library) -> str:
        is_broken = library.real in {each.real for each, _ in self.broken}
        if library.ops is None:
            return "doesn't load" if is_broken else "nothing tells what it registers"
        return f"registers {', '.join(library.ops)}" + (", but doesn't load" if is_broken else "")

    def _mark(self, library: Library, seen: set[str]) -> str:
        if library.real in seen:
            return "  <- named before"
        if library not in self.registered:
            return ""
        if library is not self.registered[0]:
            return f"  <- shadowed by {self.registered[0].path}"
        return "  <- this one would be used" if self.broken else "  <- this one is used"

    def _verdict(self) -> Iterator[str]:
        for library, reason in self.broken:
            yield f"{library.path} doesn't load, so GEInitialize fails for every op: {reason}"
        yield from self._registration()
        if self.broken:
            yield "help: opkit doctor"
        elif not self.found.custom and not self.described and not self.is_built_in:
            yield "help: opkit build PROJECT, or opkit install PACKAGE"

    def _registration(self) -> Iterator[str]:
        if self.registered:
            if self.broken:
                yield f"otherwise {self.op} would be registered by {self.registered[0].path}"
            else:
                yield f"{self.op} is registered by {self.registered[0].path}"
            if self.is_built_in:
                yield f"CANN has a built-in {self.op} too, which this one hides"
            return
        is_broken = any(self.op in (library.ops or ()) for library, _ in self.broken)
        yield f"nobody {'else ' if is_broken else ''}registers {self.op}" + (f"; did you mean {self.nearest}?" if self.nearest else "")
        if self.silent:
            yield f"it may be in {', '.join(str(library.path) for library in self.silent)}, which doesn't tell"
        if self.described:
            yield f"its name is in the prototypes of {', '.join(str(library.path) for library in self.described)}"
        if self.is_built_in:
            yield f"CANN has a built-in {self.op}: with CANN it is that one"


def explain(asked: str, environ: Mapping[str, str], toolkit: Toolkit | None, *, first: Iterable[Path] = ()) -> Explanation:
    """`asked` is an op type, or the name of an aclnn function; `first` is what an activation puts before the variable."""
    found = lookup(environ, toolkit, first=first)
    libraries = opened(found.custom)
    loaded = [] if toolkit is None else load_all(found, toolkit, environ)
    known = [op for library in libraries for op in library.ops or ()]
    function = _FUNCTION.fullmatch(asked)
    op = function["op"] if function is not None and asked not in known else asked
    prototypes = [library for place in found.prototypes if place.origin is not Origin.BUILT_IN for library in place.libraries]
    broken = {each.library.real: each.reason for each in loaded if each.reason is not None and each.is_broken}
    # Of the libraries that load: one that doesn't would not hide another either.
    registered = tuple(library for library in libraries if op in (library.ops or ()) and library.real not in broken)
    return Explanation(
        asked=asked,
        op=op,
        found=found,
        registered=registered,
        described=tuple(library for library in prototypes if _holds(library, op)),
        silent=tuple(library for library in libraries if library.ops is None and library.arch is not None and _holds(library, op)),
        is_built_in=op in _BUILT_IN,
        nearest=None if op in known else nearest(op, known) or nearest(op, _BUILT_IN, cutoff=_ALIKE),
        broken=tuple((library, broken[library.real]) for library in libraries if library.real in broken),
    )


def _described(place: Place) -> str:
    if place.state is State.REFUSED:
        return f"refused, {place.culprit}"
    if place.state is State.NO_LIBRARY and place.meant is not None:
        return f"no library; {place.meant} is an OPP root"
    return str(place.state.value)


def _holds(library: Library, op: str) -> bool:
    """Whether a text in it ends with the name; linkers share the ends of texts."""
    try:
        return op.encode() + b"\0" in content_of(library.path, most=LARGEST_LIBRARY)
    except OSError:
        return False


def _place_json(place: Place) -> dict[str, Any]:
    return {
        "origin": place.origin.value,
        "position": place.position if place.position >= 0 else None,
        "path": str(place.path) if place.name else "",
        "state": place.state.value,
        "libraries": [{"path": str(each.path), "arch": each.arch, "ops": each.ops} for each in place.libraries],
    }
