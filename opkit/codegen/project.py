"""What `opkit new` writes: a project that builds, tests and benchmarks as it stands, and that is the user's own from then on."""

from __future__ import annotations

import json

import attrs

from opkit import resources
from opkit.codegen.fileset import FileSet, GeneratedFile
from opkit.codegen.templates import environment

__all__ = ["NewProject", "render_project"]

_FILES = (
    ("ops.py.j2", "ops.py"),
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


def render_project(project: NewProject) -> FileSet:
    """Gives ops.py, tests/test_ops.py, pyproject.toml, README.md and .gitignore: the user's files, for `FileSet.create`."""
    values = {
        "name": project.name,
        # A distribution's name has no leading or trailing mark, and pip writes it with dashes.
        "distribution": project.name.strip("_").replace("_", "-"),
        "op_type": project.op_type,
        "kernel": project.kernel,
        "entry": project.entry,
        "dtypes": [json.dumps(dtype) for dtype in project.dtypes],
        "block": project.block,
        # A TOML basic string has the escapes of JSON.
        "author": json.dumps(project.author, ensure_ascii=False) if project.author else "",
        "author_text": " ".join(project.author.split()),
    }
    templates = environment(resources.templates() / "project")
    return FileSet(tuple(GeneratedFile(path=path, text=templates.get_template(template).render(values)) for template, path in _FILES))
