"""What would stop a build or a run on this computer, found by looking: opkit, toolkit, tools, the deliverable, and where GE looks for ops.

Files are read; a child process starts only to compile, and to load what GE would load.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.deliverable import OppRoot, include_folder
from opkit.errors import OpkitError
from opkit.lookup import lookup
from opkit.run.doctor_distribution import commands, distribution
from opkit.run.doctor_findings import Check, Finding, Status, built_again, built_anew, failed, opened_up, with_helps
from opkit.run.doctor_folders import folders
from opkit.run.doctor_loading import load_all
from opkit.run.doctor_machine import tools
from opkit.run.doctor_path import library_path, loading, origins, path_list, shadowed
from opkit.run.doctor_toolkit import device, examined_toolkit
from opkit.run.doctor_vendors import vendors
from opkit.run.installed import Sources, candidates, chosen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from opkit.build import Project
    from opkit.packaging import Installed
    from opkit.run.installed import Candidate

__all__ = ["Check", "Finding", "Status", "activated", "examine", "with_helps"]


def examine(environ: Mapping[str, str], *, project: Project | None, option: str | None = None) -> list[Finding]:
    """`option` is the value of --toolkit; without a project the computer is examined, and what is installed on it."""
    findings = [*distribution(environ), *commands(environ)]
    toolkit, about_toolkit = examined_toolkit(environ, option)
    findings += [*about_toolkit, *tools(environ, project), *folders(environ, project, toolkit)]
    about_project, built = _deliverable(project)
    about_packages, packages = _installed(environ)
    findings += [*about_project, *about_packages]
    found = lookup(environ, toolkit, first=packages if project is None else built)
    loaded = [] if toolkit is None else load_all(found, toolkit, environ)
    findings += [*path_list(found, loaded), *loading(found, loaded)]
    if toolkit is not None:
        findings += origins(found.custom, toolkit)
    findings += shadowed(found, loaded)
    if toolkit is not None:
        findings += vendors(found, environ, toolkit)
    findings += library_path(environ, toolkit)
    if toolkit is not None:
        findings.append(device(toolkit, environ, option))
    return findings


def activated(environ: Mapping[str, str], project: Project | None) -> list[Path]:
    """The OPP roots that `opkit run` and `opkit env` put before what the variable names, those that are whole."""
    return _installed(environ)[1] if project is None else _deliverable(project)[1]


def _installed(environ: Mapping[str, str]) -> tuple[list[Finding], list[Path]]:
    """In the order of their names, in which they are activated; what is wrong with one is a failure if a run leaves it out for that."""
    from opkit.packaging import default_prefix

    try:
        prefix = default_prefix(environ)
    except OpkitError:
        prefix = None  # What is wrong with its name is a finding about folders.
    try:
        there = candidates(Sources(prefix))
    except OpkitError as error:
        closed = getattr(error.__cause__, "filename", None)
        return [failed(Check.INSTALLED, error, help=None if closed is None else opened_up(Path(closed)))], []
    used = chosen(there)
    # Of one name, that of the prefix comes first.
    findings = [finding for each in sorted(there, key=lambda each: each.package) for finding in _about(each, used)]
    return findings, [used[package].path for package in sorted(used)]


def _about(candidate: Candidate, used: Mapping[str, OppRoot]) -> Iterator[Finding]:
    from opkit.packaging import strays

    package, installed, root = candidate.package, candidate.installed, candidate.root
    where = f"{package} in {'a wheel' if installed is None else 'the prefix'}" + (f", {candidate.path}" if candidate.path else "")
    problems = [] if installed is None else installed.problems()
    if candidate.faults or root is None:
        told = "; ".join(problems or candidate.faults)
        yield _not_whole(candidate, Status.FAIL, f"{where}: {told}; a run leaves it out")
        return
    if used[package].path != root.path:
        evidence = f"{where} is hidden by {used[package].path}"
        yield Finding(check=Check.INSTALLED, status=Status.WARN, evidence=evidence, help=f"opkit uninstall {package}")
    elif problems:
        yield _not_whole(candidate, Status.WARN, f"{where}: {'; '.join(problems)}; a run takes it all the same")
    else:
        evidence = f"{where}: {root.manifest.marked_version}, {', '.join(root.manifest.op_types)}"
        yield Finding(check=Check.INSTALLED, status=Status.OK, evidence=evidence)
    others = strays(root)
    if others:
        mend = shlex.join(["rm", *(str(root.path / path) for path in others)])
        evidence = f"{where}: {'; '.join(others.values())}"
        yield Finding(check=Check.INSTALLED, status=Status.WARN, evidence=evidence, help=mend)


def _not_whole(candidate: Candidate, status: Status, evidence: str) -> Finding:
    mend = None if candidate.installed is None else _installed_again(candidate.installed)
    hint = None if mend else candidate.mend
    return Finding(check=Check.INSTALLED, status=status, evidence=evidence, help=mend, hint=hint)


def _installed_again(package: Installed) -> str:
    source = None if package.receipt is None else package.receipt.source
    # A source that is gone can't be installed from.
    if source is None or not os.path.exists(source):  # noqa: PTH110 - Path.exists raises where a folder above is closed
        return f"opkit uninstall {package.package}"
    # An installer runs itself, and opkit runs none.
    return f"{'sh' if source.endswith('.run') else 'opkit install'} {shlex.quote(source)}"


def _deliverable(project: Project | None) -> tuple[list[Finding], list[Path]]:
    if project is None:
        return [], []
    build, anew = built_again(project), built_anew(project)
    try:
        opp_root = OppRoot.read(project.output)
    except OpkitError as error:
        return [failed(Check.DELIVERABLE, error, help=build)], []
    if opp_root is None:
        return [Finding(check=Check.DELIVERABLE, status=Status.WARN, evidence=f"{project.root} isn't built", help=build)], []
    manifest = opp_root.manifest
    violations = manifest.violations(opp_root.path)
    if violations:
        return [Finding(check=Check.DELIVERABLE, status=Status.FAIL, evidence="; ".join(violations), help=anew)], []
    built = manifest.built_against
    evidence = f"{opp_root.path}: {', '.join(manifest.op_types)}, built against {built.label}, {manifest.target.arch}"
    findings = [Finding(check=Check.DELIVERABLE, status=Status.OK, evidence=evidence)]
    headers = [str(file.path) for file in manifest.files if file.path.parent == include_folder()]
    if headers:
        findings.append(Finding(check=Check.HEADER, status=Status.OK, evidence=f"{', '.join(headers)} in place"))
    else:
        evidence = f"no proto header in {opp_root.path / include_folder()}"
        findings.append(Finding(check=Check.HEADER, status=Status.FAIL, evidence=evidence, help=anew))
    return findings, [opp_root.path]
