"""`doctor --explain OP`: where it is looked for, who registers it, and what it may have been meant to be."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from manifest_support import signed

from opkit.cli import main
from opkit.deliverable import LIBRARY, library_folder
from opkit.lookup import shadows
from opkit.run import explain
from opkit.toolkit import Kind, Toolkit, host_arch

_FOLDER = library_folder(host_arch())


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """One that loads, and tells nothing itself: the manifest does."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "x.c").write_text("int x;\n")
    subprocess.run(["gcc", "-shared", "-fPIC", folder / "x.c", "-o", folder / "x.so"], check=True)
    return (folder / "x.so").read_bytes()


@pytest.fixture
def package(tmp_path: Path, library: bytes) -> Callable[..., Path]:
    def make(name: str, *ops: str) -> Path:
        root = tmp_path / name
        (root / _FOLDER).mkdir(parents=True)
        (root / _FOLDER / LIBRARY).write_bytes(library)
        signed(root, [str(_FOLDER / LIBRARY)], ops=ops)
        return root

    return make


@pytest.fixture
def listed(tmp_path: Path, package: Callable[..., Path]) -> dict[str, str]:
    (tmp_path / "empty").mkdir()
    package("p", "AddCustom")
    return {"ASCEND_CUSTOM_OPP_PATH": f"{tmp_path}/empty:{tmp_path}/p"}


@pytest.mark.case("E11")
def test_an_op_that_nobody_registers_is_answered_with_the_places_and_what_is_in_each(
    listed: dict[str, str], tmp_path: Path, toolkit: Toolkit
) -> None:
    explanation = explain("MulCustom", listed, toolkit)
    assert not explanation.is_found
    assert list(explanation.lines()) == [
        f"GE looks for MulCustom here, in this order, in {_FOLDER}:",
        f"  ASCEND_CUSTOM_OPP_PATH[0]  {tmp_path}/empty: no library",
        f"  ASCEND_CUSTOM_OPP_PATH[1]  {tmp_path}/p",
        f"    {_FOLDER}/{LIBRARY}: registers AddCustom",
        "",
        "nobody registers MulCustom; did you mean AddCustom?",
    ]


@pytest.mark.parametrize("asked", ["addcustom", "add_custom", "AddCustm", "AddCustomOp", "aclnnAddCustoms"])
@pytest.mark.case("A7")
def test_what_is_nearest_among_the_registered_ops_is_named(listed: dict[str, str], toolkit: Toolkit, asked: str) -> None:
    assert explain(asked, listed, toolkit).nearest == "AddCustom"


@pytest.mark.parametrize("asked", ["aclnnAddCustom", "aclnnAddCustomGetWorkspaceSize"])
def test_a_function_of_canns_is_answered_with_its_op(listed: dict[str, str], toolkit: Toolkit, asked: str) -> None:
    explanation = explain(asked, listed, toolkit)
    assert (explanation.op, explanation.is_found) == ("AddCustom", True)
    assert next(explanation.lines()) == f"{asked} is a function of CANN's C interface; its op is AddCustom"


def test_the_one_that_is_used_and_those_that_it_hides_are_marked(package: Callable[..., Path], toolkit: Toolkit) -> None:
    one, two, three = (package(name, "Add", name.title()) for name in ("one", "two", "three"))
    explanation = explain("Add", {"ASCEND_CUSTOM_OPP_PATH": f"{two}:{three}"}, toolkit, first=[one])
    libraries = [root / _FOLDER / LIBRARY for root in (one, two, three)]
    assert [library.path for library in explanation.registered] == libraries
    lines = list(explanation.lines())
    assert f"  activated by opkit run  {one}" in lines
    assert f"    {_FOLDER}/{LIBRARY}: registers Add, One  <- this one is used" in lines
    assert f"    {_FOLDER}/{LIBRARY}: registers Add, Three  <- shadowed by {libraries[0]}" in lines
    assert lines[-2:] == [f"Add is registered by {libraries[0]}", "CANN has a built-in Add too, which this one hides"]


@pytest.mark.parametrize("again", ["good", "good/", "link"])
def test_a_root_that_is_named_again_is_where_it_comes_first(
    tmp_path: Path, package: Callable[..., Path], toolkit: Toolkit, again: str
) -> None:
    good, other = package("good", "Add"), package("other", "Add")
    (tmp_path / "link").symlink_to(good)
    explanation = explain("Add", {"ASCEND_CUSTOM_OPP_PATH": f"{good}:{other}:{tmp_path}/{again}"}, toolkit)
    assert [library.root for library in explanation.registered] == [good, other]
    assert [shadow.winner.root for shadow in shadows(explanation.found.custom)] == [good]
    marks = [line.partition("  <- ")[2] for line in explanation.lines() if line.startswith("    ")]
    assert marks == ["this one is used", f"shadowed by {good / _FOLDER / LIBRARY}", "named before"]


def test_a_library_that_stops_ge_is_named_and_the_op_is_not_found(
    tmp_path: Path, package: Callable[..., Path], toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good, edited = package("good", "Add"), package("edited", "Add", "Mul")
    stray, text = good / _FOLDER / "readme.so", edited / _FOLDER / LIBRARY
    for path in (stray, text):
        path.write_text("x")
    explanation = explain("Add", {"ASCEND_CUSTOM_OPP_PATH": f"{good}:{edited}"}, toolkit)
    assert not explanation.is_found
    assert [library.path for library, _ in explanation.broken] == [stray, text]
    lines = list(explanation.lines())
    assert f"    {_FOLDER}/readme.so: doesn't load" in lines
    assert f"    {_FOLDER}/{LIBRARY}: registers Add, Mul, but doesn't load" in lines
    assert f"{stray} doesn't load, so GEInitialize fails for every op: {stray}: file too short" in lines
    assert f"{text} doesn't load, so GEInitialize fails for every op: {text}: file too short" in lines
    assert lines[-1] == "help: opkit doctor"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPKIT_PREFIX", str(tmp_path / "prefix"))
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(good))
    assert main(["doctor", "--toolkit", str(toolkit.home), "--explain", "Add", "--json"]) == 3
    (broken,) = json.loads(capsys.readouterr().out)["broken"]
    assert broken["path"] == str(stray)


def test_a_library_that_does_not_load_hides_nobody_and_ge_uses_nobody(package: Callable[..., Path], toolkit: Toolkit) -> None:
    broken, good = package("broken", "Add"), package("good", "Add")
    (broken / _FOLDER / LIBRARY).write_text("x")
    explanation = explain("Add", {"ASCEND_CUSTOM_OPP_PATH": f"{broken}:{good}"}, toolkit)
    lines = list(explanation.lines())
    assert f"    {_FOLDER}/{LIBRARY}: registers Add, but doesn't load" in lines
    assert f"    {_FOLDER}/{LIBRARY}: registers Add  <- this one would be used" in lines
    assert f"otherwise Add would be registered by {good / _FOLDER / LIBRARY}" in lines
    document = explanation.to_json()
    assert (document["registered_by"], document["shadowed"]) == (None, [])
    alone = explain("Add", {"ASCEND_CUSTOM_OPP_PATH": str(broken)}, toolkit)
    assert "nobody else registers Add" in list(alone.lines())


def test_nowhere_to_look_is_told_with_what_to_do(toolkit: Toolkit) -> None:
    lines = list(explain("MulCustom", {}, toolkit).lines())
    assert lines[-2:] == ["nobody registers MulCustom", "help: opkit build PROJECT, or opkit install PACKAGE"]


def test_a_built_in_op_is_known_by_its_whole_name_alone(toolkit: Toolkit) -> None:
    assert explain("LayerNorm", {}, toolkit).is_built_in
    assert not explain("ayerNor", {}, toolkit).is_built_in
    assert "with CANN it is that one" in "\n".join(explain("LayerNorm", {}, toolkit).lines())


def test_a_library_that_tells_nothing_is_told_if_it_has_the_name(tmp_path: Path, toolkit: Toolkit) -> None:
    (tmp_path / "opp" / _FOLDER).mkdir(parents=True)
    for name, text in (("a.so", "AddCustom"), ("b.so", "Other")):
        source = tmp_path / "x.c"
        source.write_text(f'const char *type(void) {{ return "{text}"; }}\n')
        subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", tmp_path / "opp" / _FOLDER / name], check=True)
    explanation = explain("AddCustom", {"ASCEND_CUSTOM_OPP_PATH": f"{tmp_path}/opp"}, toolkit)
    assert [library.path.name for library in explanation.silent] == ["a.so"]
    lines = list(explanation.lines())
    assert f"    {_FOLDER}/a.so: nothing tells what it registers" in lines
    assert lines[-1] == f"it may be in {tmp_path}/opp/{_FOLDER}/a.so, which doesn't tell"


def test_a_library_without_end_is_not_read_for_a_name(package: Callable[..., Path], toolkit: Toolkit) -> None:
    root = package("p", "Add")
    with (root / _FOLDER / "a.so").open("wb") as endless:
        endless.write((root / _FOLDER / LIBRARY).read_bytes())
        endless.truncate(1 << 42)
    assert explain("Mul", {"ASCEND_CUSTOM_OPP_PATH": str(root)}, toolkit).silent == ()


def test_a_vendor_whose_prototypes_have_the_name_is_told(tmp_path: Path, toolkit: Toolkit) -> None:
    opp = tmp_path / "opp"
    (opp / "built-in").mkdir(parents=True)
    (opp / "vendors/acme/op_proto").mkdir(parents=True)
    library = opp / "vendors/acme/op_proto/libcust_opsproto.so"
    library.write_bytes(b"\0AddCustom\0")
    (opp / "vendors/config.ini").write_text("load_priority=acme\n")
    explanation = explain("AddCustom", {"ASCEND_OPP_PATH": str(opp)}, toolkit._replace(kind=Kind.CANN))
    assert [each.path for each in explanation.described] == [library]
    lines = list(explanation.lines())
    assert "and reads the prototypes of packages of CANN's own kind, in this order:" in lines
    assert f"  vendors/config.ini[0]  {library.parent}: found  <- has the name" in lines
    assert lines[-1] == f"its name is in the prototypes of {library}"


def test_the_command_exits_0_for_an_op_that_is_there_and_3_for_one_that_is_not(
    *, listed: dict[str, str], tmp_path: Path, toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPKIT_PREFIX", str(tmp_path / "prefix"))
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", listed["ASCEND_CUSTOM_OPP_PATH"])
    assert main(["doctor", "--toolkit", str(toolkit.home), "--explain", "AddCustom"]) == 0
    assert f"AddCustom is registered by {tmp_path}/p/{_FOLDER}/{LIBRARY}" in capsys.readouterr().out
    assert main(["doctor", "--toolkit", str(toolkit.home), "--explain", "MulCustom", "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["registered_by"], document["nearest"], document["searched"]) == (None, "AddCustom", str(_FOLDER))
    assert [(place["position"], place["state"]) for place in document["places"]] == [(0, "no library"), (1, "found")]
    assert document["places"][1]["libraries"][0]["ops"] == ["AddCustom"]
    assert main(["doctor", "--explain", "Add", "--report"]) == 2
    assert main(["doctor", "--explain", " "]) == 2


def test_the_op_of_a_built_project_is_looked_for_in_its_deliverable(built_project: Path, library: bytes, toolkit: Toolkit) -> None:
    (built_project / "output" / _FOLDER / LIBRARY).write_bytes(library)
    signed(built_project / "output", [str(_FOLDER / LIBRARY)])
    argv = [sys.executable, "-m", "opkit", "doctor", "--toolkit", str(toolkit.home), "--explain", "Add"]
    done = subprocess.run(argv, cwd=built_project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"Add is registered by {built_project}/output/{_FOLDER}/{LIBRARY}" in done.stdout
