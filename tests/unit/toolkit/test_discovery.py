"""Which toolkit is used: the order, what is refused and why, and what is known about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from opkit import resources
from opkit.errors import ToolkitError
from opkit.toolkit import Kind, candidates, discover, discovery, elf_arch

Make = Callable[..., Path]


@pytest.fixture(autouse=True)
def _nothing_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(discovery, "_BASES", (str(tmp_path / "usr/local/Ascend"), "~/Ascend"))
    monkeypatch.setattr(resources, "bundled_toolkit", lambda: None)


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, make_toolkit: Make) -> Path:
    home = make_toolkit(tmp_path / "bundled", simulator="9.2.0-sim")
    monkeypatch.setattr(resources, "bundled_toolkit", lambda: home)
    return home


@pytest.mark.case("E1")
def test_the_option_wins_over_the_variable_over_the_default_place_over_the_simulator(
    tmp_path: Path, make_toolkit: Make, bundled: Path
) -> None:
    option = make_toolkit(tmp_path / "option")
    variable = make_toolkit(tmp_path / "variable")
    (tmp_path / "usr/local/Ascend").mkdir(parents=True)
    default = make_toolkit(tmp_path / "usr/local/Ascend/latest")
    environ = {"ASCEND_HOME_PATH": str(variable)}
    assert discover(environ, option=str(option)).home == option
    assert discover(environ).home == variable
    assert discover({}).home == default
    default.rename(tmp_path / "away")
    assert discover({}).home == bundled


def test_the_bundled_simulator_says_in_one_line_why_it_is_used(bundled: Path) -> None:
    toolkit = discover({})
    assert toolkit.home == bundled
    assert toolkit.reason == "using the bundled host simulator: no CANN toolkit named or found"
    assert toolkit.is_simulator
    assert toolkit.label.startswith("host simulator 9.2.0-sim")


@pytest.mark.case("E3")
@pytest.mark.usefixtures("bundled")
@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("/nope", "it does not exist"),
        ("a-file", "it is a file, not a folder"),
        ("empty", "it has no include folder"),
        ("no-lib64", "it has no lib64 folder"),
        ("no-acl", "it has no include/acl folder"),
        ("~nobody/Ascend", "it does not exist"),
        (" ", "the name is empty"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_named_folder_that_is_no_toolkit_is_refused_with_its_reason_and_never_replaced(tmp_path: Path, name: str, because: str) -> None:
    (tmp_path / "a-file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "no-lib64/include/acl").mkdir(parents=True)
    (tmp_path / "no-acl/include").mkdir(parents=True)
    (tmp_path / "no-acl/lib64").mkdir()
    with pytest.raises(ToolkitError) as caught:
        discover({"ASCEND_HOME_PATH": name, "HOME": str(tmp_path)}, cwd=tmp_path)
    assert caught.value.because == because
    assert caught.value.where == f"ASCEND_HOME_PATH={name}"
    assert "--toolkit" in (caught.value.help or "")
    assert caught.value.exit_code == 3


def test_a_toolkit_whose_name_is_nearly_that_is_asked_for(tmp_path: Path, make_toolkit: Make) -> None:
    for name in ("ascend toolkit/9.1.0", "ascend toolkit/latest"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        make_toolkit(tmp_path / name)
    (tmp_path / "ascend toolkit" / "lates.tar").write_text("")
    with pytest.raises(ToolkitError) as caught:
        discover({}, option="ascend toolkit/lates", cwd=tmp_path)
    assert caught.value.help == f"did you mean '{tmp_path}/ascend toolkit/latest'?"
    # What is there is wrong for another reason than its name.
    (tmp_path / "ascend toolkit" / "lates").mkdir()
    with pytest.raises(ToolkitError) as caught:
        discover({}, option="ascend toolkit/lates", cwd=tmp_path)
    assert "did you mean" not in (caught.value.help or "")


def test_an_option_that_is_wrong_is_not_covered_up_by_a_variable_that_is_right(tmp_path: Path, make_toolkit: Make) -> None:
    make_toolkit(tmp_path / "right")
    with pytest.raises(ToolkitError) as caught:
        discover({"ASCEND_HOME_PATH": str(tmp_path / "right")}, option=str(tmp_path / "wrong"))
    assert caught.value.where == "--toolkit"


@pytest.mark.case("E3")
@pytest.mark.parametrize("spelling", ["toolkit", "./toolkit/", "x/../toolkit", "~/toolkit", "link", "{}/toolkit//"])
def test_every_spelling_of_a_folder_is_one_absolute_path(tmp_path: Path, make_toolkit: Make, spelling: str) -> None:
    home = make_toolkit(tmp_path / "toolkit")
    (tmp_path / "link").symlink_to(home)
    environ = {"ASCEND_HOME_PATH": spelling.format(tmp_path), "HOME": str(tmp_path)}
    assert discover(environ, cwd=tmp_path).home == home


@pytest.mark.case("E3")
@pytest.mark.usefixtures("bundled")
def test_an_empty_variable_is_as_good_as_none() -> None:
    assert discover({"ASCEND_HOME_PATH": ""}).is_simulator


def test_a_home_with_a_colon_is_refused_because_no_path_list_holds_it(tmp_path: Path, make_toolkit: Make) -> None:
    home = make_toolkit(tmp_path / "a:b")
    with pytest.raises(ToolkitError, match="is no CANN toolkit"):
        discover({"ASCEND_HOME_PATH": str(home)})


def test_spaces_and_other_scripts_are_fine(tmp_path: Path, make_toolkit: Make) -> None:
    home = make_toolkit(tmp_path / "my 算子 toolkit")
    assert discover({"ASCEND_HOME_PATH": str(home)}).home == home


@pytest.mark.parametrize(
    ("name", "missing", "because", "advice"),
    [
        ("a:b/toolkit", None, "its path holds a ':'", "install opkit where no folder above has a ':' in its name"),
        ("toolkit", "lib64", "it has no lib64 folder", "pip install --force-reinstall ascend-opkit"),
    ],
)
def test_a_bundled_simulator_that_can_not_be_used_is_mended_by_what_helps(  # noqa: PLR0917 - what is there and what is told
    tmp_path: Path, make_toolkit: Make, monkeypatch: pytest.MonkeyPatch, name: str, missing: str | None, because: str, advice: str
) -> None:
    home = make_toolkit(tmp_path / name, simulator="9.2.0-sim")
    if missing is not None:
        (home / missing).rename(tmp_path / "away")
    monkeypatch.setattr(resources, "bundled_toolkit", lambda: home)
    with pytest.raises(ToolkitError, match="opkit's own simulator") as caught:
        discover({})
    assert (caught.value.because or "").startswith(because)
    assert caught.value.help == advice


@pytest.mark.case("E2")
def test_no_toolkit_at_all_is_one_clear_error_with_the_three_ways_out(tmp_path: Path) -> None:
    with pytest.raises(ToolkitError) as caught:
        discover({})
    assert caught.value.exit_code == 3
    assert "ASCEND_HOME_PATH is not set" in (caught.value.because or "")
    assert f"{tmp_path}/usr/local/Ascend or ~/Ascend" in (caught.value.because or "")
    for way in ("--toolkit DIR", "export ASCEND_HOME_PATH=DIR", "pip install ."):
        assert way in (caught.value.help or "")


@pytest.mark.case("E3")
def test_a_link_that_moves_to_another_version_is_another_toolkit(tmp_path: Path, make_toolkit: Make) -> None:
    make_toolkit(tmp_path / "9.1", version="9.1.0")
    make_toolkit(tmp_path / "9.2", version="9.2.0")
    latest = tmp_path / "latest"
    latest.symlink_to(tmp_path / "9.1")
    before = discover({"ASCEND_HOME_PATH": str(latest)})
    latest.unlink()
    latest.symlink_to(tmp_path / "9.2")
    after = discover({"ASCEND_HOME_PATH": str(latest)})
    assert (before.version, after.version) == ("9.1.0", "9.2.0")
    assert before.home != after.home


@pytest.mark.parametrize(
    ("file", "text", "version"),
    [
        ("version.info", "Version=9.2.0\n", "9.2.0"),
        ("version.info", "Version=8.5.RC1.alpha001\n", "8.5.RC1.alpha001"),
        ("compiler/version.info", "Version=7.7.0.1.231\nversion_dir=8.2\n", "8.2"),
        ("compiler/version.info", "version_dir=cann-9.2.0\nVersion=7.7.0.1.231\n", "9.2.0"),
        ("compiler/version.info", "Version=7.7.0.1.231\n", "7.7.0.1.231"),
        ("version.cfg", "# date\nruntime_running_version=[7.6.0.1.220:8.0.0]\n", "8.0.0"),
        ("aarch64-linux/ascend_toolkit_install.info", "package_name=Ascend-cann-toolkit\nversion=8.0.0\n", "8.0.0"),
        ("version.info", "nothing of use\n", "unknown"),
    ],
)
def test_the_version_is_read_from_what_the_installation_left(
    tmp_path: Path, make_toolkit: Make, file: str, text: str, version: str
) -> None:
    home = make_toolkit(tmp_path / "toolkit", version=None)
    (home / file).parent.mkdir(exist_ok=True)
    (home / file).write_text(text)
    toolkit = discover({"ASCEND_HOME_PATH": str(home)})
    assert toolkit.version == version
    assert toolkit.kind is Kind.CANN
    assert toolkit.abi == 0


@pytest.mark.parametrize("file", ["version.info", "opkit-simulator.json"])
def test_a_file_without_end_is_told_and_not_read(tmp_path: Path, make_toolkit: Make, file: str) -> None:
    home = make_toolkit(tmp_path / "toolkit")
    with (home / file).open("wb") as endless:
        endless.truncate(1 << 42)
    with pytest.raises(ToolkitError) as caught:
        discover({"ASCEND_HOME_PATH": str(home)})
    assert f"{home / file}: it has {1 << 42} bytes, and at most {1 << 20} are read" in (caught.value.because or caught.value.message)


@pytest.mark.parametrize(("machine", "arch"), [(62, "x86_64"), (183, "aarch64")])
def test_the_architecture_is_that_of_its_libraries(tmp_path: Path, make_toolkit: Make, machine: int, arch: str) -> None:
    home = make_toolkit(tmp_path / "toolkit")
    (home / "lib64/libascendcl.so").write_bytes(b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little"))
    assert discover({"ASCEND_HOME_PATH": str(home)}).arch == arch


def test_a_library_that_is_no_elf_says_nothing_about_the_architecture(tmp_path: Path, make_toolkit: Make) -> None:
    home = make_toolkit(tmp_path / "toolkit")
    (home / "lib64/libascendcl.so").write_text("INPUT(libacl_rt.so)")
    assert discover({"ASCEND_HOME_PATH": str(home)}).arch == discovery.host_arch()


@pytest.mark.case("E4")
@pytest.mark.parametrize(
    ("version", "header", "because"),
    [
        ("7.0", None, "the interfaces of custom ops came with that release"),
        ("9.1.0", None, "the interfaces of custom ops came with that release"),
        ("9.2.0", "acl/acl_rt_compile.h", "it has no include/acl/acl_rt_compile.h"),
        ("7.0", "graph/custom_op.h", "it has no include/graph/custom_op.h"),
        (None, "graph/custom_op.h", "it has no include/graph/custom_op.h"),
    ],
)
def test_an_older_toolkit_is_found_and_refused_for_a_build_with_what_is_needed_and_what_was_found(
    tmp_path: Path, make_toolkit: Make, version: str | None, header: str | None, because: str
) -> None:
    home = make_toolkit(tmp_path / "toolkit", version=version)
    if header is not None:
        (home / "include" / header).unlink()
    toolkit = discover({"ASCEND_HOME_PATH": str(home)})
    assert toolkit.missing_headers() == ([] if header is None else [header])
    with pytest.raises(ToolkitError) as caught:
        toolkit.require_current()
    assert caught.value.message.endswith(f"needs CANN 9.2 or newer, found {version or 'unknown'}")
    assert caught.value.because == because
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("version", ["9.2.0", "9.10.0", "10.0.RC1", "9.2.0-beta.1", None, "nightly"])
def test_a_toolkit_that_is_new_enough_or_does_not_say_is_taken(tmp_path: Path, make_toolkit: Make, version: str | None) -> None:
    discover({"ASCEND_HOME_PATH": str(make_toolkit(tmp_path / "toolkit", version=version))}).require_current()


def test_libraries_that_a_project_links_with_and_the_toolkit_lacks_are_named(tmp_path: Path, make_toolkit: Make) -> None:
    home = make_toolkit(tmp_path / "toolkit")
    (home / "lib64/libacl_rtc.so").unlink()
    assert discover({"ASCEND_HOME_PATH": str(home)}).missing_libraries() == ["libacl_rtc.so"]


@pytest.mark.parametrize(
    ("head", "arch"),
    [
        (b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little"), "x86_64"),
        (b"\x7fELF" + bytes(14) + (183).to_bytes(2, "little"), "aarch64"),
        (b"\x7fELF" + bytes(14) + (243).to_bytes(2, "little"), "machine 243"),
        (b"\x7fEL", None),
        (b"", None),
    ],
)
def test_the_header_of_a_library_says_for_which_machine_it_is(tmp_path: Path, head: bytes, arch: str | None) -> None:
    (tmp_path / "x.so").write_bytes(head)
    assert elf_arch(tmp_path / "x.so") == arch
    assert elf_arch(tmp_path / "gone.so") is None


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000], ids=["cut", "a list", "nested"])
def test_a_broken_mark_of_the_simulator_is_one_clear_error(tmp_path: Path, make_toolkit: Make, text: str) -> None:
    home = make_toolkit(tmp_path / "toolkit")
    (home / "opkit-simulator.json").write_text(text)
    with pytest.raises(ToolkitError, match="not what the simulator's installation writes"):
        discover({"ASCEND_HOME_PATH": str(home)})


def test_the_list_shows_every_named_or_existing_place_with_its_refusal(tmp_path: Path, make_toolkit: Make, bundled: Path) -> None:
    (tmp_path / "Ascend").mkdir()
    default = make_toolkit(tmp_path / "Ascend/cann")
    found = candidates({"ASCEND_HOME_PATH": str(tmp_path / "gone"), "HOME": str(tmp_path)})
    assert [(each.path, each.refusal) for each in found] == [(tmp_path / "gone", "it does not exist"), (default, None), (bundled, None)]
