"""A run of another processor's program: how it is started, how its report is labelled, and whose failure it is."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cross_support import OTHER, program

from opkit.errors import SessionError
from opkit.run import Host, SessionRequest, machine_of, run_session, soc_for
from opkit.toolkit import Toolkit, host_arch


class _Silent:
    def line(self, text: str) -> None:
        pass

    def error_line(self, text: str) -> None:
        pass


def test_the_program_is_started_by_the_launcher_and_named_in_its_failure(tmp_path: Path) -> None:
    qemu = program(tmp_path / "qemu", '#!/bin/sh\nshift 2\necho "started $1 $2" >&2\nexit 1\n')
    request = SessionRequest(program=tmp_path / "my_ops_session_run", report=tmp_path / "report.json", launcher=(str(qemu), "-L", "/usr"))
    with pytest.raises(SessionError) as caught:
        run_session(request, dict(os.environ), _Silent())
    assert caught.value.message == "my_ops_session_run stopped with exit 1 before it had a result"
    assert caught.value.because == f"started {tmp_path}/my_ops_session_run --json"


def test_the_label_says_that_times_mean_nothing_where_a_processor_is_emulated(toolkit: Toolkit) -> None:
    own = machine_of(Host(toolkit=toolkit, environ={"OPKIT_SIM_THREADS": "1"}), device=None)
    assert own.label.startswith(f"on: host simulator, {host_arch()}, 1 thread: times and ratio are this computer's;")
    other = machine_of(Host(toolkit=toolkit._replace(arch=OTHER), environ={"OPKIT_SIM_THREADS": "1"}), device=None)
    assert other.label == (
        f"on: host simulator, {OTHER} under qemu on {host_arch()}, 1 thread: "
        "times and ratio say nothing about any computer, nor about a device"
    )
    assert other.to_json()["name"] == f"host simulator, {OTHER} under qemu on {host_arch()}"


def test_the_soc_of_a_simulator_for_another_processor_is_that_of_the_bundled_one(toolkit: Toolkit) -> None:
    """Whose libraries this Python can load, as it can't load the others; those of this toolkit are none at all."""
    ops: Any = [SimpleNamespace(soc_rows={"Ascend910B": ()})]
    environ = dict(os.environ)
    assert (soc_for(ops, Host(toolkit=toolkit._replace(arch=OTHER), environ=environ)) or "").startswith("Ascend910B")
    assert soc_for(ops, Host(toolkit=toolkit, environ=environ)) is None
