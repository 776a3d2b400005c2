"""The user's cache of what templates are compiled to: it saves work, and whatever lies in its place, the same is rendered."""

from __future__ import annotations

import hashlib
import json
import marshal
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import jinja2
import pytest

import opkit
from opkit.codegen import templates
from opkit.codegen.templates import opened

_PAGE = "{% for word in words %}\nsay {{ word }};\n{% endfor %}\n"
_TEXT = "say one;\nsay two;\n"


class Places:
    """A folder of templates and the user's cache, each `rendered` as in a process of its own."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.cache = cache
        self.compiled: list[str] = []
        folder.mkdir(parents=True)
        for name in ("page.j2", "other.j2"):
            (folder / name).write_text(_PAGE)

    def rendered(self, *names: str) -> list[str]:
        templates._environment.cache_clear()
        self.compiled.clear()
        with opened(self.folder) as environment:
            return [environment.get_template(name).render(words=["one", "two"]) for name in names]

    @property
    def file(self) -> Path:
        (file,) = self.cache.rglob("*.bin")
        return file


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    made = Places(tmp_path / "templates", tmp_path / "cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(made.cache))
    compile_ = jinja2.Environment.compile

    def noting(self: jinja2.Environment, source: str, name: str, *more: object) -> object:
        made.compiled.append(name)
        return compile_(self, source, name, *more)  # type: ignore[call-overload]

    monkeypatch.setattr(jinja2.Environment, "compile", noting)
    return made


def test_a_template_is_compiled_once_for_all_processes(places: Places) -> None:
    assert places.rendered("page.j2") == [_TEXT]
    assert places.compiled == ["page.j2"]
    assert places.rendered("page.j2") == [_TEXT]
    assert places.compiled == []
    # What another package needs as well is compiled beside it.
    assert places.rendered("page.j2", "other.j2") == [_TEXT, _TEXT]
    assert places.compiled == ["other.j2"]
    assert places.rendered("page.j2", "other.j2") == [_TEXT, _TEXT]
    assert places.compiled == []


def test_a_changed_template_is_seen(places: Places) -> None:
    places.rendered("page.j2", "other.j2")
    (places.folder / "page.j2").write_text(_PAGE.replace("say", "see"))
    assert places.rendered("page.j2", "other.j2") == [_TEXT.replace("say", "see"), _TEXT]
    assert places.compiled == ["page.j2"]
    assert places.rendered("page.j2") == [_TEXT.replace("say", "see")]
    assert places.compiled == []


def test_another_installation_has_the_same_cache_and_names_its_own_templates(places: Places, tmp_path: Path) -> None:
    places.rendered("page.j2")
    places.folder = Path(shutil.copytree(places.folder, tmp_path / "elsewhere" / places.folder.name))
    assert places.rendered("page.j2") == [_TEXT]
    assert places.compiled == []
    with opened(places.folder) as environment:
        template = environment.get_template("page.j2")
    assert template.filename == str(places.folder / "page.j2")
    with pytest.raises(jinja2.UndefinedError) as caught:
        template.render()
    assert caught.traceback[-1].path == places.folder / "page.j2"


@pytest.mark.parametrize("what", ["jinja2", "opkit"])
def test_another_version_compiles_again(places: Places, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    places.rendered("page.j2")
    with monkeypatch.context() as patch:
        patch.setattr({"jinja2": jinja2, "opkit": templates}[what], "__version__", "99.1")
        assert places.rendered("page.j2") == [_TEXT]
        assert places.compiled == ["page.j2"]
        places.rendered("page.j2")
        assert places.compiled == []


def test_other_options_of_jinja2_compile_again(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    places.rendered("page.j2")
    monkeypatch.setitem(templates._OPTIONS, "trim_blocks", False)
    assert places.rendered("page.j2") == ["\nsay one;\n\nsay two;\n\n"]


def _damaged(content: bytes) -> list[bytes]:
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 0x40
    return [b"", content[:20], content[:-1], content + b"\0", bytes(flipped), b"\0" * len(content), marshal.dumps({})]


@pytest.mark.parametrize("number", range(7))
def test_a_damaged_cache_is_written_anew(places: Places, number: int) -> None:
    places.rendered("page.j2")
    whole = places.file.read_bytes()
    places.file.write_bytes(_damaged(whole)[number])
    assert places.rendered("page.j2") == [_TEXT]
    assert places.compiled == ["page.j2"]
    assert places.file.read_bytes() == whole


def _forged(places: Places) -> bytes:
    """A whole cache in which the page says something else: only whose file it is tells."""
    (places.folder / "page.j2").write_text(_PAGE.replace("say", "steal"))
    places.rendered("page.j2")
    known = marshal.loads(places.file.read_bytes()[hashlib.sha256().digest_size :])  # noqa: S302 - written a line above
    (places.folder / "page.j2").write_text(_PAGE)
    payload = marshal.dumps({"page.j2": (hashlib.sha1(_PAGE.encode()).hexdigest(), known["page.j2"][1])})  # noqa: S324 - jinja2's
    return templates._digest(payload) + payload


def test_what_others_could_have_written_is_not_run(places: Places) -> None:
    content = _forged(places)
    for mode in (0o620, 0o602, 0o666):
        places.file.write_bytes(content)
        places.file.chmod(mode)
        assert places.rendered("page.j2") == [_TEXT]
        assert places.file.stat().st_mode & 0o777 == 0o600
    # And would be, were it this user's own.
    places.file.write_bytes(content)
    assert places.rendered("page.j2") == [_TEXT.replace("say", "steal")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_another_user_wrote_is_not_run(places: Places) -> None:
    content = _forged(places)
    places.file.write_bytes(content)
    os.chown(places.file, 65534, 65534)
    assert places.rendered("page.j2") == [_TEXT]
    assert places.file.stat().st_uid == 0


@pytest.mark.parametrize("part", ["", "opkit", "opkit/templates"])
@pytest.mark.parametrize(
    "how", ["everybody", pytest.param("another", marks=pytest.mark.skipif(os.geteuid() != 0, reason="root gives it away"))]
)
def test_a_folder_in_which_another_user_could_have_put_a_link_to_a_file_of_this_one_is_let_be(places: Places, part: str, how: str) -> None:
    content = _forged(places)
    elsewhere = places.folder.parent / "elsewhere"
    elsewhere.write_bytes(content)
    file = places.file
    file.unlink()
    file.symlink_to(elsewhere)
    assert places.rendered("page.j2") == [_TEXT.replace("say", "steal")]
    folder = places.cache / part
    if how == "everybody":
        folder.chmod(0o1777)
    else:
        os.chown(folder, 65534, 65534)
    assert places.rendered("page.j2") == [_TEXT]
    assert (file.readlink(), elsewhere.read_bytes()) == (elsewhere, content)


@pytest.mark.parametrize("umask", [0, 0o077])
def test_nobody_else_may_write_to_the_cache(places: Places, umask: int) -> None:
    before = os.umask(umask)
    try:
        places.rendered("page.j2")
    finally:
        os.umask(before)
    assert places.file.stat().st_mode & 0o777 == 0o600
    assert places.file.parent.stat().st_mode & 0o022 == 0


@pytest.mark.parametrize("what", ["a pipe", "a folder", "a link to nowhere", "a link to itself"])
def test_what_is_no_file_keeps_nobody_waiting(places: Places, what: str) -> None:
    places.rendered("page.j2")
    file = places.file
    file.unlink()
    if what == "a pipe":
        os.mkfifo(file)
    elif what == "a folder":
        file.mkdir()
    else:
        file.symlink_to("nowhere" if what == "a link to nowhere" else file.name)
    assert places.rendered("page.j2") == [_TEXT]
    assert places.compiled == ["page.j2"]


@pytest.mark.parametrize("where", ["cache", "cache/opkit", "cache/opkit/templates"])
def test_a_file_where_the_cache_would_be_changes_nothing(places: Places, where: str) -> None:
    path = places.folder.parent / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    assert places.rendered("page.j2") == [_TEXT]
    assert path.read_text() == "mine"


_RENDERS = textwrap.dedent(
    """
    import encodings.unicode_escape  # jinja2's, and another user may not be let into Python's own folder.
    import json, os, sys
    import jinja2
    compiled, compile_ = [], jinja2.Environment.compile
    jinja2.Environment.compile = lambda self, source, name, *more: (compiled.append(name), compile_(self, source, name, *more))[1]
    from opkit.codegen import NewProject, render_project
    if len(sys.argv) > 1:
        os.setgid(int(sys.argv[1]))
        os.setuid(int(sys.argv[1]))
    files = render_project(NewProject(name="tiny", op_type="Tiny"))
    print(json.dumps([len(compiled), {file.path: file.text for file in files}]))
    """
)


def _in_another_process(environ: dict[str, str], *arguments: str) -> tuple[int, dict[str, str]]:
    environ = {"PATH": os.environ["PATH"], **environ}
    done = subprocess.run([sys.executable, "-c", _RENDERS, *arguments], env=environ, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    count, files = json.loads(done.stdout)
    return count, files


def test_processes_at_once_leave_a_whole_cache(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(tmp_path)}
    running = [subprocess.Popen([sys.executable, "-c", _RENDERS], env=environ, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [json.loads(each.communicate()[0])[1] for each in running]
    assert all(files == said[0] for files in said)
    assert _in_another_process(environ) == (0, said[0])
    assert len(list((tmp_path / "opkit" / "templates").iterdir())) == 1


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "relative"}, {"HOME": "{tmp}/gone"}], ids=str)
def test_without_a_home_folder_it_compiles_each_time_and_makes_none(tmp_path: Path, environ: dict[str, str]) -> None:
    environ = {name: value.format(tmp=tmp_path) for name, value in environ.items()}
    first = _in_another_process(environ)
    assert first[0] > 0
    assert _in_another_process(environ) == first
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.skipif(os.geteuid() != 0, reason="root writes anywhere, and becomes another user here")
def test_a_cache_that_can_not_be_written_or_read_changes_nothing(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    nobody = "65534"
    expected = _in_another_process({})
    assert _in_another_process(environ, nobody) == expected
    assert list(tmp_path.iterdir()) == []
    _in_another_process(environ)
    # Root's, which this user isn't let into; and, were he, wouldn't run.
    assert _in_another_process(environ, nobody) == expected


def test_the_cache_is_named_by_the_versions_that_share_it(places: Places) -> None:
    places.rendered("page.j2")
    name = f"templates-{opkit.__version__}-{sys.implementation.cache_tag}.bin"
    assert places.file == places.cache / "opkit" / "templates" / name
