"""Prototypes of real operators (S1 to S36 of the list of facts) in the language of a spec; the kernels compute nothing.

What is checked is the REG_OP text, by `test_real_prototypes.py`. Where a real prototype repeats a set of dtypes, the spec has a symbol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from opkit import (
    Attr,
    Input,
    Kernel,
    Op,
    Output,
    Package,
    Promote,
    address_list,
    attr,
    broadcast,
    cpp,
    from_attr,
    numel,
    per_soc,
    port,
    shape_of,
    upper_bound,
)

if TYPE_CHECKING:
    from opkit.spec.declare import Phrase, Size

Port = TypeVar("Port", Input, Output)

FLOAT3 = ["float16", "float32", "bfloat16"]
INDEX = ["int32", "int64"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
COMPLEX = ["complex32", "complex64", "complex128"]
REAL = [*FLOAT3, "double", *SIGNED, *UNSIGNED]
BASIC = [*REAL, *COMPLEX, "qint8", "qint16", "qint32", "quint8", "quint16"]
NUMBER = [*REAL, *COMPLEX, "qint8", "qint32", "quint8"]
ALL = [*BASIC, "bool", "resource", "string"]
FP8 = ["float8_e4m3fn", "float8_e5m2", "hifloat8", "float8_e8m0"]
FP4 = ["float4_e1m2", "float4_e2m1"]


def kernel(*args: str | Size) -> Kernel:
    """A kernel with one address for each argument; a text is a port. Without any it gets a number, for it has to get something."""
    if not args:
        return Kernel("kernels/real.asc", entry="launch_number", args=[0], blocks=1)
    ports = [port(arg) if isinstance(arg, str) else arg for arg in args]
    return Kernel("kernels/real.asc", entry=f"launch{len(args)}", args=ports, blocks=1)


def by_user(function: str) -> Phrase:
    """A shape that depends on attrs or values: a function of the user's."""
    return cpp("ge/user/infer.h", function)


def ports(kind: type[Port], names: str, dtype: str, **more: str | bool) -> list[Port]:
    return [kind(name, dtype, **more) for name in names.split()]  # type: ignore[arg-type] # one sort of keyword each


concat_v2 = Op(
    "ConcatV2",
    inputs=[Input("x", "T", dynamic=True, count_attr="N"), Input("concat_dim", "I", shape="")],
    outputs=[Output("y", "T", shape=by_user("InferConcat"))],
    attrs=[Attr("N", int, default=1)],
    dtypes={"T": [*BASIC, "bool", "string", *FP8], "I": INDEX},
    dtype_mode="product",
    kernel=kernel(address_list("x"), "concat_dim", "y"),
)
strided_slice_v2 = Op(
    "StridedSliceV2",
    signature=[
        Input("x", "T", shape="..."),
        *ports(Input, "begin end", "I", shape="n"),
        *ports(Input, "axes strides", "I", optional=True, shape="n"),
        *(Attr(f"{which}_mask", int, default=0) for which in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")),
        Output("y", "T", shape=by_user("InferStridedSlice")),
    ],
    dtypes={"T": [*BASIC, "bool", *FP8], "I": INDEX},
    dtype_mode="product",
    kernel=kernel("x", "begin", "end", "axes", "strides", "y"),
)
mem_set_v2 = Op(
    "MemSetV2",
    inputs=[Input("x", "T", dynamic=True, shape="...")],
    outputs=[Output("x", "T", dynamic=True)],
    attrs=[Attr("values_int", list[int], default=[]), Attr("values_float", list[float], default=[])],
    dtypes={"T": ["float32", "float16", "bfloat16", *SIGNED, *UNSIGNED, "bool"]},
    kernel=kernel(address_list("x")),
)
mem_set = Op(
    "MemSet",
    inputs=[],
    outputs=[],
    attrs=[
        Attr("sizes", list[int]),
        Attr("dtypes", "list_type", default=[]),
        Attr("values_int", list[int], default=[]),
        Attr("values_float", list[float], default=[]),
    ],
    kernel=kernel(),
)
im2col = Op(
    "Im2col",
    inputs=[Input("x", "T", shape="n c h w")],
    outputs=[Output("y", "T", shape=by_user("InferIm2col"))],
    attrs=[
        Attr("ksizes", list[int]),
        Attr("strides", list[int], default=[1]),
        Attr("dilations", list[int], default=[1]),
        Attr("padding_mode", str, default="CALCULATED"),
        Attr("pads", list[int], default=[0]),
    ],
    dtypes={"T": [*REAL, "bool", "complex32", "complex64"]},
    kernel=kernel("x", "y"),
)
eltwise = Op(
    "Eltwise",
    inputs=[Input("x", "T", dynamic=True, count_attr="N", shape="...")],
    outputs=[Output("y", "T", shape="...")],
    attrs=[Attr("N", int), Attr("mode", int, default=1), Attr("coeff", list[float], default=[])],
    dtypes={"T": FLOAT3},
    kernel=kernel(address_list("x"), "y"),
)
split_v = Op(
    "SplitV",
    inputs=[Input("x", "T", shape="..."), Input("size_splits", "I", shape="n"), Input("split_dim", "J", shape="")],
    outputs=[Output("y", "T", dynamic=attr("num_split"), shape=by_user("InferSplit"))],
    attrs=[Attr("num_split", int)],
    dtypes={"T": [*(dtype for dtype in BASIC if dtype != "complex32"), "bool", "string"], "I": INDEX, "J": INDEX},
    dtype_mode="product",
    kernel=kernel("x", "size_splits", "split_dim", address_list("y")),
)
cast = Op(
    "Cast",
    inputs=[Input("x", [*BASIC, "bool", *FP8[:3], *FP4, "uint1"], shape="...")],
    outputs=[Output("y", from_attr("dst_type", [*BASIC, "bool", *FP8[:3], *FP4, "int4"]), shape="...")],
    attrs=[Attr("dst_type", int)],
    dtype_mode="product",
    kernel=kernel("x", "y"),
    allow_builtin=True,
)
reduce_std_v2_update = Op(
    "ReduceStdV2Update",
    inputs=ports(Input, "x mean", "T", shape="..."),
    outputs=[Output("output_var", "T", shape=by_user("InferReduced"))],
    attrs=[
        Attr("dim", list[int]),
        Attr("if_std", bool, default=False),
        Attr("unbiased", bool, default=True),
        Attr("keepdim", bool, default=False),
        Attr("correction", int, default=1),
    ],
    dtypes={"T": FLOAT3},
    kernel=kernel("x", "mean", "output_var"),
)
top_k_pq_distance = Op(
    "TopKPQDistance",
    inputs=[
        Input("actual_count", "int32", dynamic=True),
        *ports(Input, "pq_distance grouped_extreme_distance", "T", dynamic=True),
        *ports(Input, "pq_ivf pq_index", "int32", dynamic=True),
    ],
    outputs=[Output("topk_distance", "T", shape="k"), *ports(Output, "topk_ivf topk_index", "int32", shape="k")],
    attrs=[Attr("order", str, default="ASC"), Attr("k", int), Attr("group_size", int)],
    dtypes={"T": ["float16", "float32"]},
    kernel=kernel(
        *(address_list(name) for name in ("actual_count", "pq_distance", "grouped_extreme_distance", "pq_ivf", "pq_index")),
        *("topk_distance", "topk_ivf", "topk_index"),
    ),
    file_stem="top_k_pq_distance",
)
inplace_top_k_distance = Op(
    "InplaceTopKDistance",
    inputs=[
        Input("topk_pq_distance", "T", shape="k"),
        *ports(Input, "topk_pq_index topk_pq_ivf", "int32", shape="k"),
        Input("pq_distance", "T", shape="n"),
        *ports(Input, "pq_index pq_ivf", "int32", shape="n"),
    ],
    outputs=[],
    attrs=[Attr("order", str, default="asc")],
    dtypes={"T": ["float16", "float32"]},
    kernel=kernel("topk_pq_distance", "topk_pq_index", "topk_pq_ivf", "pq_distance", "pq_index", "pq_ivf"),
)
axpy_v2 = Op(
    "AxpyV2",
    inputs=[Input("x1", "T1", shape="*a"), Input("x2", "T2", shape="*b"), Input("alpha", "T3", shape="1")],
    outputs=[Output("y", "T4", shape=broadcast("x1", "x2"))],
    dtypes={
        **{symbol: [*FLOAT3, "int32", "int64", "uint8", "int8", "bool"] for symbol in ("T1", "T2", "T3")},
        "T4": Promote("T1", "T2", "T3"),
    },
    dtype_mode="product",
    kernel=kernel("x1", "x2", "alpha", "y"),
)
mul = Op(
    "Mul",
    inputs=[Input("x1", "T1", shape="*a"), Input("x2", "T2", shape="*b")],
    outputs=[Output("y", "T3", shape=broadcast("x1", "x2"))],
    dtypes={
        **{symbol: [*FLOAT3, "double", *SIGNED, "uint8", "uint16", "bool", *COMPLEX] for symbol in ("T1", "T2")},
        "T3": Promote("T1", "T2"),
    },
    dtype_mode="product",
    kernel=kernel("x1", "x2", "y"),
    allow_builtin=True,
)
real = Op(
    "Real",
    inputs=[Input("input", "TSrc", shape="...")],
    outputs=[Output("output", "Tout", shape="...")],
    attrs=[Attr("Tout", int, default=0)],
    dtypes={"TSrc": ["float16", "float32", *COMPLEX], "Tout": from_attr("Tout", ["float16", "float32", "double"])},
    dtype_mode="product",
    kernel=kernel("input", "output"),
)
stateless_randperm = Op(
    "StatelessRandperm",
    inputs=[Input("n", "int64", shape="", value_depend="required"), *ports(Input, "seed offset", "int64", shape="")],
    outputs=[Output("y", from_attr("dtype", [*FLOAT3, "double", *SIGNED, "uint8"]), shape=by_user("InferRandperm"))],
    attrs=[Attr("layout", int, default=0), Attr("dtype", "type", default="int64")],
    kernel=kernel("n", "seed", "offset", "y"),
)
histogram_v2 = Op(
    "HistogramV2",
    inputs=[Input("x", "T", shape="..."), *ports(Input, "min max", "T", shape="1")],
    outputs=[Output("y", from_attr("y_dtype", ["int32", "float32"]), shape="bins")],
    attrs=[Attr("bins", int, default=100), Attr("y_dtype", "type", default="int32")],
    dtypes={"T": ["float16", "float32", *SIGNED, "uint8"]},
    dtype_mode="product",
    kernel=kernel("x", "min", "max", "y"),
)
pad_v3 = Op(
    "PadV3",
    inputs=[
        Input("x", "T", shape="..."),
        Input("paddings", "I", value_depend="required"),
        Input("constant_values", "T", optional=True, shape="1"),
    ],
    outputs=[Output("y", "T", shape=by_user("InferPad"))],
    attrs=[Attr("mode", str, default="constant"), Attr("paddings_contiguous", bool, default=True)],
    dtypes={"T": [*BASIC, "bool", *FP8, *FP4], "I": INDEX},
    dtype_mode="product",
    kernel=kernel("x", "paddings", "constant_values", "y"),
)
drop_out_v3 = Op(
    "DropOutV3",
    inputs=[
        Input("x", "T", shape="..."),
        Input("noise_shape", "int64", optional=True, value_depend="optional"),
        Input("p", [*FLOAT3, "double"], shape="1"),
        Input("seed", INDEX, shape="1"),
        Input("offset", "int64", shape="2"),
    ],
    outputs=[Output("y", "T", shape="..."), Output("mask", "uint8", shape=by_user("InferMask"))],
    dtypes={"T": FLOAT3},
    dtype_mode="product",
    kernel=kernel("x", "noise_shape", "p", "seed", "offset", "y", "mask"),
)
fused_mul_addn_l2loss = Op(
    "FusedMulAddNL2loss",
    inputs=[Input("x1", "T", shape="..."), Input("x2", "T", shape="..."), Input("x3", "T", shape="1")],
    outputs=[Output("y1", "T", shape="..."), Output("y2", "T", shape="1")],
    dtypes={"T": NUMBER},
    kernel=kernel("x1", "x2", "x3", "y1", "y2"),
    file_stem="fused_mul_addn_l2loss",
)
strided_slice_assign_v2 = Op(
    "StridedSliceAssignV2",
    inputs=[
        Input("var", "T", shape="..."),
        Input("input_value", "T"),
        *ports(Input, "begin end strides", "I", shape="n"),
        Input("axes", "I", optional=True, shape="n"),
    ],
    outputs=[Output("var", "T")],
    dtypes={"T": [*FLOAT3, "double", "int8", "int32", "int64"], "I": INDEX},
    dtype_mode="product",
    kernel=kernel("var", "input_value", "begin", "end", "strides", "axes"),
)
unpack = Op(
    "Unpack",
    inputs=[Input("x", "T", shape="...")],
    outputs=[Output("y", "T", dynamic=attr("num"), shape=by_user("InferUnpacked"))],
    attrs=[Attr("num", int), Attr("axis", int, default=0)],
    dtypes={"T": BASIC},
    kernel=kernel("x", address_list("y")),
)
identity_n = Op(
    "IdentityN",
    inputs=[Input("x", "T", dynamic=True, shape="...")],
    outputs=[Output("y", "T", dynamic=True, shape="...")],
    dtypes={"T": ["float32", "float16", *SIGNED, *UNSIGNED, "bool", "double", "string"]},
    kernel=kernel(address_list("x"), address_list("y")),
)
test_all_attr = Op(
    "TestAllAttr",
    inputs=[Input("data", "T", shape="..."), Input("option_input", "T", optional=True)],
    outputs=[Output("out", "T", shape="...")],
    attrs=[
        Attr("test_str", "String", default=""),
        Attr("test_int", "Int", default=0),
        Attr("test_bool", "Bool", default=False),
        Attr("test_float", "Float", default=0.0),
        Attr("test_dt", "Type", default="DT_FLOAT"),
        Attr("test_list_string", "ListString", default=[]),
        Attr("test_list_int", "ListInt", default=[]),
        Attr("test_list_bool", "ListBool", default=[]),
        Attr("test_list_float", "ListFloat", default=[]),
        Attr("test_list_dt", "ListType", default=[]),
    ],
    dtypes={"T": ALL},
    kernel=kernel("data", "option_input", "out"),
)
queue_data = Op(
    "QueueData",
    inputs=[],
    outputs=[Output("y", "uint8", shape="1")],
    attrs=[
        Attr("index", int, default=0),
        Attr("queue_name", str, default=""),
        Attr("output_types", "list_type", default=[]),
        Attr("output_shapes", list[list[int]], default=[[], []]),
    ],
    kernel=kernel("y"),
)
gather_shapes = Op(
    "GatherShapes",
    inputs=[Input("x", "T", dynamic=True)],
    outputs=[Output("shape", from_attr("dtype", INDEX), shape=by_user("InferGathered"))],
    attrs=[Attr("axes", list[list[int]]), Attr("dtype", int, default=3)],
    dtypes={"T": ALL},
    dtype_mode="product",
    kernel=kernel(address_list("x"), "shape"),
)
tf_idf_vectorizer = Op(
    "TfIdfVectorizer",
    inputs=[Input("input", ["int32", "int64", "string"], shape="...")],
    outputs=[Output("output", "float32", shape=by_user("InferTfIdf"))],
    attrs=[
        *(Attr(name, int) for name in ("max_gram_length", "max_skip_count", "min_gram_length")),
        Attr("mode", str),
        *(Attr(name, list[int]) for name in ("ngram_counts", "ngram_indexes")),
        Attr("pool_int64s", list[int], default=[]),
        Attr("pool_strings", list[str], default=[]),
        Attr("weights", list[float], default=[]),
    ],
    kernel=kernel("input", "output"),
)
mat_mul_v2 = Op(
    "MatMulV2",
    signature=[
        Input("x1", "T", shape="m k"),
        Input("x2", "T", shape="k n"),
        Input("bias", "Y", optional=True, shape="n"),
        Output("y", "Y", shape="m n"),
        Input("offset_w", "int8", optional=True),
        Attr("transpose_x1", bool, default=False),
        Attr("transpose_x2", bool, default=False),
        Attr("offset_x", int, default=0),
    ],
    dtypes={"T": ["float32", "float16", "int32", "int8"], "Y": ["float32", "float16", "int32", "int32"]},
    kernel=kernel("x1", "x2", "bias", "y", "offset_w"),
)
add_layer_norm = Op(
    "AddLayerNorm",
    inputs=[
        *ports(Input, "x1 x2", "T", shape="*rows n"),
        *ports(Input, "gamma beta", "T", shape="n"),
        Input("bias", "T", optional=True, shape="n"),
    ],
    outputs=[Output("y", "T", shape="*rows n"), *ports(Output, "mean rstd", "float32", shape="*rows 1"), Output("x", "T", shape="*rows n")],
    attrs=[Attr("epsilon", float, default=1e-5), Attr("additional_output", bool, default=False)],
    dtypes={"T": FLOAT3},
    kernel=kernel("x1", "x2", "gamma", "beta", "bias", "y", "mean", "rstd", "x"),
)
conv2d_v2 = Op(
    "Conv2DV2",
    inputs=[
        Input("x", "T", shape="n c h w", formats=["NCHW", "NHWC"]),
        Input("filter", "T", shape="o c kh kw", formats=["NCHW", "HWCN"]),
        Input("bias", ["float16", "float32", "bfloat16", "float32"], optional=True),
        Input("offset_w", "int8", optional=True),
    ],
    outputs=[Output("y", "T", shape=by_user("InferConv"), formats=["NCHW", "NHWC"])],
    attrs=[
        Attr("strides", list[int]),
        Attr("pads", list[int], default=[0, 0, 0, 0]),
        Attr("dilations", list[int], default=[1, 1, 1, 1]),
        Attr("groups", int, default=1),
        Attr("data_format", str, default="NCHW"),
        Attr("offset_x", int, default=0),
        Attr("pad_mode", str, default="SPECIFIC"),
        Attr("enable_hf32", bool, default=False),
    ],
    dtypes={"T": [*FLOAT3, "hifloat8"]},
    kernel=kernel("x", "filter", "bias", "offset_w", "y"),
)
batch_mat_mul_v2 = Op(
    "BatchMatMulV2",
    inputs=[
        Input("x1", "T", shape="*batch m k"),
        Input("x2", "T", shape="*batch k n"),
        Input("bias", ["float32", "float16", "int32", "int32", "int32", "bfloat16", "float32"], optional=True),
        Input("offset_w", ["int8", "int8", "int8", "int8", "int4", "int8", "int8"], optional=True),
    ],
    outputs=[Output("y", ["float32", "float16", "int32", "int32", "int32", "bfloat16", "hifloat8"], shape="*batch m n")],
    attrs=[Attr("adj_x1", bool, default=False), Attr("adj_x2", bool, default=False), Attr("offset_x", int, default=0)],
    dtypes={"T": ["float32", "float16", "int32", "int8", "int4", "bfloat16", "hifloat8"]},
    kernel=kernel("x1", "x2", "bias", "offset_w", "y"),
)
apply_adam_d = Op(
    "ApplyAdamD",
    inputs=[
        *ports(Input, "var m v", "T", shape="..."),
        *ports(Input, "beta1_power beta2_power lr beta1 beta2 epsilon", "T", shape=""),
        Input("grad", "T", shape="..."),
    ],
    outputs=ports(Output, "var m v", "T"),
    attrs=[Attr("use_locking", bool, default=False), Attr("use_nesterov", bool, default=False)],
    dtypes={"T": NUMBER},
    kernel=kernel("var", "m", "v", "beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"),
)
foreach_add_scalar_list = Op(
    "ForeachAddScalarList",
    inputs=[Input("x", "T", dynamic=True, shape="..."), Input("scalars", "S", shape="n")],
    outputs=[Output("y", "T", dynamic=True, shape="...")],
    dtypes={"T": ["float16", "float32", "int32", "bfloat16"], "S": ["float32", "float32", "int64", "float32"]},
    kernel=kernel(address_list("x"), "scalars", address_list("y")),
)
add_refresh_op = Op(
    "AddRefreshOp",
    inputs=ports(Input, "x y", "T", shape="..."),
    outputs=[Output("z", "T", shape="...")],
    dtypes={"T": ["float32"]},
    kernel=kernel("x", "y", "z"),
)
add_no_refresh_op = add_refresh_op.replace(type="AddNoRefreshOp", refresh="none")
conv2d = Op(
    "Conv2D",
    inputs=[Input("x", "fp16", shape="n c h w", formats=["NCHW"]), Input("filter", "fp16", shape="o c kh kw", formats=["NCHW"])],
    outputs=[Output("y", "fp16", shape=by_user("InferConv"), formats=["NCHW"])],
    attrs=[Attr("strides", "list_int"), Attr("pads", "list_int"), Attr("dilations", "list_int", default=[1, 1, 1, 1])],
    kernel=kernel("x", "filter", "y"),
    allow_builtin=True,
)
chunk_cat = Op(
    "ChunkCat",
    inputs=[Input("x", ["float16"] * 3 + ["bfloat16"] * 3 + ["float32"], dynamic=True)],
    outputs=[Output("y", ["float16", "bfloat16", "float32", "bfloat16", "float16", "float32", "float32"], shape=by_user("InferChunked"))],
    attrs=[Attr("dim", int), Attr("num_chunks", int)],
    kernel=kernel(address_list("x"), "y"),
)


def grouped_matmul_columns() -> dict[str, list[str]]:
    """The 26 columns of its definition, without those that repeat one in another format."""
    f16, b16, f32, i8, i4, i32, u64 = "float16", "bfloat16", "float32", "int8", "int4", "int32", "uint64"
    columns = {
        "X": [f16, b16, i8, f16, b16, f32, *[i8] * 4, f16, b16, f16, b16, *[i8] * 6, *[i4] * 4, i8, i8],
        "W": [f16, b16, i8, i8, i8, f32, *[i8] * 4, i4, i4, f16, b16, i8, i8, *[i4] * 8, i8, i8],
        "B": [f16, f32, i32, f16, f32, f32, *[i32] * 4, f16, f32, f16, f32, i32, i32, *[f32] * 4, *[f16] * 4, b16, b16],
        "S": [*[u64] * 6, b16, b16, f32, f32, *[u64] * 14, b16, f32],
        "A": [*[f16] * 4, b16, *[f16] * 6, b16, *[f16] * 14],
        "Y": [f16, b16, i8, f16, b16, f32, b16, b16, f16, f16, f16, b16, f16, b16, i32, i32, *[b16, f16] * 2, *[f16, b16] * 2, b16, b16],
    }
    assert {len(column) for column in columns.values()} == {26}
    kept = dict.fromkeys(zip(*columns.values(), strict=True))
    return {name: [row[index] for row in kept] for index, name in enumerate(columns)}


non_finite_check = Op(
    "NonFiniteCheck",
    inputs=[Input("tensor_list", "T", dynamic=True)],
    outputs=[Output("found_flag", "float32", shape="1")],
    dtypes={"T": per_soc({"KirinX90": ["float16", "float32"], "default": ["float16", "bfloat16", "float32"]})},
    kernel=kernel(address_list("tensor_list"), "found_flag"),
)


grouped_matmul = Op(
    "GroupedMatmul",
    inputs=[
        Input("x", "X", dynamic=True),
        Input("weight", "W", dynamic=True),
        Input("bias", "B", optional=True, dynamic=True),
        Input("scale", "S", optional=True, dynamic=True),
        Input("offset", "float32", optional=True, dynamic=True),
        *ports(Input, "antiquant_scale antiquant_offset", "A", optional=True, dynamic=True),
        Input("group_list", "int64", optional=True),
        Input("per_token_scale", "float32", optional=True),
    ],
    outputs=[Output("y", "Y", dynamic=True, shape=by_user("InferGrouped"))],
    attrs=[
        Attr("split_item", int, default=0),
        Attr("dtype", int, default=0),
        Attr("transpose_weight", bool, default=False),
        Attr("transpose_x", bool, default=False),
        Attr("group_type", int, default=-1),
        Attr("group_list_type", int, default=0),
        Attr("act_type", int, default=0),
        Attr("tuning_config", list[int], default=[0]),
    ],
    dtypes=grouped_matmul_columns(),
    kernel=kernel(
        *(address_list(name) for name in ("x", "weight", "bias", "scale", "offset", "antiquant_scale", "antiquant_offset")),
        *("group_list", "per_token_scale", address_list("y")),
    ),
)


def matmul_all_reduce_columns() -> dict[str, list[str]]:
    """The 65 columns of its definition, without those that repeat one in another format."""
    e5, e4, hi = "float8_e5m2", "float8_e4m3fn", "hifloat8"
    halves = ["float16", "bfloat16"]
    y = [*halves, *["float16"] * 2, *["bfloat16"] * 2, *halves, *["float16"] * 3, "bfloat16", *halves, *["float16"] * 2]
    by_threes = ["float32", "float16", "bfloat16"]
    columns = {
        "T": [*halves, "int8", *halves, "int8", *halves, "int8", "int8", *halves, *["int8"] * 4],
        "W": [*halves, *["int8"] * 4, "int4", "int4", *["int8"] * 8],
        "B": [*halves, "int32", *halves, "int32", *halves, "int32", "int32", *halves, *["int32"] * 4],
        "D": [*halves, "uint64", *halves, "bfloat16", *halves, "int64", "float32", *halves, "uint64", "bfloat16", "int64", "float32"],
        "P": ["float32"] * 16,
        "Y": y,
    }
    pairs = [(hi, hi), (e5, e5), (e4, e4), (e5, e4), (e4, e5)]
    rows = [(*pair, "float32", "uint64", "float32", y) for pair in pairs for y in by_threes]
    rows += [(*pair, "float32", "float32", "float32", y) for pair in [*pairs[3:], *pairs[1:3], pairs[0]] for y in by_threes]
    rows += [(each, weight, each, each, each, each) for weight in (hi, e4) for each in halves]
    pairs = [("float4_e2m1", "float4_e2m1"), (e5, e5), (e5, e4), (e4, e5), (e4, e4)]
    rows += [(*pair, "float32", "float8_e8m0", "float8_e8m0", y) for pair in pairs for y in by_threes]
    for name, column in zip(columns, zip(*rows, strict=True), strict=True):
        columns[name] += column
    assert {len(column) for column in columns.values()} == {65}
    kept = dict.fromkeys(zip(*columns.values(), strict=True))
    return {name: [row[index] for row in kept] for index, name in enumerate(columns)}


matmul_all_reduce = Op(
    "MatmulAllReduce",
    inputs=[
        Input("x1", "T", shape="*batch m k"),
        Input("x2", "W", shape="k n"),
        Input("bias", "B", optional=True),
        *ports(Input, "x3 antiquant_scale antiquant_offset", "Y", optional=True),
        Input("dequant_scale", "D", optional=True),
        Input("pertoken_scale", "P", optional=True),
        *ports(Input, "comm_quant_scale_1 comm_quant_scale_2", "Y", optional=True),
    ],
    outputs=[Output("y", "Y", shape="*batch m n")],
    attrs=[
        Attr("group", str),
        Attr("reduce_op", str, default="sum"),
        Attr("is_trans_a", bool, default=False),
        Attr("is_trans_b", bool, default=False),
        Attr("comm_turn", int, default=0),
        Attr("antiquant_group_size", int, default=0),
        Attr("group_size", int, default=0),
        Attr("y_dtype", int, default=28),
        Attr("comm_quant_mode", int, default=0),
        Attr("comm_mode", str, default="ai_cpu"),
    ],
    dtypes=matmul_all_reduce_columns(),
    kernel=kernel("x1", "x2", "bias", "x3", "antiquant_scale", "antiquant_offset", "dequant_scale", "pertoken_scale", "y"),
)

where_like_custom = Op(
    "WhereLikeCustom",
    inputs=[Input("x", "bool", shape="...")],
    outputs=[Output("y", "int64", shape=upper_bound("found (rank(x))", found=numel("x")))],
    kernel=kernel("x", "y", shape_of("y")),
    refresh="none",
)

package = Package("real_ops", ops=[op for op in list(globals().values()) if isinstance(op, Op)])
