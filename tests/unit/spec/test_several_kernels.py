"""Several kernels of one op: all of them are checked, an output may come from any, and a workspace may carry data between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec_support import SpecFolder, add_spec

from opkit.spec import Workspace

if TYPE_CHECKING:
    from opkit.spec import Op

SOURCE = """\
extern "C" __global__ __aicore__ void first(GM_ADDR x, GM_ADDR y, GM_ADDR partial) {}
extern "C" __global__ __aicore__ void second(GM_ADDR partial, GM_ADDR own, GM_ADDR z, int32_t n) {}
"""
FIRST = 'Kernel("kernels/add.asc", entry="first", args=["x", "y", partial], blocks=1)'
SECOND = 'Kernel("kernels/add.asc", entry="second", args=[partial, workspace(64), "z", numel("z")], blocks=1)'


def spec(kernel: str) -> str:
    return add_spec(kernel=kernel).replace("kernel = Kernel", "partial = workspace(64)\nkernel = Kernel")


def op_with(folder: SpecFolder, kernel: str) -> Op:
    folder.write("kernels/add.asc", SOURCE)
    text = spec(kernel)
    return folder.load(text).ops[0]


def test_kernels_are_launched_in_the_order_of_the_list(folder: SpecFolder) -> None:
    op = op_with(folder, f"[{FIRST}, {SECOND}]")

    assert [kernel.entry for kernel in op.kernels] == ["first", "second"]
    assert op.kernel is op.kernels[0]


def test_one_workspace_in_two_kernels_is_the_same_memory(folder: SpecFolder) -> None:
    first, second = op_with(folder, f"[{FIRST}, {SECOND}]").kernels
    numbers = [arg.value.number for arg in (*first.args, *second.args) if isinstance(arg.value, Workspace)]

    assert numbers == [0, 0, 1]


def test_two_workspaces_of_one_size_are_two(folder: SpecFolder) -> None:
    second = SECOND.replace("[partial,", "[workspace(64),")
    kernels = op_with(folder, f"[{FIRST}, {second}]").kernels
    numbers = [arg.value.number for kernel in kernels for arg in kernel.args if isinstance(arg.value, Workspace)]

    assert numbers == [0, 1, 2]


def test_a_kernel_may_be_launched_twice(folder: SpecFolder) -> None:
    op = op_with(folder, f"[{FIRST}, {SECOND}, {FIRST}]")

    assert [kernel.entry for kernel in op.kernels] == ["first", "second", "first"]


def test_an_output_that_no_kernel_gets_is_a_mistake(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", SOURCE)
    error = folder.mistake(spec(f"[{FIRST}, {FIRST}]"))

    assert (error.number, error.message) == ("OPK0254", "no kernel gets output 'z'")


def test_the_mistakes_of_all_kernels_are_told_at_once(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", SOURCE)
    found = folder.mistakes(spec(f"[{FIRST.replace('first', 'frist')}, {SECOND.replace('numel', 'i64(numel').replace(')]', '))]')}]"))

    assert [error.number for error in found] == ["OPK0251", "OPK0254"]


def test_the_files_of_all_kernels_are_the_package_s(folder: SpecFolder) -> None:
    folder.write("kernels/other.asc", SOURCE)
    folder.write("kernels/add.asc", SOURCE)
    package = folder.load(spec(f"[{FIRST.replace('add.asc', 'other.asc')}, {SECOND}]"))

    assert [file.name for file in package.kernel_files] == ["other.asc", "add.asc"]


def test_a_benchmark_is_held_against_every_kernel(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", SOURCE.replace("int32_t n", "int8_t n"))
    text = spec(f"[{FIRST}, {SECOND}]").replace("ops=[op])", 'ops=[op], benchmark=Benchmark(op, shapes={"x": (128,), "y": (128,)}))')
    error = folder.mistake(text)

    assert (error.message, error.because) == ('the benchmark\'s shapes make `numel("z")` 128', "int8_t n holds -128 to 127")
