"""The files of `opkit new`: what an author's name becomes in them."""

from __future__ import annotations

import pytest

from opkit.codegen import NewProject, render_project


@pytest.mark.parametrize(("author", "line"), [("Ada L.", "By Ada L."), ("Ada Lovelace", "By Ada Lovelace.")])
def test_the_sentence_about_the_author_ends_in_one_period(author: str, line: str) -> None:
    readme = render_project(NewProject(name="demo", op_type="DemoAdd", author=author))["README.md"].text
    assert line in readme.splitlines()


def test_without_an_author_there_is_no_sentence_about_one() -> None:
    assert "\nBy " not in render_project(NewProject(name="demo", op_type="DemoAdd"))["README.md"].text
