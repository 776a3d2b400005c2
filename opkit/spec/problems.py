"""The mistakes and warnings of one spec, gathered while it is checked, so that the user gets all at once and in the order of the file."""

from __future__ import annotations

import difflib
import enum
from typing import TYPE_CHECKING, Any

import attrs

from opkit.errors import SpecError, SpecErrors, rendered
from opkit.spec.location import Spot

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from opkit.spec.location import Location


class Rule(enum.Enum):
    """The numbers of spec errors and warnings, and what each stands for. A number is never used again for something else."""

    UNREADABLE = ("OPK0202", "ops.py can't be read")
    SYNTAX = ("OPK0203", "ops.py is no Python")
    RAISED = ("OPK0204", "ops.py raised an exception")
    NO_PACKAGE = ("OPK0205", "ops.py defines no package, or several")
    UNKNOWN_KEYWORD = ("OPK0206", "a keyword that a declaration doesn't take")
    MISSING_ARGUMENT = ("OPK0207", "a declaration lacks an argument")
    WRONG_KIND = ("OPK0208", "an argument is of the wrong kind")
    PACKAGE_NAME = ("OPK0209", "a package name that is no CMake target and Python module")
    OP_TYPE = ("OPK0210", "an op type that GE or the generated C++ can't have")
    NAME = ("OPK0211", "a port or attr name that the generated C++ can't have")
    DUPLICATE = ("OPK0212", "two things of one name")
    NO_SHAPE_RULE = ("OPK0213", "an output without a shape rule")
    HEADER = ("OPK0214", "a header name that is no file name")
    PORT = ("OPK0215", "a port of a kind that GE doesn't have")
    SIGNATURE = ("OPK0216", "a signature beside the lists that it stands for, or with something else in it")
    IN_PLACE = ("OPK0217", "an input and an output of one name that aren't the same tensor")
    FILE_STEM = ("OPK0218", "a file stem that is none, or that two ops have, or an unknown rule for stems")
    BUILT_IN = ("OPK0219", "an op in the place of a built-in one, without `allow_builtin`")
    DTYPE = ("OPK0220", "an unknown dtype or symbol")
    DTYPE_COLUMNS = ("OPK0221", "dtype lists that don't pair column by column")
    UNUSED_SYMBOL = ("OPK0222", "a dtype symbol that no port uses")
    FORMAT = ("OPK0223", "an unknown format")
    DTYPE_RULE = ("OPK0224", "a dtype rule that gives no dtypes")
    SOC = ("OPK0225", "dtypes of a SoC that no known name begins with")
    SOC_TYPE = ("OPK0226", "a dtype on a SoC whose kernels have no type for it, and a kernel that names it")
    PATTERN = ("OPK0230", "a shape text that is no pattern")
    UNBOUND = ("OPK0231", "an output's shape uses a name that no input binds")
    SHAPE_EXPRESSION = ("OPK0232", "a shape that can't be computed")
    CPP = ("OPK0233", "a C++ function of the user's own that isn't there")
    VALUE_DEPEND = ("OPK0234", "an input's values where only shapes are read")
    UPPER_BOUND = ("OPK0235", "an upper bound of a dim that isn't the kernel's to tell, or a shape that no kernel writes")
    ATTR_TYPE = ("OPK0240", "an unknown attr type")
    ATTR_DEFAULT = ("OPK0241", "an attr value that its type can't hold")
    KERNEL_FILE = ("OPK0250", "the kernel file is missing or outside the project")
    ENTRY = ("OPK0251", "the kernel file doesn't define the entry")
    ENTRY_FORM = ("OPK0252", "the entry has a form that can't be launched by name")
    ARG_COUNT = ("OPK0253", "args and the kernel's parameters differ in number")
    ARG_KIND = ("OPK0254", "an argument doesn't fit the kernel's parameter")
    UNKNOWN_NAME = ("OPK0255", "a name that is neither port nor attr")
    AMBIGUOUS = ("OPK0256", "a bare name that is both a port and an attr")
    EXPRESSION = ("OPK0257", "a size expression that has no meaning")
    BLOCKS = ("OPK0258", "a number of blocks that can't be launched")
    DEFINE = ("OPK0259", "a define that is no macro")
    WORKSPACE = ("OPK0260", "a workspace that no kernel can have")
    TILING = ("OPK0261", "a tiling struct that can't be passed, or not with these members")
    TEMPLATE_ENTRY = ("OPK0262", "an entry that is no template, or not with these arguments")
    CORE_TYPE = ("OPK0263", "a kernel that runs on cores of both kinds, or on none that opkit knows")
    ADDRESS_LIST = ("OPK0264", "a dynamic port where a kernel takes one address, or an address list of another port")
    COUNT = ("OPK0265", "a size of a dynamic port that its tensors needn't have in common")
    REFRESH = ("OPK0270", "an unknown way of refreshing addresses")
    REFERENCE = ("OPK0271", "a reference that can't be called with the op's inputs and attrs")
    COMPILE = ("OPK0272", "an unknown time of compiling kernels")
    CAPABILITY = ("OPK0273", "capabilities that don't go together, or not with this op")
    SUBGRAPH = ("OPK0274", "an op with subgraphs")
    MANY_OPS = ("OPK0275", "more ops than a package can have")
    BENCHMARK = ("OPK0280", "a benchmark that can't be run")
    SHAPE_MISMATCH = ("OPK0290", "given shapes don't match the patterns of the inputs")
    NO_VALUE = ("OPK0292", "a size expression has no value for the given shapes")
    EXPECTATION = ("OPK0295", "a reference that failed or gave another shape or dtype")
    OPEN = ("OPK0297", "a question that `opkit new --from` left in the spec, or another `...`")

    @property
    def number(self) -> str:
        return self.value[0]

    @property
    def title(self) -> str:
        return self.value[1]

    @property
    def is_warning(self) -> bool:
        return self in {Rule.BUILT_IN, Rule.SOC}


@attrs.frozen(kw_only=True)
class SpecWarning:
    """What may be meant, and surprises if it isn't: it is printed as an error is, and changes no exit code."""

    number: str
    message: str
    where: str
    because: str | None = None
    help: str | None = None

    def render(self) -> str:
        return rendered(f"warning[{self.number}]", self.message, where=self.where, because=self.because, advice=self.help)

    def to_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


class Problems:
    """Gathers errors and warnings; each is kept once, for a copy of an op repeats what it took over."""

    def __init__(self, spec: Path) -> None:
        self._spec = spec
        self._found: dict[tuple[str, str, str | None], tuple[bool, int, SpecError]] = {}
        self._warned: dict[SpecWarning, tuple[bool, int]] = {}
        self._reports = 0

    def add(self, rule: Rule, message: str, where: Location | Spot, *, because: str | None = None, advice: str | None = None) -> None:
        self._reports += 1
        place = _located(where)
        error = spec_error(rule, message, place, because=because, advice=advice)
        self._found.setdefault((rule.number, message, error.where), (*self._order(place), error))

    def warn(self, rule: Rule, message: str, where: Location | Spot, *, because: str | None = None, advice: str | None = None) -> None:
        place = _located(where)
        warning = SpecWarning(
            number=rule.number,
            message=_printable(message),
            where=str(place),
            because=because and _printable(because),
            help=advice and _printable(advice),
        )
        self._warned.setdefault(warning, self._order(place))

    @property
    def warnings(self) -> tuple[SpecWarning, ...]:
        """In the order of `raise_if_any`."""
        return tuple(sorted(self._warned, key=self._warned.__getitem__))

    def _order(self, place: Location) -> tuple[bool, int]:
        return place.file != self._spec, place.line

    def __len__(self) -> int:
        """How often a mistake was reported, repeated ones too: what it grows by tells whether a step found any."""
        return self._reports

    def raise_if_any(self) -> None:
        """Raises SpecErrors with what was found: first ops.py from top to bottom, then other files."""
        if self._found:
            ordered = sorted(self._found.values(), key=lambda found: found[:2])
            raise SpecErrors([error for _, _, error in ordered])


def _located(where: Location | Spot) -> Location:
    return where.locate() if isinstance(where, Spot) else where


def spec_error(
    rule: Rule, message: str, where: Location | None = None, *, because: str | None = None, advice: str | None = None
) -> SpecError:
    return SpecError(
        _printable(message),
        where=None if where is None else str(where),
        because=because and _printable(because),
        help=advice and _printable(advice),
        number=rule.number,
    )


def _printable(text: str) -> str:
    """A name of the user's may hold halves of UTF-16 pairs, which no output can be written with."""
    return text.encode(errors="backslashreplace").decode()


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """`did you mean 'inputs'?` for the nearest known word, or None if none is near."""
    near = nearest(word, known)
    return None if near is None else f"did you mean {near!r}?"


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known word that `word` most likely is a misspelling of; None if none is at least as like it as `cutoff`, of 1, says."""
    by_fold = {name.casefold().replace("_", ""): name for name in known}
    found = difflib.get_close_matches(word.casefold().replace("_", ""), by_fold, n=1, cutoff=cutoff)
    return by_fold[found[0]] if found else None


def one_of(known: Iterable[str]) -> str:
    """The known words as a sentence part, for a reader who has to choose: "it takes a, b, c"."""
    return ", ".join(known)
