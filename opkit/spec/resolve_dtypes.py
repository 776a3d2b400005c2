"""The dtypes of an op: its symbols, the dtypes of each port, and the combinations that they make."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from opkit.spec import declare
from opkit.spec.dtypes import DTYPES, DType, find_dtype, likely_dtype
from opkit.spec.fields import shown
from opkit.spec.location import Spot
from opkit.spec.model import Attr, AttrType, Input, Op, Output
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.promote import promote_all
from opkit.spec.resolve_names import PORT_NAME
from opkit.spec.socs import DEFAULT_SOC, entry_of_soc, is_soc, likely_soc

if TYPE_CHECKING:
    from opkit.spec.location import Location

__all__ = ["MAX_ROWS", "Columns", "Symbol", "decided_outputs", "distinct_combos", "symbols_of"]

# Every combination is a row of a table in the generated code, and in the message about one that isn't there.
MAX_ROWS = 1024
_SOC = re.compile(r"[A-Za-z0-9_-]+")
_MODES = ("columns", "product")
_EXAMPLES = {
    "Promote": 'dtypes={"T3": Promote("T1", "T2")}',
    "from_attr": 'from_attr("dst_type", ["float32", "float16"])',
    "per_soc": 'dtypes={"T": per_soc({"Ascend310P": ["float16"], "default": ["float16", "bfloat16"]})}',
}


@attrs.frozen(kw_only=True)
class Symbol:
    """What a symbol of `dtypes` stands for: a list, one that an attr chooses from, one that differs by SoC, or a promotion of others."""

    dtypes: tuple[DType, ...] = ()
    attr: str | None = None
    socs: Mapping[str, tuple[DType, ...]] = attrs.field(factory=dict)
    promotes: tuple[str, ...] = ()


def symbols_of(op: declare.Op, problems: Problems) -> dict[str, Symbol | None] | None:
    """Each symbol; None for one that is wrong and reported, and for all of them if none can be told."""
    if "dtypes" not in op.given:
        return None if op.strays else {}
    given = op.given["dtypes"]
    where = op.where_of("dtypes")
    if not isinstance(given, Mapping):
        problems.add(Rule.WRONG_KIND, f"dtypes is {shown(given)}, not a dict", where, advice='write dtypes={"T": ["float32", "float16"]}')
        return None
    symbols: dict[str, Symbol | None] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not PORT_NAME.fullmatch(name) or find_dtype(name):
            because = "it is the name of a dtype" if isinstance(name, str) and find_dtype(name) else "it must be a name, such as T"
            problems.add(Rule.DTYPE, f"{shown(name)} can't be a dtype symbol", where, because=because)
            continue
        symbols[name] = _symbol(name, value, op, problems)
    for name, symbol in symbols.items():
        _check_promotion(name, symbol, symbols, given[name], problems)
    return symbols


def _symbol(name: str, value: object, op: declare.Op, problems: Problems) -> Symbol | None:
    where = op.where_of("dtypes")
    if isinstance(value, declare.Phrase):
        if value.word in _SYMBOL_RULES:
            return _SYMBOL_RULES[value.word](value, problems)
        message = f"{value.word}(…) gives no dtypes"
        problems.add(Rule.DTYPE_RULE, message, Spot(call=value.call), advice=f"write {_EXAMPLES['per_soc']}")
        return None
    dtypes = _dtypes(value, where, problems)
    if dtypes == ():
        problems.add(Rule.DTYPE, f"the symbol {name!r} has no dtypes", where)
    return Symbol(dtypes=dtypes) if dtypes else None


def _dtypes(value: object, where: Location | Spot, problems: Problems) -> tuple[DType, ...] | None:
    """The dtypes of a name or a list of names; None after reporting one that is none."""
    dtypes = [_dtype(word, (), where, "no dtype", problems) for word in _words(value)]
    known = tuple(dtype for dtype in dtypes if dtype is not None)
    return known if len(known) == len(dtypes) else None


def _words(given: object) -> list[object]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _dtype(word: object, symbols: Sequence[str], where: Location | Spot, what: str, problems: Problems) -> DType | None:
    dtype = find_dtype(word) if isinstance(word, str) else None
    if dtype is None:
        likely = likely_dtype(word)
        near = None
        if isinstance(word, str):
            near = did_you_mean(word, (*DTYPES, *symbols)) if likely is None else f"did you mean {likely.name!r}?"
        elif likely is not None:
            near = f'write "{likely}"'
        problems.add(Rule.DTYPE, f"{shown(word)} is {what}", where, advice=near or f"opkit knows {one_of((*DTYPES, *symbols))}")
    return dtype


def _promotion(phrase: declare.Phrase, problems: Problems) -> Symbol | None:
    names = [operand for operand in phrase.operands if isinstance(operand, str)]
    if len(names) < max(2, len(phrase.operands)):
        problems.add(Rule.DTYPE_RULE, "Promote takes two symbols or more", Spot(call=phrase.call), advice=f"write {_EXAMPLES['Promote']}")
        return None
    return Symbol(promotes=tuple(names))


def _check_promotion(name: str, symbol: Symbol | None, symbols: Mapping[str, Symbol | None], value: object, problems: Problems) -> None:
    for other in symbol.promotes if symbol is not None else ():
        found = symbols.get(other)
        because = None
        if other not in symbols:
            because = f"dtypes has {one_of(each for each in symbols if each != name)}"
        elif found is not None and found.promotes:
            because = "that is a promotion itself; name what it promotes"
        elif found is not None and found.attr is not None:
            because = "an attr decides that one, and a promotion follows from inputs"
        if because and isinstance(value, declare.Phrase):
            advice = did_you_mean(other, symbols) if other not in symbols else None
            message = f"{name!r} can't promote {other!r}"
            problems.add(Rule.DTYPE_RULE, message, Spot(call=value.call), because=because, advice=advice)


def _from_attr(phrase: declare.Phrase, problems: Problems) -> Symbol | None:
    where = Spot(call=phrase.call)
    if len(phrase.operands) != 2 or not isinstance(phrase.operands[0], str):
        because = "REG_OP names the dtypes that an output can have" if len(phrase.operands) == 1 else None
        message = "from_attr takes the name of an attr and the dtypes that it can name"
        problems.add(Rule.DTYPE_RULE, message, where, because=because, advice=f"write {_EXAMPLES['from_attr']}")
        return None
    name, given = phrase.operands
    dtypes = _dtypes(given, where, problems)
    if dtypes == ():
        problems.add(Rule.DTYPE_RULE, f"from_attr({shown(name)}, …) has no dtypes", where)
    return Symbol(dtypes=dtypes, attr=str(name)) if dtypes and _are_distinct(dtypes, "from_attr", where, problems) else None


def _per_soc(phrase: declare.Phrase, problems: Problems) -> Symbol | None:
    where = Spot(call=phrase.call)
    given = phrase.operands[0] if len(phrase.operands) == 1 else None
    if not isinstance(given, Mapping) or not given:
        problems.add(Rule.DTYPE_RULE, "per_soc takes a dict of dtypes by SoC", where, advice=f"write {_EXAMPLES['per_soc']}")
        return None
    socs: dict[str, tuple[DType, ...]] = {}
    for soc, value in given.items():
        if not isinstance(soc, str) or not _SOC.fullmatch(soc):
            because = 'a SoC is what its name begins with, such as "Ascend910B", or "default"'
            problems.add(Rule.DTYPE_RULE, f"{shown(soc)} is no SoC", where, because=because)
            continue
        if not is_soc(soc):
            likely = likely_soc(soc)
            because = "a SoC takes the dtypes of the longest name that its own begins with, and case counts"
            advice = None if likely is None else f"did you mean {likely!r}?"
            problems.warn(Rule.SOC, f"no SoC that opkit knows has a name that begins with {soc!r}", where, because=because, advice=advice)
        dtypes = _dtypes(value, where, problems)
        if dtypes == ():
            problems.add(Rule.DTYPE_RULE, f"the SoC {soc!r} has no dtypes", where, advice="leave out a SoC that the op doesn't run on")
        socs[soc] = dtypes or ()
    return Symbol(dtypes=tuple(dict.fromkeys(itertools.chain(*socs.values()))), socs=socs) if all(socs.values()) and socs else None


_SYMBOL_RULES: dict[str, Callable[[declare.Phrase, Problems], Symbol | None]] = {
    "Promote": _promotion,
    "from_attr": _from_attr,
    "per_soc": _per_soc,
}


def _are_distinct(dtypes: Sequence[DType], what: str, where: Location | Spot, problems: Problems) -> bool:
    twice = next((dtype for dtype in dtypes if dtypes.count(dtype) > 1), None)
    if twice is not None:
        problems.add(Rule.DTYPE_COLUMNS, f"{what} has {twice} twice", where)
    return twice is None


@attrs.frozen(kw_only=True)
class Rows:
    """The allowed combinations: what each list has in each of them, by the words for the list that a message has too."""

    by_list: Mapping[str, tuple[DType, ...]]
    soc_rows: Mapping[str, tuple[bool, ...]]

    def of_symbol(self, name: str) -> tuple[DType, ...]:
        return self.by_list[_symbol_list(name)]

    def of(self, port: Input | Output) -> tuple[DType, ...]:
        if port.symbol:
            return self.of_symbol(port.symbol)
        own = _port_list(type(port).__name__, port.name)
        return self.by_list[own if own in self.by_list else _port_list("input", port.name)]


def _symbol_list(name: str) -> str:
    return f"symbol {name!r}"


def _port_list(kind: str, name: object) -> str:
    return f"{kind.lower()} {shown(name)}"


class Columns:
    """The dtype lists of one op. They pair column by column, where a list of one stands for all columns, or are crossed.

    Where `symbols` is None, a name that is no dtype may be one.
    """

    def __init__(self, op: declare.Op, symbols: Mapping[str, Symbol | None] | None, problems: Problems) -> None:
        self._op = op
        self._has_symbols = symbols is not None
        self._symbols = symbols = symbols or {}
        self._problems = problems
        self._used: set[str] = set()
        self._is_product = self._mode() == "product"
        self._lists: dict[str, tuple[DType, ...]] = {
            _symbol_list(name): symbol.dtypes for name, symbol in symbols.items() if symbol is not None and not symbol.promotes
        }
        self._attrs: dict[str, tuple[str, Spot]] = {
            _symbol_list(name): (symbol.attr, op.where_of("dtypes"))
            for name, symbol in symbols.items()
            if symbol is not None and symbol.attr is not None
        }

    def _mode(self) -> str:
        mode = self._op.given.get("dtype_mode", _MODES[0])
        if not isinstance(mode, str) or mode not in _MODES:
            advice = (did_you_mean(mode, _MODES) if isinstance(mode, str) else None) or f"dtype_mode is {' or '.join(map(repr, _MODES))}"
            self._problems.add(Rule.DTYPE_RULE, f"{shown(mode)} is no dtype_mode", self._op.where_of("dtype_mode"), advice=advice)
            return _MODES[0]
        return mode

    def of(self, port: declare.Input | declare.Output) -> tuple[str | None, tuple[DType, ...]]:
        """Symbol and dtypes of a port; no dtypes for a symbol that others promote to, or after reporting what is wrong with them."""
        word = port.given.get("dtype", ())
        if isinstance(word, declare.Phrase):
            return None, self._of_rule(port, word)
        if isinstance(word, str) and word in self._symbols:
            self._used.add(word)
            symbol = self._symbols[word]
            if symbol is not None and symbol.attr is not None:
                self._only_outputs(port)
            return word, () if symbol is None else symbol.dtypes
        if isinstance(word, str) and not self._has_symbols and find_dtype(word) is None:
            return None, ()
        what = "neither a dtype nor a symbol of this op"
        dtypes = [_dtype(each, tuple(self._symbols), port.where_of("dtype"), what, self._problems) for each in _words(word)]
        if not dtypes and "dtype" in port.given:
            self._problems.add(Rule.DTYPE, f"the {port.kind.lower()} {shown(port.given.get('name'))} has no dtypes", port.where_of("dtype"))
        known = tuple(dtype for dtype in dtypes if dtype is not None)
        # An output that is an input changed in place has the dtype of that one.
        if known and len(known) == len(dtypes) and _port_list("input", port.given.get("name")) not in self._lists:
            self._lists[_port_list(port.kind, port.given.get("name"))] = known
        return None, known

    def _of_rule(self, port: declare.Input | declare.Output, phrase: declare.Phrase) -> tuple[DType, ...]:
        if phrase.word != "from_attr":
            because = f"{phrase.word} is the rule of a symbol" if phrase.word in _SYMBOL_RULES else None
            advice = f"write {_EXAMPLES.get(phrase.word, _EXAMPLES['from_attr'])}"
            self._problems.add(
                Rule.DTYPE_RULE, f"{phrase.word}(…) can't be the dtype of a port", port.where_of("dtype"), because=because, advice=advice
            )
            return ()
        symbol = _from_attr(phrase, self._problems)
        if symbol is None or symbol.attr is None:
            return ()
        self._only_outputs(port)
        key = _port_list(port.kind, port.given.get("name"))
        self._lists[key] = symbol.dtypes
        self._attrs[key] = (symbol.attr, Spot(call=phrase.call))
        return symbol.dtypes

    def _only_outputs(self, port: declare.Input | declare.Output) -> None:
        if isinstance(port, declare.Input):
            message = f"the dtype of input {shown(port.given.get('name'))} can't follow an attr"
            because = "an input has the dtype of what is connected to it"
            self._problems.add(Rule.DTYPE_RULE, message, port.where_of("dtype"), because=because)

    @property
    def is_crossed(self) -> bool:
        return bool(self._axes()[1])

    def attr_of(self, port: Output) -> str | None:
        """The attr that decides the dtype of an output."""
        found = self._attrs.get(_symbol_list(port.symbol) if port.symbol else _port_list("output", port.name))
        return None if found is None else found[0]

    def check(self, *, has_all_ports: bool) -> None:
        if "dtype_mode" in self._op.open:
            return  # What goes with what isn't said yet.
        where = self._op.where_of("dtypes")
        paired, crossed = self._axes()
        lengths = {what: len(dtypes) for what, dtypes in paired.items() if len(dtypes) > 1}
        if len(set(lengths.values())) > 1:
            because = ", ".join(f"{what} has {length}" for what, length in lengths.items())
            advice = 'dtype_mode="product" crosses lists instead of pairing them'
            self._problems.add(Rule.DTYPE_COLUMNS, "the dtype lists have different lengths", where, because=because, advice=advice)
        for what, dtypes in crossed.items():
            _are_distinct(dtypes, what, where, self._problems)
        count = max([1, *lengths.values()]) * math.prod(len(dtypes) for dtypes in crossed.values())
        if count > MAX_ROWS:
            sizes = " x ".join(f"{len(dtypes)} ({what})" for what, dtypes in crossed.items())
            self._problems.add(
                Rule.DTYPE_RULE,
                f"the dtypes make {count:,} combinations, and an op has at most {MAX_ROWS:,}",
                where,
                because=sizes,
                advice="give two ports that have the same dtype one symbol, or pair lists in columns",
            )
        for symbol in self._symbols if has_all_ports else ():
            if symbol not in self._used:
                self._problems.add(Rule.UNUSED_SYMBOL, f"no port uses the dtype symbol {symbol!r}", where)

    def check_attrs(self, resolved: Iterable[Attr | None], *, is_complete: bool) -> None:
        """Holds the attrs that decide a dtype to that: an int or a dtype, whose default is among the dtypes."""
        known = {attr.name: attr for attr in resolved if attr is not None}
        for what, (name, where) in self._attrs.items():
            attr = known.get(name)
            message = because = advice = None
            if attr is None and is_complete:
                message = f"the dtype of {what} is from an attr {name!r}, which the op doesn't have"
                advice = did_you_mean(name, known) or 'give it attrs=[Attr("dst_type", "int")]'
            elif attr is not None and attr.type.value not in _DTYPE_ATTRS:
                message = f"the dtype of {what} can't be from the attr {name!r}"
                because = f"it is a {attr.type.value}, and a dtype is a Type or, as GE's number, an int"
            elif attr is not None and attr.default is not None and attr.default not in map(attr.naming, self._lists[what]):
                message = f"the default of {name!r} is none of the dtypes of {what}"
                because = f"it is {attr.default!r}, and they are {one_of(_numbered(attr, dtype) for dtype in self._lists[what])}"
            if message:
                self._problems.add(Rule.DTYPE_RULE, message, where, because=because, advice=advice)

    def rows(self) -> Rows | None:
        """The combinations; None after reporting a promotion that isn't one. Only for lists that `check` found no fault in."""
        paired, crossed = self._axes()
        length = max([1, *map(len, paired.values())])
        columns = [{what: dtypes[column % len(dtypes)] for what, dtypes in paired.items()} for column in range(length)]
        chosen = [dict(zip(crossed, dtypes, strict=True)) for dtypes in itertools.product(*crossed.values())]
        rows = [{**column, **choice} for column in columns for choice in chosen]
        kept = [row for row in rows if self._promoted(row)]
        if not kept:
            self._problems.add(Rule.DTYPE_RULE, "no combination of the dtypes promotes", self._op.where_of("dtypes"))
            return None
        by_list = {what: tuple(row[what] for row in kept) for what in kept[0]}
        return Rows(by_list=by_list, soc_rows=self._soc_rows(kept))

    def _axes(self) -> tuple[dict[str, tuple[DType, ...]], dict[str, tuple[DType, ...]]]:
        """The lists that pair, and those that are crossed with them and with each other."""
        crossed = {what: dtypes for what, dtypes in self._lists.items() if self._is_product or what in self._attrs}
        return {what: dtypes for what, dtypes in self._lists.items() if what not in crossed}, crossed

    def _promoted(self, row: dict[str, DType]) -> bool:
        """Adds the symbols that others promote to. A crossed row without a promotion is left out, a column without one is a mistake."""
        for name, symbol in self._symbols.items():
            if symbol is None or not symbol.promotes:
                continue
            dtypes = [row[_symbol_list(other)] for other in symbol.promotes]
            promoted = promote_all(dtypes)
            if promoted is None:
                if not self._is_product:
                    because = f"a column has {one_of(f'{other} {dtype}' for other, dtype in zip(symbol.promotes, dtypes, strict=True))}"
                    message = f"the symbol {name!r} has no dtype in one column: there is no promotion"
                    self._problems.add(Rule.DTYPE_RULE, message, self._op.where_of("dtypes"), because=because)
                return False
            row[_symbol_list(name)] = promoted
        return True

    def _soc_rows(self, rows: Sequence[Mapping[str, DType]]) -> dict[str, tuple[bool, ...]]:
        by_symbol = {name: symbol.socs for name, symbol in self._symbols.items() if symbol is not None and symbol.socs}
        names = dict.fromkeys(soc for socs in by_symbol.values() for soc in socs)
        return {
            soc: tuple(all(row[_symbol_list(name)] in (entry_of_soc(socs, soc) or ()) for name, socs in by_symbol.items()) for row in rows)
            for soc in sorted(names, key=lambda name: name == DEFAULT_SOC)
        }


_DTYPE_ATTRS = ("int", "type")


def _numbered(attr: Attr, dtype: DType) -> str:
    return f"{dtype} ({dtype.number})" if attr.type is AttrType.INT else dtype.name


def decided_outputs(declared: Sequence[declare.Output], op: Op, problems: Problems) -> None:
    """Reports each output whose dtype depends on an input that may be absent, or on a list of any dtypes: it would be that of any row."""
    deciding = op.deciding_ports()
    mixed = [port.name for port in op.inputs if port.is_mixed]
    optional = [port for port in op.inputs if port.is_optional and not port.is_mixed]
    for output, given in zip(op.outputs, declared, strict=True):
        if output in deciding or op.mixed_input(output) is not None:
            continue
        where = given.where_of("dtype")
        because = _why_undecided(output, deciding, op) if mixed else None
        if because is not None:
            message = f"the dtype of {output.name!r} depends on {one_of(map(repr, mixed))}, whose tensors may each have another"
            problems.add(Rule.DTYPE_RULE, message, where, because=because, advice="let it follow from ports of one dtype, or from_attr")
            continue
        # An absent list that is changed in place leaves its output without tensors.
        for port in (each for each in optional if each != op.input_in_place(output)):
            because = _why_undecided(output, [each for each in deciding if each != port], op)
            if because is not None:
                message = f"the dtype of {output.name!r} depends on {port.name!r}, which may be absent"
                advice = "let it follow from the other inputs, or from_attr"
                problems.add(Rule.DTYPE_RULE, message, where, because=because, advice=advice)
                break


def _why_undecided(output: Output, known: Sequence[Input | Output], op: Op) -> str | None:
    """Two combinations that are equal in what is known and differ in the output; None if there are none."""
    seen: dict[tuple[DType, ...], int] = {}
    combos = op.dtype_combos()
    for index, combo in enumerate(combos):
        first = seen.setdefault(tuple(combo.ports[port.name] for port in known), index)
        one, other = combos[first].ports[output.name], combo.ports[output.name]
        if one is not other:
            dtypes = one_of(f"{port.name} {combo.ports[port.name]}" for port in known) if known else "nothing else"
            return f"{dtypes} gives {output.name} {one} in combination {first + 1}, and {other} in combination {index + 1}"
    return None


def distinct_combos(declared: declare.Op, op: Op, problems: Problems) -> None:
    """Reports two equal combinations. Those that differ in their outputs only are told apart by what the graph says of its outputs."""
    seen: dict[tuple[DType, ...], int] = {}
    for index, combo in enumerate(op.dtype_combos()):
        dtypes = tuple(combo.ports[port.name] for port in op.ports)
        first = seen.setdefault(dtypes, index)
        if first != index:
            because = f"columns {first + 1} and {index + 1} have {one_of(dtype.name for dtype in dtypes)}"
            problems.add(Rule.DTYPE_COLUMNS, "two columns of the dtype lists are equal", declared.where_of("dtypes"), because=because)
