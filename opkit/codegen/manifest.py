"""What the templates are given of the manifest, which CMake writes when the project is installed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import attrs

from opkit.codegen.literals import cmake_bracket
from opkit.layout import LAYOUT_VERSION, LIBRARY, MANIFEST, OS, library_folder
from opkit.toolkit import OLDEST_CANN

__all__ = ["ManifestContext"]


@attrs.frozen(kw_only=True)
class ManifestContext:
    """What the manifest of the deliverable says that the spec knows already; the library's path is below the OPP root."""

    name: str
    layout: int
    os: str
    library: str
    ops: str
    """JSON in a bracket argument of CMake, as `socs`: the types with their prototypes."""
    socs: str
    """Those that the spec tells apart."""
    oldest_toolkit: str

    @classmethod
    def of(cls, prototypes: Mapping[str, str], socs: Iterable[str] = ()) -> ManifestContext:
        """`prototypes` are those of the op types, each in one line."""
        ops = [{"type": op, "prototype": prototype} for op, prototype in prototypes.items()]
        return cls(
            name=MANIFEST,
            layout=LAYOUT_VERSION,
            os=OS,
            library=str(library_folder("${manifest_arch}") / LIBRARY),
            ops=cmake_bracket(_nested(ops, depth=1)),
            socs=cmake_bracket(_nested([*socs], depth=2)),
            oldest_toolkit=".".join(map(str, OLDEST_CANN)),
        )


def _nested(value: object, *, depth: int) -> str:
    """JSON as it is indented inside of that many objects. In ASCII, so that it is the same in every locale."""
    return json.dumps(value, indent=2).replace("\n", "\n" + "  " * depth)
