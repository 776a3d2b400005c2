"""Running what was built: activated environments, the session program in a child process, and what a benchmark's figures mean.

Names load on first use: `opkit env` and `opkit run` need the activation alone, and NumPy would cost them more than all the rest.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opkit.run.arrays import Array, Tolerance, random_input, tolerance_of
    from opkit.run.benchmark import BenchRequest, measure, plan_of
    from opkit.run.breakdown import Source, TimedRuns, attribute
    from opkit.run.case import AttrItem, AttrValue, Case, CaseWriter, OutputItem, TensorItem, read_case
    from opkit.run.environment import activate, prepended
    from opkit.run.expectation import ExpectationError, build_case, make_inputs, reference_of
    from opkit.run.machine import Host, Machine, machine_of
    from opkit.run.records import TaskRecord, read_records
    from opkit.run.report import BenchReport, check_json, check_lines
    from opkit.run.session import Check, Listener, Mismatch, SessionCase, SessionReport, SessionRequest, run_session
    from opkit.run.statistics import Speedup, speedup_of
    from opkit.run.table import render_table

_MODULES = {
    "arrays": ("Array", "Tolerance", "random_input", "tolerance_of"),
    "benchmark": ("BenchRequest", "measure", "plan_of"),
    "breakdown": ("Source", "TimedRuns", "attribute"),
    "case": ("AttrItem", "AttrValue", "Case", "CaseWriter", "OutputItem", "TensorItem", "read_case"),
    "environment": ("activate", "prepended"),
    "expectation": ("ExpectationError", "build_case", "make_inputs", "reference_of"),
    "machine": ("Host", "Machine", "machine_of"),
    "records": ("TaskRecord", "read_records"),
    "report": ("BenchReport", "check_json", "check_lines"),
    "session": ("Check", "Listener", "Mismatch", "SessionCase", "SessionReport", "SessionRequest", "run_session"),
    "statistics": ("Speedup", "speedup_of"),
    "table": ("render_table",),
}

__all__ = [
    "Array",
    "AttrItem",
    "AttrValue",
    "BenchReport",
    "BenchRequest",
    "Case",
    "CaseWriter",
    "Check",
    "ExpectationError",
    "Host",
    "Listener",
    "Machine",
    "Mismatch",
    "OutputItem",
    "SessionCase",
    "SessionReport",
    "SessionRequest",
    "Source",
    "Speedup",
    "TaskRecord",
    "TensorItem",
    "TimedRuns",
    "Tolerance",
    "activate",
    "attribute",
    "build_case",
    "check_json",
    "check_lines",
    "machine_of",
    "make_inputs",
    "measure",
    "plan_of",
    "prepended",
    "random_input",
    "read_case",
    "read_records",
    "reference_of",
    "render_table",
    "run_session",
    "speedup_of",
    "tolerance_of",
]


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"opkit.run.{module}"), name)
    msg = f"module 'opkit.run' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
