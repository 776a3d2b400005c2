"""A workspace is a kernel argument: an address, of memory of a size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opkit.spec import Numel, Workspace

if TYPE_CHECKING:
    from spec_support import SpecFolder

PARAMETERS = "GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR partial, int64_t length"


def args(workspace: str) -> dict[str, str]:
    return {"args": f'["x", "y", "z", {workspace}, numel("x")]'}


def test_a_workspace_is_as_large_as_its_size(folder: SpecFolder) -> None:
    folder.kernel(PARAMETERS)
    arg = folder.add_op(launch=args('workspace(ceil_div(numel("x"), 1024) * 4)')).kernel.args[3]

    assert str(arg.value) == 'workspace(ceil_div(numel("x"), 1024) * 4)'
    assert arg.param.is_pointer


def test_the_block_length_in_a_workspace_s_size_is_changed_with_the_define(folder: SpecFolder) -> None:
    folder.kernel(PARAMETERS)
    kernel = folder.add_op(launch={**args('workspace(numel("x") * 1024)'), "defines": '{"BLOCK_SIZE": 1024}'}).kernel

    assert str(kernel.with_define("BLOCK_SIZE", 8).args[3].value) == 'workspace(numel("x") * 8)'


def test_a_constant_number_of_bytes_is_folded(folder: SpecFolder) -> None:
    folder.kernel(PARAMETERS)
    assert folder.add_op(launch=args("workspace(min_(4, 8) * 16)")).kernel.args[3].value != Workspace(Numel("x"))
    assert str(folder.add_op(launch=args("workspace(min_(4, 8) * 16)")).kernel.args[3].value) == "workspace(64)"


@pytest.mark.parametrize(
    ("parameters", "workspace", "number", "message"),
    [
        (
            PARAMETERS.replace("GM_ADDR partial", "int64_t partial"),
            "workspace(64)",
            "0260",
            "argument 4, workspace(64), doesn't fit int64_t partial",
        ),
        (PARAMETERS, "workspace(-1)", "0260", "a workspace can't have -1 bytes"),
        (PARAMETERS, "workspace()", "0257", "workspace takes 1 operand, not 0"),
        (PARAMETERS, "workspace(64) + 1", "0257", "workspace(…) is a whole kernel argument, no part of a size"),
        (PARAMETERS, "workspace(1.5)", "0257", "1.5 is no size expression"),
        (PARAMETERS, 'workspace("x")', "0257", "'x' is a port, and a size needs a number"),
    ],
)
def test_a_workspace_that_no_kernel_can_have_is_refused(
    folder: SpecFolder, parameters: str, workspace: str, number: str, message: str
) -> None:
    folder.kernel(parameters)
    error = folder.add_mistake(launch=args(workspace))

    assert (error.number, error.message) == (f"OPK{number}", message)
