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
from opkit.spec import DTYPES, AttrType

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
        AttrItem(name="to", type="type", value="int64"),
        AttrItem(name="axes", type="list_int", value=(0, -1)),
        AttrItem(name="texts", type="list_str", value=("a b", "")),
        AttrItem(name="parts", type="list_list_int", value=((1, 2), (), (3,))),
        AttrItem(name="no", type="list_bool", value=()),
        AttrItem(name="raw", type="bytes", value=b"\0\xff"),
        AttrItem(name="table", type="tensor", value=()),
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
        "attr to type 9\n"
        "attr axes list_int 2 0 -1\n"
        "attr texts list_str 2 a%20b \n"
        "attr parts list_list_int 3 2 1 2 0 1 3\n"
        "attr no list_bool 0\n"
        "attr raw bytes 2 0 255\n"
        "attr table tensor\n"
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


ATTR_VALUES = {
    AttrType.INT: st.integers(-(2**63), 2**63 - 1),
    AttrType.FLOAT: st.floats(allow_nan=False),
    AttrType.BOOL: st.booleans(),
    AttrType.STR: st.text(st.characters(codec="utf-8")),
    AttrType.TYPE: st.sampled_from(sorted(DTYPES)),
    AttrType.BYTES: st.binary(),
    AttrType.TENSOR: st.just(()),
}


def values_of(kind: AttrType) -> st.SearchStrategy[object]:
    return ATTR_VALUES[kind] if kind.element is None else st.lists(values_of(kind.element), max_size=4).map(tuple)


@pytest.mark.parametrize("kind", AttrType, ids=lambda kind: kind.value)
@given(st.data())
def test_a_value_of_each_type_survives_its_text(tmp_path_factory: pytest.TempPathFactory, kind: AttrType, data: st.DataObject) -> None:
    item = AttrItem(name="a", type=kind.value, value=data.draw(values_of(kind)))  # type: ignore[arg-type] # of this kind
    folder = CaseWriter(tmp_path_factory.mktemp("case")).write("c", Case(op="A", inputs=(), attrs=(item,)))
    assert read_case(folder).attrs == (item,)


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


def test_the_tensors_of_a_list_are_lines_that_follow_each_other(tmp_path: Path) -> None:
    case = Case(
        op="SpreadList",
        inputs=tuple(TensorItem(port="x", dtype="float32", array=array) for array in (X, X + 1)),
        counts={"parts": 3},
        outputs=(OutputItem(port="parts", dtype="float32", array=X, tolerance=TIGHT),),
    )
    folder = CaseWriter(tmp_path).write("lists", case)
    assert (folder / "case.txt").read_text() == (
        "op SpreadList\n"
        "input x float32 2,3 in0.npy\n"
        "input x float32 2,3 in1.npy\n"
        "count parts 3\n"
        "output parts float32 2,3 out0.npy 1e-05 1e-08\n"
    )
