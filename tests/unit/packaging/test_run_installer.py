"""The self-extracting installer: real makeself, real shells, and opkit as the judge of what was installed."""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from archive_support import MACHINES, elf
from install_support import install, library, opp_root
from manifest_support import signed
from tool_support import require_tool

from opkit.deliverable import MANIFEST, OppRoot, Requires, Target
from opkit.errors import DeliverableError, InstallerFileError, MakeselfError, SimulatorBuildError
from opkit.packaging import installed, open_archive, uninstall
from opkit.packaging.run_installer import pack_run
from opkit.toolkit import host_arch

_FOLDER = f"op_graph/lib/linux/{host_arch()}"
_LIBRARY = f"{_FOLDER}/libcust_opapi.so"
_KERNEL = f"{_FOLDER}/add.asc"
_HEADER = "op_graph/include/add.h"
_WAS_FOLDER = "op_graph/include/sub"
_OLD = {_LIBRARY: "library 1", _KERNEL: "kernel", _HEADER: "header 1", f"{_FOLDER}/加 法.asc": "old 昇腾 kernel", f"{_WAS_FOLDER}/x.h": "x"}
_NEW = {_LIBRARY: "library 2", _HEADER: "header 1", f"{_FOLDER}/mul.asc": "kernel 2", _WAS_FOLDER: "a file now"}
_ENVIRON = {"PATH": os.environ["PATH"]}
# All of GNU coreutils that the script calls, and flock, which it does without.
_TOOLS = [
    *("cat", "chmod", "chown", "cp", "date", "flock", "id", "ln", "mkdir"),
    *("mv", "readlink", "rm", "rmdir", "sha256sum", "sleep", "stat", "touch", "tr", "uname"),
]


def _opp_root(folder: Path, files: Mapping[str, str], **said: Any) -> OppRoot:  # noqa: ANN401 - what `signed` takes
    return opp_root(folder, files, **{"kind": "cann", **said})


def _packed(root: OppRoot, folder: Path, environ: Mapping[str, str] = _ENVIRON) -> Path:
    return pack_run(root, folder, epoch=0, environ=environ).path


class _Case:
    """Two versions of a package: as OPP roots, as installers, and as what an installer unpacks to."""

    def __init__(self, folder: Path) -> None:
        self.roots = {
            "1.0": _opp_root(folder / "old" / "root", _OLD, version="1.0"),
            "2.0": _opp_root(folder / "new" / "root", _NEW, version="2.0"),
        }
        self.installers = {version: _packed(root, folder / version) for version, root in self.roots.items()}
        self.unpacked = {}
        for version, installer in self.installers.items():
            self.unpacked[version] = folder / version / "unpacked"
            done = subprocess.run([installer, "--quiet", "--noexec", "--target", self.unpacked[version]], check=False)
            assert done.returncode == 0

    def script(self, version: str, *options: str | Path, shell: str = "dash", **how: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
        """What makeself starts, without the 0.2 s that makeself takes."""
        how = {"cwd": self.unpacked[version], "env": _ENVIRON, **how}
        return subprocess.run([shell, "install.sh", *map(str, options)], capture_output=True, text=True, check=False, **how)


@pytest.fixture(scope="module", autouse=True)
def _makeself() -> None:
    require_tool("makeself", "makeself")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> _Case:
    return _Case(tmp_path_factory.mktemp("installers"))


def _run(installer: Path | str, *options: str | Path, env: Mapping[str, str] = _ENVIRON, **how: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401
    return subprocess.run([str(installer), *map(str, options)], env=env, capture_output=True, text=True, check=False, **how)


def _tree(folder: Path) -> dict[str, str]:
    """Each path below it, with its mode and what it is; a receipt's time and source aside."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = stat.filemode(path.lstat().st_mode)
        content = str(path.readlink()) if path.is_symlink() else path.read_text(errors="replace") if path.is_file() else ""
        if path.parent.name == ".opkit" and path.suffix == ".json":
            content = re.sub(r'"(source|sha256|installed)": "[^"]*",\n      "', r'"\1": …, "', content)
        if path.name == ".made":
            content = content.replace(str(folder), "…")
        found[str(path.relative_to(folder))] = f"{mode} {content}" if path.name != ".lock" else mode
    return found


def _is_as_built(prefix: Path, version: str) -> bool:
    (package,) = installed(prefix)
    return package.version == version and package.problems() == []


# --- the file


@pytest.mark.case("K1")
def test_the_same_deliverable_gives_the_same_bytes(case: _Case, tmp_path: Path) -> None:
    root = case.roots["1.0"]
    moved = tmp_path / "other place" / "算子"
    shutil.copytree(root.path, moved)
    # Each of these reaches into makeself, tar or gzip; the PATH finds makeself in another folder.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "makeself").write_text(f'#!/bin/sh\nexec {shutil.which("makeself")} "$@"\n')
    (tmp_path / "bin" / "makeself").chmod(0o755)
    environ = {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C.UTF-8",
        "TAR_OPTIONS": "--mode=0600",
        "GZIP": "-1",
        "LICENSE": "x",
        "TMPDIR": "/nowhere",
    }
    before = os.umask(0o077)
    try:
        again = _packed(OppRoot(path=moved, manifest=root.manifest), tmp_path / "out", environ)
    finally:
        os.umask(before)
    assert again.read_bytes() == case.installers["1.0"].read_bytes()
    assert again.name == f"add-1.0-linux_{host_arch()}.run"
    assert stat.S_IMODE(again.stat().st_mode) == 0o755
    assert [path.name for path in (tmp_path / "out").iterdir()] == [again.name]
    later = pack_run(root, tmp_path / "later", epoch=86400, environ=_ENVIRON).path
    assert later.read_bytes() != again.read_bytes()


def test_nothing_of_the_machine_that_made_it_is_in_it(case: _Case) -> None:
    content = case.installers["1.0"].read_bytes()
    header = content[: content.index(b"\x1f\x8b")].decode()
    assert str(case.roots["1.0"].path.parent) not in header
    assert str(shutil.which("makeself")) not in header
    assert 'Build command was: "makeself \\' in header
    assert "Date of packaging: 1970-01-01T00:00:00+00:00\n" in header


def test_options_of_makeself_keep_working(case: _Case, tmp_path: Path) -> None:
    installer = case.installers["1.0"]
    checked = _run(installer, "--check")
    assert (checked.returncode, "SHA256 checksums are OK." in checked.stdout + checked.stderr) == (0, True)
    assert f"./opp/{_LIBRARY}" in _run(installer, "--list").stdout
    assert "Identification: add 1.0" in _run(installer, "--info").stdout
    names = _run(installer, "--tar", "tf", "--wildcards", "./opp/op_graph/*/add.h").stdout
    assert names == f"./opp/{_HEADER}\n"
    for options in (["--target", "one"], ["--keep"], ["--quiet", "--accept", "--nox11", "--noprogress", "--keep"]):
        folder = tmp_path / "".join(options)
        folder.mkdir()
        done = _run(installer, *options, "--noexec", cwd=folder)
        assert done.returncode == 0, done.stderr
        (unpacked,) = folder.iterdir()
        assert unpacked.name in ("one", "add-1.0")
        assert (unpacked / "opp" / _LIBRARY).read_bytes() == library("library 1")
    assert _run(installer, "--accept", "--install-path", tmp_path / "p").returncode == 0
    assert _is_as_built(tmp_path / "p", "1.0")


@pytest.mark.parametrize(
    "options",
    [
        ["--install-path", "{}"],
        ["--install-path={}"],
        ["--", "--install-path", "{}"],
        ["--nochown", "--", "--install-path={}"],
        ["--install-path", "{}", "--nodiskspace"],
        ["--quiet", "--install-path", "{}"],
        ["--install-path", "{}", "--quiet"],
        ["-q", "--", "--install-path", "{}"],
        ["--", "--quiet", "--install-path", "{}"],
    ],
    ids=" ".join,
)
def test_its_own_options_need_no_double_dash_and_quiet_is_for_both(case: _Case, tmp_path: Path, options: list[str]) -> None:
    prefix = tmp_path / "in stall 'of' \"$(me)\" 算子"
    done = _run(case.installers["1.0"], *(each.format(prefix) for each in options))
    assert done.returncode == 0, done.stderr
    assert _is_as_built(prefix, "1.0")
    if {"--quiet", "-q"} & {*options}:
        assert done.stdout + done.stderr == ""
    else:
        assert "Verifying archive integrity..." in done.stdout
        assert f"installed add 1.0 -> {prefix}/add\n" in done.stdout


def test_help_is_told_with_and_without_that_of_makeself(case: _Case) -> None:
    both = _run(case.installers["1.0"], "--help")
    own = _run(case.installers["1.0"], "--", "--help")
    assert (both.returncode, own.returncode) == (0, 0)
    assert "--install-path DIR" in both.stderr
    assert "--noexec " in both.stderr
    assert "--install-path DIR" in own.stdout
    assert "--noexec " not in own.stdout


@pytest.mark.parametrize("options", [["--instal-path", "/x"], ["--force"], ["/x"], ["--uninstall", "now"], ["--", "--list"]], ids=" ".join)
def test_an_unknown_option_is_an_error_and_not_ignored(case: _Case, tmp_path: Path, options: list[str]) -> None:
    done = _run(case.installers["1.0"], *options, env={**_ENVIRON, "HOME": str(tmp_path)})
    assert done.returncode == 2
    unknown = next(each for each in options if each not in ("--", "--uninstall"))
    assert f"error: no such option: {unknown}\n  because: there are --install-path DIR" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["a byte", "the end", "more"])
def test_a_damaged_installer_installs_nothing(case: _Case, tmp_path: Path, damage: str) -> None:
    content = case.installers["1.0"].read_bytes()
    middle = content.index(b"\x1f\x8b") + 500
    damaged = {
        "a byte": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "the end": content[:-100],
        "more": content + b"\n",
    }[damage]
    installer = tmp_path / "damaged.run"
    installer.write_bytes(damaged)
    installer.chmod(0o755)
    for options in (["--install-path", str(tmp_path / "p")], ["--check"]):
        done = _run(installer, *options)
        assert done.returncode == 4, done.stdout + done.stderr
        assert "SHA256 checksums" in done.stderr or "Unexpected archive size" in done.stderr
        assert "installed" not in done.stdout
    assert not (tmp_path / "p").exists()


def test_it_works_by_a_shell_from_any_folder_with_nothing_executable(case: _Case, tmp_path: Path) -> None:
    """What a noexec /tmp asks for: neither the installer nor what it unpacks is executed, both are read by a shell."""
    assert [path for path in case.unpacked["1.0"].iterdir() if path.is_file() and path.stat().st_mode & 0o111] == []
    folder = tmp_path / "my 算子"
    (folder / "tmp").mkdir(parents=True)
    installer = shutil.copy(case.installers["1.0"], folder / "it.run")
    Path(installer).chmod(0o444)
    for shell in ("dash", "bash"):
        prefix = folder / shell
        argv = [shell, "it.run", "--install-path", prefix]
        done = subprocess.run(
            argv, cwd=folder, env={**_ENVIRON, "TMPDIR": str(folder / "tmp")}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert _is_as_built(prefix, "1.0")
        (package,) = installed(prefix)
        assert package.receipt is not None
        assert package.receipt.source in (f"{folder}/it.run", case.installers["1.0"].name)
    assert list((folder / "tmp").iterdir()) == []


def test_the_receipt_names_the_installer_by_path_and_hash(case: _Case, tmp_path: Path) -> None:
    installer = shutil.copy(case.installers["1.0"], tmp_path / "renamed.run")
    assert _run("./renamed.run", "--install-path", tmp_path / "p", cwd=tmp_path).returncode == 0
    (package,) = installed(tmp_path / "p")
    assert package.receipt is not None
    assert package.receipt.source == str(installer)
    (told,) = _run("sha256sum", str(installer)).stdout.split()[:1]
    assert package.receipt.sha256 == told


# --- packing


def test_without_makeself_packing_says_how_to_get_it(case: _Case, tmp_path: Path) -> None:
    with pytest.raises(MakeselfError) as caught:
        pack_run(case.roots["1.0"], tmp_path / "out", epoch=0, environ={"PATH": str(tmp_path)})
    assert caught.value.exit_code == 3
    assert caught.value.help == "sudo apt install makeself"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("script", "because"),
    [
        ("echo no space left >&2; exit 1", "no space left"),
        ("exit 9", "it ended with 9 and said nothing"),
        ("while test $# -gt 5; do shift; done; echo '#!/bin/sh' >$2", "counts no lines"),
        ('MAKESELF "$@" && truncate -s -20 installer', "counts no lines"),
    ],
)
def test_a_makeself_that_fails_leaves_the_installer_that_was_there(case: _Case, tmp_path: Path, script: str, because: str) -> None:
    out, tools = tmp_path / "out", tmp_path / "bin"
    known = _packed(case.roots["1.0"], out)
    before = known.read_bytes()
    tools.mkdir()
    (tools / "makeself").write_text(f"#!/bin/sh\n{script}\n".replace("MAKESELF", str(shutil.which("makeself"))))
    (tools / "makeself").chmod(0o755)
    with pytest.raises(MakeselfError) as caught:
        _packed(case.roots["1.0"], out, {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"})
    assert because in str(caught.value.because)
    assert known.read_bytes() == before
    assert list(out.iterdir()) == [known]


def test_what_was_built_against_the_simulator_is_refused_or_marked(tmp_path: Path) -> None:
    root = _opp_root(tmp_path / "root", _NEW, kind="simulator")
    with pytest.raises(SimulatorBuildError):
        pack_run(root, tmp_path, epoch=0, environ=_ENVIRON)
    packed = pack_run(root, tmp_path, epoch=0, environ=_ENVIRON, is_simulator_allowed=True)
    assert packed.path.name == f"add-0.1.0+sim-linux_{host_arch()}.run"
    assert packed.size == packed.path.stat().st_size
    done = _run(packed.path, "--quiet", "--install-path", tmp_path / "p")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "warning: add 0.1.0 was built against the host simulator; it is no package for a device\n"


def test_only_what_was_built_is_packed(tmp_path: Path) -> None:
    root = _opp_root(tmp_path / "root", _NEW)
    (root.path / "notes.txt").write_text("mine")
    assert "notes.txt" not in _run(_packed(root, tmp_path), "--list").stdout
    with pytest.raises(DeliverableError) as caught:
        _packed(root._replace(manifest=root.manifest._replace(version="9")), tmp_path / "out")
    assert "was changed while it was packed" in caught.value.message
    (root.path / _HEADER).write_text("edited")
    with pytest.raises(DeliverableError) as caught:
        _packed(root, tmp_path / "out")
    assert f"{_HEADER} isn't the file that was built" in str(caught.value.because)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_name_that_a_shell_would_misread_is_refused(tmp_path: Path) -> None:
    for name, told in {"a\\nb.asc": "backslash", "a{1}.h": "a brace", 'q"x.h': "a quotation mark"}.items():
        root = _opp_root(tmp_path / name / "root", {_LIBRARY: "library", f"{_FOLDER}/{name}": "kernel"})
        with pytest.raises(DeliverableError) as caught:
            _packed(root, tmp_path / "out")
        assert told in str(caught.value.because)
        with pytest.raises(DeliverableError, match="isn't what was built"):
            install(root, tmp_path / "p")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "p").exists()


def test_a_name_longer_than_an_old_tar_holds_is_packed(tmp_path: Path) -> None:
    name = f"{_FOLDER}/{'k' * 150}.asc"
    installer = _packed(_opp_root(tmp_path / "root", {_LIBRARY: "library", name: "kernel"}), tmp_path)
    assert _run(installer, "--quiet", "--install-path", tmp_path / "p").returncode == 0
    assert (tmp_path / "p" / "add" / name).read_text() == "kernel"


def test_opkit_names_the_way_for_an_installer(case: _Case) -> None:
    installer = case.installers["1.0"]
    with pytest.raises(InstallerFileError) as caught, open_archive(installer):
        pass
    assert f"run it: sh {shlex.quote(str(installer))} --install-path /DIR" in str(caught.value.help)


def test_an_installer_is_run_by_the_path_that_names_it(case: _Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dist").mkdir()
    shutil.copy(case.installers["1.0"], tmp_path / "dist/add.run")
    monkeypatch.chdir(tmp_path)
    for named, there in (("dist/add.run", "dist"), ("add.run", ".")):
        monkeypatch.chdir(tmp_path / ("" if there == "dist" else "dist"))
        with pytest.raises(InstallerFileError) as caught, open_archive(Path(named)):
            pass
        assert f"run it: sh ./{named} --install-path /DIR" in str(caught.value.help)


# --- where to


def test_the_default_is_the_prefix_of_opkit(case: _Case, tmp_path: Path) -> None:
    home, data, own = tmp_path / "home", tmp_path / "data", tmp_path / "own"
    environ = {**_ENVIRON, "HOME": str(home), "XDG_DATA_HOME": str(data), "OPKIT_PREFIX": str(own)}
    home.mkdir()
    for prefix in (own, data / "opkit" / "opp", home / ".local" / "share" / "opkit" / "opp"):
        done = case.script("1.0", env=environ)
        assert done.returncode == 0, done.stderr
        assert _is_as_built(prefix, "1.0")
        assert case.script("1.0", "--uninstall", env=environ).returncode == 0
        assert not prefix.exists()
        environ.popitem()
    nowhere = case.script("1.0", env=environ)
    assert nowhere.returncode == 3
    assert "neither OPKIT_PREFIX, XDG_DATA_HOME nor HOME names an absolute path" in nowhere.stderr


@pytest.mark.case("F8")
def test_the_search_path_of_ge_is_never_a_target(case: _Case, tmp_path: Path) -> None:
    listed = f"{tmp_path / 'a'}:{tmp_path / 'b'}"
    (tmp_path / "home").mkdir()
    environ = {**_ENVIRON, "HOME": str(tmp_path / "home"), "ASCEND_CUSTOM_OPP_PATH": listed}
    assert case.script("1.0", env=environ).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    for options, variables in ((["--install-path", listed], {}), ([f"--install-path={listed}"], {}), ([], {"OPKIT_PREFIX": listed})):
        done = case.script("1.0", *options, env={**environ, **variables})
        assert done.returncode == 2
        assert f"isn't one folder: {listed}\n  because: a ':' separates the folders of ASCEND_CUSTOM_OPP_PATH" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


@pytest.mark.parametrize(
    ("options", "because"),
    [
        (["--install-path"], "nothing comes after it"),
        (["--install-path", ""], "it has to name a folder"),
        (["--install-path="], "it has to name a folder"),
        (["--install-path", "//"], "packages need a folder of their own"),
        (["--install-path", "/."], "packages need a folder of their own"),
        (["--install-path", "/opt/./..//"], "packages need a folder of their own"),
        (["--install-path", "relative/path"], "what it is relative to differs"),
        (["--install-path", "~/opp"], "what it is relative to differs"),
        (["--install-path", "/opt/a\nb"], "it holds a control character"),
        (["--uninstall", "--install-path", "relative"], "what it is relative to differs"),
    ],
)
def test_a_path_that_is_no_folder_of_its_own_is_refused(case: _Case, tmp_path: Path, options: list[str], because: str) -> None:
    before = sorted(case.unpacked["1.0"].rglob("*"))
    done = case.script("1.0", *options, env={**_ENVIRON, "HOME": str(tmp_path)})
    assert done.returncode == 2
    assert re.fullmatch(r"error: .*\n  because: .*\n  help: .*\n", done.stderr), done.stderr
    assert because in done.stderr
    assert done.stdout == ""
    assert (sorted(case.unpacked["1.0"].rglob("*")), list(tmp_path.iterdir())) == (before, [])


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.case("F9")
def test_another_user_is_told_whose_the_folder_is(case: _Case, public: Path) -> None:
    unpacked = shutil.copytree(case.unpacked["1.0"], public / "unpacked")
    unpacked.chmod(0o755)
    own, closed = public / "own", public / "closed"
    own.mkdir()
    closed.mkdir()
    user: dict[str, Any] = {}
    if os.geteuid() == 0:
        os.chown(own, 65534, 65534)
        user = {"user": 65534, "group": 65534, "extra_groups": []}
    closed.chmod(0o555)
    assert case.script("1.0", "--install-path", own, cwd=unpacked, **user).returncode == 0
    assert case.script("1.0", "--install-path", own, cwd=unpacked, **user).returncode == 0
    assert _is_as_built(own, "1.0")
    done = case.script("1.0", "--install-path", closed / "below", cwd=unpacked, **user)
    assert done.returncode == 3
    owner, me = closed.stat().st_uid, user.get("user", os.geteuid())
    assert f"because: {closed} is owned by uid {owner}, mode 0555; you are uid {me}\n" in done.stderr
    assert "help: name another folder with --install-path DIR" in done.stderr
    assert list(closed.iterdir()) == []


def test_a_path_is_taken_without_its_detours(case: _Case, tmp_path: Path) -> None:
    done = case.script("1.0", "--install-path", f"{tmp_path}/not-there/..//./p/.//")
    assert (done.returncode, f"installed add 1.0 -> {tmp_path}/p/add\n" in done.stdout) == (0, True)
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


class _Nobody:
    """A user who isn't the one that runs the tests, if that is root; `how` are the options of a call."""

    def __init__(self, case: _Case, public: Path) -> None:
        self._case = case
        self._unpacked = shutil.copytree(case.unpacked["1.0"], public / "unpacked")
        self._unpacked.chmod(0o755)
        self.how: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        self.uid = self.how.get("user", os.geteuid())

    def script(self, *options: str | Path) -> subprocess.CompletedProcess[str]:
        return self._case.script("1.0", *options, cwd=self._unpacked, **self.how)

    def own(self, folder: Path) -> Path:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self.uid, -1, follow_symlinks=False)
        return folder


@pytest.fixture
def nobody(case: _Case, public: Path) -> _Nobody:
    return _Nobody(case, public)


@pytest.mark.usefixtures("as_nobody")
def test_what_cannot_be_entered_is_not_told_as_not_installed(case: _Case, public: Path, nobody: _Nobody) -> None:
    closed = public / "closed"
    case.script("1.0", "--install-path", closed / "p")
    for folder in (closed, closed / "p", closed / "p" / ".opkit"):
        folder.chmod(0)
        for options in (["--uninstall"], []):
            done = nobody.script("--install-path", closed / "p", *options)
            assert (done.returncode, done.stdout) == (3, "")
            assert f"error: cannot {'read' if options else 'write'} {closed / 'p'}\n" in done.stderr
            assert re.search(f"because: {closed}.* is owned by uid {os.geteuid()}, mode 0...; you are uid {nobody.uid}\n", done.stderr)
        folder.chmod(0o755)


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.parametrize("name", ["notes.txt", _HEADER, "sub/notes.txt", MANIFEST])
def test_a_file_that_cannot_be_read_is_told_as_such(case: _Case, public: Path, nobody: _Nobody, name: str) -> None:
    prefix = public / "p"
    case.script("2.0", "--install-path", prefix)
    (prefix / ".opkit" / "add.json").unlink()
    place = prefix / "add" / name
    place.parent.mkdir(exist_ok=True)
    place.touch()
    nobody.own(prefix)
    place.chmod(0)
    before = [(str(path), path.lstat().st_mode) for path in sorted(prefix.rglob("*"))]
    for options in (["--uninstall"], []):
        done = nobody.script("--install-path", prefix, *options)
        real = (prefix / "add").resolve() / name
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == (
            f"error: cannot read {real}\n  because: {real} is owned by uid {nobody.uid}, mode 0000; you are uid {nobody.uid}\n"
            f"  help: let yourself read it: chmod u+rX {real}; or move it away\n"
        )
        assert [(str(path), path.lstat().st_mode) for path in sorted(prefix.rglob("*"))] == before


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what another can't remove")
def test_what_cannot_be_removed_is_no_end(case: _Case, public: Path, nobody: _Nobody) -> None:
    prefix = public / "p"
    case.script("1.0", "--install-path", prefix)
    nobody.own(prefix)
    nobody.own(public)
    trace = prefix / "add" / "prof" / "trace.json"
    trace.parent.mkdir()
    trace.write_text("of root")
    for number in (2, 3, 4):
        assert nobody.script("--install-path", prefix).returncode == 0
        assert _is_as_built(prefix, "1.0")
        assert (prefix / "add").readlink().name.endswith(f".{number}") == (number < 4)
        assert trace.read_text() == "of root"
    for _ in range(2):
        assert nobody.script("--install-path", prefix, "--uninstall").returncode == 0
        assert installed(prefix) == []
        assert trace.read_text() == "of root"
    assert nobody.script("--install-path", prefix).returncode == 0
    assert _is_as_built(prefix, "1.0")


def test_a_file_in_the_way_is_told(case: _Case, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = case.script("1.0", "--install-path", tmp_path / "file" / "opp")
    assert (done.returncode, f"because: {tmp_path / 'file'} is no folder" in done.stderr) == (3, True)
    (tmp_path / "add").mkdir()
    done = case.script("1.0", "--install-path", tmp_path)
    assert done.returncode == 2
    assert f"error: {tmp_path} holds add, which opkit didn't put there" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["add", "file"]


# --- this machine


@pytest.mark.case("G3")
def test_a_package_for_another_machine_is_refused(tmp_path: Path) -> None:
    other = "aarch64" if host_arch() == "x86_64" else "x86_64"
    library_there = f"op_graph/lib/linux/{other}/libcust_opapi.so"
    (tmp_path / "other" / library_there).parent.mkdir(parents=True)
    (tmp_path / "other" / library_there).write_bytes(elf(MACHINES[other]))
    roots = {
        "glibc 9.99": _opp_root(tmp_path / "root", _NEW, requires=Requires(glibc="9.99")),
        f"is for {other}": signed(tmp_path / "other", [library_there], kind="cann", target=Target(os="linux", arch=other)),
    }
    for told, root in roots.items():
        installer = _packed(root, tmp_path / told)
        done = _run(installer, "--install-path", tmp_path / "p")
        assert done.returncode == 3
        assert told in done.stderr
        assert "installed" not in done.stdout
        assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("here", "floor", "is_enough"),
    [
        ("glibc 2.36", "2.36", True),
        ("glibc 2.36", "2.4", True),
        ("glibc 3.0", "2.99", True),
        ("glibc 2.36.9000", "2.36", True),
        ("glibc 2.17", "2.34", False),
        ("glibc 1.99", "2.1", False),
        ("", "2.17", False),
    ],
)
def test_versions_of_glibc_are_compared_as_numbers(case: _Case, tmp_path: Path, here: str, floor: str, is_enough: bool) -> None:
    unpacked = shutil.copytree(case.unpacked["1.0"], tmp_path / "unpacked")
    with (unpacked / "package").open("a") as facts:
        facts.write(f"glibc={floor}\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "getconf").write_text(f"#!/bin/sh\ntest -n '{here}' && echo '{here}'\n")
    (tmp_path / "bin" / "getconf").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = case.script("1.0", "--install-path", tmp_path / "p", cwd=unpacked, env={"PATH": path})
    assert done.returncode == (0 if is_enough else 3), done.stderr
    assert (tmp_path / "p").exists() == is_enough
    if not is_enough:
        assert f"because: this machine has {here.removeprefix('glibc ') or 'another C library'}\n" in done.stderr


def test_a_shell_and_coreutils_are_enough(case: _Case, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in _TOOLS:
        (tools / tool).symlink_to(str(shutil.which(tool)))
    dash = str(shutil.which("dash"))
    prefix = tmp_path / "p"
    for version in ("1.0", "2.0"):
        done = case.script(version, "--install-path", prefix, shell=dash, env={"PATH": str(tools)})
        assert (done.returncode, done.stderr) == (0, "")
        assert _is_as_built(prefix, version)
    (tools / "flock").unlink()
    done = case.script("2.0", "--install-path", prefix, "--uninstall", shell=dash, env={"PATH": str(tools)})
    assert (done.returncode, done.stderr) == (0, "")
    assert not prefix.exists()
    with (case.unpacked["1.0"] / "package").open() as facts:
        assert "glibc=''\n" in facts.read()


def test_without_getconf_the_glibc_is_left_to_the_user(case: _Case, tmp_path: Path) -> None:
    unpacked = shutil.copytree(case.unpacked["1.0"], tmp_path / "unpacked")
    with (unpacked / "package").open("a") as facts:
        facts.write("glibc=2.34\n")
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in _TOOLS:
        (tools / tool).symlink_to(str(shutil.which(tool)))
    done = case.script("1.0", "--install-path", tmp_path / "p", shell=str(shutil.which("dash")), cwd=unpacked, env={"PATH": str(tools)})
    assert done.returncode == 0
    assert "warning: add 1.0 needs glibc 2.34, and without getconf nobody knows which one is here" in done.stderr


# --- what is installed


@pytest.mark.case("F11")
@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_it_installs_what_opkit_installs(case: _Case, tmp_path: Path, shell: str) -> None:
    before = os.umask(0o077)
    try:
        ours, its = tmp_path / "opkit" / "p", tmp_path / "installer" / "p"
        for version in ("1.0", "2.0", "2.0", "1.0"):
            install(case.roots[version], ours)
            done = case.script(version, "--install-path", its, shell=shell)
            assert done.returncode == 0, done.stderr
            aside = {".opkit/add.json": "", ".opkit/.lock": ""}
            assert _tree(its) | aside == _tree(ours) | aside
            assert _is_as_built(its, version)
            assert case.roots[version].manifest == OppRoot.read(its / "add").manifest  # type: ignore[union-attr]
    finally:
        os.umask(before)
    (package,) = installed(its)
    (known,) = installed(ours)
    assert package.receipt is not None
    assert known.receipt is not None
    assert package.receipt._replace(source="", installed="") == known.receipt._replace(
        source="", installed="", sha256=package.receipt.sha256
    )


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_either_upgrades_and_uninstalls_what_the_other_installed(case: _Case, tmp_path: Path, shell: str) -> None:
    prefix = tmp_path / "new" / "p"
    install(case.roots["1.0"], prefix)
    assert case.script("2.0", "--install-path", prefix, shell=shell).returncode == 0
    assert _is_as_built(prefix, "2.0")
    install(case.roots["1.0"], prefix)
    assert _is_as_built(prefix, "1.0")
    assert case.script("2.0", "--install-path", prefix, "--uninstall", shell=shell).returncode == 0
    assert list(tmp_path.iterdir()) == []
    assert case.script("1.0", "--install-path", prefix, shell=shell).returncode == 0
    uninstall(["add"], prefix)
    assert list(tmp_path.iterdir()) == []


def test_an_upgrade_removes_what_the_new_version_lacks(case: _Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    case.script("1.0", "--install-path", prefix)
    case.script("2.0", "--install-path", prefix)
    files = {str(path.relative_to((prefix / "add").resolve())) for path in (prefix / "add").resolve().rglob("*") if path.is_file()}
    assert files == {*_NEW, MANIFEST}
    assert len(list((prefix / ".opkit" / "add").iterdir())) == 1


def _disturb(prefix: Path) -> None:
    """Whatever users do to the files of a package."""
    root = prefix / "add"
    (root / "notes.txt").write_text("mine")
    (root / _FOLDER / "sub .d").mkdir()
    (root / _FOLDER / "sub .d" / ".hidden").write_text("mine too")
    (root / _FOLDER / "link").symlink_to("nowhere")
    (root / _FOLDER / "folder link").symlink_to("..")
    (root / _HEADER).write_text("edited")
    (root / f"{_HEADER}.edited").write_text("edited")  # A file of that name, even with the same text.
    (root / _FOLDER / "加 法.asc").write_text("edited, and the next version lacks it")
    (root / _FOLDER / "mul.asc").write_text("where the next version has a file")
    shutil.copy(root / _LIBRARY, root / _FOLDER / "copy.so")
    (root / _KERNEL).unlink()
    (root / _WAS_FOLDER / "x.h").write_text("edited, and its folder is a file in the next version")
    (root / _WAS_FOLDER / "own.h").write_text("beside it")
    (root / "empty" / "inner").mkdir(parents=True)
    (root / "private").mkdir()
    (root / "private" / "key").write_text("for nobody else")
    (root / "private").chmod(0o700)
    (root / "-x" / "-n").mkdir(parents=True)
    (root / "-x" / "-n" / "--help").write_text("a name like an option")
    (root / "-x").chmod(0o555)


def test_foreign_and_edited_files_stay_as_with_opkit(case: _Case, tmp_path: Path) -> None:
    ours, its = tmp_path / "opkit", tmp_path / "installer"
    for prefix in (ours, its):
        install(case.roots["1.0"], prefix)
        _disturb(prefix)
    install(case.roots["2.0"], ours)
    done = case.script("2.0", "--install-path", its)
    assert done.returncode == 0, done.stderr
    expected = _tree(ours)
    receipt = ".opkit/add.json"
    assert _tree(its) | {receipt: ""} == expected | {receipt: ""}
    assert sorted(re.findall(r"^  (.*)$", done.stdout, flags=re.MULTILINE)) == sorted(
        [f"{_WAS_FOLDER}.edited/own.h", f"{_WAS_FOLDER}.edited/x.h"]
        + ["-x/-n/--help", "notes.txt", "private/key", f"{_HEADER}.edited", f"{_HEADER}.edited.2"]
        + [f"{_FOLDER}/{name}" for name in ("copy.so", "folder link", "link", "mul.asc.edited", "sub .d/.hidden", "加 法.asc.edited")]
    )
    assert _is_as_built(its, "2.0")
    # And what both leave when the package goes.
    uninstall(["add"], ours)
    done = case.script("2.0", "--install-path", its, "--uninstall")
    assert done.returncode == 0, done.stderr
    assert _tree(its) == _tree(ours)
    assert (its / "add" / "notes.txt").read_text() == "mine"
    assert installed(its) == []
    before = _tree(its)
    assert case.script("2.0", "--install-path", its, "--uninstall").returncode == 0
    assert _tree(its) == before
    assert case.script("1.0", "--install-path", its).returncode == 0
    assert (its / "add" / "notes.txt").read_text() == "mine"
    assert _is_as_built(its, "1.0")


def test_a_folder_is_closed_to_others_until_its_mode_is_that_of_the_old(case: _Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    install(case.roots["1.0"], prefix)
    (prefix / "add" / "private").mkdir(mode=0o700)
    (prefix / "add" / "private" / "key").write_text("for nobody else")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "chmod").write_text(f'#!/bin/sh\nstat -c %a {prefix}/.opkit/add/.stage >>{tmp_path}/seen\nexec /bin/chmod "$@"\n')
    (tmp_path / "bin" / "chmod").chmod(0o755)
    environ = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    assert case.script("2.0", "--install-path", prefix, env=environ).returncode == 0
    assert {*(tmp_path / "seen").read_text().split()} == {"700"}
    assert stat.S_IMODE((prefix / "add").stat().st_mode) == 0o755


def _without_link(case: _Case, prefix: Path) -> str:
    """Two versions of one name with a file of somebody's in each, and somebody's own things beside them."""
    install(case.roots["1.0"], prefix)
    name = (prefix / "add").readlink().name
    versions = prefix / ".opkit" / "add"
    (versions / name / "one.txt").write_text("one")
    shutil.copytree(versions / name, versions / f"{name}.2")
    (versions / f"{name}.2" / "two.txt").write_text("two")
    (versions / "notes.txt").write_text("beside the versions")
    (versions / "own-folder").mkdir()
    (versions / "own-folder" / "own.txt").write_text("in a folder beside them")
    (prefix / "add").unlink()
    return name


def test_of_several_versions_without_a_link_all_keep_what_is_somebodys(case: _Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    name = _without_link(case, prefix)
    versions = prefix / ".opkit" / "add"
    done = case.script("1.0", "--install-path", prefix)
    assert done.returncode == 0, done.stderr
    assert (prefix / "add").readlink() == Path(".opkit", "add", f"{name}.3")
    texts = {path.name: path.read_text() for path in (prefix / "add").glob("*.txt")}
    assert texts == {"one.txt": "one", "two.txt": "two"}
    assert sorted(path.name for path in versions.iterdir()) == [f"{name}.3", "notes.txt", "own-folder"]
    (prefix / "add" / "one.txt").unlink()
    (prefix / "add" / "two.txt").unlink()
    assert case.script("1.0", "--install-path", prefix, "--uninstall").returncode == 0
    assert installed(prefix) == []
    assert sorted(path.name for path in versions.iterdir()) == ["notes.txt", "own-folder"]
    assert (versions / "own-folder" / "own.txt").read_text() == "in a folder beside them"


def test_a_failed_install_removes_no_folder_that_it_did_not_make(case: _Case, tmp_path: Path) -> None:
    steps = _Steps(tmp_path / "steps", ("ln", "mv"))
    prefix = tmp_path / "p"
    _without_link(case, prefix)
    before = _tree(prefix)
    failures = 0
    for at in range(1, 100):
        done = case.script("1.0", "--install-path", prefix, env=steps.environ(at, "echo no such luck >&2; exit 1"))
        if done.returncode:
            failures += 1
            assert _tree(prefix) == before
        else:
            break
    assert failures > 3


@pytest.mark.parametrize("link", ["left", "left.2"])
def test_what_an_earlier_removal_left_stays_when_the_next_one_leaves_something(case: _Case, tmp_path: Path, link: str) -> None:
    prefix = tmp_path / "p"
    for number, name in enumerate(("left", link)):
        install(case.roots["1.0"], prefix)
        (prefix / "add" / f"{number}.txt").write_text("mine")
        if number and link != "left":
            # As one that can't be removed.
            (prefix / ".opkit" / "add" / "left").mkdir()
            (prefix / ".opkit" / "add" / "left" / "x").write_text("")
            shutil.copy(str(shutil.which("true")), tmp_path / "rm")
        environ = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"} if (tmp_path / "rm").exists() else _ENVIRON
        done = case.script("1.0", "--install-path", prefix, "--uninstall", env=environ)
        assert done.returncode == 0, done.stderr
        assert (prefix / "add").readlink() == Path(".opkit", "add", name)
        assert (prefix / "add" / "0.txt").read_text() == "mine"
        assert installed(prefix) == []


def test_without_receipt_and_manifest_it_is_not_removed_by_guess(case: _Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    install(case.roots["1.0"], prefix)
    for damage in ("{", None):
        (prefix / ".opkit" / "add.json").unlink(missing_ok=True)
        (prefix / "add" / MANIFEST).unlink()
        if damage is not None:
            (prefix / "add" / MANIFEST).write_text(damage)
        before = _tree(prefix)
        for _ in range(2):
            done = case.script("1.0", "--install-path", prefix, "--uninstall")
            assert (done.returncode, done.stdout) == (4, "")
            assert "because: which of its files are opkit's isn't known" in done.stderr
            assert "help: install it again, then remove it" in done.stderr
            assert _tree(prefix) == before
        assert case.script("1.0", "--install-path", prefix).returncode == 0
        assert _is_as_built(prefix, "1.0")
    # What the damaged one had, it can't tell from somebody's.
    assert case.script("1.0", "--install-path", prefix, "--uninstall").returncode == 0
    assert installed(prefix) == []


@pytest.mark.parametrize("lost", [".opkit", ".opkit/add", ".opkit/add.json"])
def test_a_link_to_nothing_goes_and_is_installed_over(case: _Case, tmp_path: Path, lost: str) -> None:
    prefix = tmp_path / "p"
    prefix.mkdir()
    for uninstalls in (False, True):
        install(case.roots["1.0"], prefix)
        for name in {lost, ".opkit/add"}:
            place = prefix / name
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)
        assert not (prefix / "add").exists()
        done = case.script("1.0", "--install-path", prefix, *(["--uninstall"] if uninstalls else []))
        assert done.returncode == 0, done.stderr
        if uninstalls:
            assert done.stdout == f"removed add from {prefix}\n"
            assert list(prefix.iterdir()) == []
        else:
            assert _is_as_built(prefix, "1.0")


@pytest.mark.parametrize("package", ["lock", "made"])
def test_no_name_of_a_package_is_that_of_a_file_of_the_prefix(tmp_path: Path, package: str) -> None:
    root = _opp_root(tmp_path / "root", _NEW, package=package)
    installer, prefix = _packed(root, tmp_path), tmp_path / "new" / "p"
    for install_it in (lambda: _run(installer, "--install-path", prefix).check_returncode(), lambda: install(root, prefix)):
        install_it()
        assert [each.problems() for each in installed(prefix)] == [[]]
    _run(installer, "--install-path", prefix, "--uninstall").check_returncode()
    assert not (tmp_path / "new").exists()


def test_a_package_whose_receipt_is_lost_is_known_by_its_manifest(case: _Case, tmp_path: Path) -> None:
    for damage in ("", "{", '{"layout": 2, "installs": []}'):
        case.script("1.0", "--install-path", tmp_path / "p")
        (tmp_path / "p" / ".opkit" / "add.json").write_text(damage)
        done = case.script("2.0", "--install-path", tmp_path / "p")
        assert done.returncode == 0, done.stderr
        assert "kept" not in done.stdout
        assert _is_as_built(tmp_path / "p", "2.0")
        (tmp_path / "p" / ".opkit" / "add.json").unlink()
        assert case.script("1.0", "--install-path", tmp_path / "p", "--uninstall").returncode == 0
        assert not (tmp_path / "p").exists()


def test_other_packages_of_the_prefix_stay(case: _Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    install(_opp_root(tmp_path / "mul", _NEW, package="mul"), prefix)
    before = _tree(prefix)
    for options in ([], [], ["--uninstall"]):
        assert case.script("1.0", "--install-path", prefix, *options).returncode == 0
    assert _tree(prefix) == before
    assert [package.package for package in installed(prefix)] == ["mul"]


def test_a_second_uninstall_is_no_error(case: _Case, tmp_path: Path) -> None:
    prefix = tmp_path / "not" / "there"
    case.script("1.0", "--install-path", prefix)
    for told in ("removed add from", "add isn't installed in", "add isn't installed in"):
        done = case.script("1.0", "--install-path", prefix, "--uninstall")
        assert (done.returncode, done.stdout) == (0, f"{told} {prefix}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_prefix_that_was_moved_goes_without_the_folders_above_it(case: _Case, tmp_path: Path) -> None:
    case.script("1.0", "--install-path", tmp_path / "made" / "p")
    (tmp_path / "mine" / "too").mkdir(parents=True)
    (tmp_path / "made" / "p").rename(tmp_path / "mine" / "too" / "p")
    assert case.script("1.0", "--install-path", tmp_path / "mine" / "too" / "p", "--uninstall").returncode == 0
    assert list((tmp_path / "mine" / "too").iterdir()) == []


def test_a_folder_that_another_removes_meanwhile_is_made_again_and_goes_at_the_end(case: _Case, tmp_path: Path, steps: _Steps) -> None:
    prefix = tmp_path / "new" / "p"
    prefix.mkdir(parents=True)
    done = case.script("1.0", "--install-path", prefix, env=steps.environ(1, f"rmdir {prefix} {prefix.parent}"))
    assert done.returncode == 0, done.stderr
    assert case.script("1.0", "--install-path", prefix, "--uninstall").returncode == 0
    assert list(tmp_path.iterdir()) == [tmp_path / "steps"]


def test_what_it_prints_activates_the_package(case: _Case, tmp_path: Path) -> None:
    prefix = tmp_path / 'it\'s "my" $HOME `pwd` 算子'
    line = case.script("1.0", "--install-path", prefix).stdout.splitlines()[-1]
    for shell in ("dash", "bash", "zsh"):
        for before, after in (("", ""), ("/other path:/b", ":/other path:/b")):
            environ = {**_ENVIRON, **({"ASCEND_CUSTOM_OPP_PATH": before} if before else {})}
            script = f'set -u\n{line}\nprintf %s "$ASCEND_CUSTOM_OPP_PATH"'
            done = subprocess.run([shell, "-c", script], env=environ, capture_output=True, text=True, check=False)
            assert (done.stdout, done.stderr) == (f"{prefix}/add{after}", "")


# --- what fails


_SHIM = """#!/bin/sh
# Counts the calls of all tools of this folder; before the one that is asked for, it does what is asked for.
read -r calls <"$CALLS"
calls=$((calls + 1))
echo $calls >"$CALLS"
if [ $calls -eq $AT ]; then eval "$THEN"; fi
exec "$REAL/${0##*/}" "$@"
"""


class _Steps:
    """A PATH whose tools that change the disk do something at one call."""

    def __init__(self, folder: Path, tools: Iterable[str]) -> None:
        self._folder = folder
        self.calls = folder / "calls"
        folder.mkdir()
        (folder / "real").mkdir()
        (folder / "bin").mkdir()
        for tool in tools:
            (folder / "real" / tool).symlink_to(str(shutil.which(tool)))
            (folder / "bin" / tool).write_text(_SHIM)
            (folder / "bin" / tool).chmod(0o755)

    def environ(self, at: int, then: str) -> dict[str, str]:
        self.calls.write_text("0\n")
        path = f"{self._folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "CALLS": str(self.calls), "REAL": str(self._folder / "real"), "AT": str(at), "THEN": then}

    def count(self) -> int:
        return int(self.calls.read_text())


@pytest.fixture
def steps(tmp_path: Path) -> _Steps:
    return _Steps(tmp_path / "steps", ("cp", "ln", "mkdir", "mv", "rm"))


def _version(prefix: Path) -> str | None:
    packages = installed(prefix)
    assert all(package.problems() == [] for package in packages)
    return packages[0].version if packages else None


@pytest.mark.parametrize(("before", "action"), [("", []), ("1.0", []), ("1.0", ["--uninstall"])], ids=["new", "upgrade", "uninstall"])
def test_killed_at_any_step_the_package_is_the_old_or_the_new(case: _Case, tmp_path: Path, before: str, action: list[str]) -> None:
    # Of the copies that are made before, one stands for all.
    steps = _Steps(tmp_path / "steps", ("ln", "mv", "rm"))
    prefix = tmp_path / "p"
    allowed = {before or None, None if action else "2.0"}
    seen = set()
    for at in range(1, 100):
        shutil.rmtree(prefix, ignore_errors=True)
        if before:
            install(case.roots[before], prefix)
            (prefix / "add" / "notes.txt").write_text("mine")
        done = case.script("2.0", "--install-path", prefix, *action, env=steps.environ(at, "kill -9 0"), start_new_session=True)
        assert _version(prefix) in allowed
        assert not before or (prefix / "add" / "notes.txt").read_text() == "mine"
        seen.add(_version(prefix))
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        assert case.script("2.0", "--install-path", prefix).returncode == 0
        assert _version(prefix) == "2.0"
        assert not before or (prefix / "add" / "notes.txt").read_text() == "mine"
        left = {path.name for path in (prefix / ".opkit").rglob("*") if path.name.startswith(".")}
        assert left <= {".lock", ".made"}
        assert len(list((prefix / ".opkit" / "add").iterdir())) == 1
    assert steps.count() < at
    assert at > 4
    assert seen == allowed


@pytest.mark.case("F6")
def test_a_step_that_fails_is_told_and_undone(case: _Case, tmp_path: Path, steps: _Steps) -> None:
    prefix = tmp_path / "p"
    install(case.roots["1.0"], prefix)
    before = _tree(prefix)
    failures = 0
    for at in range(1, 100):
        done = case.script("2.0", "--install-path", prefix, env=steps.environ(at, "echo no such luck >&2; exit 1"))
        if done.returncode == 0:
            # What only tidies up may fail.
            assert _version(prefix) == "2.0"
            install(case.roots["1.0"], prefix)
            assert _tree(prefix).keys() == before.keys()
            before = _tree(prefix)
        else:
            failures += 1
            assert done.returncode == 3
            assert f"error: cannot write {prefix}\n  because: no such luck\n  help: " in done.stderr
            assert done.stdout == ""
            assert _tree(prefix) == before
        if steps.count() < at:
            break
    assert failures > 8


def test_interrupted_at_any_step_it_undoes_what_it_did(case: _Case, tmp_path: Path, steps: _Steps) -> None:
    prefix = tmp_path / "p"
    install(case.roots["1.0"], prefix)
    before = _tree(prefix)
    for at in range(1, 100):
        done = case.script("2.0", "--install-path", prefix, env=steps.environ(at, "kill -INT 0"), start_new_session=True)
        if _version(prefix) == "2.0":
            break
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
        assert _tree(prefix) == before
    assert at > 8
    assert done.returncode in (0, 130)


def test_interrupted_the_first_time_it_leaves_nothing(case: _Case, tmp_path: Path, steps: _Steps) -> None:
    for at in (2, 5, 8):
        environ = {**steps.environ(at, "kill -INT 0"), "TMPDIR": str(tmp_path / "tmp")}
        (tmp_path / "tmp").mkdir()
        done = _run(case.installers["1.0"], "--install-path", tmp_path / "new" / "p", env=environ, start_new_session=True)
        assert done.returncode == 130
        assert "installed" not in done.stdout
        assert not (tmp_path / "new").exists()
        assert list((tmp_path / "tmp").iterdir()) == []
        (tmp_path / "tmp").rmdir()


def test_a_copy_that_differs_is_not_installed(case: _Case, tmp_path: Path, steps: _Steps) -> None:
    environ = steps.environ(0, ":")
    (tmp_path / "steps" / "bin" / "cp").write_text('#!/bin/sh\n"$REAL/cp" "$@"\nfor last; do :; done\necho more >>"$last"\n')
    done = case.script("1.0", "--install-path", tmp_path / "p", env=environ)
    assert done.returncode == 4
    assert "is damaged" in done.stderr
    assert f"{_LIBRARY}: FAILED; " in done.stderr
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("tool", "script", "told"),
    [
        ("tar", "exit 1", "Extraction failed."),
        ("df", "echo head; echo d 9 9 1 9% /", "Not enough space left"),
        ("gzip", "exit 1", "Decompression failed."),
        ("mkdir", "exit 1", "Cannot create target directory"),
    ],
)
def test_what_makeself_cannot_unpack_is_a_fault_of_the_machine(case: _Case, tmp_path: Path, tool: str, script: str, told: str) -> None:
    for folder in ("bin", "tmp"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bin" / tool).write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "bin" / tool).chmod(0o755)
    environ = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(tmp_path / "tmp")}
    done = _run(case.installers["1.0"], "--install-path", tmp_path / "p", env=environ)
    assert (done.returncode, told in done.stderr) == (3, True), done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "p").exists()


def test_what_was_changed_after_unpacking_is_refused(case: _Case, tmp_path: Path) -> None:
    for name, change in ((_LIBRARY, "another"), (_KERNEL, None)):
        unpacked = shutil.copytree(case.unpacked["1.0"], tmp_path / name / "unpacked")
        if change is None:
            (unpacked / "opp" / name).unlink()
        else:
            (unpacked / "opp" / name).write_text(change)
        done = case.script("1.0", "--install-path", tmp_path / "p", cwd=unpacked)
        assert done.returncode == 4
        assert f"{name}: FAILED" in done.stderr
        assert not (tmp_path / "p").exists()


@pytest.mark.case("J6")
def test_two_installations_in_one_prefix_wait_for_each_other(case: _Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    case.script("1.0", "--install-path", prefix)
    (tmp_path / "bin").mkdir()
    # Its second ends at once, so that the patience of a minute is over soon.
    (tmp_path / "bin" / "sleep").write_text(f"#!/bin/sh\necho >>{tmp_path}/seconds\n")
    (tmp_path / "bin" / "sleep").chmod(0o755)
    impatient = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    with (prefix / ".opkit" / ".lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        before = _tree(prefix)
        for options in ([], ["--uninstall"]):
            (tmp_path / "seconds").write_text("")
            done = case.script("2.0", "--install-path", prefix, *options, env=impatient)
            assert done.returncode == 75
            assert f"error: {prefix} is in use by another installation\n" in done.stderr
            assert done.stdout == f"waiting for another installation in {prefix}\n"
            assert len((tmp_path / "seconds").read_text()) == 60
        assert _tree(prefix) == before
        waiting = subprocess.Popen(["dash", "install.sh", "--install-path", prefix], cwd=case.unpacked["2.0"], env=_ENVIRON, stdout=-1)
        assert waiting.stdout is not None
        assert waiting.stdout.readline().startswith(b"waiting for")
    waiting.communicate(timeout=20)
    assert waiting.returncode == 0
    assert _is_as_built(prefix, "2.0")
