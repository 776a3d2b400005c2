"""What would stop a build or a run on this computer, found by looking: opkit, toolkit, tools, the deliverable, and where GE looks for ops.

Files are read; a child process starts only to compile, and to load what GE would load.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import attrs

from opkit.deliverable import OppRoot, include_folder
from opkit.errors import OpkitError
from opkit.lookup import lookup
from opkit.run.doctor_findings import Check, Finding, Status, failed, with_helps
from opkit.run.doctor_machine import commands, device, distribution, examined_toolkit, folders, tools
from opkit.run.doctor_path import library_path, load_all, loading, origins, path_list, shadowed, vendors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from opkit.build import Project
    from opkit.run.inventory import Entry

__all__ = ["Check", "Finding", "Status", "activated", "examine", "with_helps"]


def examine(environ: Mapping[str, str], *, project: Project | None, option: str | None = None) -> list[Finding]:
    """`option` is the value of --toolkit; without a project the computer is examined, and what is installed on it."""
    findings = [*distribution(), *commands(environ)]
    toolkit, about_toolkit = examined_toolkit(environ, option)
    findings += [*about_toolkit, *tools(environ), *folders(environ, project, toolkit)]
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
        findings.append(device(toolkit, environ))
    return findings


def activated(environ: Mapping[str, str], project: Project | None) -> list[Path]:
    """The OPP roots that `opkit run` and `opkit env` put before what the variable names, those that are whole."""
    return _installed(environ)[1] if project is None else _deliverable(project)[1]


def _installed(environ: Mapping[str, str]) -> tuple[list[Finding], list[Path]]:
    """In the order of their names, in which they are activated; of two with one name the prefix's."""
    from opkit.packaging import default_prefix
    from opkit.run.inventory import take_inventory

    findings: list[Finding] = []
    roots: dict[str, Path] = {}
    try:
        entries = take_inventory(default_prefix(environ), {})
    except OpkitError as error:
        return [failed(Check.INSTALLED, error)], []
    for entry in entries:
        where = f"{entry.package} in {'a wheel' if entry.is_wheel else 'the prefix'}, {entry.path}"
        mend = _installed_again(entry)
        if entry.problems or entry.manifest is None:
            evidence = f"{where}: {'; '.join(entry.problems) or 'it has no manifest'}"
            findings.append(Finding(check=Check.INSTALLED, status=Status.FAIL, evidence=evidence, help=mend))
        elif entry.package in roots:
            evidence = f"{where} is hidden by {roots[entry.package]}"
            findings.append(Finding(check=Check.INSTALLED, status=Status.WARN, evidence=evidence, help=f"opkit uninstall {entry.package}"))
        else:
            roots[entry.package] = entry.path
            evidence = f"{where}: {entry.manifest.version}, {', '.join(entry.manifest.op_types)}"
            findings.append(Finding(check=Check.INSTALLED, status=Status.OK, evidence=evidence))
    return findings, list(roots.values())


def _installed_again(entry: Entry) -> str:
    if entry.is_wheel:
        # Its name alone is whatever an index has under it.
        return "pip install --force-reinstall --no-deps FILE, the wheel that it came from"
    if entry.source is None:
        return f"opkit uninstall {entry.package}"
    # An installer runs itself, and opkit runs none.
    program = "sh" if entry.source.endswith(".run") else "opkit install"
    return f"{program} {shlex.quote(entry.source)}"


def _deliverable(project: Project | None) -> tuple[list[Finding], list[Path]]:
    if project is None:
        return [], []
    build = f"opkit build {shlex.quote(str(project.root))}"
    try:
        opp_root = OppRoot.read(project.output)
    except OpkitError as error:
        return [attrs.evolve(failed(Check.DELIVERABLE, error), help=build)], []
    if opp_root is None:
        return [Finding(check=Check.DELIVERABLE, status=Status.WARN, evidence=f"{project.root} isn't built", help=build)], []
    manifest = opp_root.manifest
    violations = manifest.violations(opp_root.path)
    if violations:
        return [Finding(check=Check.DELIVERABLE, status=Status.FAIL, evidence="; ".join(violations), help=f"{build} --force")], []
    built = manifest.built_against
    evidence = f"{opp_root.path}: {', '.join(manifest.op_types)}, built against {built.kind} {built.version}, {manifest.target.arch}"
    findings = [Finding(check=Check.DELIVERABLE, status=Status.OK, evidence=evidence)]
    headers = [str(file.path) for file in manifest.files if file.path.parent == include_folder()]
    if headers:
        findings.append(Finding(check=Check.HEADER, status=Status.OK, evidence=f"{', '.join(headers)} in place"))
    else:
        evidence = f"no proto header in {opp_root.path / include_folder()}"
        findings.append(Finding(check=Check.HEADER, status=Status.FAIL, evidence=evidence, help=f"{build} --force"))
    return findings, [opp_root.path]
