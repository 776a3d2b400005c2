"""What a finished build tells: people in a line, programs in a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opkit.cli.common import warnings_of
from opkit.console import console

if TYPE_CHECKING:
    from opkit.build import Built
    from opkit.toolkit import Toolkit

__all__ = ["as_document", "report", "summary"]


def report(built: Built) -> None:
    console.step("Finished", f"{built.package}: {summary(built.steps, built.seconds)}")


def summary(steps: Sequence[str], seconds: float) -> str:
    return f"{', '.join(steps) if steps else 'up to date'} ({seconds:.2f} s)"


def as_document(built: Built, toolkit: Toolkit) -> dict[str, object]:
    return {
        "package": built.package,
        "ops": list(built.ops),
        "opp_root": str(built.project.output),
        "program": str(built.program),
        "toolkit": {"home": str(toolkit.home), "kind": toolkit.kind.value, "version": toolkit.version},
        "steps": list(built.steps),
        "reasons": list(built.reasons),
        "seconds": round(built.seconds, 3),
        "warnings": warnings_of(built),
    }
