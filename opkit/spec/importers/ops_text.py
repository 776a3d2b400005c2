"""An ops.py from prototypes. What they don't say is a `...` there, under a comment that asks for it: see `opkit.spec.open_questions`."""

from __future__ import annotations

import keyword
import math
import re
import textwrap
from typing import TYPE_CHECKING

import attrs

import opkit
from opkit.spec.importers.launch import Launch, LaunchArgument, launch_of, name_of
from opkit.spec.importers.prototype import AttrClause, PortClause, PortKind, Prototype, Unknown
from opkit.spec.model import AttrType, Compile
from opkit.spec.naming import stem_of
from opkit.spec.open_questions import QUESTION
from opkit.spec.reserved import is_built_in
from opkit.spec.resolve_dtypes import MAX_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from opkit.spec.dtypes import DType
    from opkit.spec.importers.prototype import Brought, SymbolClause
    from opkit.spec.location import Location
    from opkit.spec.model import AttrDefault

__all__ = ["Question", "SpecText", "spec_text"]

_WIDTH = 118
_INDENT = " " * 4
# Dtype lists longer than this get a name of their own.
_SHORT_LIST = 4
# What ops.py imports whether or not it is used yet: the answers to the questions need them.
_ALWAYS = {"Kernel", "Op", "Package", "ceil_div", "numel"}
_PYTHON_TYPES = {AttrType.INT, AttrType.FLOAT, AttrType.BOOL, AttrType.STR, AttrType.BYTES}


@attrs.frozen
class Question:
    """The line of ops.py with the `...`, and what it asks."""

    line: int
    text: str


@attrs.frozen(kw_only=True)
class SpecText:
    """`origins` has, by line of ops.py, the names that stand there, each with its place in the imported file."""

    text: str
    questions: tuple[Question, ...]
    origins: dict[int, tuple[tuple[str, Location], ...]]

    def origin_of(self, line: int, message: str) -> Location | None:
        """Where the imported file has what a message about a line of ops.py tells: the last of the names there that it quotes."""
        named = [where for name, where in self.origins.get(line, ()) if repr(name) in message]
        return named[-1] if named else None


def spec_text(brought: Brought, package: str) -> SpecText:
    """The ops.py of a package that has these ops."""
    return _Printer(brought, package).print()


class _Printer:
    def __init__(self, brought: Brought, package: str) -> None:
        self.brought = brought
        self.package = package
        self.lines: list[str] = []
        self.questions: list[Question] = []
        self.origins: dict[int, tuple[tuple[str, Location], ...]] = {}
        self.used = set(_ALWAYS)
        self.names: set[str] = set()
        self.lists: dict[tuple[DType, ...], str] = {}

    def print(self) -> SpecText:
        ops = [(prototype, launch_of(prototype, self.brought.kernels)) for prototype in self.brought.prototypes]
        kernels: dict[Launch | str, str] = {}
        variables = []
        for prototype, launch in ops:
            variable = self._fresh(stem_of(prototype.type))
            key = launch or prototype.type
            if key not in kernels:
                kernels[key] = self._fresh("kernel" if len({each or proto.type for proto, each in ops}) == 1 else f"{variable}_kernel")
                self._kernel(kernels[key], prototype, launch)
            self._op(variable, prototype, kernels[key])
            variables.append(variable)
        self._package(variables)
        return self._finished()

    def _finished(self) -> SpecText:
        head = [
            f'"""ops.py: the operators of this package, brought along from {self.brought.named}.',
            "",
            "Each `...` is a question that the file doesn't answer; opkit check lists those that are still open.",
            '"""',
            "",
            *self._import(),
            "",
        ]
        shift = len(head)
        return SpecText(
            text="\n".join([*head, *self.lines]) + "\n",
            questions=tuple(Question(question.line + shift, question.text) for question in self.questions),
            origins={line + shift: found for line, found in self.origins.items()},
        )

    def _import(self) -> list[str]:
        names = sorted(self.used, key=lambda name: (name.lower() == name, name))
        line = f"from opkit import {', '.join(names)}"
        return [line] if len(line) <= _WIDTH else ["from opkit import (", *(f"{_INDENT}{name}," for name in names), ")"]

    def _fresh(self, wanted: str) -> str:
        """A name for a variable that hides nothing that the file or its reader needs."""
        taken = {*self.names, *opkit.__all__, "package"}
        name = f"{wanted}_op" if wanted in taken or keyword.iskeyword(wanted) or not wanted.isidentifier() else wanted
        while name in taken:
            name += "_"
        self.names.add(name)
        return name

    def _add(self, depth: int, text: str, *origins: Prototype | PortClause | AttrClause | SymbolClause) -> None:
        self.lines.append(_INDENT * depth + text if text else "")
        if origins:
            names = [origin.type if isinstance(origin, Prototype) else origin.name for origin in origins]
            self.origins[len(self.lines)] = tuple((name, origin.where) for name, origin in zip(names, origins, strict=True))

    def _note(self, depth: int, text: str) -> None:
        width = _WIDTH - len(_INDENT) * depth - len("#   ")
        for index, line in enumerate(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)):
            self._add(depth, f"# {line}" if not index else f"#   {line}")

    def _ask(self, depth: int, question: str, line: str, *origins: PortClause | AttrClause) -> None:
        # It may quote the file, and no source of Python holds a NUL.
        question = "".join(letter if letter.isprintable() else "?" for letter in question)
        self._note(depth, QUESTION.removeprefix("# ") + question)
        # So that an answer as in the example works at once.
        self.used.update(word for word in re.findall(r"\b(\w+)\(", question) if word in opkit.__all__)
        self._add(depth, line, *origins)
        self.questions.append(Question(len(self.lines), question))

    def _kernel(self, variable: str, prototype: Prototype, launch: Launch | None) -> None:
        self._add(0, f"{variable} = Kernel(")
        if launch is None:
            self._unknown_kernel(prototype)
        else:
            self._add(1, f"{_quoted(f'kernels/{launch.source}')},")
            self._entry(launch)
            self._args(launch, prototype)
        self._ask(1, f"how many blocks run, e.g. ceil_div({_size(prototype)}, 1024) if a block takes 1024 elements?", "blocks=...,")
        self._add(0, ")")
        self._add(0, "")

    def _entry(self, launch: Launch) -> None:
        if launch.template is None:
            self._add(1, f"entry={_quoted(launch.entry)},")
            return
        holders = ", ".join(f"{{{name}}}" for name in launch.template) or "{T}"
        question = f'which arguments has the template {launch.entry}? a dtype symbol or a port in braces, e.g. "{launch.entry}<{holders}>"'
        self._ask(1, question, "entry=...,")

    def _unknown_kernel(self, prototype: Prototype) -> None:
        entries = [f"{name_of(entry)} in kernels/{kernel.path}" for kernel in self.brought.kernels for entry in kernel.entries]
        known = f": {', '.join(entries)}" if entries else f', e.g. "kernels/{stem_of(prototype.type)}.asc"'
        self._ask(1, f"which file has the kernel of {prototype.type}{known}?", "...,")
        self._ask(1, "what is the name of its entry, the __global__ function?", "entry=...,")
        example = ", ".join([*dict.fromkeys(_address(port) for port in prototype.ports), _size(prototype)])
        self._ask(1, f"what does the entry get, in the order of its parameters? ports, attrs and sizes, e.g. [{example}]", "args=...,")

    def _args(self, launch: Launch, prototype: Prototype) -> None:
        values = [argument.value for argument in launch.args if argument.value is not None]
        if len(values) == len(launch.args):
            self._note(1, "by the names of the kernel's parameters")
            self._wrapped(1, "args=[", values, "],")
            return
        self._add(1, "args=[")
        for argument in launch.args:
            if argument.value is None:
                self._ask(2, f"what is `{argument}`? {_kinds_of(argument, prototype)}", "...,")
            else:
                self._add(2, f"{argument.value},")
        self._add(1, "],")

    def _op(self, variable: str, prototype: Prototype, kernel: str) -> None:
        self._name_lists(prototype)
        self._add(0, f"{variable} = Op(")
        self._add(1, f"{_quoted(prototype.type)},", prototype)
        kinds = [_side(clause) for clause in prototype.clauses]
        if kinds == sorted(kinds):
            for side, word in enumerate(("inputs", "outputs", "attrs")):
                clauses = [clause for clause in prototype.clauses if _side(clause) == side]
                if clauses or word != "attrs":
                    self._list(word, clauses, prototype)
        else:
            self._note(1, "in the order of the prototype, which mixes ports and attrs")
            self._list("signature", prototype.clauses, prototype)
        self._symbols(prototype)
        self._dtype_mode(prototype)
        self._add(1, f"kernel={kernel},")
        capabilities = self.brought.capabilities.get(prototype.type)
        if capabilities is not None:
            self._add(1, f'refresh="{capabilities.refresh.value}",  # as its class says')
            if capabilities.compile is not Compile.LOAD:
                self._add(1, f'compile="{capabilities.compile.value}",  # as its class says')
            if capabilities.is_portable:
                self._add(1, "portable=True,  # as its class says")
        if is_built_in(prototype.type):
            self._add(1, "allow_builtin=True,  # CANN has an op of this type")
        self._reference(prototype)
        self._add(0, ")")
        self._add(0, "")

    def _reference(self, prototype: Prototype) -> None:
        inputs = [port.name for port in prototype.ports if not port.kind.is_output]
        parameters = ", ".join([*inputs, *(attr.name for attr in prototype.attrs)])
        example = f"reference=lambda {parameters}: …"
        question = f"what does {prototype.type} compute, in NumPy? e.g. {example}; without it, opkit test has nothing to compare with"
        self._ask(1, question, "reference=...,")

    def _package(self, variables: Sequence[str]) -> None:
        self._add(0, "package = Package(")
        self._add(1, f"{_quoted(self.package)},")
        self._wrapped(1, "ops=[", variables, "],")
        if self.brought.header not in {None, f"{self.package}.h"}:
            self._add(1, f"header={_quoted(str(self.brought.header))},")
        self._add(0, ")")

    def _list(self, word: str, clauses: Sequence[PortClause | AttrClause], prototype: Prototype) -> None:
        entries = [self._clause(clause, prototype) for clause in clauses]
        line = f"{word}=[{', '.join(text for text, _ in entries)}],"
        if not any(question for _, question in entries) and len(line) + len(_INDENT) <= _WIDTH:
            self._add(1, line, *clauses)
            return
        self._add(1, f"{word}=[")
        for clause, (text, question) in zip(clauses, entries, strict=True):
            if question:
                self._ask(2, question, f"{text},", clause)
            else:
                self._add(2, f"{text},", clause)
        self._add(1, "],")

    def _clause(self, clause: PortClause | AttrClause, prototype: Prototype) -> tuple[str, str | None]:
        """The declaration, and what it leaves open."""
        if isinstance(clause, AttrClause):
            return self._attr(clause)
        return self._output(clause, prototype) if clause.kind.is_output else self._input(clause, prototype)

    def _input(self, port: PortClause, prototype: Prototype) -> tuple[str, None]:
        self.used.add("Input")
        is_in_place = any(other.kind is PortKind.OUTPUT and other.name == port.name for other in prototype.ports)
        words = [_quoted(port.name), self._dtype(port)]
        if is_in_place and port.kind is PortKind.INPUT:
            words.append(f'shape="*{port.name}"')
        if port.kind is PortKind.OPTIONAL_INPUT:
            words.append("optional=True")
        if port.kind is PortKind.DYNAMIC_INPUT:
            words.append("dynamic=True")
            if port.symbol is not None and prototype.symbol(port.symbol).is_list:
                words.append("same_dtype=False")
        return f"Input({', '.join([*words, *_formats(port)])})", None

    def _output(self, port: PortClause, prototype: Prototype) -> tuple[str, str | None]:
        self.used.add("Output")
        input_in_place = next((other for other in prototype.ports if not other.kind.is_output and other.name == port.name), None)
        has_shape = input_in_place is not None and input_in_place.kind is PortKind.INPUT and port.kind is PortKind.OUTPUT
        words = [_quoted(port.name), self._dtype(port)]
        if not has_shape:
            words.append("shape=...")
        if port.kind.is_dynamic:
            words.append("dynamic=True")
        text = f"Output({', '.join([*words, *_formats(port)])})"
        if has_shape:
            return text, None
        if input_in_place is not None:
            return text, f'which shape has {port.name}, the same as its input: e.g. shape="*{port.name}" on both?'
        example = next((other.name for other in prototype.ports if not other.kind.is_output), None)
        like = f'shape="..." here and on {example} if the two are alike, or ' if example else ""
        what = f"each tensor of {port.name}" if port.kind.is_dynamic else port.name
        return text, f'which shape has {what}? {like}dims that inputs name, e.g. shape="n k"'

    def _attr(self, attr: AttrClause) -> tuple[str, str | None]:
        self.used.add("Attr")
        words = [_quoted(attr.name), _attr_type(attr.type)]
        question = None
        if isinstance(attr.default, Unknown):
            words.append("default=...")
            told = f"; the file says {attr.default.text}" if attr.default.text else ""
            question = f"what is the default of {attr.name}{told}?"
        elif attr.default is not None:
            words.append(f"default={_value(attr.default)}")
        return f"Attr({', '.join(words)})", question

    def _dtype(self, port: PortClause) -> str:
        if port.symbol is not None:
            return _quoted(port.symbol)
        return self.lists.get(port.dtypes) or _dtype_list(port.dtypes, single=True)

    def _name_lists(self, prototype: Prototype) -> None:
        """Long lists of ports stand once, above the op."""
        for port in prototype.ports:
            if len(port.dtypes) > _SHORT_LIST and port.dtypes not in self.lists:
                name = self._fresh(f"{stem_of(prototype.type)}_{port.name.lower()}_dtypes")
                self.lists[port.dtypes] = name
                self._wrapped(0, f"{name} = [", [_quoted(dtype.name) for dtype in port.dtypes], "]")
                self._add(0, "")

    def _symbols(self, prototype: Prototype) -> None:
        if not prototype.symbols:
            return
        texts = [(symbol, f'"{symbol.name}": {self._symbol(symbol)}') for symbol in prototype.symbols]
        line = f"dtypes={{{', '.join(text for _, text in texts)}}},"
        if len(line) + len(_INDENT) <= _WIDTH:
            self._add(1, line, *prototype.symbols)
            return
        self._add(1, "dtypes={")
        for symbol, text in texts:
            if len(text) + 2 * len(_INDENT) < _WIDTH:
                self._add(2, f"{text},", symbol)
            else:
                self._wrapped(2, f'"{symbol.name}": [', [_quoted(dtype.name) for dtype in symbol.dtypes], "],")
        self._add(1, "},")

    def _symbol(self, symbol: SymbolClause) -> str:
        if symbol.promoted:
            self.used.add("Promote")
            return f"Promote({', '.join(map(_quoted, symbol.promoted))})"
        return _dtype_list(symbol.dtypes)

    def _dtype_mode(self, prototype: Prototype) -> None:
        """Symbols vary independently. Lists of ports may go together or not: no clause says it."""
        if prototype.has_columns:
            return
        used = {port.symbol for port in prototype.ports}
        symbols = [
            symbol for symbol in prototype.symbols if symbol.name in used or any(symbol.name in s.promoted for s in prototype.symbols)
        ]
        free = [len(symbol.dtypes) for symbol in symbols if len(symbol.dtypes) > 1]
        lists = [port.dtypes for port in prototype.ports if len(port.dtypes) > 1]
        if len(free) + len(lists) < 2:
            return
        if not lists and math.prod(free) <= MAX_ROWS:
            self._add(1, 'dtype_mode="product",')
        elif not free and len(set(lists)) == 1:
            self._note(1, "the lists pair column by column: in a launch these ports have one dtype")
        else:
            question = (
                'which dtypes go together? dtype_mode="product" allows every combination, "columns" pairs lists of one length element by '
                "element; ports that always have one dtype can share a symbol of dtypes"
            )
            self._ask(1, question, "dtype_mode=...,")

    def _wrapped(self, depth: int, opening: str, words: Sequence[str], closing: str) -> None:
        line = f"{opening}{', '.join(words)}{closing}"
        if len(line) + len(_INDENT) * depth <= _WIDTH:
            self._add(depth, line)
            return
        self._add(depth, opening)
        for part in _filled(words, _WIDTH - len(_INDENT) * (depth + 1)):
            self._add(depth + 1, part)
        self._add(depth, closing)


def _side(clause: PortClause | AttrClause) -> int:
    return 2 if isinstance(clause, AttrClause) else int(clause.kind.is_output)


def _address(port: PortClause) -> str:
    return f'address_list("{port.name}")' if port.kind.is_dynamic else f'"{port.name}"'


def _size(prototype: Prototype) -> str:
    """An example of a size of this op."""
    single = [port.name for port in prototype.ports if not port.kind.is_dynamic]
    return f'numel("{single[0]}")' if single else "cores()"


def _kinds_of(argument: LaunchArgument, prototype: Prototype) -> str:
    """What a parameter of its type can be given."""
    if argument.is_struct:
        return f'a struct by value: tiling("{argument.c_type}", …)'
    if not argument.is_pointer:
        return f"an attr or a size, e.g. {_size(prototype)}"
    lists = [f'address_list("{port.name}")' for port in prototype.ports if port.kind.is_dynamic and port.name == argument.name]
    return f"{lists[0] if lists else 'a port'}, or workspace(bytes) if it is memory of the kernel's own"


def _formats(port: PortClause) -> list[str]:
    return [f"formats=[{', '.join(map(_quoted, port.formats))}]"] if port.formats not in {(), ("ND",)} else []


def _dtype_list(dtypes: Sequence[DType], *, single: bool = False) -> str:
    words = [_quoted(dtype.name) for dtype in dtypes]
    return words[0] if single and len(words) == 1 else f"[{', '.join(words)}]"


def _filled(words: Iterable[str], width: int) -> list[str]:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) + 2 > width:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{word},"
    return lines


def _attr_type(kind: AttrType) -> str:
    """As Python's own type where it has one: `list[int]`."""
    written = kind.value if kind in _PYTHON_TYPES else f'"{kind.value}"'
    element = None if kind.element is None else _attr_type(kind.element)
    return written if element is None or element.startswith('"') else f"list[{element}]"


def _value(value: AttrDefault) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    written = repr(text)
    return f'"{written[1:-1]}"' if written[0] == "'" and '"' not in written and "\\'" not in written else written
