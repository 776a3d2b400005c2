"""What `opkit new` writes: a project that builds, tests and benchmarks as it stands, and that is the user's own from then on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import attrs

from opkit import resources
from opkit.codegen.fileset import FileSet, GeneratedFile
from opkit.codegen.templates import opened

__all__ = ["ImportedProject", "NewProject", "render_imported", "render_project"]

_SPEC = ("ops.py.j2", "ops.py")
_AROUND = (
    ("tests/test_ops.py.j2", "tests/test_ops.py"),
    ("pyproject.toml.j2", "pyproject.toml"),
    ("README.md.j2", "README.md"),
    ("gitignore.j2", ".gitignore"),
)


@attrs.frozen(kw_only=True)
class NewProject:
    """The answers of `opkit new`, already checked: `name` is a package name, `op_type` an op type, `dtypes` are dtypes.

    `kernel` is the file name of a kernel below `resources.kernels()`, which the caller copies to `kernels/`: its `entry` adds two tensors
    and takes `(x, y, z, length)`; `block` is the number of elements in one of its tiles.
    """

    name: str
    op_type: str
    kernel: str = "add_custom.asc"
    entry: str = "add_custom"
    dtypes: tuple[str, ...] = ("float32",)
    block: int = 1024
    author: str = ""


@attrs.frozen(kw_only=True)
class ImportedProject:
    """A project around an operator that exists already: `ops_py` is the text of its spec, `origin` the name of what it was read from."""

    name: str
    op_types: tuple[str, ...]
    header: str
    origin: str
    ops_py: str
    author: str = ""


def render_project(project: NewProject) -> FileSet:
    """Gives ops.py, tests/test_ops.py, pyproject.toml, README.md and .gitignore: the user's files, for `FileSet.create`."""
    values = {
        **_common(project.name, project.author),
        "summary": f"`{project.op_type}` adds two tensors of one shape and dtype",
        "header": f"{project.name}.h",
        "has_benchmark": True,
        "op_type": project.op_type,
        "kernel": project.kernel,
        "entry": project.entry,
        "dtypes": [json.dumps(dtype) for dtype in project.dtypes],
        "block": project.block,
    }
    return FileSet(_rendered((_SPEC, *_AROUND), values))


def render_imported(project: ImportedProject) -> FileSet:
    """As `render_project`, with the spec as it was given."""
    types = ", ".join(f"`{op_type}`" for op_type in project.op_types)
    values = {
        **_common(project.name, project.author),
        "summary": f"{types}, brought along from {project.origin}",
        "header": project.header,
        "has_benchmark": False,
    }
    return FileSet((GeneratedFile(path="ops.py", text=project.ops_py), *_rendered(_AROUND, values)))


def _common(name: str, author: str) -> dict[str, object]:
    return {
        "name": name,
        # A distribution's name has no leading or trailing mark, and pip writes it with dashes.
        "distribution": name.strip("_").replace("_", "-"),
        # A TOML basic string has the escapes of JSON.
        "author": json.dumps(author, ensure_ascii=False) if author else "",
        "author_text": " ".join(author.split()),
    }


def _rendered(files: Iterable[tuple[str, str]], values: Mapping[str, object]) -> tuple[GeneratedFile, ...]:
    with opened(resources.templates() / "project") as templates:
        return tuple(GeneratedFile(path=path, text=templates.get_template(template).render(values)) for template, path in files)
