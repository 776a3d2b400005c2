"""What `doctor` found, to be shown to strangers: short, with every version, and without the names of people and their folders."""

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
_NOBODY = {"", "root"}
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
                yield f"      help: {advice}"
        if quiet:
            yield f"ok    {', '.join(dict.fromkeys(quiet))}"

    def to_json(self) -> dict[str, Any]:
        return {"system": self.system, "findings": [finding.to_json() for finding in self.findings]}


def report_of(findings: Iterable[Finding], environ: Mapping[str, str], *, project: Project | None) -> Report:
    from opkit import __version__

    replaced = list(_replacements(environ, project))
    libc = " ".join(platform.libc_ver())
    computer = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Report(
        system=f"opkit {__version__}, Python {platform.python_version()}, {computer}, {libc}",
        findings=tuple(
            attrs.evolve(finding, evidence=_redacted(finding.evidence, replaced), help=finding.help and _redacted(finding.help, replaced))
            for finding in findings
        ),
    )


def _replacements(environ: Mapping[str, str], project: Project | None) -> Iterator[tuple[re.Pattern[str], str]]:
    """In this order: a project lies in a home, whose last part is a name."""
    folders = [] if project is None else [(project.root, "PROJECT")]
    home = environ.get("HOME", "")
    if home.startswith("/") and home.strip("/"):
        folders += [(Path(home), "~"), (Path(os.path.realpath(home)), "~")]
    for folder, stand_in in folders:
        # Slashes may be doubled where a variable is quoted; a name that only begins alike is another folder.
        parts = [re.escape(part) for part in folder.parts[1:]]
        yield re.compile(r"(?<![\w.-])/+" + r"/+".join(parts) + r"(?![\w-])"), stand_in
    yield re.compile(r"(?<=/home/)[^/\s:'\"]+|(?<=/Users/)[^/\s:'\"]+"), "USER"
    for name in sorted({environ.get(variable, "") for variable in _NAMES} | {_own_name()}, key=len, reverse=True):
        if name.strip() not in _NOBODY:
            before = r"(?<![\w-])" if len(name) >= _WORD else "(?<=/)"
            yield re.compile(f"{before}{re.escape(name)}(?![\\w-])"), "USER"


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""  # In a container a user may have a number alone.


def _redacted(text: str, replaced: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, stand_in in replaced:
        text = pattern.sub(lambda _, stand_in=stand_in: stand_in, text)  # type: ignore[misc]
    return text
