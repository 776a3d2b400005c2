"""Where GE looks for ops: each element of the path list in order, and below it what GE would open, in GE's order."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifest_support import signed

from opkit.files import content_of
from opkit.lookup import HostFolder, Lookup, Origin, Place, State, host, host_folder, lookup, place_of, shadows
from opkit.toolkit import Kind, Toolkit, host_arch

_HOST = HostFolder(os="linux", arch=host_arch(), source=None)
_FOLDER = f"op_graph/lib/linux/{host_arch()}"
_FLAT = "libcust_opapi.so"


def _root(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    return root


def _looked(value: str, toolkit: Toolkit | None = None, *, cwd: Path | None = None, **variables: str) -> Lookup:
    return lookup({"ASCEND_CUSTOM_OPP_PATH": value, **variables}, toolkit, cwd=cwd)


def _opened(place: Place) -> list[str]:
    return [str(library.path.relative_to(place.path)) for library in place.libraries]


def test_the_flat_library_comes_before_those_of_the_searched_folder_by_the_bytes_of_their_names(tmp_path: Path) -> None:
    names = [f"{_FOLDER}/{name}" for name in ("libb.so", "libB.so", "lib_a.so", "libä.so", "liba.so", ".so")]
    place = place_of(str(_root(tmp_path, *names, _FLAT)), _HOST)
    assert place.state is State.FOUND
    assert _opened(place) == [_FLAT, *(f"{_FOLDER}/{name}" for name in (".so", "libB.so", "lib_a.so", "liba.so", "libb.so", "libä.so"))]


def test_whatever_ends_in_so_and_is_no_folder_is_opened(tmp_path: Path) -> None:
    root = _root(tmp_path, f"{_FOLDER}/a.so", f"{_FOLDER}/b.so.1", f"{_FOLDER}/c.SO", f"{_FOLDER}/deep/d.so", f"{_FOLDER}/e.txt")
    (root / _FOLDER / "f.so").mkdir()
    (root / _FOLDER / "g.so").symlink_to("nowhere")
    (root / _FOLDER / "h.so").symlink_to(root)
    assert _opened(place_of(str(root), _HOST)) == [f"{_FOLDER}/{name}.so" for name in ("a", "g", "h")]


def test_the_elements_are_walked_in_their_order_and_keep_their_place_in_the_list(tmp_path: Path) -> None:
    first, second = _root(tmp_path / "z", f"{_FOLDER}/a.so"), _root(tmp_path / "a", _FLAT)
    found = _looked(f"{first}::{second}:{tmp_path}/gone:")
    assert [(place.position, place.name, place.state) for place in found.custom] == [
        (0, str(first), State.FOUND),
        (1, "", State.EMPTY),
        (2, str(second), State.FOUND),
        (3, f"{tmp_path}/gone", State.MISSING),
        (4, "", State.EMPTY),
    ]


def test_without_the_variable_there_is_no_place() -> None:
    assert lookup({}, None).custom == ()
    assert _looked("").custom == ()


_ELEMENTS = st.lists(st.text(st.sampled_from("ab/.~ ü"), max_size=8), min_size=1, max_size=6)


@given(_ELEMENTS)
def test_any_list_gives_one_place_for_each_element_and_no_error(elements: list[str]) -> None:
    value = ":".join(elements)
    found = _looked(value, cwd=Path("/nonexistent"))
    assert [place.name for place in found.custom] == (elements if value else [])
    for place in found.custom:
        assert (place.state is State.EMPTY) == (place.name == "")
        assert place.is_relative == (place.name != "" and not place.name.startswith("/"))
        assert place.path.is_absolute()


def test_a_tilde_is_no_home_to_ge(tmp_path: Path) -> None:
    (place,) = _looked("~/opp", cwd=tmp_path).custom
    assert (place.path, place.is_relative) == (tmp_path / "~/opp", True)


@pytest.mark.case("E10")
@pytest.mark.parametrize("below", ["op_graph", "op_graph/lib", "op_graph/lib/linux", _FOLDER])
def test_a_folder_inside_an_opp_root_brings_nothing_and_the_root_is_known(tmp_path: Path, below: str) -> None:
    root = _root(tmp_path / "opp", f"{_FOLDER}/{_FLAT}")
    place = place_of(str(root / below), _HOST)
    # The library lies flat in its own folder, which is one of the two places where GE looks.
    assert place.state is (State.FOUND if below == _FOLDER else State.NO_LIBRARY)
    assert place.meant == root


def test_the_folder_above_an_opp_root_brings_nothing_and_the_root_is_known_if_it_is_one(tmp_path: Path) -> None:
    root = _root(tmp_path / "prefix/add", f"{_FOLDER}/{_FLAT}")
    assert place_of(str(tmp_path / "prefix"), _HOST).meant == root
    _root(tmp_path / "prefix/sub", f"{_FOLDER}/{_FLAT}")
    assert place_of(str(tmp_path / "prefix"), _HOST).meant is None


def test_libraries_for_another_kind_of_computer_are_named(tmp_path: Path) -> None:
    place = place_of(str(_root(tmp_path, "op_graph/lib/linux/riscv64/a.so", "op_graph/lib/Linux/x86_64/a.so")), _HOST)
    assert (place.state, place.archs) == (State.NO_LIBRARY, ("Linux/x86_64", "linux/riscv64"))


def test_a_file_a_missing_folder_and_a_path_that_is_too_long_bring_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    states = {name: place_of(str(tmp_path / name), _HOST).state for name in ("file", "gone", "file/below", "loop", "x" * 300, "x/" * 2100)}
    assert list(states.values()) == [State.FILE, State.MISSING, State.MISSING, State.MISSING, State.MISSING, State.TOO_LONG]


def test_a_package_of_canns_own_kind_is_one(tmp_path: Path) -> None:
    (tmp_path / "vendor/op_impl").mkdir(parents=True)
    assert place_of(str(tmp_path / "vendor"), _HOST).state is State.RUN_PACKAGE


@pytest.mark.case("F3")
def test_of_two_registrations_the_first_in_ges_order_wins(tmp_path: Path) -> None:
    one, two = (_root(tmp_path / name, f"{_FOLDER}/{_FLAT}") for name in ("one", "two"))
    signed(one, [f"{_FOLDER}/{_FLAT}"], ops=("Add", "Mul"))
    signed(two, [f"{_FOLDER}/{_FLAT}"], ops=("Sub", "Add"))
    for winner, loser in ((one, two), (two, one)):
        (shadow,) = shadows(_looked(f"{winner}:{loser}").custom)
        assert (shadow.op, shadow.winner.root, shadow.loser.root) == ("Add", winner, loser)


def test_one_library_under_two_names_shadows_nothing(tmp_path: Path) -> None:
    root = _root(tmp_path / "opp", f"{_FOLDER}/{_FLAT}")
    signed(root, [f"{_FOLDER}/{_FLAT}"])
    (tmp_path / "link").symlink_to(root)
    assert list(shadows(_looked(f"{root}:{tmp_path}/link:{root}/").custom)) == []


@pytest.fixture
def cann(toolkit: Toolkit) -> Toolkit:
    return toolkit._replace(kind=Kind.CANN)


@pytest.mark.case("G5")
@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("os=linux\narch=aarch64\n", "linux/aarch64"),
        ("os=Linux\narch=x86_64\n", "Linux/x86_64"),
        ("  arch=aarch64\r\n\nos=linux  \r\n", "linux/aarch64"),
        ("arch=aarch64\n", "linux/aarch64"),
        ("os=\narch=\n", f"linux/{host_arch()}"),
        ("os = linux\narch = aarch64\n", f"linux/{host_arch()}"),
        ("arch=aarch64=x\n", f"linux/{host_arch()}"),
        ("arch=x\narch=aarch64\n", "linux/aarch64"),
        ("nothing of use", f"linux/{host_arch()}"),
    ],
)
@pytest.mark.parametrize("scene", ["opp/scene.info", "runtime/scene.info"])
def test_the_searched_folder_is_what_the_toolkit_says(cann: Toolkit, text: str, folder: str, scene: str) -> None:
    _root(cann.home, scene)
    (cann.home / scene).write_text(text)
    (cann.lib64 / "libgraph_base.so").unlink()
    assert str(host_folder(cann)) == folder
    assert str(_looked("/x", cann).custom[0].searched) == f"/x/op_graph/lib/{folder}"


def test_a_scene_that_goes_away_once_it_was_read_says_it_all_the_same(cann: Toolkit, monkeypatch: pytest.MonkeyPatch) -> None:
    _root(cann.home, "opp/scene.info")
    (cann.home / "opp/scene.info").write_text("arch=aarch64\n")
    (cann.lib64 / "libgraph_base.so").unlink()

    def read_and_gone(path: Path, *, most: int) -> bytes:
        content = content_of(path, most=most)
        path.unlink()
        return content

    monkeypatch.setattr(host, "content_of", read_and_gone)
    assert host_folder(cann) == HostFolder(os="linux", arch="aarch64", source=cann.home / "opp/scene.info")


def test_the_operators_folder_says_it_before_the_runtime_does(cann: Toolkit) -> None:
    _root(cann.home, "opp/scene.info", "runtime/scene.info")
    (cann.home / "opp/scene.info").write_text("arch=first\n")
    (cann.home / "runtime/scene.info").write_text("arch=second\n")
    (cann.lib64 / "libgraph_base.so").unlink()
    assert host_folder(cann).arch == "first"


def test_the_toolkits_folder_is_two_above_the_library_that_a_link_leads_to(cann: Toolkit) -> None:
    """CANN's lib64 is a link to that of its architecture."""
    (cann.home / "x86_64-linux").mkdir()
    cann.lib64.rename(cann.home / "x86_64-linux/lib64")
    cann.lib64.symlink_to("x86_64-linux/lib64")
    _root(cann.home, "opp/scene.info")
    (cann.home / "opp/scene.info").write_text("arch=aarch64\n")
    assert host_folder(cann).source == cann.home / "opp/scene.info"
    assert lookup({}, cann).opp == cann.home / "x86_64-linux/ops"


def test_the_simulator_and_a_toolkit_that_says_nothing_have_this_computers_folder(toolkit: Toolkit, cann: Toolkit) -> None:
    for each in (toolkit, cann, None):
        assert host_folder(each) == _HOST


def _opp(tmp_path: Path, config: str | None, *vendors: str) -> Path:
    opp = _root(tmp_path / "opp", f"built-in/op_proto/lib/linux/{host_arch()}/libopsproto.so")
    (opp / "vendors").mkdir()
    for vendor in vendors:
        _root(opp / "vendors" / vendor, f"op_proto/lib/linux/{host_arch()}/libcust_opsproto_rt2.0.so", "op_proto/libold.so")
        _root(opp / "vendors" / vendor, f"op_proto/lib/linux/{host_arch()}/libcust_opsproto.so")
    if config is not None:
        (opp / "vendors/config.ini").write_text(config)
    return opp


def test_prototypes_come_from_the_variable_then_from_the_vendors_in_their_order_then_from_what_is_built_in(
    tmp_path: Path, cann: Toolkit
) -> None:
    opp = _opp(tmp_path, "load_priority=b, a,gone", "a", "b")
    custom = _root(tmp_path / "mine", "op_proto/libmine.so")
    found = _looked(str(custom), cann, ASCEND_OPP_PATH=str(opp))
    assert [(place.origin, place.name, place.state) for place in found.prototypes] == [
        (Origin.CUSTOM, str(custom), State.FOUND),
        (Origin.VENDOR, "b", State.FOUND),
        (Origin.VENDOR, "a", State.FOUND),
        (Origin.VENDOR, "gone", State.MISSING),
        (Origin.BUILT_IN, "built-in", State.FOUND),
    ]
    # The half for the run time is left out, and a folder without one for this computer is searched itself.
    assert [[library.path.name for library in place.libraries] for place in found.prototypes[:2]] == [
        ["libmine.so"],
        ["libcust_opsproto.so"],
    ]


def test_a_config_that_ge_cannot_read_brings_no_vendor(tmp_path: Path, cann: Toolkit) -> None:
    opp = _opp(tmp_path, "load_priority=a=b", "a")
    found = lookup({"ASCEND_OPP_PATH": f"{opp}/"}, cann)
    assert [place.origin for place in found.prototypes] == [Origin.BUILT_IN]
    assert found.vendors is not None
    assert found.vendors.names is None


def test_without_built_in_the_layout_is_the_old_one_and_its_config_is_not_read(tmp_path: Path, cann: Toolkit) -> None:
    opp = _opp(tmp_path, "load_priority=a", "a")
    (opp / "built-in").rename(opp / "elsewhere")
    _root(opp, "op_proto/custom/libmine.so")
    found = lookup({"ASCEND_OPP_PATH": str(opp)}, cann)
    assert found.is_old_layout
    assert found.vendors is None
    assert [(place.name, place.state) for place in found.prototypes] == [("custom", State.FOUND), ("built-in", State.MISSING)]


def test_roots_that_an_activation_puts_first_have_no_place_in_the_variable(tmp_path: Path, make_toolkit: Callable[..., Path]) -> None:
    found = lookup({"ASCEND_CUSTOM_OPP_PATH": "/x"}, None, first=[tmp_path])
    assert [(place.position, place.name) for place in found.custom] == [(-1, str(tmp_path)), (0, "/x")]


def test_a_place_is_a_value(tmp_path: Path) -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        place_of(os.fspath(tmp_path), _HOST).name = ""  # type: ignore[misc]
