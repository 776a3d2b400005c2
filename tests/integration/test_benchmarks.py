"""`python -m benchmarks`: a measurement that is quick anywhere, as JSON and as a table; its figures are never held to a limit here."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from command_support import ROOT


def benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_json_holds_one_row_for_each_ratio() -> None:
    done = benchmarks("help", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["what"] == "opkit --help"
    assert row["against"].startswith("import click ")
    assert row["ratio"] > 0
    assert row["budget"] == "at most 1.5"
    assert row["met"] in {True, False}


@pytest.mark.slow
def test_people_get_a_table() -> None:
    done = benchmarks("help")
    head, row = done.stdout.splitlines()
    assert head.split() == ["what", "ours", "against", "ratio", "budget"]
    assert row.startswith("opkit --help ")


def test_an_unknown_measurement_is_refused() -> None:
    done = benchmarks("speed")
    assert done.returncode == 2
    assert "no measurement speed" in done.stderr
