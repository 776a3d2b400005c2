"""`opkit inspect`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from opkit.cli.common import load_spec, output_options, project_options
from opkit.console import console

if TYPE_CHECKING:
    from opkit.build import Project

__all__ = ["command"]


@click.command("inspect")
@project_options
@output_options
def command(project: Project) -> None:
    """Show the spec of PROJECT (default: the current folder) as opkit understands it: every op with its ports, dtypes, shapes, attrs
    and the arguments of its kernel.

    The document of --json keeps to docs/reference/spec.schema.json; its number `schema` counts up if that changes its meaning.
    """
    from opkit.spec.describe import to_json

    document = to_json(load_spec(project))
    console.data("\n".join(_package_lines(document)))
    console.document(document)


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
