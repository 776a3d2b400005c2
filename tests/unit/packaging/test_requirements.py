"""What a package needs of a machine: each need with what was found, all at once, and doubts as warnings."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_support import opp_root

from opkit.deliverable import Requires, Target
from opkit.errors import IncompatibleError
from opkit.packaging import require_met, this_machine
from opkit.packaging.requirements import ThisMachine, numbers_of
from opkit.toolkit import Toolkit, host_arch

_HERE = ThisMachine(os="linux", arch="x86_64", glibc="2.36", toolkit="9.2.0", npu_arch="dav-2201")


def _warnings(
    folder: Path,
    machine: ThisMachine = _HERE,
    *,
    kind: str = "cann",
    target: Target | None = None,
    glibc: str | None = None,
    toolkit: str | None = None,
) -> list[str]:
    requires = Requires(toolkit=toolkit, glibc=glibc)
    root = opp_root(folder, kind=kind, target=target or Target(os="linux", arch="x86_64"), requires=requires)
    return [each.message for each in require_met(root.manifest, machine)]


@pytest.mark.parametrize(
    ("glibc", "toolkit"), [("2.36", "9.2"), ("2.4", "9.2.0"), ("2", "8.5"), ("2.36.0", "9.1.9")], ids=["same", "older", "major", "zeros"]
)
def test_a_package_that_this_machine_can_serve_has_no_warning(glibc: str, toolkit: str, tmp_path: Path) -> None:
    assert _warnings(tmp_path, glibc=glibc, toolkit=toolkit) == []


@pytest.mark.case("G3")
def test_a_newer_glibc_than_this_machine_s_is_refused_with_both(tmp_path: Path) -> None:
    with pytest.raises(IncompatibleError, match=r"add 0\.1\.0 needs glibc 9\.99 or newer") as caught:
        _warnings(tmp_path, glibc="9.99")
    assert caught.value.because == "this computer has glibc 2.36"
    assert caught.value.exit_code == 3
    with pytest.raises(IncompatibleError) as caught:
        _warnings(tmp_path, _HERE._replace(glibc=None), glibc="2.2")
    assert caught.value.because == "this computer has no glibc"


@pytest.mark.case("G10")
def test_kernels_for_another_chip_are_refused_with_both(tmp_path: Path) -> None:
    target = Target(os="linux", arch="x86_64", npu_arch="dav-3510")
    with pytest.raises(IncompatibleError, match=r"kernels of add 0\.1\.0 are compiled for dav-3510") as caught:
        _warnings(tmp_path, target=target)
    assert caught.value.because == "the device here is dav-2201"
    assert _warnings(tmp_path, _HERE._replace(npu_arch=None), target=target) == [], "without a device nothing is known"


def test_kernels_for_another_device_than_the_simulator_stands_for_are_a_warning(tmp_path: Path, toolkit: Toolkit) -> None:
    """Whose computer has no device may fill the prefix of those that do."""
    target = Target(os="linux", arch="x86_64", npu_arch="dav-3510")
    manifest = opp_root(tmp_path, kind="cann", target=target).manifest
    (warning,) = require_met(manifest, _HERE._replace(is_simulated=True))
    assert warning.because == "no device is here, and the simulator stands for dav-2201"
    assert warning.help == "take the package for dav-2201, or build it for that: opkit build --npu-arch dav-2201"
    assert this_machine(toolkit).is_simulated
    assert not this_machine(None).is_simulated


def test_all_that_is_in_the_way_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(IncompatibleError, match="is for linux aarch64") as caught:
        _warnings(tmp_path, target=Target(os="linux", arch="aarch64", npu_arch="dav-3510"), glibc="9.99")
    because = caught.value.because or ""
    assert because.startswith("this computer is linux x86_64; ")
    assert "needs glibc 9.99 or newer: this computer has glibc 2.36" in because
    assert "the device here is dav-2201" in because


def test_an_older_toolkit_and_a_simulator_s_library_are_warnings(tmp_path: Path) -> None:
    assert _warnings(tmp_path, kind="simulator", toolkit="9.10") == [
        "add 0.1.0 needs toolkit 9.10 or newer",
        "add 0.1.0+sim was built against the host simulator",
    ]
    assert _warnings(tmp_path, _HERE._replace(toolkit="unknown"), toolkit="9.10") == []
    assert _warnings(tmp_path, _HERE._replace(toolkit=None), toolkit="9.10") == []


def test_this_machine_is_what_python_and_the_c_library_say(toolkit: Toolkit) -> None:
    machine = this_machine(toolkit, npu_arch="dav-2201")
    assert (machine.os, machine.arch, machine.toolkit, machine.npu_arch) == ("linux", host_arch(), "9.2.0", "dav-2201")
    assert machine.glibc is None or machine.glibc.startswith("2.")


def test_an_older_libstdcxx_is_a_warning_and_so_is_a_library_that_nobody_has(tmp_path: Path) -> None:
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64/libge.so").write_text("")
    machine = _HERE._replace(glibcxx="3.4.9", libraries=tmp_path / "lib64")
    libraries = ("libge.so", "libstdc++.so.6", "libm.so.6", "libjpeg.so.8", "libcust_opapi.so", "libz.so.1")
    requires = Requires(glibcxx="3.4.29", libraries=libraries)
    root = opp_root(tmp_path / "output", kind="cann", target=Target(os="linux", arch="x86_64"), requires=requires)
    told = require_met(root.manifest, machine)
    assert [each.message for each in told] == ["add 0.1.0 needs GLIBCXX 3.4.29 or newer", "add 0.1.0 needs libjpeg.so.8, libz.so.1"]
    assert told[0].because == "the libstdc++ that is found here has GLIBCXX 3.4.9"
    assert str(tmp_path / "lib64") in told[1].because
    assert require_met(root.manifest, machine._replace(glibcxx="3.4.30", libraries=None)) == []
    assert require_met(root.manifest, machine._replace(glibcxx=None, libraries=None)) == []


def test_the_libstdcxx_of_this_machine_is_the_one_that_is_loaded() -> None:
    glibcxx = this_machine(None).glibcxx
    assert glibcxx is None or numbers_of(glibcxx) >= (3, 4, 19)
