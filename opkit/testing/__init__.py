"""Golden tests: which cases prove an op, and the running of all of them against the spec's reference."""

from __future__ import annotations

from opkit.testing.generate import Plan, plans_of
from opkit.testing.report import GoldenReport
from opkit.testing.runner import CaseResult, count_cases, run_tests
from opkit.testing.small_block import small_block_of

__all__ = ["CaseResult", "GoldenReport", "Plan", "count_cases", "plans_of", "run_tests", "small_block_of"]
