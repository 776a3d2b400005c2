"""What `doctor` found, to be shown to strangers: short, with every version, and without names of people, computers and folders."""

from __future__ import annotations

import os
import platform
import pwd
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from opkit.run.doctor_findings import Check, Finding, Status, with_helps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from opkit.build import Project

__all__ = ["Report", "report_of"]

# Whose evidence is wanted even if it is in order; of the others only the id.
_VERSIONS = {Check.TOOLKIT, Check.TOOLKIT_VERSION, Check.ABI, Check.COMPILER, Check.CMAKE, Check.NINJA, Check.DEVICE, Check.DELIVERABLE}
_NAMES = ("USER", "LOGNAME", "SUDO_USER", "USERNAME")
_NOBODY = {"", "root", "nobody", "localhost"}
# Names of users and computers too, and then they tell nothing.
_OWN_WORDS = {"ascend", "build", "cann", "debian", "linux", "op", "opkit", "opp", "python", "simulator", "ubuntu", "user"}
_PEOPLE = re.compile(r"(?i)((?<=/)(?:homes?|users?|people)/)[^/\s:'\"]+")
_PATH = re.compile(r"(?<![\w.~-])/[^\s:;,'\"()]+")
_LONG = 3  # parts, from which on there is a middle
_OF_THE_SYSTEM = {"bin", "dev", "etc", "lib", "lib64", "opt", "proc", "run", "sbin", "sys", "usr"}
_OF_THE_LAYOUT = {"bin", "include", "lib64", "op_graph", "op_proto", "site-packages", "vendors"}
_WORD = 3  # a shorter name of a user is an ordinary word elsewhere than in a path


@attrs.frozen(kw_only=True)
class Report:
    """`system` is opkit, Python and the computer, in one line."""

    system: str
    findings: tuple[Finding, ...]

    def lines(self) -> Iterator[str]:
        yield self.system
        quiet = []
        for finding, advice in with_helps(self.findings):
            if finding.status is Status.OK and finding.check not in _VERSIONS:
                quiet.append(finding.id)
                continue
            yield f"{finding.status.value:<4}  {finding.id}: {finding.evidence}"
            if advice:
                yield f"      {advice}"
        if quiet:
            yield f"ok    {', '.join(dict.fromkeys(quiet))}"

    def to_json(self) -> dict[str, Any]:
        return {"system": self.system, "findings": [finding.to_json() for finding in self.findings]}


def report_of(findings: Iterable[Finding], environ: Mapping[str, str], *, project: Project | None) -> Report:
    from opkit import __version__

    redacted = _Redaction.of(environ, project)
    libc = " ".join(platform.libc_ver())
    computer = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Report(
        system=f"opkit {__version__}, Python {platform.python_version()}, {computer}, {libc}",
        findings=tuple(
            attrs.evolve(
                each, evidence=redacted(each.evidence), help=each.help and redacted(each.help), hint=each.hint and redacted(each.hint)
            )
            for each in findings
        ),
    )


@attrs.frozen
class _Redaction:
    """`folders` are those that have a stand-in, by their real names too; `named` are these as they stand in a text, and `names` those of
    the user and the computer.
    """

    folders: Mapping[str, str]
    named: tuple[tuple[re.Pattern[str], str], ...]
    names: tuple[tuple[re.Pattern[str], str], ...]

    @classmethod
    def of(cls, environ: Mapping[str, str], project: Project | None) -> _Redaction:
        # In this order: a project lies in a home, whose last part is a name.
        folders = [] if project is None else [(str(project.root), "PROJECT")]
        home = environ.get("HOME", "")
        if home.startswith("/") and home.strip("/"):
            folders.append((home, "~"))
        folders += [(os.path.realpath(folder), stand_in) for folder, stand_in in folders]
        known = [(_path_pattern(folder), stand_in) for folder, stand_in in folders]
        # What holds a space is no longer one path in a sentence.
        spaced = {part for value in environ.values() for part in value.split(os.pathsep) if part.startswith("/") and " " in part}
        known += [(_path_pattern(part), _shortened(part)) for part in sorted(spaced, key=len, reverse=True) if Path(part).parts[1:]]
        return cls(dict(folders), tuple(known), tuple(_names(environ)))

    def __call__(self, text: str) -> str:
        for pattern, stand_in in self.named:
            text = pattern.sub(lambda _, stand_in=stand_in: stand_in, text)  # type: ignore[misc]
        text = _PEOPLE.sub(r"\1USER", text)
        text = _PATH.sub(lambda found: self._of_path(found[0]), text)
        for pattern, stand_in in self.names:
            text = pattern.sub(stand_in, text)
        return text

    def _of_path(self, path: str) -> str:
        """A folder that has a stand-in may be named through a link."""
        real = os.path.realpath(path)
        for folder, stand_in in self.folders.items():
            if real == folder or real.startswith(f"{folder}/"):
                return stand_in + real[len(folder) :]
        return _shortened(path)


def _path_pattern(folder: str) -> re.Pattern[str]:
    # Slashes may be doubled where a variable is quoted; a name that only begins alike is another folder.
    parts = [re.escape(part) for part in Path(folder).parts[1:]]
    return re.compile(r"(?<![\w.-])/+" + r"/+".join(parts) + r"(?![\w-])")


def _shortened(path: str) -> str:
    """The system's own folders as they are; of others the middle is nobody's business."""
    parts = [part for part in path.split("/") if part]
    if len(parts) < _LONG or parts[0] in _OF_THE_SYSTEM:
        return path
    known = next((number for number, part in enumerate(parts) if part in _OF_THE_LAYOUT), len(parts))
    kept = parts[max(known - 1, 1) :]
    return "/".join(["", parts[0], *(["…"] if len(kept) < len(parts) - 1 else []), *kept])


def _names(environ: Mapping[str, str]) -> Iterator[tuple[re.Pattern[str], str]]:
    """Of the user and of the computer."""
    users = {environ.get(variable, "").strip() for variable in _NAMES} | {_own_name()}
    node = platform.node()
    hosts = {node, node.partition(".")[0]} - users
    for names, stand_in, mark in ((users, "USER", "/"), (hosts, "HOST", "/@")):
        for name in sorted(names - _NOBODY, key=len, reverse=True):
            # A part of a longer word is another name, though _ and - join several.
            before = r"(?<![^\W_])" if len(name) >= _WORD else f"(?<=[{mark}])"
            if name.lower() not in _OWN_WORDS:
                yield re.compile(f"{before}{re.escape(name)}(?![^\\W_])", re.IGNORECASE), stand_in


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""  # In a container a user may have a number alone.
