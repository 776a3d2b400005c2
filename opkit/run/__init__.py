"""Running what was built: activated environments, the session program in a child process, and what a benchmark's figures mean.

Names load on first use: `opkit env` and `opkit run` need the activation alone, and NumPy would cost them more than all the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opkit.run.benchmark import BenchRequest, measure, plan_of
    from opkit.run.case import AttrValue, Case, CaseWriter
    from opkit.run.doctor import Finding, Status, activated, examine, with_helps
    from opkit.run.doctor_explain import explain
    from opkit.run.doctor_report import report_of
    from opkit.run.emulation import launcher_for
    from opkit.run.environment import CHANGED, HOME, LIBRARIES, activate, alone
    from opkit.run.expectation import ExpectationError, build_case, make_inputs, reference_of, shape_shown, why_not_run
    from opkit.run.installed import Candidate, Sources, candidates, find_installed, mend_of, wheels_of
    from opkit.run.inventory import Dropped, Entry, dropped_ops, dropped_ops_of, take_inventory
    from opkit.run.kernel_errors import compile_error_of, dtypes_shown
    from opkit.run.machine import Host, Machine, machine_of, soc_for, this_machine_for
    from opkit.run.report import BenchReport, check_json, check_lines
    from opkit.run.session import Check, Listener, SessionCase, SessionRequest, is_told, run_session
    from opkit.run.shell import lines_for
    from opkit.run.table import render_table

_MODULES = {
    "benchmark": ("BenchRequest", "measure", "plan_of"),
    "case": ("AttrValue", "Case", "CaseWriter"),
    "doctor": ("Finding", "Status", "activated", "examine", "with_helps"),
    "doctor_explain": ("explain",),
    "doctor_report": ("report_of",),
    "emulation": ("launcher_for",),
    "environment": ("CHANGED", "HOME", "LIBRARIES", "activate", "alone"),
    "expectation": ("ExpectationError", "build_case", "make_inputs", "reference_of", "shape_shown", "why_not_run"),
    "installed": ("Candidate", "Sources", "candidates", "find_installed", "mend_of", "wheels_of"),
    "inventory": ("Dropped", "Entry", "dropped_ops", "dropped_ops_of", "take_inventory"),
    "kernel_errors": ("compile_error_of", "dtypes_shown"),
    "machine": ("Host", "Machine", "machine_of", "soc_for", "this_machine_for"),
    "report": ("BenchReport", "check_json", "check_lines"),
    "session": ("Check", "Listener", "SessionCase", "SessionRequest", "is_told", "run_session"),
    "shell": ("lines_for",),
    "table": ("render_table",),
}

__all__ = [
    "CHANGED",
    "HOME",
    "LIBRARIES",
    "AttrValue",
    "BenchReport",
    "BenchRequest",
    "Candidate",
    "Case",
    "CaseWriter",
    "Check",
    "Dropped",
    "Entry",
    "ExpectationError",
    "Finding",
    "Host",
    "Listener",
    "Machine",
    "SessionCase",
    "SessionRequest",
    "Sources",
    "Status",
    "activate",
    "activated",
    "alone",
    "build_case",
    "candidates",
    "check_json",
    "check_lines",
    "compile_error_of",
    "dropped_ops",
    "dropped_ops_of",
    "dtypes_shown",
    "examine",
    "explain",
    "find_installed",
    "is_told",
    "launcher_for",
    "lines_for",
    "machine_of",
    "make_inputs",
    "measure",
    "mend_of",
    "plan_of",
    "reference_of",
    "render_table",
    "report_of",
    "run_session",
    "shape_shown",
    "soc_for",
    "take_inventory",
    "this_machine_for",
    "wheels_of",
    "why_not_run",
    "with_helps",
]


if not TYPE_CHECKING:  # a type checker would take any name for known

    def __getattr__(name: str) -> object:
        from opkit.lazy import load

        return load(name, __name__, _MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)
