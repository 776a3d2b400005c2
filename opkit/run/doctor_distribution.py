"""What `doctor` finds out about opkit itself: whether what runs is what was installed, and under what other names there is one."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opkit.run.doctor_findings import Check, Finding, Status, exported

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.metadata import Distribution

__all__ = ["commands", "distribution", "installed_again"]

_DISTRIBUTION = "ascend-opkit"
_NAMESAKE = "opkit"


def distribution(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Another distribution, of the index's name `opkit`, has a package of the same name: whichever was installed last is imported."""
    from importlib import metadata

    imported = Path(__file__).resolve().parent.parent
    try:
        namesake = metadata.distribution(_NAMESAKE)
    except metadata.PackageNotFoundError:
        namesake = None
    if namesake is not None:
        evidence = f"the distribution {_NAMESAKE} {namesake.version} is installed as well, and has a package of the same name"
        again = installed_again()
        mend = f"pip uninstall -y {_NAMESAKE}" + (f" && {again}" if again else "")
        yield Finding(check=Check.OPKIT, status=Status.FAIL, evidence=evidence, help=mend)
    try:
        own = metadata.distribution(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        evidence = f"{imported} runs, but {_DISTRIBUTION} isn't installed for {sys.executable}"
        checkout = imported.parent
        if (checkout / "pyproject.toml").is_file():
            yield Finding(check=Check.OPKIT, status=Status.WARN, evidence=evidence, help=f"pip install {shlex.quote(str(checkout))}")
        else:
            yield Finding(check=Check.OPKIT, status=Status.WARN, evidence=evidence, hint=f"install {_DISTRIBUTION} with pip")
        return
    installed = _package_of(own)
    if installed is not None and installed != imported:
        evidence = f"{imported} was imported, not {installed}, which {_DISTRIBUTION} {own.version} installed: it comes earlier in sys.path"
        command = _left_out(imported.parent, environ)
        hint = None if command else f"take {imported.parent} out of sys.path"
        yield Finding(check=Check.OPKIT, status=Status.FAIL, evidence=evidence, help=command, hint=hint)
    elif namesake is None:
        yield Finding(check=Check.OPKIT, status=Status.OK, evidence=f"{_DISTRIBUTION} {own.version} in {imported}")


def commands(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Which `opkit` a shell starts, if there are several."""
    found: list[Path] = []
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(folder) / _NAMESAKE
        if folder and path.is_file() and os.access(path, os.X_OK) and not any(path.samefile(other) for other in found):
            found.append(path)
    if len(found) > 1:
        evidence = f"a shell starts {found[0]}, and {', '.join(map(str, found[1:]))} is on PATH too"
        hint = "remove those that you don't mean, or put the folder of the one that you mean first in PATH"
        yield Finding(check=Check.OPKIT, status=Status.WARN, evidence=evidence, hint=hint)


def installed_again() -> str | None:
    """The command that installs opkit anew from where it came, or None: its name alone would be whatever an index has under it."""
    from importlib import metadata

    try:
        own = metadata.distribution(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None
    command = "pip install --force-reinstall --no-deps"
    origin = _origin(own)
    if not origin:
        return f"{command} {_DISTRIBUTION}=={own.version}"
    path = _folder_of(origin)
    if path is not None:
        is_editable = bool(origin.get("dir_info", {}).get("editable"))
        return f"{command} {'-e ' if is_editable else ''}{shlex.quote(str(path))}" if path.exists() else None
    url, vcs = str(origin["url"]), origin.get("vcs_info")
    return f"{command} {shlex.quote(url if vcs is None else '{}+{}@{}'.format(vcs['vcs'], url, vcs['commit_id']))}"


def _left_out(folder: Path, environ: Mapping[str, str]) -> str | None:
    """The command after which Python doesn't look into the folder first; None if neither it is the current one nor PYTHONPATH names it."""
    if folder == Path.cwd():  # `python -m opkit` looks there first.
        return "cd /"
    elements = environ.get("PYTHONPATH", "").split(os.pathsep)
    rest = [element for element in elements if element and Path(element).resolve() != folder]
    return exported("PYTHONPATH", os.pathsep.join(rest)) if len(rest) < len([*filter(None, elements)]) else None


def _package_of(own: Distribution) -> Path | None:
    """The folder that the distribution's `opkit` is in: in site-packages, or in the checkout of an editable install."""
    installed = Path(str(own.locate_file("opkit/__init__.py")))
    if installed.is_file():
        return installed.resolve().parent
    origin = _origin(own)
    folder = _folder_of(origin) if origin.get("dir_info", {}).get("editable") else None
    package = None if folder is None else folder / "opkit"
    return package.resolve() if package is not None and package.is_dir() else None


def _origin(own: Distribution) -> dict[str, Any]:
    """What pip notes of what it didn't take from an index; empty for all else, and for a note that can't be read."""
    try:
        origin = json.loads(own.read_text("direct_url.json") or "{}")
        is_read = isinstance(origin["url"], str) and isinstance(origin.get("dir_info", {}), dict)
        vcs = origin.get("vcs_info")
        is_read &= vcs is None or {"vcs", "commit_id"} <= {*vcs}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return origin if is_read else {}


def _folder_of(origin: Mapping[str, Any]) -> Path | None:
    from urllib.parse import unquote, urlsplit

    url = urlsplit(str(origin.get("url", "")))
    return Path(unquote(url.path)) if url.scheme == "file" else None
