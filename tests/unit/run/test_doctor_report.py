"""`doctor --report`: what may be pasted into a public place."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit import __version__
from opkit.build import Project
from opkit.cli import main
from opkit.run import Finding, Status, report_of
from opkit.run.doctor_findings import Check


def _finding(evidence: str, *, check: Check = Check.OPP_PATH, status: Status = Status.FAIL, help: str | None = None) -> Finding:  # noqa: A002
    return Finding(check=check, status=status, evidence=evidence, help=help)


def _shown(evidence: str, **variables: str) -> str:
    (finding,) = report_of([_finding(evidence)], variables, project=None).findings
    return finding.evidence


@pytest.mark.parametrize(
    ("evidence", "home", "shown"),
    [
        ("/home/alice/opp is missing", "/home/alice", "~/opp is missing"),
        ("/home/alice", "/home/alice/", "~"),
        ("/home//alice//opp", "/home/alice", "~//opp"),
        ("/home/alice2/opp", "/home/alice", "/home/…/opp"),
        ("/home/bob", "/home/alice", "/home/USER"),
        ("/x/[a](b)+/opp", "/x/[a](b)+", "~/opp"),
        ("/x/al ice/opp and '/x/al ice'", "/x/al ice", "~/opp and '~'"),
        ("/x/al\nice/opp", "/x/al\nice", "~/opp"),
        ("/x/\\1/opp", "/x/\\1", "~/opp"),
        ("/opt/opp", "/", "/opt/opp"),
        ("/opt/opp", "", "/opt/opp"),
        ("/opt/opp", "relative", "/opt/opp"),
        ("/srv/a", "/a", "/srv/a"),
        ("PATH=/home/alice/bin:/home/alice/x", "/home/alice", "PATH=~/bin:~/x"),
    ],
)
def test_a_home_is_never_shown_and_nothing_else_is_hidden(evidence: str, home: str, shown: str) -> None:
    assert _shown(evidence, HOME=home) == shown


def test_a_home_is_hidden_by_its_real_name_too(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert _shown(f"{tmp_path}/real/opp", HOME=str(tmp_path / "link")) == "~/opp"


@pytest.mark.parametrize(
    ("evidence", "user", "shown"),
    [
        ("/data/alice", "alice", "/data/USER"),
        ("owned by alice", "alice", "owned by USER"),
        ("/data/alice_ops", "alice", "/data/USER_ops"),
        ("/data/proj-alice", "alice", "/data/proj-USER"),
        ("/data/Alice", "alice", "/data/USER"),
        ("alices malice", "alice", "alices malice"),
        ("/data/a is a file", "a", "/data/USER is a file"),
        ("an OPP root in /root2", "root", "an OPP root in /root2"),
        ("/x/a.b", "a.b", "/x/USER"),
        ("/x/aXb", "a.b", "/x/aXb"),
        ("opkit build /opkit", "opkit", "opkit build /opkit"),
        ("opkit build /data/output", "build", "opkit build /data/output"),
    ],
)
@pytest.mark.parametrize("variable", ["USER", "LOGNAME", "SUDO_USER"])
def test_the_name_of_a_user_is_never_shown(evidence: str, user: str, shown: str, variable: str) -> None:
    assert _shown(evidence, **{variable: user}) == shown


@given(
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=4, max_size=12).filter(
        lambda name: name.strip(".")
    )
)
def test_no_home_is_too_strange(name: str) -> None:
    home = f"/x/{name}"
    assert _shown(f"{home}/opp", HOME=home) == "~/opp"


@pytest.mark.parametrize(
    ("evidence", "shown"),
    [
        ("/mnt/nfs/users/dave/opp", "/mnt/…/opp"),
        ("/mnt/nfs/users/dave", "/mnt/…/USER"),
        ("/mnt/homes/Dave is a file", "/mnt/…/USER is a file"),
        ("ASCEND_OPP_PATH=/data/dave/x:/data/dave/y", "ASCEND_OPP_PATH=/data/…/x:/data/…/y"),
        ("'/data/dave/it', (/data/dave/y)", "'/data/…/it', (/data/…/y)"),
        ("/data/dave/opp/op_graph/lib/linux/x86_64/a.so loads", "/data/…/opp/op_graph/lib/linux/x86_64/a.so loads"),
        ("/data/opp/op_graph/lib/linux/x86_64", "/data/opp/op_graph/lib/linux/x86_64"),
        ("/data/x", "/data/x"),
        ("/usr/local/Ascend/cann/lib64", "/usr/local/Ascend/cann/lib64"),
        ("/opt/toolkits/cann/9.2", "/opt/toolkits/cann/9.2"),
        ("in a/b/c/d", "in a/b/c/d"),
    ],
)
def test_of_a_strange_folder_only_its_ends_are_shown_and_the_systems_are_whole(evidence: str, shown: str) -> None:
    assert _shown(evidence) == shown


def test_of_a_strange_folder_with_a_space_in_its_name_the_middle_is_hidden_too() -> None:
    value = "/data/my friends/dave/opp"
    assert _shown(f"{value} does not exist", ASCEND_CUSTOM_OPP_PATH=f"/x:{value}") == "/data/…/opp does not exist"


@pytest.mark.parametrize(
    ("node", "evidence", "shown"),
    [
        ("vm", "/vm/x of USER@vm, a vm", "/HOST/x of USER@HOST, a vm"),
        ("build-7.example.org", "on build-7.example.org, build-7 and BUILD-7", "on HOST, HOST and HOST"),
        ("linux", "op_graph/lib/linux/x86_64", "op_graph/lib/linux/x86_64"),
        ("localhost", "localhost", "localhost"),
        ("", "anything", "anything"),
    ],
)
def test_the_name_of_the_computer_is_never_shown(monkeypatch: pytest.MonkeyPatch, node: str, evidence: str, shown: str) -> None:
    monkeypatch.setattr("platform.node", lambda: node)
    assert _shown(evidence) == shown


def test_a_project_is_hidden_by_whatever_link_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "real/deep/ops").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/deep/ops")
    for root in (tmp_path / "link", tmp_path / "real/deep/ops"):
        finding = _finding(f"{tmp_path}/link/output and {tmp_path}/real/deep/ops/output, {tmp_path}/link")
        (shown,) = report_of([finding], {}, project=Project.at(root)).findings
        assert shown.evidence == "PROJECT/output and PROJECT/output, PROJECT"


def test_the_project_is_hidden_and_so_is_what_a_help_says(tmp_path: Path) -> None:
    (tmp_path / "my secret ops").mkdir()
    project = Project.at(tmp_path / "my secret ops")
    finding = _finding(f"{project.root} isn't built", check=Check.DELIVERABLE, help=f"opkit build '{project.root}'")
    words = Finding(check=Check.DELIVERABLE, status=Status.WARN, evidence="it", hint=f"look into {project.root}")
    shown, told = report_of([finding, words], {}, project=project).findings
    assert (shown.evidence, shown.help) == ("PROJECT isn't built", "opkit build 'PROJECT'")
    assert told.hint == "look into PROJECT"


def test_it_is_short_and_says_every_version() -> None:
    findings = [
        _finding("/opt/cann: CANN 9.2.0", check=Check.TOOLKIT, status=Status.OK),
        _finding("everything is there", check=Check.HEADERS, status=Status.OK),
        _finding("nothing is wrong", check=Check.FOLDER, status=Status.OK),
        _finding("/gone does not exist", help="export ASCEND_CUSTOM_OPP_PATH="),
        _finding("/lost does not exist", help="export ASCEND_CUSTOM_OPP_PATH="),
    ]
    system, *lines = report_of(findings, {}, project=None).lines()
    assert system.startswith(f"opkit {__version__}, Python {sys.version_info[0]}.{sys.version_info[1]}.")
    assert lines == [
        "ok    toolkit: /opt/cann: CANN 9.2.0",
        "fail  opp-path: /gone does not exist",
        "fail  opp-path: /lost does not exist",
        "      help: export ASCEND_CUSTOM_OPP_PATH=",
        "ok    headers, folder",
    ]


def test_the_command_keeps_a_hostile_home_to_itself(
    built_project: Path, toolkit_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The project and an element of the path list lie in it."""
    home = built_project.parent
    monkeypatch.chdir(built_project)
    monkeypatch.setenv("HOME", f"{home}/.//")
    monkeypatch.setenv("USER", home.name)
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", f"{home}/gone:{built_project}/output/op_graph")
    for options in ([], ["--json"]):
        assert main(["doctor", "--report", "--toolkit", str(toolkit_home), *options]) == 3
        told = capsys.readouterr().out
        assert home.name not in told
        assert str(home) not in told
        assert "~/gone does not exist" in told
        assert "PROJECT/output" in told
    document = json.loads(told)
    assert document["system"].startswith("opkit ")
    assert document["failures"] == sum(finding["status"] == "fail" for finding in document["findings"])
