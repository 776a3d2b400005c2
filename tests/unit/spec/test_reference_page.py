"""docs/reference/spec.md: every word and every argument of a spec is on it, for it is made of the code, and what has no text stops it."""

from __future__ import annotations

import enum
import importlib.util
import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import opkit
from opkit.spec import DTYPES, AttrType, declare
from opkit.spec.formats import FORMATS

if TYPE_CHECKING:
    from types import ModuleType

    from opkit.spec.declare import Declaration

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "reference" / "spec.md").read_text("utf-8")
DECLARATIONS = [word for word in opkit.__all__ if isinstance(getattr(declare, word), type)]


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script that makes the page."""
    specification = importlib.util.spec_from_file_location("spec_page", DOCS / "spec_page.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "spec_page", module)
    specification.loader.exec_module(module)
    return module


def section(title: str) -> str:
    """From a heading to the next one."""
    (found,) = re.findall(rf"^#+ {title}\n(.*?)(?=^#+ |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("word", opkit.__all__)
def test_every_word_that_a_spec_imports_is_written_as_a_call(word: str) -> None:
    assert re.search(rf"(?<!\w){word}\(", PAGE)


@pytest.mark.parametrize(
    ("declaration", "argument"), [(word, argument) for word in DECLARATIONS for argument in getattr(declare, word).parameters]
)
def test_every_argument_has_a_row_that_says_what_it_means(declaration: str, argument: str) -> None:
    (row,) = [line for line in section(declaration).splitlines() if line.startswith(f"| `{argument}` |")]
    assert len(row.split(" | ")[-1]) > len("| x.")


def rows_of(declaration: str) -> dict[str, str]:
    """The arguments of a declaration with what stands in the column of the defaults."""
    return {cells[1].strip(" `"): cells[2].strip() for line in section(declaration).splitlines() if (cells := line.split("|"))[1:]}


@pytest.mark.parametrize(
    ("declaration", "argument", "told"),
    [
        ("Op", "inputs", "required, unless `signature`"),
        ("Op", "outputs", "required, unless `signature`"),
        ("Op", "attrs", "none"),
        ("Output", "shape", "required, unless changed in place"),
        ("Benchmark", "shapes", "required"),
        ("Package", "header", "`<name>.h`"),
    ],
)
def test_an_argument_without_a_default_says_when_it_is_required(declaration: str, argument: str, told: str) -> None:
    assert rows_of(declaration)[argument] == told


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_no_argument_is_without_a_word_on_its_default(declaration: str) -> None:
    assert "" not in rows_of(declaration).values()


def test_an_argument_shows_its_default_or_that_it_is_required() -> None:
    rows = rows_of("Input")
    assert (rows["name"], rows["shape"], rows["optional"], rows["formats"]) == ("required", "`None`", "`False`", '`("ND",)`')
    assert "Kernel(source, *, entry, args, blocks, strides=False, defines=…)" in section("Kernel")


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_every_dtype_is_there_with_ge_s_name(dtype: Any) -> None:  # noqa: ANN401 - a DType
    assert re.search(rf"^\| `{dtype.name}` \|.*`{dtype.ge_enum}`", section("Dtypes"), re.MULTILINE)


@pytest.mark.parametrize("kind", AttrType)
def test_every_attr_type_is_there_with_ge_s_name(kind: AttrType) -> None:
    assert f'`"{kind.value}"` `"{kind.ge_name}"`' in section("Attrs")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_there(name: str) -> None:
    assert f"`{name}`" in section("Ports")


def test_a_word_without_a_place_stops_the_page(maker: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opkit, "__all__", [*opkit.__all__, "brand_new"])
    with pytest.raises(maker.PageError, match="shows these words of opkit nowhere: brand_new"):
        maker.spec_page()


def test_a_word_without_a_text_stops_the_page(maker: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declare.numel, "__doc__", None)
    with pytest.raises(maker.PageError, match="numel has no docstring"):
        maker.spec_page()


def test_an_argument_without_a_text_stops_the_page(maker: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declare.Kernel, "parameters", (*declare.Kernel.parameters, "brand_new"))
    with pytest.raises(maker.PageError, match=r"the docstring of Kernel .*: brand_new"):
        maker.spec_page()


def test_a_text_of_an_argument_that_is_gone_stops_the_page(maker: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declare.Kernel, "parameters", tuple(name for name in declare.Kernel.parameters if name != "defines"))
    with pytest.raises(maker.PageError, match=r"the docstring of Kernel .*: defines"):
        maker.spec_page()


def test_a_member_of_an_enum_without_a_text_stops_the_page(maker: ModuleType) -> None:
    class Way(enum.Enum):
        TOLD = "told"
        """It is."""
        UNTOLD = "untold"

    with pytest.raises(maker.PageError, match="Way has no text below: UNTOLD"):
        maker.texts_of(Way)


@pytest.mark.parametrize("kind", [getattr(declare, word) for word in DECLARATIONS], ids=lambda kind: kind.__name__)
def test_what_may_be_left_out_is_an_argument_without_a_default(kind: type[Declaration]) -> None:
    assert kind.omittable.keys() <= set(kind.parameters[1:])
    assert all(kind.omittable.values())
    defaults = inspect.signature(kind.__init__).parameters
    assert [name for name in kind.omittable if defaults[name].default is not declare._MISSING] == []
