"""A new project on disk: staged at its place, complete with its generated files, and renamed into it, so that a failure leaves nothing.

It is its own room because it is the one arrow that needs both the templates of a project and the spec that comes of them.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import attrs

from opkit import resources
from opkit.codegen import ImportedProject, NewProject, render, render_imported, render_project
from opkit.errors import FolderNotEmptyError, ForeignFileError, SpecError, SpecErrors, UsageError
from opkit.files import FOLDER_MODE, guard_writing, make_folders
from opkit.spec import SpecWarning, find_dtype, load_package
from opkit.spec.dtypes import DTYPES
from opkit.spec.importers import Brought, Question, SpecText, spec_text
from opkit.spec.problems import Rule, did_you_mean
from opkit.spec.reserved import is_built_in

__all__ = ["Created", "Imported", "create_imported", "create_project", "kernels_offered", "op_type_of"]

_Told = TypeVar("_Told")

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_WORD = re.compile(r"[a-z0-9]+")
# The kernels that ship with opkit, each with the dtypes whose vector instructions it uses: Add knows no others.
_KERNELS = {"add_custom": ("float32", "float16", "int32")}


# What a name in an imported file can break. What else its spec has to be told of is for `opkit check`, in the words of the spec.
_OF_NAMES = {rule.number for rule in (Rule.OP_TYPE, Rule.NAME, Rule.DUPLICATE)}


@attrs.frozen(kw_only=True)
class Created:
    """What came of a new project: its files, relative and sorted, and what its spec warns of."""

    files: tuple[str, ...]
    warnings: tuple[SpecWarning, ...]


@attrs.frozen(kw_only=True)
class Imported:
    """What came of an import: its files, what ops.py asks, and what `opkit check` will tell beside that.

    A spec that asks isn't read to its end, and has no warnings yet.
    """

    files: tuple[str, ...]
    questions: tuple[Question, ...]
    mistakes: tuple[SpecError, ...]
    warnings: tuple[SpecWarning, ...]


def kernels_offered() -> tuple[str, ...]:
    """The names that `--kernel` takes: the kernels that ship with opkit."""
    return tuple(sorted(_KERNELS))


def op_type_of(name: str) -> str:
    """The op type that a project's name suggests; never that of a built-in op, such as Add or BiasAdd."""
    camel = "".join(word.capitalize() for word in _WORD.findall(name.lower()))
    op_type = camel if camel.endswith("Add") else f"{camel}Add"
    return f"{op_type}Custom" if op_type == camel or is_built_in(op_type) else op_type


def create_project(project: NewProject, folder: Path) -> Created:
    """A project that builds as it stands.

    Raises UsageError for a name, op type, dtype or kernel that can't be, and FolderNotEmptyError; either leaves nothing behind.
    """
    _check_name(project.name)
    _check_kernel(project)
    files, warnings = _created(folder, lambda staged: _fill(staged, project))
    return Created(files=files, warnings=warnings)


def create_imported(name: str, brought: Brought, folder: Path, *, author: str = "") -> Imported:
    """A project with the prototypes of `brought` and its kernels, which has no generated files yet: its spec asks questions.

    Raises as `create_project`, and ForeignFileError for a name in the imported file that the generated code can't have.
    """
    _check_name(name)
    spec = spec_text(brought, name)
    files, (mistakes, warnings) = _created(folder, lambda staged: _fill_imported(staged, name, brought, spec, author))
    return Imported(files=files, questions=spec.questions, mistakes=mistakes, warnings=warnings)


def _created(folder: Path, fill: Callable[[Path], _Told]) -> tuple[tuple[str, ...], _Told]:
    """The files that now lie in `folder`, relative and sorted, and what `fill` tells."""
    with guard_writing(folder):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            msg = f"{folder} is not empty" if folder.is_dir() else f"{folder} is a file"
            raise FolderNotEmptyError(msg, help="name another folder with --dir, or empty this one")
        if folder.exists():
            with _staged(folder) as staged:
                told = fill(staged)
                _move_entries(staged, folder)
        else:
            with _parents_made(folder), _staged(folder.parent) as staged:
                told = fill(staged)
                # mkdtemp makes it for its owner alone; a project is a folder like any other.
                staged.chmod(FOLDER_MODE)
                staged.rename(folder)
    return tuple(sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())), told


@contextmanager
def _parents_made(folder: Path) -> Iterator[None]:
    """Those that are missing, for as long as nothing fails."""
    missing = [parent for parent in folder.parents if not parent.exists()]
    try:
        make_folders(folder.parent)
        yield
    except BaseException:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
        raise


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


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        suggestion = "_".join(_WORD.findall(name.lower())).lstrip("_0123456789")
        msg = f"{name!r} is no package name"
        because = "it becomes a CMake target and a Python module: small letters, digits and _, a letter first"
        raise UsageError(msg, because=because, help=f"opkit new {suggestion}" if suggestion else None)


def _check_kernel(project: NewProject) -> None:
    unknown = [dtype for dtype in project.dtypes if find_dtype(dtype) is None]
    if unknown or not project.dtypes:
        msg = f"no such dtype: {unknown[0]}" if unknown else "an op needs a dtype"
        near = did_you_mean(unknown[0], DTYPES) if unknown else None
        raise UsageError(msg, help=near or "for instance --dtype float32")
    kernel = Path(project.kernel).stem
    if kernel not in _KERNELS:
        msg = f"opkit has no kernel {kernel}"
        raise UsageError(msg, help=did_you_mean(kernel, kernels_offered()) or f"one of: {', '.join(kernels_offered())}")
    refused = [dtype for dtype in project.dtypes if (known := find_dtype(dtype)) is not None and known.name not in _KERNELS[kernel]]
    if refused:
        msg = f"the kernel {kernel} can't compute in {refused[0]}"
        raise UsageError(msg, help=f"--dtype takes, any number of times: {', '.join(_KERNELS[kernel])}")


def _fill(staged: Path, project: NewProject) -> tuple[SpecWarning, ...]:
    render_project(project).create(staged)
    kernel = staged / "kernels" / project.kernel
    kernel.parent.mkdir(exist_ok=True)
    shutil.copyfile(resources.kernels() / project.kernel, kernel)
    try:
        package = load_package(staged / "ops.py")
    except SpecErrors as refused:
        # The template is right, and its ops.py gone in a moment: what is wrong are the names that were put into it.
        _refuse_name(project.name, refused.errors)
        error = refused.errors[0]
        raise UsageError(error.message, where=f"--op {project.op_type}", because=error.because, help=error.help) from refused
    render(package).write(staged)
    return package.warnings


def _fill_imported(
    staged: Path, name: str, brought: Brought, spec: SpecText, author: str
) -> tuple[tuple[SpecError, ...], tuple[SpecWarning, ...]]:
    project = ImportedProject(
        name=name,
        op_types=tuple(prototype.type for prototype in brought.prototypes),
        header=brought.header or f"{name}.h",
        origin=brought.named,
        ops_py=spec.text,
        author=author,
    )
    render_imported(project).create(staged)
    for kernel in brought.kernels:
        for file in kernel.files:
            target = staged / "kernels" / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(kernel.root / file, target)
    try:
        package = load_package(staged / "ops.py")
        render(package).write(staged)
    except SpecErrors as told:
        _refuse_name(name, told.errors)
        for error in told.errors:
            origin = spec.origin_of(_line_of(error), error.message)
            if origin is not None and error.number in _OF_NAMES:
                # Nobody will see the lines of this ops.py.
                because = None if "ops.py" in (error.because or "") else error.because
                raise ForeignFileError(error.message, where=str(origin), because=because, help=error.help) from told
        return tuple(error for error in told.errors if error.number != Rule.OPEN.number), ()
    return (), package.warnings


def _refuse_name(name: str, errors: Sequence[SpecError]) -> None:
    for error in errors:
        if error.number == Rule.PACKAGE_NAME.number:
            raise UsageError(error.message, where=f"NAME {name}", because=error.because, help=f"opkit new {name}_ops")


def _line_of(error: SpecError) -> int:
    """The line of ops.py that an error is about; 0 for another file."""
    found = re.match(r"ops\.py:(\d+)", error.where or "")
    return int(found[1]) if found else 0
