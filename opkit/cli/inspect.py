"""`opkit inspect`: a spec, or what was made of one."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from opkit.build import Project
from opkit.cli.common import load_spec
from opkit.cli.options import output_options, prefix_option, python_option
from opkit.cli.targets import find_installed_targets
from opkit.console import console
from opkit.deliverable import LIBRARY
from opkit.errors import DeliverableError, NotAProjectError, OpkitError, UsageError
from opkit.files import guard_reading, plain_file
from opkit.toolkit import process_environment

if TYPE_CHECKING:
    from opkit.cli.targets import Targets
    from opkit.deliverable import Manifest
    from opkit.deliverable.inspection import Inspection, RegisteredOp
    from opkit.packaging import Installed
    from opkit.run import Candidate

__all__ = ["command"]

_WHAT = "name a project, an OPP root, a library, an archive, a wheel, a prefix or an installed package"
_ELF = b"\x7fELF"


@click.command("inspect")
@click.argument("target", required=False, type=click.Path())
@prefix_option
@python_option
@output_options
def command(target: str | None, prefix: str | None, python: str | None) -> int:
    """Show what TARGET (default: the current folder) is. Of a project, its spec as opkit understands it: every op with its ports, dtypes,
    shapes, attrs and the arguments of its kernel.

    Of an op library (.so), an OPP root, an archive, a wheel or the name of an installed package (with --prefix or
    --python, one that is installed there): which ops it registers, what it needs of a machine, and what it is for. Of a prefix, and with
    --python without a name, that of each package; one that is broken is told, and the exit is 4.

    Of a project, the document of --json keeps to docs/reference/spec.schema.json; its number `schema` counts up if that changes its
    meaning.
    """
    targets = find_installed_targets(target, prefix, process_environment(), python=python, command="inspect")
    if targets.is_all:
        return _show_all(targets)
    inspection = next(map(_of_installed, _installed(targets)), None) or _deliverable(Path(target or "."))
    if inspection is not None:
        _show(inspection)
        console.document(inspection.to_json())
        return 0
    from opkit.spec.describe import to_json

    document = to_json(load_spec(Project.find(target or ".")))
    console.data("\n".join(_package_lines(document)))
    console.document(document)
    return 0


def _show(inspection: Inspection) -> None:
    console.data("\n".join(map(_printable, _deliverable_lines(inspection))))


def _show_all(targets: Targets) -> int:
    """Each that can be shown, and what is wrong with each other. Gives the exit."""
    documents: list[dict[str, Any]] = []
    is_first = is_whole = True
    for package in _installed(targets):
        try:
            inspection = _of_installed(package)
        except OpkitError as error:
            console.error(error)
            documents.append({"name": package.package, "error": error.to_json()})
            is_whole = False
            continue
        if not is_first:
            console.data("")
        is_first = False
        _show(inspection)
        documents.append(inspection.to_json())
    console.document({"packages": documents})
    return 0 if is_whole else DeliverableError.exit_code


def _installed(targets: Targets) -> list[Installed | Candidate]:
    return [*targets.packages, *targets.wheels]


def _of_installed(package: Installed | Candidate) -> Inspection:
    """Raises DeliverableError for one that is broken."""
    from opkit.deliverable.inspection import inspect_opp_root
    from opkit.run import Candidate, mend_of

    if isinstance(package, Candidate):
        if package.root is None:
            msg = f"the package {package.package} is broken"
            raise DeliverableError(msg, because=package.fault, help=package.mend)
        return inspect_opp_root(package.root.path, name=package.package)
    if package.manifest is None:
        msg = f"the package {package.package} in {package.path.parent} is broken"
        raise DeliverableError(msg, because=package.fault, help=mend_of(package))
    return inspect_opp_root(package.path, name=package.package)


def _deliverable(target: Path) -> Inspection | None:
    """None for a project. Raises UsageError for what isn't there, NotAProjectError for a folder that is nothing of all this, and
    UnreadableError.
    """
    from opkit.deliverable import is_opp_root
    from opkit.deliverable.inspection import inspect_library, inspect_opp_root
    from opkit.packaging import nearby, open_archive

    with guard_reading(target):
        try:
            is_project = target.name == "ops.py" or (target / "ops.py").is_file()
            is_file, is_root = target.is_file(), is_opp_root(target)
        except OSError as fault:
            if fault.errno == errno.ENAMETOOLONG:  # Project.find says so.
                return None
            raise
    if is_project:
        return None
    if not (is_file or is_root):
        if not os.path.lexists(target):
            msg = f"{target} doesn't exist"
            raise UsageError(msg, help=nearby(target) or _WHAT)
        msg = f"{target} is nothing that can be inspected"
        raise NotAProjectError(msg, because=f"it has no ops.py, no op_graph and no {LIBRARY}", help=_WHAT)
    if is_root:
        # The name that it was given: an installed package is a link, and what it names is opkit's affair.
        return inspect_opp_root(target, name=target.absolute().name)
    if ".so" in target.suffixes or _begins_as_elf(target):
        return inspect_library(target)
    with open_archive(target) as opp_root:
        return inspect_opp_root(opp_root.path, name=target.name)


def _begins_as_elf(path: Path) -> bool:
    """False for what can't be read: who opens it next says so."""
    try:
        with plain_file(path) as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False


def _deliverable_lines(found: Inspection) -> Iterator[str]:
    manifest = found.manifest
    yield found.name if manifest is None else f"{found.name}: package {manifest.package} {manifest.marked_version}"
    yield ""
    yield f"registers {_counted(len(found.ops), 'op')}"
    yield from _aligned([["", op.type, *_told(op)] for op in found.ops])
    yield "needs"
    yield from _aligned(
        [
            ["", "libraries", " ".join(found.needed) or "none"],
            ["", "glibc", found.highest("glibc") or "none"],
            ["", "libstdc++", ", ".join(_standard_library(found)) or "none"],
            [
                "",
                "toolkit",
                "not said" if manifest is None or manifest.requires.toolkit is None else f"CANN {manifest.requires.toolkit} or newer",
            ],
        ]
    )
    yield "is for"
    yield from _aligned(
        [
            ["", "processor", ", ".join(found.machines) or "none: it holds no library"],
            ["", "string ABI", " and ".join(map(str, found.string_abis)) or "any: no string goes in or out"],
            *(() if manifest is None else _built_for(manifest)),
        ]
    )
    if found.violations:
        yield "differs from its manifest"
        yield from (f"  {violation}" for violation in found.violations)


def _told(op: RegisteredOp) -> Iterator[str]:
    if op.prototype is not None:
        yield op.prototype
    if not op.is_executed:
        yield "described by REG_OP only" if op.is_described else "in the manifest only: no library registers it"
    elif not op.is_described:
        yield "registered for execution only: no REG_OP describes it"


def _standard_library(found: Inspection) -> Iterator[str]:
    for name in ("glibcxx", "cxxabi"):
        version = found.highest(name)
        if version is not None:
            yield f"{name.upper()} {version}"


def _built_for(manifest: Manifest) -> Iterator[list[str]]:
    built, target = manifest.built_against, manifest.target
    mark = ": not for a device" if built.is_simulator else ""
    yield ["", "built against", f"{built.label}, ABI {built.abi}{mark}"]
    yield ["", "NPU", target.npu_arch or "the device's: kernels are compiled on it"]
    yield ["", "SoCs", ", ".join(target.socs) or "not told apart"]


def _printable(line: str) -> str:
    """A library may have been named by anyone, and a terminal takes some letters for orders."""
    return "".join(letter if letter.isprintable() else "?" for letter in line)


def _counted(count: int, word: str) -> str:
    return f"{count or 'no'} {word}{'' if count == 1 else 's'}"


def _package_lines(package: dict[str, Any]) -> Iterator[str]:
    yield f"package {package['package']}, header {package['header']}"
    for op in package["ops"]:
        yield ""
        yield from _op_lines(op)


def _op_lines(op: dict[str, Any]) -> Iterator[str]:
    yield f"{op['type']}   {op['where']['file']}:{op['where']['line']}"
    yield from _aligned(_declared(each) for each in op["signature"])
    ports = [each["name"] for each in op["signature"] if each["kind"] != "attr"]
    if len(op["dtypes"]) > 1:
        yield f"  dtypes, {len(op['dtypes'])} combinations"
        yield from _aligned([["", *dict.fromkeys(ports)], *(["", *combination.values()] for combination in op["dtypes"])])
    for kernel in op["kernels"]:
        yield f"  kernel {kernel['source']}, entry {kernel['expression'] or kernel['entry']}, {kernel['args_bytes']} bytes of arguments"
        yield from _aligned(
            ["", f"{arg['offset']}", f"{arg['type']} {arg['parameter']}", f"= {arg['value']}", f"{arg['bytes']} bytes"]
            for arg in kernel["args"]
        )
        yield f"  blocks {kernel['blocks']}" + (", which may be clamped: the kernel strides over them" if kernel["strides"] else "")
    yield f"  refresh {op['refresh']}, compile {op['compile']}{', portable' if op['portable'] else ''}"
    yield f"  file stem {op['stem']}"
    if not op["reference"]:
        yield "  no reference: opkit test has nothing to compare with"


def _declared(each: dict[str, Any]) -> list[str]:
    if each["kind"] == "attr":
        return ["attr", each["name"], each["type"], "required" if each["required"] else f"= {each['default']!r}"]
    words = [word for word in ("optional", "dynamic", "in_place") if each.get(word)]
    if each["count_attr"] is not None:
        words.append(f"as many as {each['count_attr']}")
    if each.get("dtype_attr") is not None:
        words.append(f"its dtype by {each['dtype_attr']}")
    if each["formats"] != ["ND"]:
        words.append(" ".join(each["formats"]))
    dtypes = (f"{each['symbol']}: " if each["symbol"] else "") + " ".join(each["dtypes"])
    return [each["kind"], each["name"], dtypes, _shape(each["shape"]), ", ".join(words).replace("_", " ")]


def _shape(rule: dict[str, Any] | None) -> str:
    match rule:
        case None:
            return "any shape"
        case {"rule": "pattern", "dims": dims}:
            return f"[{dims}]"
        case {"rule": "broadcast", "ports": ports}:
            return f"broadcast({', '.join(ports)})"
        case {"rule": "upper_bound", "dims": dims, "bounds": bounds}:
            return f"[{dims}], {', '.join(f'{name} at most {bound}' for name, bound in bounds.items())}"
    return f"{rule['function']} in {rule['header']}"


def _aligned(rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> Iterator[str]:
    table = list(rows)
    widths = [max(len(row[column]) for row in table if column < len(row)) for column in range(max(map(len, table), default=0))]
    for row in table:
        yield ("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))).rstrip()
