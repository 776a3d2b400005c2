"""The page docs/reference/spec.md: the prose is its template, and each table that repeats the code is read from the code.

A word that ops.py can import and that the page doesn't show is an error, and so is an argument or a member without a text.
"""

from __future__ import annotations

import ast
import enum
import inspect
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

import opkit
from opkit.spec import DTYPES, MAX_BLOCKS, AttrType, BinaryOp, Compile, DType, Naming, Refresh, declare, model, stem_of
from opkit.spec.attr_values import ATTR_WORDS, PYTHON_TYPES
from opkit.spec.dtypes import ALIASES
from opkit.spec.expressions import MAX_DEPTH
from opkit.spec.formats import FORMATS, PLAIN_FORMATS
from opkit.spec.resolve_capabilities import Capabilities, why_not
from opkit.spec.resolve_dtypes import MAX_ROWS
from opkit.spec.soc_types import KNOWN_ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from opkit.spec.declare import Declaration

TEMPLATE = Path(__file__).parent / "reference" / "spec.md.j2"
OP_TYPES = (
    "AddRefreshOp",
    "ADD",
    "RMSNorm",
    "Im2col",
    "LayerNormV3GradV2",
    "GroupedMatmulSwigluQuantWeightNZ",
    "FusedMulAddNL2loss",
    "TopKPQDistance",
    "ABCDef",
    "ABC2dEF",
    "Abc2DEf",
    "Abc2DEF",
    "Conv2D",
    "Conv2DBackpropInput",
)


class PageError(Exception):
    """Something of the code has no text, or no place on the page."""


class Page:
    """What the template calls; `shown` are the words of a spec that it has shown."""

    def __init__(self) -> None:
        self.shown: set[str] = set()

    def declaration(self, name: str) -> str:
        """A declaration: what it is, how it is written, and what each argument means."""
        kind = self._word(name)
        summary, texts = documented(kind)
        defaults = {
            parameter: value.default
            for parameter, value in inspect.signature(kind.__init__).parameters.items()
            if parameter in kind.parameters
        }
        rows = [(f"`{parameter}`", _default(kind, parameter, defaults[parameter]), texts[parameter]) for parameter in kind.parameters]
        return f"{summary}\n\n```python\n{_call_of(kind, defaults)}\n```\n\n{table(('argument', 'default', 'meaning'), rows)}"

    def words(self, *names: str, head: Sequence[str], under: str | None = None) -> str:
        """Functions with what they mean; `under` is what the texts of all of them begin with, and isn't repeated."""
        rows = []
        for name in names:
            text = self._text_of(name)
            if under is not None:
                start, _, text = text.partition(": ")
                if start != under:
                    msg = f"the text of {name} in opkit/spec/declare.py doesn't begin with {under!r}"
                    raise PageError(msg)
            rows.append((_function(name), _sentence(text)))
        return table(head, rows)

    def rules(self, *names: str, head: Sequence[str]) -> str:
        """Functions with where they stand, what their texts begin with, and what they mean."""
        rows = []
        for name in names:
            where, _, text = self._text_of(name).partition(": ")
            rows.append((_function(name), where[0].lower() + where[1:], text))
        return table(head, rows)

    def _word(self, name: str) -> type[Declaration]:
        self.shown.add(name)
        found: type[Declaration] = getattr(declare, name)
        return found

    def _text_of(self, name: str) -> str:
        text = inspect.getdoc(self._word(name))
        if not text:
            msg = f"{name} has no docstring in opkit/spec/declare.py"
            raise PageError(msg)
        return _line(text)


def spec_page(template: str | None = None) -> str:
    """The page; without a template of its own, that of docs/reference. Raises PageError."""
    page = Page()
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True, autoescape=False)  # noqa: S701 - Markdown
    text = environment.from_string(TEMPLATE.read_text("utf-8") if template is None else template).render(
        page=page,
        members=members,
        dtypes=dtypes(),
        soc_types=soc_types(),
        attr_types=attr_types(),
        formats=listed(word for word in FORMATS if word not in PLAIN_FORMATS),
        plain_formats=listed(PLAIN_FORMATS),
        namings=namings(),
        combinations=combinations(),
        operators=" ".join(op.value for op in BinaryOp if not op.value[0].isalpha()),
        max_blocks=f"{MAX_BLOCKS:,}",
        max_depth=MAX_DEPTH,
        max_combinations=f"{MAX_ROWS:,}",
        **{kind.__name__: kind for kind in vars(model).values() if isinstance(kind, type) and issubclass(kind, enum.Enum)},
    )
    missing = sorted(set(opkit.__all__) - page.shown)
    if missing:
        msg = f"docs/reference/spec.md.j2 shows these words of opkit nowhere: {', '.join(missing)}"
        raise PageError(msg)
    return text


def documented(kind: type[Declaration]) -> tuple[str, dict[str, str]]:
    """What the docstring of a declaration says of it, and of each argument."""
    summary, _, section = (inspect.getdoc(kind) or "").partition("\n\nArgs:\n")
    texts: dict[str, str] = {}
    for line in textwrap.dedent(section).splitlines():
        if line.startswith(" "):
            texts[next(reversed(texts))] += f" {line.strip()}"
        else:
            name, _, text = line.partition(": ")
            texts[name] = text
    if set(texts) != set(kind.parameters) or not all(texts.values()):
        wrong = sorted(set(texts) ^ set(kind.parameters)) or [name for name, text in texts.items() if not text]
        msg = f"the docstring of {kind.__name__} in opkit/spec/declare.py has no text, or no argument, for: {', '.join(wrong)}"
        raise PageError(msg)
    return _line(summary), texts


def members(kind: type[enum.Enum], head: Sequence[str]) -> str:
    """The words of an enum with the texts below its members."""
    return table(head, [(f'`"{member.value}"`', text) for member, text in texts_of(kind).items()])


def texts_of(kind: type[enum.Enum]) -> dict[enum.Enum, str]:
    """The text below each member of an enum, which only the source has."""
    (body,) = (node.body for node in ast.parse(textwrap.dedent(inspect.getsource(kind))).body if isinstance(node, ast.ClassDef))
    found = {}
    for node, after in zip(body, [*body[1:], None], strict=True):
        match node, after:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str(text))):
                found[kind[name]] = _line(inspect.cleandoc(text))
    missing = [member.name for member in kind if member not in found]
    if missing:
        msg = f"{kind.__module__}.{kind.__name__} has no text below: {', '.join(missing)}"
        raise PageError(msg)
    return found


def dtypes() -> str:
    rows = []
    for dtype in DTYPES.values():
        spellings = [word for word, name in ALIASES.items() if name == dtype.name]
        rows.append((f"`{dtype.name}`", listed(spellings), _code(dtype.kernel_type), _array_of(dtype)))
    return table(("dtype", "other spellings", "`DTYPE_<PORT>` in a kernel", "array"), rows)


def _array_of(dtype: DType) -> str:
    if dtype.npy is None:
        return "none"
    found = dtype.numpy()
    return f"`{found.type.__module__}.{found.name}`" if found.type.__module__ != "numpy" else "NumPy"


def soc_types() -> str:
    """The dtypes whose types the kernels of some SoCs don't have."""
    of_type = {dtype.kernel_type: f"`{dtype.name}`" for dtype in DTYPES.values()}
    rows = [
        (of_type[name], f"`{name}`", listed(family for families in where.values() for family in families))
        for name, where in KNOWN_ABSENT.items()
    ]
    return table(("dtype", "its type in a kernel", "known to be missing on"), rows)


def attr_types() -> str:
    python = {kind: plain.__name__ for plain, kind in PYTHON_TYPES.items() if isinstance(plain, type)}
    rows = []
    for kind, text in texts_of(AttrType).items():
        words = [f'"{word}"' for word, meant in ATTR_WORDS.items() if meant is kind]
        rows.append((_code(_python_type(kind, python)), listed(words), text))  # type: ignore[arg-type]
    return table(("type", "or", "a value, for a default or a benchmark"), rows)


def _python_type(kind: AttrType, python: dict[AttrType, str]) -> str | None:
    if kind.element is None:
        return python.get(kind)
    element = _python_type(kind.element, python)
    return None if element is None else f"list[{element}]"


def namings() -> str:
    head = ("op type", *(f'`"{naming.value}"`' for naming in Naming))
    return table(head, [(f"`{op_type}`", *(f"`{stem_of(op_type, naming)}`" for naming in Naming)) for op_type in OP_TYPES])


def combinations() -> str:
    """Which ways of refreshing and times of compiling go together, and whether the op may then be portable."""

    def answer(refresh: Refresh, compiled: Compile) -> str:
        refusals = [why_not(Capabilities(refresh=refresh, compile=compiled, is_portable=is_portable)) for is_portable in (False, True)]
        return {(True, True): "yes", (True, False): "not portable", (False, False): "no"}[refusals[0] is None, refusals[1] is None]

    head = ("refresh", *(f'`"{compiled.value}"`' for compiled in Compile))
    return table(head, [(f'`"{refresh.value}"`', *(answer(refresh, compiled) for compiled in Compile)) for refresh in Refresh])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def listed(words: Iterable[str]) -> str:
    return " ".join(f"`{word}`" for word in words)


def _code(word: str | None) -> str:
    return "" if word is None else f"`{word}`"


def _line(text: str) -> str:
    return " ".join(text.split())


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _function(name: str) -> str:
    parameters = inspect.signature(getattr(declare, name)).parameters.values()
    # As Python shows it, without the type and the default: `port`, `*ports`, `**members`.
    shown = (str(each.replace(annotation=each.empty, default=each.empty)) for each in parameters if each.name != "surplus")
    return f"`{name}({', '.join(shown)})`"


def _default(kind: type[Declaration], parameter: str, value: object) -> str:
    if value is declare._MISSING:  # noqa: SLF001 - whether there is a default is what the page tells
        return kind.omittable.get(parameter, "required")
    return f"`{_value(value)}`"


def _call_of(kind: type[Declaration], defaults: dict[str, object]) -> str:
    arguments = list(kind.parameters[: kind.positional])
    arguments.append("*")
    for parameter in kind.parameters[kind.positional :]:
        value = defaults[parameter]
        if value is not declare._MISSING:  # noqa: SLF001 - as above
            arguments.append(f"{parameter}={_value(value)}")
        else:
            arguments.append(parameter if kind.omittable.get(parameter, "required") == "required" else f"{parameter}=…")
    return textwrap.fill(f"{kind.__name__}({', '.join(arguments)})", 120, subsequent_indent=" " * (len(kind.__name__) + 1))


def _value(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
