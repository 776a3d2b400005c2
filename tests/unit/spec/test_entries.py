"""The entry of a kernel as a spec names it: extern "C", in namespaces, mangled, and instances of templates for the dtypes of an op."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spec_support import SpecFolder, add_spec

from opkit.errors import SpecErrors
from opkit.spec import CoreType

if TYPE_CHECKING:
    from opkit.errors import SpecError
    from opkit.spec import Kernel

PARAMETERS = "(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t n) {}\n"
TEMPLATE = f"template <typename T>\n__global__ __aicore__ void add{PARAMETERS}"


def kernel_with(folder: SpecFolder, source: str, entry: str, **op: str) -> Kernel:
    folder.write("kernels/add.asc", source)
    return folder.add_op(launch={"entry": f'"{entry}"'}, **op).kernel


def mistake_with(folder: SpecFolder, source: str, entry: str, **op: str) -> SpecError:
    folder.write("kernels/add.asc", source)
    return folder.add_mistake(launch={"entry": f'"{entry}"'}, **op)


@pytest.mark.parametrize(
    ("source", "entry"),
    [
        (f'extern "C" __global__ __aicore__ void add{PARAMETERS}', "add"),
        (f'namespace ops {{\nextern "C" __global__ __aicore__ void add{PARAMETERS}}}', "add"),
        (f'extern "C" {{\nnamespace ops {{\n__global__ __aicore__ void add{PARAMETERS}}}\n}}', "ops::add"),
    ],
)
def test_an_entry_without_mangling_is_launched_by_its_name(folder: SpecFolder, source: str, entry: str) -> None:
    kernel = kernel_with(folder, source, entry)

    assert (kernel.expression, kernel.entry, kernel.signature.name) == (None, "add", "add")


@pytest.mark.parametrize(
    ("source", "entry", "expression"),
    [
        (f"__global__ __aicore__ void add{PARAMETERS}", "add", "add"),
        (f"namespace ops {{ namespace v2 {{\n__global__ __aicore__ void add{PARAMETERS}}} }}", "ops::v2::add", "ops::v2::add"),
        (f"namespace ops::v2 {{\n__global__ __aicore__ void add{PARAMETERS}}}", "::ops::v2::add", "ops::v2::add"),
        (TEMPLATE, "add<{T}>", "add<{T}>"),
        (TEMPLATE, " add < { x } > ", "add<{ x }>"),
        (TEMPLATE, "add<Pair<{T}, {x}>>", "add<Pair<{T}, {x}>>"),
        (f"namespace ops {{\n{TEMPLATE}}}", "ops::add<float>", "ops::add<float>"),
        (TEMPLATE.replace("typename T", "typename T, int kTile = 8, bool kFast = false"), "add<{T}, 16>", "add<{T}, 16>"),
        (TEMPLATE.replace("typename T", "typename... Ts"), "add<{x},{y},{z}>", "add<{x}, {y}, {z}>"),
        (TEMPLATE.replace("GM_ADDR x", "__gm__ T *x"), "add<{T}>", "add<{T}>"),
    ],
)
def test_another_entry_is_asked_for_by_an_expression(folder: SpecFolder, source: str, entry: str, expression: str) -> None:
    kernel = kernel_with(folder, source, entry)

    assert (kernel.expression, kernel.signature.function) == (expression, "add")


def test_the_parts_of_an_entry_are_texts_and_dtypes_in_turn(folder: SpecFolder) -> None:
    source = TEMPLATE.replace("typename T", "typename T, typename U")

    assert kernel_with(folder, source, "add<{T}, { x }>").entry_parts == ("add<", "T", ", ", "x", ">")


@pytest.mark.parametrize(
    ("source", "entry", "because", "advice"),
    [
        (TEMPLATE, "add", "add.asc:2 is a template", 'name its arguments, a dtype in braces: "add<{T}>"'),
        (f"__global__ __aicore__ void add{PARAMETERS}", "add<{T}>", "add.asc:1 is no template", "write 'add'"),
        (TEMPLATE, "add<{T}, 8>", "the template takes 1 argument, and 2 are given, add.asc:2", 'write e.g. "add<{T}>"'),
        (
            TEMPLATE.replace("typename T", "typename T, int kTile"),
            "add",
            "add.asc:2 is a template",
            'name its arguments, a dtype in braces: "add<{T}, …>"',
        ),
        (
            TEMPLATE.replace("typename T", "int kTile, class U, bool kFast = true"),
            "add<8>",
            "the template takes 2 to 3 arguments, and 1 are given, add.asc:2",
            'write e.g. "add<…, {U}>"',
        ),
        (
            TEMPLATE.replace("typename T", "typename T, int kTile = 8"),
            "add<{T}, 8, 9>",
            "the template takes 1 to 2 arguments, and 3 are given, add.asc:2",
            'write e.g. "add<{T}>"',
        ),
        (TEMPLATE, "add<>", "<> are no arguments of a template", 'write e.g. "add<{T}>"'),
        (TEMPLATE, "add<{T};>", "<{T};> are no arguments of a template", 'write e.g. "add<{T}>"'),
        (TEMPLATE, "add<{T} &>", "<{T} &> are no arguments of a template", 'write e.g. "add<{T}>"'),
        (
            TEMPLATE.replace("int64_t n", "T n"),
            "add<{T}>",
            "T n is of the template's own type, whose size differs from dtype to dtype, add.asc:2",
            "take it as a scalar of one type, or by its address",
        ),
        (
            f"namespace {{\n__global__ __aicore__ void add{PARAMETERS}}}",
            "add",
            "add.asc:2 is in a namespace without a name, so nothing outside of its file can name it",
            None,
        ),
    ],
)
def test_an_entry_that_has_no_name_is_refused(folder: SpecFolder, source: str, entry: str, because: str, advice: str | None) -> None:
    error = mistake_with(folder, source, entry)

    assert (error.number, error.message) == ("OPK0262", f"the entry {entry!r} can't be launched")
    assert (error.because, error.help) == (because, advice)


def test_a_symbol_without_braces_is_told(folder: SpecFolder) -> None:
    error = mistake_with(folder, TEMPLATE.replace("typename T", "class T, int kTile"), "add<T, 64>")

    assert (error.number, error.help) == ("OPK0262", "write {T}")
    assert error.because == "'T' is a symbol of dtypes, and add.asc has no type of that name"


@pytest.mark.parametrize("line", ["using T = float;", "typedef float T;", "struct T { int n; };", "#define T float"])
def test_a_type_of_the_sources_may_be_called_like_a_symbol(folder: SpecFolder, line: str) -> None:
    source = f"{line}\n" + TEMPLATE.replace("typename T", "typename U")

    assert kernel_with(folder, source, "add<T>").expression == "add<T>"


def test_a_define_may_be_called_like_a_symbol(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", TEMPLATE)

    assert folder.add_op(launch={"entry": '"add<T>"', "defines": '{"T": "float"}'}).kernel.expression == "add<T>"


def test_a_namespace_left_out_is_told(folder: SpecFolder) -> None:
    source = f"namespace ops {{\n__global__ __aicore__ void add{PARAMETERS}__global__ __aicore__ void other{PARAMETERS}}}"
    error = mistake_with(folder, source, "add")

    assert (error.number, error.because, error.help) == ("OPK0251", "it defines ops::add, ops::other", "did you mean 'ops::add'?")


@pytest.mark.parametrize(
    ("entry", "message", "advice"),
    [
        ("add<{U}>", "there is no dtype symbol or port 'U'", "the op has T, x, y, z"),
        ("add<{}>", "there is no dtype symbol or port ''", "the op has T, x, y, z"),
        ("add<{xx}>", "there is no dtype symbol or port 'xx'", "did you mean 'x'?"),
    ],
)
def test_an_unknown_name_in_braces_comes_with_the_known_ones(folder: SpecFolder, entry: str, message: str, advice: str) -> None:
    error = mistake_with(folder, TEMPLATE, entry)

    assert (error.number, error.message, error.help) == ("OPK0262", message, advice)


def test_a_name_of_symbol_and_port_is_ambiguous(folder: SpecFolder) -> None:
    op = {"inputs": '[Input("x", "x", shape="..."), Input("y", "x", shape="...")]', "outputs": '[Output("z", "x", shape="...")]'}
    error = mistake_with(folder, TEMPLATE, "add<{x}>", dtypes='{"x": ["float32"]}', **op)

    assert (error.number, error.message) == ("OPK0256", "{x} is both a symbol of dtypes and a port")


def test_a_dtype_without_a_type_in_a_kernel_is_no_argument(folder: SpecFolder) -> None:
    error = mistake_with(folder, TEMPLATE, "add<{T}>", dtypes='{"T": ["float32", "string", "qint8"]}')

    assert (error.number, error.message) == ("OPK0262", "{T} of the entry 'add<{T}>' may be string, qint8")


def test_a_list_whose_tensors_may_differ_has_no_dtype(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", TEMPLATE)
    inputs = '[Input("x", ["float32", "int32"], shape="...", dynamic=True, same_dtype=False), Input("y", "float32", shape="...")]'
    text = add_spec(
        inputs=inputs,
        outputs='[Output("z", "float32", shape="...")]',
        dtypes="{}",
        dtype_mode='"product"',
        launch={"entry": '"add<{x}>"', "args": '[address_list("x"), "y", "z", numel("x")]', "blocks": "8"},
    )
    found = folder.mistakes(text)

    assert [(error.number, error.because) for error in found] == [("OPK0262", "it is that of a list whose tensors may differ")]


def test_all_instances_of_a_template_must_have_one_list_of_parameters(folder: SpecFolder) -> None:
    error = mistake_with(folder, f"#ifdef A\n{TEMPLATE}#else\n__global__ __aicore__ void add{PARAMETERS}#endif\n", "add<{T}>")

    assert (error.number, error.because) == ("OPK0252", "add.asc:3 and add.asc:5")


def entry_of(words: str, qualifier: str = "") -> str:
    return f'extern "C" __global__ {qualifier} __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t n) {{\n  {words}\n}}\n'


@pytest.mark.parametrize(
    ("source", "core"),
    [
        (entry_of(""), CoreType.AIV),
        (entry_of("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);"), CoreType.AIV),
        (entry_of("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);"), CoreType.AIC),
        (entry_of("KERNEL_TASK_TYPE(1, KERNEL_TYPE_AIC_ONLY); KERNEL_TASK_TYPE(2, KERNEL_TYPE_AIC_ONLY);"), CoreType.AIC),
        (entry_of("// KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);"), CoreType.AIV),
        (entry_of("", "__vector__"), CoreType.AIV),
        (entry_of("", "__cube__"), CoreType.AIC),
        (entry_of("") + entry_of("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);").replace("add", "other"), CoreType.AIV),
    ],
)
def test_the_source_says_which_cores_a_kernel_runs_on(folder: SpecFolder, source: str, core: CoreType) -> None:
    assert kernel_with(folder, source, "add").core is core


@pytest.mark.parametrize(
    ("source", "because"),
    [
        (entry_of("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);"), "add.asc:1 says KERNEL_TYPE_MIX_AIC_1_2, and a kernel for both"),
        (entry_of("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);"), "add.asc:1 says KERNEL_TYPE_MIX_AIV_1_0, and a kernel for both"),
        (entry_of("", "__mix__(1, 2)"), "add.asc:1 says __mix__, and a kernel for both"),
        (entry_of("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AICORE);"), "add.asc:1 says KERNEL_TYPE_AICORE"),
        (entry_of("KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);", "__vector__"), "add.asc:1 says __vector__, KERNEL_TYPE_AIC_ONLY"),
    ],
)
def test_a_kernel_for_both_kinds_of_cores_is_refused(folder: SpecFolder, source: str, because: str) -> None:
    error = mistake_with(folder, source, "add")

    assert (error.number, error.message) == ("OPK0263", "the entry 'add' can't be launched")
    assert (error.because or "").startswith(because)


@pytest.mark.parametrize(
    ("entry", "because"),
    [
        ("add<float", "`<` is never closed"),
        ("add<{T}", "`<` is never closed"),
        ("add<{T", "`{` is never closed"),
        ("add{T}>", "`>` closes nothing"),
        ("add<{T>}", "`>` closes nothing"),
        ("add<{T>>", "`>` closes nothing"),
        ("add<Pair<{T}>", "`<` is never closed"),
    ],
)
def test_a_bracket_without_its_other_half_is_one_mistake(folder: SpecFolder, entry: str, because: str) -> None:
    error = mistake_with(folder, TEMPLATE, entry)

    assert (error.number, error.message, error.because) == ("OPK0262", f"the entry {entry!r} is no name of a kernel", because)


@pytest.mark.parametrize("number", ["1<<2", "1 << 2", "(2>1)", "1<2", "sizeof(int)", "8 / 2"])
def test_a_computed_argument_of_a_template_has_its_place_in_defines(folder: SpecFolder, number: str) -> None:
    error = mistake_with(folder, TEMPLATE.replace("typename T", "typename T, int kTile"), f"add<{{T}}, {number}>")

    assert error.message == f"the entry 'add<{{T}}, {number}>' can't be launched"
    assert error.because == f"one of the arguments <{{T}}, {number}> is computed, and opkit reads names and numbers"
    assert error.help == 'put the number into `defines` and its name here, e.g. "add<{T}, COUNT>" with defines={"COUNT": 8}'


def test_a_number_of_a_template_may_be_a_define(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", TEMPLATE.replace("typename T", "typename T, int kTile"))
    kernel = folder.add_op(launch={"entry": '"add<{T}, COUNT>"', "defines": '{"COUNT": "1 << 2"}'}).kernel

    assert (kernel.expression, kernel.defines) == ("add<{T}, COUNT>", {"COUNT": "1 << 2"})


POINTERS = "(__gm__ {x} *x, GM_ADDR y, const __gm__ {z} *z, int64_t length) {{}}"
TWO_DTYPES = '{"T": ["float32", "float16"], "S": ["float32", "float32"]}'


def typed(folder: SpecFolder, x: str, z: str, *, head: str = 'extern "C"') -> None:
    folder.write("kernels/add.asc", f"{head} __global__ __aicore__ void add{POINTERS.format(x=x, z=z)}")


@pytest.mark.parametrize(
    ("dtypes", "x", "because"),
    [
        ('{"T": ["float32", "float16"]}', "float", "'x' is float16 in combination 2, half in device code"),
        ('{"T": ["float32", "float16"]}', "half", "'x' is float32 in combination 1, float in device code"),
        ('{"T": ["int64"]}', "int32_t", "'x' is int64, int64_t in device code"),
        ('{"T": ["int64"]}', "int", "'x' is int64, int64_t in device code"),
        ('{"T": ["int32"]}', "float", "'x' is int32, int32_t in device code"),
        ('{"T": ["uint8"]}', "float", "'x' is uint8, uint8_t in device code"),
        ('{"T": ["uint8"]}', "int8_t", "'x' is uint8, uint8_t in device code"),
        ('{"T": ["float8_e5m2"]}', "half", "'x' is float8_e5m2, fp8_e5m2_t in device code"),
        ('{"T": ["complex64"]}', "half", "'x' is complex64, complex64 in device code"),
        ('{"T": ["float16", "bfloat16"]}', "half", "'x' is bfloat16 in combination 2, bfloat16_t in device code"),
        ('{"T": ["float16", "float32"]}', "uint16_t", "'x' is float32 in combination 2, float in device code"),
        ('{"T": ["uint32"]}', "int32_t", "'x' is uint32, uint32_t in device code"),
    ],
)
def test_a_pointer_to_elements_of_another_dtype_is_refused(folder: SpecFolder, dtypes: str, x: str, because: str) -> None:
    typed(folder, x, "uint8_t")
    error = folder.add_mistake(dtypes=dtypes)

    assert (error.number, error.because) == ("OPK0254", because)
    assert error.message == f"argument 1, 'x' of AddCustom, doesn't fit {x} * x"
    assert error.help == "take it as __gm__ DTYPE_X *x, or as GM_ADDR"


@pytest.mark.parametrize(
    ("dtypes", "x"),
    [
        ('{"T": ["float32", "float16"]}', "DTYPE_X"),
        ('{"T": ["float32", "float16"]}', "uint8_t"),
        ('{"T": ["float32", "float16"]}', "void"),
        ('{"T": ["float16"]}', "half"),
        ('{"T": ["int64"]}', "long long int"),
        ('{"T": ["bool"]}', "int8_t"),
        ('{"T": ["bool"]}', "uint8_t"),
        ('{"T": ["uint8"]}', "bool"),
        ('{"T": ["uint8"]}', "char"),
        ('{"T": ["complex64"]}', "float"),
        ('{"T": ["complex64"]}', "uint64_t"),
        ('{"T": ["complex32"]}', "half"),
        ('{"T": ["int4"]}', "int8_t"),
        ('{"T": ["float16", "bfloat16", "int16"]}', "uint16_t"),
        ('{"T": ["float32", "int32"]}', "unsigned int"),
        ('{"T": ["float64", "int64"]}', "uint64_t"),
    ],
)
def test_a_pointer_to_bytes_or_to_the_port_s_elements_is_right(folder: SpecFolder, dtypes: str, x: str) -> None:
    typed(folder, x, x)

    assert folder.add_op(dtypes=dtypes).kernel.args[0].param.is_pointer


@pytest.mark.parametrize("entry", ["add<{T}>", "add<{x}>"])
def test_a_pointer_to_the_template_s_type_has_the_dtype_that_the_entry_names(folder: SpecFolder, entry: str) -> None:
    typed(folder, "U", "U", head="template <typename U>")
    y_of_s = '[Input("x", "T", shape="..."), Input("y", "S", shape="...")]'

    assert folder.add_op(dtypes=TWO_DTYPES, inputs=y_of_s, launch={"entry": f'"{entry}"'}).kernel.type_args == {"U": entry[4:-1]}


@pytest.mark.parametrize(("entry", "told"), [("add<{S}>", ", and {S} is float"), ("add<{y}>", ", and {y} is float"), ("add<float>", "")])
def test_a_pointer_to_the_template_s_type_of_another_dtype_is_refused(folder: SpecFolder, entry: str, told: str) -> None:
    typed(folder, "U", "uint8_t", head="template <typename U>")
    y_of_s = '[Input("x", "T", shape="..."), Input("y", "S", shape="...")]'
    error = folder.add_mistake(dtypes=TWO_DTYPES, inputs=y_of_s, launch={"entry": f'"{entry}"'})

    assert (error.number, error.message) == ("OPK0254", f"argument 1, 'x' of AddCustom, doesn't fit U * x, {entry[4:-1]}")
    assert error.because == f"'x' is float16 in combination 2, half in device code{told}"
    assert error.help == "the entry can name the dtype of a port, <{x}>"


@pytest.mark.parametrize("argument", ["{T}*", "{T} const", "const {T}", "Pair<{T}, {x}>", "{x}, {y}"])
def test_an_argument_that_is_more_than_a_dtype_is_any_type(folder: SpecFolder, argument: str) -> None:
    typed(folder, "U", "uint8_t", head="template <typename U, typename... Us>")

    assert folder.add_op(launch={"entry": f'"add<{argument}>"'}).kernel.expression == f"add<{argument}>"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(argument=st.from_regex(re.compile(r"(?:\{ ?[Txw] ?\}|[Tx8:<>{},*+-]| ){1,8}"), fullmatch=True))
def test_any_argument_of_a_template_gives_a_package_or_a_mistake(folder: SpecFolder, argument: str) -> None:
    typed(folder, "U", "uint8_t", head="template <typename U, typename... Us>")
    with suppress(SpecErrors):
        folder.add(launch={"entry": repr(f"add<{argument}>")})


def test_a_list_whose_tensors_may_differ_is_no_element(folder: SpecFolder) -> None:
    parameters = PARAMETERS.replace("GM_ADDR y", "__gm__ U *y")
    folder.write("kernels/add.asc", f"template <typename U>\n__global__ __aicore__ void add{parameters}")
    text = add_spec(
        inputs='[Input("x", ["float32", "int32"], dynamic=True, same_dtype=False), Input("y", "float32", shape="...")]',
        outputs='[Output("z", "float32", shape="...")]',
        dtypes="{}",
        launch={"entry": '"add<{x}>"', "args": '[address_list("x"), "y", "z", numel("y")]', "blocks": "8"},
    )

    assert [error.number for error in folder.mistakes(text)] == ["OPK0262"]


@pytest.mark.parametrize(
    "line", ["namespace ns { using half = float; }", "#define half float", "typedef float half;", "typedef float real, half;"]
)
def test_a_type_that_the_sources_define_is_what_they_say(folder: SpecFolder, line: str) -> None:
    folder.write("kernels/add.asc", f'{line}\nextern "C" __global__ __aicore__ void add{POINTERS.format(x="half", z="half")}')

    assert folder.add_op().kernel.args[0].param.c_type == "half *"


def test_a_define_may_be_called_like_a_type(folder: SpecFolder) -> None:
    typed(folder, "half", "half")

    assert folder.add_op(launch={"defines": '{"half": "float"}'}).kernel.args[0].param.c_type == "half *"


def test_a_name_for_a_type_hides_no_mistake(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", f'typedef half Real;\nextern "C" __global__ __aicore__ void add{POINTERS.format(x="half", z="float")}')

    assert folder.add_mistake().number == "OPK0254"


def test_each_op_of_a_kernel_is_told_of_its_own_elements(folder: SpecFolder) -> None:
    typed(folder, "float", "uint8_t")
    ops = 'ops=[op.replace(type="Halves", dtypes={"T": "float16"}), op.replace(type="Ints", dtypes={"T": "int32"})]'
    found = folder.mistakes(add_spec().replace("ops=[op]", ops))

    assert [error.message for error in found] == [f"argument 1, 'x' of {op}, doesn't fit float * x" for op in ("Halves", "Ints")]
