"""Reading the entry of a kernel out of Ascend C text, and laying its arguments out by the device ABI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.spec import KernelSignature, ScalarType
from opkit.spec.kernel_signature import UnknownParamTypeError, lay_out, read_kernel

if TYPE_CHECKING:
    from spec_support import SpecFolder


def read(tmp_path: Path, text: str | bytes) -> KernelSignature:
    path = tmp_path / "k.asc"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    (entry,) = read_kernel(path).entries
    return lay_out(entry.name, list(entry.params), file=path, line=entry.line)


def types_of(tmp_path: Path, parameters: str) -> list[str]:
    signature = read(tmp_path, f'extern "C" __global__ __aicore__ void k({parameters}) {{}}')
    return [param.scalar.value if param.scalar else "*" for param in signature.params]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("", []),
        ("void", []),
        ("GM_ADDR x", ["*"]),
        ("__gm__ uint8_t* x, __gm__ float *y, uint8_t * __restrict__ z", ["*", "*", "*"]),
        ("const __gm__ half *const x, __gm__ void* y", ["*", "*"]),
        ("uint8_t x[8]", ["*"]),
        ("int64_t a, const int64_t b, int64_t const c", ["int64_t", "int64_t", "int64_t"]),
        ("std::int32_t a, uint16_t b, int8_t c", ["int32_t", "uint16_t", "int8_t"]),
        ("unsigned int a, unsigned b, int c, short d, long e", ["uint32_t", "uint32_t", "int32_t", "int16_t", "int64_t"]),
        ("long unsigned int a, unsigned long long b, long long int c", ["uint64_t", "uint64_t", "int64_t"]),
        ("unsigned char a, signed char b, size_t c", ["uint8_t", "int8_t", "uint64_t"]),
        ("float a, double b, bool c", ["float", "double", "bool"]),
        ("float alpha = 1.0f", ["float"]),
        ("/* first */ GM_ADDR x, // second\n int64_t n", ["*", "int64_t"]),
    ],
)
def test_the_types_of_parameters(tmp_path: Path, parameters: str, expected: list[str]) -> None:
    assert types_of(tmp_path, parameters) == expected


@pytest.mark.parametrize("parameters", ["half h", "bfloat16_t b", "MyTiling t", "DTYPE_X a", "char c", "uint8_t& r", "struct T t"])
def test_a_type_of_unknown_size_is_refused(tmp_path: Path, parameters: str) -> None:
    with pytest.raises(UnknownParamTypeError):
        types_of(tmp_path, parameters)


def test_members_lie_at_their_own_alignment_but_at_least_four(tmp_path: Path) -> None:
    signature = read(tmp_path, 'extern "C" __global__ __aicore__ void k(GM_ADDR x, uint32_t a, uint32_t b, float c, int64_t d, bool e) {}')

    assert [(param.name, param.offset, param.bytes, param.alignment) for param in signature.params] == [
        ("x", 0, 8, 8),
        ("a", 8, 4, 4),
        ("b", 12, 4, 4),
        ("c", 16, 4, 4),
        ("d", 24, 8, 8),
        ("e", 32, 1, 4),
    ]
    assert signature.args_bytes == 40


def test_small_members_are_four_bytes_apart(tmp_path: Path) -> None:
    signature = read(tmp_path, 'extern "C" __global__ __aicore__ void k(bool a, int8_t b, uint16_t c, bool d) {}')

    assert [param.offset for param in signature.params] == [0, 4, 8, 12]
    assert signature.args_bytes == 16


def test_two_uint32_are_not_two_slots_of_eight(tmp_path: Path) -> None:
    assert read(tmp_path, 'extern "C" __global__ __aicore__ void k(uint32_t a, uint32_t b) {}').args_bytes == 8


@given(st.lists(st.sampled_from([*(scalar.value for scalar in ScalarType), "GM_ADDR", "float *"]), max_size=12))
def test_no_two_members_overlap_and_each_is_aligned(c_types: list[str]) -> None:
    signature = lay_out("k", [(c_type, f"p{index}", 1) for index, c_type in enumerate(c_types)], file=Path("k.asc"), line=1)

    end = 0
    for param in signature.params:
        assert param.offset % param.alignment == 0
        assert end <= param.offset < end + param.alignment
        end = param.offset + param.bytes
    assert end <= signature.args_bytes
    assert all(signature.args_bytes % param.alignment == 0 for param in signature.params)


def test_an_unnamed_parameter_gets_a_name_by_its_place(tmp_path: Path) -> None:
    signature = read(tmp_path, 'extern "C" __global__ __aicore__ void k(GM_ADDR x, int64_t, GM_ADDR) {}')

    assert [param.name for param in signature.params] == ["x", "arg1", "arg2"]


@pytest.mark.parametrize(
    "text",
    [
        'extern "C" __global__ __aicore__ void k(GM_ADDR x) {}',
        'extern "C" __global__ __vector__ __aicore__ void k(GM_ADDR x) {}',
        'extern "C" __global__ __mix__(1, 2) __aicore__ void k(GM_ADDR x) {}',
        'extern "C" __global__ [aicore] void k(GM_ADDR x) {}',
        'extern "C" {\n__global__ __aicore__ void k(GM_ADDR x)\n{\n}\n}',
        'namespace n { extern "C" __global__ __aicore__ void k(GM_ADDR x) {} }',
        'extern "C"\n__global__\n__aicore__\nvoid\nk(\nGM_ADDR x)\n{}',
        '#if defined(__DAV_C220_VEC__)\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {}\n#endif',
        '\ufeffextern "C" __global__ __aicore__ void k(GM_ADDR x) {}\r\n',
    ],
)
def test_an_entry_is_found_however_it_is_written(tmp_path: Path, text: str) -> None:
    path = tmp_path / "k.asc"
    path.write_bytes(text.encode())
    (entry,) = read_kernel(path).entries

    assert (entry.name, entry.is_extern_c, entry.template) == ("k", True, None)
    assert [name for _, name, _ in entry.params] == ["x"]


def test_a_commented_or_quoted_entry_is_none(tmp_path: Path) -> None:
    path = tmp_path / "k.asc"
    path.write_text(
        '// extern "C" __global__ __aicore__ void a() {}\n'
        '/* extern "C" __global__ __aicore__ void b() {} */\n'
        'const char *c = "__global__ __aicore__ void c() {}";\n'
        "static void helper(int n) {}\n"
        'extern "C" __global__ __aicore__ void declared(GM_ADDR x);\n'
    )

    assert read_kernel(path).entries == ()


def test_the_line_of_an_entry_is_where_its_name_stands(tmp_path: Path) -> None:
    assert read(tmp_path, '\n\nextern "C" __global__ __aicore__\nvoid k(GM_ADDR x,\n int64_t n) {}').line == 4


def test_an_entry_in_a_header_beside_the_kernel_is_found_with_the_headers_of_that_header(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "k.asc").write_text('#include "kernel_operator.h"\n#include "inc/impl.h"\n#include "inc/impl.h"\n')
    (tmp_path / "inc/impl.h").write_text('#include "tile.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x) {}\n')
    (tmp_path / "inc/tile.h").write_text('#include "impl.h"\n#ifndef TILE\n#define TILE 64u\n#endif\n')
    source = read_kernel(tmp_path / "k.asc")

    assert [file.relative_to(tmp_path).as_posix() for file in source.files] == ["k.asc", "inc/impl.h", "inc/tile.h"]
    assert [(entry.name, entry.file.name) for entry in source.entries] == [("k", "impl.h")]
    assert source.integer_defaults == {"TILE": 64}


def test_only_a_guarded_integer_is_a_default(tmp_path: Path) -> None:
    path = tmp_path / "k.asc"
    path.write_text(
        "#ifndef A\n#define A 1024 // elements\n#endif\n"
        "#ifndef B\n#define B (32)\n#endif\n"
        "#define C 5\n"
        "#ifndef D\n#define D sizeof(int)\n#endif\n"
        "#ifndef E\n#define OTHER 7\n#endif\n"
        "#ifdef F\n#define F 8\n#endif\n"
    )

    assert read_kernel(path).integer_defaults == {"A": 1024, "B": 32}


def test_a_kernel_that_takes_every_scalar_type_is_launched_with_attrs_and_sizes(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z, int32_t n, uint32_t m, int64_t k, float alpha, bool flag, uint8_t small")
    op = folder.add_op(
        attrs='[Attr("k", int), Attr("alpha", float), Attr("flag", bool)]',
        launch={"args": '["x", "y", "z", i32(numel("x")), u32(dim("x", 0)), i64("k"), f32("alpha"), "flag", attr("flag")]'},
    )

    assert [str(arg.value) for arg in op.kernel.args[3:]] == [
        'numel("x")',
        'dim("x", 0)',
        'attr("k")',
        'attr("alpha")',
        'attr("flag")',
        'attr("flag")',
    ]
