"""What `opkit bench` makes of the words of its options, before it knows the spec."""

from __future__ import annotations

import click
import pytest

from opkit.cli.bench import command


def shapes_of(*words: str) -> object:
    arguments = [argument for word in words for argument in ("--shape", word)]
    return command.make_context("bench", arguments).params["shapes"]


def test_the_shape_of_each_input_is_its_dims() -> None:
    assert shapes_of("x=4096, 4096", "y=8") == {"x": (4096, 4096), "y": (8,)}


@pytest.mark.parametrize("word", ["scale=", "scale=scalar", "scale= "])
def test_a_tensor_of_rank_0_can_be_said(word: str) -> None:
    assert shapes_of(word) == {"scale": ()}


@pytest.mark.parametrize("word", ["x", "=4", "x=4,a", "x=(4,8)", "x=4x8", "x=-1", "x=4,,8"])
def test_what_is_no_shape_is_refused_with_both_forms(word: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        shapes_of(word)
    assert caught.value.message == f"{word!r} is not like x=4096,4096, or x=scalar for a tensor of rank 0"
