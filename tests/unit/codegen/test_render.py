"""The generated files of a package: their text as a snapshot, and the rules that every rendering keeps."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import jinja2
import pytest
from annotated_support import write_annotated
from compile_support import write_compiled
from generated_support import VARIED_FILES, VARIED_SPEC
from real_ops_support import write_real_ops
from rules_support import write_rules
from upper_bound_support import write_wheres

from opkit import resources
from opkit.codegen import FileSet, render
from opkit.spec import DTYPES, Package, load_package, stem_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.assertion import SnapshotAssertion

ROOT = Path(__file__).resolve().parents[3]
CLANG_FORMAT = Path(sys.executable).with_name("clang-format")
GERSEMI = Path(sys.executable).with_name("gersemi")
SAMPLE = ROOT / "samples" / "args_refresh_add_custom"


@pytest.fixture(scope="module")
def sample() -> Package:
    return load_package(SAMPLE / "ops.py")


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Package:
    root = tmp_path_factory.mktemp("varied")
    for name, text in {**VARIED_FILES, "ops.py": VARIED_SPEC}.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return load_package(root / "ops.py")


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return load_package(write_rules(tmp_path_factory.mktemp("rules")) / "ops.py")


@pytest.fixture
def formats(package_of: Callable[..., Package]) -> Package:
    kernel = 'kernel=Kernel("kernels/k.asc", entry="cast_to", args=["x", "y", numel("y")], blocks=1)'
    given = {"FewFormats": '["FRACTAL_NZ", "ND"]', "OneFormat": '["NC1HWC0"]', "ManyFormats": '["ND", "FRACTAL_NZ", "FRACTAL_Z"]'}
    ops = ", ".join(
        f'Op("{name}", inputs=[Input("x", "float32", shape="n", formats={each})], outputs=[Output("y", "float32", shape="n")], {kernel})'
        for name, each in given.items()
    )
    return package_of(f'package = Package("formats", ops=[{ops}])')


EXTREME = """\
from opkit import *
from opkit.spec import DTYPES, AttrType
kernel = Kernel("kernels/copy.asc", entry="copy_elements", args=["x", "y", numel("x")], blocks=8)
op = Op(
    "CopyElements", inputs=[Input("x", "T", shape="...")], outputs=[Output("y", "T", shape="...")], kernel=kernel,
    attrs=[Attr(f"a_{kind.value}", kind.value) for kind in AttrType if ATTRS], dtypes={"T": WORDS},
)
package = Package("extreme", ops=[op])
"""


def extreme(root: Path, *, attrs: bool, words: str) -> Package:
    (root / "kernels").mkdir()
    (root / "kernels" / "copy.asc").write_text(VARIED_FILES["kernels/copy.asc"])
    (root / "ops.py").write_text(EXTREME.replace("ATTRS", str(attrs)).replace("WORDS", words))
    return load_package(root / "ops.py")


@pytest.fixture(scope="module")
def all_attrs(tmp_path_factory: pytest.TempPathFactory) -> Package:
    """Every attr type and every dtype."""
    return extreme(tmp_path_factory.mktemp("all"), attrs=True, words="list(DTYPES)")


@pytest.fixture(scope="module")
def no_array(tmp_path_factory: pytest.TempPathFactory) -> Package:
    """No attr, and no dtype that an array can hold."""
    return extreme(tmp_path_factory.mktemp("none"), attrs=False, words='["int4", "string"]')


@pytest.fixture(scope="module")
def real_ops(tmp_path_factory: pytest.TempPathFactory) -> Package:
    """Ops of every kind, with up to fifteen ports."""
    return write_real_ops(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="module")
def annotated(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return load_package(write_annotated(tmp_path_factory.mktemp("annotated")) / "ops.py")


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return load_package(write_rules(tmp_path_factory.mktemp("lists"), has_lists=True) / "ops.py")


def texts(files: FileSet) -> dict[str, str]:
    return {file.path: file.text for file in files}


def renamed(package: Package, count: int) -> Package:
    """A package of `count` ops that differ from the first in name only."""
    ops = tuple(attrs.evolve(package.ops[0], type=f"Op{number}Custom") for number in range(count))
    return attrs.evolve(package, ops=ops, benchmark=None)


def test_the_sample_renders_to_these_files(sample: Package, snapshot: SnapshotAssertion) -> None:
    # The fixed text of session_run and of the loader changes with its own tests; here is what the spec decides.
    decided = (
        "ge/add_custom.h",
        "ge/add_custom_kernel.h",
        "ge/add_custom_rules.h",
        "ge/custom_op.cpp",
        "CMakeLists.txt",
        "run.sh",
        "session_run/ops.h",
    )
    rendered = texts(render(sample))
    assert sorted(rendered) == snapshot(name="files")
    for path in decided:
        assert rendered[path] == snapshot(name=path)


def test_the_varied_package_renders_to_these_ops(varied: Package, snapshot: SnapshotAssertion) -> None:
    rendered = texts(render(varied))
    for path in ("ge/varied.h", "ge/varied_rules.h", "ge/custom_op.cpp"):
        assert rendered[path] == snapshot(name=path)


def test_a_port_s_rule_and_a_dim_or_group_of_any_name_are_different_variables(tmp_path: Path) -> None:
    for port, shape in (("group", "*rule"), ("rule_x", "*x"), ("dim_n", "n_rule *dim_n"), ("x", "rule_x *y")):
        folder = tmp_path / port
        shutil.copytree(SAMPLE / "kernels", folder / "kernels")
        text = (SAMPLE / "ops.py").read_text().replace('"x"', f'"{port}"').replace("x, y: x + y", f"{port}, y: {port} + y")
        (folder / "ops.py").write_text(text.replace(f'Input("{port}", "T", shape="...")', f'Input("{port}", "T", shape="{shape}")'))
        rules = texts(render(load_package(folder / "ops.py")))["ge/add_custom_rules.h"]
        locals_ = re.findall(r"(?:int64_t|gert::Shape|const RuledShape) (\w+)[ ({]", rules.split("static bool InferShapes")[1])
        assert len(locals_) == len(set(locals_)) > 1, rules


def test_only_run_sh_is_executable(sample: Package) -> None:
    assert [file.path for file in render(sample) if file.is_executable] == ["run.sh"]


@pytest.mark.case("D2")
def test_rendering_twice_gives_the_same_bytes(varied: Package) -> None:
    assert texts(render(varied)) == texts(render(varied))


@pytest.mark.case("D6")
def test_no_placeholder_and_no_path_of_this_machine_remains(sample: Package, varied: Package) -> None:
    for path, text in {**texts(render(sample)), **texts(render(varied))}.items():
        assert not re.search(r"\{\{-? | \}\}|\{%|@[A-Z_]+@|<TODO>|TODO", text), path
        assert str(Path.home()) not in text
        assert str(ROOT) not in text, path
        assert str(varied.root) not in text, path


def test_text_files_end_with_one_newline_and_no_line_with_a_blank(sample: Package, varied: Package) -> None:
    for path, text in {**texts(render(sample)), **texts(render(varied))}.items():
        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
        assert not re.search(r"[ \t]+$", text, re.MULTILINE), path


@pytest.mark.case("A5")
def test_a_renamed_op_leaves_no_trace(sample: Package) -> None:
    old, new = sample.ops
    changed = attrs.evolve(old, type="AddSpecialOp")
    package = attrs.evolve(sample, ops=(changed, new), benchmark=None)
    for path, text in texts(render(package)).items():
        assert "AddRefreshOp" not in text, path


def test_ops_that_differ_in_refresh_only_share_their_code(sample: Package) -> None:
    code = texts(render(sample))["ge/custom_op.cpp"]
    assert code.count("static bool FillArgs(") == 1
    assert "class AddRefreshOp : public CustomOp<AddRefreshOpImpl, ShapeInference, Execution, AddressRefresh> {};" in code
    assert "class AddNoRefreshOp : public CustomOp<AddRefreshOpImpl, ShapeInference, Execution> {};" in code


def test_a_package_without_an_updater_has_no_refresh_code(sample: Package) -> None:
    package = attrs.evolve(sample, ops=(sample.ops[1],), benchmark=None)
    for path, text in texts(render(package)).items():
        assert "UpdateHostArgs" not in text, path


def test_each_dtype_has_its_own_kernel_variant(varied: Package) -> None:
    files = texts(render(varied))
    assert "DefineDtypes(kInputs, kDtypes[row].inputs)" in files["ge/custom_op.cpp"]
    for kernel_type in ("float", "half", "bfloat16_t", "int8_t", "uint8_t", "int32_t", "int64_t", "bool"):
        assert f'return "{kernel_type}";' in files["ge/utils/op_dtypes.h"]


def test_an_op_of_one_combination_says_its_kernel_s_dtypes_outright(sample: Package, varied: Package) -> None:
    assert '"#define DTYPE_X float\\n"' in texts(render(sample))["ge/custom_op.cpp"]
    assert "ge/utils/op_dtypes.h" not in texts(render(sample))
    assert '"#define DTYPE_X int32_t\\n"' in texts(render(varied))["ge/custom_op.cpp"]


def test_a_dtype_without_a_kernel_type_defines_no_macro(varied: Package) -> None:
    op = varied.ops[0]
    words = ("string", "int4", "hifloat4", "float32")
    changed = [attrs.evolve(port, dtypes=tuple(DTYPES[word] for word in words)) for port in op.ports]
    only = attrs.evolve(op, signature=tuple(changed), dtypes={})
    rendered = texts(render(attrs.evolve(varied, ops=(only,), benchmark=None)))
    kernel_types = rendered["ge/utils/op_dtypes.h"].split("KernelTypeOf")[1].split("default:")[0]
    assert 'ge::DT_INT4:\n      return "AscendC::int4b_t";' in kernel_types
    assert "DT_STRING" not in kernel_types
    assert "DT_HIFLOAT4" not in kernel_types
    assert "DT_HIFLOAT4" in rendered["ge/utils/op_rules.h"]
    # What no array can hold is no element type of the session program.
    assert re.findall(r'^    \{"(\w+)", ge::', rendered["session_run/elements.h"], re.MULTILINE) == ["float32"]


def test_a_package_names_no_dtype_that_an_older_toolkit_may_lack_unless_it_uses_it(varied: Package) -> None:
    for path, text in texts(render(varied)).items():
        assert "FLOAT8" not in text, path
        assert "HIFLOAT" not in text, path
        assert "COMPLEX" not in text, path


def test_a_package_without_attrs_has_no_code_for_them(sample: Package, no_array: Package) -> None:
    for package in (sample, no_array):
        for path, text in texts(render(package)).items():
            if path.startswith("session_run/"):
                assert not re.search(r"AttrValue|SetAttrs|std::variant", text), path


def test_defines_stand_before_the_line_that_names_the_kernel(varied: Package) -> None:
    code = texts(render(varied))["ge/custom_op.cpp"]
    assert 'prologue += "#define PLUS 3\\n";\n    prologue += "#line 1 \\"affine.asc\\"\\n";' in code


def test_kernels_of_the_same_name_do_not_overwrite_each_other(sample: Package) -> None:
    first, second = sample.ops
    other = attrs.evolve(second.kernel, path=sample.root / "more" / "add_custom.asc", relative="more/add_custom.asc")
    package = attrs.evolve(sample, ops=(first, attrs.evolve(second, kernels=(other,))))
    rendered = texts(render(package))
    assert "/kernels/kernels_add_custom.asc" in rendered["CMakeLists.txt"]
    assert "/kernels/more_add_custom.asc" in rendered["CMakeLists.txt"]
    assert '"more_add_custom.asc"' in rendered["ge/custom_op.cpp"]
    assert "struct AddCustomArgs2 {" in rendered["ge/add_custom_kernel.h"]


@pytest.mark.case("D6")
def test_an_unknown_name_in_a_template_is_an_error(sample: Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(resources.templates(), tmp_path / "templates")
    template = tmp_path / "templates" / "deliverable" / "ge" / "proto.h.j2"
    template.write_text(template.read_text() + "{{ no_such_name }}\n")
    monkeypatch.setattr(resources, "templates", lambda: tmp_path / "templates")
    with pytest.raises(jinja2.UndefinedError, match="no_such_name"):
        render(sample)


def test_every_template_is_rendered(sample: Package, varied: Package, annotated: Package, tmp_path: Path) -> None:
    folder = resources.templates() / "deliverable"
    compiled = load_package(write_compiled(tmp_path / "compiled") / "ops.py")
    packages = (sample, varied, annotated, compiled, write_wheres(tmp_path / "wheres"))
    stems = "|".join(package.stem for package in packages)
    rendered = {re.sub(rf"^ge/({stems})", "ge/", path) for package in packages for path in texts(render(package))}
    named = {"ge/proto.h": "ge/.h", **{f"ge/{name}.h": f"ge/_{name}.h" for name in ("kernel", "rules", "variants")}}
    templates = {path.relative_to(folder).as_posix().removesuffix(".j2") for path in folder.rglob("*") if path.is_file()}
    templates = {path for path in templates if not path.startswith("parts/")}
    assert {named.get(path, path) for path in templates} == rendered


def test_rendering_is_linear_in_the_number_of_ops(sample: Package) -> None:
    """Counts, not seconds: a thousand ops give a thousand times the text of one, and the files are as many."""
    one, two, many = (texts(render(renamed(sample, count))) for count in (1, 2, 1000))
    assert len(one) == len(many)
    for path, text in many.items():
        step = len(two[path]) - len(one[path])
        # The names get longer by three digits wherever they occur.
        assert len(text) - len(one[path]) <= 1000 * (step + 3 * 20), path


@pytest.mark.slow
def test_a_thousand_distinct_ops_render_within_seconds(sample: Package) -> None:
    op = sample.ops[0]
    ops = tuple(
        attrs.evolve(op, type=f"Op{number}Custom", kernels=(attrs.evolve(op.kernel, defines={"NUMBER": number}),)) for number in range(1000)
    )
    started = time.perf_counter()
    files = render(attrs.evolve(sample, ops=ops, benchmark=None))
    # The budget is 5 s; a quadratic step would miss this by far more than a loaded machine does.
    assert time.perf_counter() - started < 20
    assert files["ge/custom_op.cpp"].text.count("REG_AUTO_MAPPING_OP(") == 1000


@pytest.mark.skipif(not CLANG_FORMAT.exists(), reason="clang-format isn't installed beside this Python")
@pytest.mark.parametrize("which", ["sample", "varied", "rules", "lists", "all_attrs", "no_array", "real_ops", "formats", "annotated"])
def test_rendered_cpp_is_as_clang_format_would_write_it(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    shutil.copy(ROOT / ".clang-format", tmp_path)
    render(request.getfixturevalue(which)).write(tmp_path)
    sources = [path for path in tmp_path.rglob("*") if path.suffix in {".h", ".cpp", ".cc"}]
    done = subprocess.run([CLANG_FORMAT, "--dry-run", "-Werror", *sources], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not GERSEMI.exists(), reason="gersemi isn't installed beside this Python")
@pytest.mark.parametrize("which", ["sample", "varied"])
def test_rendered_cmake_is_as_gersemi_would_write_it(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    render(request.getfixturevalue(which)).write(tmp_path)
    options: list[str | Path] = [
        "--indent",
        "2",
        "--line-length",
        "140",
        "--quiet",
        "--warnings-as-errors",
        "--definitions",
        tmp_path / "cmake",
    ]
    done = subprocess.run(
        [GERSEMI, "--check", *options, tmp_path / "CMakeLists.txt", tmp_path / "cmake"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_stems_do_not_decide_file_names_of_a_package(sample: Package) -> None:
    assert stem_of("AddRefreshOp") not in " ".join(texts(render(sample)))


def test_a_table_of_many_combinations_is_told_by_what_each_port_can_have(varied: Package) -> None:
    copy = varied.ops[0]
    crossed = tuple(dtype for dtype in copy.inputs[0].dtypes for _ in copy.inputs[0].dtypes)
    crossed_back = copy.inputs[0].dtypes * len(copy.inputs[0].dtypes)
    ports = (attrs.evolve(copy.inputs[0], dtypes=crossed), attrs.evolve(copy.outputs[0], dtypes=crossed_back))
    many = attrs.evolve(varied, ops=(attrs.evolve(copy, signature=ports, dtypes={"T": crossed}),), benchmark=None)
    rendered = texts(render(many))["ge/varied_rules.h"]
    assert '"64 combinations of"' in rendered
    assert '" (x: float32 | float16 | bfloat16 | int8 | uint8 | int32 | int64 | bool)"' in rendered
    assert rendered.count("      {{ge::") == 64


def test_the_kernel_s_dtypes_don_t_lengthen_the_code_of_an_op(varied: Package) -> None:
    copy = varied.ops[0]
    few = tuple(attrs.evolve(port, dtypes=port.dtypes[:2]) for port in copy.ports)
    lengths = [
        len(texts(render(attrs.evolve(varied, ops=(op,), benchmark=None)))["ge/custom_op.cpp"])
        for op in (copy, attrs.evolve(copy, signature=few, dtypes={"T": few[0].dtypes}))
    ]
    assert lengths[0] == lengths[1]


def test_what_only_richer_ops_need_isn_t_in_a_plain_package(sample: Package) -> None:
    for path, text in texts(render(sample)).items():
        for word in ("Choice", "SocRows", "KernelTypeOf", "DimAttr", "Broadcast", "AppendSize", "kUserShaped", "Workspace", "RuntimeAttrs"):
            assert word not in text, (path, word)


@pytest.mark.case("C12")
def test_a_promotion_is_one_in_the_prototype(rules: Package) -> None:
    header = texts(render(rules))["ge/rules.h"]
    assert '.DATATYPE(T3, Promote({"T1", "T2"}))' in header
    assert ".OUTPUT(y, TensorType({DT_FLOAT, DT_INT32}))" in header
    assert ".DATATYPE(T, TensorType({DT_FLOAT, DT_INT8, DT_FLOAT16}))" in header


def test_a_header_of_the_user_s_is_none_of_opkit_s_files(rules: Package) -> None:
    rendered = texts(render(rules))
    assert "ge/user/infer.h" not in rendered
    assert rendered["ge/custom_op.cpp"].count('#include "user/infer.h"') == 1
