"""Prototypes from headers: every clause, the ways that people write them, and headers that are no prototype."""

from __future__ import annotations

import ast
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from import_support import header, import_header

from opkit.errors import ForeignFileError
from opkit.spec import AttrType
from opkit.spec.importers import AttrClause, PortClause, PortKind, Unknown, bring, spec_text

if TYPE_CHECKING:
    from pathlib import Path


def _attr(folder: Path, clause: str) -> AttrClause:
    (attr,) = import_header(folder, f"REG_OP(Foo).{clause}.OP_END_FACTORY_REG(Foo)")[0].attrs
    return attr


def _port(folder: Path, clause: str) -> PortClause:
    (port,) = import_header(folder, f"REG_OP(Foo).{clause}.OP_END_FACTORY_REG(Foo)")[0].ports
    return port


def _refused(folder: Path, text: str) -> ForeignFileError:
    (folder / "ops.h").write_text(text, encoding="utf-8")
    with pytest.raises(ForeignFileError) as caught:
        bring(folder / "ops.h")
    return caught.value


def test_the_ops_of_a_header_come_in_its_order_with_their_lines(tmp_path: Path) -> None:
    first, second = import_header(
        tmp_path,
        'REG_OP(AddRefreshOp)\n    .INPUT(x, "T")\n    .INPUT(y, "T")\n    .OUTPUT(z, "T")\n'
        "    .DATATYPE(T, TensorType({DT_FLOAT}))\n    .OP_END_FACTORY_REG(AddRefreshOp);",
        "REG_OP(Nothing).OP_END_FACTORY_REG(Nothing)",
    )
    assert (first.type, first.where.line, second.type, second.clauses) == ("AddRefreshOp", 5, "Nothing", ())
    assert [(port.kind, port.name, port.symbol, port.where.line) for port in first.ports] == [
        (PortKind.INPUT, "x", "T", 6),
        (PortKind.INPUT, "y", "T", 7),
        (PortKind.OUTPUT, "z", "T", 8),
    ]
    assert [str(dtype) for dtype in first.symbol("T").dtypes] == ["float32"]


@pytest.mark.parametrize("kind", [kind.value for kind in PortKind])
def test_every_kind_of_port_is_read(tmp_path: Path, kind: str) -> None:
    assert _port(tmp_path, f"{kind}(x, TensorType({{DT_INT8}}))").kind.value == kind


@pytest.mark.parametrize(
    ("rule", "dtypes"),
    [
        ("TensorType({DT_FLOAT, DT_FLOAT16})", "float32 float16"),
        ("TensorType({DT_FLOAT, DT_FLOAT})", "float32"),
        ("TensorType(DT_BF16)", "bfloat16"),
        ("ge::TensorType({ge::DT_FLOAT})", "float32"),
        ("TensorType::IndexNumberType()", "int32 int64"),
        ("TensorType({IndexNumberType(), DT_BOOL})", "int32 int64 bool"),
        ("TensorType({TensorType::IndexNumberType(), DT_BOOL,})", "int32 int64 bool"),
        ("TensorType({IndexNumberType, DT_BOOL})", "int32 int64 bool"),
        ("TensorType{DT_INT4}", "int4"),
    ],
)
def test_a_set_of_dtypes_is_read_as_people_write_it(tmp_path: Path, rule: str, dtypes: str) -> None:
    assert " ".join(map(str, _port(tmp_path, f"INPUT(x, {rule})").dtypes)) == dtypes


def test_symbols_are_sets_lists_and_promotions(tmp_path: Path) -> None:
    text = (
        'REG_OP(Foo).INPUT(a, "T1").DYNAMIC_INPUT(b, "T2").OUTPUT(c, "T3").DATATYPE(T1, TensorType::FLOAT())'
        '.DATATYPE(T2, ListTensorType(TensorType({DT_INT8}))).DATATYPE(T3, Promote({"T1", "T2"})).OP_END_FACTORY_REG(Foo)'
    )
    plain, listed, promoted = import_header(tmp_path, text)[0].symbols
    assert (" ".join(map(str, plain.dtypes)), plain.is_list) == ("float32 float16 bfloat16", False)
    assert (" ".join(map(str, listed.dtypes)), listed.is_list) == ("int8", True)
    assert (promoted.dtypes, promoted.promoted) == ((), ("T1", "T2"))


@pytest.mark.parametrize(
    ("clause", "kind", "default"),
    [
        ("ATTR(a, Int, 3)", "int", 3),
        ("ATTR(a, Int, -0x10L)", "int", -16),
        ("ATTR(a, Int, 1'000)", "int", 1000),
        ("ATTR(a, Int, 010)", "int", 8),
        ("ATTR(a, Int, 0b101)", "int", 5),
        ("ATTR(a, Int, DT_INT32)", "int", 3),
        ("ATTR(a, Int, ge::DT_INT32)", "int", 3),
        ("ATTR(a, Float, 1e-5f)", "float", 1e-5),
        ("ATTR(a, Float, -1)", "float", -1.0),
        ("ATTR(a, Float, .5)", "float", 0.5),
        ("ATTR(a, Float, 0x1p-3)", "float", 0.125),
        ("ATTR(a, Bool, true)", "bool", True),
        ('ATTR(a, String, "NCHW")', "str", "NCHW"),
        (r'ATTR(a, String, "a\"b\\\n\x41\101" "c")', "str", 'a"b\\\nAAc'),
        (r'ATTR(a, String, "\303\251é")', "str", "éé"),
        ('ATTR(a, String, u8"é")', "str", "é"),
        ('ATTR(a, String, R"(a\\b)")', "str", "a\\b"),
        ('ATTR(a, String, "a, (b")', "str", "a, (b"),
        ('ATTR(a, AscendString, AscendString("x"))', "str", "x"),
        ("ATTR(a, Type, DT_FLOAT)", "type", "float32"),
        ("ATTR(a, Tensor, Tensor())", "tensor", ()),
        ("ATTR(a, Bytes, {1, 2, 255})", "bytes", b"\x01\x02\xff"),
        ("ATTR(a, ListInt, {})", "list_int", ()),
        ("ATTR(a, ListInt, {1, -2})", "list_int", (1, -2)),
        ("ATTR(a, ListInt, std::vector<int64_t>{1})", "list_int", (1,)),
        ("ATTR(a, ListFloat, {0.5f, 1})", "list_float", (0.5, 1.0)),
        ("ATTR(a, ListBool, {true, false})", "list_bool", (True, False)),
        ('ATTR(a, ListString, {"x, y", "z"})', "list_str", ("x, y", "z")),
        ("ATTR(a, ListType, {DT_FLOAT, DT_BF16})", "list_type", ("float32", "bfloat16")),
        ("ATTR(a, ListTensor, {})", "list_tensor", ()),
        ("ATTR(a, ListListInt, {{1, 2}, {}})", "list_list_int", ((1, 2), ())),
        ("REQUIRED_ATTR(a, ListListInt)", "list_list_int", None),
    ],
)
def test_an_attr_is_read_with_its_default_in_the_form_of_a_spec(tmp_path: Path, clause: str, kind: str, default: object) -> None:
    attr = _attr(tmp_path, clause)
    assert (attr.type, attr.default, type(attr.default)) == (AttrType(kind), default, type(default))


@pytest.mark.parametrize("expression", ["kDefault", "{kOne, 2}", "1 + 1", "ge::UNKNOWN_RANK", "int64_t(3)", ""])
def test_a_default_that_only_a_compiler_can_read_stays_unknown(tmp_path: Path, expression: str) -> None:
    assert _attr(tmp_path, f"ATTR(a, ListInt, {expression})").default == Unknown(expression)


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("Float", "0x1p99999"),
        ("Float", "0x.p1"),
        ("Float", "0x" + "f" * 400),
        ("Float", "0" + "7" * 5000),
        ("Int", "1" * 5000),
        ("ListInt", "{" + "1" * 5000 + "}"),
        ("String", r'"\UFFFFFFFF"'),
        ("String", r'"\ud800"'),
    ],
)
def test_a_literal_that_is_no_value_stays_unknown(tmp_path: Path, kind: str, number: str) -> None:
    assert _attr(tmp_path, f"ATTR(a, {kind}, {number})").default == Unknown(number)


def test_what_is_commented_out_or_a_macro_is_no_op(tmp_path: Path) -> None:
    text = header(
        "// REG_OP(Commented) .INPUT( \\\n REG_OP(AlsoCommented)",
        "/* REG_OP(Commented)\n * .INPUT(x */",
        "#define REG_OP(x) \\\n  REG_OP(Macro)",
        "  #  define MORE REG_OP(Macro)",
        'const char *kText = "REG_OP(Text)";',
        'REG_OP(Real).INPUT(x, /* the "T" */ "T") // .INPUT(y, "T")\n.DATATYPE(T, TensorType({DT_FLOAT})).OP_END_FACTORY_REG(Real)',
    )
    (tmp_path / "ops.h").write_text(text)
    (op,) = bring(tmp_path / "ops.h").prototypes
    assert (op.type, [port.name for port in op.ports]) == ("Real", ["x"])


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("#if 0\n{a}\n#endif\n{b}", "B"),
        ("#if 0  // not yet\n{a}\n#else\n{b}\n#endif", "B"),
        ("#if 0\n#ifdef X\n{a}\n#else\n{a}\n#endif\n{a}\n#endif\n{b}", "B"),
        ("#if false\nit's\n{a}\n# endif\n{b}", "B"),
        ("#if 1\n{a}\n#endif\n#ifdef NEW\n{b}\n#endif", "A B"),
    ],
)
def test_what_is_never_compiled_is_no_op(tmp_path: Path, text: str, types: str) -> None:
    found = import_header(tmp_path, text.format(a="REG_OP(A).OP_END_FACTORY_REG(A)", b="REG_OP(B).OP_END_FACTORY_REG(B)"))
    assert " ".join(op.type for op in found) == types


@pytest.mark.parametrize("condition", ["#ifdef NEW", "#ifndef OLD", "  # if NEW > 1", "#if 0\n.INPUT(w, 3)\n#endif\n#ifdef NEW"])
def test_an_op_remembers_where_its_clauses_depend_on_a_condition(tmp_path: Path, condition: str) -> None:
    chain = f"REG_OP(Foo)\n.INPUT(x, TensorType::ALL())\n{condition}\n.ATTR(a, Int, 3)\n#endif\n.OP_END_FACTORY_REG(Foo)"
    plain, conditional = import_header(tmp_path, "REG_OP(Bar).OP_END_FACTORY_REG(Bar)", chain)
    assert plain.condition is None
    assert conditional.condition is not None
    assert conditional.condition.text == condition.rpartition("\n")[2].strip()


@pytest.mark.parametrize("chain", ["#ifdef NEW\n{op}\n#endif", "#if 0\nx\n#endif\n{op}"])
def test_a_whole_op_under_a_condition_has_no_clause_that_depends_on_it(tmp_path: Path, chain: str) -> None:
    op = "REG_OP(Foo)\n#if 0\n.INPUT(x, 3)\n#endif\n.OP_END_FACTORY_REG(Foo)"
    (found,) = import_header(tmp_path, chain.format(op=op))
    assert (found.condition, found.clauses) == (None, ())


@pytest.mark.parametrize(
    "directive",
    [
        '#define GLOB "/*"',
        "#define SLASH // as in a/*",
        "#error don't /* a\ncomment */",
        "#define QUOTE '\"' /* a\ncomment */",
        '#define LONG "a\\\nb" \\\n REG_OP(Macro)',
        '#define OPEN "a',
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_preprocessor_line_ends_where_it_ends(tmp_path: Path, directive: str, newline: str) -> None:
    text = f'{directive}\nREG_OP(Foo)\n.ATTR(a, String, "b\\\nc")\n.OP_END_FACTORY_REG(Foo)\n'
    (tmp_path / "ops.h").write_bytes(text.replace("\n", newline).encode())
    (op,) = bring(tmp_path / "ops.h").prototypes
    assert op.attrs[0].default == "bc"


def test_every_op_of_a_long_header_is_read(tmp_path: Path) -> None:
    op = 'REG_OP(Op{0}).INPUT(x, "T").OUTPUT(y, "T").ATTR(a, ListInt, {{1, 2}}).DATATYPE(T, TensorType::ALL()).OP_END_FACTORY_REG(Op{0})'
    assert len(import_header(tmp_path, *(op.format(index) for index in range(1000)))) == 1000


def test_a_header_in_another_encoding_and_with_dos_lines_is_read(tmp_path: Path) -> None:
    text = header("// 中文", "REG_OP(Real)\n.INPUT(x, TensorType({DT_FLOAT}))\n.OP_END_FACTORY_REG(Real)").replace("\n", "\r\n")
    (tmp_path / "ops.h").write_bytes(text.encode("gbk"))
    (op,) = bring(tmp_path / "ops.h").prototypes
    assert op.ports[0].where.line == 7


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("REG_OP(Foo)\n.INPUT(x, TensorType({DT_FLOAT}))\n", 1, "REG_OP(Foo) isn't closed"),
        ("REG_OP(Foo)\n.INPUT(x, TensorType({DT_FLOAT}))\n;REG_OP(Bar)", 3, "REG_OP(Foo) isn't closed"),
        ("REG_OP(Foo)\n.OP_END_FACTORY_REG(Bar)", 2, "closed by OP_END_FACTORY_REG(Bar)"),
        ("REG_OP(Foo)\n.INPUTS(x, TensorType({DT_FLOAT}))", 2, "no clause INPUTS"),
        ("REG_OP(Foo)\n.INPUT(x)\n.OP_END_FACTORY_REG(Foo)", 2, "INPUT takes a name and the dtypes"),
        ("REG_OP(Foo)\n.INPUT(x, TensorType({DT_FLAOT}))", 2, "no dtype DT_FLAOT"),
        ("REG_OP(Foo)\n.INPUT(x, TensorType({DT_FLOAT32}))", 2, "no dtype DT_FLOAT32"),
        ("REG_OP(Foo)\n.INPUT(x, TensorType::Every())", 2, "no set Every()"),
        ("REG_OP(Foo)\n.INPUT(x, TensorType({}))", 2, "no dtypes"),
        ("REG_OP(Foo)\n.INPUT(x, 3)", 2, "isn't a set of dtypes"),
        ('REG_OP(Foo)\n.INPUT(x, "T")\n.OP_END_FACTORY_REG(Foo)', 2, "no DATATYPE(T, …)"),
        ('REG_OP(Foo)\n.INPUT(x, "T")\n.DATATYPE(T, Promote({"U"}))\n.OP_END_FACTORY_REG(Foo)', 3, "no DATATYPE(U, …)"),
        ("REG_OP(Foo)\n.DATATYPE(T, TensorType({DT_FLOAT}))\n.DATATYPE(T, TensorType({DT_FLOAT}))", 3, "two DATATYPE clauses name T"),
        ("REG_OP(Foo)\n.ATTR(a, Int)", 2, "ATTR takes a name, a type and a default"),
        ("REG_OP(Foo)\n.REQUIRED_ATTR(a, Int, 3)", 2, "REQUIRED_ATTR takes a name and a type"),
        ("REG_OP(Foo)\n.ATTR(a, IntList, {})", 2, "the type IntList"),
        ("REG_OP(Foo)\n.ATTR(a, int, 3)", 2, "the type int"),
        ("REG_OP(Foo)\n.ATTR(a, Float, 1e99)", 2, "the default of attr 'a' is 1e99"),
        ("REG_OP(Foo)\n.ATTR(a, Int, 0xffffffffffffffff)", 2, "the default of attr 'a'"),
        ("REG_OP(Foo)\n.INPUT(x, TensorType({DT_FLOAT))", 2, "the bracket ( isn't closed"),
        ("REG_OP(Foo)\n.INPUT(x, TensorType({DT_FLOAT})", 2, "the bracket ( isn't closed"),
        ('REG_OP(Foo)\n.ATTR(a, String, "open)\n', 2, "a text isn't closed"),
        ("REG_OP(Foo)\n.ATTR(a, ListInt, {0x" + "f" * 5000 + "})", 2, "the default of attr 'a'"),
        ("REG_OP(Foo)\n/* open", 2, "a comment isn't closed"),
        ("\n#define A /* open", 2, "a comment isn't closed"),
        ('REG_OP(Foo)\n.ATTR(a, String, R"(open")', 2, "a text isn't closed"),
        ("REG_OP(Foo)\n.DATATYPE(T, )", 2, "DATATYPE takes a symbol and its dtypes"),
        ("REG_OP(Foo)\n.INPUT(q, " + "(" * 3000 + ")" * 3001, 2, "nested more than"),
        ("REG_OP(Foo)\n.INPUT(q, " + "{" * 3000, 2, "nested more than"),
        ("REG_OP(Foo)\n.INPUT(q, " + "TensorType " * 3000 + ")", 2, "isn't a set of dtypes"),
        ("REG_OP()\n", 1, "REG_OP takes the op type"),
    ],
)
def test_a_header_that_is_wrong_is_one_error_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    error = _refused(tmp_path, text)
    assert words in error.message
    assert (error.where or "").startswith(f"ops.h:{line}")
    assert (error.number, error.exit_code) == ("OPK0296", 2)


@pytest.mark.parametrize(
    "piece",
    [
        "#/*\n",
        "# /*",
        '#"',
        '#"\n',
        '# "\\"',
        'R"("',
        'R"a(")"',
        "/*",
        "(",
        "#if 0\n",
        "#ifdef A\n",
        "ge::",
        "'",
        "a.",
        "//",
        "# '",
        "\\\n",
    ],
)
def test_a_header_that_means_nothing_is_told_in_time_in_proportion_to_its_length(tmp_path: Path, piece: str) -> None:
    before = time.process_time()
    _refused(tmp_path, piece * (300_000 // len(piece)))
    # A scan to the end from each piece takes minutes.
    assert time.process_time() - before < 20


@pytest.mark.parametrize("kind", ["Int", "Float", "ListInt", "String"])
@pytest.mark.parametrize("piece", ["a::", "{", "0x", "a", '"a" ', "1, ", "1", "0xfp"])
def test_a_long_default_is_read_in_time_in_proportion_to_its_length(tmp_path: Path, kind: str, piece: str) -> None:
    before = time.process_time()
    with suppress(ForeignFileError):
        import_header(tmp_path, f"REG_OP(Foo).ATTR(a, {kind}, {piece * (100_000 // len(piece))}z).OP_END_FACTORY_REG(Foo)")
        spec_text(bring(tmp_path / "ops.h"), "demo")
    assert time.process_time() - before < 20


def test_a_header_of_more_than_a_megabyte_is_refused(tmp_path: Path) -> None:
    error = _refused(tmp_path, "REG_OP(Foo).OP_END_FACTORY_REG(Foo)\n" + " " * 1_100_000)
    assert "too large" in error.message


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (".INPUTS(x, 1)", "'INPUT'"),
        (".INPUT(x, TensorType({DT_FLAOT}))", "'DT_FLOAT'"),
        (".INPUT(x, TensorType({DT_FLOAT32}))", "'DT_FLOAT'"),
        (".INPUT(x, TensorType({DT_BFLOAT16}))", "'DT_BF16'"),
        (".INPUT(x, TensorType::REALNUMBERTYPE())", "'RealNumberType'"),
        (".ATTR(a, ListInts, {})", "'ListInt'"),
    ],
)
def test_a_misspelt_word_is_asked_for(tmp_path: Path, text: str, advice: str) -> None:
    assert advice in (_refused(tmp_path, f"REG_OP(Foo){text}").help or "")


def test_what_a_default_says_can_t_become_code(tmp_path: Path) -> None:
    op = "REG_OP(Foo).ATTR(a, Int, k\0\r\n__import__('os')).OP_END_FACTORY_REG(Foo)"
    (tmp_path / "ops.h").write_bytes(header(op).encode())
    tree = ast.parse(spec_text(bring(tmp_path / "ops.h"), "demo").text)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "__import__"]


@pytest.mark.parametrize("clause", ["GRAPH(body)", "DYNAMIC_GRAPH(branches)"])
def test_an_op_with_subgraphs_is_refused_with_the_reason(tmp_path: Path, clause: str) -> None:
    error = _refused(tmp_path, f"REG_OP(While)\n.{clause}\n.OP_END_FACTORY_REG(While)")
    assert error.number == "OPK0274"
    assert "subgraph" in error.message
    assert (error.where or "").startswith("ops.h:2")


def test_named_attrs_are_refused_with_the_reason(tmp_path: Path) -> None:
    error = _refused(tmp_path, "REG_OP(Foo)\n.REQUIRED_ATTR(a, NamedAttrs)\n.OP_END_FACTORY_REG(Foo)")
    assert error.number == "OPK0240"
    assert "only declare" in (error.because or "")


@pytest.mark.case("B13")
def test_one_op_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    error = _refused(tmp_path, "REG_OP(Foo).OP_END_FACTORY_REG(Foo)\nREG_OP(Foo).OP_END_FACTORY_REG(Foo)\n")
    assert "there twice" in error.message
    assert (error.where or "").startswith("ops.h:2")
    assert "ops.h:1" in (error.because or "")


def test_a_file_without_an_op_is_refused_with_what_is_taken(tmp_path: Path) -> None:
    error = _refused(tmp_path, "#include <vector>\n")
    assert "has no REG_OP" in error.message
    assert "msopgen" in (error.help or "")
