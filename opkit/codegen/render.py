"""From a Package to its generated files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from opkit import resources
from opkit.codegen.context import context_of
from opkit.codegen.fileset import FileSet, GeneratedFile
from opkit.codegen.templates import opened
from opkit.layout import PREBUILD_PROGRAM

if TYPE_CHECKING:
    from opkit.spec import Package

__all__ = ["render"]

# Template below templates/deliverable, path in the project; `{stem}` is the header's.
_FILES = (
    ("CMakeLists.txt.j2", "CMakeLists.txt"),
    ("CMakePresets.json.j2", "CMakePresets.json"),
    ("cmake/aarch64-linux-gnu.cmake", "cmake/aarch64-linux-gnu.cmake"),
    ("cmake/flatten_kernel.cmake", "cmake/flatten_kernel.cmake"),
    ("cmake/write_manifest.cmake.j2", "cmake/write_manifest.cmake"),
    ("cmake/wheel_init.py.j2", "cmake/wheel_init.py"),
    ("run.sh.j2", "run.sh"),
    ("ge/proto.h.j2", "ge/{header}"),
    ("ge/kernel.h.j2", "ge/{stem}_kernel.h"),
    ("ge/rules.h.j2", "ge/{stem}_rules.h"),
    ("ge/variants.h.j2", "ge/{stem}_variants.h"),
    ("ge/custom_op.cpp.j2", "ge/custom_op.cpp"),
    ("ge/utils/log.h.j2", "ge/utils/log.h"),
    ("ge/utils/acl_error.h.j2", "ge/utils/acl_error.h"),
    ("ge/utils/op_rules.h.j2", "ge/utils/op_rules.h"),
    ("ge/utils/size.h.j2", "ge/utils/size.h"),
    ("ge/utils/op_node.h.j2", "ge/utils/op_node.h"),
    ("ge/utils/op_dtypes.h.j2", "ge/utils/op_dtypes.h"),
    ("ge/utils/op_infer.h.j2", "ge/utils/op_infer.h"),
    ("ge/utils/op_launch.h.j2", "ge/utils/op_launch.h"),
    ("ge/utils/op_bound.h.j2", "ge/utils/op_bound.h"),
    ("ge/utils/op_execute.h.j2", "ge/utils/op_execute.h"),
    ("ge/utils/op_refresh.h.j2", "ge/utils/op_refresh.h"),
    ("ge/utils/op_annotated.h.j2", "ge/utils/op_annotated.h"),
    ("ge/utils/op_target.h.j2", "ge/utils/op_target.h"),
    ("ge/utils/op_compile.h.j2", "ge/utils/op_compile.h"),
    ("ge/utils/op_portable.h.j2", "ge/utils/op_portable.h"),
    ("ge/utils/op_run.h.j2", "ge/utils/op_run.h"),
    ("ge/utils/rtc_kernel_loader.h.j2", "ge/utils/rtc_kernel_loader.h"),
    ("ge/utils/rtc_kernel_loader.cpp.j2", "ge/utils/rtc_kernel_loader.cpp"),
    ("ge/utils/kernel_store.h.j2", "ge/utils/kernel_store.h"),
    ("ge/utils/kernel_store.cpp.j2", "ge/utils/kernel_store.cpp"),
    ("ge/utils/kernel_compiler.h.j2", "ge/utils/kernel_compiler.h"),
    ("ge/utils/kernel_compiler.cpp.j2", "ge/utils/kernel_compiler.cpp"),
    ("prebuild/main.cc.j2", PREBUILD_PROGRAM),
    *(
        (f"session_run/{name}.j2", f"session_run/{name}")
        for name in (
            "main.cc",
            "case_file.h",
            "case_run.h",
            "default_cases.h",
            "elements.h",
            "failure.h",
            "npy.h",
            "ops.h",
            "options.h",
            "report.h",
        )
    ),
)
_EXECUTABLE = frozenset({"run.sh"})
# Templates that only some packages need, and the optional functions of which one must be used.
_NEEDS = {
    "ge/utils/op_dtypes.h": frozenset({"dtype_choices", "soc_rows", "kernel_types"}),
    "ge/utils/op_bound.h": frozenset({"kernel_shapes"}),
    "ge/utils/op_refresh.h": frozenset({"update_host_args"}),
    "ge/variants.h": frozenset({"prebuilt_kernels"}),
    "ge/utils/op_execute.h": frozenset({"execute"}),
    "ge/utils/op_annotated.h": frozenset({"annotated"}),
    "ge/utils/op_target.h": frozenset({"targets"}),
    "ge/utils/op_compile.h": frozenset({"graph_compile"}),
    "ge/utils/op_portable.h": frozenset({"portable"}),
    "ge/utils/rtc_kernel_loader.cpp": frozenset({"execute"}),
    "ge/utils/kernel_store.h": frozenset({"kernel_store"}),
    "ge/utils/kernel_store.cpp": frozenset({"kernel_store"}),
    "ge/utils/kernel_compiler.h": frozenset({"kernel_store"}),
    "ge/utils/kernel_compiler.cpp": frozenset({"kernel_store"}),
    "prebuild/main.cc": frozenset({"prebuilt_kernels"}),
}


def render(package: Package) -> FileSet:
    """Gives every generated file of a project. Nothing is read but the templates, and what they were compiled to before."""
    context = context_of(package)
    values = {field.name: getattr(context, field.name) for field in attrs.fields(type(context))}
    files = []
    with opened(resources.templates() / "deliverable") as templates:
        for template, path in _FILES:
            target = path.format(header=context.header, stem=context.stem)
            needs = _NEEDS.get(template.removesuffix(".j2"))
            if needs is not None and not needs & context.helpers:
                continue
            text = templates.get_template(template).render(values)
            files.append(GeneratedFile(path=target, text=text, is_executable=target in _EXECUTABLE))
    return FileSet(tuple(files))
