"""Whatever a file holds, an import gives prototypes or one error of the user's, and what it gives can be printed."""

from __future__ import annotations

import ast
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.errors import ForeignFileError
from opkit.spec.importers import bring, spec_text

_PIECES = [
    "REG_OP(",
    "Foo",
    ")",
    ".INPUT(",
    "x",
    ",",
    '"T"',
    ".DATATYPE(",
    "T",
    "TensorType(",
    "{",
    "}",
    "DT_FLOAT",
    "::ALL()",
    ".ATTR(",
    "Int",
    "ListListInt",
    "-1",
    "1e-5f",
    "{{1},{}}",
    ".REQUIRED_ATTR(",
    ".OP_END_FACTORY_REG(Foo)",
    ";",
    "/*",
    "*/",
    "//",
    "\\",
    "#define",
    '"',
    "'",
    'R"(',
    ')"',
    "Promote({",
    ".DYNAMIC_OUTPUT(",
    ".GRAPH(g)",
    "ge::",
    "é",
    "\x00",
]
_CLAUSES = [
    '.INPUT(x,"T")',
    '.OUTPUT(y,"T")',
    ".DATATYPE(T,TensorType({DT_FLOAT,DT_INT8}))",
    ".DYNAMIC_INPUT(z,TensorType::ALL())",
    ".OPTIONAL_INPUT(b,TensorType({DT_INT8}))",
    ".ATTR(a,Int,3)",
    '.ATTR(s,String,"a\'\\"")',
    ".REQUIRED_ATTR(r,ListInt)",
    ".DYNAMIC_OUTPUT(z,TensorType::ALL())",
    ".ATTR(u,Float,kX)",
    '.DATATYPE(U,Promote({"T"}))',
    '.OUTPUT(v,"U")',
]
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["fp16", "required", "dynamic", "int", "x", "ND", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["op", "input_desc", "output_desc", "attr", "name", "type", "format", "param_type", "default_value", "language", "typ"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)

# What may stand in the place of one value of a file that is right otherwise: of any kind, and of any length or depth.
_DIGITS = st.text("0123456789abcdefABCDEFpPeExXuULl.'+-", max_size=12)
_LONG = st.sampled_from([1, 20, 400, 5000]).flatmap(
    lambda length: st.sampled_from(["1", "f", "7", "0", "9"]).map(lambda digit: digit * length)
)
_NUMBERS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "-", "0x", "0X", "0b", "0", "0x.", ".", "1e"]),
    _LONG | _DIGITS,
    st.sampled_from(["", "f", "p1", "p99999", "e99999", "p-99999", ".5", "u"]),
)
_DEEP = st.builds(
    lambda piece, depth, closes: piece[0] * depth + piece[1] * (depth if closes else 0),
    st.sampled_from(["()", "{}", "[]", ("TensorType ", ""), ("TensorType(", ")"), ("ge::", ""), ("- ", ""), ("::", "")]),
    st.sampled_from([1, 3, 40, 4000]),
    st.booleans(),
)
_TEXTS = st.text(st.sampled_from("\\\"'0789xuUdDfFRn()é "), max_size=12).map('"{}"'.format)
_TYPES = ["Int", "Float", "Bool", "String", "Type", "Tensor", "Bytes", "ListInt", "ListFloat", "ListString", "ListType", "ListListInt"]
_VALUES = (
    _NUMBERS | _DEEP | _TEXTS | st.sampled_from(["", " ", "T", '"T"', "DT_FLOAT", "ge::DT_FLOAT", "Tensor()", "TensorType", "kX", "true"])
)
_NESTED_VALUES = _VALUES | st.lists(_VALUES, max_size=3).map(lambda values: f"{{{', '.join(values)}}}")
# Each was the end of an import once: tried in every place, since a draw of place and value rarely meets the one that matters.
_TRAPS = [
    "",
    "[]",
    "{}",
    "0x1p99999",
    "0x.p1",
    "0x" + "f" * 400,
    "1" * 5000,
    "0x" + "f" * 5000,
    "0" + "7" * 5000,
    "1e99999",
    "(" * 4000 + ")" * 4000,
    "{" * 4000 + "}" * 4000,
    "[" * 4000,
    "[" * 4000 + "]" * 4000,
    "TensorType " * 3000,
    r'"\UFFFFFFFF"',
    r'"\ud800"',
    '"\\xff"',
    'R"(',
    "DT_FLOAT",
]
# One place of an op each, which gets the value.
_HOLES = [
    "@",
    ".INPUT(@, TensorType::ALL())",
    ".INPUT(q, @)",
    ".INPUT(q, TensorType({@}))",
    ".DATATYPE(U, @)",
    ".DATATYPE(@, TensorType::ALL())",
    ".DATATYPE(U, Promote(@))",
    ".DATATYPE(U, ListTensorType(@))",
    ".REQUIRED_ATTR(q, @)",
    ".ATTR(q, @, 3)",
    *(f".ATTR(q, {kind}, @)" for kind in _TYPES),
]
_JSON_OP = {
    "op": "Foo",
    "language": "cpp",
    "input_desc": [{"name": "x", "param_type": "required", "format": ["ND", "ND"], "type": ["fp16", "float"]}],
    "output_desc": [{"name": "z", "param_type": "dynamic", "format": "ND", "type": ["fp16", "float"]}],
    "attr": [{"name": "a", "param_type": "optional", "type": "int", "default_value": 3}],
}
_JSON_PLACES = [
    *((key,) for key in _JSON_OP),
    *(
        (part, 0, key)
        for part in ("input_desc", "output_desc", "attr")
        for key in ("name", "param_type", "format", "type", "default_value")
    ),
]
_JSON_TYPES = ["int", "float", "bool", "string", "type", "tensor", "bytes", "list_int", "list_type", "list_list_int"]


def _json_with(place: tuple[str | int, ...], kind: str, value: str) -> bytes:
    """The JSON of an op, with an attr of a type and one value replaced by a text that needn't be JSON."""
    op = json.loads(json.dumps(_JSON_OP))
    op["attr"][0]["type"] = kind
    holder = op
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = "@"
    return json.dumps([op]).replace('"@"', value).encode()


def _check(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        try:
            brought = bring(file)
        except ForeignFileError as error:
            if error.exit_code != 2:
                raise
            return
        spec = spec_text(brought, "demo")
        ast.parse(spec.text)
        lines = spec.text.splitlines()
        assert all("..." in lines[question.line - 1] for question in spec.questions)


@given(st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    _check("ops.h", content)


@given(st.lists(st.sampled_from([*_PIECES, "\n", " "]), max_size=40).map("".join))
def test_pieces_of_headers(text: str) -> None:
    _check("ops.h", text.encode())


@given(st.lists(st.sampled_from(_CLAUSES), max_size=12).map("".join))
def test_clauses_in_any_order(clauses: str) -> None:
    _check("ops.h", f"REG_OP(Foo){clauses}.OP_END_FACTORY_REG(Foo)".encode())


@given(_JSON)
def test_any_json(value: object) -> None:
    _check("ops.json", json.dumps(value).encode())


@given(st.text(alphabet='[]{}:,"\\ \n\0tnull0123e-.opname', max_size=60))
def test_text_that_is_nearly_json(text: str) -> None:
    _check("ops.json", text.encode())


@pytest.mark.parametrize("clause", _HOLES)
def test_every_trap_in_every_place_of_an_op(clause: str) -> None:
    for trap in [*_TRAPS, *(f"{{{trap}}}" for trap in _TRAPS)]:
        _check("ops.h", f"REG_OP(Foo){clause.replace('@', trap)}.OP_END_FACTORY_REG(Foo)".encode())


@pytest.mark.parametrize(
    ("place", "kind"),
    [*((place, "int") for place in _JSON_PLACES), *((("attr", 0, "default_value"), kind) for kind in _JSON_TYPES)],
)
def test_every_trap_in_every_place_of_a_json_op(place: tuple[str | int, ...], kind: str) -> None:
    for trap in [*_TRAPS, *map(json.dumps, _TRAPS)]:
        _check("ops.json", _json_with(place, kind, trap))


@given(st.sampled_from(_HOLES), _NESTED_VALUES)
def test_an_op_with_one_value_of_any_kind(clause: str, value: str) -> None:
    known = '.INPUT(x,"T").DATATYPE(T,TensorType({DT_FLOAT}))'
    _check("ops.h", f"REG_OP(Foo){known}{clause.replace('@', value)}.OP_END_FACTORY_REG(Foo)".encode())


@given(st.sampled_from(_CLAUSES), st.sampled_from(_CLAUSES), st.data())
def test_an_op_with_one_clause_cut_or_doubled_anywhere(clause: str, other: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(clause)))
    end = data.draw(st.integers(start, len(clause)))
    middle = data.draw(st.sampled_from(["", ",", other, clause[start:end] * 2, "\n#ifdef A\n", "\n#if 0\n", "/*", "\n#/*", 'R"(']))
    text = f"{clause[:start]}{middle}{clause[end:]}"
    _check("ops.h", f'REG_OP(Foo).INPUT(x,"T").DATATYPE(T,TensorType::ALL()){text}.OP_END_FACTORY_REG(Foo)'.encode())


@given(st.sampled_from(_JSON_PLACES), st.sampled_from(_JSON_TYPES), _JSON.map(json.dumps) | _NUMBERS | _DEEP | _VALUES.map(json.dumps))
def test_a_json_op_with_one_value_of_any_kind(place: tuple[str | int, ...], kind: str, value: str) -> None:
    _check("ops.json", _json_with(place, kind, value))
