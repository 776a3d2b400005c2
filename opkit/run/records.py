"""The simulator's task records: what ran on a stream and when, one JSON object a line, written by the runtime when a process ends.

They come from a file that another process wrote, so each line is checked; a line that isn't a record, for instance one that a full disk cut
off, names itself in the error.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["RecordError", "TaskRecord", "read_records"]


class RecordError(ValueError):
    """A file of task records that can't be read: file and line are in the message."""


@attrs.frozen(kw_only=True)
class TaskRecord:
    """One task of a stream. Times are nanoseconds of one monotonic clock; ``run`` counts the executions of a graph from 1, 0 is outside of
    one.
    """

    kind: str
    name: str
    graph_id: int
    run: int
    stream: str
    start_ns: int
    end_ns: int
    bytes: int


def read_records(file: Path) -> tuple[TaskRecord, ...]:
    """Gives the records in the file's order; none for a file that doesn't exist, because a device writes none."""
    if not file.is_file():
        return ()
    with file.open(encoding="utf-8") as lines:
        return tuple(_records(lines, file))


def _records(lines: Iterable[str], file: Path) -> Iterable[TaskRecord]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            yield TaskRecord(
                kind=str(fields["kind"]),
                name=str(fields["name"]),
                graph_id=int(fields["graph_id"]),
                run=int(fields["run"]),
                stream=str(fields["stream"]),
                start_ns=int(fields["start_ns"]),
                end_ns=int(fields["end_ns"]),
                bytes=int(fields["bytes"]),
            )
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            msg = f"{file}:{number}: not a task record: {error}"
            raise RecordError(msg) from error
