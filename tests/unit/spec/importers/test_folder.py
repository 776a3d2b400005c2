"""Prototypes, kernels and the way of refresh from the folder of a hand-written op."""

from __future__ import annotations

from pathlib import Path

import pytest
from import_support import header

from opkit.errors import ForeignFileError
from opkit.spec import Compile, Refresh
from opkit.spec.importers import bring, spec_text
from opkit.spec.resolve_capabilities import Capabilities

ADD = 'REG_OP({type}).INPUT(x, "T").INPUT(y, "T").OUTPUT(z, "T").DATATYPE(T, TensorType({{DT_FLOAT}})).OP_END_FACTORY_REG({type});'
KERNEL = 'extern "C" __global__ __aicore__ void {entry}({params}) {{}}\n'


def _write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The outline of the genuine samples."""
    classes = (
        "class AddRefreshOp : public EagerExecuteOp, public ArgsUpdater, public ShapeInferOp { };\n"
        "class AddNoRefreshOp final : public EagerExecuteOp, public ShapeInferOp { };\n"
    )
    return _write(
        tmp_path / "sample",
        ge__add_custom_dot_h=header(ADD.format(type="AddRefreshOp"), ADD.format(type="AddNoRefreshOp")),
        ge__custom_op_dot_cpp=f"#include <vector>\nnamespace ge {{\n{classes}}}\n",
        ge__utils__log_dot_h="#pragma once\n",
        add_custom_kernel__add_custom_dot_asc='#include "tile.h"\n'
        + KERNEL.format(entry="add_custom", params="GM_ADDR x, GM_ADDR y, GM_ADDR z"),
        add_custom_kernel__tile_dot_h="#pragma once\n",
        build__old_dot_h=header(ADD.format(type="Stale")),
    )


def test_the_sample_gives_its_ops_its_kernel_with_headers_and_its_refresh(sample: Path) -> None:
    brought = bring(sample)
    assert [prototype.type for prototype in brought.prototypes] == ["AddRefreshOp", "AddNoRefreshOp"]
    assert (brought.origin, brought.header) == ("sample", "add_custom.h")
    (kernel,) = brought.kernels
    assert (kernel.path, kernel.files) == ("add_custom.asc", ("add_custom.asc", "tile.h"))
    assert brought.capabilities == {"AddRefreshOp": _loaded(Refresh.UPDATER), "AddNoRefreshOp": _loaded(Refresh.NONE)}


def _loaded(refresh: Refresh) -> Capabilities:
    return Capabilities(refresh=refresh, compile=Compile.LOAD, is_portable=False)


@pytest.mark.parametrize(
    ("bases", "words"),
    [
        ("public CompilableOp, public AnnotatedArgsOp, public ShapeInferOp", ['refresh="annotated"', 'compile="graph"']),
        ("public AnnotatedArgsOp, public PortableOp", ['refresh="annotated"', 'compile="graph"', "portable=True"]),
        ("public EagerExecuteOp, public CompilableOp, public PortableOp", ['refresh="none"', 'compile="graph"', "portable=True"]),
        ("public EagerExecuteOp, public ArgsUpdater, public AnnotatedArgsOp", ['refresh="updater"']),
    ],
)
def test_the_bases_of_a_class_tell_what_the_op_can_do(sample: Path, bases: str, words: list[str]) -> None:
    (sample / "ge" / "custom_op.cpp").write_text(f"class AddRefreshOp : {bases} {{ }};\n", encoding="utf-8")

    text = spec_text(bring(sample), "demo").text

    said = [line.strip().removesuffix(",  # as its class says") for line in text.splitlines() if line.endswith("# as its class says")]
    assert said == words


def test_arguments_with_the_names_of_ports_are_filled_and_both_ops_share_the_kernel(sample: Path) -> None:
    text = spec_text(bring(sample), "demo").text
    assert '    # by the names of the kernel\'s parameters\n    args=["x", "y", "z"],\n' in text
    assert text.count("Kernel(") == 1
    assert 'refresh="updater",  # as its class says' in text
    assert 'refresh="none",  # as its class says' in text


def test_a_parameter_that_no_name_explains_is_a_question_at_its_place(sample: Path) -> None:
    params = "GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR z, uint32_t total, AddTiling tiling"
    (sample / "add_custom_kernel" / "add_custom.asc").write_text(KERNEL.format(entry="add_custom", params=params))
    spec = spec_text(bring(sample), "demo")
    asked = [question.text for question in spec.questions if question.text.startswith("what is `")]
    assert asked == [
        "what is `GM_ADDR workspace`? a port, or workspace(bytes) if it is memory of the kernel's own",
        'what is `uint32_t total`? an attr or a size, e.g. numel("x")',
        'what is `AddTiling tiling`? a struct by value: tiling("AddTiling", …)',
    ]
    imported = next(line for line in spec.text.splitlines() if line.startswith("from opkit import"))
    assert all(word in imported for word in ("workspace", "tiling", "numel"))
    assert '        "y",\n        # question: what is `GM_ADDR workspace`?' in spec.text


def test_a_kernel_that_doesn_t_take_the_ports_by_name_is_asked_about_whole(sample: Path) -> None:
    # Its y would be taken for the op's second input, and may be anything.
    (sample / "add_custom_kernel" / "add_custom.asc").write_text(
        KERNEL.format(entry="add_custom", params="GM_ADDR a, GM_ADDR y, GM_ADDR z")
    )
    asked = [question.text for question in spec_text(bring(sample), "demo").questions if question.text.startswith("what is `")]
    assert len(asked) == 3


def test_attrs_are_told_from_ports_of_the_same_name_by_the_parameter(tmp_path: Path) -> None:
    ports = ".INPUT(n, TensorType({DT_INT8})).OUTPUT(y, TensorType({DT_INT8}))"
    op = f"REG_OP(Foo){ports}.REQUIRED_ATTR(n, Int).REQUIRED_ATTR(k, Int).OP_END_FACTORY_REG(Foo)"
    files = {"foo_dot_h": header(op), "foo_dot_asc": KERNEL.format(entry="foo", params="GM_ADDR n, GM_ADDR y, int64_t k")}
    assert 'args=[port("n"), "y", "k"]' in spec_text(bring(_write(tmp_path / "in", **files)), "demo").text


def test_an_attr_that_no_kernel_takes_is_not_guessed(tmp_path: Path) -> None:
    op = "REG_OP(Foo).OUTPUT(y, TensorType({DT_INT8})).REQUIRED_ATTR(axes, ListInt).OP_END_FACTORY_REG(Foo)"
    files = {"foo_dot_h": header(op), "foo_dot_asc": KERNEL.format(entry="foo", params="GM_ADDR y, int64_t axes")}
    asked = [question.text for question in spec_text(bring(_write(tmp_path / "in", **files)), "demo").questions]
    assert any(text.startswith("what is `int64_t axes`") for text in asked)


def test_an_entry_in_a_namespace_is_named_as_c_does(tmp_path: Path) -> None:
    kernel = "namespace mine { __global__ __aicore__ void add_one(GM_ADDR x, GM_ADDR y, GM_ADDR z) {} }\n"
    text = spec_text(bring(_write(tmp_path / "in", ops_dot_h=header(ADD.format(type="AddOne")), k_dot_asc=kernel)), "demo").text
    assert 'entry="mine::add_one",' in text


def test_a_template_is_asked_for_its_arguments(tmp_path: Path) -> None:
    kernel = "template <typename T> __global__ __aicore__ void add_one(GM_ADDR x, GM_ADDR y, GM_ADDR z) {}\n"
    spec = spec_text(bring(_write(tmp_path / "in", ops_dot_h=header(ADD.format(type="AddOne")), k_dot_asc=kernel)), "demo")
    assert 'e.g. "add_one<{T}>"' in spec.questions[0].text
    assert "entry=...," in spec.text


def test_of_several_kernels_each_op_gets_the_one_of_its_name(tmp_path: Path) -> None:
    params = "GM_ADDR x, GM_ADDR y, GM_ADDR z"
    files = {
        "ops_dot_h": header(ADD.format(type="AddOne"), ADD.format(type="AddTwo")),
        "a__k_dot_asc": KERNEL.format(entry="add_one", params=params),
        "b__k_dot_asc": KERNEL.format(entry="add_two", params=params),
    }
    brought = bring(_write(tmp_path / "in", **files))
    assert [kernel.path for kernel in brought.kernels] == ["a/k.asc", "b/k.asc"]
    text = spec_text(brought, "demo").text
    assert text.index('"kernels/a/k.asc"') < text.index('"AddOne"') < text.index('"kernels/b/k.asc"') < text.index('"AddTwo"')


def test_a_kernel_that_can_t_be_told_is_asked_for_with_those_there_are(tmp_path: Path) -> None:
    params = "GM_ADDR x, GM_ADDR y, GM_ADDR z"
    kernels = KERNEL.format(entry="first", params=params) + KERNEL.format(entry="second", params=params)
    brought = bring(_write(tmp_path / "in", ops_dot_h=header(ADD.format(type="AddOne")), k_dot_asc=kernels))
    question = spec_text(brought, "demo").questions[0].text
    assert "first in kernels/k.asc, second in kernels/k.asc" in question


def test_a_prototype_in_a_source_file_is_found_and_names_no_header(tmp_path: Path) -> None:
    brought = bring(_write(tmp_path / "in", op_dot_cpp=header(ADD.format(type="AddOne"))))
    assert ([prototype.type for prototype in brought.prototypes], brought.header) == (["AddOne"], None)


def test_a_folder_without_a_prototype_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ForeignFileError, match="no file below"):
        bring(_write(tmp_path / "in", op_dot_cpp="int main() {}\n"))


@pytest.mark.case("B10")
def test_one_op_in_two_files_is_refused_with_both_places(tmp_path: Path) -> None:
    files = {"a_dot_h": header(ADD.format(type="AddOne")), "b_dot_h": header(ADD.format(type="AddOne"))}
    with pytest.raises(ForeignFileError, match="AddOne is there twice") as caught:
        bring(_write(tmp_path / "in", **files))
    assert (caught.value.where or "").startswith("b.h:5")
    assert "a.h:5" in (caught.value.because or "")


def test_a_kernel_that_reaches_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text("")
    kernel = '#include "../secret.h"\n' + KERNEL.format(entry="add", params="GM_ADDR x")
    with pytest.raises(ForeignFileError, match="from outside"):
        bring(_write(tmp_path / "in", a_dot_h=header(ADD.format(type="AddOne")), k_dot_asc=kernel))


def test_what_isn_t_there_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(ForeignFileError, match="there is no file"):
        bring(tmp_path / "nope.h")


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_file(place: str) -> None:
    with pytest.raises(ForeignFileError, match="no regular file"):
        bring(Path(place))
