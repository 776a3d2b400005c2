"""Which optional functions a package's code needs: the templates leave out the others, file by file and function by function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from opkit.spec import Compile

if TYPE_CHECKING:
    from opkit.codegen.values import BodyContext, OpContext

__all__ = ["helpers_of"]

_CAPABILITY_HELPERS = {
    "Execution": "execute",
    "AddressRefresh": "update_host_args",
    "AnnotatedLaunch": "annotated",
    "GraphCompilation": "graph_compile",
    "GraphTarget": "graph_target",
    "Portability": "portable",
}


def helpers_of(bodies: Sequence[BodyContext], ops: Sequence[OpContext]) -> frozenset[str]:
    used: set[str] = set()
    for body in bodies:
        used |= body.workspaces.helpers | body.kernel_shapes.helpers | body.kinds.helpers
        for launch in body.launches:
            used |= launch.blocks.helpers | launch.fill.helpers
        used |= {
            helper
            for helper, is_used in (
                ("numbered_entries", body.is_annotated and len(body.rows) > 1),
                ("kernel_types", len(body.rows) > 1),
                ("name_expressions", any(launch.is_named_by_expression for launch in body.launches)),
                ("cube_kernels", any(launch.is_cube for launch in body.launches)),
                ("several_kernels", len(body.launches) > 1),
                ("dtype_choices", body.choices),
                ("told_dtypes", any(choice.by == "kGraph" for choice in body.choices)),
                ("soc_rows", body.socs),
                ("shape_attrs", body.reads_shape_attrs),
                ("user_shapes", body.user_rules),
            )
            if is_used
        }
        for input_rule in body.input_rules:
            used |= {"ruled_shape", *input_rule.helpers}
        for output_rule in body.output_rules:
            used |= output_rule.helpers
    used.update(_compile_helpers(bodies))
    for op in ops:
        used |= {_CAPABILITY_HELPERS[name] for name in op.capabilities if name in _CAPABILITY_HELPERS}
    if used & {"portable", "prebuilt_kernels"}:
        used.add("saved_kernels")
    if used & {"graph_compile", "graph_target"}:
        used.add("targets")
    return frozenset(used)


def _compile_helpers(bodies: Sequence[BodyContext]) -> Iterable[str]:
    times = {body.compile for body in bodies}
    # Those with several rows of dtypes.
    rich = {body.compile for body in bodies if len(body.rows) > 1}
    found = {
        "load_kernels": Compile.LOAD.value in times,
        "prebuilt_kernels": Compile.PREBUILT.value in times,
        "kernel_store": times != {Compile.LOAD.value},
        "kernel_compiler": times - {Compile.LOAD.value} and times - {Compile.PREBUILT.value},
        "mixed_compile": len(times) > 1,
        "prebuilt_kernel_types": Compile.PREBUILT.value in rich,
        "source_kernel_types": rich - {Compile.PREBUILT.value},
    }
    return {helper for helper, is_used in found.items() if is_used}
