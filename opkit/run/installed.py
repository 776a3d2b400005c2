"""What `opkit env` and `opkit run` activate outside of a project: the packages of a prefix and of a Python's wheels."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit import process
from opkit.console import console
from opkit.deliverable import MANIFEST, OppRoot
from opkit.errors import DeliverableError, NotInstalledError, OpkitError, PythonError
from opkit.files import closed_above, whose
from opkit.layout import ENTRY_POINTS
from opkit.run.wheels import InWheel, Wheels, in_wheels

if TYPE_CHECKING:
    from opkit.packaging import Installed

__all__ = ["Candidate", "Sources", "candidates", "chosen", "find_installed", "mend_of", "wheels_of"]

_SECONDS = 60.0


class Sources(NamedTuple):
    """Where to look. `python` is an interpreter or the folder of a virtual environment; None is the Python of this opkit."""

    prefix: Path | None
    python: Path | None = None

    def __str__(self) -> str:
        wheels = f"the wheels of {self.python or 'this Python'}"
        return wheels if self.prefix is None else f"{self.prefix} or {wheels}"


class Candidate(NamedTuple):
    """A package that is installed somewhere. With `faults`, sentences, it is broken and never activated.

    `path` is None for a wheel that leads nowhere, `root` for what has no manifest of its own that can be read, and `installed` for a wheel.
    """

    package: str
    path: Path | None
    root: OppRoot | None
    faults: tuple[str, ...] = ()
    installed: Installed | None = None

    @property
    def fault(self) -> str:
        told = "; ".join(self.faults)
        return told if self.root is None else f"{self.root.path}: {told}"

    @property
    def mend(self) -> str:
        """What makes a broken one whole again."""
        if self.installed is None:
            from opkit.packaging import WHEEL_AGAIN

            return WHEEL_AGAIN
        return mend_of(self.installed)


def find_installed(sources: Sources, names: Collection[str] = (), *, is_needed: bool = False) -> list[OppRoot]:
    """The installed packages in the order of their names, each once: one in the prefix hides that of a wheel, and that is told.

    What is broken is told and left out. With `names` only those are looked for; raises NotInstalledError for one that isn't there,
    DeliverableError for one that is broken, or if one `is_needed` and all are, and PythonError for a Python that can't be asked.
    """
    there = candidates(sources)
    wanted = [each for each in there if not names or each.package in names]
    found = chosen(wanted)
    for each in wanted:
        if each.faults:
            if not names or each.package in found:
                console.warn(f"the package {each.package} is broken and stays out: {each.fault}", help=each.mend)
        elif each.path != found[each.package].path:
            console.warn(f"the package {each.package} is installed twice: {found[each.package].path} hides {each.path}")
    for name in names:
        if name not in found:
            raise _not_there(name, sources, there)
    if is_needed and there and not found:
        msg = f"nothing that is installed in {sources} can be activated"
        names = sorted({each.package for each in there})
        raise DeliverableError(msg, because=f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} broken", help=there[0].mend)
    return [found[package] for package in sorted(found)]


def chosen(there: Iterable[Candidate]) -> dict[str, OppRoot]:
    """By package, the one that is activated: the first that isn't broken."""
    found: dict[str, OppRoot] = {}
    for each in there:
        if each.root is not None and not each.faults:
            found.setdefault(each.package, each.root)
    return found


def candidates(sources: Sources) -> list[Candidate]:
    """All that is installed, broken or not: first those of the prefix, each by name. Raises PythonError and UnreadableError."""
    return [*_of_prefix(sources.prefix), *_of_wheels(sources.python)]


def mend_of(package: Installed) -> str:
    """What makes a broken package of a prefix whole again: in most cases, to install it once more."""
    manifest = package.folder / MANIFEST
    closed = closed_above(manifest)
    # What is no folder, or isn't there, can't be entered either.
    if closed is None or not os.path.isdir(closed):  # noqa: PTH112 - Path.is_dir raises below a closed folder
        closed = manifest if os.path.lexists(manifest) and not os.access(manifest, os.R_OK) else None
    if closed is not None:
        from opkit.run.doctor_findings import opened_up

        return f"let yourself read it: {opened_up(closed)}"
    source = None if package.receipt is None else package.receipt.source
    # A source that is gone can't be installed from.
    if source is None or not os.path.exists(source):  # noqa: PTH110 - Path.exists raises where a folder above is closed
        return f"install it again: opkit install FILE --prefix {shlex.quote(str(package.path.parent))}"
    # An installer runs itself, and opkit runs none.
    if source.endswith(".run"):
        return f"install it again: sh {shlex.quote(source)} --install-path {shlex.quote(str(package.path.parent))}"
    return f"install it again: opkit install {shlex.quote(source)} --prefix {shlex.quote(str(package.path.parent))}"


def _not_there(name: str, sources: Sources, there: Collection[Candidate]) -> OpkitError:
    broken = next((each for each in there if each.package == name), None)
    if broken is not None:
        msg = f"the package {name} is broken"
        return DeliverableError(msg, because=broken.fault, help=broken.mend)
    from opkit.spec.problems import did_you_mean

    names = sorted({each.package for each in there})
    msg = f"the package {name} isn't installed"
    because = f"there is none of this name in {sources}" + (
        f", where there {'is' if len(names) == 1 else 'are'} {', '.join(names)}" if names else ""
    )
    advice = did_you_mean(name, names) or "opkit install, or pip install the wheel"
    return NotInstalledError(msg, because=because, help=advice)


def _of_prefix(prefix: Path | None) -> Iterator[Candidate]:
    from opkit.packaging import installed

    for each in () if prefix is None else installed(prefix):
        root = each.opp_root
        # Not their contents, as of a wheel: what was installed was read back then, and a kernel store may be large.
        faults = [each.fault or f"{each.path} has no manifest"] if root is None else root.manifest.violations(root.path, by_size_alone=True)
        yield Candidate(each.package, each.path, root, tuple(faults), each)


def _of_wheels(python: Path | None) -> Iterator[Candidate]:
    for wheel in wheels_of(python):
        if wheel.folder is None:
            yield Candidate(wheel.package, None, None, (wheel.fault or "its wheel names no folder",))
            continue
        folder = Path(wheel.folder)
        try:
            root = OppRoot.read(folder)
        except DeliverableError as error:
            yield Candidate(wheel.package, folder, None, (error.message + (f" ({error.because})" if error.because else ""),))
            continue
        if root is None:
            yield Candidate(wheel.package, folder, None, (f"{folder / MANIFEST} is missing",))
        elif root.manifest.package != wheel.package:
            yield Candidate(wheel.package, folder, None, (f"the manifest in {folder} is that of {root.manifest.package}",))
        else:
            yield Candidate(wheel.package, folder, root, tuple(root.manifest.violations(folder)))


def wheels_of(python: Path | None) -> list[InWheel]:
    """Those of a Python; None is that of this opkit. Raises PythonError for one that can't be asked; what can't be asked there is told."""
    wheels = in_wheels(ENTRY_POINTS) if python is None else _asked(python)
    for fault in wheels.faults:
        console.warn(f"{fault}; its operators, if it has any, stay out")
    return wheels.packages


def _asked(python: Path) -> Wheels:
    program = _interpreter(python)
    from opkit.run import wheels

    # -I: neither PYTHONPATH nor the current folder brings modules of its own.
    try:
        done = process.run([program, "-I", wheels.__file__, ENTRY_POINTS], timeout=_SECONDS)
    except OpkitError as error:
        raise _unusable(python, error.message + (f": {error.because}" if error.because else "")) from error
    if not done.ok:
        lines = done.stderr.strip().splitlines()
        raise _unusable(python, lines[-1] if lines else f"it ended with exit {done.shell_exit}")
    try:
        packages, faults = json.loads(done.stdout)
        return Wheels([InWheel(*each) for each in packages], faults)
    except (ValueError, TypeError, RecursionError) as fault:
        raise _unusable(python, f"it printed {done.stdout[:80]!r}") from fault


def _interpreter(python: Path) -> Path:
    mode = _mode_of(python, python)
    if mode is not None and stat.S_ISDIR(mode):
        inside = python / "bin" / "python"
        if _mode_of(inside, python) is None:
            raise _unusable(python, "the folder has no bin/python")
        return Path(os.path.abspath(inside))  # noqa: PTH100 - not resolved: the link is what makes it that environment's
    if python.name != str(python):
        return Path(os.path.abspath(python))  # noqa: PTH100 - as above
    # As a shell looks for a command.
    found = shutil.which(python)
    if found is None:
        because = f"no folder and no command on PATH is called {python}"
        raise _unusable(python, because, f"name its file: --python {shlex.quote(f'./{python}')}" if mode is not None else None)
    return Path(found)


def _mode_of(path: Path, python: Path) -> int | None:
    """None for what isn't there. Raises PythonError for what a closed folder hides."""
    try:
        return path.stat().st_mode
    except PermissionError as fault:
        raise _unusable(python, whose(Path(os.path.realpath(path)))) from fault
    except OSError:
        return None


def _unusable(python: Path, because: str, advice: str | None = None) -> PythonError:
    msg = f"--python {python} can't be asked for its packages"
    return PythonError(msg, because=because, help=advice or "name a Python 3.10 or newer, or the folder of a virtual environment")
