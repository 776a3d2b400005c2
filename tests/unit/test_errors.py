"""The error tree: numbers, exits, and the text that a person reads."""

from __future__ import annotations

import pytest

from opkit import errors
from opkit.errors import OpkitError, SpecError, SpecErrors, UsageError, catalogue

_EXIT_OF_RANGE = {"OPK00": 1, "OPK01": 2, "OPK02": 2, "OPK03": 3, "OPK04": 4, "OPK05": 5, "OPK07": 75}


def test_every_class_has_a_number_of_its_own() -> None:
    numbers = [kind.number for kind in catalogue()]
    assert len(set(numbers)) == len(numbers)
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("kind", list(catalogue()), ids=lambda kind: kind.__name__)
def test_the_range_of_a_number_says_the_exit(kind: type[OpkitError]) -> None:
    assert kind.exit_code == _EXIT_OF_RANGE[kind.number[:5]]
    assert kind.__doc__


def test_every_class_of_the_tree_is_exported() -> None:
    assert {kind.__name__ for kind in catalogue()} <= set(errors.__all__)


def test_an_error_is_what_where_because_and_help() -> None:
    error = SpecError(
        "output 'z' has no shape rule",
        where='ops.py:18   outputs=[Output("z", "int32")]',
        because="GE would infer an unknown rank",
        help='give shape="..."',
        number="OPK0213",
    )
    assert error.render() == (
        "error[OPK0213]: output 'z' has no shape rule\n"
        '  --> ops.py:18   outputs=[Output("z", "int32")]\n'
        "  because: GE would infer an unknown rank\n"
        '  help: give shape="..."'
    )


def test_parts_that_are_not_known_are_left_out() -> None:
    assert UsageError("no such folder").render() == "error[OPK0100]: no such folder"


def test_further_lines_of_a_part_are_indented_below_it() -> None:
    assert UsageError("x", because="one\ntwo\n").render() == "error[OPK0100]: x\n  because: one\n    two"


def test_a_number_of_another_range_is_refused() -> None:
    with pytest.raises(ValueError, match="OPK0301 is outside the range of SpecError"):
        SpecError("x", number="OPK0301")


def test_all_mistakes_of_a_spec_are_listed_and_counted() -> None:
    many = SpecErrors([SpecError("first"), SpecError("second", number="OPK0213")])
    assert many.render() == "error[OPK0200]: first\nerror[OPK0213]: second\n2 errors"
    assert [each["message"] for each in many.to_json()["errors"]] == ["first", "second"]
    assert many.exit_code == 2


def test_one_mistake_reads_like_a_plain_error() -> None:
    assert SpecErrors([SpecError("only")]).render() == "error[OPK0200]: only"
    assert str(SpecErrors([SpecError("only")])) == "only"


def test_json_holds_every_part_and_the_exit() -> None:
    document = UsageError("x", where="here", because="that", help="this").to_json()
    expected = {"number": "OPK0100", "kind": "UsageError", "message": "x", "where": "here", "because": "that", "help": "this", "exit": 2}
    assert document == expected
