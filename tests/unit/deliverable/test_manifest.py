"""The manifest: what is written is read again, and nothing that came from elsewhere is believed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from manifest_support import signed
from waiting_support import never_waiting

from opkit.deliverable import LARGEST_MANIFEST, MANIFEST, MOST_OPS, Manifest, OppRoot
from opkit.errors import DeliverableError

_HEADER = PurePosixPath("op_graph/include/add.h")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / _HEADER).parent.mkdir(parents=True)
    (tmp_path / _HEADER).write_text("REG_OP")
    return tmp_path


@pytest.fixture
def manifest(root: Path) -> Manifest:
    return signed(root, [str(_HEADER)], ops=("AddRefreshOp", "AddNoRefreshOp")).manifest


def test_what_is_written_is_read_again(root: Path, manifest: Manifest) -> None:
    manifest.write(root)
    assert Manifest.read(root) == manifest
    assert OppRoot.read(root) == OppRoot(path=root, manifest=manifest)
    assert manifest.built_against.is_simulator


def test_a_folder_without_one_is_no_opp_root_of_opkit(tmp_path: Path) -> None:
    assert OppRoot.read(tmp_path) is None
    assert OppRoot.read(tmp_path / "gone") is None


def test_an_untouched_folder_has_no_violations(root: Path, manifest: Manifest) -> None:
    assert manifest.violations(root) == []


@pytest.mark.parametrize("content", ["REG_OPS", "REG_OQ"], ids=["longer", "of the same length"])
def test_a_changed_file_is_a_violation(root: Path, manifest: Manifest, content: str) -> None:
    (root / _HEADER).write_text(content)
    assert manifest.violations(root) == [f"{_HEADER} isn't the file that was built"]


def test_a_missing_file_is_a_violation(root: Path, manifest: Manifest) -> None:
    (root / _HEADER).unlink()
    assert manifest.violations(root) == [f"{_HEADER} is missing"]


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "a/../../b", "", "a\0b"])
def test_a_path_that_leaves_the_folder_is_refused(root: Path, manifest: Manifest, path: str) -> None:
    manifest.write(root)
    _change(root, ("files", 0, "path"), path)
    with pytest.raises(DeliverableError, match="no manifest that this opkit can read"):
        Manifest.read(root)


_WRONG: list[tuple[tuple[str | int, ...], object]] = [
    (("layout",), "x" * 100_000),
    (("package",), "x" * 100_000),
    (("files", 0, "path"), "../" + "x" * 100_000),
    (("files", 0, "size"), 1 << 63),
    (("files", 0, "size"), -1),
    (("layout",), 1),
    (("layout",), 3),
    (("package",), None),
    (("ops",), "AddRefreshOp"),
    (("ops",), [1]),
    (("files",), {}),
    (("files", 0, "sha256"), 3),
    (("built_against",), []),
    (("built_against", "abi"), "0"),
]


@pytest.mark.parametrize(("place", "value"), _WRONG, ids=range(len(_WRONG)))
def test_a_value_of_the_wrong_type_is_refused(root: Path, manifest: Manifest, place: tuple[str | int, ...], value: object) -> None:
    manifest.write(root)
    _change(root, place, value)
    with pytest.raises(DeliverableError) as caught:
        OppRoot.read(root)
    because = caught.value.because or ""
    assert 0 < len(because) < 400, because[:800]
    assert "Error" not in because
    assert caught.value.exit_code == 4


_NO_MANIFESTS = ["", "{", "[]", "null", '{"layout": 1}', '{"layout": 2}', "\x00", "[" * 100_000, "9" * 100_000]


@pytest.mark.parametrize("text", _NO_MANIFESTS, ids=range(len(_NO_MANIFESTS)))
def test_text_that_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(DeliverableError) as caught:
        Manifest.read(tmp_path)
    assert "Error" not in (caught.value.because or "")


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).mkdir()
    with pytest.raises(DeliverableError) as caught:
        Manifest.read(tmp_path)
    assert caught.value.because == "Is a directory"


def test_a_pipe_in_its_place_is_refused_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / MANIFEST)
    with pytest.raises(DeliverableError) as caught, never_waiting():
        Manifest.read(tmp_path)
    assert caught.value.message == f"{tmp_path / MANIFEST} is no manifest that this opkit can read"
    assert caught.value.because == "it is no file"


def test_one_that_is_too_large_is_refused_and_not_read(tmp_path: Path) -> None:
    with (tmp_path / MANIFEST).open("wb") as file:
        file.truncate(8 << 40)
    with pytest.raises(DeliverableError) as caught, never_waiting():
        Manifest.read(tmp_path)
    assert caught.value.because == f"it has {8 << 40} bytes, and at most {LARGEST_MANIFEST} are read"
    assert caught.value.number == "OPK0405"


_AS_NOBODY = """\
import os, pathlib, shlex, sys
from opkit.deliverable import Manifest
from opkit.errors import DeliverableError
os.setgroups([]), os.setgid(65534), os.setuid(65534)
try: Manifest.read(pathlib.Path(sys.argv[1]))
except DeliverableError as error: print(error.message, error.because, error.help, sep="\\n")
"""


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize("closed", ["the file", "the folder"])
def test_one_that_may_not_be_read_is_told_with_the_command_that_lets_it(closed: str) -> None:
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        Path(name).chmod(0o755)
        folder = Path(name, "an output")
        folder.mkdir()
        (folder / MANIFEST).write_text("{}")
        (folder / MANIFEST if closed == "the file" else folder).chmod(0)
        done = subprocess.run([sys.executable, "-c", _AS_NOBODY, folder], capture_output=True, text=True, check=True)
        advice = f"chmod a+r '{folder / MANIFEST}'" if closed == "the file" else f"chmod a+rx '{folder}'"
        assert done.stdout.splitlines() == [f"cannot read {folder / MANIFEST}", "Permission denied", advice]


def _change(root: Path, place: tuple[str | int, ...], value: object) -> None:
    document: Any = json.loads((root / MANIFEST).read_text())
    target = document
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    (root / MANIFEST).write_text(json.dumps(document))


_LIES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a kind to come": (
        lambda said: said["built_against"].update(kind="foo"),
        "built_against.kind is 'foo', and this opkit knows cann and simulator",
    ),
    "an ABI to come": (lambda said: said["built_against"].update(abi=7), "built_against.abi is 7, and this opkit knows 0 and 1"),
    "an op twice": (lambda said: said["ops"].append(said["ops"][0]), "the op Add is named twice"),
    "as many ops as fit": (
        lambda said: said.update(ops=[{"type": f"Op{number}", "prototype": ""} for number in range(MOST_OPS + 1)]),
        "10001 ops; a package has at most 10000",
    ),
    "no name of an op": (lambda said: said["ops"][0].update(type="Add Custom"), "'Add Custom' where "),
    "an op that reads backwards": (
        lambda said: said["ops"][0].update(type="Add\u202emotsuC"),
        r"'Add\u202emotsuC' holds what can't be printed",
    ),
    "a prototype that reads backwards": (lambda said: said["ops"][0].update(prototype="\u2066x"), r"'\u2066x' holds what can't be printed"),
    "half a layout": (lambda said: said.update(layout=2.0), "expected int, found 2.0"),
}


@pytest.mark.parametrize("lie", list(_LIES))
def test_what_no_package_has_is_refused_with_what_is_known(tmp_path: Path, lie: str) -> None:
    change, because = _LIES[lie]
    document = _described(socs=[], libraries=[], npu_arch=None, requires=None)
    assert Manifest.parse(json.dumps(document).encode(), "a manifest").op_types == ("Add", "Mul")
    change(document)
    with pytest.raises(DeliverableError) as caught:
        Manifest.parse(json.dumps(document).encode(), "a manifest")
    assert because in (caught.value.because or "")


def test_a_package_may_have_many_ops() -> None:
    document = _described(socs=[], libraries=[], npu_arch=None, requires=None)
    document["ops"] = [{"type": f"Op{number}", "prototype": ""} for number in range(MOST_OPS)]
    assert len(Manifest.parse(json.dumps(document).encode(), "a manifest").ops) == MOST_OPS


@pytest.mark.parametrize(
    ("change", "because"),
    [
        (lambda text: text.replace('"package"', '"package": "other", "package"').encode(), "'package' is there twice"),
        (lambda text: text.replace('"type"', '"type": "Other", "type"', 1).encode(), "'type' is there twice"),
        (lambda text: text.encode("utf-16"), "it isn't UTF-8: "),
        (lambda text: text.encode("utf-8-sig"), "it begins with a byte order mark"),
    ],
    ids=["a key twice", "a key of an op twice", "UTF-16", "a byte order mark"],
)
def test_what_two_readers_would_read_otherwise_is_refused(change: Callable[[str], bytes], because: str) -> None:
    text = json.dumps(_described(socs=[], libraries=[], npu_arch=None, requires=None))
    with pytest.raises(DeliverableError) as caught:
        Manifest.parse(change(text), "a manifest")
    assert because in (caught.value.because or "")


def test_a_manifest_that_is_none_is_mended_where_it_was_made(tmp_path: Path) -> None:
    """An OPP root is no project: what is wrong with it can't be built there."""
    (tmp_path / MANIFEST).write_text("{")
    with pytest.raises(DeliverableError) as caught:
        Manifest.read(tmp_path)
    assert caught.value.help == "build it again in its project: opkit build; or install it again"


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
_JSON = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4))
_WORDS = st.sampled_from(["", "..", "/etc", "a/../b", "\x1b[31m", "0" * 64, "1.2", "dav-2201", "算子", "x" * 200, "\ud800", "1" * 129])


def _described(*, socs: list[str], libraries: list[str], npu_arch: str | None, requires: str | None) -> dict[str, Any]:
    return {
        "layout": 2,
        "package": "add",
        "version": "1.0+local.1",
        "opkit": requires,
        "ops": [{"type": "Add", "prototype": ".INPUT(x, TensorType({DT_FLOAT}))"}, {"type": "Mul", "prototype": ""}],
        "target": {"os": "linux", "arch": "x86_64", "npu_arch": npu_arch, "socs": socs},
        "built_against": {"kind": "cann", "version": "9.2", "abi": 0},
        "requires": {"toolkit": requires, "glibc": requires, "glibcxx": requires, "libraries": libraries},
        "files": [{"path": f"op_graph/{name}", "sha256": "0" * 64, "size": size} for name, size in (("a.h", 0), ("lib/b.so", 1 << 40))],
    }


_VALID = st.builds(
    _described,
    socs=st.lists(st.sampled_from(["Ascend910B", "昇腾"]), max_size=2),
    libraries=st.lists(st.just("libc.so.6"), max_size=2),
    npu_arch=st.none() | st.just("dav-2201"),
    requires=st.none() | st.just("2.34"),
)


def _places(document: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:  # noqa: ANN401 - any document
    inner = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    return [above, *(place for key, value in inner for place in _places(value, (*above, key)))]


@st.composite
def _mutated(draw: st.DrawFn) -> Any:  # noqa: ANN401 - any document
    """A manifest of which something is another, is gone, is there twice or has another name."""
    document: Any = draw(_VALID)
    for _ in range(draw(st.integers(1, 3))):
        *above, key = draw(st.sampled_from([place for place in _places(document) if place]))
        target: Any = document
        for step in above:
            target = target[step]
        match draw(st.sampled_from(["another", "a word", "gone", "again"])):
            case "another":
                target[key] = draw(_JSON)
            case "a word":
                target[key] = draw(_WORDS)
            case "gone":
                del target[key]
            case _ if isinstance(target, dict):
                target[f"{key}2"] = target.pop(key)
            case _:
                target.append(target[key])
        if not document:
            break
    return document


def _is_read_and_written_the_same(raw: bytes, root: Path) -> bool:
    """Whether it is a manifest at all."""
    (root / MANIFEST).write_bytes(raw)
    try:
        manifest = Manifest.parse(raw, "a manifest")
    except DeliverableError as error:
        assert error.because  # noqa: PT017 - which of the two it is isn't known before
        with pytest.raises(DeliverableError):
            Manifest.read(root)
        return False
    assert Manifest.read(root) == manifest
    manifest.write(root)
    assert Manifest.read(root) == manifest
    assert isinstance(manifest.violations(root), list)
    return True


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("root")


@settings(deadline=None, max_examples=200)
@given(document=_VALID)
def test_any_manifest_is_read_and_written_the_same(place: Path, document: dict[str, Any]) -> None:
    assert _is_read_and_written_the_same(json.dumps(document).encode(), place)


@settings(deadline=None, max_examples=300)
@given(document=_JSON | _mutated())
@example(
    document={
        **_described(socs=[], libraries=[], npu_arch=None, requires=None),
        "built_against": {"kind": "", "version": "", "abi": 10**4000},
    }
)
def test_any_document_is_a_manifest_or_one_clear_error(place: Path, document: object) -> None:
    _is_read_and_written_the_same(json.dumps(document).encode(), place)


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_any_text_is_a_manifest_or_one_clear_error(place: Path, data: st.DataObject) -> None:
    """Bytes of a manifest that became others, in any encoding."""
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"]))
    raw = bytearray(json.dumps(data.draw(_VALID)).encode(encoding))
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(raw)))
        raw[start : start + data.draw(st.integers(0, 4))] = data.draw(
            st.binary(max_size=4) | st.sampled_from([b"1e999", b"9" * 5000, b"NaN", b"[" * 2000])
        )
    _is_read_and_written_the_same(bytes(raw), place)
