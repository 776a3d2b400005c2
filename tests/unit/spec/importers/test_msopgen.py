"""Prototypes from msopgen's JSON: its words for ports and attrs, its columns, and files that are wrong, each told with its line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from opkit.errors import ForeignFileError
from opkit.spec.importers import PortKind, Prototype, Unknown, bring

if TYPE_CHECKING:
    from pathlib import Path


def _port(name: str, types: object = ("fp16",), **more: object) -> dict[str, Any]:
    return {"name": name, "param_type": "required", "format": ["ND"], "type": types, **more}


def _op(**changes: object) -> dict[str, Any]:
    return {"op": "AddCustom", "language": "cpp", "input_desc": [_port("x")], "output_desc": [_port("z")], **changes}


def _read(folder: Path, value: object) -> tuple[Prototype, ...]:
    (folder / "add.json").write_text(json.dumps(value, indent=2), encoding="utf-8")
    return bring(folder / "add.json").prototypes


def _refused(folder: Path, text: str) -> ForeignFileError:
    (folder / "add.json").write_text(text, encoding="utf-8")
    with pytest.raises(ForeignFileError) as caught:
        bring(folder / "add.json")
    assert (caught.value.number, caught.value.exit_code) == ("OPK0296", 2)
    return caught.value


def test_the_ports_come_with_their_kinds_and_formats(tmp_path: Path) -> None:
    inputs = [
        _port("x", format=["NCHW", "NHWC"], type=["fp16", "fp16"]),
        _port("b", param_type="optional"),
        _port("l", param_type="dynamic"),
    ]
    (op,) = _read(tmp_path, [_op(input_desc=inputs, output_desc=[_port("z"), _port("m", param_type="dynamic")])])
    assert [(port.kind, port.name, port.formats) for port in op.ports] == [
        (PortKind.INPUT, "x", ("NCHW", "NHWC")),
        (PortKind.OPTIONAL_INPUT, "b", ("ND",)),
        (PortKind.DYNAMIC_INPUT, "l", ("ND",)),
        (PortKind.OUTPUT, "z", ("ND",)),
        (PortKind.DYNAMIC_OUTPUT, "m", ("ND",)),
    ]


def test_one_op_needs_no_list_and_several_come_in_order(tmp_path: Path) -> None:
    assert [op.type for op in _read(tmp_path, _op())] == ["AddCustom"]
    assert [op.type for op in _read(tmp_path, [_op(), _op(op="MulCustom")])] == ["AddCustom", "MulCustom"]


@pytest.mark.parametrize(
    ("word", "dtype"),
    [("fp16", "float16"), ("float", "float32"), ("half", "float16"), ("bf16", "bfloat16"), ("DT_INT8", "int8"), ("INT32", "int32")],
)
def test_a_dtype_has_the_names_that_msopgen_takes(tmp_path: Path, word: str, dtype: str) -> None:
    (op,) = _read(tmp_path, _op(input_desc=[_port("x", word)]))
    assert [str(each) for each in op.ports[0].dtypes] == [dtype]


def test_type_lists_are_columns_and_a_column_that_repeats_for_another_format_counts_once(tmp_path: Path) -> None:
    ports = {
        "input_desc": [_port("x", ["fp16", "fp16", "fp32"]), _port("i", ["int32", "int32", "int64"])],
        "output_desc": [_port("z", "bool")],
    }
    (op,) = _read(tmp_path, _op(**ports))
    assert op.has_columns
    assert [[str(each) for each in port.dtypes] for port in op.ports] == [["float16", "float32"], ["int32", "int64"], ["bool"]]


def test_a_set_of_dtypes_makes_no_columns(tmp_path: Path) -> None:
    (op,) = _read(tmp_path, _op(input_desc=[_port("x", ["IndexNumberType", "bool"])]))
    assert not op.has_columns
    assert [str(each) for each in op.ports[0].dtypes] == ["int32", "int64", "bool"]


@pytest.mark.parametrize(
    ("attr", "default"),
    [
        ({"type": "int", "default_value": 3}, 3),
        ({"type": "int", "default_value": "3"}, 3),
        ({"type": "float", "default_value": 1}, 1.0),
        ({"type": "float", "default_value": "0.5"}, 0.5),
        ({"type": "bool", "default_value": False}, False),
        ({"type": "bool", "default_value": "true"}, True),
        ({"type": "string", "default_value": "3"}, "3"),
        ({"type": "string", "default_value": ""}, ""),
        ({"type": "type", "default_value": "float"}, "float32"),
        ({"type": "list_int", "default_value": [1, 1]}, (1, 1)),
        ({"type": "list_int", "default_value": "[1,1]"}, (1, 1)),
        ({"type": "list_type", "default_value": "[float, int8]"}, ("float32", "int8")),
        ({"type": "list_list_int", "default_value": [[1], []]}, ((1,), ())),
        ({"type": "list_int"}, Unknown("")),
        ({"type": "int", "default_value": ""}, Unknown("")),
        ({"type": "int", "param_type": "required"}, None),
    ],
)
def test_an_attr_is_read_with_its_default(tmp_path: Path, attr: dict[str, Any], default: object) -> None:
    (op,) = _read(tmp_path, _op(attr=[{"name": "a", "param_type": "optional", **attr}]))
    assert op.attrs[0].default == default
    assert type(op.attrs[0].default) is type(default)


def _text(**changes: object) -> str:
    return json.dumps([_op(**changes)], indent=1)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[\n{"op": "AddCustom",}\n]', 2, "is no JSON"),
        ('[\n{"op": "AddCustom"\n', 3, "is no JSON"),
        ('[\n{"op": "A",\n"op": "B"}]', 2, "'op' twice"),
        ("[]", 1, "lists no ops"),
        ("[3]", 1, "lists 3 where an op is expected"),
        ('[{"language": "cpp"}]', 1, "an op lacks 'op'"),
        ('[{"op": "A",\n"input_decs": []}]', 2, "an op has no 'input_decs'"),
        ('[{"op": "A",\n"input_desc": {}}]', 2, "input_desc is {}, not a list of objects"),
        ('[{"op": "A", "input_desc": [\n{"param_type": "required"}]}]', 2, "an input lacks 'name'"),
        ('[{"op": "A", "input_desc": [\n{"name": "x"}]}]', 2, "an input 'x' lacks 'type'"),
        ('[{"op": "A", "input_desc": [\n{"name": "x",\n"type": []}]}]', 3, "type of an input 'x' is [], not a list of texts"),
        ('[{"op": "A", "input_desc": [\n{"name": "x",\n"type": ["flaot16"]}]}]', 3, "no dtype 'flaot16'"),
        ('[{"op": "A", "input_desc": [\n{"name": "x", "type": "fp16",\n"format": ["NCWH"]}]}]', 3, "no format 'NCWH'"),
        ('[{"op": "A", "input_desc": [\n{"name": "x", "type": "fp16",\n"param_type": "maybe"}]}]', 3, "the param_type 'maybe'"),
        ('[{"op": "A", "output_desc": [\n{"name": "x", "type": "fp16",\n"param_type": "optional"}]}]', 3, "the param_type 'optional'"),
        ('[{"op": "A", "attr": [\n{"name": "a",\n"type": "ints"}]}]', 3, "the type 'ints'"),
        ('[{\n"op": "A\\"B"}]', 2, "is no name"),
        ('[{"op": "A", "input_desc": [\n{"name": "x\\", f())#", "type": "fp16"}]}]', 2, "is no name"),
        ('[{"op": "A", "attr": [\n{"name": "ä", "type": "int"}]}]', 2, "is no name"),
        (
            '[{"op": "A", "attr": [\n{"name": "a", "type": "int", "param_type": "optional",\n"default_value": 1.5}]}]',
            3,
            "the default_value of attr 'a' is 1.5",
        ),
        (
            '[\n{"op": "A", "input_desc": [{"name": "x", "type": ["fp16", "fp32"]}, {"name": "y", "type": ["int8", "int8", "int8"]}]}]',
            2,
            "different lengths",
        ),
        ("[" * 100_000, 0, "nested too deeply"),
        ('[{"op": "A", "input_desc": [\n{"name": "x", "type": "fp16",\n"param_type": []}]}]', 3, "the param_type []"),
        ('[{"op": "A", "attr": [\n{"name": "a", "type": "int",\n"param_type": {}}]}]', 3, "the param_type {}"),
        ('[{"op": "A",\n"n": ' + "1" * 5000 + "}]", 2, "a number"),
        (
            '[{"op": "A", "attr": [\n{"name": "a", "type": "list_int", "param_type": "optional",\n"default_value": "'
            + "[" * 100_000
            + '"}]}]',
            3,
            "the default_value of attr 'a' is '[[[[",
        ),
        (
            '[{"op": "A", "attr": [\n{"name": "a", "type": "int", "param_type": "optional",\n"default_value": "' + "1" * 5000 + '"}]}]',
            3,
            "the default_value of attr 'a' is '1111",
        ),
    ],
)
def test_a_file_that_is_wrong_is_one_error_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    error = _refused(tmp_path, text)
    assert words in error.message
    assert (error.where or "").startswith(f"add.json:{line}" if line else "add.json")


def test_braces_in_texts_don_t_shift_the_lines(tmp_path: Path) -> None:
    text = '[{"op": "A", "comment": "}{ \\"{",\n"nested": {"n": {}},\n"attr": [{"s": "}",\n"name": "a b", "type": "int"}]}]'
    assert (_refused(tmp_path, text).where or "").startswith("add.json:4")


def test_a_misspelt_dtype_is_asked_for(tmp_path: Path) -> None:
    assert "'float16'" in (_refused(tmp_path, _text(input_desc=[_port("x", "flaot16")])).help or "")


@pytest.mark.case("B13")
def test_one_op_twice_is_refused(tmp_path: Path) -> None:
    error = _refused(tmp_path, json.dumps([_op(), _op()], indent=1))
    assert "AddCustom is there twice" in error.message


def test_a_key_that_nobody_knows_is_let_be(tmp_path: Path) -> None:
    assert _read(tmp_path, _op(comment="from the spreadsheet"))
