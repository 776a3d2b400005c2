"""From ops.py to a Package: runs the user's file, collects every mistake, resolves the rest."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

import opkit
from opkit.errors import SpecErrors
from opkit.files import LARGEST_TEXT, content_of
from opkit.spec import declare
from opkit.spec.local_imports import SpecFolder
from opkit.spec.location import Location, location_of
from opkit.spec.problems import Problems, Rule, did_you_mean, nearest, one_of, spec_error
from opkit.spec.resolve import resolve_package

if TYPE_CHECKING:
    from opkit.spec.model import Package


def load_package(ops_py: Path) -> Package:
    """Runs `ops_py` and gives its Package. Raises SpecErrors with every mistake, in the order of the file.

    The file runs afresh each time, with its folder first on `sys.path`; nothing is written beside it, and what it prints goes to stderr.
    """
    file = Path(ops_py).resolve()
    code = _compiled(file)
    folder = SpecFolder.of(file.parent)
    with folder.importable() as imported:
        package = resolve_package(_package_in(_run(code, file, folder), file), file.parent, Problems(file))
    return attrs.evolve(package, sources=(file, *sorted(set(imported) - {file})))


def _compiled(file: Path) -> types.CodeType:
    try:
        return compile(importlib.util.decode_source(content_of(file, most=LARGEST_TEXT)), str(file), "exec", dont_inherit=True)
    except OSError as error:
        raise _single(Rule.UNREADABLE, f"the spec {file} can't be read", because=error.strerror or str(error)) from error
    except SyntaxError as error:
        where = Location(file=file, line=error.lineno or 1, text=(error.text or "").strip())
        raise _single(Rule.SYNTAX, f"{file.name} is no Python", where, because=error.msg) from error
    except ValueError as error:  # a NUL byte, or bytes that aren't the declared encoding
        raise _single(Rule.SYNTAX, f"{file.name} is no Python", because=str(error)) from error


def _run(code: types.CodeType, file: Path, folder: SpecFolder) -> dict[str, object]:
    module = types.ModuleType(file.stem)
    module.__file__ = str(file)
    sys.modules[file.stem] = module
    try:
        # A print in ops.py must not end up in the JSON that a machine reads from stdout.
        with contextlib.redirect_stdout(sys.stderr):
            exec(code, module.__dict__)  # noqa: S102 - a spec is a file that the user trusts, as a setup.py is
    except (Exception, SystemExit) as error:
        raise _raised(error, file, folder) from error
    return module.__dict__


def _raised(error: BaseException, file: Path, folder: SpecFolder) -> SpecErrors:
    """The user's error at the user's own deepest line: in ops.py, or in a module of its folder."""
    where = Location(file=file, line=1)
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if folder.holds(name):
            where = location_of(name, trace.tb_lineno)
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename and folder.holds(error.filename):
        where = Location(file=Path(error.filename), line=error.lineno or 1, text=(error.text or "").strip())
    kind = type(error).__name__
    return _single(Rule.RAISED, f"{where.file.name} raised {kind}", where, because=str(error) or kind, advice=_words_of_opkit(error))


_NO_IMPORT = re.compile(r"cannot import name '(\w+)' from 'opkit'")


def _words_of_opkit(error: BaseException) -> str | None:
    """What to write for a word of a spec that is misspelt or not imported."""
    if isinstance(error, NameError) and error.name is not None:
        if error.name in opkit.__all__:
            return f"write `from opkit import {error.name}`"
        near = nearest(error.name, opkit.__all__, cutoff=0.75)
        return None if near is None else f"did you mean {near!r}?"
    word = None
    if isinstance(error, ImportError) and (found := _NO_IMPORT.match(str(error))) is not None:
        word = found[1]
    elif isinstance(error, AttributeError) and error.obj is opkit:
        word = error.name
    return None if word is None else did_you_mean(word, opkit.__all__)


def _package_in(namespace: dict[str, object], file: Path) -> declare.Package:
    packages = {name: value for name, value in namespace.items() if isinstance(value, declare.Package)}
    distinct = list({id(value): value for value in packages.values()}.values())
    if len(distinct) == 1:
        return distinct[0]
    if isinstance(namespace.get("package"), declare.Package):
        return packages["package"]
    if not distinct:
        advice = 'end it with package = Package("my_package", ops=[…])'
        raise _single(Rule.NO_PACKAGE, f"{file.name} defines no package", Location(file=file, line=1), advice=advice)
    message = f"{file.name} defines several packages: {one_of(packages)}"
    raise _single(Rule.NO_PACKAGE, message, distinct[1].where, advice="name the one to build `package`")


def _single(
    rule: Rule, message: str, where: Location | None = None, *, because: str | None = None, advice: str | None = None
) -> SpecErrors:
    return SpecErrors([spec_error(rule, message, where, because=because, advice=advice)])
