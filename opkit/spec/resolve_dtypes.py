"""The dtypes of an op: its symbols, the dtypes of each port, and the combinations that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from opkit.spec.dtypes import DTYPES, DType, find_dtype
from opkit.spec.fields import shown
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.resolve_names import PORT_NAME

if TYPE_CHECKING:
    from opkit.spec import declare
    from opkit.spec.model import Op

__all__ = ["Columns", "distinct_combos", "symbols_of"]


def symbols_of(op: declare.Op, problems: Problems) -> dict[str, tuple[DType, ...] | None] | None:
    """The dtypes of each symbol; None for one that is wrong and reported, and for all of them if none can be told."""
    if "dtypes" not in op.given:
        return None if op.strays else {}
    given = op.given["dtypes"]
    where = op.where_of("dtypes")
    if not isinstance(given, Mapping):
        problems.add(Rule.WRONG_KIND, f"dtypes is {shown(given)}, not a dict", where, advice='write dtypes={"T": ["float32", "float16"]}')
        return None
    symbols: dict[str, tuple[DType, ...] | None] = {}
    for symbol, words in given.items():
        if not isinstance(symbol, str) or not PORT_NAME.fullmatch(symbol) or find_dtype(symbol):
            because = "it is the name of a dtype" if isinstance(symbol, str) and find_dtype(symbol) else "it must be a name, such as T"
            problems.add(Rule.DTYPE, f"{shown(symbol)} can't be a dtype symbol", where, because=because)
            continue
        symbols[symbol] = None
        dtypes = [_dtype(word, (), op, "dtypes", problems) for word in _words(words)]
        if not dtypes:
            problems.add(Rule.DTYPE, f"the symbol {symbol!r} has no dtypes", where)
        elif all(dtype is not None for dtype in dtypes):
            symbols[symbol] = tuple(dtype for dtype in dtypes if dtype is not None)
    return symbols


def _words(given: object) -> list[object]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _dtype(word: object, symbols: Sequence[str], declared: declare.Declaration, argument: str, problems: Problems) -> DType | None:
    dtype = find_dtype(word) if isinstance(word, str) else None
    if dtype is None:
        what = "neither a dtype nor a symbol of this op" if symbols or argument == "dtype" else "no dtype"
        near = did_you_mean(word, (*DTYPES, *symbols)) if isinstance(word, str) else None
        problems.add(
            Rule.DTYPE, f"{shown(word)} is {what}", declared.where_of(argument), advice=near or f"opkit knows {one_of((*DTYPES, *symbols))}"
        )
    return dtype


class Columns:
    """The dtype lists of one op, which pair column by column; a list of one stands for all columns.

    Where `symbols` is None, a name that is no dtype may be one.
    """

    def __init__(self, op: declare.Op, symbols: Mapping[str, tuple[DType, ...] | None] | None, problems: Problems) -> None:
        self._op = op
        self._has_symbols = symbols is not None
        self._symbols = symbols = symbols or {}
        self._problems = problems
        self._used: set[str] = set()
        self._lengths: dict[str, int] = {f"symbol {name!r}": len(dtypes) for name, dtypes in symbols.items() if dtypes is not None}

    def of(self, port: declare.Input | declare.Output) -> tuple[str | None, tuple[DType, ...]]:
        """Symbol and dtypes of a port; no dtypes after reporting what is wrong with them."""
        word = port.given.get("dtype", ())
        if isinstance(word, str) and word in self._symbols:
            self._used.add(word)
            return word, self._symbols[word] or ()
        if isinstance(word, str) and not self._has_symbols and find_dtype(word) is None:
            return None, ()
        dtypes = [_dtype(each, tuple(self._symbols), port, "dtype", self._problems) for each in _words(word)]
        if not dtypes and "dtype" in port.given:
            self._problems.add(Rule.DTYPE, f"the {port.kind.lower()} {shown(port.given.get('name'))} has no dtypes", port.where_of("dtype"))
        known = tuple(dtype for dtype in dtypes if dtype is not None)
        if len(known) == len(dtypes):
            self._lengths[f"{port.kind.lower()} {shown(port.given.get('name'))}"] = len(known)
        return None, known

    def check(self, *, has_all_ports: bool) -> None:
        where = self._op.where_of("dtypes")
        lengths = {what: length for what, length in self._lengths.items() if length > 1}
        if len(set(lengths.values())) > 1:
            because = ", ".join(f"{what} has {length}" for what, length in lengths.items())
            self._problems.add(Rule.DTYPE_COLUMNS, "the dtype lists have different lengths", where, because=because)
        for symbol in self._symbols if has_all_ports else ():
            if symbol not in self._used:
                self._problems.add(Rule.UNUSED_SYMBOL, f"no port uses the dtype symbol {symbol!r}", where)

    def widened(self, dtypes: tuple[DType, ...]) -> tuple[DType, ...]:
        return dtypes if len(dtypes) > 1 else dtypes * max(self._lengths.values())


def distinct_combos(declared: declare.Op, op: Op, problems: Problems) -> None:
    seen: dict[tuple[DType, ...], int] = {}
    for index, combo in enumerate(op.dtype_combos()):
        inputs = tuple(combo.ports[port.name] for port in op.inputs)
        first = seen.setdefault(inputs, index)
        if first != index:
            because = f"columns {first + 1} and {index + 1} have the inputs {one_of(dtype.name for dtype in inputs)}"
            problems.add(
                Rule.DTYPE_COLUMNS, "two columns of the dtype lists have the same inputs", declared.where_of("dtypes"), because=because
            )
