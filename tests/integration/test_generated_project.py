"""A generated project as an ordinary CMake, shell and Python project: what it compiles under, refuses, installs and leaves out."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import attrs
import pytest
from generated_support import StrictCompiler, build_by_hand, run_session, shell, succeed, varied_project
from launch_support import write_launches
from rules_support import write_rules

from opkit.codegen import NewProject, render
from opkit.create import create_project
from opkit.spec import load_package

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "args_refresh_add_custom"
FLATTEN = ROOT / "templates" / "deliverable" / "cmake" / "flatten_kernel.cmake"


def sample_project(folder: Path) -> Path:
    for name in ("ops.py", "kernels"):
        source = SAMPLE / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    render(load_package(folder / "ops.py")).write(folder)
    return folder


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    sample = sample_project(tmp_path_factory.mktemp("sample"))
    varied = tmp_path_factory.mktemp("varied")
    varied_project(varied)
    rules = write_rules(tmp_path_factory.mktemp("rules"))
    lists = write_rules(tmp_path_factory.mktemp("lists"), has_lists=True)
    launches = write_launches(tmp_path_factory.mktemp("launches"))
    for project in (rules, lists, launches):
        render(load_package(project / "ops.py")).write(project)
    return {"sample": sample, "varied": varied, "rules": rules, "lists": lists, "launches": launches}


@pytest.fixture(scope="module")
def compiler(toolkit_home: Path) -> StrictCompiler:
    return StrictCompiler(toolkit_home)


# Each source with each package, and each dialect with the package that uses more.
@pytest.mark.slow
@pytest.mark.xdist_group("strict")
@pytest.mark.parametrize("file", ["ge/custom_op.cpp", "ge/utils/rtc_kernel_loader.cpp", "session_run/main.cc"])
@pytest.mark.parametrize(
    ("which", "dialect"),
    [
        ("sample", ["-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0"]),
        ("varied", ["-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0"]),
        ("rules", ["-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0"]),
        ("lists", ["-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0"]),
        ("launches", ["-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0"]),
        ("launches", ["-std=c++20", "-D_GLIBCXX_USE_CXX11_ABI=1"]),
    ],
    ids=["sample-17-0", "varied-17-0", "rules-17-0", "lists-17-0", "launches-17-0", "launches-20-1"],
)
def test_every_source_is_clean_under_strict_warnings(
    sources: dict[str, Path], compiler: StrictCompiler, which: str, dialect: list[str], file: str
) -> None:
    compiler.check(sources[which] / file, "g++", *dialect)


@pytest.mark.slow
@pytest.mark.xdist_group("strict")
@pytest.mark.skipif(shutil.which("clang++") is None, reason="no clang++ on this machine")
@pytest.mark.parametrize("file", ["ge/custom_op.cpp", "ge/utils/rtc_kernel_loader.cpp", "session_run/main.cc"])
@pytest.mark.parametrize("which", ["sample", "varied", "rules", "lists", "launches"])
def test_every_source_is_clean_under_clang_too(sources: dict[str, Path], compiler: StrictCompiler, which: str, file: str) -> None:
    compiler.check(sources[which] / file, "clang++", "-std=c++20")


@pytest.mark.slow
@pytest.mark.xdist_group("strict")
@pytest.mark.parametrize("which", ["sample", "lists", "launches"])
def test_every_header_includes_what_it_uses(sources: dict[str, Path], compiler: StrictCompiler, which: str) -> None:
    for header in sorted((sources[which] / "ge").glob("utils/*.h")):
        compiler.check(header, "g++", "-std=c++17", "-x", "c++")


@pytest.mark.parametrize("value", [None, "", "/nowhere/at/all"])
def test_without_a_toolkit_configuring_fails_in_one_line(sources: dict[str, Path], tmp_path: Path, value: str | None) -> None:
    env = {name: text for name, text in os.environ.items() if name != "ASCEND_HOME_PATH"} | (
        {} if value is None else {"ASCEND_HOME_PATH": value}
    )
    done = subprocess.run(
        ["cmake", "-S", sources["sample"], "-B", tmp_path / "build"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert done.stderr.count("CMake Error") == 1
    assert f"ASCEND_HOME_PATH is {value or 'not set'}" in " ".join(done.stderr.split())
    assert "/include " not in done.stderr


@attrs.frozen(kw_only=True)
class TwoToolkits:
    """A build folder that is configured with one of two toolkits."""

    project: Path
    build: Path
    first: Path
    other: Path
    said: list[str] = attrs.field(factory=list)

    def configured(self, *options: str, **env: str) -> str:
        """Configures once more and gives the toolkit that the commands of the build name: "first" or "other", never both."""
        self.said.append(succeed(shell("cmake", "-S", self.project, "-B", self.build, *options, env=env)).stdout)
        text = (self.build / "compile_commands.json").read_text()
        assert (str(self.other) in text) != (str(self.first) in text)
        return "other" if str(self.other) in text else "first"


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_what_takes_longest_to_compile_is_started_first(
    sources: dict[str, Path], toolkit_home: Path, tmp_path: Path, generator: str
) -> None:
    """One that is started when the others end has a core to itself, and the other cores have nothing."""
    if generator != "Ninja" and shutil.which("make") is None:
        pytest.skip("no make on this machine")
    env = {"ASCEND_HOME_PATH": str(toolkit_home), "CMAKE_GENERATOR": generator}
    succeed(shell("cmake", "-S", sources["sample"], "-B", tmp_path, env=env))
    told = succeed(shell("cmake", "--build", tmp_path, "--", "-n")).stdout
    compiled = re.findall(r"Building CXX object CMakeFiles/\S+\.dir/(\S+)\.o\b", told)
    assert compiled[0] == "session_run/main.cc"
    assert len(compiled) > 2


@pytest.mark.slow
def test_the_toolkit_that_was_configured_stays_until_another_is_named(sources: dict[str, Path], toolkit_home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other toolkit"
    other.symlink_to(toolkit_home)
    build = TwoToolkits(project=sources["sample"], build=tmp_path / "build", first=toolkit_home, other=other)
    assert build.configured(ASCEND_HOME_PATH=str(toolkit_home)) == "first"
    assert build.configured() == "first"
    assert build.configured(ASCEND_HOME_PATH=str(other)) == "other"
    assert build.configured(f"-DASCEND_HOME_PATH={toolkit_home}", ASCEND_HOME_PATH=str(other)) == "first"
    # The command line went against this environment knowingly, and its word holds until something changes.
    assert build.configured(ASCEND_HOME_PATH=str(other)) == "first"
    assert f"The toolkit is {toolkit_home}, not the ASCEND_HOME_PATH of the environment, {other}" in build.said[-1]
    assert build.configured() == "first"


@pytest.mark.slow
def test_an_environment_that_changed_wins_over_what_a_command_line_said_before(
    sources: dict[str, Path], toolkit_home: Path, tmp_path: Path
) -> None:
    """As after `opkit build`, which names the toolkit with -D."""
    other = tmp_path / "other toolkit"
    other.symlink_to(toolkit_home)
    build = TwoToolkits(project=sources["sample"], build=tmp_path / "build", first=toolkit_home, other=other)
    first, second = f"-DASCEND_HOME_PATH={toolkit_home}", {"ASCEND_HOME_PATH": str(other)}
    assert build.configured(first) == "first"
    assert build.configured(**second) == "other"
    # The same word as the first time still counts: it is said now.
    assert build.configured(first, **second) == "first"
    assert build.configured(ASCEND_HOME_PATH=str(toolkit_home)) == "first"
    assert build.configured(**second) == "other"


@pytest.mark.slow
def test_a_toolkit_that_was_refused_is_forgotten(sources: dict[str, Path], toolkit_home: Path, tmp_path: Path) -> None:
    build: list[str | Path] = ["cmake", "-S", sources["sample"], "-B", tmp_path / "build"]
    assert shell(*build, "-DASCEND_HOME_PATH=/nowhere/at/all").returncode != 0
    succeed(shell(*build, env={"ASCEND_HOME_PATH": str(toolkit_home)}))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> Path:
    """The sample, built with the default generator by a user with a strict umask."""
    project = tmp_path_factory.mktemp("built") / "my ops"
    project.mkdir()
    sample_project(project)
    before = os.umask(0o077)
    try:
        build_by_hand(project, toolkit_home)
    finally:
        os.umask(before)
    return project


def library_of(project: Path) -> Path:
    (library,) = project.glob("output/op_graph/lib/linux/*/libcust_opapi.so")
    return library


def dynamic_tags(file: Path) -> list[tuple[str, str]]:
    """The libraries and search paths that an ELF file names."""
    text = succeed(shell("readelf", "--dynamic", "--wide", file, env={"LC_ALL": "C"})).stdout
    return re.findall(r"\((NEEDED|RPATH|RUNPATH)\) .*\[(.*)\]", text)


@pytest.mark.slow
@pytest.mark.xdist_group("built_by_hand")
def test_the_deliverable_is_its_library_kernels_header_and_manifest(built: Path) -> None:
    files = {path.relative_to(built / "output").as_posix() for path in (built / "output").rglob("*") if path.is_file()}
    folder = library_of(built).parent.relative_to(built / "output").as_posix()
    assert files == {f"{folder}/libcust_opapi.so", f"{folder}/add_custom.asc", "op_graph/include/add_custom.h", "opkit-manifest.json"}
    assert (library_of(built).parent / "add_custom.asc").read_bytes() == (SAMPLE / "kernels" / "add_custom.asc").read_bytes()


@pytest.mark.case("D10")
@pytest.mark.slow
@pytest.mark.xdist_group("built_by_hand")
def test_everyone_may_read_the_installed_files(built: Path) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (built / "output").rglob("*") if path.is_file()}
    assert modes == {"libcust_opapi.so": 0o755, "add_custom.asc": 0o644, "add_custom.h": 0o644, "opkit-manifest.json": 0o644}


@pytest.mark.slow
@pytest.mark.xdist_group("built_by_hand")
def test_the_library_needs_few_libraries_and_no_path(built: Path, toolkit_home: Path) -> None:
    tags = dynamic_tags(library_of(built))
    assert [tag for tag in tags if tag[0] != "NEEDED"] == []
    toolkit_libraries = {name for _, name in tags if (toolkit_home / "lib64" / name).exists()}
    assert toolkit_libraries <= {"liblowering.so", "libgraph.so", "libgraph_base.so", "libmetadef.so", "libacl_rtc.so", "libacl_rt.so"}
    content = library_of(built).read_bytes()
    for path in (built, toolkit_home, Path.home()):
        assert str(path).encode() not in content


@pytest.mark.slow
@pytest.mark.xdist_group("built_by_hand")
def test_the_program_runs_from_the_build_folder_without_a_library_path(built: Path) -> None:
    env = {name: text for name, text in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run(
        [built / "build" / "args_refresh_add_custom_session_run", "--check-only", "--shape", "x=33", "--shape", "y=33"],
        env={**env, "ASCEND_CUSTOM_OPP_PATH": str(built / "output")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Precision check passed: AddRefreshOp set ") == 2
    assert done.stdout.count("Precision check passed: AddNoRefreshOp set ") == 2
    assert "[ERROR]" not in done.stderr


@pytest.mark.slow
@pytest.mark.xdist_group("built_by_hand")
def test_the_ops_take_turns_forwards_and_backwards(built: Path) -> None:
    arguments = ["--iters", "2", "--repeat", "5", "--shape", "x=8", "--shape", "y=8"]
    lines = succeed(run_session(built, "args_refresh_add_custom", *arguments)).stdout.splitlines()
    order = [tuple(line.split()[2:4]) for line in lines if line.startswith("[Perf] repeat ")]
    first, second = "AddRefreshOp:", "AddNoRefreshOp:"
    assert order == [(f"{repeat}/5", op) for repeat in range(1, 6) for op in ((first, second) if repeat % 2 == 1 else (second, first))]


@pytest.mark.slow
@pytest.mark.xdist_group("built_by_hand")
def test_the_comparison_ends_in_the_five_lines(built: Path) -> None:
    arguments = ["--iters", "4", "--repeat", "2", "--shape", "x=64,512", "--shape", "y=64,512", "--dtype", "T=float32"]
    lines = succeed(run_session(built, "args_refresh_add_custom", *arguments)).stdout.splitlines()
    assert lines[-5:-3] == ["[Perf] input shape: [64, 512], float32, 128KB", "[Perf] iters: 4"]
    for line, start, end in zip(
        lines[-3:],
        ("[Perf] With    ArgsUpdater: ", "[Perf] Without ArgsUpdater: ", "[Perf] Speedup: "),
        (" us/iter)", " us/iter)", " x"),
        strict=True,
    ):
        assert line.startswith(start)
        assert line.endswith(end)


@pytest.mark.slow
@pytest.mark.xdist_group("built_by_hand")
def test_the_deliverable_runs_where_it_was_moved_to(built: Path, tmp_path: Path) -> None:
    shutil.copytree(built / "output", tmp_path / "elsewhere")
    env = {"ASCEND_CUSTOM_OPP_PATH": str(tmp_path / "elsewhere")}
    succeed(
        shell(
            built / "build" / "args_refresh_add_custom_session_run",
            "--check-only",
            "--shape",
            "x=5",
            "--shape",
            "y=5",
            env=env,
            cwd=tmp_path,
        )
    )


@pytest.mark.slow
@pytest.mark.xdist_group("built_by_hand")
def test_a_symbol_that_no_library_has_fails_the_build(built: Path, toolkit_home: Path, tmp_path: Path) -> None:
    project = tmp_path / "broken"
    shutil.copytree(built, project, ignore=shutil.ignore_patterns("build", "output"))
    source = project / "ge" / "custom_op.cpp"
    source.write_text(source.read_text() + "\nvoid Missing();\nvoid Caller() { Missing(); }\n")
    env = {"ASCEND_HOME_PATH": str(toolkit_home)}
    succeed(shell("cmake", "-S", project, "-B", project / "build", "-DOPKIT_SESSION_RUN=OFF", env=env))
    done = shell("cmake", "--build", project / "build", env=env)
    assert done.returncode != 0
    assert "Missing()" in done.stdout + done.stderr


@pytest.mark.slow
def test_run_sh_does_it_all_with_folders_elsewhere_and_the_toolkit_of_its_environment(toolkit_home: Path, tmp_path: Path) -> None:
    """Whatever was configured before."""
    project = tmp_path / "my ops"
    project.mkdir()
    sample_project(project)
    before = sorted(project.rglob("*"))
    other = tmp_path / "other toolkit"
    other.symlink_to(toolkit_home)
    build = tmp_path / "b d"
    # The environment is the same both times, so that only what run.sh says can make the difference.
    env = {"BUILD_DIR": str(build), "OUTPUT_DIR": str(tmp_path / "o d"), "ASCEND_HOME_PATH": str(other)}
    succeed(shell("cmake", "-S", project, "-B", build, f"-DASCEND_HOME_PATH={toolkit_home}", env=env))
    done = succeed(shell("bash", project / "run.sh", "--check-only", "--shape", "x=9", "--shape", "y=9", env=env, cwd=Path("/")))
    assert "Precision check passed" in done.stdout
    assert sorted(project.rglob("*")) == before
    assert list((tmp_path / "o d").rglob("libcust_opapi.so"))
    text = (build / "compile_commands.json").read_text()
    assert str(other) in text
    assert str(toolkit_home) not in text


def test_run_sh_without_a_toolkit_says_so(sources: dict[str, Path]) -> None:
    done = shell("bash", sources["sample"] / "run.sh")
    assert done.returncode == 3
    assert done.stderr == "run.sh: ASCEND_HOME_PATH is not set: source the toolkit's set_env.sh\n"


def flattened(folder: Path, kernel: str) -> tuple[str, list[str]]:
    """The installed text of a kernel, and what CMake is told that it depends on."""
    target = folder / "out" / "kernel.asc"
    definitions = [f"-DSOURCE={folder / kernel}", f"-DTARGET={target}", f"-DDEPFILE={target}.d"]
    succeed(shell("cmake", *definitions, "-P", FLATTEN))
    rule = Path(f"{target}.d").read_text().replace("\\ ", "\0").split()
    return target.read_text(), [Path(word.replace("\0", " ")).name for word in rule[1:]]


def test_headers_beside_a_kernel_are_put_into_it(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    (folder / "sub").mkdir(parents=True)
    (folder / "kernel.asc").write_text('#include "kernel_operator.h"\n#include "sub/one.h"\nint a[2]; // ; [\n')
    (folder / "sub" / "one.h").write_text('#pragma once\n#include "two.h"\nint one;')
    (folder / "sub" / "two.h").write_text("#ifndef TWO\n#define TWO\nint two;\n#endif\n")
    text, dependencies = flattened(folder, "kernel.asc")
    assert '#include "kernel_operator.h"' in text
    assert "two.h" not in text.replace('#line 1 "two.h"', "")
    assert dependencies == ["kernel.asc", "one.h", "two.h"]
    source = folder / "flat.cpp"
    source.write_text(
        text.replace('#include "kernel_operator.h"', "") + 'static_assert(sizeof(a) == 2 * sizeof(one) + 0 * sizeof(two), "");\n'
    )
    succeed(shell("g++", "-fsyntax-only", "-Wall", "-Werror", source))


def test_messages_keep_the_lines_of_the_files_they_are_about(tmp_path: Path) -> None:
    (tmp_path / "kernel.asc").write_text('// 1\n#include "one.h"\n// 3\nint x = wrong_here;\n')
    (tmp_path / "one.h").write_text("// 1\nint y = wrong_there;\n")
    text, _ = flattened(tmp_path, "kernel.asc")
    (tmp_path / "flat.cpp").write_text(text)
    done = shell("g++", "-fsyntax-only", tmp_path / "flat.cpp")
    assert "one.h:2:" in done.stderr
    assert "kernel.asc:4:" in done.stderr


def test_a_header_with_pragma_once_counts_once_even_behind_a_condition(tmp_path: Path) -> None:
    (tmp_path / "kernel.asc").write_text('#ifdef NEVER\n#include "one.h"\n#endif\n#include "one.h"\n#include "one.h"\nint use = one;\n')
    (tmp_path / "one.h").write_text("#pragma once\nint one = 1;\n")
    text, _ = flattened(tmp_path, "kernel.asc")
    (tmp_path / "flat.cpp").write_text(text)
    succeed(shell("g++", "-fsyntax-only", "-Wall", "-Werror", tmp_path / "flat.cpp"))


def test_headers_that_include_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "kernel.asc").write_text('#include "one.h"\n')
    (tmp_path / "one.h").write_text('#pragma once\n#include "two.h"\nint one;\n')
    (tmp_path / "two.h").write_text('#pragma once\n#include "one.h"\nint two;\n')
    text, _ = flattened(tmp_path, "kernel.asc")
    assert text.count("int one;") == text.count("int two;") == 1


def test_an_include_in_a_comment_stays_a_comment(tmp_path: Path) -> None:
    (tmp_path / "kernel.asc").write_text('/* how to use it: // */ // and /* more\n/*\n#include "one.h"\n*/\nint x;\n')
    (tmp_path / "one.h").write_text("/* one */ int one;\n")
    text, _ = flattened(tmp_path, "kernel.asc")
    assert text == (tmp_path / "kernel.asc").read_text()


def test_the_flat_text_does_not_depend_on_where_the_project_lies(tmp_path: Path) -> None:
    texts = []
    for name in ("here", "there or elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.asc").write_text('#include "one.h"\n')
        (tmp_path / name / "one.h").write_text("#pragma once\nint one;\n")
        texts.append(flattened(tmp_path / name, "kernel.asc")[0])
    assert texts[0] == texts[1]


@pytest.mark.case("D8")
@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbf// BOM\r\nint x;\r\n", b"// no newline at the end", b"\xff\xfe not UTF-8\n", b"a;b\\;[c]]]\n${X} @Y@\n"]
)
def test_a_kernel_without_local_headers_is_copied_byte_by_byte(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "kernel.asc").write_bytes(content)
    target = tmp_path / "out.asc"
    succeed(shell("cmake", f"-DSOURCE={tmp_path / 'kernel.asc'}", f"-DTARGET={target}", f"-DDEPFILE={target}.d", "-P", FLATTEN))
    assert target.read_bytes() == content


@pytest.mark.slow
def test_an_edited_kernel_header_reaches_the_deliverable_at_the_next_build(toolkit_home: Path, tmp_path: Path) -> None:
    varied_project(tmp_path)
    build_by_hand(tmp_path, toolkit_home, "-DOPKIT_SESSION_RUN=OFF")
    (tmp_path / "kernels" / "affine_terms.h").write_text("#pragma once\n#define TERM(x) (x) /* edited */\n")
    succeed(shell("cmake", "--build", tmp_path / "build"))
    succeed(shell("cmake", "--install", tmp_path / "build"))
    (kernel,) = tmp_path.glob("output/op_graph/lib/linux/*/affine.asc")
    assert "/* edited */" in kernel.read_text()


@pytest.mark.slow
def test_a_new_project_is_a_wheel_with_its_deliverable(toolkit_home: Path, tmp_path: Path) -> None:
    pytest.importorskip("scikit_build_core")
    project = tmp_path / "demo"
    create_project(NewProject(name="demo", op_type="DemoAdd", author='A. "B" Ünal'), project)
    env = {"ASCEND_HOME_PATH": str(toolkit_home), "OPKIT_ALLOW_SIMULATOR": "1"}
    build = "import sys; from scikit_build_core.build import build_wheel; build_wheel(sys.argv[1])"
    succeed(shell(sys.executable, "-c", build, tmp_path / "wheels", cwd=project, env=env))
    (wheel,) = (tmp_path / "wheels").glob("demo-0.1.0-py3-none-linux_*.whl")
    names = [name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith("demo-0.1.0.dist-info/")]
    expected = ["__init__.py", "add_custom.asc", "demo.h", "libcust_opapi.so", "opkit-manifest.json"]
    assert sorted(Path(name).name for name in names) == expected
    assert all(name.startswith("demo/op_graph/") for name in names if Path(name).parent != Path("demo"))
