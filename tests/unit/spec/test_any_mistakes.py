"""A spec with any of many mistakes, alone or together: all of them are told in one go, and no file is touched."""

from __future__ import annotations

import itertools
import json
import shutil
from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opkit.cli import main

if TYPE_CHECKING:
    from pathlib import Path

KERNELS = """\
extern "C" __global__ __aicore__ void first(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR w, GM_ADDR v, int64_t length, float scale) {}
extern "C" __global__ __aicore__ void second(GM_ADDR x, GM_ADDR y, int64_t length) {}
"""
SPEC = """\
from opkit import *

first = Op(
    "FirstCustom",
    inputs=[
        Input("x", "T", shape="n k"),
        Input("y", "T", shape="n k", formats=("ND",)),
        Input("z", "float32", dynamic=True, count_attr="count"),
    ],
    outputs=[
        Output("w", "T", shape="n k"),
        Output("v", "int32", shape="n (k // 2)"),
    ],
    attrs=[
        Attr("count", int),
        Attr("alpha", float, default=0.5),
        Attr("mode", "str", default="plain"),
    ],
    dtypes={"T": ["float32", "float16"]},
    kernel=Kernel(
        "kernels/any.asc",
        entry="first",
        args=["x", "y", address_list("z"), "w", "v", numel("x"), "alpha"],
        blocks=ceil_div(numel("x"), 64),
        strides=True,
        defines={"PLUS": 3},
    ),
    refresh="updater",
    file_stem="first_custom",
)
second = Op(
    "SecondCustom",
    inputs=[Input("x", "int32", shape="...")],
    outputs=[Output("y", "int32", shape="...")],
    kernel=Kernel("kernels/any.asc", entry="second", args=["x", "y", numel("y")], blocks=4),
    reference=lambda x: x,
)
package = Package("any_ops", ops=[first, second], header="any.h", benchmark=Benchmark(second, shapes={"x": (4,)}, iters=3))
"""


@attrs.frozen
class Mistake:
    """A change of SPEC that is a mistake, and the number that tells it. Of two at one `place` only one can be made.

    `needs` are the places without which it can't be seen: it is told when they are mended.
    """

    place: str
    old: str
    new: str
    number: str
    needs: tuple[str, ...] = ()


# What decides whether two combinations are equal.
_PORTS_AND_ATTRS = ("input x", "output w", "output v", "alpha", "mode")
MISTAKES = (
    Mistake("type", '"FirstCustom"', '"first-custom"', "OPK0210"),
    Mistake("type", '"FirstCustom"', '"SecondCustom"', "OPK0212"),
    Mistake("type", '"FirstCustom"', "3", "OPK0208"),
    Mistake("input x", 'Input("x", "T", shape="n k")', 'Input("x", "T", shape="n k", shap="n k")', "OPK0206"),
    Mistake("input x", 'Input("x", "T", shape="n k")', 'Input("x", "T", shape="n k", optional=3)', "OPK0208"),
    Mistake("input x", 'Input("x", "T", shape="n k")', 'Input("x", "T", shape="*n *k")', "OPK0230"),
    Mistake("input x", 'Input("x", "T", shape="n k")', 'Input("x", "T", shape="n-k")', "OPK0230"),
    Mistake("input x", 'Input("x", "T", shape="n k")', 'Input("x", "T9", shape="n k")', "OPK0220"),
    Mistake("input x", 'Input("x", "T", shape="n k")', 'Input("x", "T", shape="n (k + 1)")', "OPK0232"),
    Mistake("formats", 'formats=("ND",)', 'formats=("NHCW",)', "OPK0223"),
    Mistake("count", 'count_attr="count"', 'count_attr="counts"', "OPK0215"),
    Mistake("count", 'count_attr="count"', 'count_attr="mode"', "OPK0215"),
    Mistake("output w", 'Output("w", "T", shape="n k")', 'Output("w", "T")', "OPK0213"),
    Mistake("output w", 'Output("w", "T", shape="n k")', 'Output("w", "T", shape="n m")', "OPK0231", ("input x",)),
    Mistake("output w", 'Output("w", "T", shape="n k")', 'Output("w", "float23", shape="n k")', "OPK0220"),
    Mistake("output w", 'Output("w", "T", shape="n k")', 'Output("w", "T", shape=broadcast("x"))', "OPK0232"),
    Mistake("output w", 'Output("w", "T", shape="n k")', 'Output("w", "T", shape=cpp("ge/none.h", "Infer"))', "OPK0233"),
    Mistake("output v", 'shape="n (k // 2)"', 'shape="n (k / 2)"', "OPK0232"),
    Mistake("output v", 'shape="n (k // 2)"', 'shape="n mode"', "OPK0232", ("mode",)),
    Mistake("output v", '"v", "int32", shape="n (k // 2)"', '"v", ["int32", "int8", "bool"], shape="n"', "OPK0221", ("dtypes",)),
    Mistake("alpha", 'Attr("alpha", float, default=0.5)', 'Attr("alpha", float, default=1e39)', "OPK0241"),
    Mistake("alpha", 'Attr("alpha", float, default=0.5)', 'Attr("alpha", "floats", default=0.5)', "OPK0240"),
    Mistake("alpha", 'Attr("alpha", float, default=0.5)', 'Attr("alpha", float, 0.5)', "OPK0206"),
    Mistake("mode", 'Attr("mode", "str", default="plain")', 'Attr("mode", "str", default=3)', "OPK0241"),
    Mistake("mode", 'Attr("mode", "str", default="plain")', 'Attr("Alpha", "str")', "OPK0212"),
    Mistake("mode", 'Attr("mode", "str", default="plain")', 'Attr("a b", "str")', "OPK0211"),
    Mistake("dtypes", '{"T": ["float32", "float16"]}', '{"T": ["float32", "float16"], "U": ["int8", "int8"]}', "OPK0222"),
    Mistake("dtypes", '{"T": ["float32", "float16"]}', '{"T": ["float32", "float61"]}', "OPK0220"),
    Mistake("dtypes", '{"T": ["float32", "float16"]}', '{"T": ["float32", "float32"]}', "OPK0221", _PORTS_AND_ATTRS),
    Mistake("dtypes", '{"T": ["float32", "float16"]}', '{"T": per_soc({})}', "OPK0224"),
    Mistake("source", '"kernels/any.asc",\n', '"kernels/ani.asc",\n', "OPK0250"),
    Mistake("source", 'entry="first"', 'entry="frist"', "OPK0251"),
    Mistake("args", ', numel("x"), "alpha"]', ', numel("x")]', "OPK0253", ("source",)),
    Mistake("args", ', numel("x"), "alpha"]', ', numel("x"), "beta"]', "OPK0255"),
    Mistake("args", ', numel("x"), "alpha"]', ', numel("x"), numel("y")]', "OPK0254", ("source",)),
    Mistake("args", ', numel("x"), "alpha"]', ', numel("x") / 2, "alpha"]', "OPK0257"),
    Mistake("args", 'address_list("z"), "w"', '"z", "w"', "OPK0264"),
    Mistake("blocks", 'blocks=ceil_div(numel("x"), 64)', "blocks=0", "OPK0258"),
    Mistake("blocks", 'blocks=ceil_div(numel("x"), 64)', 'blocks=numel("z")', "OPK0265"),
    Mistake("blocks", 'blocks=ceil_div(numel("x"), 64)', 'blocks=ceil_div(numel("x"), 0)', "OPK0257"),
    Mistake("defines", '{"PLUS": 3}', '{"A-B": 3}', "OPK0259"),
    Mistake("refresh", 'refresh="updater"', 'refresh="update"', "OPK0270"),
    Mistake("stem", 'file_stem="first_custom"', 'file_stem="First"', "OPK0218"),
    Mistake("type", 'file_stem="first_custom"', 'file_stem="second_custom"', "OPK0218"),
    Mistake("reference", "reference=lambda x: x", "reference=lambda: 0", "OPK0271"),
    Mistake("second", "blocks=4", "blocks=70000", "OPK0258"),
    Mistake("package", '"any_ops"', '"any-ops"', "OPK0209"),
    Mistake("header", '"any.h"', '"any/any.h"', "OPK0214"),
    Mistake("benchmark", '{"x": (4,)}', '{"x": (-4,)}', "OPK0280"),
    Mistake("benchmark", "iters=3", "iters=0", "OPK0280"),
)  # fmt: skip


def _state(root: Path) -> dict[str, tuple[int, bytes]]:
    return {str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes()) for path in root.rglob("*") if path.is_file()}


def _told(root: Path, spec: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The numbers that both commands tell of a spec; they must leave everything as it is."""
    (root / "ops.py").write_text(spec)
    before = _state(root)
    found = []
    for command in ("check", "generate"):
        assert main([command, str(root), "--json"]) == 2
        error = json.loads(capsys.readouterr().out)["error"]
        found.append([each["number"] for each in error.get("errors", [error])])
    assert _state(root) == before
    assert found[0] == found[1]
    return found[0]


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The spec without a mistake, with its files, of which one is the user's."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "any.asc").write_text(KERNELS)
    (tmp_path / "ops.py").write_text(SPEC)
    assert main(["generate", str(tmp_path)]) == 0
    (tmp_path / "notes.txt").write_text("mine\n")
    capsys.readouterr()
    return tmp_path


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: f"{mistake.place}-{mistake.number}")
def test_a_mistake_is_the_only_one_told(project: Path, capsys: pytest.CaptureFixture[str], mistake: Mistake) -> None:
    assert SPEC.count(mistake.old) == 1
    assert _told(project, SPEC.replace(mistake.old, mistake.new), capsys) == [mistake.number]


def _are_independent(chosen: list[Mistake]) -> bool:
    places = {mistake.place for mistake in chosen}
    return all(places.isdisjoint(mistake.needs) for mistake in chosen)


NEIGHBOURS = [
    ("input x", "output w"),
    ("formats", "output w"),
    ("alpha", "output w"),
    ("mode", "output v"),
]


@pytest.mark.parametrize("places", NEIGHBOURS, ids=" and ".join)
def test_a_mistake_hides_none_that_can_be_seen_without_it(
    project: Path, capsys: pytest.CaptureFixture[str], places: tuple[str, str]
) -> None:
    first, second = ([mistake for mistake in MISTAKES if mistake.place == place] for place in places)
    for pair in itertools.product(first, second):
        if _are_independent(list(pair)):
            spec = SPEC.replace(pair[0].old, pair[0].new).replace(pair[1].old, pair[1].new)
            assert sorted(_told(project, spec, capsys)) == sorted(mistake.number for mistake in pair)


@settings(max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chosen=st.lists(
        st.sampled_from(MISTAKES), min_size=2, max_size=4, unique_by=(lambda mistake: mistake.place, lambda mistake: mistake.old)
    ).filter(_are_independent)
)
def test_all_mistakes_are_told_at_once(project: Path, capsys: pytest.CaptureFixture[str], chosen: list[Mistake]) -> None:
    spec = SPEC
    for mistake in chosen:
        spec = spec.replace(mistake.old, mistake.new)
    assert sorted(_told(project, spec, capsys)) == sorted(mistake.number for mistake in chosen)


def test_a_project_that_has_no_files_yet_gets_none(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(project / "ge")
    assert _told(project, SPEC.replace('"any.h"', '"any/any.h"'), capsys) == ["OPK0214"]
    assert not (project / "ge").exists()
