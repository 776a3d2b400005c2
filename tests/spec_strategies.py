"""Valid specs of any kind as hypothesis strategies: an op with a kernel that fits it, as the texts that a user would write."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import attrs
from hypothesis import strategies as st

from opkit import resources
from opkit.spec import DTYPES
from opkit.spec.formats import FORMATS
from opkit.spec.model import AttrType
from opkit.spec.reserved import why_no_cpp_name, why_no_op_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["OpText", "op_texts", "op_type_names", "write_package"]

_PLAIN_NAMES = ("x", "y", "n", "k", "alpha", "x_shape", "attr_x", "dim_n", "group", "rule_x", "x_attr", "tail")


@attrs.frozen(kw_only=True)
class OpText:
    """An op, which is `variable` in ops.py, and the files that it needs."""

    variable: str
    type: str
    text: str
    files: dict[str, str]


def write_package(root: Path, ops: Sequence[OpText]) -> Path:
    """Gives ops.py of a package of these ops below `root`."""
    listed = ", ".join(op.variable for op in ops)
    files = {name: text for op in ops for name, text in op.files.items()}
    files["ops.py"] = "from opkit import *\n\n" + "".join(op.text for op in ops) + f'package = Package("any_ops", ops=[{listed}])\n'
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root / "ops.py"


@functools.cache
def _words() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names that generated code has already and that a spec may use: of types, and of variables and functions."""
    folder = resources.templates() / "deliverable"
    text = "\n".join(path.read_text() for path in sorted(folder.rglob("*.j2")) if path.parent.name != "deliverable")
    words = sorted(set(re.findall(r"\b[A-Za-z][A-Za-z0-9_]*\b", re.sub(r"\{%.*?%\}|\{#.*?#\}|//[^\n]*", "", text, flags=re.DOTALL))))
    types = tuple(word for word in words if re.fullmatch(r"[A-Z][A-Za-z0-9]{2,40}", word) and why_no_op_type(word) is None)
    names = tuple(word for word in words if "__" not in word and len(word) < 40 and why_no_cpp_name(word) is None)
    return types, names


# Each is the name that something made for another of them could have.
_NEAR_TYPES = ("AddRules", "AddRulesRules", "AddArgs", "AddRow", "AddNode")


def op_type_names() -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(_words()[0]), st.sampled_from(_NEAR_TYPES), st.from_regex(r"[A-Z][a-z]{1,6}Custom", fullmatch=True))


def _names() -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(_words()[1]), st.sampled_from(_PLAIN_NAMES))


def _distinct(names: st.SearchStrategy[str], count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(names, min_size=count, max_size=count, unique_by=str.upper)


_SYMBOLS = ("T", "U", "T1", "T2", "Row", "Args", "size", "dtype")
# Dtypes that a kernel has a type for, and some that it hasn't.
_KERNEL_DTYPES = tuple(name for name, dtype in DTYPES.items() if dtype.kernel_type is not None)
_NUMBERS = ("float32", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool")


@attrs.define(kw_only=True)
class _Op:
    """What is drawn of an op, to be told in the text of its spec."""

    draw: Callable[..., Any]
    number: int
    dtypes: dict[str, str] = attrs.field(factory=dict)
    mode: str = "columns"
    used: set[str] = attrs.field(factory=set)
    required: list[str] = attrs.field(factory=list)
    """Required inputs with one tensor."""
    ranks: dict[str, int | None] = attrs.field(factory=dict)
    """The ports whose shape a size can ask for, with their rank, None if it is open."""
    lists: list[str] = attrs.field(factory=list)
    single: list[str] = attrs.field(factory=list)
    """Ports of one address."""
    bound: list[str] = attrs.field(factory=list)
    """Dims and groups that an output's shape can have."""
    attr_types: dict[str, AttrType] = attrs.field(factory=dict)
    required_attrs: list[str] = attrs.field(factory=list)
    files: dict[str, str] = attrs.field(factory=dict)
    functions: list[str] = attrs.field(factory=list)
    bounded: list[str] = attrs.field(factory=list)
    """Outputs of which only the kernel knows some dims."""
    is_annotated: bool = False
    """GE fills the arguments, 8 bytes each."""
    kernel_dtypes: dict[str, bool] = attrs.field(factory=dict)
    """The symbols, and whether each of their dtypes has a type in a kernel."""

    def choose(self, *options: Any) -> Any:  # noqa: ANN401 - of any type
        return self.draw(st.sampled_from(options))

    def chance(self, of_ten: int) -> bool:
        return bool(self.draw(st.integers(0, 9)) < of_ten)

    @property
    def header(self) -> str:
        return f"ge/user/user{self.number}.h"


def _default(kind: AttrType) -> st.SearchStrategy[Any]:
    texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12) | st.sampled_from(('q"??/\\%s\n', "R(", "*/", "//"))
    scalars: dict[AttrType, st.SearchStrategy[Any]] = {
        AttrType.INT: st.integers(-(2**63), 2**63 - 1),
        AttrType.FLOAT: st.floats(width=32, allow_nan=False, allow_infinity=False),
        AttrType.BOOL: st.booleans(),
        AttrType.STR: texts,
        AttrType.TYPE: st.sampled_from(tuple(DTYPES)),
        AttrType.BYTES: st.binary(max_size=4),
        AttrType.TENSOR: st.just(()),
    }
    if kind.element is not None:
        return st.lists(_default(kind.element), max_size=3)
    return scalars[kind]


def _attrs_of(op: _Op, names: list[str]) -> list[str]:
    declared = []
    for name in names:
        kind = op.choose(AttrType.INT, AttrType.INT, AttrType.FLOAT, AttrType.BOOL, AttrType.TYPE, *AttrType)
        default = f", default={op.draw(_default(kind))!r}" if op.chance(6) else ""
        op.required_attrs += [] if default else [name]
        op.attr_types[name] = kind
        declared.append(f'Attr("{name}", "{op.choose(kind.value, kind.ge_name)}"{default})')
    return declared


def _quoted(words: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def _symbols(op: _Op, names: list[str]) -> None:
    """One symbol, or two that pair or are crossed, and maybe one that follows from them."""
    first, second, third = names
    wanted = op.draw(st.lists(st.sampled_from(_NUMBERS if op.chance(6) else tuple(DTYPES)), min_size=1, max_size=4, unique=True))
    kind = op.choose("one", "one", "columns", "product", "promote", "socs")
    op.dtypes[first] = _quoted(wanted)
    if kind == "columns":
        other = op.draw(st.lists(st.sampled_from(_KERNEL_DTYPES), min_size=len(wanted), max_size=len(wanted)))
        op.dtypes[second] = _quoted(other)
    elif kind in {"product", "promote"}:
        op.mode = "product"
        op.dtypes[first] = _quoted(wanted := [word for word in wanted if word in _NUMBERS] or ["float32"])
        op.dtypes[second] = _quoted(op.draw(st.lists(st.sampled_from(_NUMBERS), min_size=1, max_size=3, unique=True)))
        if kind == "promote":
            op.dtypes[third] = f'Promote("{first}", "{second}")'
    elif kind == "socs":
        op.dtypes[first] = f'per_soc({{"Ascend910B": {_quoted(wanted)}, "default": {_quoted(wanted[:1])}}})'
    for name, text in op.dtypes.items():
        known = re.findall(r'"(\w+)"', text) if "(" not in text else []
        op.kernel_dtypes[name] = bool(known) and all(word in _KERNEL_DTYPES for word in known)


_PATTERNS = ("...", "", "{0}", "{0} {1}", "*{2} {0} 4", "{0} *{2}", "*{2}", "... {1}", "3", "{0} {0}")


def _pattern(op: _Op, dims: list[str]) -> str | None:
    return None if op.chance(2) else str(op.choose(*_PATTERNS)).format(*dims)


def _rank(pattern: str | None) -> int | None:
    """The number of dims, a computed one of which is in brackets; None if it is open."""
    if pattern is None or re.search(r"(^|\s)(\*\w|\.\.\.)", pattern):
        return None
    while "(" in pattern:
        pattern = re.sub(r"\w*\([^()]*\)", "0", pattern)
    return len(pattern.split())


def _formats(op: _Op) -> str:
    if op.chance(8):
        return ""
    return f", formats={tuple(op.draw(st.lists(st.sampled_from(FORMATS), min_size=1, max_size=2, unique=True)))!r}"


def _inputs(op: _Op, names: list[str], dims: list[str]) -> tuple[list[str], list[str]]:
    """The declarations, and those of outputs that are inputs changed in place."""
    declared: list[str] = []
    in_place: list[str] = []
    symbols = [name for name in op.dtypes if "Promote" not in op.dtypes[name]]
    for index, name in enumerate(names):
        left = [symbol for symbol in symbols if symbol not in op.used]
        # Each symbol is that of a required input, so that every output's dtype follows.
        kind = "required" if left and index < len(symbols) else op.choose("required", "required", "optional", "list", "list or none", "any")
        dtype = f'"{left[0]}"' if kind == "required" and left else None
        if kind in {"optional", "any"}:
            dtype = f'"{op.choose(*_NUMBERS)}"' if op.mode == "columns" else dtype
            dtype = dtype or f'["{op.choose(*_NUMBERS)}"]'
        elif dtype is None:
            dtype = f'"{op.choose(*symbols, *_NUMBERS)}"' if symbols else f'"{op.choose(*_NUMBERS)}"'
        if kind == "any":
            dtype = _quoted(
                op.draw(st.lists(st.sampled_from(_NUMBERS), min_size=1, max_size=3 if op.mode == "product" else 1, unique=True))
            )
        op.used.add(dtype.strip('"'))
        pattern = _pattern(op, dims)
        flags = {
            "required": "",
            "optional": ", optional=True",
            "list": ", dynamic=True",
            "list or none": ", dynamic=True, optional=True",
            "any": ", dynamic=True, same_dtype=False",
        }[kind]
        counters = [attr for attr, type_ in op.attr_types.items() if type_ is AttrType.INT]
        counter = op.choose(*counters) if kind in {"list", "list or none", "any"} and counters and op.chance(4) else None
        flags += f', count_attr="{counter}"' if counter else ""
        formats = _formats(op)
        shape = "" if pattern is None else f', shape="{pattern}"'
        declared.append(f'Input("{name}", {dtype}{shape}{flags}{formats})')
        is_list = "dynamic" in flags
        if pattern is not None or not is_list:
            op.ranks[name] = _rank(pattern)
        (op.lists if is_list else op.single).append(name)
        if kind == "required":
            op.required.append(name)
        if kind in {"required", "list"} and pattern is not None:
            op.bound += [word for word in pattern.split() if not word.isdigit() and word not in op.bound]
        if pattern is not None and kind in {"required", "list", "list or none"}:
            in_place.append(f'Output("{name}", {dtype}{", dynamic=True" if is_list else ""}{formats})')
    return declared, in_place


def _dim(op: _Op, names: Sequence[str], depth: int = 2) -> str:
    """An expression of dims and int attrs."""
    if depth == 0 or not names or op.chance(4):
        return str(op.choose(*names, 2, 7)) if names else "3"
    left, right = _dim(op, names, depth - 1), _dim(op, names, depth - 1)
    return str(
        op.choose(
            f"({left} + {right})", f"({left} * {right})", f"({left} - {right})", f"({left} // 2)", f"ceil_div({left}, 4)",
            f"min_({left}, {right})", f"max_({left}, {right})", f"({left} % 3)",
        )
    )  # fmt: skip


def _output_shape(op: _Op, open_dim: str | None) -> str:
    kind = op.choose("bound", "bound", "computed", "broadcast", "cpp", "upper bound")
    ints = [name for name, type_ in op.attr_types.items() if type_ is AttrType.INT and name not in op.bound]
    dims = [name for name in op.bound if name != "..." and not name.startswith("*")]
    if kind == "broadcast" and len(op.required) > 1:
        return 'broadcast("' + '", "'.join(op.draw(st.permutations(op.required))[: op.choose(2, 3)]) + '")'
    if kind == "cpp":
        function = f"user{op.number}::{op.choose('Infer', 'fill', 'shape', 'node')}"
        if function not in op.functions:
            op.functions.append(function)
        return f'cpp("{op.header}", "{function}")'
    if kind == "upper bound" and open_dim is not None:
        rest = " ".join(op.draw(st.lists(st.sampled_from([*dims, "5"]), max_size=2)))
        sizes = [f'numel("{name}")' for name in op.required] + [f'dim("{name}", 0)' for name in op.required if op.ranks.get(name)]
        return f'upper_bound("{open_dim} {rest}", {open_dim}={op.choose(*sizes, "40")})'
    if kind == "computed" and (dims or ints):
        return f'"{" ".join(f"(max_({_dim(op, [*dims, *ints])}, 1))" for _ in range(op.choose(1, 2)))} 2"'
    words = op.draw(st.lists(st.sampled_from([*op.bound, *ints, "5"]), max_size=3))
    return f'"{" ".join(words)}"'


def _outputs(op: _Op, names: list[str], in_place: list[str]) -> list[str]:
    declared = [text for text in in_place if op.chance(2)]
    counters = [name for name, type_ in op.attr_types.items() if type_ is AttrType.INT]
    deciding = [name for name in op.required_attrs if op.attr_types[name] in {AttrType.INT, AttrType.TYPE}]
    for name in names:
        dtype = f'"{op.choose(*op.dtypes, *_NUMBERS)}"' if op.dtypes else f'"{op.choose(*_NUMBERS)}"'
        if deciding and op.chance(1):
            chosen = op.draw(st.lists(st.sampled_from(tuple(DTYPES)), min_size=1, max_size=3, unique=True))
            dtype = f'from_attr("{op.choose(*deciding)}", {_quoted(chosen)})'
        op.used.add(dtype.strip('"'))
        dynamic = ""
        if op.chance(2):
            dynamic = f', dynamic=attr("{op.choose(*counters)}")' if counters and op.chance(5) else ", dynamic=True"
        is_open = name not in op.attr_types and not dynamic
        shape = _output_shape(op, f"most_{name}" if is_open else None)
        if shape.startswith("upper_bound"):
            op.bounded.append(name)
        else:
            op.ranks[name] = _rank(shape.strip('"')) if shape.startswith('"') else None
        (op.lists if dynamic else op.single).append(name)
        declared.append(f'Output("{name}", {dtype}, shape={shape}{dynamic}{_formats(op)})')
    return declared


def _size(op: _Op, depth: int = 2) -> str:
    leaves: list[str] = ["cores()", str(op.choose(1, 2, 64, 100))]
    leaves += [f'numel("{name}")' for name in op.ranks]
    leaves += [f'count("{name}")' for name in op.lists]
    leaves += [f'attr("{name}")' for name, kind in op.attr_types.items() if kind in {AttrType.INT, AttrType.BOOL}]
    for name, rank in op.ranks.items():
        if rank != 0:
            limit = 25 if rank is None else rank
            leaves.append(f'dim("{name}", {op.draw(st.integers(-limit, limit - 1))})')
    if depth == 0 or op.chance(5):
        return str(op.choose(*leaves))
    left, right = _size(op, depth - 1), _size(op, depth - 1)
    forms = (
        f"({left} + {right})", f"({left} - {right})", f"({left} * {right})", f"ceil_div({left}, 8)", f"ceil_div({left}, max_({right}, 1))",
        f"({left} // 3)", f"({left} % 7)", f"min_({left}, {right})", f"max_({left}, {right}, 1)",
    )  # fmt: skip
    # Two numbers would be Python's own arithmetic.
    is_plain = left.isdigit() and right.isdigit()
    return str(op.choose(*(form for form in forms if not is_plain or form.startswith(("min_", "max_")))))


_INTEGERS = ("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "unsigned", "long long")


def _value(op: _Op) -> tuple[str, str]:
    """An argument that is no address, and a C type that takes it."""
    integers = ("int64_t", "uint64_t", "size_t", "long long") if op.is_annotated else _INTEGERS
    scalars = [name for name, kind in op.attr_types.items() if kind in {AttrType.INT, AttrType.FLOAT, AttrType.BOOL, AttrType.TYPE}]
    if scalars and op.chance(5):
        name = op.choose(*scalars)
        types = {
            AttrType.FLOAT: ("double",) if op.is_annotated else ("float", "double"),
            AttrType.BOOL: integers if op.is_annotated else ("bool", *integers),
            AttrType.INT: integers,
            AttrType.TYPE: integers,
        }[op.attr_types[name]]
        return f'attr("{name}")', op.choose(*types)
    typed = op.choose("", "", "", "i64", *(() if op.is_annotated else ("i32", "u32")))
    size = _size(op)
    if typed:
        return f"{typed}({size})", {"i32": "int32_t", "u32": "uint32_t", "i64": "int64_t"}[typed]
    # A number alone must fit its parameter; the least of them holds 100.
    is_constant = not re.search(r"numel|dim|count|attr|cores", size)
    return size, "int64_t" if is_constant and not size.isdigit() else op.choose(*integers)


def _tiling(op: _Op, number: int, names: list[str]) -> tuple[str, str, str]:
    """The argument, the name of its struct, and the struct."""
    struct = str(op.choose("Tiling", "Node", "Args", "Size", "AddArgs", "Kernel", "Op"))
    is_filled = op.chance(3)
    if is_filled:  # The function names it as the host does, which numbers structs of one name.
        struct += f"{op.number}{'ab'[number]}"
    members, values = [], []
    for name in names:
        value, c_type = _value(op)
        length = op.choose(0, 0, 0, 1, 3)
        members.append(f"  {c_type} {name}{f'[{length}]' if length else ''};\n")
        values.append(f"{name}={'[' + ', '.join([value] * length) + ']' if length else value}")
    text = f"struct {struct} {{\n{''.join(members)}}};\n"
    if is_filled:
        function = f"user{op.number}::Fill{'AB'[number]}"
        package = f"any_ops_ops::kernel_structs::{struct}"
        op.functions.append(f"{function} {package}")
        return f'tiling(cpp("{op.header}", "{function}"))', struct, text
    return f'tiling("{struct}", {", ".join(values)})', struct, text


def _kernel(op: _Op, number: int, entry: str, outputs: list[str], workspaces: list[str]) -> str:
    """The declaration; the source goes into the op's files."""
    ports = [name for name in (*op.single, *op.lists) if name in outputs or op.chance(7)]
    arguments: list[tuple[str, str]] = []
    for name in ports:
        text = f'address_list("{name}")' if name in op.lists else f'port("{name}")'
        arguments.append((text, op.choose("GM_ADDR", "GM_ADDR", "__gm__ uint8_t *")))
    arguments += [(f'shape_of("{name}")', op.choose("GM_ADDR", "__gm__ uint64_t *")) for name in op.bounded if name in outputs]
    arguments += [_value(op) for _ in range(op.draw(st.integers(0, 3)))]
    if op.chance(3):
        if not workspaces or op.chance(5):
            workspaces.append(f"max_({_size(op)}, 0)" if op.chance(7) else "64")
        arguments.append((f"space{op.number}_{op.draw(st.integers(0, len(workspaces) - 1))}", "GM_ADDR"))
    names = op.draw(_distinct(_names().filter(_is_parameter), len(arguments) + 4))
    structs = ""
    if op.chance(2) and not op.is_annotated:
        argument, struct, structs = _tiling(op, number, names[-3:])
        arguments.append((argument, struct))
    if not arguments:
        arguments.append(("7", "int64_t"))
    arguments = op.draw(st.permutations(arguments))
    parameters = ", ".join(f"{c_type} {name}" for (_, c_type), name in zip(arguments, names, strict=False))
    form, symbol = op.choose("plain", "plain", "plain", "namespace", "template"), None
    if form == "template":
        symbol = next((name for name, fits in op.kernel_dtypes.items() if fits), None)
    linkage = 'extern "C" ' if form == "plain" else ""
    head = "template <typename T, int kTile>\n" if symbol else ""
    core = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);" if op.chance(1) and not op.is_annotated else ""
    body = f"{head}{linkage}__global__ __aicore__ void {entry}({parameters}) {{{core}}}\n"
    if form != "plain":
        body = f"namespace space {{\n{body}}}\n"
    file = f"kernels/k{op.number}_{number}.asc"
    op.files[file] = f'#include "kernel_operator.h"\n{structs}{body}'
    named = f"space::{entry}" if form != "plain" else entry
    named += f"<{{{symbol}}}, 64>" if symbol else ""
    blocks = op.choose("8", f"min_(max_({_size(op)}, 1), 65535)")
    more = ", strides=True" if op.chance(5) else ""
    more += f', defines={{"{op.choose("PLUS", "kTile2", "T_MAX")}": {op.choose(3, repr("1 + 2"))}}}' if op.chance(2) else ""
    values = ", ".join(value for value, _ in arguments)
    return f'Kernel("{file}", entry="{named}", args=[{values}], blocks={blocks}{more})'


# Of its own compiler, or of the names of the macros of a kernel.
_NO_PARAMETERS = {"T", "kTile", "half", "space"}


def _is_parameter(name: str) -> bool:
    return name not in _NO_PARAMETERS and not name.endswith("_t") and re.fullmatch(r"[a-z]\w*|k[A-Z]\w*", name) is not None


def _user_header(op: _Op) -> str:
    parts = ["#pragma once\n", '#include "exe_graph/runtime/infer_shape_context.h"\n']
    if any(" " in each for each in op.functions):
        parts += ['#include "exe_graph/runtime/eager_op_execution_context.h"\n', '#include "../any_ops_kernel.h"\n']
    parts.append(f"namespace user{op.number} {{\n")
    for each in op.functions:
        name = each.split("::")[1].split(" ")[0]
        if " " in each:
            parts.append(f"inline bool {name}(const gert::EagerOpExecutionContext &, {each.split(' ')[1]} &) {{ return true; }}\n")
        else:
            parts.append(f"inline bool {name}(const gert::InferShapeContext &, gert::Shape &) {{ return true; }}\n")
    return "".join([*parts, "}\n"])


@st.composite
def op_texts(draw: Callable[..., Any], number: int, op_type: str) -> OpText:
    """An op of this type, whose files and variables are those of its number."""
    op = _Op(draw=draw, number=number)
    inputs_count = op.choose(0, 1, 2, 3, 4)
    names = draw(_distinct(_names(), 4 + 4 + 4 + 3 + 2))
    dims = draw(_distinct(_names(), 3))
    attrs_declared = _attrs_of(op, names[: draw(st.integers(0, 4))])
    # A name may be a port's and an attr's, and a dim's and a port's; a dim of an input's isn't an attr.
    dims = list(dict.fromkeys([name for name in dims if name not in op.attr_types] + names[12:15]))
    ports = names[4:12] if op.chance(7) else [*names[:4], *names[8:12]]
    if inputs_count > 1 and op.chance(7):
        _symbols(op, draw(_distinct(st.sampled_from(_SYMBOLS).filter(lambda name: name not in names), 3)))
    inputs, in_place = _inputs(op, ports[:inputs_count], dims)
    for symbol in [name for name in op.dtypes if name not in op.used and "Promote" not in op.dtypes[name]]:
        del op.dtypes[symbol]
    output_names = ports[inputs_count : inputs_count + draw(st.integers(0, 3))]
    outputs = _outputs(op, output_names, in_place)
    for symbol in [name for name in op.dtypes if name not in op.used]:
        del op.dtypes[symbol]
    written = [match[1] for text in outputs if (match := re.match(r'Output\("(\w+)"', text))]
    op.is_annotated = not op.lists and not op.bounded and op.chance(2)
    workspaces: list[str] = []
    entries = draw(_distinct(st.sampled_from(("add", "fill", "node", "kernel", "main_", "launch", "args", "size", "_", "update_host")), 2))
    kernels = [
        _kernel(op, index, entry, written if index == 0 else [], workspaces) for index, entry in enumerate(entries[: op.choose(1, 1, 2)])
    ]
    if op.functions:
        op.files[op.header] = _user_header(op)
    spaces = "".join(f"space{number}_{index} = workspace({size})\n" for index, size in enumerate(workspaces))
    if op.chance(3):
        mixed = draw(st.permutations([*inputs, *outputs, *attrs_declared]))
        # Ports of a side keep their order.
        parts = f"signature=[{', '.join(mixed)}]"
    else:
        parts = f"inputs=[{', '.join(inputs)}],\n    outputs=[{', '.join(outputs)}],\n    attrs=[{', '.join(attrs_declared)}]"
    dtypes = f",\n    dtypes={{{', '.join(f'{name!r}: {text}' for name, text in op.dtypes.items())}}}" if op.dtypes else ""
    mode = ', dtype_mode="product"' if op.mode == "product" else ""
    listed = kernels[0] if len(kernels) == 1 else f"[{', '.join(kernels)}]"
    refresh = "annotated" if op.is_annotated else op.choose(*(() if op.bounded else ("updater", "updater")), "none")
    compiled = op.choose("graph", "prebuilt", *(() if op.is_annotated else ("load",) * 4))
    more = f',\n    compile="{compiled}"' if compiled != "load" else ""
    more += ", portable=True" if more and op.chance(5) else ""
    variable = f"op{number}"
    text = f'{spaces}{variable} = Op(\n    "{op_type}",\n    {parts}{dtypes}{mode},\n    kernel={listed},\n'
    text += f'    refresh="{refresh}"{more},\n)\n\n'
    return OpText(variable=variable, type=op_type, text=text, files=op.files)
