"""`opkit new`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from opkit.cli.common import output_options
from opkit.console import console
from opkit.errors import UsageError

__all__ = ["command"]


@click.command("new")
@click.argument("name", required=False)
@click.option("--op", "op_type", metavar="TYPE", help="Op type in UpperCamel.  [default: from NAME]")
@click.option("--dtype", "dtypes", metavar="DTYPE", multiple=True, help="Dtype of the op; may be repeated.  [default: float32]")
@click.option("--kernel", default="add_custom", show_default=True, metavar="KERNEL", help="Kernel to start from.")
@click.option("--dir", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Folder to make.  [default: ./NAME]")
@click.option("--author", metavar="NAME", help="Author of the project.")
@output_options
def command(  # noqa: PLR0913 - one argument an option
    *, name: str | None, op_type: str | None, dtypes: tuple[str, ...], kernel: str, folder: Path | None, author: str | None
) -> None:
    """Start the project NAME: a spec, a kernel, a test and the generated files, that build, test and benchmark as they stand.

    On a terminal, what isn't given is asked for; elsewhere it has its default.
    """
    from opkit.codegen import NewProject
    from opkit.create import create_project, op_type_of

    asks = console.is_terminal and sys.stdin.isatty() and not console.is_json
    if name is None:
        if not asks:
            msg = "a project needs a name"
            raise UsageError(msg, help="opkit new my_ops")
        name = _asked("Name of the project")
    target = Path.cwd() / (folder or name)
    if op_type is None:
        op_type = _asked("Type of its op", op_type_of(name)) if asks else op_type_of(name)
    if not dtypes and asks:
        dtypes = tuple(_asked("Dtypes", "float32").replace(",", " ").split())
    if author is None and asks:
        author = _asked("Author", "")
    dtypes = dtypes or ("float32",)
    project = NewProject(name=name, op_type=op_type, kernel=f"{kernel}.asc", entry=kernel, dtypes=dtypes, author=author or "")
    files = create_project(project, target)
    for file in files:
        console.detail(file)
    console.step("Created", f"{name} in {folder or name}")
    console.say(f"  cd {shlex.quote(str(folder or name))}\n  opkit test\n  opkit bench")
    console.document({"name": name, "op": op_type, "folder": str(target), "files": list(files)})


def _asked(question: str, default: str | None = None) -> str:
    return str(click.prompt(question, default=default, err=True)).strip()
