"""The document of `opkit inspect --json`: it says what the spec says, and keeps to the schema that is published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from spec_support import add_spec

from opkit.spec import Package, load_package
from opkit.spec.describe import SCHEMA, to_json

if TYPE_CHECKING:
    from spec_support import SpecFolder

ROOT = Path(__file__).resolve().parents[3]
_SCHEMA = json.loads((ROOT / "docs" / "reference" / "spec.schema.json").read_text("utf-8"))


def _valid(package: Package) -> dict[str, Any]:
    """The document as a reader of JSON gets it, held against the schema."""
    document: dict[str, Any] = json.loads(json.dumps(to_json(package)))
    jsonschema.Draft202012Validator(_SCHEMA).validate(document)
    return document


def _signature(package: Package) -> dict[tuple[str, str], dict[str, Any]]:
    return {(each["kind"], each["name"]): each for each in _valid(package)["ops"][0]["signature"]}


def test_the_schema_is_one_and_tells_its_number() -> None:
    jsonschema.Draft202012Validator.check_schema(_SCHEMA)
    assert _SCHEMA["properties"]["schema"]["const"] == SCHEMA
    assert _SCHEMA["$id"].endswith(f":{SCHEMA}")


def test_the_sample_is_described_from_its_ports_to_the_bytes_of_its_arguments() -> None:
    document = _valid(load_package(ROOT / "samples" / "args_refresh_add_custom" / "ops.py"))
    assert (document["package"], document["header"], document["sources"]) == ("args_refresh_add_custom", "add_custom.h", ["ops.py"])
    refreshed, copied = document["ops"]
    assert [op["refresh"] for op in (refreshed, copied)] == ["updater", "none"]
    assert refreshed["kernels"] == copied["kernels"]
    assert [(each["kind"], each["name"], each["symbol"], each["shape"]) for each in refreshed["signature"]] == [
        ("input", "x", "T", {"rule": "pattern", "dims": "..."}),
        ("input", "y", "T", {"rule": "pattern", "dims": "..."}),
        ("output", "z", "T", {"rule": "pattern", "dims": "..."}),
    ]
    assert refreshed["dtypes"] == [{"x": "float32", "y": "float32", "z": "float32"}]
    (kernel,) = refreshed["kernels"]
    assert [(arg["parameter"], arg["offset"], arg["bytes"], arg["kind"], arg["value"]) for arg in kernel["args"]] == [
        ("x", 0, 8, "port", 'port("x")'),
        ("y", 8, 8, "port", 'port("y")'),
        ("z", 16, 8, "port", 'port("z")'),
        ("length", 24, 8, "size", 'numel("x")'),
    ]
    assert kernel["blocks"] == 'ceil_div(numel("x"), 1024)'
    assert document["benchmark"]["op"] == "AddRefreshOp"


def test_an_attr_is_described_with_both_names_of_its_type_and_its_default(folder: SpecFolder) -> None:
    attrs = '[Attr("alpha", float), Attr("mode", str, default="é"), Attr("on", bool, default=False), Attr("n", int, default=3)]'
    described = [each for each in _valid(folder.add(attrs=attrs))["ops"][0]["signature"] if each["kind"] == "attr"]
    assert [(each["name"], each["type"], each["ge_type"], each["required"], each["default"]) for each in described] == [
        ("alpha", "float", "Float", True, None),
        ("mode", "str", "String", False, "é"),
        ("on", "bool", "Bool", False, False),
        ("n", "int", "Int", False, 3),
    ]


@pytest.mark.parametrize(
    ("attr", "ge_type", "default"),
    [
        ('Attr("a", "list_int", default=[1, -2])', "ListInt", [1, -2]),
        ('Attr("a", "list_list_int", default=[[1], []])', "ListListInt", [[1], []]),
        ('Attr("a", "list_str", default=["x"])', "ListString", ["x"]),
        ('Attr("a", "type", default="float32")', "Type", "float32"),
        ('Attr("a", bytes, default=b"\\x01\\xff")', "Bytes", [1, 255]),
        ('Attr("a", "tensor", default=())', "Tensor", []),
        ('Attr("a", "list_tensor")', "ListTensor", None),
    ],
)
def test_a_default_of_any_type_is_json(folder: SpecFolder, attr: str, ge_type: str, default: object) -> None:
    described = _signature(folder.add(attrs=f"[{attr}]"))["attr", "a"]
    assert (described["ge_type"], described["default"], described["required"]) == (ge_type, default, default is None)


def test_every_kind_of_port_is_told(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR parts, GM_ADDR bias, GM_ADDR pieces, GM_ADDR scratch, int64_t n")
    package = folder.add(
        inputs=(
            '[Input("x", "T", shape="*x"), Input("parts", "T", dynamic=True, count_attr="N", shape="*p"), '
            'Input("bias", "T", optional=True)]'
        ),
        outputs='[Output("x", "T"), Output("pieces", "T", shape="*p", dynamic=attr("M"), formats=["NCHW", "ND"])]',
        attrs='[Attr("N", int), Attr("M", int)]',
        launch={"args": '["x", address_list("parts"), "bias", address_list("pieces"), workspace(64), count("parts")]'},
    )
    ports = _signature(package)
    assert ports["input", "parts"]["dynamic"]
    assert ports["input", "parts"]["count_attr"] == "N"
    assert [ports["input", name]["optional"] for name in ("x", "parts", "bias")] == [False, False, True]
    assert ports["input", "bias"]["shape"] is None
    assert (ports["output", "x"]["in_place"], ports["output", "pieces"]["in_place"]) == (True, False)
    assert (ports["output", "pieces"]["count_attr"], ports["output", "pieces"]["formats"]) == ("M", ["NCHW", "ND"])
    args = _valid(package)["ops"][0]["kernels"][0]["args"]
    assert [(arg["kind"], arg["value"]) for arg in args] == [
        ("port", 'port("x")'),
        ("address_list", 'address_list("parts")'),
        ("port", 'port("bias")'),
        ("address_list", 'address_list("pieces")'),
        ("workspace", "workspace(64)"),
        ("size", 'count("parts")'),
    ]


def test_a_shape_that_only_the_kernel_knows_is_told_with_its_bounds(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR shape")
    package = folder.add(
        outputs='[Output("z", "T", shape=upper_bound("found 2", found=numel("x")))]',
        launch={"args": '["x", "y", "z", shape_of("z")]', "blocks": "1"},
        refresh='"none"',
    )
    assert _signature(package)["output", "z"]["shape"] == {"rule": "upper_bound", "dims": "found 2", "bounds": {"found": 'numel("x")'}}
    arg = _valid(package)["ops"][0]["kernels"][0]["args"][3]
    assert (arg["kind"], arg["value"]) == ("shape_of", 'shape_of("z")')


@pytest.mark.parametrize("depends", ["required", "optional", None])
def test_an_input_whose_values_a_rule_reads_is_told(folder: SpecFolder, depends: str | None) -> None:
    folder.write("ge/user/infer.h", "inline bool InferPad(const gert::InferShapeContext &ctx, gert::Shape &shape) { return true; }\n")
    package = folder.add(
        inputs=f'[Input("x", "T", value_depend={depends!r}), Input("y", "T")]',
        outputs='[Output("z", "T", shape=cpp("ge/user/infer.h", "InferPad"))]',
    )
    assert package.ops[0].inputs[0].value_depend == depends
    assert [_signature(package)["input", name]["value_depend"] for name in ("x", "y")] == [depends, None]


def test_a_struct_by_value_is_told_with_its_members_and_bytes(folder: SpecFolder) -> None:
    kernel = 'struct AddTiling { int64_t total; int32_t tiles; };\nextern "C" __global__ __aicore__ void add({}) {{}}\n'
    folder.write("kernels/add.asc", kernel.replace("{}", "GM_ADDR x, GM_ADDR y, GM_ADDR z, AddTiling tiling").replace("{{}}", "{}"))
    package = folder.add(launch={"args": '["x", "y", "z", tiling("AddTiling", total=numel("x"), tiles=4)]'})
    arg = _valid(package)["ops"][0]["kernels"][0]["args"][3]
    assert (arg["kind"], arg["type"], arg["offset"], arg["bytes"]) == ("tiling", "AddTiling", 24, 16)
    assert arg["value"] == 'tiling("AddTiling", total=numel("x"), tiles=4)'


def test_an_entry_whose_name_depends_on_dtypes_is_told_as_the_expression_that_it_is(folder: SpecFolder) -> None:
    params = "GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t n"
    folder.write("kernels/add.asc", f"namespace ns {{ template <typename T> __global__ __aicore__ void add({params}) {{}} }}\n")
    assert _valid(folder.add(launch={"entry": '"ns::add<{T}>"'}))["ops"][0]["kernels"][0]["expression"] == "ns::add<{T}>"


def test_the_order_of_a_prototype_that_mixes_kinds_is_kept(folder: SpecFolder) -> None:
    ports = {"x": 'Input("x", "T", shape="...")', "y": 'Input("y", "T", optional=True)', "z": 'Output("z", "T", shape="...")'}
    signature = f'[{ports["x"]}, Attr("mask", int, default=0), {ports["z"]}, {ports["y"]}]'
    assert list(_signature(folder.add(inputs="", outputs="", signature=signature))) == [
        ("input", "x"),
        ("attr", "mask"),
        ("output", "z"),
        ("input", "y"),
    ]


def test_every_rule_of_a_shape_is_told(folder: SpecFolder) -> None:
    folder.write("ge/user/infer.h", "inline bool InferPad(const Inputs &, Outputs &) { return true; }\n")
    inputs = '[Input("x", "T", shape="*a"), Input("y", "T", shape="*b")]'
    for rule, described in (
        ('broadcast("x", "y")', {"rule": "broadcast", "ports": ["x", "y"]}),
        ('cpp("ge/user/infer.h", "InferPad")', {"rule": "cpp", "header": "ge/user/infer.h", "function": "InferPad"}),
        ('"*a 4"', {"rule": "pattern", "dims": "*a 4"}),
    ):
        package = folder.add(inputs=inputs, outputs=f'[Output("z", "T", shape={rule})]')
        assert _signature(package)["output", "z"]["shape"] == described


def test_promotion_socs_and_the_attr_of_a_dtype_are_told(folder: SpecFolder) -> None:
    op = _valid(
        folder.add(
            inputs='[Input("x", "A", shape="..."), Input("y", "B", shape="...")]',
            outputs='[Output("z", "C", shape="...")]',
            dtypes='{"A": ["float32", "float16"], "B": ["float16", "float32"], "C": Promote("A", "B")}',
        )
    )["ops"][0]
    assert op["promotes"] == {"C": ["A", "B"]}
    assert [row["z"] for row in op["dtypes"]] == ["float32", "float32"]
    op = _valid(folder.add(dtypes='{"T": per_soc({"Ascend310P": ["float16"], "default": ["float16", "bfloat16"]})}'))["ops"][0]
    assert op["dtypes"][op["socs"]["Ascend310P"][0]]["x"] == "float16"
    assert len(op["socs"]["default"]) == 2
    outputs = '[Output("z", from_attr("to", ["float32", "int8"]), shape="...")]'
    package = folder.add(outputs=outputs, attrs='[Attr("to", "type", default="int8")]')
    assert _signature(package)["output", "z"]["dtype_attr"] == "to"


def test_every_combination_of_dtypes_is_a_row(folder: SpecFolder) -> None:
    op = _valid(folder.add(dtypes='{"T": ["float32", "float16"]}', outputs='[Output("z", ["int8", "uint8"], shape="...")]'))["ops"][0]
    assert op["dtypes"] == [{"x": "float32", "y": "float32", "z": "int8"}, {"x": "float16", "y": "float16", "z": "uint8"}]
    assert op["symbols"] == {"T": ["float32", "float16"]}
    assert [each["dtypes"] for each in op["signature"]] == [["float32", "float16"], ["float32", "float16"], ["int8", "uint8"]]


def test_paths_don_t_tell_where_the_project_lies(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", '#include "tile.h"\n' + (folder.root / "kernels/add.asc").read_text())
    folder.write("kernels/tile.h", "")
    folder.write("shared.py", "")
    document = _valid(folder.load("import shared\n" + add_spec()))
    assert document["sources"] == ["ops.py", "shared.py"]
    assert document["ops"][0]["kernels"][0]["files"] == ["kernels/add.asc", "kernels/tile.h"]
    assert str(folder.root) not in json.dumps(document)


@pytest.mark.parametrize(
    "change",
    [{"schema": 2}, {"ops": []}, {"more": 1}],
    ids=["another number", "no ops", "a word that isn't published"],
)
def test_the_schema_refuses_what_is_no_such_document(folder: SpecFolder, change: dict[str, Any]) -> None:
    document = _valid(folder.add())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(_SCHEMA).validate({**document, **change})
