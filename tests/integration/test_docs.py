"""Runs the commands of the documentation, in order, as a reader types them."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_support import ROOT
from docs_support import follow, how_to, shell_blocks, shown
from tool_support import require_tool

from opkit.toolkit import host_arch


def links(page: Path) -> list[str]:
    return [link for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()) if "://" not in link]


@pytest.mark.slow
def test_every_command_of_the_tutorial_works_in_a_folder_with_a_space(tmp_path: Path) -> None:
    folder = tmp_path / "first steps"
    folder.mkdir()
    done = follow(ROOT / "docs" / "tutorial.md", folder)
    assert "exit code 4" in done.stdout
    assert "Precision check passed" in done.stdout
    assert list((folder / "installed").rglob("libcust_opapi.so")), done.stdout


@pytest.mark.slow
def test_every_command_of_the_how_to_about_existing_operators_works(tmp_path: Path) -> None:
    page = how_to("bring-an-operator.md")
    done = follow(page, tmp_path)
    # What the page shows is what came.
    assert shown(page) in done.stderr
    assert done.stdout.count("exit code 2") == 2
    assert ".ATTR(alpha, Float, 1.0f)" in done.stdout


@pytest.mark.slow
def test_layer_norm_as_its_page_writes_it_computes_what_numpy_does(tmp_path: Path) -> None:
    done = follow(how_to("layer-norm.md"), tmp_path)
    assert re.search(r"^26 passed$", done.stdout, flags=re.MULTILINE), done.stdout
    assert done.stdout.count("Precision check passed") == 12
    assert '.OPTIONAL_INPUT(bias, "T")\n    .OUTPUT(y, "T")' in done.stdout


@pytest.mark.slow
def test_kernels_are_compiled_when_their_page_says(tmp_path: Path) -> None:
    done = follow(how_to("compile-kernels.md"), tmp_path)
    assert "cust_opapi.kernels\nlibcust_opapi.so\n" in done.stdout
    assert "exit code 5" in done.stdout
    assert "does not compile for --npu-arch=dav-9999" in done.stderr
    passed = re.findall(r"^(\d+) passed$", done.stdout, flags=re.MULTILINE)
    assert len(passed) == 2, done.stdout
    assert passed[0] == passed[1]


@pytest.mark.slow
@pytest.mark.case("E10", "E11")
def test_an_op_that_is_not_found_is_found_as_its_page_says(tmp_path: Path) -> None:
    page = how_to("op-not-found.md")
    done = follow(page, tmp_path)
    assert shown(page).replace("DIR", str(tmp_path)).replace("x86_64", host_arch()) in done.stdout
    assert f"DemoAdd is registered by {tmp_path}/demo/output/op_graph/lib/linux/{host_arch()}/libcust_opapi.so" in done.stdout
    assert "nobody registers demo_add; did you mean DemoAdd?\nexit code 3\n" in done.stdout
    # The machine as a whole: one failure before the command that mends it, none that the report would have to tell after it.
    machine, report = done.stdout.split("DemoAdd is registered by")[0], done.stdout.rpartition("exit code 3\n")[2]
    assert re.search(r"^fail  opp-path\[0\] .* is no OPP root, but holds one", machine, flags=re.MULTILINE)
    assert f"help: export ASCEND_CUSTOM_OPP_PATH={tmp_path}/demo/output\n" in machine
    assert report.startswith("opkit ")
    assert "fail " not in report


@pytest.mark.slow
def test_a_package_is_made_checked_installed_upgraded_and_uninstalled_as_its_page_says(tmp_path: Path) -> None:
    done = follow(how_to("package.md"), tmp_path)
    assert re.search(r"^demo-0\.1\.0\+sim-linux_\w+\.tar\.gz$", done.stdout, flags=re.MULTILINE), done.stdout
    assert "exit code 4" in done.stdout
    assert re.search(r"\.h isn't the file that was built$", done.stderr, flags=re.MULTILINE), done.stderr
    assert re.search(r"\.asc is missing$", done.stderr, flags=re.MULTILINE), done.stderr
    prefix = tmp_path / "prefix"
    assert f"\n{prefix}/demo\n" in done.stdout
    verbs = re.findall(r"^ +(\w+) demo 0\.\d\.0.* (?:in|from) ", done.stderr, flags=re.MULTILINE)
    assert verbs == ["Installed", "Reinstalled", "Upgraded", "Downgraded", "Upgraded", "Uninstalled"]
    assert "demo.h was edited" in done.stdout
    assert re.search(rf"warning: (\w+) of {re.escape(str(tmp_path))}/elsewhere is shadowed by that of {prefix}/demo", done.stderr)
    assert "demo isn't installed" in done.stderr
    assert sorted(path.name for path in (prefix / "demo").resolve().rglob("*") if path.is_file()) == ["demo.h.edited", "notes.txt"]


@pytest.mark.slow
def test_an_installer_is_made_run_and_undone_as_its_page_says(tmp_path: Path) -> None:
    require_tool("makeself", "makeself")
    done = follow(how_to("run-installer.md"), tmp_path)
    prefix = tmp_path / "out" / "prefix"
    assert f"demo-0.1.0+sim-linux_{host_arch()}.run\n" in done.stdout
    assert f"installed demo 0.1.0 -> {prefix}/demo\n" in done.stdout
    assert re.findall(r"^exit code (\d+)$", done.stdout, flags=re.MULTILINE) == ["2", "2", "4"]
    assert "error: no such option: --force\n" in done.stderr
    assert "error: --install-path isn't one folder: /opt/a:/opt/b\n" in done.stderr
    assert "error[OPK0450]" in done.stderr
    assert f"ASCEND_CUSTOM_OPP_PATH={prefix}/demo\n" in done.stdout
    assert done.stdout.endswith("\n  notes.txt\nmeasured on Monday\n"), done.stdout
    assert [path.name for path in (prefix / "demo").iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_operators_are_shipped_as_a_wheel_as_its_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPKIT_PREFIX", str(tmp_path / "prefix"))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    done = follow(how_to("wheel.md"), tmp_path)
    (root,) = {line for line in done.stdout.splitlines() if line.endswith("site-packages/demo_ops")}
    assert done.stdout.splitlines().count(root) == 3
    assert re.search(r"^demo_ops-0\.1\.0\+sim-py3-none-manylinux_2_\d+_\w+\.whl$", done.stdout, flags=re.MULTILINE)
    assert re.search(r"^\[\]\n(?:.*\n)*exit code 125$", done.stdout, flags=re.MULTILINE)


@pytest.mark.slow
def test_builds_say_why_as_their_page_tells(tmp_path: Path) -> None:
    done = follow(how_to("build.md"), tmp_path, CMAKE_GENERATOR="Ninja")
    for reason in (
        "nothing to do: the spec",
        "the spec was read because ops.py changed",
        "compiled because kernels/add_custom.asc changed",
        "installed because output held what simulator-",
        *(["reconfigured from scratch because launcher /"] if shutil.which("ccache") else []),
    ):
        assert reason in done.stderr, done.stderr
    assert "Precision check passed" in done.stdout
    assert (tmp_path / "demo_add/build/debug/compile_commands.json").is_file()


@pytest.mark.slow
def test_a_folder_of_packages_is_built_as_its_page_says(tmp_path: Path) -> None:
    page = how_to("workspace.md")
    done = follow(page, tmp_path)
    # What the page shows is what came, but for the seconds and the order in which two end.
    told = {re.sub(r"[\d.]+ s\)$", "s)", line) for line in done.stderr.splitlines()}
    assert {re.sub(r"[\d.]+ s\)$", "s)", line) for line in shown(page).splitlines()} <= told, done.stderr
    assert "error[OPK0570]: 1 of 2 projects failed, the others are up to date\n  because: ops/demo_add: OPK02" in done.stderr
    assert done.stdout.endswith("exit code 2\n")


KERNEL_PAGE = how_to("write-a-kernel.md")


@pytest.mark.slow
def test_the_kernel_in_half_precision_as_its_page_writes_it_computes_what_numpy_does(tmp_path: Path) -> None:
    done = follow(KERNEL_PAGE, tmp_path)
    assert re.findall(r"^(\d+) passed$", done.stdout, flags=re.MULTILINE) == ["54"], done.stdout
    assert re.search(r"^SiluCustom +bfloat16 +0 1 2047 2048 2049 6145 ", done.stdout, flags=re.MULTILINE), done.stdout
    assert "float16, 1MB" in done.stdout


SIMULATOR = ROOT / "simulator" / "include"
_SMALL_ELEMENTS = ("int8_t", "uint8_t", "int16_t", "uint16_t", "half", "bfloat16_t")
_ELEMENTS = (*_SMALL_ELEMENTS, "int32_t", "uint32_t", "float", "int64_t", "uint64_t", "double")
_COUNTED = "{name}(t, t, t, 8);"
_CALLS = {
    "of a tensor and a number": "{name}(t, t, T(1), 8);",
    "added to what is there": "{name}(t, t, T(1), 8);",
    "of one tensor": "{name}(t, t, 8);",
    "a number everywhere": "{name}(t, T(1), 8);",
    "Compare": "{name}(bits, t, t, CMPMODE::EQ, 64);",
    "Compares": "{name}(bits, t, T(1), CMPMODE::EQ, 64);",
    "CompareScalar": "{name}(bits, t, T(1), CMPMODE::EQ, 64);",
    "Select": "{name}(t, bits, t, t, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);",
    "DataCopy": "{name}(t, g, 32);",
    "DataCopyPad": "{name}(g, t, DataCopyExtParams{1, 8, 0, 0, 0});",
}


def table(heading: str) -> list[list[str]]:
    """The cells of a table's rows; an empty first one is that of the row before."""
    page = KERNEL_PAGE.read_text()
    (body,) = re.findall(rf"^{re.escape(heading)}\n\| -.*\n((?:\|.*\n)+)", page, flags=re.MULTILINE)
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in body.splitlines()]
    for before, row in itertools.pairwise(rows):
        row[0] = row[0] or before[0]
    return rows


def compiled(calls: dict[tuple[str, str], str], folder: Path) -> set[tuple[str, str]]:
    """Which of the calls the simulator's headers compile."""
    head = ['#include "kernel_operator.h"', "using namespace AscendC;"]
    lines = [f"void f{number}() {{ {call} }}" for number, call in enumerate(calls.values())]
    (folder / "probe.cpp").write_text("\n".join([*head, *lines, ""]))
    argv = ["g++", "-std=c++17", "-fsyntax-only", "-I", str(SIMULATOR), "probe.cpp"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    wrong = {int(line) - len(head) - 1 for line in re.findall(r"^probe\.cpp:(\d+):", done.stderr, flags=re.MULTILINE)}
    return {key for number, key in enumerate(calls) if number not in wrong}


@pytest.mark.slow
def test_the_instructions_of_the_page_take_the_element_types_that_it_lists(tmp_path: Path) -> None:
    """And no others. Instructions of one row may share a check, which a compiler tells once: each is compiled apart from the others."""
    rows = [(kind, re.findall(r"`(\w+)`", names), types.split(", ")) for kind, names, types in table("| | instructions | element types |")]
    for place in range(max(len(names) for _, names, _ in rows)):
        calls, listed = {}, set()
        for kind, names, types in (row for row in rows if len(row[1]) > place):
            name = names[place]
            listed |= {(name, element) for element in types}
            for element in _ELEMENTS:
                call = _CALLS.get(name, _CALLS.get(kind, _COUNTED)).replace("{name}", name)
                tensors = "LocalTensor<T> t; GlobalTensor<T> g; LocalTensor<uint8_t> bits;"
                calls[name, element] = f"using T = {element}; {tensors} {call}"
        assert compiled(calls, tmp_path) == listed


@pytest.mark.slow
def test_the_casts_of_the_page_are_those_that_there_are(tmp_path: Path) -> None:
    listed = {(source, element) for source, elements in table("| from | to |") for element in elements.split(", ")}
    calls = {
        (source, to): f"LocalTensor<{to}> to; LocalTensor<{source}> from; Cast(to, from, RoundMode::CAST_NONE, 8);"
        for source in _ELEMENTS
        for to in _ELEMENTS
    }
    assert compiled(calls, tmp_path) == listed


def test_the_page_has_every_instruction_of_the_simulator() -> None:
    headers = [header.read_text() for header in sorted((SIMULATOR / "ascendc").glob("*.h"))]
    defined = {name for text in headers for name in re.findall(r"\bvoid ([A-Z]\w+)\(const LocalTensor<\w+> &dst\b", text)}
    defined |= {name for text in headers for name in re.findall(r"^OPKIT_SIM_[A-Z_]+\(([A-Z]\w+)", text, flags=re.MULTILINE)}
    told = {name for _, names, _ in table("| | instructions | element types |") for name in re.findall(r"`(\w+)`", names)}
    assert defined - {"NAME"} == told | {"Cast"}


def test_readme_commands_are_the_ones_that_ci_runs() -> None:
    main_job, the_tests, *_ = shell_blocks(ROOT / "README.md")
    ci = (ROOT / ".ci" / "run").read_text()
    assert main_job.strip().endswith("pip install . && opkit bench samples/args_refresh_add_custom")
    assert the_tests.strip().endswith("pip install nox && nox -s tests")
    for command in ("opkit bench samples/args_refresh_add_custom", "nox -s tests"):
        assert command in ci


def test_readme_shows_the_spec_of_the_sample() -> None:
    assert (ROOT / "samples" / "args_refresh_add_custom" / "ops.py").read_text() in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", sorted(str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]))
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    folder = (ROOT / page).parent
    assert [link for link in links(ROOT / page) if not (folder / link).exists()] == []


def test_reference_pages_are_what_the_code_gives() -> None:
    done = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
