"""`vendors/config.ini` as GE reads it: the first line, one `=`, names without the space around them. F5 is what goes wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opkit.lookup import read_vendors, vendors_meant

_TEXTS = st.text(st.sampled_from(list("ab_ =,#\r\n\t\N{ZERO WIDTH NO-BREAK SPACE}")), max_size=30)


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("load_priority=customize", ("customize",)),
        ("load_priority=customize\n", ("customize",)),
        ("load_priority=b,a\n", ("b", "a")),
        ("load_priority = b , a \r\n", ("b", "a")),
        ("load_priority=a,,b,\n", ("a", "b")),
        ("load_priority==a\n", ("a",)),
        ("load_priority=a", ("a",)),
    ],
)
def test_names_are_read_in_their_order_without_the_space_around_them(content: str, names: tuple[str, ...]) -> None:
    read = read_vendors(content.encode())
    assert (read.names, read.faults) == (names, ())


@pytest.mark.case("F5")
@pytest.mark.parametrize(
    ("content", "names", "fault"),
    [
        (b"# my vendors\nload_priority=a\n", None, "has no '='"),
        (b"\nload_priority=a\n", None, "the first line is empty"),
        (b"", None, "the first line is empty"),
        (b"load_priority=a=b\n", None, "has more than one '='"),
        (b"load_priority=\n", None, "has no name after its '='"),
        (b"load_priority=,\n", None, "has no name after its '='"),
        (b"\xef\xbb\xbfload_priority=a\n", ("a",), "a byte order mark"),
        (b"# load_priority=a\nload_priority=b\n", ("a",), "'# load_priority' stands where load_priority belongs"),
        (b"priority=a\n", ("a",), "'priority' stands where"),
        (b"load_priority=a\nload_priority=b\n", ("a",), "only the first line is read"),
        (b"load_priority=a,b,a\n", ("a", "b", "a"), "a is named twice"),
        (b"load_priority=a, ,b\n", ("a", "", "b"), "a name is blank"),
        (b"load_priority=\r\n", ("",), "a name is blank"),
        (b"load_priority=../x\n", ("../x",), "is a path, not a name"),
        (b"\xff\xfel\0o\0a\0d\0", None, "has no '='"),
    ],
)
def test_what_was_meant_otherwise_is_told_with_what_ge_reads_instead(content: bytes, names: tuple[str, ...] | None, fault: str) -> None:
    read = read_vendors(content)
    assert read.names == names
    assert any(fault in each for each in read.faults), read.faults


@given(_TEXTS)
@example("load_priority=a\n\n  \n")
def test_any_text_is_read_as_its_first_line_alone(text: str) -> None:
    content = text.encode()
    read = read_vendors(content)
    assert read.names == read_vendors(content.split(b"\n")[0]).names
    if read.names is None:
        assert read.faults
    else:
        line = text.partition("\n")[0]
        assert line.strip("=").count("=") >= 1
        assert read.names
        for name in read.names:
            assert name in line
            assert name == name.strip(" \t\r")
            assert "," not in name


@given(st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True), min_size=1, max_size=6, unique=True))
def test_a_list_of_names_comes_back_as_it_was_written(names: list[str]) -> None:
    read = read_vendors(f"load_priority={','.join(names)}\n".encode())
    assert (read.names, read.faults) == (tuple(names), ())


@given(st.binary(max_size=60))
def test_no_bytes_are_too_strange(content: bytes) -> None:
    read = read_vendors(content)
    assert read.names is not None or read.faults


_NAMES = st.lists(st.text("abcxyz_0", min_size=1, max_size=4), min_size=1, max_size=5)


@given(_NAMES, st.sampled_from(["", "\n", "# my = comment\n", "[vendors]\n", "\ufeff"]), st.sampled_from(["", "\n", "\nother=x\n"]))
def test_what_was_meant_is_behind_the_key_whatever_stands_around_it(names: list[str], before: str, after: str) -> None:
    content = f"{before}load_priority = {' , '.join(names)}{after}".encode()
    assert vendors_meant(content) == [*dict.fromkeys(names)]


def test_without_the_key_what_ge_reads_was_meant() -> None:
    assert vendors_meant(b"priority=b,a,b\n") == ["b", "a"]
    assert vendors_meant(b"# nothing\n") == []


@given(st.binary(max_size=40))
def test_no_content_is_too_strange_to_be_asked_what_it_meant(content: bytes) -> None:
    meant = vendors_meant(content)
    assert len(meant) == len({*meant})
