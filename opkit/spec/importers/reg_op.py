"""Prototypes from a C++ header: every `REG_OP(…)` in it, clause by clause, with what is commented out left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opkit.spec.attr_values import ATTR_TYPES, attr_type_of, attr_value, why_no_attr_type
from opkit.spec.dtypes import DTYPES, DType, find_dtype
from opkit.spec.importers.cpp_values import default_of
from opkit.spec.importers.dtype_sets import GROUPS
from opkit.spec.importers.prototype import AttrClause, PortClause, PortKind, Prototype, SymbolClause, Unknown
from opkit.spec.importers.tokens import Kind, Source, Token, split_at_commas
from opkit.spec.problems import Rule, did_you_mean, one_of

if TYPE_CHECKING:
    from pathlib import Path

    from opkit.spec.model import AttrType

__all__ = ["read_header"]

_START, _END = "REG_OP", "OP_END_FACTORY_REG"
_PORTS = {kind.value: kind for kind in PortKind}
_CLAUSES = (*_PORTS, "ATTR", "REQUIRED_ATTR", "DATATYPE", "GRAPH", "DYNAMIC_GRAPH", _END)
# Other names of the same attr types.
_ASCEND_STRINGS = {"AscendString": "String", "ListAscendString": "ListString"}


def read_header(path: Path, text: str) -> tuple[Prototype, ...]:
    """The prototypes in the order of the file, none for a file without REG_OP. Raises ForeignFileError, with the line, for one that isn't
    complete, has subgraphs, or says something that a spec can't.
    """
    source = Source(path, text)
    found: list[Prototype] = []
    index = 0
    while index < len(source.tokens) - 1:
        if source.tokens[index].text == _START and source.tokens[index + 1].text == "(":
            op = _Chain(source, index)
            found.append(op.read())
            index = op.index
        else:
            index += 1
    return tuple(found)


class _Chain:
    """One `REG_OP(Type).CLAUSE(…)…`; `index` is the token that comes next."""

    def __init__(self, source: Source, start: int) -> None:
        self.source = source
        self.index = start
        self.start = source.tokens[start]
        self.clauses: list[PortClause | AttrClause] = []
        self.symbols: dict[str, SymbolClause] = {}

    def read(self) -> Prototype:
        name, arguments = self._call()
        if len(arguments) != 1 or not _is_name(arguments[0]):
            msg = "REG_OP takes the op type"
            raise self.source.error(msg, name.start)
        op_type = arguments[0][0].text
        while True:
            clause, arguments = self._next_clause(op_type)
            if clause.text == _END:
                self._check_end(clause, arguments, op_type)
                break
            self._read_clause(clause, arguments)
        self._check_symbols(op_type)
        condition = self.source.condition_between(self.start.start, self.source.tokens[self.index - 1].start)
        return Prototype(
            type=op_type,
            clauses=tuple(self.clauses),
            symbols=tuple(self.symbols.values()),
            condition=None if condition is None else self.source.where(condition),
            where=self.source.where(self.start.start),
        )

    def _next_clause(self, op_type: str) -> tuple[Token, list[Sequence[Token]]]:
        tokens = self.source.tokens
        following = tokens[self.index : self.index + 3]
        if len(following) < 3 or following[0].text != "." or following[1].kind is not Kind.NAME or following[2].text != "(":
            place = following[0].start if following else self.start.start
            msg = f"REG_OP({op_type}) isn't closed by .{_END}({op_type})"
            because = f"{self.source.where(self.start.start).place} begins it" + (
                f", and {following[0].text!r} is no clause" if following else ""
            )
            raise self.source.error(msg, place, because=because)
        self.index += 1
        clause, arguments = self._call()
        if clause.text not in _CLAUSES:
            advice = did_you_mean(clause.text, _CLAUSES) or f"the clauses are {one_of(_CLAUSES)}"
            msg = f"REG_OP has no clause {clause.text}"
            raise self.source.error(msg, clause.start, help=advice)
        return clause, arguments

    def _call(self) -> tuple[Token, list[Sequence[Token]]]:
        """`NAME(…)` at the index: the name and its arguments, of which a third one is all that `...` takes in the macro ATTR."""
        name = self.source.tokens[self.index]
        closing = self.source.closing(self.index + 1)
        arguments = split_at_commas(self.source.tokens[self.index + 2 : closing], most=3)
        self.index = closing + 1
        return name, arguments

    def _check_end(self, clause: Token, arguments: Sequence[Sequence[Token]], op_type: str) -> None:
        if self.source.written(arguments[0] if arguments else ()) != op_type:
            msg = f"REG_OP({op_type}) is closed by {_END}({', '.join(map(self.source.written, arguments))})"
            raise self.source.error(msg, clause.start)

    def _read_clause(self, clause: Token, arguments: Sequence[Sequence[Token]]) -> None:
        match clause.text:
            case "GRAPH" | "DYNAMIC_GRAPH":
                msg = f"{clause.text} gives the op a subgraph, and opkit has no such ops"
                because = "GE runs the subgraphs of an op that controls the flow; a custom op is a kernel of its own"
                raise self.source.error(msg, clause.start, because=because, number=Rule.SUBGRAPH.number)
            case "ATTR" | "REQUIRED_ATTR":
                self._attr(clause, arguments)
            case "DATATYPE":
                self._symbol(clause, arguments)
            case _:
                self._port(clause, arguments)

    def _port(self, clause: Token, arguments: Sequence[Sequence[Token]]) -> None:
        if len(arguments) != 2 or not _is_name(arguments[0]):
            msg = f"{clause.text} takes a name and the dtypes"
            raise self.source.error(msg, clause.start, because=self._shown(clause, arguments))
        name, rule = arguments[0][0], arguments[1]
        symbol = rule[0].text[1:-1] if len(rule) == 1 and rule[0].kind is Kind.STRING else None
        self.clauses.append(
            PortClause(
                kind=_PORTS[clause.text],
                name=name.text,
                symbol=symbol,
                dtypes=() if symbol is not None else self._dtypes(rule, clause),
                where=self.source.where(name.start),
            )
        )

    def _attr(self, clause: Token, arguments: Sequence[Sequence[Token]]) -> None:
        is_required = clause.text == "REQUIRED_ATTR"
        if len(arguments) != (2 if is_required else 3) or not _is_name(arguments[0]):
            wanted = "a name and a type" if is_required else "a name, a type and a default"
            msg = f"{clause.text} takes {wanted}"
            raise self.source.error(msg, clause.start, because=self._shown(clause, arguments))
        name = arguments[0][0]
        kind = self._attr_type(arguments[1], name)
        default = None
        if not is_required:
            default = default_of(arguments[2], kind, self.source)
            if not isinstance(default, Unknown):
                known, because = attr_value(kind, default)
                if known is None:
                    msg = f"the default of attr {name.text!r} is {self.source.written(arguments[2])}, and its type is {kind.ge_name}"
                    raise self.source.error(msg, name.start, because=because)
                default = known
        self.clauses.append(AttrClause(name=name.text, type=kind, default=default, where=self.source.where(name.start)))

    def _attr_type(self, tokens: Sequence[Token], name: Token) -> AttrType:
        written = self.source.written(tokens)
        word = written.rpartition("::")[2].strip()
        kind = attr_type_of(_ASCEND_STRINGS.get(word, word)) if word[:1].isupper() else None
        if kind is None:
            because, _ = why_no_attr_type(word)
            known = [each.ge_name for each in map(attr_type_of, ATTR_TYPES) if each is not None]
            advice = None if because else did_you_mean(word, known) or f"the types are {one_of(known)}"
            msg = f"attr {name.text!r} has the type {written}, which opkit doesn't know"
            raise self.source.error(msg, name.start, because=because, help=advice, number=Rule.ATTR_TYPE.number if because else None)
        return kind

    def _symbol(self, clause: Token, arguments: Sequence[Sequence[Token]]) -> None:
        if len(arguments) != 2 or not _is_name(arguments[0]) or not arguments[1]:
            msg = "DATATYPE takes a symbol and its dtypes"
            raise self.source.error(msg, clause.start, because=self._shown(clause, arguments))
        name = arguments[0][0]
        rule = _unqualified(arguments[1])
        where = self.source.where(name.start)
        if name.text in self.symbols:
            msg = f"two DATATYPE clauses name {name.text}"
            raise self.source.error(msg, name.start)
        if rule[0].text == "Promote":
            inside = _inside(_inside(rule[1:]))
            promoted = tuple(part[0].text[1:-1] for part in split_at_commas(inside) if len(part) == 1 and part[0].kind is Kind.STRING)
            if not promoted:
                msg = f"the Promote of {name.text} names no symbols"
                raise self.source.error(msg, name.start)
            self.symbols[name.text] = SymbolClause(name=name.text, promoted=promoted, where=where)
            return
        is_list = rule[0].text == "ListTensorType"
        dtypes = self._dtypes(_inside(rule[1:]) if is_list else rule, clause)
        self.symbols[name.text] = SymbolClause(name=name.text, dtypes=dtypes, is_list=is_list, where=where)

    def _dtypes(self, rule: Sequence[Token], clause: Token) -> tuple[DType, ...]:
        dtypes = tuple(dict.fromkeys(self._members(rule, clause)))
        if not dtypes:
            msg = f"this {clause.text} has no dtypes"
            raise self.source.error(msg, clause.start)
        return dtypes

    def _members(self, rule: Sequence[Token], clause: Token) -> list[DType]:
        """The dtypes of `TensorType({DT_FLOAT, BasicType()})`, of `TensorType::ALL()`, of `DT_FLOAT`."""
        rule = _unqualified(rule)
        if rule and rule[0].text == "TensorType" and len(rule) > 2 and rule[1].text == "::":
            rule = rule[2:]
        if len(rule) == 1 and rule[0].text in GROUPS:
            # Not C++, but such headers exist: the genuine macros drop their second argument unread.
            return list(GROUPS[rule[0].text])
        if len(rule) == 1 and rule[0].kind is Kind.NAME:
            return [self._dtype(rule[0])]
        if len(rule) == 3 and rule[1].text == "(" and rule[2].text == ")" and rule[0].text != "TensorType":
            return list(self._group(rule[0]))
        members = rule[1:] if rule and rule[0].text == "TensorType" else rule
        if members and members[0].text in {"(", "{"}:
            return [dtype for part in split_at_commas(_inside(members)) if part for dtype in self._members(part, clause)]
        msg = f"{self.source.written(rule) or 'nothing'} isn't a set of dtypes"
        place = rule[0] if rule else clause
        raise self.source.error(
            msg, place.start, help='for instance TensorType({DT_FLOAT, DT_FLOAT16}), TensorType::ALL() or a symbol, "T"'
        )

    def _dtype(self, token: Token) -> DType:
        dtype = find_dtype(token.text) if token.text.startswith("DT_") else None
        if dtype is None:
            meant = find_dtype(token.text.removeprefix("DT_").lower())
            known = [each.ge_enum for each in DTYPES.values()]
            advice = did_you_mean(token.text, known) if meant is None else f"did you mean {meant.ge_enum!r}?"
            msg = f"GE has no dtype {token.text}"
            raise self.source.error(msg, token.start, help=advice)
        return dtype

    def _group(self, token: Token) -> tuple[DType, ...]:
        if token.text not in GROUPS:
            msg = f"TensorType has no set {token.text}()"
            raise self.source.error(msg, token.start, help=did_you_mean(token.text, GROUPS) or f"it has {one_of(GROUPS)}")
        return GROUPS[token.text]

    def _check_symbols(self, op_type: str) -> None:
        known = self.symbols.keys()
        for clause in self.clauses:
            if isinstance(clause, PortClause) and clause.symbol is not None and clause.symbol not in known:
                because = f"it has {one_of(sorted(known))}" if known else "it has no DATATYPE clause"
                self._undefined(clause.symbol, op_type, str(clause.where), because)
        for symbol in self.symbols.values():
            for name in symbol.promoted:
                if name not in known:
                    self._undefined(name, op_type, str(symbol.where), f"it has {one_of(sorted(known))}")

    def _undefined(self, symbol: str, op_type: str, where: str, because: str) -> None:
        from opkit.errors import ForeignFileError

        msg = f"REG_OP({op_type}) has no DATATYPE({symbol}, …)"
        raise ForeignFileError(msg, where=where, because=because)

    def _shown(self, clause: Token, arguments: Sequence[Sequence[Token]]) -> str:
        return f"it is {clause.text}({', '.join(map(self.source.written, arguments))})"


def _is_name(tokens: Sequence[Token]) -> bool:
    return len(tokens) == 1 and tokens[0].kind is Kind.NAME


def _unqualified(tokens: Sequence[Token]) -> Sequence[Token]:
    return tokens[2:] if len(tokens) > 2 and tokens[0].text == "ge" and tokens[1].text == "::" else tokens


def _inside(tokens: Sequence[Token]) -> Sequence[Token]:
    """Without the bracket around all of it, if there is one."""
    return tokens[1:-1] if len(tokens) > 1 and tokens[0].text in {"(", "{"} else tokens
