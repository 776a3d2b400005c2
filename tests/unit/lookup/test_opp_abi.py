"""Which packages of CANN's own kind GE takes, by the version that they and the toolkit say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.lookup import State, lookup
from opkit.lookup.opp_abi import accepted_versions
from opkit.run import Status
from opkit.run.doctor_vendors import vendors
from opkit.toolkit import Kind, Toolkit


def _toolkit(tmp_path: Path, required: str | None, part: str = "compiler") -> Path:
    (tmp_path / "toolkit" / part).mkdir(parents=True)
    text = "Version=9.2.0\n" + ("" if required is None else f"required_opp_abi_version={required}\n")
    (tmp_path / "toolkit" / part / "version.info").write_text(text)
    return tmp_path / "toolkit"


def _vendor(tmp_path: Path, text: str | None, name: str = "acme") -> Path:
    (tmp_path / name).mkdir()
    if text is not None:
        (tmp_path / name / "version.info").write_text(text)
    return tmp_path / name


@pytest.mark.parametrize(
    ("required", "version", "is_taken"),
    [
        ('">=6.3, <=6.4"', "6.3", True),
        ('">=6.3, <=6.4"', "6.4.9", True),
        ('">=6.3, <=6.4"', "6.25", False),  # 6.25 is less than 6.3: the second part counts as its digits do behind a point
        ('">=6.3, <=6.4"', "6.5", False),
        ('">=6.3, <=6.4, 7.0"', "7.0.1", True),
        ('">=6.3, <=6.4, 7.0"', "7.1", False),
        ('">=6.3, <=6.4"', "6.3,6.4", True),
        ('">=6.3, <=6.4"', "6.3,6.5", False),
        ('">=6.3, <=6.4"', "nightly", False),
        ('">=6.3"', "6.3", False),
        ("nonsense", "6.3", False),
        (None, "6.3", True),
    ],
)
@pytest.mark.parametrize("part", ["compiler", "runtime"])
def test_a_version_outside_of_what_the_toolkit_asks_for_is_refused(
    tmp_path: Path, required: str | None, version: str, part: str, *, is_taken: bool
) -> None:
    accepted = accepted_versions(_toolkit(tmp_path, required, part))
    assert (accepted.refusal(_vendor(tmp_path, f"custom_opp_compiler_version={version}\n")) is None) == is_taken


def test_a_package_that_says_no_version_is_taken_and_so_is_one_of_kernels_alone(tmp_path: Path) -> None:
    accepted = accepted_versions(_toolkit(tmp_path, "6.3"))
    assert accepted.refusal(_vendor(tmp_path, None)) is None
    assert accepted.refusal(_vendor(tmp_path, "compiler_version=\n", "empty")) is None
    assert accepted.refusal(_vendor(tmp_path, "compiler_version=1.0\n", "opp_latest")) is None
    assert accepted.refusal(_vendor(tmp_path, "compiler_version=1.0\n", "old")) == "its version is 1.0, and the toolkit takes 6.3"


@given(st.integers(0, 4000), st.integers(0, 99999), st.integers(0, 4000), st.integers(0, 99999))
def test_a_version_is_in_the_range_of_itself_and_ranges_are_those_of_decimal_fractions(
    major: int, minor: int, other: int, least: int
) -> None:
    from opkit.lookup.opp_abi import _number

    first, second = _number(f"{major}.{minor:05}"), _number(f"{other}.{least:05}")
    assert first is not None
    assert second is not None
    assert (first < second) == ((major, minor) < (other, least))


def test_a_refused_vendor_is_told_and_brings_nothing(tmp_path: Path, toolkit: Toolkit) -> None:
    cann = toolkit._replace(kind=Kind.CANN)
    (cann.lib64 / "libgraph_base.so").unlink()
    (cann.home / "compiler").mkdir()
    (cann.home / "compiler/version.info").write_text("required_opp_abi_version=6.3\n")
    for name in ("built-in/op_proto", "vendors/acme/op_proto"):
        (tmp_path / "opp" / name).mkdir(parents=True)
        (tmp_path / "opp" / name / "x.so").write_text("")
    (tmp_path / "opp/vendors/config.ini").write_text("load_priority=acme\n")
    (tmp_path / "opp/vendors/acme/version.info").write_text("custom_opp_compiler_version=7.0\n")
    (tmp_path / "opp/version.info").write_text("Version=6.3.0\n")
    environ = {"ASCEND_OPP_PATH": str(tmp_path / "opp")}
    found = lookup(environ, cann)
    assert [(place.name, place.state, len(place.libraries)) for place in found.prototypes] == [
        ("acme", State.REFUSED, 0),
        ("built-in", State.FOUND, 1),
    ]
    (finding,) = [each for each in vendors(found, environ, cann) if each.id == "opp-version"]
    assert finding.status is Status.WARN
    assert finding.evidence.endswith("vendors/acme without an error: its version is 7.0, and the toolkit takes 6.3")
