"""A new project on disk: staged at its place, complete with its generated files, and renamed into it, so that a failure leaves nothing.

It is its own room because it is the one arrow that needs both the templates of a project and the spec that comes of them.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from opkit import resources
from opkit.codegen import NewProject, render, render_project
from opkit.errors import FolderNotEmptyError, SpecErrors, UsageError
from opkit.files import guard_writing, make_folders
from opkit.spec import find_dtype, load_package
from opkit.spec.problems import Rule

__all__ = ["create_project", "kernels_offered", "op_type_of"]

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_WORD = re.compile(r"[a-z0-9]+")
# The kernels that ship with opkit, each with the dtypes whose vector instructions it uses: Add knows no others.
_KERNELS = {"add_custom": ("float32", "float16", "int32")}


def kernels_offered() -> tuple[str, ...]:
    """The names that `--kernel` takes: the kernels that ship with opkit."""
    return tuple(sorted(_KERNELS))


def op_type_of(name: str) -> str:
    """The op type that a project's name suggests; never a bare Add, which GE has."""
    camel = "".join(word.capitalize() for word in _WORD.findall(name.lower()))
    return f"{camel}Custom" if camel.endswith("Add") else f"{camel}Add"


def create_project(project: NewProject, folder: Path) -> tuple[str, ...]:
    """Gives the files that now lie in ``folder``, relative and sorted.

    Raises UsageError for a name, op type, dtype or kernel that can't be, and FolderNotEmptyError; either leaves nothing behind.
    """
    _check(project)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        msg = f"{folder} is not empty" if folder.is_dir() else f"{folder} is a file"
        raise FolderNotEmptyError(msg, help="name another folder with --dir, or empty this one")
    with guard_writing(folder):
        if folder.exists():
            with _staged(folder) as staged:
                _fill(staged, project)
                _move_entries(staged, folder)
        else:
            make_folders(folder.parent)
            with _staged(folder.parent) as staged:
                _fill(staged, project)
                # mkdtemp makes it for its owner alone; a project is a folder like any other.
                staged.chmod(0o755)
                staged.rename(folder)
    return tuple(sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()))


@contextmanager
def _staged(place: Path) -> Iterator[Path]:
    staged = Path(tempfile.mkdtemp(prefix=".opkit-new-", dir=place))
    try:
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _move_entries(staged: Path, folder: Path) -> None:
    """Not a rename of the whole: whoever stands in the folder would be left in one that is gone."""
    moved: list[Path] = []
    try:
        for entry in sorted(staged.iterdir()):
            moved.append(folder / entry.name)
            entry.rename(folder / entry.name)
    except BaseException:
        for path in moved:
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        raise


def _check(project: NewProject) -> None:
    if not _NAME.fullmatch(project.name):
        suggestion = "_".join(_WORD.findall(project.name.lower())).lstrip("_0123456789")
        msg = f"{project.name!r} is no package name"
        because = "it becomes a CMake target and a Python module: small letters, digits and _, a letter first"
        raise UsageError(msg, because=because, help=f"opkit new {suggestion}" if suggestion else None)
    unknown = [dtype for dtype in project.dtypes if find_dtype(dtype) is None]
    if unknown or not project.dtypes:
        msg = f"no such dtype: {unknown[0]}" if unknown else "an op needs a dtype"
        raise UsageError(msg, help="for instance --dtype float32")
    kernel = Path(project.kernel).stem
    if kernel not in _KERNELS:
        msg = f"opkit has no kernel {kernel}"
        raise UsageError(msg, help=f"one of: {', '.join(kernels_offered())}")
    refused = [dtype for dtype in project.dtypes if (known := find_dtype(dtype)) is not None and known.name not in _KERNELS[kernel]]
    if refused:
        msg = f"the kernel {kernel} can't compute in {refused[0]}"
        raise UsageError(msg, help=f"--dtype takes, any number of times: {', '.join(_KERNELS[kernel])}")


def _fill(staged: Path, project: NewProject) -> None:
    render_project(project).create(staged)
    kernel = staged / "kernels" / project.kernel
    kernel.parent.mkdir(exist_ok=True)
    shutil.copyfile(resources.kernels() / project.kernel, kernel)
    try:
        package = load_package(staged / "ops.py")
    except SpecErrors as refused:
        # The template is right, and its ops.py gone in a moment: what is wrong are the names that were put into it.
        error = refused.errors[0]
        is_name = error.number == Rule.PACKAGE_NAME.number
        where = f"NAME {project.name}" if is_name else f"--op {project.op_type}"
        advice = f"opkit new {project.name}_ops" if is_name else error.help
        raise UsageError(error.message, where=where, because=error.because, help=advice) from refused
    render(package).write(staged)
