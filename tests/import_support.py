"""What the tests of imports share: headers to import, and the answers that make a spec of an import complete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from opkit.codegen.proto import proto_lines
from opkit.spec import load_package
from opkit.spec.importers import bring, spec_text

if TYPE_CHECKING:
    from pathlib import Path

    from opkit.spec import Package
    from opkit.spec.importers import Brought, Prototype


def header(*ops: str) -> str:
    """A proto header as people write them, with these REG_OP texts in it."""
    return "\n".join(["#ifndef OPS_H_", "#define OPS_H_", '#include "graph/operator_reg.h"', "namespace ge {", *ops, "}", "#endif", ""])


def import_header(folder: Path, *ops: str) -> tuple[Prototype, ...]:
    file = folder / "ops.h"
    file.write_text(header(*ops), encoding="utf-8")
    return bring(file).prototypes


def answered(brought: Brought, folder: Path, *, dtype_mode: str = "product") -> Package:
    """The package of an import after each of its questions got an answer that any op can have: outputs have the shape [1]."""
    text = spec_text(brought, "answered").text
    (folder / "kernels").mkdir(parents=True, exist_ok=True)
    parts = re.split(r"(?m)^(?=\w+ = Op\()", text)
    ports = {prototype.type: list(dict.fromkeys(port.name for port in prototype.ports)) for prototype in brought.prototypes}
    for prototype in brought.prototypes:
        parameters = ", ".join([*(f"GM_ADDR {name}_" for name in ports[prototype.type]), "int64_t one_"])
        source = f'extern "C" __global__ __aicore__ void k({parameters}) {{}}\n'
        (folder / "kernels" / f"{prototype.type}.asc").write_text(source)
    assert len(parts) == len(brought.prototypes) + 1
    for index, prototype in enumerate(brought.prototypes):
        dynamic = {port.name for port in prototype.ports if port.kind.is_dynamic}
        args = [f'address_list("{name}")' if name in dynamic else f'port("{name}")' for name in ports[prototype.type]]
        # The kernel of an op stands above it.
        parts[index] = parts[index].replace("    ...,", f'    "kernels/{prototype.type}.asc",', 1)
        parts[index] = parts[index].replace("entry=...", 'entry="k"').replace("args=...", f"args=[{', '.join([*args, '1'])}]")
    text = "".join(parts).replace("blocks=...", "blocks=1").replace("shape=...", 'shape="1"').replace("    reference=...,\n", "")
    text = text.replace("dtype_mode=...", f'dtype_mode="{dtype_mode}"').replace(
        "from opkit import", "from opkit import address_list, port,", 1
    )
    assert re.search(r"(?m)^[^#\"]*\.\.\.(?!`)", text.split('"""', 2)[2]) is None, text
    (folder / "ops.py").write_text(text, encoding="utf-8")
    return load_package(folder / "ops.py")


def reg_op(package: Package) -> list[str]:
    """The REG_OP text of each op, as the rendered header has it."""
    return [f"REG_OP({op.type})" + "".join(proto_lines(op)) + f".OP_END_FACTORY_REG({op.type})" for op in package.ops]
