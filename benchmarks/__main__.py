"""`python -m benchmarks [NAME …] [--json]`: runs the named measurements, or all, and prints a table of ratios."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from benchmarks import add, device, tool, workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.row import Row

MEASUREMENTS: dict[str, Callable[[], Iterator[Row]]] = {
    "add": add.add,
    "copy": device.copy,
    "small": add.small_adds,
    "warm-build": tool.warm_build,
    "cold-build": tool.cold_build,
    "workspace": workspace.warm,
    "launcher": workspace.cold,
    "help": tool.help_page,
    "doctor": tool.doctor,
    "rtc": device.rtc,
    "rendering": tool.rendering,
    "install": tool.installing,
    "pip-install": tool.pip_install,
}

HEAD = ("what", "ours", "against", "ratio", "budget", "")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="The design's budgets, each as a ratio in one run.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(MEASUREMENTS)}; all if none is given")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in MEASUREMENTS]
    if unknown:
        parser.error(f"no measurement {unknown[0]}")
    rows: list[Row] = []
    for name in options.names or MEASUREMENTS:
        print(f"measuring {name} …", file=sys.stderr)
        rows += MEASUREMENTS[name]()
    print(as_json(rows) if options.json else as_table(rows))
    return 0


def as_json(rows: Sequence[Row]) -> str:
    documents = [
        {"what": row.what, "ours": row.ours, "against": row.peer, "ratio": round(row.ratio, 4), "budget": row.budget, "met": row.is_met}
        for row in rows
    ]
    return json.dumps({"schema": 1, "rows": documents}, indent=2)


def as_table(rows: Sequence[Row]) -> str:
    verdicts = {None: "", True: "met", False: "MISSED"}
    lines = [HEAD, *((row.what, row.ours, row.peer, f"{row.ratio:.3g}", row.budget, verdicts[row.is_met]) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
