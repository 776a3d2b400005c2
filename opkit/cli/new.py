"""`opkit new`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from opkit.cli.common import warnings_of
from opkit.cli.options import output_options
from opkit.console import console
from opkit.errors import UsageError

__all__ = ["command"]


def _path(_context: click.Context, parameter: click.Parameter, given: str | None) -> Path | None:
    """Not click.Path's own: an empty text, as of a variable that isn't set, would be the current folder."""
    if given == "":
        msg = f"{parameter.opts[0]} is empty"
        raise UsageError(msg, because="it is the path of a file or folder")
    return None if given is None else Path(given)


@click.command("new")
@click.argument("name", required=False)
@click.option("--op", "op_type", metavar="TYPE", help="Op type in UpperCamel.  [default: from NAME]")
@click.option("--dtype", "dtypes", metavar="DTYPE", multiple=True, help="Dtype of the op; may be repeated.  [default: float32]")
@click.option("--kernel", default="add_custom", show_default=True, metavar="KERNEL", help="Kernel to start from.")
@click.option(
    "--from",
    "source",
    type=click.Path(),
    callback=_path,
    metavar="FILE|FOLDER",
    help="Existing operator: a header with REG_OP, an msopgen JSON, or a folder with both header and kernel.",
)
@click.option("--dir", "folder", type=click.Path(), callback=_path, metavar="DIR", help="Folder to make.  [default: ./NAME]")
@click.option("--author", metavar="NAME", help="Author of the project.")
@output_options
def command(  # noqa: PLR0913 - one argument an option
    *,
    name: str | None,
    op_type: str | None,
    dtypes: tuple[str, ...],
    kernel: str,
    source: Path | None,
    folder: Path | None,
    author: str | None,
) -> None:
    """Start the project NAME: a spec, a kernel, a test and the generated files, that build, test and benchmark as they stand.

    On a terminal, what isn't given is asked for; elsewhere it has its default.

    With --from, the project has the prototypes of an operator that exists already. What its files don't say, such as the shapes of
    outputs, is a question in ops.py; opkit check lists those that are still open.
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
    if source is not None:
        _bring(name, source, target, shown=str(folder or name), author=author)
        return
    if op_type is None:
        op_type = _asked("Type of its op", op_type_of(name)) if asks else op_type_of(name)
    if not dtypes and asks:
        dtypes = tuple(_asked("Dtypes", "float32").replace(",", " ").split())
    if author is None and asks:
        author = _asked("Author", "")
    dtypes = dtypes or ("float32",)
    project = NewProject(name=name, op_type=op_type, kernel=f"{kernel}.asc", entry=kernel, dtypes=dtypes, author=author or "")
    made = create_project(project, target)
    console.warnings(made.warnings)
    for file in made.files:
        console.detail(file)
    console.step("Created", f"{name} in {folder or name}")
    console.say(f"  cd {shlex.quote(str(folder or name))}\n  opkit test\n  opkit bench")
    console.document({"name": name, "op": op_type, "folder": str(target), "files": list(made.files), "warnings": warnings_of(made)})


def _bring(name: str, source: Path, target: Path, *, shown: str, author: str | None) -> None:
    from opkit.create import create_imported
    from opkit.spec.importers import bring

    context = click.get_current_context()
    for option in ("op_type", "dtypes", "kernel"):
        if context.get_parameter_source(option) is not click.core.ParameterSource.DEFAULT:
            flag = {"op_type": "--op", "dtypes": "--dtype", "kernel": "--kernel"}[option]
            msg = f"{flag} can't be given with --from"
            raise UsageError(msg, because=f"{source} says it")
    brought = bring(source)
    made = create_imported(name, brought, target, author=author or "")
    console.warnings(made.warnings)
    types = [prototype.type for prototype in brought.prototypes]
    for file in made.files:
        console.detail(file)
    console.step("Created", f"{name} in {shown}, from {brought.named}: {', '.join(types)}")
    count = len(made.questions)
    console.step("Asks", f"{count} question{'' if count == 1 else 's'}, each a `...` in ops.py")
    for question in made.questions:
        console.say(f"  ops.py:{question.line}: {question.text}")
    conditional = [prototype for prototype in brought.prototypes if prototype.condition is not None]
    for prototype in conditional:
        help_text = "take out of ops.py what your build leaves out"
        console.warn(f"clauses of {prototype.type} are under a condition, and all are taken ({prototype.condition})", help=help_text)
    for mistake in made.mistakes:
        console.warn(f"{mistake.message} ({mistake.where})", help=mistake.help)
    console.say(f"  cd {shlex.quote(shown)}\n  opkit check")
    console.document(
        {
            "name": name,
            "ops": types,
            "folder": str(target),
            "files": list(made.files),
            "questions": [{"file": "ops.py", "line": question.line, "question": question.text} for question in made.questions],
            "conditions": [{"op": prototype.type, "where": str(prototype.condition)} for prototype in conditional],
            "mistakes": [mistake.to_json() for mistake in made.mistakes],
            "warnings": warnings_of(made),
        }
    )


def _asked(question: str, default: str | None = None) -> str:
    return str(click.prompt(question, default=default, err=True)).strip()
