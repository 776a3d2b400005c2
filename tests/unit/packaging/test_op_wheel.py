"""What becomes of a wheel after the build backend made it, and what is refused before."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import archive_support
import pytest
from archive_support import ARCH, INFO, Good
from manifest_support import signed

from opkit.build import Project, Settings
from opkit.deliverable import BuiltAgainst, Manifest, OppRoot, Requires, Target
from opkit.errors import BackendMissingError, NotManylinuxError, SimulatorBuildError, UsageError
from opkit.packaging.wheel import make_wheel, manylinux_tag, rewritten, wishes
from opkit.toolkit import Toolkit, host_arch

_NAME = f"add-1.0-py3-none-linux_{host_arch()}.whl"


def _wheel() -> bytes:
    files = {
        "add/__init__.py": "",
        "add-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: add\nVersion: 1.0\n\nVersion: 1.0 is the first\n",
        "add-1.0.dist-info/WHEEL": f"Wheel-Version: 1.0\nTag: py3-none-linux_{host_arch()}\n",
        "add-1.0.dist-info/entry_points.txt": "[opkit.opp]\nadd = add\n",
        "add-1.0.dist-info/RECORD": "",
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            info = zipfile.ZipInfo(name, (2001, 2, 3, 4, 5, 6))
            info.external_attr = 0o100644 << 16
            archive.writestr(info, text)
    return target.getvalue()


def test_a_wheel_that_nothing_is_wanted_of_stays_as_it_is() -> None:
    assert rewritten(_NAME, _wheel()) == (_NAME, _wheel())


def test_another_version_and_platform_are_everywhere_and_all_else_stays() -> None:
    name, content = rewritten(_NAME, _wheel(), version=lambda version: f"{version}+sim", platform="manylinux_2_34_x86_64")
    assert name == "add-1.0+sim-py3-none-manylinux_2_34_x86_64.whl"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        folder = "add-1.0+sim.dist-info"
        assert archive.namelist() == [
            "add/__init__.py",
            *(f"{folder}/{each}" for each in ("METADATA", "WHEEL", "entry_points.txt", "RECORD")),
        ]
        metadata = archive.read(f"{folder}/METADATA").decode()
        assert metadata == "Metadata-Version: 2.1\nName: add\nVersion: 1.0+sim\n\nVersion: 1.0 is the first\n"
        assert archive.read(f"{folder}/WHEEL").decode() == "Wheel-Version: 1.0\nTag: py3-none-manylinux_2_34_x86_64\n"
        for info in archive.infolist():
            assert (info.date_time, info.external_attr) == ((2001, 2, 3, 4, 5, 6), 0o100644 << 16)
        for path, digest, size in csv.reader(archive.read(f"{folder}/RECORD").decode().splitlines()):
            data = archive.read(path)
            if not path.endswith("RECORD"):
                assert int(size) == len(data)
                assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.fixture
def built(tmp_path: Path) -> OppRoot:
    (tmp_path / "output").mkdir()
    return signed(tmp_path / "output", [], kind="cann", requires=Requires(glibc="2.17", glibcxx="3.4.19", libraries=("libc.so.6",)))


@pytest.mark.parametrize(
    ("glibc", "glibcxx", "platform"),
    [
        ("2.5", "3.4.11", "manylinux_2_17"),
        ("2.17", "3.4.19", "manylinux_2_17"),
        ("2.34", "3.4.20", "manylinux_2_34"),
        ("2.17", "3.4.29", "manylinux_2_34"),
        ("2.36", None, "manylinux_2_36"),
    ],
)
def test_the_platform_has_both_the_glibc_and_the_libstdcxx_that_are_needed(
    glibc: str, glibcxx: str | None, platform: str, built: OppRoot, toolkit: Toolkit
) -> None:
    libraries = ("libacl_rt.so", "libstdc++.so.6", "libc.so.6", "ld-linux-x86-64.so.2")
    (toolkit.lib64 / "libacl_rt.so").write_text("")
    manifest = built.manifest._replace(requires=Requires(glibc=glibc, glibcxx=glibcxx, libraries=libraries))
    assert manylinux_tag(manifest, toolkit) == f"{platform}_{host_arch()}"


@pytest.mark.parametrize(
    ("requires", "because"),
    [
        (Requires(glibc="2.17", libraries=("libopenblas.so.0", "libc.so.6")), "libopenblas.so.0"),
        (Requires(libraries=("libc.so.6",)), "doesn't say which glibc"),
        (Requires(glibc="2.17", glibcxx="3.4.99"), "GLIBCXX_3.4.99"),
    ],
)
def test_a_library_that_needs_more_is_no_manylinux_wheel(requires: Requires, because: str, built: OppRoot, toolkit: Toolkit) -> None:
    with pytest.raises(NotManylinuxError, match="can't be a manylinux wheel") as caught:
        manylinux_tag(built.manifest._replace(requires=requires), toolkit)
    assert because in (caught.value.because or "")


def test_the_backend_is_told_what_the_build_was_told(built: OppRoot, toolkit: Toolkit) -> None:
    manifest = built.manifest._replace(
        target=Target(os="linux", arch=host_arch(), npu_arch="dav-2201"), built_against=BuiltAgainst(kind="simulator", version="9", abi=1)
    )
    environ, settings = wishes(manifest, toolkit, {"PATH": "/bin", "ASCEND_HOME_PATH": "/another"}, Settings())
    assert environ == {"PATH": "/bin", "ASCEND_HOME_PATH": str(toolkit.home), "OPKIT_ALLOW_SIMULATOR": "1"}
    assert settings == {"cmake.define.OPKIT_CXX11_ABI": "1", "cmake.define.OPKIT_NPU_ARCH": "dav-2201"}


def test_what_the_build_was_asked_for_is_asked_of_the_backend_too(built: OppRoot, toolkit: Toolkit) -> None:
    asked = Settings(build_type="Debug", definitions={"CMAKE_CXX_FLAGS": "-DMINE=1 -g"})
    _, settings = wishes(built.manifest, toolkit, {}, asked)
    assert settings == {
        "cmake.build-type": "Debug",
        "cmake.define.CMAKE_CXX_FLAGS": "-DMINE=1 -g",
        "cmake.define.OPKIT_CXX11_ABI": "0",
    }


def test_for_another_processor_the_backend_is_told_the_compiler_and_the_name(
    built: OppRoot, toolkit: Toolkit, tmp_path: Path, make_program: Callable[[Path, str], Path]
) -> None:
    other = "x86_64" if host_arch() == "aarch64" else "aarch64"
    compiler = make_program(tmp_path / "bin" / f"{other}-linux-gnu-g++", "#!/bin/sh\n")
    manifest = built.manifest._replace(target=Target(os="linux", arch=other))
    environ, settings = wishes(manifest, toolkit, {"PATH": str(tmp_path / "bin")}, Settings())
    assert environ["_PYTHON_HOST_PLATFORM"] == f"linux-{other}"
    assert settings == {
        "cmake.define.OPKIT_CXX11_ABI": "0",
        "cmake.define.CMAKE_SYSTEM_NAME": "Linux",
        "cmake.define.CMAKE_SYSTEM_PROCESSOR": other,
        "cmake.define.CMAKE_CXX_COMPILER": str(compiler),
    }
    _, settings = wishes(manifest, toolkit, {"PATH": str(tmp_path / "bin"), "CMAKE_TOOLCHAIN_FILE": "mine.cmake"}, Settings())
    assert settings == {"cmake.define.OPKIT_CXX11_ABI": "0"}


def _make(folder: Path, manifest: Manifest, toolkit: Toolkit) -> None:
    make_wheel(Project.at(folder), manifest, toolkit, folder / "dist", {}, settings=Settings())


def test_a_build_against_the_simulator_is_refused(tmp_path: Path, toolkit: Toolkit) -> None:
    (tmp_path / "output").mkdir()
    with pytest.raises(SimulatorBuildError):
        _make(tmp_path, signed(tmp_path / "output", []).manifest, toolkit)
    assert not (tmp_path / "dist").exists()


def test_without_the_backend_a_wheel_is_one_error(
    built: OppRoot, toolkit: Toolkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(BackendMissingError) as caught:
        _make(tmp_path, built.manifest, toolkit)
    assert caught.value.help == 'pip install "ascend-opkit[wheel]"'


@pytest.mark.parametrize(
    ("text", "because"),
    [
        (None, "it says how a wheel is called"),
        ("[build-system]\nbuild-backend = 'setuptools.build_meta'\n", "setuptools.build_meta"),
        ("", "the build backend None"),
        ("[build", "pyproject.toml: "),
    ],
)
def test_a_project_of_another_backend_is_one_error(
    text: str | None, because: str, built: OppRoot, toolkit: Toolkit, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        _make(tmp_path, built.manifest, toolkit)
    assert because in (caught.value.because or "")
    assert not (tmp_path / "dist").exists()


def test_a_python_that_keeps_the_current_folder_out_makes_wheels_too(built: OppRoot, toolkit: Toolkit, tmp_path: Path) -> None:
    """Of another backend is as far as it comes here, which is past the modules that it was told to look for."""
    (tmp_path / "pyproject.toml").write_text("")
    environ = {"PATH": os.environ["PATH"], "PYTHONSAFEPATH": "1"}
    with pytest.raises(UsageError) as caught:
        make_wheel(Project.at(tmp_path), built.manifest, toolkit, tmp_path / "dist", environ, settings=Settings())
    assert "the build backend None" in (caught.value.because or "")


def _of_backend(good: Good, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the backend, which takes seconds and an environment: it leaves this wheel."""
    name = f"add-0.1.0-py3-none-linux_{ARCH}.whl"
    monkeypatch.setattr("opkit.packaging.wheel._build", lambda _project, _wishes, folder: (folder / name).write_bytes(good.wheel()))


def test_a_wheel_that_is_as_the_project_should_make_it_is_taken(tmp_path: Path, toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch) -> None:
    root = archive_support.opp_root(tmp_path / "output", kind="cann")
    (tmp_path / "pyproject.toml").write_text("")
    _of_backend(Good.of(root), monkeypatch)
    _make(tmp_path, root.manifest, toolkit)
    assert [path.name for path in (tmp_path / "dist").iterdir()] == [f"add-0.1.0-py3-none-linux_{ARCH}.whl"]


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (None, "names no entry point of opkit.opp"),
        (b"[console_scripts]\n", "names no entry point of opkit.opp"),
        (b"[console_scripts]\nls = add:evil\n[opkit.opp]\nadd = add\n", "ls = add:evil in [console_scripts]"),
        (b"[opkit.opp]\nother = add\n", "other = add in [opkit.opp]"),
    ],
    ids=["none", "a table without one", "a command", "another name"],
)
def test_a_wheel_in_which_nobody_finds_the_ops_alone_is_not_made(
    entries: bytes | None, told: str, tmp_path: Path, toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = archive_support.opp_root(tmp_path / "output", kind="cann")
    (tmp_path / "pyproject.toml").write_text("")
    good = Good.of(root)
    path = f"{INFO}/entry_points.txt"
    good.metadata = {name: text for name, text in good.metadata.items() if name != path} | ({} if entries is None else {path: entries})
    _of_backend(good, monkeypatch)
    with pytest.raises(UsageError) as caught:
        _make(tmp_path, root.manifest, toolkit)
    assert told in (caught.value.because or "")
    assert "pyproject.toml" in (caught.value.help or "")
    assert not (tmp_path / "dist").exists()
