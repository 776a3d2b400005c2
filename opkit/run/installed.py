"""What `opkit env` and `opkit run` activate outside of a project: the packages of a prefix and of a Python's wheels."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from opkit import process
from opkit.console import console
from opkit.deliverable import MANIFEST, OppRoot
from opkit.errors import DeliverableError, NotInstalledError, OpkitError, PythonError
from opkit.run.wheels import InWheel, in_wheels

__all__ = ["Sources", "find_installed", "wheels_of"]

_SECONDS = 60.0


class Sources(NamedTuple):
    """Where to look. `python` is an interpreter or the folder of a virtual environment; None is the Python of this opkit."""

    prefix: Path | None
    python: Path | None = None

    def __str__(self) -> str:
        wheels = f"the wheels of {self.python or 'this Python'}"
        return wheels if self.prefix is None else f"{self.prefix} or {wheels}"


def find_installed(sources: Sources, names: Collection[str] = ()) -> list[OppRoot]:
    """The installed packages in the order of their names, each once: one in the prefix hides that of a wheel, and that is told.

    What is broken is told and left out. With `names` only those are looked for; raises NotInstalledError for one that isn't there, and
    PythonError for a Python that can't be asked.
    """
    found: dict[str, OppRoot] = {}
    broken: dict[str, str] = {}
    for package, root in [*_of_prefix(sources.prefix), *_of_wheels(sources.python)]:
        if names and package not in names:
            continue
        if isinstance(root, str):
            broken.setdefault(package, root)
            if not names:
                console.warn(f"the package {package} is broken and stays out: {root}")
        elif package not in found:
            found[package] = root
        elif root.path != found[package].path:
            console.warn(f"the package {package} is installed twice: {found[package].path} hides {root.path}")
    for name in names:
        if name not in found:
            raise _not_there(name, sources, broken.get(name), found)
    return [found[package] for package in sorted(found)]


def _not_there(name: str, sources: Sources, fault: str | None, found: Collection[str]) -> OpkitError:
    if fault is not None:
        msg = f"the package {name} is broken"
        return DeliverableError(msg, because=fault, help="install it again")
    msg = f"the package {name} isn't installed"
    because = f"there is none of this name in {sources}" + (f", where there are {', '.join(sorted(found))}" if found else "")
    return NotInstalledError(msg, because=because, help="opkit install, or pip install the wheel")


def _of_prefix(prefix: Path | None) -> Iterator[tuple[str, OppRoot | str]]:
    from opkit.packaging import installed

    for each in () if prefix is None else installed(prefix):
        root = each.opp_root
        if root is None:
            yield each.package, each.fault or f"{each.path} has no manifest"
        else:
            # Not their contents, as of a wheel: what was installed was read back then, and a kernel store may be large.
            yield each.package, _held(root, by_size_alone=True)


def _of_wheels(python: Path | None) -> Iterator[tuple[str, OppRoot | str]]:
    for wheel in wheels_of(python):
        yield wheel.package, _checked(wheel)


def _checked(wheel: InWheel) -> OppRoot | str:
    if wheel.folder is None:
        return wheel.fault or "its wheel names no folder"
    folder = Path(wheel.folder)
    try:
        root = OppRoot.read(folder)
    except DeliverableError as error:
        return error.message
    if root is None:
        return f"{folder} has no {MANIFEST}"
    if root.manifest.package != wheel.package:
        return f"the manifest in {folder} is that of {root.manifest.package}"
    return _held(root)


def _held(root: OppRoot, *, by_size_alone: bool = False) -> OppRoot | str:
    violations = root.manifest.violations(root.path, by_size_alone=by_size_alone)
    return f"{root.path}: {'; '.join(violations)}" if violations else root


def wheels_of(python: Path | None) -> list[InWheel]:
    """Those of a Python; None is that of this opkit. Raises PythonError for one that can't be asked."""
    return in_wheels() if python is None else _asked(python)


def _asked(python: Path) -> list[InWheel]:
    program = _interpreter(python)
    from opkit.run import wheels

    # -I: neither PYTHONPATH nor the current folder brings modules of its own.
    try:
        done = process.run([program, "-I", wheels.__file__], timeout=_SECONDS)
    except OpkitError as error:
        raise _unusable(python, error.message + (f": {error.because}" if error.because else "")) from error
    if not done.ok:
        lines = done.stderr.strip().splitlines()
        raise _unusable(python, lines[-1] if lines else f"it ended with exit {done.shell_exit}")
    try:
        return [InWheel(*each) for each in json.loads(done.stdout)]
    except (ValueError, TypeError) as fault:
        raise _unusable(python, f"it printed {done.stdout[:80]!r}") from fault


def _interpreter(python: Path) -> Path:
    if python.is_dir():
        inside = python / "bin" / "python"
        if not inside.exists():
            raise _unusable(python, "the folder has no bin/python")
        return Path(os.path.abspath(inside))  # noqa: PTH100 - not resolved: the link is what makes it that environment's
    return Path(os.path.abspath(python)) if os.sep in str(python) else python  # noqa: PTH100 - as above


def _unusable(python: Path, because: str) -> PythonError:
    msg = f"--python {python} can't be asked for its packages"
    return PythonError(msg, because=because, help="name a Python 3.10 or newer, or the folder of a virtual environment")
