"""install, uninstall and list as a person or a script calls them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from install_support import HEADER, LIBRARY, library, opp_root, tree
from tiny_support import Tiny
from wheel_support import environment, installed_wheel, site_packages

from opkit import codegen, spec
from opkit.cli import main
from opkit.deliverable import Requires
from opkit.toolkit import discover


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prefix = tmp_path / "in stall 算子"
    monkeypatch.setenv("OPKIT_PREFIX", str(prefix))
    return prefix


def _document(capsys: pytest.CaptureFixture[str], *arguments: str | Path, exit_code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == exit_code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def _shadow(op: str, winner: Path, loser: Path, *libraries: str) -> dict[str, object]:
    """As `list --json` has it, of the winner's usual library."""
    return {
        "op": op,
        "winner": str(winner),
        "loser": str(loser),
        "winning_library": str(winner / LIBRARY),
        "losing_libraries": [str(loser / library) for library in libraries or (LIBRARY,)],
    }


def _said(capsys: pytest.CaptureFixture[str], *arguments: str | Path, exit_code: int = 0) -> str:
    capsys.readouterr()
    assert main([*map(str, arguments)]) == exit_code
    return "".join(capsys.readouterr())


def test_an_install_says_what_where_and_how_to_use_it(prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = opp_root(tmp_path / "a", {LIBRARY: "library"})
    said = _said(capsys, "install", root.path)
    assert f"Installed add 0.1.0+sim in {prefix}/add" in said
    assert f"activate it with: eval \"$(opkit env --opp '{prefix}/add')\"" in said
    assert "add 0.1.0+sim was built against the host simulator" in said
    document = _document(capsys, "install", opp_root(tmp_path / "b", {LIBRARY: "newer"}, version="0.2.0", kind="cann").path)
    (installed,) = document["packages"]
    assert document["prefix"] == str(prefix)
    assert (installed["what"], installed["previous"], installed["version"]) == ("upgraded", "0.1.0", "0.2.0")
    assert (installed["opp_root"], installed["files"]) == (f"{prefix}/add", [LIBRARY])
    assert "Downgraded add 0.2.0 -> 0.1.0+sim in" in _said(capsys, "install", root.path)
    assert "Reinstalled add 0.1.0+sim in" in _said(capsys, "install", root.path)
    same = opp_root(tmp_path / "c", {LIBRARY: "of the device"}, kind="cann").path
    assert "Reinstalled add 0.1.0+sim -> 0.1.0 in" in _said(capsys, "install", same)


def test_an_activated_package_outlives_its_upgrade(
    prefix: Path, tmp_path: Path, make_toolkit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(make_toolkit(tmp_path / "a toolkit", simulator="9.2.0-sim")))
    main(["install", str(opp_root(tmp_path / "a", {LIBRARY: "older"}).path)])
    for named in (["--opp", str(prefix / "add")], ["--prefix", str(prefix)]):
        opp = Path(_document(capsys, "env", *named)["ASCEND_CUSTOM_OPP_PATH"])
        main(["install", str(opp_root(tmp_path / "b", {LIBRARY: "newer"}, version="0.2.0").path)])
        assert tree(opp)[LIBRARY] == "newer"


def test_several_are_installed_at_once_and_one_bad_one_stops_all(prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = [opp_root(tmp_path / name, {LIBRARY: name}, package=name, ops=[name]).path for name in ("b", "a")]
    bad = opp_root(tmp_path / "bad", {LIBRARY: "bad"}, package="bad", requires=Requires(glibc="9.99")).path
    said = _said(capsys, "install", *good, bad, exit_code=3)
    assert "needs glibc 9.99" in said
    assert "Installed" not in said
    assert not prefix.exists()
    assert [each["package"] for each in _document(capsys, "install", *good)["packages"]] == ["b", "a"]


def test_what_was_edited_and_what_is_not_opkits_is_told(prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = opp_root(tmp_path / "a", {LIBRARY: "library", HEADER: "header"})
    main(["install", str(root.path)])
    (prefix / "add" / HEADER).write_text("edited")
    (prefix / "add/mine.txt").write_text("mine")
    said = _said(capsys, "install", root.path)
    assert f"warning: {prefix}/add/{HEADER} was edited; it stays, as {HEADER}.edited" in said
    assert f"{prefix}/add/mine.txt isn't opkit's; it stays" in said
    (prefix / "add/new").write_text("mine")
    newer = opp_root(tmp_path / "b", {LIBRARY: "library", "new": "new"})
    assert f"warning: {prefix}/add/new isn't opkit's and is in the way; it stays, as new.edited" in _said(capsys, "install", newer.path)
    (prefix / "add/new").write_text("edited")
    kept = _document(capsys, "install", newer.path)["packages"][0]["kept"]
    assert {"path": "new", "place": "new.edited.2", "edited": True} in kept
    assert {"path": "mine.txt", "place": "mine.txt", "edited": False} in kept
    said = _said(capsys, "uninstall", "add")
    assert f"Uninstalled add 0.1.0+sim from {prefix}" in said
    assert f"{prefix}/add/mine.txt isn't opkit's; it stays" in said
    assert tree(prefix / "add") == {f"{HEADER}.edited": "edited", "mine.txt": "mine", "new.edited": "mine", "new.edited.2": "edited"}


def test_a_project_is_brought_up_to_date_first(
    prefix: Path, tmp_path: Path, make_toolkit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(make_toolkit(tmp_path / "a toolkit", simulator="9.2.0-sim")))
    tiny = Tiny(tmp_path / "my ops" / "tiny", discover(os.environ))
    monkeypatch.setattr(spec, "load_package", tiny.load)
    monkeypatch.setattr(codegen, "render", tiny.render)
    monkeypatch.chdir(tiny.root)
    assert _document(capsys, "install")["packages"][0]["what"] == "installed"
    before = (prefix / "tiny" / LIBRARY).read_bytes()
    # Nothing was built since: what lies in output/ is stale.
    tiny.say("7")
    main(["install", str(tiny.root)])
    assert (prefix / "tiny" / LIBRARY).read_bytes() != before
    assert (prefix / "tiny" / LIBRARY).read_bytes() == (tiny.root / "output" / LIBRARY).read_bytes()
    assert _document(capsys, "list")["packages"][0]["source"] == str(tiny.root)
    # The folders of a build are a project's.
    elsewhere = ("--build-dir", tmp_path / "b", "--output", tmp_path / "o")
    _document(capsys, "install", tiny.root, *elsewhere)
    assert (tmp_path / "o" / LIBRARY).is_file()
    assert "for one project" in _document(capsys, "install", tiny.root, tmp_path / "o", *elsewhere, exit_code=2)["error"]["message"]


@pytest.mark.case("F8")
def test_the_path_list_of_ge_is_never_installed_to(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = opp_root(tmp_path / "root", {LIBRARY: "library"}).path
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", f"{tmp_path}/a:{tmp_path}/b")
    assert _document(capsys, "install", root)["prefix"] == str(prefix)
    monkeypatch.setenv("OPKIT_PREFIX", f"{tmp_path}/a:{tmp_path}/b")
    message = _document(capsys, "install", root, exit_code=2)["error"]["message"]
    assert message == f"OPKIT_PREFIX {tmp_path}/a:{tmp_path}/b isn't one folder"
    assert sorted(path.name for path in tmp_path.iterdir()) == [prefix.name, "root"]


@pytest.mark.case("F3")
def test_an_op_of_two_packages_is_told_with_who_wins(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    roots = {
        name: opp_root(tmp_path / name, {LIBRARY: name}, package=name, ops=["Add", name.upper()]).path for name in ("b", "c", "a", "d")
    }
    assert "shadowed" not in _said(capsys, "install", roots["b"])
    # Packages are activated by name, before what the variable names already.
    said = _said(capsys, "install", roots["c"])
    assert f"Add of {prefix}/c is shadowed by that of {prefix}/b: GE keeps the first registration, in {prefix}/b/{LIBRARY}, and" in said
    assert f"drops that in {LIBRARY}\n" in said
    document = _document(capsys, "install", roots["a"])
    assert document["packages"][0]["shadowed"] == [_shadow("Add", prefix / "a", prefix / name) for name in "bc"]
    packages = _document(capsys, "list")["packages"]
    assert [(each["package"], each["shadowed"]) for each in packages] == [
        ("a", []),
        ("b", [_shadow("Add", prefix / "a", prefix / "b")]),
        ("c", [_shadow("Add", prefix / "a", prefix / "c")]),
    ]
    main(["uninstall", "a", "b", "c"])
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(roots["d"]))
    assert f"Add of {roots['d']} is shadowed by that of {prefix}/a" in _said(capsys, "install", roots["a"])
    assert "shadowed" not in _said(capsys, "install", opp_root(tmp_path / "e", {LIBRARY: "e"}, package="e", ops=["Mul"]).path)


def test_an_uninstall_is_repeatable_and_knows_what_was_meant(prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("acme", "acme_v2"):
        main(["install", str(opp_root(tmp_path / name, {LIBRARY: name}, package=name).path)])
    assert "acmee isn't installed, so nothing was removed; did you mean acme?" in _said(capsys, "uninstall", "acmee")
    document = _document(capsys, "uninstall", "acme", "nope")
    assert [(each["package"], each["removed"], each["version"]) for each in document["packages"]] == [
        ("acme", True, "0.1.0"),
        ("nope", False, None),
    ]
    assert "acme isn't installed, so nothing was removed" in _said(capsys, "uninstall", "acme")
    main(["uninstall", "acme_v2"])
    assert not prefix.exists()
    assert "acme_v2 isn't installed" in _said(capsys, "uninstall", "acme_v2")


def test_list_shows_packages_of_the_prefix_and_of_wheels_and_what_is_wrong(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"nothing is installed in {prefix}" in _said(capsys, "list")
    site = tmp_path / "site"
    installed_wheel(site, "zeta")
    (installed_wheel(site, "torn") / LIBRARY).unlink()
    shutil.rmtree(installed_wheel(site, "gone"))
    monkeypatch.syspath_prepend(site)
    root = opp_root(tmp_path / "root", {LIBRARY: "library", HEADER: "header"}, ops=["Add", "Mul"])
    main(["install", str(root.path)])
    (prefix / "add" / HEADER).write_text("edited")
    packages = {each["package"]: each for each in _document(capsys, "list")["packages"]}
    assert list(packages) == ["add", "gone", "torn", "zeta"]
    add = packages["add"]
    assert {name: add[name] for name in ("version", "ops", "opp_root", "wheel", "source", "problems")} == {
        "version": "0.1.0",
        "ops": ["Add", "Mul"],
        "opp_root": f"{prefix}/add",
        "wheel": False,
        "source": str(root.path),
        "problems": [f"{HEADER} was edited"],
    }
    assert add["built_against"]["kind"] == "simulator"
    assert packages["torn"]["problems"] == [f"{LIBRARY} is missing"]
    assert "isn't there" in packages["gone"]["problems"][0]
    # The broken one is none that GE would open.
    assert packages["zeta"]["shadowed"] == [_shadow("Add", prefix / "add", site / "zeta")]
    said = _said(capsys, "list")
    assert f"add 0.1.0+sim  {prefix}/add\n  ops: Add, Mul\n  built against the host simulator 9.2.0-sim, for" in said
    assert f"  problem: {HEADER} was edited\n" in said
    assert f"zeta 0.1.0+sim  {site}/zeta  (wheel)\n" in said
    assert f"  shadowed: Add of {LIBRARY}, by that of {prefix}/add/{LIBRARY}\n" in said
    assert f"  from {root.path}, " in said


def test_list_shows_the_wheels_of_another_python(prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = environment(tmp_path / "venv")
    assert f"nothing is installed in {prefix} or the wheels of {python}\n" in _said(capsys, "list", "--python", python)
    root = installed_wheel(site_packages(python), "zeta")
    main(["install", str(opp_root(tmp_path / "root", {LIBRARY: "library"}).path)])
    packages = _document(capsys, "list", "--python", python)["packages"]
    assert [(each["package"], each["opp_root"], each["wheel"]) for each in packages] == [
        ("add", f"{prefix}/add", False),
        ("zeta", str(root), True),
    ]
    assert packages[1]["shadowed"] == [_shadow("Add", prefix / "add", root)]
    assert [each["package"] for each in _document(capsys, "list")["packages"]] == ["add"]
    assert "can't be asked for its packages" in _said(capsys, "list", "--python", tmp_path / "none", exit_code=3)


def test_list_and_run_agree_on_what_is_activated(
    prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], make_toolkit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken wheel shadows nothing and hides nothing, and of two with one name the one that counts is named."""
    monkeypatch.setenv("ASCEND_HOME_PATH", str(make_toolkit(tmp_path / "a toolkit")))
    python = environment(tmp_path / "venv")
    site = site_packages(python)
    torn = installed_wheel(site, "aaa")
    (torn / LIBRARY).write_bytes(b"another")
    twin = installed_wheel(site, "add")
    main(["install", str(opp_root(tmp_path / "root", {LIBRARY: "library"}).path)])

    def listed() -> list[tuple[object, ...]]:
        packages = _document(capsys, "list", "--python", python)["packages"]
        return [(each["opp_root"], len(each["problems"]), each["hidden_by"], each["shadowed"]) for each in packages]

    assert listed() == [(str(torn), 1, None, []), (str(prefix / "add"), 0, None, []), (str(twin), 0, str(prefix / "add"), [])]
    assert f"  hidden: by {prefix}/add, which is activated in its stead\n" in _said(capsys, "list", "--python", python)
    assert _document(capsys, "env", "--python", python)["ASCEND_CUSTOM_OPP_PATH"] == str(prefix / "add")
    # Once that of the prefix is broken, it is the wheel's turn.
    (prefix / "add" / LIBRARY).unlink()
    assert listed()[1:] == [(str(prefix / "add"), 1, None, []), (str(twin), 0, None, [])]
    assert _document(capsys, "env", "--python", python)["ASCEND_CUSTOM_OPP_PATH"] == str(twin)


def test_list_tells_a_library_that_somebody_put_beside_those_of_a_package(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It registers an op as often as GE loads it: told once, with the libraries, and as what isn't the package's."""
    for name in ("aaa", "bbb"):
        main(["install", str(opp_root(tmp_path / name, {LIBRARY: name}, package=name).path)])
    wheel = installed_wheel(tmp_path / "site", "ccc")
    monkeypatch.syspath_prepend(tmp_path / "site")
    strays = [str(Path(LIBRARY).with_name(name)) for name in ("libmine.so", "libyours.so")]
    for root in (prefix / "bbb", wheel):
        (root / strays[0]).write_bytes(library("mine"))
        (root / strays[1]).write_bytes(library("yours", ops=("Mul",)))
    packages = {each["package"]: each for each in _document(capsys, "list")["packages"]}
    for name, root in (("bbb", prefix / "bbb"), ("ccc", wheel)):
        assert packages[name]["problems"] == [f"{stray} isn't in the manifest, and GE loads it with the others" for stray in strays]
        assert packages[name]["shadowed"][0] == _shadow("Add", prefix / "aaa", root, LIBRARY, strays[0])
    assert [each["op"] for each in packages["bbb"]["shadowed"]] == ["Add"]
    assert [each["op"] for each in packages["ccc"]["shadowed"]] == ["Add", "Mul"]
    said = _said(capsys, "list")
    assert f"  shadowed: Add of {LIBRARY}, {strays[0]}, by that of {prefix}/aaa/{LIBRARY}\n" in said
    assert f"  shadowed: Mul of {strays[1]}, by that of {prefix}/bbb/{strays[1]}\n" in said


def test_a_wheel_that_leads_nowhere_has_no_folder(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(installed_wheel(tmp_path / "site", "gone"))
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert "gone  (wheel)\n" in _said(capsys, "list")
    assert _document(capsys, "list")["packages"][0]["opp_root"] is None
    assert not prefix.exists()


@pytest.mark.case("I6")
def test_without_a_home_a_prefix_has_to_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = opp_root(tmp_path / "root", {LIBRARY: "library"}).path
    monkeypatch.delenv("OPKIT_PREFIX")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "gone"))
    for _ in range(2):
        error = _document(capsys, "install", root, exit_code=3)["error"]
        assert error["message"] == "there is no place to install to"
        assert "--prefix DIR or OPKIT_PREFIX" in error["help"]
        assert _document(capsys, "install", root, "--prefix", tmp_path / "p")["prefix"] == str(tmp_path / "p")
        assert _document(capsys, "list", "--prefix", tmp_path / "p")["packages"][0]["problems"] == []
        assert _document(capsys, "list")["prefix"] is None
        # As a user whom the system doesn't know has it: ~ stays ~.
        monkeypatch.delenv("HOME", raising=False)
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p", "root"]


@pytest.mark.parametrize(("source", "number", "exit_code"), [("nowhere", "OPK0100", 2), ("empty", "OPK0100", 2), ("a.txt", "OPK0420", 4)])
def test_what_can_not_be_installed_is_one_clear_error(  # noqa: PLR0917 - a row, and where it is tried
    prefix: Path, tmp_path: Path, source: str, number: str, exit_code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.txt").write_text("text")
    assert main(["install", str(tmp_path / source)]) == exit_code
    err = capsys.readouterr().err
    assert err.startswith(f"error[{number}]: ")
    assert source in err
    assert "Traceback" not in err
    assert not prefix.exists()


@pytest.mark.parametrize("command", [("install", "root"), ("uninstall", "add"), ("list",), ("env",)], ids=" ".join)
def test_an_empty_prefix_is_not_the_current_folder(
    prefix: Path, tmp_path: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opp_root(tmp_path / "root", {LIBRARY: "library"})
    monkeypatch.chdir(tmp_path)
    said = _said(capsys, command[0], "--prefix", "", *command[1:], exit_code=2)
    assert "error[OPK0100]: --prefix is empty\n" in said
    assert [path.name for path in tmp_path.iterdir()] == ["root"]
    assert not prefix.exists()


def test_a_package_that_a_wheel_brings_is_taken_out_by_pip(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = installed_wheel(tmp_path / "site", "my_ops")
    monkeypatch.syspath_prepend(tmp_path / "site")
    said = _said(capsys, "uninstall", "my_ops")
    assert said == "warning: my_ops comes in a wheel, and nothing was removed\n  help: pip uninstall my-ops\n"
    assert (root / LIBRARY).is_file()
    assert not prefix.exists()


def test_where_a_package_came_from_is_an_absolute_path(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = opp_root(tmp_path / "root", {LIBRARY: "library"}).path
    monkeypatch.chdir(tmp_path)
    main(["install", "root"])
    monkeypatch.chdir(prefix)
    assert _document(capsys, "list")["packages"][0]["source"] == str(root)
    document = _document(capsys, "list", "--prefix", "../root/../" + prefix.name)
    assert (document["prefix"], len(document["packages"])) == (str(prefix), 1)
