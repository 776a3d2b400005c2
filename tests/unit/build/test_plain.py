"""`opkit build [PROJECT]` is read without click, and click reads it as soon as there is an option: both are one command."""

from __future__ import annotations

import inspect
import os
import re
from typing import TYPE_CHECKING

import pytest

from opkit.build import build
from opkit.cli import main
from opkit.cli.build import command

if TYPE_CHECKING:
    from tiny_support import Tiny


@pytest.fixture
def inside(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """The current folder is that of a project, beside which there are other things that may be named."""
    for name in ("empty", "below/broken"):
        (tiny.root / name).mkdir(parents=True)
    (tiny.root / "below/broken/ops.py").write_text("no_such_thing(")
    (tiny.root / "text").write_text("")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tiny.toolkit.home))
    monkeypatch.chdir(tiny.root)
    return tiny


def _ended(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    exit_code = main(["build", *words])
    captured = capsys.readouterr()
    return exit_code, captured.out, re.sub(r"\d+\.\d+ s\b", "SECONDS", captured.err)


def test_both_wait_as_long_for_another_opkit() -> None:
    option = next(parameter for parameter in command.params if parameter.name == "wait")
    assert option.default == inspect.signature(build).parameters["wait"].default


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize(
    ("named", "exit_code", "told"),
    [
        (None, 0, "Finished tiny: up to date (SECONDS)"),
        ("", 0, "Finished tiny: up to date (SECONDS)"),
        (".", 0, "Finished tiny: up to date (SECONDS)"),
        ("./ops.py", 0, "Finished tiny: up to date (SECONDS)"),
        ("below", 2, "error[OPK0"),
        ("empty", 2, "error[OPK0101]: empty is no opkit project, and holds none"),
        ("gone", 2, "error[OPK0101]: gone is no opkit project"),
        ("text", 2, "error[OPK0101]: text is no opkit project"),
        ("x" * 5000, 2, "because: File name too long"),
    ],
)
def test_what_is_named_is_the_same_to_both(capsys: pytest.CaptureFixture[str], named: str | None, exit_code: int, told: str) -> None:
    words = [] if named is None else [named]
    if exit_code == 0:
        main(["build", "."])
        capsys.readouterr()
    plain = _ended(capsys, *words)
    assert plain == _ended(capsys, *words, "--wait", "60")
    assert plain[0] == exit_code
    assert told in plain[2]


def test_a_build_that_fails_ends_the_same(inside: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    inside.say("no_such_thing")
    main(["build", "."])
    capsys.readouterr()
    plain = _ended(capsys)
    assert plain == _ended(capsys, "--wait", "60")
    assert plain[0] == 5
    assert "error[OPK0502]" in plain[2]


def test_a_fault_of_opkit_ends_the_same(inside: Tiny, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opkit.build.building.require_owner", lambda *_: 1 // 0)
    plain, read = (_ended(capsys, str(inside.root), *words) for words in ((), ("--wait", "60")))
    assert plain[0] == read[0] == 1
    for _, out, err in (plain, read):
        assert out == ""
        assert "ZeroDivisionError: integer division or modulo by zero\n\nThis is a fault of opkit." in err
        assert f"opkit build {inside.root}" in err.replace("'", "")


def test_a_folder_that_is_gone_under_the_shell_ends_the_same(inside: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    (inside.root / "gone").mkdir()
    os.chdir(inside.root / "gone")
    (inside.root / "gone").rmdir()
    plain = _ended(capsys, str(inside.root))
    assert plain == _ended(capsys, str(inside.root), "--wait", "60")
    assert plain[0] == 3
    assert "there is no current folder" in plain[2]
