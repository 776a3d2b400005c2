"""All mistakes of one spec are told at once, in the order of the file, the same in every run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from spec_support import SpecFolder, add_spec

from opkit.errors import SpecErrors
from opkit.spec import load_package
from opkit.spec.problems import Rule

FIVE_MISTAKES = """\
from opkit import Input, Kernel, Op, Output, Package, ceil_div, numel

kernel = Kernel(
    "kernels/add.asc",
    entry="ad",
    args=["x", "y", "z", numel("w")],
    blocks=ceil_div(numel("x"), 1024),
)
op = Op(
    "AddCustom",
    inptus=[],
    inputs=[Input("x", "T", shape="..."), Input("y", "T", shape="...")],
    outputs=[
        Output("z", "float23", shape="..."),
        Output("mask", "int32"),
    ],
    dtypes={"T": ["float32"]},
    kernel=kernel,
)
package = Package("my_ops", ops=[op])
"""

TOLD = """\
error[OPK0251]: add.asc doesn't define an entry 'ad'
  --> ops.py:5   entry="ad",
  because: it defines add
  help: did you mean 'add'?
error[OPK0255]: there is no port 'w'
  --> ops.py:6   args=["x", "y", "z", numel("w")],
  help: the op has x, y, z, mask
error[OPK0206]: Op takes no 'inptus'
  --> ops.py:11   inptus=[],
  help: did you mean 'inputs'?
error[OPK0220]: 'float23' is neither a dtype nor a symbol of this op
  --> ops.py:14   Output("z", "float23", shape="..."),
  help: did you mean 'float32'?
error[OPK0213]: output 'mask' has no shape rule
  --> ops.py:15   Output("mask", "int32"),
  because: GE would infer an unknown rank and leave the static path
  help: give shape="..." or dims that inputs name, e.g. shape="n k"; upper_bound(…) for dims that only the kernel knows
5 errors"""


def rendered(folder: SpecFolder, text: str) -> str:
    folder.write("ops.py", text)
    with pytest.raises(SpecErrors) as caught:
        load_package(folder.ops_py)
    assert caught.value.exit_code == 2
    return caught.value.render()


def test_a_spec_with_five_mistakes_lists_all_five(folder: SpecFolder) -> None:
    assert rendered(folder, FIVE_MISTAKES) == TOLD


def test_the_five_mistakes_read_the_same_in_every_process(folder: SpecFolder) -> None:
    folder.write("ops.py", FIVE_MISTAKES)
    code = (
        "import pathlib, opkit.spec, opkit.errors\n"
        f"try: opkit.spec.load_package(pathlib.Path({str(folder.ops_py)!r}))\n"
        "except opkit.errors.SpecErrors as error: print(error.render())\n"
    )
    import opkit

    told = set()
    for seed in ("1", "2"):
        environ = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(opkit.__file__).parents[1])}
        told.add(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environ).stdout.strip())
    assert told == {TOLD}


MEASURED = add_spec(attrs='[Attr("k", int, default=1)]').replace(
    "ops=[op])", 'ops=[op, base], benchmark=Benchmark(op, baseline=base, shapes={"x": (4,), "y": (4,)}))'
)
MEASURED = MEASURED.replace("package =", 'base = op.replace(type="AddBase", refresh="none")\npackage =')


@pytest.mark.case("B12")
@pytest.mark.parametrize(
    ("keyword", "misspelt", "kind"),
    [
        ("type=", "typ=", "Op"),
        ("inputs=", "input=", "Op"),
        ("outputs=", "output=", "Op"),
        ("attrs=", "attr=", "Op"),
        ("dtypes=", "dtype=", "Op"),
        ("kernel=", "kernal=", "Op"),
        ("source=", "sorce=", "Kernel"),
        ("entry=", "entri=", "Kernel"),
        ("args=", "arg=", "Kernel"),
        ("blocks=", "block_num=", "Kernel"),
        ('Input("x", "T", shape=', 'Input("x", "T", shap=', "Input"),
        ('Input("x", "T"', 'Input("x", dtyp="T"', "Input"),
        ('Output("z", "T", shape=', 'Output("z", "T", Shape=', "Output"),
        ("default=", "defalt=", "Attr"),
        ("ops=", "op=", "Package"),
        ("benchmark=", "bench_mark=", "Package"),
        ("baseline=", "base_line=", "Benchmark"),
        ("shapes=", "shape_s=", "Benchmark"),
        ('type="AddBase"', 'typ="AddBase"', "Op"),
    ],
)
def test_a_misspelt_keyword_is_the_only_mistake_told(folder: SpecFolder, keyword: str, misspelt: str, kind: str) -> None:
    error = folder.mistake(MEASURED.replace(keyword, misspelt, 1))

    assert error.number == "OPK0206"
    assert error.message.startswith(f"{kind} takes no ")
    assert (error.help or "").startswith("did you mean")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("inputs=", "x_and_y="),
        ("outputs=", "z="),
        ("attrs=", "knobs="),
        ("dtypes=", "allowed="),
        ("kernel=", "with_what="),
        ("entry=", "function="),
        ("args=", "launch="),
        ('Output("z", "T", shape=', 'Output("z", "T", rule='),
        ('Output("z", "T", shape=', 'Output("z", "T", '),
        ('Input("x", "T", shape=', 'Input(called="x", dtype="T", shape='),
        ("ops=", "holds="),
        ("ops=[op, base]", "[op, base]"),
        ("shapes=", "sizes="),
    ],
)
def test_an_argument_in_no_place_of_its_own_is_the_only_mistake_told(folder: SpecFolder, right: str, wrong: str) -> None:
    assert folder.mistake(MEASURED.replace(right, wrong, 1)).number == "OPK0206"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": ""}, "Op lacks 'inputs'"),
        ({"inputs": 'Input("x", "T", shape="...")'}, "inputs of Op is an Input, not a list"),
        ({"inputs": '["x", Input("y", "T", shape="...")]'}, "inputs of Op holds 'x', not an Input"),
        ({"inputs": '[Input(dtype="T", shape="..."), Input("y", "T", shape="...")]'}, "Input lacks 'name'"),
        ({"outputs": ""}, "Op lacks 'outputs'"),
        ({"dtypes": '["float32"]'}, "dtypes is ['float32'], not a dict"),
    ],
)
def test_what_an_unreadable_argument_would_have_told_is_not_called_unknown(
    folder: SpecFolder, change: dict[str, str], message: str
) -> None:
    text = add_spec(change, reference="lambda x, y: x").replace("[op]", '[op, op.replace(type="AddCopy")]')

    assert folder.mistake(text).message == message


def test_the_value_of_a_misspelt_keyword_is_checked_where_it_stands(folder: SpecFolder) -> None:
    text = add_spec(inputs='[Input("x", "T", shape="..."),\n    "y"]').replace("inputs=", "input=")

    assert [(error.message, error.where) for error in folder.mistakes(text)][1:] == [
        (
            "inputs of Op holds 'y', not an Input",
            'ops.py:4   "y"], outputs=[Output("z", "T", shape="...")], dtypes={"T": ["float32"]}, kernel=kernel)',
        )
    ]


def test_a_wrong_keyword_hides_no_mistake_of_another_declaration(folder: SpecFolder) -> None:
    text = add_spec(doc='"adds"', launch={"args": '["x", "y", "z", numel("w")]', "entry": '"ad"'})

    assert [error.number for error in folder.mistakes(text)] == ["OPK0251", "OPK0255", "OPK0206"]


def test_a_mistake_that_a_copy_took_over_is_told_once(folder: SpecFolder) -> None:
    text = add_spec(refresh='"updatr"', outputs='[Output("z", "T")]').replace("package =", 'copy = op.replace(type="AddCopy")\npackage =')

    assert [error.number for error in folder.mistakes(text.replace("[op]", "[op, copy]"))] == ["OPK0213", "OPK0270"]


@pytest.mark.case("K4")
@pytest.mark.parametrize(
    ("kernel", "number", "message"),
    [
        ("", "OPK0207", "Op lacks 'kernel'"),
        ("None", "OPK0208", "the kernel is None, not a Kernel"),
        ("[]", "OPK0208", "the kernel is [], not a Kernel"),
    ],
)
def test_an_op_that_only_needs_the_host_is_told_that_it_has_no_kernel(folder: SpecFolder, kernel: str, number: str, message: str) -> None:
    error = folder.add_mistake(kernel=kernel)

    assert (error.number, error.message, error.exit_code) == (number, message, 2)


@pytest.mark.parametrize(
    "mistake",
    [
        {"inputs": '[Input("x", "float23", shape="..."), Input("y", "T", shape="...")]'},
        {"inputs": '[Input("x", "T", shape="..."), Input("y", [], shape="...")]'},
        {"inputs": '[Input("x", "T", shape="n,"), Input("y", "T", shape="...")]'},
        {"attrs": '[Attr("k", int, default=1.5)]'},
        {"dtypes": '{"T": ["float23"]}'},
        {"dtypes": '{"T": ["int8", "int8"]}'},
        {"kernel": "None"},
        {"kernel": "kernel.replace(entry='ad')"},
        {"reference": "lambda x: x"},
    ],
)
def test_copies_of_a_mistaken_op_add_nothing(folder: SpecFolder, mistake: dict[str, str]) -> None:
    text = add_spec(mistake)
    alone = [error.render() for error in folder.mistakes(text)]
    copies = text.replace("[op]", '[op, op.replace(type="B"), op.replace(type="C")]')

    assert [error.render() for error in folder.mistakes(copies)] == alone


def test_a_mistake_of_an_op_that_only_lives_on_in_its_copy_is_told(folder: SpecFolder) -> None:
    text = add_spec(refrsh='"none"').replace("package =", 'op = op.replace(type="AddCopy")\npackage =')
    error = folder.mistake(text)

    assert (error.message, (error.where or "")[:8]) == ("Op takes no 'refrsh'", "ops.py:3")


def test_a_mistake_in_a_copy_is_told_at_the_copy(folder: SpecFolder) -> None:
    text = add_spec().replace(
        "package =", 'copy = op.replace(\n    type="AddCopy",\n    refrsh="none",\n    refresh="never",\n)\npackage ='
    )
    found = folder.mistakes(text.replace("[op]", "[op, copy]"))

    assert [(error.message, error.where) for error in found] == [
        ("Op takes no 'refrsh'", 'ops.py:6   refrsh="none",'),
        ("'never' is no way to refresh addresses", 'ops.py:7   refresh="never",'),
    ]


def test_a_kernel_s_copy_takes_over_what_isn_t_changed(folder: SpecFolder) -> None:
    text = add_spec().replace("package =", "op = op.replace(kernel=kernel.replace(blocks=7))\npackage =")

    assert str(folder.load(text).ops[0].kernel.blocks) == "7"


@pytest.mark.case("B13")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ops=[op, op]", "the op 'AddCustom' is in ops twice"),
        ('ops=[op, op.replace(refresh="none")]', "two ops have the type 'AddCustom'"),
    ],
)
def test_one_name_for_two_ops_is_a_mistake(folder: SpecFolder, change: str, message: str) -> None:
    error = folder.mistake(add_spec().replace("ops=[op]", change))

    assert (error.number, error.message) == ("OPK0212", message)


def test_an_op_type_may_not_hide_the_class_that_another_op_is_made_of(folder: SpecFolder) -> None:
    error = folder.mistake(add_spec().replace("ops=[op]", 'ops=[op, op.replace(type="AddCustomImpl")]'))

    assert (error.number, error.message) == ("OPK0210", "'AddCustomImpl' can't be an op type here")
    assert (error.because or "").startswith("the generated C++ has a class AddCustomImpl for 'AddCustom', ")


@pytest.mark.parametrize(
    ("package", "number", "message"),
    [
        ('Package("my_ops", ops=[])', "OPK0207", "the package has no ops"),
        ('Package("my_ops")', "OPK0207", "Package lacks 'ops'"),
        ("Package(ops=[op])", "OPK0207", "Package lacks 'name'"),
        ('Package("my_ops", ops=op)', "OPK0208", "ops of Package is an Op, not a list"),
        ('Package("my_ops", ops=[kernel])', "OPK0208", "ops of Package holds a Kernel, not an Op"),
        ('Package("my_ops", [op])', "OPK0206", "Package takes 1 argument by position, and more are given"),
        ('Package("my_ops", ops=[op], benchmark=op)', "OPK0208", "the benchmark is an Op, not a Benchmark"),
        ('Package("my_ops", ops=[op], version="1")', "OPK0206", "Package takes no 'version'"),
        ("Package(3, ops=[op])", "OPK0208", "name of Package is 3, not a text"),
    ],
)
def test_a_package_with_a_wrong_argument_says_which(folder: SpecFolder, package: str, number: str, message: str) -> None:
    found = folder.mistakes(add_spec().replace('Package("my_ops", ops=[op])', package))

    assert (number, message) in [(error.number, error.message) for error in found]


def test_more_ops_than_a_package_can_have_are_told_before_hours_of_building(folder: SpecFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of the manifest would refuse what was built."""
    monkeypatch.setattr("opkit.spec.resolve.MOST_OPS", 3)
    ops = '[op, *(op.replace(type=f"Add{number}") for number in range(2))]'
    assert len(folder.load(add_spec().replace("[op]", ops)).ops) == 3
    error = folder.mistake(add_spec().replace("[op]", ops.replace("range(2)", "range(3)")))
    assert (error.number, error.message) == ("OPK0275", "the package has 4 ops")
    assert (error.because, error.help) == ("a package has at most 3", "make several packages of them")


def test_an_argument_given_by_a_variable_is_shown_at_the_declaration(folder: SpecFolder) -> None:
    text = add_spec(refresh="WAY").replace("kernel = Kernel", 'WAY = "updatr"\nkernel = Kernel')

    assert (folder.mistake(text).where or "").startswith("ops.py:4   op = Op(")


def test_a_declaration_made_by_a_function_is_shown_in_the_function(folder: SpecFolder) -> None:
    folder.write(
        "helper.py",
        "from opkit import Input\n\ndef port(name):\n    return Input(\n        name,\n        'T',\n        shape='n,',\n    )\n",
    )
    text = add_spec(inputs='[helper.port("x"), helper.port("y")]', outputs='[Output("z", "T", shape="4")]')
    found = folder.mistakes("import helper\n" + text)

    assert [(error.message, error.where) for error in found] == [("'n,' is no shape", "helper.py:7   shape='n,',")]


def test_a_call_under_another_name_is_shown_by_its_first_line(folder: SpecFolder) -> None:
    text = add_spec(refresh='"updatr"').replace("op = Op(", "O = Op\nop = O(\n")

    assert folder.mistake(text).where == "ops.py:4   op = O("


def test_every_rule_has_a_number_and_a_title_of_its_own() -> None:
    numbers = [rule.number for rule in Rule]

    assert len(set(numbers)) == len(numbers)
    assert sorted(numbers) == numbers
    assert all(number.startswith("OPK02") for number in numbers)
    assert len({rule.title for rule in Rule}) == len(numbers)


def test_a_wrong_default_hides_no_other_mistake_of_its_op(folder: SpecFolder) -> None:
    """The attr is known all the same: what its type doesn't fit, what the columns repeat and what the benchmark gives it are told too."""
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t length, int32_t scale")
    text = add_spec(
        attrs='[Attr("k", int, default=1.5), Attr("alpha", float, default="much")]',
        dtypes='{"T": ["float32", "float32"]}',
        launch={"args": '["x", "y", "z", "k", "alpha"]'},
    ).replace("ops=[op]", 'ops=[op], benchmark=Benchmark(op, shapes={"x": (8,), "y": (8,)}, attrs={"k": "many", "beta": 1})')

    assert [(error.number, error.message) for error in folder.mistakes(text)] == [
        ("OPK0254", 'argument 5, attr("alpha"), doesn\'t fit int32_t scale'),
        ("OPK0241", "the default of attr 'k' is 1.5, and its type is int"),
        ("OPK0241", "the default of attr 'alpha' is 'much', and its type is float"),
        ("OPK0221", "two columns of the dtype lists are equal"),
        ("OPK0280", "attrs has 'beta', and the op has no such attr"),
        ("OPK0280", "attr 'k' is 'many', and its type is int"),
    ]
