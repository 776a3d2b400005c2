"""What the templates are given, as values that a template only has to place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from opkit.codegen.dtype_rows import ChoiceContext, RowContext, SocContext
    from opkit.codegen.expressions import ArgStatements, BlockStatements, KernelShapeStatements, WorkspaceStatements
    from opkit.codegen.manifest import ManifestContext
    from opkit.codegen.ports import PortKinds
    from opkit.codegen.shapes import InputRule, OutputRule, UserRule
    from opkit.spec import DType

__all__ = [
    "AttrContext",
    "AttrKindContext",
    "BenchmarkContext",
    "BodyContext",
    "KernelContext",
    "KernelFileContext",
    "LaunchContext",
    "MemberContext",
    "OpContext",
    "PackageContext",
    "PortContext",
    "ProtoContext",
    "StructContext",
]


@attrs.frozen(kw_only=True)
class PortContext:
    literal: str
    symbol: str
    """The dtype symbol as a literal, `""` if the port has none."""


@attrs.frozen(kw_only=True)
class AttrContext:
    """`value` is an expression of the attr's type; a required attr has the zero of its type there, which nobody reads."""

    literal: str
    value: str
    is_required: bool


@attrs.frozen(kw_only=True)
class AttrKindContext:
    """An attr type that some op of the package has: its word in a case file, and its C++ type in the session program."""

    word: str
    c_type: str


@attrs.frozen(kw_only=True)
class MemberContext:
    name: str
    declaration: str
    offset: int


@attrs.frozen(kw_only=True)
class StructContext:
    """A struct that kernels take by value, and the name of the file that defines it."""

    file_name: str
    name: str
    members: tuple[MemberContext, ...]
    bytes: int


@attrs.frozen(kw_only=True)
class KernelContext:
    """One kernel entry and the struct of its arguments."""

    heading: tuple[str, ...]
    struct: str
    members: tuple[MemberContext, ...]
    bytes: int


@attrs.frozen(kw_only=True)
class KernelFileContext:
    """A kernel source, as text inside a quoted CMake argument: its path in the project, and its name beside the library."""

    relative: str
    installed: str
    is_installed: bool
    """Whether an op is compiled from it after the project is built."""
    is_prebuilt: bool
    """Whether an op is compiled from it while the project is built."""


@attrs.frozen(kw_only=True)
class ProtoContext:
    type: str
    lines: tuple[str, ...]


@attrs.frozen(kw_only=True)
class LaunchContext:
    """One of the kernels that an op launches: what the host knows of it, and what it is told."""

    name: str
    """The class of the one among several; not that of the only one, which is the op's."""
    variants: str
    """The class that says what it is compiled from, where that is done while the project is built."""
    struct: str
    source_file: str
    entry: tuple[str, ...]
    """Texts in C++ that are to be joined."""
    is_named_by_expression: bool
    is_cube: bool
    """Whether it runs on cube cores."""
    prologue: tuple[str, ...]
    blocks: BlockStatements
    fill: ArgStatements


@attrs.frozen(kw_only=True)
class BodyContext:
    """What ops have in common that differ in type, refresh and portability only: one struct of rules, one of the rest."""

    title: str
    summary: tuple[str, ...]
    rules: str
    impl: str
    inputs: tuple[PortContext, ...]
    outputs: tuple[PortContext, ...]
    kinds: PortKinds
    attrs: tuple[AttrContext, ...]
    dtype_table: tuple[str, ...]
    rows: tuple[RowContext, ...]
    choices: tuple[ChoiceContext, ...]
    socs: tuple[SocContext, ...]
    infer_parameters: str
    reads_shape_attrs: bool
    ranked: tuple[tuple[str, int], ...]
    bindings: tuple[str, ...]
    input_rules: tuple[InputRule, ...]
    output_rules: tuple[OutputRule, ...]
    user_rules: tuple[UserRule, ...]
    launches: tuple[LaunchContext, ...]
    workspaces: WorkspaceStatements
    kernel_shapes: KernelShapeStatements
    user_headers: tuple[str, ...]
    compile: str
    """When its kernels are compiled: "load", "graph" or "prebuilt"."""
    is_refreshed: bool
    is_annotated: bool


@attrs.frozen(kw_only=True)
class OpContext:
    type: str
    literal: str
    impl: str
    rules: str
    capabilities: tuple[str, ...]
    """The class templates of what the op can do."""
    refresh: str
    body: BodyContext


@attrs.frozen(kw_only=True)
class BenchmarkContext:
    """The case that session_run builds without `--case`: the ops to compare, the shape of each input, the value of each attr."""

    ops: tuple[str, ...]
    shapes: tuple[tuple[str, tuple[str, ...]], ...]
    """The dims of each tensor of an input: of one, of none if it is absent, of all of a list."""
    counts: tuple[tuple[str, int], ...]
    """How many tensors a dynamic output has."""
    mixed: tuple[tuple[str, str], ...]
    """The dtype that all tensors of a list of any dtypes have here."""
    attrs: tuple[AttrContext, ...]
    iters: int


@attrs.frozen(kw_only=True)
class PackageContext:
    name: str
    namespace: str
    guard: str
    header: str
    stem: str
    header_guard: str
    library_folder: str
    include_folder: str
    prebuilt_file: str
    manifest: ManifestContext
    dtypes: tuple[DType, ...]
    """Those that a message can name: what the package uses, and what is everywhere. A toolkit may lack others."""
    held_dtypes: tuple[DType, ...]
    """Those of the package that an array can hold."""
    max_blocks: int
    protos: tuple[ProtoContext, ...]
    structs: tuple[StructContext, ...]
    kernels: tuple[KernelContext, ...]
    user_includes: tuple[str, ...]
    """The headers of the user's own functions, as custom_op.cpp includes them."""
    kernel_files: tuple[KernelFileContext, ...]
    bodies: tuple[BodyContext, ...]
    ops: tuple[OpContext, ...]
    helpers: frozenset[str]
    """Names of the optional functions that some op needs; the others aren't rendered."""
    attr_kinds: tuple[AttrKindContext, ...]
    attr_elements: frozenset[str]
    """The words of what attrs hold that isn't a list of something else."""
    has_attr_lists: bool
    has_dynamic_ports: bool
    benchmark: BenchmarkContext | None
