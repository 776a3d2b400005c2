"""What is known of this machine where packages are installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from archive_support import opp_root

from opkit.deliverable import Manifest, Target
from opkit.errors import ToolkitError
from opkit.run import this_machine_for
from opkit.toolkit import host_arch, process_environment


def _manifest(folder: Path, *, npu_arch: str | None) -> Manifest:
    target = Target(os="linux", arch=host_arch(), npu_arch=npu_arch)
    return opp_root(folder, target=target).manifest


def test_the_toolkit_that_is_named_is_the_one_that_packages_meet(tmp_path: Path, make_toolkit: Callable[..., Path]) -> None:
    home, other = make_toolkit(tmp_path / "cann", version="9.3.1"), make_toolkit(tmp_path / "other")
    machine = this_machine_for([], {"ASCEND_HOME_PATH": str(home)})
    assert (machine.toolkit, machine.libraries, machine.arch) == ("9.3.1", home / "lib64", host_arch())
    assert this_machine_for([], {"ASCEND_HOME_PATH": str(home)}, option=str(other)).libraries == other / "lib64"


def test_packages_are_installed_without_a_toolkit_unless_one_is_asked_for(tmp_path: Path) -> None:
    machine = this_machine_for([], {"ASCEND_HOME_PATH": str(tmp_path / "gone")})
    assert (machine.toolkit, machine.libraries, machine.npu_arch) == (None, None, None)
    with pytest.raises(ToolkitError, match="gone is no CANN toolkit"):
        this_machine_for([], {}, option=str(tmp_path / "gone"))


def test_a_device_is_asked_only_for_kernels_that_are_compiled_for_one(tmp_path: Path, toolkit_home: Path) -> None:
    environ = {**process_environment(), "ASCEND_HOME_PATH": str(toolkit_home)}
    sources, kernels = _manifest(tmp_path / "sources", npu_arch=None), _manifest(tmp_path / "kernels", npu_arch="dav-2201")
    assert this_machine_for([sources], environ).npu_arch is None
    assert (this_machine_for([sources, kernels], environ).npu_arch or "").startswith("dav-")
