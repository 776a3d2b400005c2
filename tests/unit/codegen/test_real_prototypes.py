"""Prototypes of real operators: what their spec renders to, against what their authors wrote.

The table has the facts of each prototype, in its own order: from the REG_OP of hicann/ops-math at c41933244 (S1 to S22) and hicann/ge
(S23 to S29, S34, S35), from the op definitions of GroupedMatmul, MatmulAllReduce and ForeachAddScalarList (S31 to S33), from msopgen's
IR_json.json (S36). Words without DT_ are the groups of GE's TensorType, and two of this table's own.
"""

from __future__ import annotations

import ast
import re
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from real_ops_support import write_real_ops
from reg_op_support import Clause, Prototype, read_prototypes

from opkit.codegen import render
from opkit.errors import SpecErrors
from opkit.spec import DTYPES, Package, load_package

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
TYPES_H = ROOT / "simulator" / "include" / "graph" / "types.h"

TABLE = """
ConcatV2
    DYNAMIC_INPUT x: BasicType DT_BOOL DT_STRING Float8
    INPUT concat_dim: IndexNumberType
    OUTPUT y: BasicType DT_BOOL DT_STRING Float8
    ATTR N Int = 1
StridedSliceV2
    INPUT x: BasicType DT_BOOL Float8
    INPUT begin: IndexNumberType
    INPUT end: IndexNumberType
    OPTIONAL_INPUT axes: IndexNumberType
    OPTIONAL_INPUT strides: IndexNumberType
    ATTR begin_mask Int = 0
    ATTR end_mask Int = 0
    ATTR ellipsis_mask Int = 0
    ATTR new_axis_mask Int = 0
    ATTR shrink_axis_mask Int = 0
    OUTPUT y: BasicType DT_BOOL Float8
MemSetV2
    DYNAMIC_INPUT x: FLOAT SignedDataType UnsignedDataType DT_BOOL
    DYNAMIC_OUTPUT x: FLOAT SignedDataType UnsignedDataType DT_BOOL
    ATTR values_int ListInt = ()
    ATTR values_float ListFloat = ()
MemSet
    REQUIRED_ATTR sizes ListInt
    ATTR dtypes ListType = ()
    ATTR values_int ListInt = ()
    ATTR values_float ListFloat = ()
Im2col
    INPUT x: RealNumberType DT_BOOL DT_COMPLEX32 DT_COMPLEX64
    OUTPUT y: RealNumberType DT_BOOL DT_COMPLEX32 DT_COMPLEX64
    REQUIRED_ATTR ksizes ListInt
    ATTR strides ListInt = (1,)
    ATTR dilations ListInt = (1,)
    ATTR padding_mode String = "CALCULATED"
    ATTR pads ListInt = (0,)
Eltwise
    DYNAMIC_INPUT x: FLOAT
    OUTPUT y: FLOAT
    REQUIRED_ATTR N Int
    ATTR mode Int = 1
    ATTR coeff ListFloat = ()
SplitV
    INPUT x: RealNumberType QuantifiedType DT_COMPLEX64 DT_COMPLEX128 DT_BOOL DT_STRING
    INPUT size_splits: IndexNumberType
    INPUT split_dim: IndexNumberType
    DYNAMIC_OUTPUT y: RealNumberType QuantifiedType DT_COMPLEX64 DT_COMPLEX128 DT_BOOL DT_STRING
    REQUIRED_ATTR num_split Int
Cast
    INPUT x: RealNumberType QuantifiedType ComplexDataType DT_BOOL DT_HIFLOAT8 DT_FLOAT8_E5M2 DT_FLOAT8_E4M3FN Float4 DT_UINT1
    OUTPUT y: RealNumberType QuantifiedType ComplexDataType DT_BOOL DT_HIFLOAT8 DT_FLOAT8_E5M2 DT_FLOAT8_E4M3FN Float4 DT_INT4
    REQUIRED_ATTR dst_type Int
ReduceStdV2Update
    INPUT x: FLOAT
    INPUT mean: FLOAT
    OUTPUT output_var: FLOAT
    REQUIRED_ATTR dim ListInt
    ATTR if_std Bool = False
    ATTR unbiased Bool = True
    ATTR keepdim Bool = False
    ATTR correction Int = 1
TopKPQDistance
    DYNAMIC_INPUT actual_count: DT_INT32
    DYNAMIC_INPUT pq_distance: DT_FLOAT16 DT_FLOAT
    DYNAMIC_INPUT grouped_extreme_distance: DT_FLOAT16 DT_FLOAT
    DYNAMIC_INPUT pq_ivf: DT_INT32
    DYNAMIC_INPUT pq_index: DT_INT32
    OUTPUT topk_distance: DT_FLOAT16 DT_FLOAT
    OUTPUT topk_ivf: DT_INT32
    OUTPUT topk_index: DT_INT32
    ATTR order String = "ASC"
    REQUIRED_ATTR k Int
    REQUIRED_ATTR group_size Int
InplaceTopKDistance
    INPUT topk_pq_distance: DT_FLOAT16 DT_FLOAT
    INPUT topk_pq_index: DT_INT32
    INPUT topk_pq_ivf: DT_INT32
    INPUT pq_distance: DT_FLOAT16 DT_FLOAT
    INPUT pq_index: DT_INT32
    INPUT pq_ivf: DT_INT32
    ATTR order String = "asc"
AxpyV2
    INPUT x1 "T1"
    INPUT x2 "T2"
    INPUT alpha "T3"
    OUTPUT y "T4"
    DATATYPE T1: FLOAT SignedDataType DT_UINT8 DT_BOOL but DT_INT16
    DATATYPE T2: FLOAT SignedDataType DT_UINT8 DT_BOOL but DT_INT16
    DATATYPE T3: FLOAT SignedDataType DT_UINT8 DT_BOOL but DT_INT16
    PROMOTE T4: T1 T2 T3
Mul
    INPUT x1 "T1"
    INPUT x2 "T2"
    OUTPUT y "T3"
    DATATYPE T1: FLOAT SignedDataType ComplexDataType DT_DOUBLE DT_UINT8 DT_UINT16 DT_BOOL
    DATATYPE T2: FLOAT SignedDataType ComplexDataType DT_DOUBLE DT_UINT8 DT_UINT16 DT_BOOL
    PROMOTE T3: T1 T2
Real
    INPUT input "TSrc"
    OUTPUT output "Tout"
    ATTR Tout Int = "DT_FLOAT"
    DATATYPE TSrc: ComplexDataType DT_FLOAT16 DT_FLOAT
    DATATYPE Tout: FloatingDataType
StatelessRandperm
    INPUT n: DT_INT64
    INPUT seed: DT_INT64
    INPUT offset: DT_INT64
    OUTPUT y: FLOAT SignedDataType DT_UINT8 DT_DOUBLE
    ATTR layout Int = 0
    ATTR dtype Type = "DT_INT64"
HistogramV2
    INPUT x: SignedDataType DT_FLOAT16 DT_FLOAT DT_UINT8
    INPUT min: SignedDataType DT_FLOAT16 DT_FLOAT DT_UINT8
    INPUT max: SignedDataType DT_FLOAT16 DT_FLOAT DT_UINT8
    OUTPUT y: DT_INT32 DT_FLOAT
    ATTR bins Int = 100
    ATTR y_dtype Type = "DT_INT32"
PadV3
    INPUT x: BasicType DT_BOOL Float8 Float4
    INPUT paddings: IndexNumberType
    OPTIONAL_INPUT constant_values: BasicType DT_BOOL Float8 Float4
    OUTPUT y: BasicType DT_BOOL Float8 Float4
    ATTR mode String = "constant"
    ATTR paddings_contiguous Bool = True
DropOutV3
    INPUT x "T"
    OPTIONAL_INPUT noise_shape: DT_INT64
    INPUT p: FLOAT DT_DOUBLE
    INPUT seed: IndexNumberType
    INPUT offset: DT_INT64
    OUTPUT y "T"
    OUTPUT mask: DT_UINT8
    DATATYPE T: FLOAT
NonFiniteCheck
    DYNAMIC_INPUT tensor_list: FLOAT
    OUTPUT found_flag: DT_FLOAT
ChunkCat
    DYNAMIC_INPUT x: FLOAT
    OUTPUT y: FLOAT
    REQUIRED_ATTR dim Int
    REQUIRED_ATTR num_chunks Int
FusedMulAddNL2loss
    INPUT x1: NumberType
    INPUT x2: NumberType
    INPUT x3: NumberType
    OUTPUT y1: NumberType
    OUTPUT y2: NumberType
StridedSliceAssignV2
    INPUT var: FLOAT DT_DOUBLE DT_INT8 DT_INT32 DT_INT64
    INPUT input_value: FLOAT DT_DOUBLE DT_INT8 DT_INT32 DT_INT64
    INPUT begin: IndexNumberType
    INPUT end: IndexNumberType
    INPUT strides: IndexNumberType
    OPTIONAL_INPUT axes: IndexNumberType
    OUTPUT var: FLOAT DT_DOUBLE DT_INT8 DT_INT32 DT_INT64
Unpack
    INPUT x: BasicType
    DYNAMIC_OUTPUT y: BasicType
    REQUIRED_ATTR num Int
    ATTR axis Int = 0
IdentityN
    DYNAMIC_INPUT x: IntegerDataType FloatingDataType DT_BOOL DT_STRING
    DYNAMIC_OUTPUT y: IntegerDataType FloatingDataType DT_BOOL DT_STRING
TestAllAttr
    INPUT data: ALL
    OPTIONAL_INPUT option_input: ALL
    OUTPUT out: ALL
    ATTR test_str String = ""
    ATTR test_int Int = 0
    ATTR test_bool Bool = False
    ATTR test_float Float = 0.0
    ATTR test_dt Type = "DT_FLOAT"
    ATTR test_list_string ListString = ()
    ATTR test_list_int ListInt = ()
    ATTR test_list_bool ListBool = ()
    ATTR test_list_float ListFloat = ()
    ATTR test_list_dt ListType = ()
QueueData
    OUTPUT y: DT_UINT8
    ATTR index Int = 0
    ATTR queue_name String = ""
    ATTR output_types ListType = ()
    ATTR output_shapes ListListInt = ((), ())
GatherShapes
    DYNAMIC_INPUT x: ALL
    OUTPUT shape: IndexNumberType
    REQUIRED_ATTR axes ListListInt
    ATTR dtype Int = "DT_INT32"
TfIdfVectorizer
    INPUT input: IndexNumberType DT_STRING
    OUTPUT output: DT_FLOAT
    REQUIRED_ATTR max_gram_length Int
    REQUIRED_ATTR max_skip_count Int
    REQUIRED_ATTR min_gram_length Int
    REQUIRED_ATTR mode String
    REQUIRED_ATTR ngram_counts ListInt
    REQUIRED_ATTR ngram_indexes ListInt
    ATTR pool_int64s ListInt = ()
    ATTR pool_strings ListString = ()
    ATTR weights ListFloat = ()
MatMulV2
    INPUT x1: DT_FLOAT DT_FLOAT16 DT_INT32 DT_INT8
    INPUT x2: DT_FLOAT DT_FLOAT16 DT_INT32 DT_INT8
    OPTIONAL_INPUT bias: DT_FLOAT DT_FLOAT16 DT_INT32
    OUTPUT y: DT_FLOAT DT_FLOAT16 DT_INT32
    OPTIONAL_INPUT offset_w: DT_INT8
    ATTR transpose_x1 Bool = False
    ATTR transpose_x2 Bool = False
    ATTR offset_x Int = 0
AddLayerNorm
    INPUT x1: FLOAT
    INPUT x2: FLOAT
    INPUT gamma: FLOAT
    INPUT beta: FLOAT
    OPTIONAL_INPUT bias: FLOAT
    OUTPUT y: FLOAT
    OUTPUT mean: DT_FLOAT
    OUTPUT rstd: DT_FLOAT
    OUTPUT x: FLOAT
    ATTR epsilon Float = 1e-5
    ATTR additional_output Bool = False
Conv2DV2
    INPUT x: FLOAT DT_HIFLOAT8
    INPUT filter: FLOAT DT_HIFLOAT8
    OPTIONAL_INPUT bias: FLOAT
    OPTIONAL_INPUT offset_w: DT_INT8
    OUTPUT y: FLOAT DT_HIFLOAT8
    REQUIRED_ATTR strides ListInt
    ATTR pads ListInt = (0, 0, 0, 0)
    ATTR dilations ListInt = (1, 1, 1, 1)
    ATTR groups Int = 1
    ATTR data_format String = "NCHW"
    ATTR offset_x Int = 0
    ATTR pad_mode String = "SPECIFIC"
    ATTR enable_hf32 Bool = False
BatchMatMulV2
    INPUT x1: FLOAT DT_INT32 DT_INT8 DT_INT4 DT_HIFLOAT8
    INPUT x2: FLOAT DT_INT32 DT_INT8 DT_INT4 DT_HIFLOAT8
    OPTIONAL_INPUT bias: FLOAT DT_INT32
    OPTIONAL_INPUT offset_w: DT_INT8 DT_INT4
    OUTPUT y: FLOAT DT_INT32 DT_HIFLOAT8
    ATTR adj_x1 Bool = False
    ATTR adj_x2 Bool = False
    ATTR offset_x Int = 0
ApplyAdamD
    INPUT var: NumberType
    INPUT m: NumberType
    INPUT v: NumberType
    INPUT beta1_power: NumberType
    INPUT beta2_power: NumberType
    INPUT lr: NumberType
    INPUT beta1: NumberType
    INPUT beta2: NumberType
    INPUT epsilon: NumberType
    INPUT grad: NumberType
    OUTPUT var: NumberType
    OUTPUT m: NumberType
    OUTPUT v: NumberType
    ATTR use_locking Bool = False
    ATTR use_nesterov Bool = False
GroupedMatmul
    DYNAMIC_INPUT x: FLOAT DT_INT8 DT_INT4
    DYNAMIC_INPUT weight: FLOAT DT_INT8 DT_INT4
    DYNAMIC_INPUT bias: FLOAT DT_INT32
    DYNAMIC_INPUT scale: DT_UINT64 DT_BF16 DT_FLOAT
    DYNAMIC_INPUT offset: DT_FLOAT
    DYNAMIC_INPUT antiquant_scale: DT_FLOAT16 DT_BF16
    DYNAMIC_INPUT antiquant_offset: DT_FLOAT16 DT_BF16
    OPTIONAL_INPUT group_list: DT_INT64
    OPTIONAL_INPUT per_token_scale: DT_FLOAT
    DYNAMIC_OUTPUT y: FLOAT DT_INT8 DT_INT32
    ATTR split_item Int = 0
    ATTR dtype Int = 0
    ATTR transpose_weight Bool = False
    ATTR transpose_x Bool = False
    ATTR group_type Int = -1
    ATTR group_list_type Int = 0
    ATTR act_type Int = 0
    ATTR tuning_config ListInt = (0,)
MatmulAllReduce
    INPUT x1: DT_FLOAT16 DT_BF16 DT_INT8 DT_HIFLOAT8 DT_FLOAT8_E5M2 DT_FLOAT8_E4M3FN DT_FLOAT4_E2M1
    INPUT x2: DT_FLOAT16 DT_BF16 DT_INT8 DT_INT4 DT_HIFLOAT8 DT_FLOAT8_E5M2 DT_FLOAT8_E4M3FN DT_FLOAT4_E2M1
    OPTIONAL_INPUT bias: FLOAT DT_INT32
    OPTIONAL_INPUT x3: FLOAT
    OPTIONAL_INPUT antiquant_scale: FLOAT
    OPTIONAL_INPUT antiquant_offset: FLOAT
    OPTIONAL_INPUT dequant_scale: FLOAT DT_UINT64 DT_INT64 DT_FLOAT8_E8M0
    OPTIONAL_INPUT pertoken_scale: FLOAT DT_FLOAT8_E8M0
    OPTIONAL_INPUT comm_quant_scale_1: FLOAT
    OPTIONAL_INPUT comm_quant_scale_2: FLOAT
    OUTPUT y: FLOAT
    REQUIRED_ATTR group String
    ATTR reduce_op String = "sum"
    ATTR is_trans_a Bool = False
    ATTR is_trans_b Bool = False
    ATTR comm_turn Int = 0
    ATTR antiquant_group_size Int = 0
    ATTR group_size Int = 0
    ATTR y_dtype Int = "DT_UNDEFINED"
    ATTR comm_quant_mode Int = 0
    ATTR comm_mode String = "ai_cpu"
ForeachAddScalarList
    DYNAMIC_INPUT x: FLOAT DT_INT32
    INPUT scalars: DT_FLOAT DT_INT64
    DYNAMIC_OUTPUT y: FLOAT DT_INT32
WhereLikeCustom
    INPUT x: DT_BOOL
    OUTPUT y: DT_INT64
AddRefreshOp
    INPUT x "T"
    INPUT y "T"
    OUTPUT z "T"
    DATATYPE T: DT_FLOAT
AddNoRefreshOp
    INPUT x "T"
    INPUT y "T"
    OUTPUT z "T"
    DATATYPE T: DT_FLOAT
Conv2D
    INPUT x: DT_FLOAT16
    INPUT filter: DT_FLOAT16
    OUTPUT y: DT_FLOAT16
    REQUIRED_ATTR strides ListInt
    REQUIRED_ATTR pads ListInt
    ATTR dilations ListInt = (1, 1, 1, 1)
"""


def groups() -> dict[str, set[str]]:
    """The members of GE's dtype groups, from the header that has them."""
    found = re.findall(r"static TensorType (\w+)\(\) \{\s*return \{(.*?)\};", TYPES_H.read_text(), re.DOTALL)
    own = {"Float8": "DT_HIFLOAT8 DT_FLOAT8_E5M2 DT_FLOAT8_E4M3FN DT_FLOAT8_E8M0", "Float4": "DT_FLOAT4_E1M2 DT_FLOAT4_E2M1"}
    return {name: set(re.findall(r"DT_\w+", members)) for name, members in (*found, *own.items())}


def sets(words: str) -> frozenset[str]:
    known, (wanted, _, unwanted) = groups(), words.partition(" but ")
    members: set[str] = set()
    for word in wanted.split():
        members |= {word} if word.startswith("DT_") else known[word]
    return frozenset(members - set(unwanted.split()))


def value_of(attr_type: str, text: str) -> object:
    value = ast.literal_eval(text)
    if attr_type == "Float":
        return struct.unpack("<f", struct.pack("<f", value))[0]
    if attr_type == "Int" and isinstance(value, str):
        return {"DT_UNDEFINED": 28}.get(value) or next(dtype.number for dtype in DTYPES.values() if dtype.ge_enum == value)
    return value


def table() -> Iterator[tuple[str, Prototype]]:
    for block in re.split(r"\n(?=\w)", TABLE.strip()):
        op_type, *lines = block.splitlines()
        clauses: list[Clause] = []
        symbols: dict[str, frozenset[str] | tuple[str, ...]] = {}
        for line in map(str.strip, lines):
            if match := re.fullmatch(r"(ATTR) (\w+) (\w+) = (.*)|(REQUIRED_ATTR) (\w+) (\w+)", line):
                kind, name, attr_type, text, *required = match.groups()
                if kind:
                    clauses.append(Clause(kind, name, attr_type=attr_type, default=value_of(attr_type, text)))
                else:
                    clauses.append(Clause(required[0], required[1], attr_type=required[2]))
            elif match := re.fullmatch(r'(\w+) (\w+) "(\w+)"', line):
                clauses.append(Clause(match[1], match[2], symbol=match[3]))
            else:
                kind, name, words = re.fullmatch(r"(\w+) (\w+): (.*)", line).groups()  # type: ignore[union-attr] # else a fault here
                if kind == "DATATYPE":
                    symbols[name] = sets(words)
                elif kind == "PROMOTE":
                    symbols[name] = tuple(words.split())
                else:
                    clauses.append(Clause(kind, name, dtypes=sets(words)))
        yield op_type, Prototype(tuple(clauses), symbols)


REAL = dict(table())


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return write_real_ops(tmp_path_factory.mktemp("real_ops"))


@pytest.fixture(scope="module")
def rendered(package: Package) -> dict[str, Prototype]:
    return read_prototypes(render(package)["ge/real_ops.h"].text)


def test_every_prototype_of_the_list_has_a_spec(package: Package) -> None:
    assert sorted(op.type for op in package.ops) == sorted(REAL)


@pytest.mark.parametrize("op_type", REAL)
def test_a_spec_renders_to_the_prototype_of_its_authors(rendered: dict[str, Prototype], op_type: str) -> None:
    wanted, found = REAL[op_type], rendered[op_type]
    assert [(each.kind, each.name) for each in found.clauses] == [(each.kind, each.name) for each in wanted.clauses]
    for own, theirs in zip(found.clauses, wanted.clauses, strict=True):
        assert (own.attr_type, own.default) == (theirs.attr_type, theirs.default), own.name
        assert type(own.default) is type(theirs.default), own.name
        if theirs.symbol:
            assert own.symbol == theirs.symbol, own.name
        else:
            assert own.dtypes == theirs.dtypes, own.name
    assert {name: found.symbols[name] for name in wanted.symbols} == wanted.symbols


@pytest.mark.parametrize("abi", [0, 1])
def test_the_prototypes_compile(package: Package, tmp_path: Path, abi: int) -> None:
    """With the simulator's headers; `tests/conformance` takes the genuine ones."""
    render(package).write(tmp_path)
    program = tmp_path / "program.cpp"
    uses = "".join(f'  (void)ge::op::{op.type}("op");\n' for op in package.ops)
    program.write_text(f'#include "ge/real_ops.h"\nint main() {{\n{uses}}}\n')
    include = ROOT / "simulator" / "include"
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]
    done = subprocess.run(["g++", *flags, "-isystem", include, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_op_with_subgraphs_is_refused(tmp_path: Path) -> None:
    """S30: While, If and Case have the parts that they run as subgraphs."""
    (tmp_path / "ops.py").write_text(
        "from opkit import *\n"
        'op = Op("WhileCustom", inputs=[Input("input", "int32", dynamic=True, shape="...")],'
        ' outputs=[Output("output", "int32", dynamic=True, shape="...")], graphs=["cond", "body"])\n'
        'package = Package("loops", ops=[op])\n'
    )
    with pytest.raises(SpecErrors) as caught:
        load_package(tmp_path / "ops.py")
    (error,) = caught.value.errors
    assert (error.number, error.message) == ("OPK0274", "WhileCustom has subgraphs, and opkit has no such ops")
    assert error.because == "GE runs the subgraphs of an op that controls the flow; a custom op is a kernel of its own"


def test_the_reader_reads_what_a_prototype_says() -> None:
    found = read_prototypes(
        'REG_OP(A)\n  .INPUT(x, "T").DYNAMIC_OUTPUT(y, TensorType({DT_FLOAT, DT_INT8}))\n  .REQUIRED_ATTR(k, ListInt)\n'
        '  .ATTR(s, String, "a,\\n\\"(\\346\\230\\207")\n  .ATTR(l, ListListInt, {{}, {-1, 2}})  .ATTR(f, Float, 1e-05f)\n'
        '  .DATATYPE(T, TensorType({DT_BOOL})).DATATYPE(U, Promote({"T", "V"}))\n  .OP_END_FACTORY_REG(A)\n'
    )
    assert found["A"] == Prototype(
        (
            Clause("INPUT", "x", symbol="T", dtypes=frozenset({"DT_BOOL"})),
            Clause("DYNAMIC_OUTPUT", "y", dtypes=frozenset({"DT_FLOAT", "DT_INT8"})),
            Clause("REQUIRED_ATTR", "k", attr_type="ListInt"),
            Clause("ATTR", "s", attr_type="String", default='a,\n"(昇'),
            Clause("ATTR", "l", attr_type="ListListInt", default=((), (-1, 2))),
            Clause("ATTR", "f", attr_type="Float", default=struct.unpack("<f", struct.pack("<f", 1e-5))[0]),
        ),
        {"T": frozenset({"DT_BOOL"}), "U": ("T", "V")},
    )
