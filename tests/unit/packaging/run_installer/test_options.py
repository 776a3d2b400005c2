"""The options of an installer: its own, and those of makeself beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from install_support import HEADER, LIBRARY, library
from run_installer_support import ENVIRON, Case, is_as_built, run


def test_options_of_makeself_keep_working(case: Case, tmp_path: Path) -> None:
    installer = case.installers["1.0"]
    checked = run(installer, "--check")
    assert (checked.returncode, "SHA256 checksums are OK." in checked.stdout + checked.stderr) == (0, True)
    assert f"./opp/{LIBRARY}" in run(installer, "--list").stdout
    assert "Identification: add 1.0" in run(installer, "--info").stdout
    names = run(installer, "--tar", "tf", "--wildcards", "./opp/op_graph/*/add.h").stdout
    assert names == f"./opp/{HEADER}\n"
    for options in (["--target", "one"], ["--keep"], ["--quiet", "--accept", "--nox11", "--noprogress", "--keep"]):
        folder = tmp_path / "".join(options)
        folder.mkdir()
        done = run(installer, *options, "--noexec", cwd=folder)
        assert done.returncode == 0, done.stderr
        (unpacked,) = folder.iterdir()
        assert unpacked.name in ("one", "add-1.0")
        assert (unpacked / "opp" / LIBRARY).read_bytes() == library("library 1")
    assert run(installer, "--accept", "--install-path", tmp_path / "p").returncode == 0
    assert is_as_built(tmp_path / "p", "1.0")


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
def test_its_own_options_need_no_double_dash_and_quiet_is_for_both(case: Case, tmp_path: Path, options: list[str]) -> None:
    prefix = tmp_path / "in stall 'of' \"$(me)\" 算子"
    done = run(case.installers["1.0"], *(each.format(prefix) for each in options))
    assert done.returncode == 0, done.stderr
    assert is_as_built(prefix, "1.0")
    if {"--quiet", "-q"} & {*options}:
        assert done.stdout + done.stderr == ""
    else:
        assert "Verifying archive integrity..." in done.stdout
        assert f"installed add 1.0 -> {prefix}/add\n" in done.stdout


def test_help_is_told_with_and_without_that_of_makeself(case: Case) -> None:
    both = run(case.installers["1.0"], "--help")
    own = run(case.installers["1.0"], "--", "--help")
    assert (both.returncode, own.returncode) == (0, 0)
    assert "--install-path DIR" in both.stderr
    assert "--noexec " in both.stderr
    assert "--install-path DIR" in own.stdout
    assert "--noexec " not in own.stdout


@pytest.mark.parametrize("options", [["--instal-path", "/x"], ["--force"], ["/x"], ["--uninstall", "now"], ["--", "--list"]], ids=" ".join)
def test_an_unknown_option_is_an_error_and_not_ignored(case: Case, tmp_path: Path, options: list[str]) -> None:
    done = run(case.installers["1.0"], *options, env={**ENVIRON, "HOME": str(tmp_path)})
    assert done.returncode == 2
    unknown = next(each for each in options if each not in ("--", "--uninstall"))
    assert f"error: no such option: {unknown}\n  because: there are --install-path DIR" in done.stderr
    assert list(tmp_path.iterdir()) == []
