"""A value that a spec holds and a compiler reads back is the same value."""

from __future__ import annotations

import math
import re
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.codegen.literals import cmake_string, comment_lines, cpp_bool, cpp_float, cpp_int, cpp_string, cpp_string_lines

if TYPE_CHECKING:
    from pathlib import Path

INT64 = st.integers(min_value=-(2**63), max_value=2**63 - 1)
FLOAT32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_characters="\0", codec="utf-8"))
AWKWARD = ["", '"', "\\", "??/", "???=", "a\nb\r\t\x07", "é算子🦆", "\x80\xff", "%s", "\\n", "1" + "\x01" + "23", "*/", 'R"(x)"', "?" * 5]


def bytes_of(literal: str) -> bytes:
    """Reads a narrow string literal as a C++ compiler does: escapes by the standard's own table."""
    escapes = {"n": b"\n", "t": b"\t", "r": b"\r", "\\": b"\\", '"': b'"', "?": b"?"}
    assert literal[0] == literal[-1] == '"'
    result = b""
    for octal, escape, plain in re.findall(r'\\([0-7]{3})|\\(.)|([^\\"])', literal[1:-1]):
        result += bytes([int(octal, 8)]) if octal else escapes[escape] if escape else plain.encode()
    return result


@given(TEXT)
def test_a_string_literal_holds_the_bytes_of_its_text(text: str) -> None:
    literal = cpp_string(text)
    assert literal.isascii()
    assert literal.isprintable()
    assert "??" not in literal
    assert bytes_of(literal) == text.encode()


@given(TEXT)
def test_the_lines_of_a_text_are_joined_to_it(text: str) -> None:
    assert b"".join(map(bytes_of, cpp_string_lines(text))) == text.encode()


def test_a_long_text_is_broken_at_blanks() -> None:
    lines = cpp_string_lines(" | ".join(["float8_e4m3fn"] * 30))
    assert len(lines) == 4
    assert all(len(line) <= 130 and not line.startswith('"8') for line in lines)
    assert all(len(line) <= 130 for line in comment_lines("input  x: " + " | ".join(["float32"] * 30)))


def test_a_string_with_a_nul_is_refused() -> None:
    with pytest.raises(ValueError, match="NUL"):
        cpp_string("a\0b")


@given(INT64)
def test_an_integer_literal_is_an_expression_of_its_value(value: int) -> None:
    assert eval(cpp_int(value)) == value  # noqa: S307 - digits, minus and brackets
    # In C++ a minus isn't part of a literal, so no literal may exceed the largest int64.
    assert all(int(digits) < 2**63 for digits in re.findall(r"\d+", cpp_int(value)))


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**40])
def test_an_integer_outside_int64_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="int64"):
        cpp_int(value)


@pytest.mark.case("B3")
@given(FLOAT32)
def test_a_float_literal_reads_back_to_the_same_bits(value: float) -> None:
    literal = cpp_float(value)
    assert re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?f", literal)
    assert re.search(r"[.e]", literal)
    assert struct.pack("<f", float(literal[:-1])) == struct.pack("<f", value)


@pytest.mark.case("B3")
@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (1e-6, "1e-06f"),
        (0.1, "0.1f"),
        (3.4028235e38, "3.4028235e+38f"),
        (1e-45, "1e-45f"),
        (-0.0, "-0.0f"),
        (1, "1.0f"),
        (16777217.0, "16777216.0f"),
    ],
)
def test_a_double_becomes_the_shortest_literal_of_its_float32(value: float, literal: str) -> None:
    found = cpp_float(value)
    assert struct.pack("<f", float(found[:-1])) == struct.pack("<f", float(literal[:-1]))
    assert len(found) <= len(literal)


@pytest.mark.case("B3")
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e39, -3.5e38])
def test_a_float_that_float32_does_not_hold_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"finite|float32"):
        cpp_float(value)


@pytest.mark.case("B3")
def test_a_compiler_agrees_about_awkward_values(tmp_path: Path) -> None:
    integers = [0, -1, 2**31, -(2**31), 2**63 - 1, -(2**63)]
    floats = [0.1, -0.0, 1e-45, 3.4028235e38, 1 / 3]
    checks = [f"std::memcmp({cpp_string(text)}, {octets(text.encode())}, {len(text.encode()) + 1}) == 0" for text in AWKWARD]
    checks += [f"int64_t{{{cpp_int(value)}}} == static_cast<int64_t>({value & (2**64 - 1)}ULL)" for value in integers]
    checks += [f"bits({cpp_float(value)}) == {struct.unpack('<I', struct.pack('<f', value))[0]}U" for value in floats]
    checks += [cpp_bool(True), f"!{cpp_bool(False)}"]
    program = tmp_path / "program.cpp"
    lines = "".join(f"  if (!({check})) return {number + 1};\n" for number, check in enumerate(checks))
    program.write_text(
        "#include <cstdint>\n#include <cstring>\n"
        "static uint32_t bits(float value) { uint32_t result; std::memcpy(&result, &value, 4); return result; }\n"
        f"int main() {{\n{lines}  return 0;\n}}\n"
    )
    # Trigraphs are off in GNU modes and on in this one.
    flags = ["-std=c++14", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-trigraphs"]
    subprocess.run(["g++", *flags, program, "-o", tmp_path / "program"], check=True)
    assert subprocess.run([tmp_path / "program"], check=False).returncode == 0


def octets(content: bytes) -> str:
    return '"' + "".join(f"\\{byte:03o}" for byte in content) + '"'


@pytest.mark.parametrize("text", ["plain", 'a"b', "a\\b", "${HOME}", "$ENV{HOME}", "a b", "\\${x}"])
def test_cmake_reads_a_string_as_it_was(tmp_path: Path, text: str) -> None:
    script = tmp_path / "script.cmake"
    script.write_text(f'cmake_minimum_required(VERSION 3.20)\nfile(WRITE "{tmp_path}/found" {cmake_string(text)})\n')
    subprocess.run(["cmake", "-P", script], check=True)
    assert (tmp_path / "found").read_text() == text
