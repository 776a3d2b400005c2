"""From a Package to its generated files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from opkit import resources
from opkit.codegen.context import context_of
from opkit.codegen.fileset import FileSet, GeneratedFile
from opkit.codegen.templates import environment

if TYPE_CHECKING:
    from opkit.spec import Package

__all__ = ["render"]

# Template below templates/deliverable, path in the project; `{stem}` is the header's.
_FILES = (
    ("CMakeLists.txt.j2", "CMakeLists.txt"),
    ("cmake/flatten_kernel.cmake", "cmake/flatten_kernel.cmake"),
    ("run.sh.j2", "run.sh"),
    ("ge/proto.h.j2", "ge/{header}"),
    ("ge/kernel.h.j2", "ge/{stem}_kernel.h"),
    ("ge/rules.h.j2", "ge/{stem}_rules.h"),
    ("ge/custom_op.cpp.j2", "ge/custom_op.cpp"),
    ("ge/utils/log.h.j2", "ge/utils/log.h"),
    ("ge/utils/acl_error.h.j2", "ge/utils/acl_error.h"),
    ("ge/utils/op_rules.h.j2", "ge/utils/op_rules.h"),
    ("ge/utils/size.h.j2", "ge/utils/size.h"),
    ("ge/utils/op_run.h.j2", "ge/utils/op_run.h"),
    ("ge/utils/rtc_kernel_loader.h.j2", "ge/utils/rtc_kernel_loader.h"),
    ("ge/utils/rtc_kernel_loader.cpp.j2", "ge/utils/rtc_kernel_loader.cpp"),
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


def render(package: Package) -> FileSet:
    """Gives every generated file of a project. Nothing is read but the templates."""
    context = context_of(package)
    values = {field.name: getattr(context, field.name) for field in attrs.fields(type(context))}
    templates = environment(resources.templates() / "deliverable")
    files = []
    for template, path in _FILES:
        target = path.format(header=context.header, stem=context.stem)
        text = templates.get_template(template).render(values)
        files.append(GeneratedFile(path=target, text=text, is_executable=target in _EXECUTABLE))
    return FileSet(tuple(files))
