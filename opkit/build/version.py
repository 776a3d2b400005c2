"""The version of a project, as CMake reads it when it writes the manifest: what is wrong with it is told before anything is configured."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from opkit.deliverable import is_version
from opkit.errors import VersionError
from opkit.files import guard_reading

if TYPE_CHECKING:
    from opkit.build.project import Project

__all__ = ["require_fixed_version", "require_version"]

_FILE = "pyproject.toml"
_SECTION = re.compile(r"^[ \t]*\[[ \t]*project[ \t]*\].*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
# As templates/deliverable/cmake/write_manifest.cmake.j2 has it.
_VERSION = re.compile(r"""^[ \t]*version[ \t]*=[ \t]*(?:"([^"\n]*)"|'([^'\n]*)').*$""", re.MULTILINE)
_DYNAMIC = re.compile(r"""^[ \t]*dynamic[ \t]*=[ \t]*\[[^\]]*["']version["'].*$""", re.MULTILINE)


class _Line(NamedTuple):
    where: str
    version: str | None


def require_version(project: Project) -> None:
    """Raises VersionError for a version in pyproject.toml that no package can have; without one it is 0."""
    said = _line(project, _VERSION)
    if said is not None and said.version is not None and not is_version(said.version):
        msg = f"{said.version!r} is no version that a package can have"
        because = "it becomes a part of file names: at most 128 letters, digits and . ! + _ -, the first a letter or a digit"
        raise VersionError(msg, where=said.where, because=because, help='version = "1.0"')


def require_fixed_version(project: Project) -> None:
    """Raises VersionError for a project whose version a build backend finds out: CMake, without one, would call every package 0."""
    said = _line(project, _DYNAMIC)
    if said is not None:
        msg = f"the version of {project.root} isn't written down"
        because = "it is dynamic: only a build of a wheel finds it out, and the package would be called 0"
        advice = f'write it into {_FILE}, version = "1.0" in place of dynamic, or make a wheel: opkit package --format wheel'
        raise VersionError(msg, where=said.where, because=because, help=advice)


def _line(project: Project, wanted: re.Pattern[str]) -> _Line | None:
    path = project.root / _FILE
    with guard_reading(path):
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    section = _SECTION.search(text)
    found = None if section is None else wanted.search(text, section.start(), section.end())
    if found is None:
        return None
    version = next((group for group in found.groups() if group is not None), None)
    line = text.count("\n", 0, found.start()) + 1
    shown, *_ = found[0].strip().splitlines()
    return _Line(f"{_FILE}:{line}   {shown}", version)
