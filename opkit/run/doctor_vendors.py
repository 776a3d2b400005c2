"""What `doctor` finds out about operators of CANN's own kind: the toolkit's folder of them, their versions, and the list of vendors."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from opkit.files import LARGEST_SETTINGS, content_of
from opkit.layout import BUILT_IN_VARIABLE
from opkit.lookup import Origin, State, is_folder, is_there, vendors_meant
from opkit.run.doctor_findings import Check, Finding, Status, exported

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from opkit.lookup import Lookup
    from opkit.toolkit import Toolkit

__all__ = ["vendors"]

# Of a vendor: GE trims a name and splits the list at commas, and what begins with a dot is nobody's; echo has its own mind about a \.
_NAME = re.compile(r"[^\s.,=\\]([^,=\\\n]*[^\s,=\\])?")


def vendors(found: Lookup, environ: Mapping[str, str], toolkit: Toolkit) -> Iterator[Finding]:
    """CANN's operators of its own kind. The simulator has none, and nobody misses them there unless the variable says so."""
    opp = found.opp
    named = environ.get(BUILT_IN_VARIABLE)
    if opp is None or (toolkit.is_simulator and not named):
        return
    where = f"{BUILT_IN_VARIABLE}={named}" if named else f"{BUILT_IN_VARIABLE} is not set, GE takes {opp}"
    if not is_folder(opp):
        evidence = f"{where}, which {'is no folder' if is_there(opp) else 'does not exist'}: no built-in operator is found"
        yield _misplaced(Check.OPP, evidence, toolkit)
        return
    yield Finding(check=Check.OPP, status=Status.OK, evidence=where)
    for place in found.prototypes:
        if place.state is State.REFUSED:
            evidence = f"GE skips {place.path.parent} without an error: {place.culprit}"
            hint = f"install the release of {place.name} that belongs to {toolkit.label}"
            yield Finding(check=Check.OPP_VERSION, status=Status.WARN, evidence=evidence, hint=hint)
    if found.config is None:
        return
    if found.is_old_layout:
        evidence = f"{found.config} isn't read: {opp} has no built-in folder, so GE takes it for the layout before config.ini"
        yield _misplaced(Check.VENDORS, evidence, toolkit)
        return
    yield from _config(found, found.config)


def _misplaced(check: Check, evidence: str, toolkit: Toolkit) -> Finding:
    """For a folder of operators that is none: the toolkit's own is taken, if there is one."""
    own = toolkit.home / "opp"
    if toolkit.is_simulator or is_folder(own / "built-in"):
        mend = exported(BUILT_IN_VARIABLE, "" if toolkit.is_simulator else str(own))
        return Finding(check=check, status=Status.WARN, evidence=evidence, help=mend)
    hint = f"install CANN's package of operators, and name its folder, the one that holds built-in, with {BUILT_IN_VARIABLE}"
    return Finding(check=check, status=Status.WARN, evidence=evidence, hint=hint)


def _config(found: Lookup, config: Path) -> Iterator[Finding]:
    assert found.vendors is not None, "it was read"  # noqa: S101 - tells the type checker
    names, faults = found.vendors.names, list(found.vendors.faults)
    try:
        there = sorted(folder.name for folder in config.parent.iterdir() if is_folder(folder) and folder != config)
    except PermissionError:
        there = None
    gone = [
        place.name
        for place in found.prototypes
        if place.origin is Origin.VENDOR and place.name and there is not None and place.name not in there
    ]
    if gone:
        faults.append(f"{config.parent} has no {', '.join(dict.fromkeys(gone))}")
    read = "GE reads no vendor" if names is None else f"GE reads {', '.join(name or '(blank)' for name in names)}"
    if not faults:
        yield Finding(check=Check.VENDORS, status=Status.OK, evidence=f"{config}: {read}")
        return
    status = Status.FAIL if names is None else Status.WARN
    evidence = f"{config}: {'; '.join(faults)}; {read}"
    yield Finding(check=Check.VENDORS, status=status, evidence=evidence, help=_written_anew(config, there))


def _written_anew(config: Path, there: list[str] | None) -> str:
    """opkit never writes the list: whose vendors these are isn't its business."""
    file = shlex.quote(str(config))
    content, away = b"", ""
    try:
        content = content_of(config, most=LARGEST_SETTINGS)
    except PermissionError:
        there = None
    except OSError:  # No file that GE could read either.
        away = f"sudo mv {file} {shlex.quote(f'{config}.old')}"
    if there is None:
        return f"sudo chmod a+rX {shlex.quote(str(config.parent))} {file}"
    there = [name for name in there if _NAME.fullmatch(name)]
    kept = [name for name in vendors_meant(content) if name in there] or there
    if not kept:  # Without any vendor, GE misses no list.
        return away or f"sudo rm {file}"
    line = f"load_priority={','.join(kept)}"
    return f"{away}{' && ' if away else ''}echo {shlex.quote(line)} | sudo tee {file}"
