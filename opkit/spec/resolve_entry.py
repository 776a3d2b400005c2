"""The entry of a kernel: the function of its name in the source, and what its parameters are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import attrs

from opkit.spec.expressions import PortAddress
from opkit.spec.fields import text_of
from opkit.spec.kernel_signature import (
    FoundEntry,
    KernelParam,
    KernelSignature,
    KernelSource,
    TemplateParams,
    UnknownParamTypeError,
    is_pointer,
    lay_out,
)
from opkit.spec.kernel_structs import FoundStruct, KernelStruct, UnfitStructError, lay_out_struct
from opkit.spec.location import Spot, location_of
from opkit.spec.model import CoreType
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.reserved import why_no_cpp_word
from opkit.spec.scalars import ScalarType, scalar_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from opkit.spec import declare
    from opkit.spec.model import Kernel, Op

__all__ = ["Entry", "EntryNames", "check_entry_types", "check_pointers", "defines_name", "placeholders", "resolve_entry"]


@attrs.frozen(kw_only=True)
class EntryNames:
    """What can stand in braces: symbols of `dtypes` and ports. Unless it `is_complete`, a name that isn't here may be right."""

    symbols: Collection[str]
    ports: Collection[str]
    is_complete: bool


_ENTRY_FORM = 'extern "C" __global__ __aicore__ void {name}(…)'
# `ns::add<{T}, 8>`: a name as C++ qualifies it, and a template's arguments.
_ENTRY = re.compile(r"(?:::)?(?P<name>[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)\s*(?:<(?P<arguments>.*)>)?", re.ASCII | re.DOTALL)
_ARGUMENT = re.compile(r"[\w\s:<>{},*+-]+", re.ASCII)
# Operators after which a bracket or a comma needn't be what it looks like: `1 << 2`, `(a > b)`.
_COMPUTED = re.compile(r"<<|\b\d+\s*<|[()|^~!%/?]|[=<>]=|&&", re.ASCII)
_PLACEHOLDER = re.compile(r"\{\s*(\w+)\s*\}", re.ASCII)


_FORMS = 'write e.g. "add", "ns::add" or "ns::add<{T}>"'


def _why_unbalanced(text: str) -> str | None:
    """Which bracket has no other half, or None."""
    halves = {">": "<", "}": "{", ")": "(", "]": "["}
    open_ones: list[str] = []
    for letter in text:
        if letter in halves.values():
            open_ones.append(letter)
        elif letter in halves and (not open_ones or open_ones.pop() != halves[letter]):
            return f"`{letter}` closes nothing"
    return f"`{open_ones[-1]}` is never closed" if open_ones else None


@attrs.frozen(kw_only=True)
class Entry:
    """`expression` is what a compiled program is asked for the entry's name by, with dtypes in braces; None if that is the name itself.
    `type_args` are the types that a template gets, by the names that it has for them.
    """

    signature: KernelSignature
    expression: str | None
    type_args: Mapping[str, str]
    core: CoreType


def resolve_entry(
    kernel: declare.Kernel, source: KernelSource, defines: Mapping[str, int | str], names: EntryNames, problems: Problems
) -> Entry | None:
    text = text_of(kernel, "entry", problems)
    if text is None:
        return None
    where = kernel.where_of("entry")
    written = _ENTRY.fullmatch(text.strip())
    arguments = None if written is None else written["arguments"]
    is_computed = arguments is not None and _COMPUTED.search(arguments) is not None
    if not is_computed and (because := _why_unbalanced(text)) is not None:
        problems.add(Rule.TEMPLATE_ENTRY, f"the entry {text!r} is no name of a kernel", where, because=because, advice=_FORMS)
        return None
    found = _find_entry(text.strip() if written is None else written["name"], source, where, problems)
    if found is None:
        return None
    reason = _why_not_launched(found, arguments) or _bare_symbol(arguments, source, defines, names)
    if reason is not None:
        because, advice = reason
        problems.add(Rule.TEMPLATE_ENTRY, f"the entry {text!r} can't be launched", where, because=because, advice=advice)
        return None
    is_right = _check_symbols(text, names, where, problems)
    structs = _structs(found, source, defines, where, problems)
    signature = None if structs is None else _signature(found, structs, where, problems)
    core = _core_type(found, where, problems)
    is_right = (signature is None or _has_usable_names(signature, where, problems)) and is_right
    if signature is None or core is None or not is_right:
        return None
    expression = found.qualified + ("" if arguments is None else f"<{', '.join(_split(arguments))}>")
    return Entry(
        signature=signature, expression=None if found.is_extern_c else expression, type_args=_type_args(found, arguments), core=core
    )


def _type_args(found: FoundEntry, arguments: str | None) -> dict[str, str]:
    if found.template is None or arguments is None:
        return {}
    return {
        form.strip("{}"): argument
        for form, argument in zip(_split(found.template.form), _split(arguments), strict=False)
        if form.startswith("{")
    }


_CORES = {
    "KERNEL_TYPE_AIV_ONLY": CoreType.AIV,
    "__vector__": CoreType.AIV,
    "KERNEL_TYPE_AIC_ONLY": CoreType.AIC,
    "__cube__": CoreType.AIC,
}


def _core_type(entry: FoundEntry, where: Spot, problems: Problems) -> CoreType | None:
    """What the source says of the cores; without a word the kernel is one of vector cores. None after reporting what can't be launched."""
    words = dict.fromkeys(entry.core_words)
    place = location_of(entry.file, entry.line).place
    foreign = next((word for word in words if word not in _CORES), None)
    cores = {_CORES[word] for word in words if word in _CORES} or {CoreType.AIV}
    if foreign is None and len(cores) == 1:
        return cores.pop()
    if foreign is None:
        because, advice = f"{place} says {one_of(words)}", "say one of them"
    elif "mix" in foreign.lower():
        because = f"{place} says {foreign}, and a kernel for both kinds of cores has arguments that its signature doesn't show"
        advice = "write two kernels, KERNEL_TYPE_AIC_ONLY and KERNEL_TYPE_AIV_ONLY, and launch them in order"
    else:
        because, advice = f"{place} says {foreign}", "KERNEL_TYPE_AIV_ONLY and KERNEL_TYPE_AIC_ONLY can be launched"
    problems.add(Rule.CORE_TYPE, f"the entry {entry.qualified!r} can't be launched", where, because=because, advice=advice)
    return None


def _find_entry(name: str, source: KernelSource, where: Spot, problems: Problems) -> FoundEntry | None:
    kernel_file = source.files[0].name
    candidates = [entry for entry in source.entries if name in {entry.qualified, entry.name if entry.is_extern_c else None}]
    if not candidates:
        others = list(dict.fromkeys(entry.name if entry.is_extern_c else entry.qualified for entry in source.entries))
        because = f"it defines {one_of(others)}" if others else "it defines no __global__ function"
        if source.syntax_error_line is not None:
            because += f", as far as it can be read: line {source.syntax_error_line} isn't understood"
        same = [other for other in others if other.rpartition("::")[2] == name.rpartition("::")[2]]
        likely = others if len(others) == 1 else same if len(same) == 1 else []
        advice = f"did you mean {likely[0]!r}?" if likely else did_you_mean(name, others) or _ENTRY_FORM.format(name=name)
        problems.add(Rule.ENTRY, f"{kernel_file} doesn't define an entry {name!r}", where, because=because, advice=advice)
        return None
    entry = candidates[0]
    differing = next((other for other in candidates if _types(other) != _types(entry) or other.template != entry.template), None)
    if differing is not None:
        because = f"{location_of(entry.file, entry.line).place} and {location_of(differing.file, differing.line).place}"
        problems.add(Rule.ENTRY_FORM, f"{kernel_file} defines {name!r} twice with different parameters", where, because=because)
        return None
    return entry


Reason: TypeAlias = tuple[str, str | None]
"""What keeps an entry from being launched, and what would be right."""


def _why_not_launched(entry: FoundEntry, arguments: str | None) -> Reason | None:
    """Why an entry has no name in a binary with these template arguments."""
    place = location_of(entry.file, entry.line).place
    if not entry.is_extern_c and "" in entry.namespaces:
        return f"{place} is in a namespace without a name, so nothing outside of its file can name it", None
    if entry.template is None:
        return None if arguments is None else (f"{place} is no template", f"write {entry.qualified!r}")
    if arguments is None:
        return f"{place} is a template", f"name its arguments, a dtype in braces: {_written(entry, entry.template)}"
    return _template_misfit(entry, entry.template, arguments)


def _template_misfit(entry: FoundEntry, template: TemplateParams, arguments: str) -> Reason | None:
    place = location_of(entry.file, entry.line).place
    if _COMPUTED.search(arguments):
        because = f"one of the arguments <{arguments}> is computed, and opkit reads names and numbers"
        return because, 'put the number into `defines` and its name here, e.g. "add<{T}, COUNT>" with defines={"COUNT": 8}'
    given = _split(arguments)
    if not all(given) or not _ARGUMENT.fullmatch(arguments):
        return f"<{arguments}> are no arguments of a template", f"write e.g. {_written(entry, template)}"
    if len(given) < template.least or (template.most is not None and len(given) > template.most):
        most = "more" if template.most is None else str(template.most)
        takes = most if str(template.least) == most else f"{template.least} to {most}"
        because = f"the template takes {takes} argument{'' if takes == '1' else 's'}, and {len(given)} are given, {place}"
        return because, f"write e.g. {_written(entry, template)}"
    by_value = next((param for param in entry.params if param[0] in template.names), None)
    if by_value is not None:
        because = f"{by_value[0]} {by_value[1]} is of the template's own type, whose size differs from dtype to dtype, {place}"
        return because, "take it as a scalar of one type, or by its address"
    return None


def _written(entry: FoundEntry, template: TemplateParams) -> str:
    return f'"{entry.qualified}<{template.form or "…"}>"'


def _bare_symbol(arguments: str | None, source: KernelSource, defines: Mapping[str, int | str], names: EntryNames) -> Reason | None:
    """Whether a symbol of the op's stands without braces where the sources have no type or macro of its name."""
    for name in _split(arguments or ""):
        if name in names.symbols and name not in defines and not defines_name(source, name):
            return f"{name!r} is a symbol of dtypes, and {source.files[0].name} has no type of that name", f"write {{{name}}}"
    return None


def defines_name(source: KernelSource, name: str) -> bool:
    """Whether the sources give a name a meaning of their own: a type, a macro or a constant."""
    word = rf"{re.escape(name)}\b"
    # `class T` before one of the other signs is a parameter of a template.
    kinds = rf"\b(?:struct|class|enum|union)\s+{word}\s*[{{:;]"
    pattern = rf"{kinds}|\busing\s+{word}\s*=|\btypedef\b[^;]*\b{word}\s*[,;[]|#\s*define\s+{word}"
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in source.files)
    return name in source.constants or any(re.search(pattern, text) for text in texts)


def _split(text: str) -> list[str]:
    """The arguments of a template, split at the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<({") - (letter in ">)}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [" ".join(part.split()) for part in parts]


def _check_symbols(text: str, names: EntryNames, where: Spot, problems: Problems) -> bool:
    known = dict.fromkeys((*names.symbols, *names.ports))
    is_right = True
    for name in placeholders(text):
        if name in known and not (name in names.symbols and name in names.ports):
            continue
        is_right = False
        if name in known:
            message = f"{{{name}}} is both a symbol of dtypes and a port"
            problems.add(Rule.AMBIGUOUS, message, where, advice="give the symbol another name")
        elif names.is_complete:
            advice = did_you_mean(name, known) or (f"the op has {one_of(known)}" if known else None)
            problems.add(Rule.TEMPLATE_ENTRY, f"there is no dtype symbol or port {name!r}", where, advice=advice)
    return is_right


def placeholders(text: str) -> list[str]:
    """The names in braces, each once."""
    return list(dict.fromkeys(name.strip() for name in re.findall(r"\{([^{}]*)\}", text)))


def check_entry_types(declared: declare.Op, op: Op, problems: Problems) -> None:
    """Reports a dtype in braces that has no type in a kernel."""
    where = declared.where_of("kernel")
    for entry, name in ((kernel.entry, name) for kernel in op.kernels for name in placeholders(kernel.entry)):
        if not op.ports_of_dtype(name):
            message = f"{{{name}}} of the entry {entry!r} may be several dtypes in one launch"
            problems.add(Rule.TEMPLATE_ENTRY, message, where, because="it is that of a list whose tensors may differ")
            continue
        dtypes = dict.fromkeys(combo.dtype_of(name) for combo in op.dtype_combos())
        missing = [dtype.name for dtype in dtypes if dtype.kernel_type is None]
        if missing:
            message = f"{{{name}}} of the entry {entry!r} may be {one_of(missing)}"
            problems.add(Rule.TEMPLATE_ENTRY, message, where, because="device code has no type for it")


# The bytes of an element in device code. Those of other dtypes are packed, several in a byte.
_ELEMENT_BYTES = {
    **{scalar.value: scalar.bytes for scalar in ScalarType},
    **dict.fromkeys(("fp8_e5m2_t", "fp8_e4m3fn_t", "fp8_e8m0_t", "hifloat8_t"), 1),
    **dict.fromkeys(("half", "bfloat16_t"), 2),
    "complex32": 4,
    "complex64": 8,
}
# A complex number is also read as its two parts.
_PARTS = {"complex32": "half", "complex64": "float"}
_UNSIGNED = {scalar.bytes: scalar.value for scalar in ScalarType if scalar.value.startswith("uint")}


def check_pointers(op: Op, read: Callable[[Path], KernelSource], problems: Problems) -> None:
    """Reports a port whose address a kernel takes as that of elements of another dtype. `read` gives the source of a kernel.

    Bytes and void are anything, and unsigned integers are the bits of any element that is as wide: so kernels that only move them take it.
    """
    for kernel in op.kernels:
        for number, arg in enumerate(kernel.args, start=1):
            port = arg.value.port if isinstance(arg.value, PortAddress) else None
            pointee = None if port is None else _pointee(kernel, arg.param)
            if port is None or pointee is None:
                continue
            because = _why_other_elements(op, port, pointee)
            # A name that the kernel gives a meaning of its own is no element type of ours.
            if because is not None and pointee not in kernel.defines and not defines_name(read(kernel.path), pointee):
                is_parameter = pointee != arg.param.c_type.removesuffix(" *")
                problems.add(
                    Rule.ARG_KIND,
                    f"argument {number}, {port!r} of {op.type}, doesn't fit {arg.param.c_type} {arg.param.name}"
                    + (f", {pointee}" if is_parameter else ""),
                    kernel.where,
                    because=because,
                    advice=f"the entry can name the dtype of a port, <{{{port}}}>"
                    if is_parameter
                    else f"take it as __gm__ DTYPE_{port.upper()} *{arg.param.name}, or as GM_ADDR",
                )


def _pointee(kernel: Kernel, param: KernelParam) -> str | None:
    """What a pointer points to, the type of a template's parameter by the argument that it gets; None if it is no plain pointer."""
    name, star, rest = param.c_type.partition(" *")
    return kernel.type_args.get(name, name) if star and not rest else None


def _why_other_elements(op: Op, port: str, pointee: str) -> str | None:
    combos = op.dtype_combos()
    scalar = scalar_of(pointee)
    plain = pointee.removeprefix("AscendC::") if scalar is None else scalar.value
    named = _PLACEHOLDER.fullmatch(pointee)
    if named is not None and not op.ports_of_dtype(named[1]):
        return None
    for column, combo in enumerate(combos, start=1):
        found = plain if named is None else combo.dtype_of(named[1]).kernel_type
        dtype = combo.ports[port]
        if not _are_elements(found, dtype.kernel_type):
            where = f" in combination {column}" if len(combos) > 1 else ""
            told = "" if named is None else f", and {pointee} is {found}"
            return f"{port!r} is {dtype.name}{where}, {dtype.kernel_type} in device code{told}"
    return None


def _are_elements(pointee: str | None, element: str | None) -> bool:
    """Whether a tensor of these elements may be read as one of what the pointer points to; yes unless both are known."""
    if pointee is None or element is None or not {pointee, element} <= _ELEMENT_BYTES.keys() or pointee == ScalarType.U8.value:
        return True
    if "bool" in {pointee, element} and {pointee, element} <= {"bool", "int8_t", "uint8_t"}:
        return True
    readings = (element, _PARTS[element]) if element in _PARTS else (element,)
    return pointee in readings or pointee in {_UNSIGNED[_ELEMENT_BYTES[reading]] for reading in readings}


def _signature(entry: FoundEntry, structs: Mapping[str, KernelStruct], where: Spot, problems: Problems) -> KernelSignature | None:
    name = entry.name if entry.is_extern_c else entry.qualified
    try:
        return lay_out(name, list(entry.params), file=entry.file, line=entry.line, structs=structs)
    except UnknownParamTypeError as error:
        problems.add(
            Rule.ENTRY_FORM,
            f"{name!r} has a parameter of a type that opkit can't pass",
            where,
            because=f"{error} at {location_of(entry.file, error.line).place}",
            advice=f"use GM_ADDR, another pointer, or one of {one_of(scalar.value for scalar in ScalarType)}",
        )
        return None


def _has_usable_names(signature: KernelSignature, where: Spot, problems: Problems) -> bool:
    """Reports parameters and members whose names the generated C++ can't have."""
    before = len(problems)
    structs = dict.fromkeys(param.struct for param in signature.params if param.struct is not None)
    named: list[tuple[Rule, str, KernelSignature | KernelStruct, list[str]]] = [
        (Rule.ENTRY_FORM, "parameter", signature, [param.name for param in signature.params]),
        *((Rule.TILING, "member", struct, [field.name for field in struct.fields]) for struct in structs),
    ]
    for rule, noun, owner, names in named:
        reasons = {name: because for name in names if (because := why_no_cpp_word(name)) is not None}
        if reasons:
            message = f"{noun}{'s' if len(reasons) > 1 else ''} {one_of(map(repr, reasons))} of {owner.name!r} can't have that name"
            because = f"{next(iter(reasons.values()))}, and generated C++ has the name too, {owner.place}"
            problems.add(rule, message, where, because=because)
    return len(problems) == before


def _structs(
    entry: FoundEntry, source: KernelSource, defines: Mapping[str, int | str], where: Spot, problems: Problems
) -> dict[str, KernelStruct] | None:
    """The structs that the entry takes by value, by the C types of its parameters; None after reporting one that opkit can't pass."""
    constants = {**source.constants, **{name: value for name, value in defines.items() if isinstance(value, int)}}
    structs: dict[str, KernelStruct] = {}
    for c_type, name, line in entry.params:
        found = [] if is_pointer(c_type) or scalar_of(c_type) else _find_struct(c_type, entry, source)
        if not found:
            continue
        try:
            structs[c_type] = _only_struct(found, constants)
        except UnfitStructError as error:
            message = f"{c_type} {name} of {entry.name!r} can't be passed by value"
            because = f"{error}; the kernel takes it at {location_of(entry.file, line).place}"
            advice = "a struct of scalars and arrays of a fixed length can be passed, and a pointer can"
            problems.add(Rule.TILING, message, where, because=because, advice=advice)
            return None
    return structs


def _only_struct(found: Sequence[FoundStruct], constants: Mapping[str, int]) -> KernelStruct:
    """What all definitions of one name say. Raises UnfitStructError."""
    structs = [lay_out_struct(each, constants) for each in found]
    first = structs[0]
    if any(
        [attrs.evolve(field, line=0) for field in each.fields] != [attrs.evolve(field, line=0) for field in first.fields]
        for each in structs
    ):
        msg = f"it is defined in different ways, {one_of(location_of(each.file, each.line).place for each in found)}"
        raise UnfitStructError(msg)
    return first


def _find_struct(c_type: str, entry: FoundEntry, source: KernelSource) -> list[FoundStruct]:
    """The definitions of what a C type names where the entry stands, its own namespace first."""
    written = c_type.removeprefix("struct ")
    scopes = [""]
    if not written.startswith("::"):
        scopes = ["".join(f"{name}::" for name in entry.namespaces[:depth] if name) for depth in range(len(entry.namespaces), -1, -1)]
    name = written.removeprefix("::")
    matches = ([each for each in source.structs if each.name == scope + name] for scope in scopes)
    return next((found for found in matches if found), [])


def _types(entry: FoundEntry) -> list[str]:
    return [c_type for c_type, _, _ in entry.params]
