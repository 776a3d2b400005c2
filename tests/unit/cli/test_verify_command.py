"""Which package `opkit verify` holds where several could be meant, and what it advises for each kind of place."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from install_support import HEADER, LIBRARY, install, library, opp_root
from wheel_support import environment, installed_wheel, site_packages

from opkit.cli import main
from opkit.deliverable import MANIFEST, library_folder
from opkit.packaging import pack
from opkit.toolkit import host_arch

_STRAY = str(Path(LIBRARY).with_name("libmine.so"))


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With the package add, which came from the OPP root `source`; the current folder is another, and empty."""
    prefix = tmp_path / "the prefix"
    install(opp_root(tmp_path / "the source", {LIBRARY: "library", HEADER: "header"}, kind="cann", package="add"), prefix)
    monkeypatch.setenv("OPKIT_PREFIX", str(prefix))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return prefix


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*arguments: str | Path, exit_code: int = 0) -> str:
        capsys.readouterr()
        assert main(["verify", "--no-load", *map(str, arguments)]) == exit_code
        return capsys.readouterr().err

    return run


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[dict[str, Any]]]:
    def run(*arguments: str | Path, exit_code: int = 0) -> list[dict[str, Any]]:
        capsys.readouterr()
        assert main(["verify", "--no-load", "--json", *map(str, arguments)]) == exit_code
        packages: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["packages"]
        return packages

    return run


def test_what_was_held_is_told(prefix: Path, tmp_path: Path, said: Callable[..., str]) -> None:
    archive = pack(opp_root(tmp_path / "root", {LIBRARY: "library"}, kind="cann"), tmp_path / "dist").path
    for target, held in (("add", prefix / "add"), (tmp_path / "root", tmp_path / "root"), (tmp_path / "dist", archive)):
        assert said(target).endswith(f": {held}\n")


def test_what_was_built_against_the_simulator_shows_it_as_its_files_do(
    prefix: Path, tmp_path: Path, said: Callable[..., str], told: Callable[..., list[dict[str, Any]]]
) -> None:
    root = opp_root(tmp_path / "root", {LIBRARY: "library"}, version="0.2.0").path
    assert "Verified add 0.2.0+sim, for linux" in said(root)
    assert "Verified add 0.1.0, for linux" in said("add", "--prefix", prefix)
    (held,) = told(root)
    assert (held["version"], held["built_against"]["kind"]) == ("0.2.0", "simulator")


def test_a_misspelt_path_gets_the_nearest_package(prefix: Path, said: Callable[..., str]) -> None:
    archive = pack(opp_root(Path("my output"), {LIBRARY: "library"}, kind="cann", package="mul"), Path("dist")).path
    assert said("mul", exit_code=2).endswith(f"\n  help: did you mean dist/{archive.name}?\n")
    assert said("my outptu", exit_code=2).endswith("\n  help: did you mean 'my output'?\n")
    assert said("ad", exit_code=2).endswith("\n  help: did you mean 'add'?\n")
    assert prefix.is_dir()


def test_a_path_comes_before_a_package_of_its_name_and_that_is_told(prefix: Path, said: Callable[..., str]) -> None:
    """Or the verdict on the one would be taken for that on the other."""
    (prefix / "add" / HEADER).write_text("edited")
    said("add", exit_code=4)
    here = Path.cwd() / "add"
    opp_root(here, {LIBRARY: "library"}, kind="cann", package="add")
    told = said("add")
    assert f"warning: this is {here}, and not the package add in {prefix}/add\n" in told
    assert f"  help: that one: opkit verify add --prefix '{prefix}'\n" in told
    assert told.endswith(f": {here}\n")
    said("add", "--prefix", prefix, exit_code=4)
    # Who names a path means it.
    assert "warning" not in said("./add")
    assert "warning" not in said(prefix / "add", exit_code=4)


@pytest.mark.parametrize("option", ["--prefix", "--python"])
def test_an_archive_is_not_looked_for_among_the_installed(
    option: str, prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = pack(opp_root(tmp_path / "root", {LIBRARY: "library"}, kind="cann"), tmp_path / "dist").path
    value = {"--prefix": str(prefix), "--python": sys.executable}[option]
    assert main(["verify", str(archive), option, value]) == 2
    err = capsys.readouterr().err
    assert f": {archive} is a path, and {option} is for the name of an installed package\n" in err
    assert err.endswith(f"  help: leave {option} out, or name the package\n")
    assert main(["verify", "sub", "--prefix", str(prefix)]) == 2
    assert "  because: there is add\n" in capsys.readouterr().err


def test_the_package_itself_in_the_current_folder_is_no_other(
    prefix: Path, said: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(prefix)
    assert "warning" not in said("add")


def test_a_path_comes_before_a_package_of_a_wheel_too(
    prefix: Path, tmp_path: Path, said: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = installed_wheel(tmp_path / "site", "mul")
    monkeypatch.syspath_prepend(tmp_path / "site")
    opp_root(Path.cwd() / "mul", {LIBRARY: "library"}, kind="cann", package="mul")
    told = said("mul")
    advice = f"  help: that one: opkit verify mul --python {sys.executable}\n"
    assert f"warning: this is {Path.cwd()}/mul, and not the package mul in {root}\n{advice}" in told
    assert prefix.is_dir()


def test_packages_of_another_python_are_held_by_name_or_all(
    tmp_path: Path, told: Callable[..., list[dict[str, Any]]], said: Callable[..., str]
) -> None:
    python = environment(tmp_path / "my venv")
    roots = {name: installed_wheel(site_packages(python), name) for name in ("mul", "sub", "torn", "gone")}
    (roots["torn"] / MANIFEST).write_text("{")
    shutil.rmtree(roots["gone"])
    (held,) = told("mul", "--python", python)
    assert (held["package"], held["opp_root"], held["violations"]) == ("mul", str(roots["mul"]), [])
    (roots["sub"] / LIBRARY).write_bytes(library("another"))
    packages = told("--python", python / "bin" / "python", exit_code=4)
    assert [each["opp_root"] for each in packages] == [None, *(str(roots[name]) for name in ("mul", "sub", "torn"))]
    assert [len(each["violations"]) for each in packages] == [1, 0, 1, 1]
    assert "  help: install its wheel again: pip install --force-reinstall --no-deps FILE\n" in said("sub", "--python", python, exit_code=4)
    assert "error[OPK0425]: a wheel isn't what its manifest says\n" in said("gone", "--python", python, exit_code=4)


def test_a_package_that_a_python_has_not_is_told_with_those_that_it_has(prefix: Path, tmp_path: Path, said: Callable[..., str]) -> None:
    python = environment(tmp_path / "venv")
    assert f"error[OPK0130]: nothing is installed in the wheels of {python}\n" in said("--python", python, exit_code=2)
    installed_wheel(site_packages(python), "mul_all")
    told = said("mull_all", "--python", python, exit_code=2)
    assert told.splitlines() == [
        "error[OPK0130]: mull_all isn't installed",
        f"  because: it isn't in the wheels of {python}, where there is mul_all",
        "  help: did you mean 'mul_all'?",
    ]
    assert "error[OPK0100]: --prefix and --python exclude each other" in said("--prefix", prefix, "--python", python, exit_code=2)


@pytest.mark.parametrize("command", [["verify", "--no-load"], ["inspect"]])
def test_a_name_that_nobody_has_says_where_it_was_looked_for(command: list[str], prefix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "addd"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error[OPK0100]: addd doesn't exist",
        f"  because: there is no such file here, and no package of this name in {prefix} or the wheels of this Python, where there is add",
        "  help: did you mean 'add'?",
    ]
    assert main([*command, "quite-another"]) == 2
    assert "opkit list shows those" in capsys.readouterr().err
    assert main([*command, "addd", "--prefix", str(prefix)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"error[OPK0130]: addd isn't installed in {prefix}",
        "  because: there is add",
        "  help: did you mean 'add'?",
    ]
    # A path is none that could be installed.
    assert main([*command, "./addd"]) == 2
    assert "wheels" not in capsys.readouterr().err


def test_an_edited_package_is_installed_again(prefix: Path, tmp_path: Path, said: Callable[..., str]) -> None:
    """Its user has no project, and can neither package nor build it."""
    (prefix / "add" / HEADER).write_text("edited")
    assert said("add", exit_code=4).endswith(f"  help: install it again: opkit install '{tmp_path}/the source' --prefix '{prefix}'\n")
    shutil.rmtree(tmp_path / "the source")
    assert said("add", exit_code=4).endswith(f"  help: install it again: opkit install FILE --prefix '{prefix}'\n")


def test_what_is_not_the_package_s_is_taken_out(prefix: Path, said: Callable[..., str]) -> None:
    """To install it again would leave a library of somebody else's where it is."""
    (prefix / "add" / _STRAY).write_bytes(library("mine"))
    removal = f"take out what isn't the package's: rm '{prefix}/add/{_STRAY}'\n"
    assert said("add", exit_code=4).endswith(f"  help: {removal}")
    (prefix / "add" / HEADER).write_text("edited")
    assert f"  help: {removal}    install it again: opkit install " in said("add", exit_code=4)
    (prefix / "add" / _STRAY).unlink()
    assert "take out" not in said("add", exit_code=4)


def test_what_no_package_holds_is_taken_out_and_what_it_replaced_made_again(prefix: Path, tmp_path: Path, said: Callable[..., str]) -> None:
    """A build writes through a link, and leaves a pipe and a mode as they are."""
    root = tmp_path / "the source"
    os.mkfifo(root / "pipe")
    assert said(root, exit_code=4).endswith(f"  help: take out what isn't the package's: rm '{root}/pipe'\n")
    (root / LIBRARY).chmod(0o4755)
    told = said(root, exit_code=4)
    assert told.endswith(f"  help: take out what isn't the package's: rm '{root}/pipe'\n    chmod 0755 '{root}/{LIBRARY}'\n")
    (root / "pipe").unlink()
    (root / LIBRARY).chmod(0o755)
    (root / HEADER).rename(tmp_path / "header")
    (root / HEADER).symlink_to(tmp_path / "header")
    removal = f"take out what isn't the package's: rm '{root}/{HEADER}'\n"
    assert said(root, exit_code=4).endswith(f"  help: {removal}    build it again in its project: opkit build\n")
    assert prefix.is_dir()


def test_the_folder_of_a_wheel_is_held_alike_however_it_is_named(tmp_path: Path, said: Callable[..., str]) -> None:
    python = environment(tmp_path / "venv")
    root = installed_wheel(site_packages(python), "mul")
    (root / MANIFEST).rename(tmp_path / "manifest")
    (root / MANIFEST).symlink_to(tmp_path / "manifest")
    said("mul", "--python", python)
    said(root)
    (root / library_folder(host_arch()) / "libcust_opapi.so").write_bytes(library("another"))
    for words in (("mul", "--python", python), (root,)):
        assert said(*words, exit_code=4).endswith("  help: install its wheel again: pip install --force-reinstall --no-deps FILE\n")
