"""Structs that a kernel takes by value: what opkit reads of them, what it refuses, and the values that a spec gives their members."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_support import SpecFolder, add_spec

from opkit.spec import AttrValue, Dim, Number, Numel, ScalarType, Tiling, UserTiling
from opkit.spec.expressions import Binary, BinaryOp
from opkit.spec.kernel_signature import read_kernel
from opkit.spec.kernel_structs import UnfitStructError, lay_out_struct

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from opkit.errors import SpecError
    from opkit.spec import KernelStruct, Op

ATTRS = '[Attr("k", int), Attr("alpha", float), Attr("flag", bool)]'
STRUCT = "struct AddTiling { int64_t total; int32_t tiles[2]; float scale; bool keep; };"
GIVEN = 'tiling("AddTiling", total=numel("x"), tiles=["k", ceil_div(numel("x"), 8)], scale="alpha", keep=attr("flag"))'


def write_kernel(folder: SpecFolder, struct: str, parameter: str = "AddTiling t", header: str = "") -> None:
    if header:
        folder.write("kernels/add_tiling.h", header)
    include = '#include "add_tiling.h"\n' if header else ""
    entry = f'extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, {parameter}) {{}}\n'
    folder.write("kernels/add.asc", include + struct + "\n" + entry)


def op_with(folder: SpecFolder, argument: str = GIVEN) -> Op:
    return folder.add_op(attrs=ATTRS, launch={"args": f'["x", "y", "z", {argument}]'})


def mistakes_with(folder: SpecFolder, argument: str = GIVEN) -> list[SpecError]:
    return folder.mistakes(add_spec(attrs=ATTRS, launch={"args": f'["x", "y", "z", {argument}]'}))


def read(tmp_path: Path, text: str) -> KernelStruct:
    path = tmp_path / "k.asc"
    path.write_text(text)
    source = read_kernel(path)
    return lay_out_struct(source.structs[-1], source.constants)


def why_unfit(tmp_path: Path, text: str) -> str:
    with pytest.raises(UnfitStructError) as caught:
        read(tmp_path, text)
    return str(caught.value)


def test_each_member_of_a_struct_gets_its_value(folder: SpecFolder) -> None:
    write_kernel(folder, STRUCT)
    tiling = op_with(folder).kernel.args[3].value

    assert isinstance(tiling, Tiling)
    assert [(member.target, member.scalar, member.value) for member in tiling.members] == [
        ("total", ScalarType.I64, Numel("x")),
        ("tiles[0]", ScalarType.I32, AttrValue("k")),
        ("tiles[1]", ScalarType.I32, Binary(BinaryOp.CEIL_DIV, Numel("x"), Number(8))),
        ("scale", ScalarType.F32, AttrValue("alpha")),
        ("keep", ScalarType.BOOL, AttrValue("flag")),
    ]
    text = 'total=numel("x"), tiles=[attr("k"), ceil_div(numel("x"), 8)], scale=attr("alpha"), keep=attr("flag")'
    assert str(tiling) == f'tiling("AddTiling", {text})'


def test_members_may_be_given_in_any_order(folder: SpecFolder) -> None:
    write_kernel(folder, "struct AddTiling { int64_t first; int64_t second; };")
    tiling = op_with(folder, 'tiling("AddTiling", second=2, first=1)').kernel.args[3].value

    assert str(tiling) == 'tiling("AddTiling", first=1, second=2)'


@pytest.mark.parametrize(
    ("struct", "parameter", "name"),
    [
        ("struct AddTiling { int64_t n; };", "const AddTiling t", "AddTiling"),
        ("struct AddTiling { int64_t n; };", "struct AddTiling t", "AddTiling"),
        ("struct AddTiling { int64_t n; };", "::AddTiling t", "AddTiling"),
        ("namespace ops { struct AddTiling { int64_t n; }; }", "ops::AddTiling t", "ops::AddTiling"),
        ("namespace a { namespace b { struct AddTiling { int64_t n; }; } }", "a::b::AddTiling t", "a::b::AddTiling"),
        ("namespace a::b { struct AddTiling { int64_t n; }; }", "a::b::AddTiling t", "a::b::AddTiling"),
        ("typedef struct { int64_t n; } AddTiling;", "AddTiling t", "AddTiling"),
        ("typedef struct Tag { int64_t n; } AddTiling;", "AddTiling t", "AddTiling"),
    ],
)
def test_a_struct_is_found_as_c_finds_it(folder: SpecFolder, struct: str, parameter: str, name: str) -> None:
    write_kernel(folder, struct, parameter)
    tiling = op_with(folder, 'tiling("AddTiling", n=1)').kernel.args[3].value

    assert isinstance(tiling, Tiling)
    assert tiling.struct == name


def test_a_struct_may_be_in_a_header_beside_the_kernel(folder: SpecFolder) -> None:
    write_kernel(folder, "", header=f"#pragma once\n#define TILES 2\n{STRUCT.replace('[2]', '[TILES]')}\n")
    struct = op_with(folder).kernel.signature.params[3].struct

    assert struct is not None
    assert (struct.place, struct.fields[1].length) == ("add_tiling.h:3", 2)


def test_a_define_of_the_spec_is_the_length_of_an_array(folder: SpecFolder) -> None:
    write_kernel(folder, "#ifndef TILES\n#define TILES 2\n#endif\nstruct AddTiling { int64_t n[TILES]; };")
    op = folder.add_op(launch={"args": '["x", "y", "z", tiling("AddTiling", n=[1, 2, 3])]', "defines": '{"TILES": 3}'})

    assert str(op.kernel.args[3].value) == 'tiling("AddTiling", n=[1, 2, 3])'


def test_a_struct_lies_at_its_own_alignment_but_at_least_at_four(folder: SpecFolder) -> None:
    write_kernel(folder, "struct Small { uint8_t n[3]; };\nstruct Large { int64_t n; };", "Small a, Small b, Large c, uint8_t d")
    signature = op_with(folder, 'tiling("Small", n=[1, 2, 3]), tiling("Small", n=[1, 2, 3]), tiling("Large", n=1), 1').kernel.signature

    placed = [(param.offset, param.bytes, param.alignment) for param in signature.params[3:]]
    assert placed == [(24, 3, 4), (28, 3, 4), (32, 8, 8), (40, 1, 4)]
    assert signature.args_bytes == 48


_CTYPES: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int8_t": ctypes.c_int8,
    "int16_t": ctypes.c_int16,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint8_t": ctypes.c_uint8,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


@given(members=st.lists(st.tuples(st.sampled_from(sorted(_CTYPES)), st.none() | st.integers(1, 5)), min_size=1, max_size=8))
def test_members_lie_where_a_c_compiler_puts_them(
    tmp_path_factory: pytest.TempPathFactory, members: Sequence[tuple[str, int | None]]
) -> None:
    declared = " ".join(f"{c_type} m{index}{'' if length is None else f'[{length}]'};" for index, (c_type, length) in enumerate(members))
    struct = read(tmp_path_factory.getbasetemp(), f"struct S {{ {declared} }};")

    fields: list[Any] = [
        (f"m{index}", _CTYPES[kind] if length is None else _CTYPES[kind] * length) for index, (kind, length) in enumerate(members)
    ]
    compiled = type("S", (ctypes.Structure,), {"_fields_": fields})
    assert [field.offset for field in struct.fields] == [getattr(compiled, name).offset for name, _ in fields]
    assert (struct.bytes, struct.alignment) == (ctypes.sizeof(compiled), ctypes.alignment(compiled))


def test_what_takes_no_place_in_a_struct_is_passed_over(tmp_path: Path) -> None:
    text = """\
constexpr uint32_t kMost = 4;
struct S {
 public:
  using Count = int;  // an alias
  static constexpr int kVersion = 2;
  static_assert(sizeof(int) == 4, "");
  std::uint32_t a = 1, b{2};
  unsigned long c[kMost];
};
"""
    assert [(field.name, field.scalar, field.length) for field in read(tmp_path, text).fields] == [
        ("a", ScalarType.U32, None),
        ("b", ScalarType.U32, None),
        ("c", ScalarType.U64, 4),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("struct S { uint8_t *p; };", "`uint8_t *p` at k.asc:1 is no scalar and no array of one"),
        ("struct S { int a : 3; };", "`int a : 3` at k.asc:1 is no scalar and no array of one"),
        ("struct S { int a[2][2]; };", "`int a[2][2]` at k.asc:1 is no scalar and no array of one"),
        ("struct S { const int a; };", "`const int a` at k.asc:1 is no scalar and no array of one"),
        ("struct S { half a; };", "`half a` at k.asc:1 is no scalar and no array of one"),
        ("struct T { int a; };\nstruct S { T t; };", "`T t` at k.asc:2 is no scalar and no array of one"),
        ("struct S { int a; int Sum() { return a; } };", "`int Sum()` at k.asc:1 is no scalar and no array of one"),
        ("struct S {\n#ifdef A\n  int a;\n#endif\n};", "`#ifdef A int a; #endif` at k.asc:2 is no scalar and no array of one"),
        ("struct S { private: int a; };", "`private` at k.asc:1 is no scalar and no array of one"),
        ("struct S : T { int a; };", "k.asc:1 has a base"),
        ("template <typename T>\nstruct S { int a; };", "k.asc:2 is a template"),
        ("union S { int a; };", "k.asc:1 is a union, and opkit passes structs"),
        ("class S { int a; };", "k.asc:1 is a class, and opkit passes structs"),
        ("struct alignas(16) S { int a; };", "k.asc:1 has alignas(16), which changes its layout"),
        ("struct __attribute__((packed)) S { int a; };", "k.asc:1 has __attribute__((packed)), which changes its layout"),
        ("#pragma pack(push, 1)\nstruct S { int a; };\n#pragma pack(pop)", "k.asc:1 packs it"),
        ("struct S { alignas(8) int a; };", "`alignas(8) int a` at k.asc:1 is no scalar and no array of one"),
        ("struct S { int a[N]; };", "opkit can't tell the length of a[N] at k.asc:1"),
        ("struct S { int a[2 * 2]; };", "opkit can't tell the length of a[2*2] at k.asc:1"),
        ("#define N 1\n#undef N\n#define N 2\nstruct S { int a[N]; };", "opkit can't tell the length of a[N] at k.asc:4"),
        ("struct S {};", "k.asc:1 has no members"),
        ("struct T { int a; };\nusing S = T;", "k.asc:2 is another name of T"),
        ("struct T { int a; };\ntypedef T S;", "k.asc:2 is another name of T"),
        ("typedef union { int a; } S;", "k.asc:1 is a union, and opkit passes structs"),
    ],
)
def test_a_struct_whose_layout_isn_t_plain_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    assert why_unfit(tmp_path, text) == reason


@pytest.mark.parametrize(
    "pragma", ["#pragma pack(push, 8)\n", "#pragma pack(1)\n#pragma pack()\n", "#pragma pack(push, 1)\n#pragma pack(pop)\n"]
)
def test_a_pragma_that_packs_nothing_is_none(tmp_path: Path, pragma: str) -> None:
    assert read(tmp_path, f"{pragma}struct S {{ int64_t a; }};").bytes == 8


def test_a_struct_that_can_t_be_passed_is_told_where_the_kernel_takes_it(folder: SpecFolder) -> None:
    write_kernel(folder, "struct AddTiling { uint8_t *p; };")
    (error,) = mistakes_with(folder, 'tiling("AddTiling", p=1)')

    assert (error.number, error.message) == ("OPK0261", "AddTiling t of 'add' can't be passed by value")
    assert error.because == "`uint8_t *p` at add.asc:1 is no scalar and no array of one; the kernel takes it at add.asc:2"


@pytest.mark.parametrize(
    ("struct", "message"),
    [
        (
            "struct AddTiling { int32_t errno, stdout, n; };",
            "members 'errno', 'stdout' of 'AddTiling' can't have that name",
        ),
        ("struct AddTiling { int32_t n; int32_t major; };", "member 'major' of 'AddTiling' can't have that name"),
    ],
)
def test_a_member_named_as_a_macro_is_refused(folder: SpecFolder, struct: str, message: str) -> None:
    write_kernel(folder, struct)
    (error,) = mistakes_with(folder, 'tiling("AddTiling", n=1)')

    assert (error.number, error.message) == ("OPK0261", message)
    assert error.because == "it is a C++ macro, and generated C++ has the name too, add.asc:1"


def test_a_struct_of_two_definitions_must_be_one(folder: SpecFolder) -> None:
    write_kernel(folder, "#ifdef A\nstruct AddTiling { int a; };\n#else\nstruct AddTiling { int b; };\n#endif")
    (error,) = mistakes_with(folder, 'tiling("AddTiling", a=1)')

    assert (error.number, error.because) == (
        "OPK0261",
        "it is defined in different ways, add.asc:2, add.asc:4; the kernel takes it at add.asc:6",
    )


@pytest.mark.parametrize(
    ("argument", "message", "because", "advice"),
    [
        ('tiling("AddTiling", total=1)', "the tiling leaves out rows, scale", "AddTiling has total, rows, scale, add.asc:1", None),
        (
            'tiling("AddTiling", total=1, row=2, scale="alpha")',
            "AddTiling has no member 'row'",
            "AddTiling has total, rows, scale, add.asc:1",
            "did you mean 'rows'?",
        ),
        (
            'tiling("AddTiling", total=1, rows=2, scale="alpha", width=3)',
            "AddTiling has no member 'width'",
            "AddTiling has total, rows, scale, add.asc:1",
            None,
        ),
        ('tiling("MulTiling", total=1)', "the kernel takes AddTiling there, not 'MulTiling'", "add.asc:1 defines it", None),
        (
            'tiling("AddTiling", total=[1], rows=2, scale="alpha")',
            "total takes one value, and a list of 1 is given",
            "it is int64_t total",
            None,
        ),
        (
            'tiling("AddTiling", total=1, rows=-1, scale="alpha")',
            "rows=-1 doesn't fit uint32_t rows",
            "uint32_t holds 0 to 4294967295",
            None,
        ),
        ('tiling("AddTiling", total=1, rows=2, scale="k")', 'scale=attr("k") doesn\'t fit float scale', "the attr is an int", None),
        ('tiling("AddTiling", total=1, rows=2, scale=3)', "scale=3 doesn't fit float scale", "a size is an integer", None),
        (
            'tiling("AddTiling", total="x", rows=2, scale="alpha")',
            'total=port("x") doesn\'t fit int64_t total',
            "a port is passed as an address",
            None,
        ),
        (
            'tiling("AddTiling", total=i32(1), rows=2, scale="alpha")',
            "total=1 doesn't fit int64_t total",
            "the spec says int32_t, and the kernel int64_t",
            None,
        ),
    ],
)
def test_a_value_that_a_struct_can_t_hold_is_refused(
    folder: SpecFolder, argument: str, message: str, because: str, advice: str | None
) -> None:
    write_kernel(folder, "struct AddTiling { int64_t total; uint32_t rows; float scale; };")
    (error,) = mistakes_with(folder, argument)

    assert (error.number, error.message, error.because, error.help) == ("OPK0261", message, because, advice)


def test_an_array_takes_as_many_values_as_it_has(folder: SpecFolder) -> None:
    write_kernel(folder, "struct AddTiling { int n[3]; };")
    (error,) = mistakes_with(folder, 'tiling("AddTiling", n=[1, 2])')

    assert (error.number, error.message, error.because) == ("OPK0261", "n takes a list of 3, and a list of 2 is given", "it is int n[3]")


def test_all_mistakes_of_a_tiling_are_told_at_once(folder: SpecFolder) -> None:
    write_kernel(folder, "struct AddTiling { int64_t a; int64_t b; };")
    found = mistakes_with(folder, 'tiling("AddTiling", a=numel("w"), b="lenght")')

    assert [(error.number, error.message) for error in found] == [
        ("OPK0255", "there is no port 'w'"),
        ("OPK0255", "there is no port or attr 'lenght'"),
    ]


@pytest.mark.parametrize("argument", ["tiling()", "tiling(1, n=2)", 'tiling("A", "B")', "tiling(numel)", 'tiling(cpp("a.h", "f"), n=1)'])
def test_tiling_takes_a_struct_or_a_function(folder: SpecFolder, argument: str) -> None:
    write_kernel(folder, "struct AddTiling { int64_t n; };")
    (error,) = mistakes_with(folder, argument)

    assert error.number in {"OPK0261", "OPK0257"}
    assert "tiling takes" in error.message


@pytest.mark.parametrize(
    ("parameter", "argument", "because"),
    [
        ("int64_t n", 'tiling("AddTiling", n=1)', "tiling fills a struct that the kernel takes by value"),
        ("GM_ADDR p", 'tiling("AddTiling", n=1)', "tiling fills a struct that the kernel takes by value"),
        ("AddTiling *p", 'tiling("AddTiling", n=1)', "tiling fills a struct that the kernel takes by value"),
        ("AddTiling t", 'numel("x")', 'a struct takes tiling("AddTiling", …)'),
        ("AddTiling t", '"x"', "a port is passed as an address"),
    ],
)
def test_a_tiling_is_for_a_struct_and_a_struct_for_a_tiling(folder: SpecFolder, parameter: str, argument: str, because: str) -> None:
    write_kernel(folder, "struct AddTiling { int64_t n; };", parameter)
    (error,) = mistakes_with(folder, argument)

    assert (error.number, error.because) == ("OPK0254", because)


def test_a_tiling_is_no_part_of_a_size(folder: SpecFolder) -> None:
    write_kernel(folder, "struct AddTiling { int64_t n; };")
    (error,) = mistakes_with(folder, 'tiling("AddTiling", n=1) + 1')

    assert (error.number, error.message) == ("OPK0257", "tiling(…) is a whole kernel argument, no part of a size")


def test_a_smaller_block_reaches_the_members(folder: SpecFolder) -> None:
    write_kernel(folder, "#ifndef BLOCK_SIZE\n#define BLOCK_SIZE 1024\n#endif\nstruct AddTiling { int64_t tiles; int64_t n[2]; };")
    kernel = op_with(folder, 'tiling("AddTiling", tiles=ceil_div(numel("x"), 1024), n=[1024, dim("x", 0)])').kernel

    small = kernel.with_define("BLOCK_SIZE", 32).args[3].value
    assert str(small) == 'tiling("AddTiling", tiles=ceil_div(numel("x"), 32), n=[32, dim("x", 0)])'


def test_a_function_of_the_user_s_fills_a_struct(folder: SpecFolder) -> None:
    write_kernel(folder, "struct AddTiling { int64_t n; };")
    header = folder.write("ge/user/tiling.h", "inline bool FillTiling(const gert::EagerOpExecutionContext &ctx, AddTiling &tiling);\n")
    value = op_with(folder, 'tiling(cpp("ge/user/tiling.h", "user::FillTiling"))').kernel.args[3].value

    assert value == UserTiling(header, "ge/user/tiling.h", "user::FillTiling")


def test_a_function_that_isn_t_there_is_told_with_its_form(folder: SpecFolder) -> None:
    write_kernel(folder, "struct AddTiling { int64_t n; };")
    (error,) = mistakes_with(folder, 'tiling(cpp("ge/user/tiling.h", "FillTiling"))')

    assert (error.number, error.message) == ("OPK0233", "'ge/user/tiling.h' can't hold what fills AddTiling")
    assert error.help == ("opkit never writes it: give it `bool FillTiling(const gert::EagerOpExecutionContext &ctx, AddTiling &tiling)`")


def test_a_benchmark_whose_shapes_a_member_can_t_hold_is_refused(folder: SpecFolder) -> None:
    write_kernel(folder, "struct AddTiling { uint16_t n; };")
    text = add_spec(launch={"args": '["x", "y", "z", tiling("AddTiling", n=numel("x"))]'})
    text = text.replace("ops=[op])", 'ops=[op], benchmark=Benchmark(op, shapes={"x": (65536,), "y": (65536,)}))')
    error = folder.mistake(text)

    assert (error.message, error.because) == ('the benchmark\'s shapes make `numel("x")` 65536', "uint16_t t.n holds 0 to 65535")


def test_the_dim_of_a_port_is_a_member(folder: SpecFolder) -> None:
    write_kernel(folder, "struct AddTiling { int16_t n; };")
    tiling = op_with(folder, 'tiling("AddTiling", n=dim("x", -1))').kernel.args[3].value

    assert isinstance(tiling, Tiling)
    assert tiling.members[0].value == Dim("x", -1)


def test_members_in_a_dict_are_told_by_keyword(folder: SpecFolder) -> None:
    write_kernel(folder, STRUCT)
    (error,) = mistakes_with(folder, 'tiling("AddTiling", {"total": numel("x"), "scale": "alpha", "keep": 1})')

    assert error.number == "OPK0261"
    assert error.help == "give the members by keyword: tiling(\"AddTiling\", total=…, scale='alpha', keep=1)"
