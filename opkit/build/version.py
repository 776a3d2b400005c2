"""The version of a project, which CMake writes into the manifest: what is wrong with it is told before anything is configured.

CMake knows no TOML and looks for lines, so a version that it would miss or mistake is refused.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from opkit.console import console
from opkit.deliverable import is_version
from opkit.errors import VersionError
from opkit.files import LARGEST_SETTINGS, content_of, guard_reading

if TYPE_CHECKING:
    from opkit.build.project import Project

__all__ = ["require_fixed_version", "require_version", "require_wheel_version", "settings_of"]

_FILE = "pyproject.toml"
_PLAIN = 'version = "1.0"'
# As templates/deliverable/cmake/write_manifest.cmake.j2 has it.
_SECTION = r"(?ms)^[ \t]*\[[ \t]*project[ \t]*\].*?(?=^\[|\Z)"
_VERSION = r"""(?m)^[ \t]*version[ \t]*=[ \t]*(?:"([^"\n]*)"|'([^'\n]*)')"""


def require_version(project: Project) -> None:
    """Raises VersionError for a pyproject.toml that is no TOML, and for a version in it that no package can have, or that CMake reads
    otherwise; without one it is 0, which is warned of.
    """
    text = _text(project)
    table = _of_project(text)
    version = table.get("version")
    if table and version is None and "version" not in table.get("dynamic", ()):
        console.warn(
            f"{_FILE} gives the project no version: the package is called 0", help=f"[project], and below it {_PLAIN}", is_once=True
        )
    if version is not None and not isinstance(version, str):
        msg = f"the version {version!r} is no string"
        advice = f'version = "{version}"' if is_version(str(version)) else _PLAIN
        raise VersionError(msg, where=_where(text, "version"), because=f"TOML takes it for {type(version).__name__}", help=advice)
    if version is not None and not is_version(version):
        msg = f"{version!r} is no version that a package can have"
        because = "it becomes a part of file names: at most 128 letters, digits and . ! + _ -, the first a letter or a digit"
        raise VersionError(msg, where=_where(text, "version"), because=because, help=_PLAIN)
    found = _as_cmake_reads(text)
    if found != version:
        msg = f"CMake reads the version as {found or 0}" if version is None else f"CMake doesn't find the version {version}"
        because = "it writes the manifest, and looks for a line [project] and for one with the version after it"
        raise VersionError(
            msg, where=_where(text, "version"), because=because, help=f"[project], and below it {_PLAIN.replace('1.0', version or '1.0')}"
        )


def require_fixed_version(project: Project) -> None:
    """Raises VersionError for a project whose version a build backend finds out: CMake, without one, would call every package 0."""
    text = _text(project)
    if "version" in _of_project(text).get("dynamic", ()):
        msg = f"the version of {project.root} isn't written down"
        because = "it is dynamic: only a build of a wheel finds it out, and the package would be called 0"
        advice = f"write it into {_FILE}, {_PLAIN} in place of dynamic, or make a wheel: opkit package --format wheel"
        raise VersionError(msg, where=_where(text, "dynamic"), because=because, help=advice)


def require_wheel_version(project: Project) -> None:
    """Raises VersionError for a version that no wheel can have, which its backend would tell after the build and in other words."""
    from packaging.version import InvalidVersion, Version

    text = _text(project)
    table = _of_project(text)
    version = table.get("version")
    if not text or (version is None and "version" in table.get("dynamic", ())):
        return
    if version is None:
        msg = f"{project.root} has no version, and a wheel needs one"
        raise VersionError(msg, where=_FILE, because="its [project] has neither version nor dynamic", help=_PLAIN)
    try:
        Version(str(version))
    except InvalidVersion as fault:
        msg = f"{version!r} is no version that a wheel can have"
        because = "PEP 440 has numbers and dots, and after them a1, b1, rc1, .post1, .dev1 or +local"
        advice = f"{_PLAIN}, or make an archive: opkit package --format tar"
        raise VersionError(msg, where=_where(text, "version"), because=because, help=advice) from fault


def settings_of(project: Project) -> dict[str, Any]:
    """What pyproject.toml says, all of it; nothing without one. Raises VersionError for one that is no TOML."""
    return _parsed(_text(project))


def _text(project: Project) -> str:
    path = project.root / _FILE
    if not path.is_file():
        return ""
    with guard_reading(path):
        content = content_of(path, most=LARGEST_SETTINGS)
    try:
        return content.decode()
    except UnicodeDecodeError as fault:
        raise _no_toml(_FILE, f"TOML is UTF-8: {fault}") from fault


def _of_project(text: str) -> dict[str, Any]:
    table = _parsed(text).get("project", {})
    if not isinstance(table, dict):
        msg = f"project is no table in {_FILE}"
        raise VersionError(msg, where=_where(text, "project"), help="[project]")
    if not isinstance(table.get("dynamic", []), list):
        msg = f"dynamic is no list in {_FILE}"
        raise VersionError(msg, where=_where(text, "dynamic"), help='dynamic = ["version"]')
    return table


def _parsed(text: str) -> dict[str, Any]:
    # Worth its 5 ms only where the file changed.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        table: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise _no_toml(_line_of(fault, text), str(fault)) from fault
    except RecursionError as fault:
        raise _no_toml(_FILE, "it is nested deeper than Python can read") from fault
    return table


def _no_toml(where: str, because: str) -> VersionError:
    return VersionError(f"{_FILE} is no TOML", where=where, because=because, help="mend it, or take it away: without it the version is 0")


def _line_of(fault: Exception, text: str) -> str:
    lines, found = text.rstrip().split("\n"), re.search(r"line (\d+)", str(fault))
    number = len(lines) if found is None else min(int(found[1]), len(lines))  # "at end of document"
    return f"{_FILE}:{number}   {lines[number - 1].strip()!s}".replace("\ufeff", "<byte order mark>")


def _as_cmake_reads(text: str) -> str | None:
    section = re.search(_SECTION, text.replace("\r", ""))
    found = None if section is None else re.search(_VERSION, section[0])
    return None if found is None else found[1] if found[1] is not None else found[2]


def _where(text: str, key: str) -> str:
    """The line in which the key gets its value: in the table of the project if that has one of its own, never in a comment."""
    section = re.search(_SECTION, text)
    begin, end = (0, len(text)) if section is None else section.span()
    pattern = re.compile(rf"""(?m)^(?![ \t]*\#).*(?<![\w-]){key}["']?[ \t]*=.*$""")
    found = pattern.search(text, begin, end) or pattern.search(text)
    return _FILE if found is None else f"{_FILE}:{text.count(chr(10), 0, found.start()) + 1}   {found[0].strip()}"
