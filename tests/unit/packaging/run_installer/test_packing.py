"""How an installer is made, what is refused, and where opkit meets one."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import pytest
from install_support import HEADER, LIBRARY, install
from run_installer_support import ENVIRON, FOLDER, NEW, Case, cann_root, installer_of, run

from opkit.errors import DeliverableError, InstallerFileError, MakeselfError, SimulatorBuildError
from opkit.packaging import open_archive
from opkit.packaging.run_installer import pack_run
from opkit.toolkit import host_arch


def test_without_makeself_packing_says_how_to_get_it(case: Case, tmp_path: Path) -> None:
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
def test_a_makeself_that_fails_leaves_the_installer_that_was_there(case: Case, tmp_path: Path, script: str, because: str) -> None:
    out, tools = tmp_path / "out", tmp_path / "bin"
    known = installer_of(case.roots["1.0"], out)
    before = known.read_bytes()
    tools.mkdir()
    (tools / "makeself").write_text(f"#!/bin/sh\n{script}\n".replace("MAKESELF", str(shutil.which("makeself"))))
    (tools / "makeself").chmod(0o755)
    with pytest.raises(MakeselfError) as caught:
        installer_of(case.roots["1.0"], out, {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"})
    assert because in str(caught.value.because)
    assert known.read_bytes() == before
    assert list(out.iterdir()) == [known]


def test_what_was_built_against_the_simulator_is_refused_or_marked(tmp_path: Path) -> None:
    root = cann_root(tmp_path / "root", NEW, kind="simulator")
    with pytest.raises(SimulatorBuildError):
        pack_run(root, tmp_path, epoch=0, environ=ENVIRON)
    packed = pack_run(root, tmp_path, epoch=0, environ=ENVIRON, is_simulator_allowed=True)
    assert packed.path.name == f"add-0.1.0+sim-linux_{host_arch()}.run"
    assert packed.size == packed.path.stat().st_size
    done = run(packed.path, "--quiet", "--install-path", tmp_path / "p")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "warning: add 0.1.0 was built against the host simulator; it is no package for a device\n"


def test_only_what_was_built_is_packed(tmp_path: Path) -> None:
    root = cann_root(tmp_path / "root", NEW)
    (root.path / "notes.txt").write_text("mine")
    assert "notes.txt" not in run(installer_of(root, tmp_path), "--list").stdout
    with pytest.raises(DeliverableError) as caught:
        installer_of(root._replace(manifest=root.manifest._replace(version="9")), tmp_path / "out")
    assert "was changed while it was packed" in caught.value.message
    (root.path / HEADER).write_text("edited")
    with pytest.raises(DeliverableError) as caught:
        installer_of(root, tmp_path / "out")
    assert f"{HEADER} isn't the file that was built" in str(caught.value.because)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_name_that_a_shell_would_misread_is_refused(tmp_path: Path) -> None:
    for name, told in {"a\\nb.asc": "backslash", "a{1}.h": "a brace", 'q"x.h': "a quotation mark"}.items():
        root = cann_root(tmp_path / name / "root", {LIBRARY: "library", f"{FOLDER}/{name}": "kernel"})
        with pytest.raises(DeliverableError) as caught:
            installer_of(root, tmp_path / "out")
        assert told in str(caught.value.because)
        with pytest.raises(DeliverableError, match="isn't what was built"):
            install(root, tmp_path / "p")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "p").exists()


def test_a_name_longer_than_an_old_tar_holds_is_packed(tmp_path: Path) -> None:
    name = f"{FOLDER}/{'k' * 150}.asc"
    installer = installer_of(cann_root(tmp_path / "root", {LIBRARY: "library", name: "kernel"}), tmp_path)
    assert run(installer, "--quiet", "--install-path", tmp_path / "p").returncode == 0
    assert (tmp_path / "p" / "add" / name).read_text() == "kernel"


def test_opkit_names_the_way_for_an_installer(case: Case) -> None:
    installer = case.installers["1.0"]
    with pytest.raises(InstallerFileError) as caught, open_archive(installer):
        pass
    assert f"run it: sh {shlex.quote(str(installer))} --install-path /DIR" in str(caught.value.help)


def test_an_installer_is_run_by_the_path_that_names_it(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dist").mkdir()
    shutil.copy(case.installers["1.0"], tmp_path / "dist/add.run")
    monkeypatch.chdir(tmp_path)
    for named, there in (("dist/add.run", "dist"), ("add.run", ".")):
        monkeypatch.chdir(tmp_path / ("" if there == "dist" else "dist"))
        with pytest.raises(InstallerFileError) as caught, open_archive(Path(named)):
            pass
        assert f"run it: sh ./{named} --install-path /DIR" in str(caught.value.help)
