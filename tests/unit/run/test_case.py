"""Case folders: the format is a contract with generated C++, so the text itself is pinned, not only the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from case_support import read_case
from hypothesis import given
from hypothesis import strategies as st

from opkit.run.arrays import Tolerance
from opkit.run.case import AttrItem, Case, CaseWriter, OutputItem, TensorItem

if TYPE_CHECKING:
    from pathlib import Path

X = np.arange(6, dtype=np.float32).reshape(2, 3)
TIGHT = Tolerance(rtol=1e-5, atol=1e-8)


def case_of(*attrs: AttrItem, x: np.ndarray = X) -> Case:
    return Case(
        op="AddRefreshOp",
        inputs=(TensorItem(port="x", dtype=str(x.dtype), array=x),),
        attrs=attrs,
        outputs=(OutputItem(port="z", dtype="float32", array=X, tolerance=TIGHT),),
    )


def test_the_text_is_what_the_session_program_reads(tmp_path: Path) -> None:
    attrs = (
        AttrItem(name="alpha", type="float", value=0.1),
        AttrItem(name="axis", type="int", value=-1),
        AttrItem(name="keep", type="bool", value=True),
        AttrItem(name="mode", type="str", value="two words\n"),
        AttrItem(name="none", type="str", value=""),
    )
    folder = CaseWriter(tmp_path).write("first", case_of(*attrs))
    assert folder == tmp_path / "first"
    assert (folder / "case.txt").read_text() == (
        "op AddRefreshOp\n"
        "input x float32 2,3 in0.npy\n"
        "attr alpha float 0.1\n"
        "attr axis int -1\n"
        "attr keep bool true\n"
        "attr mode str two%20words%0A\n"
        "attr none str \n"
        "output z float32 2,3 out0.npy 1e-05 1e-08\n"
    )


@pytest.mark.parametrize(("shape", "text"), [((), "scalar"), ((0,), "0"), ((2, 0, 3), "2,0,3")])
def test_rank_0_and_empty_dims_have_their_own_words(tmp_path: Path, shape: tuple[int, ...], text: str) -> None:
    folder = CaseWriter(tmp_path).write("c", case_of(x=np.zeros(shape, np.int32)))
    assert f"input x int32 {text} in0.npy" in (folder / "case.txt").read_text()


def test_an_exact_tolerance_is_two_zeros(tmp_path: Path) -> None:
    output = OutputItem(port="z", dtype="int32", array=np.zeros(2, np.int32), tolerance=Tolerance(rtol=0.0, atol=0.0))
    folder = CaseWriter(tmp_path).write("c", Case(op="A", inputs=(), outputs=(output,)))
    assert (folder / "case.txt").read_text().splitlines()[1] == "output z int32 2 out0.npy 0 0"


def test_a_case_reads_back_as_it_was(tmp_path: Path) -> None:
    case = case_of(AttrItem(name="a", type="float", value=float("-inf")), AttrItem(name="b", type="str", value="50% ✓, a=b"))
    assert read_case(CaseWriter(tmp_path).write("c", case)) == case


@given(st.text(), st.floats(allow_nan=False), st.integers(-(2**63), 2**63 - 1), st.booleans())
def test_every_attr_value_survives_its_text(
    tmp_path_factory: pytest.TempPathFactory, text: str, real: float, whole: int, flag: bool
) -> None:
    attrs = (
        AttrItem(name="s", type="str", value=text.encode("utf-8", "replace").decode()),
        AttrItem(name="f", type="float", value=real),
        AttrItem(name="i", type="int", value=whole),
        AttrItem(name="b", type="bool", value=flag),
    )
    folder = CaseWriter(tmp_path_factory.mktemp("case")).write("c", Case(op="A", inputs=(), attrs=attrs))
    assert read_case(folder).attrs == attrs


def test_cases_that_share_an_array_share_its_bytes_on_disk(tmp_path: Path) -> None:
    writer = CaseWriter(tmp_path)
    first, second = writer.write("a", case_of()), writer.write("b", case_of())
    assert (first / "in0.npy").samefile(second / "in0.npy")
    assert read_case(first) == read_case(second)
