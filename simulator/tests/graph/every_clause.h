// A prototype that uses every clause of REG_OP and every attribute type, with and without a default.
#ifndef OPKIT_SIM_TESTS_GRAPH_EVERY_CLAUSE_H_
#define OPKIT_SIM_TESTS_GRAPH_EVERY_CLAUSE_H_

#include "graph/operator_reg.h"

namespace ge {

REG_OP(EveryClause)
    .INPUT(x, "T")
    .OPTIONAL_INPUT(bias, TensorType({DT_FLOAT, DT_INT32}))
    .DYNAMIC_INPUT(parts, "TL")
    .OUTPUT(y, "T")
    .OUTPUT(mask, TensorType({DT_BOOL}))
    .DYNAMIC_OUTPUT(pieces, TensorType::ALL())
    .ATTR(int_attr, Int, 3)
    .ATTR(float_attr, Float, 0.1)
    .ATTR(bool_attr, Bool, true)
    .ATTR(string_attr, String, "text")
    .ATTR(ascend_attr, AscendString, "ascend")
    .ATTR(tensor_attr, Tensor, Tensor())
    .ATTR(type_attr, Type, DT_INT8)
    .ATTR(ints_attr, ListInt, {1, 2})
    .ATTR(no_ints_attr, ListInt, {})
    .ATTR(floats_attr, ListFloat, {0.5, 1.5})
    .ATTR(bools_attr, ListBool, {true, false})
    .ATTR(strings_attr, ListString, {"a", "b"})
    .ATTR(no_strings_attr, ListString, {})
    .ATTR(ascends_attr, ListAscendString, {"c"})
    .ATTR(tensors_attr, ListTensor, {})
    .ATTR(bytes_attr, Bytes, {1, 2, 3})
    .ATTR(int_lists_attr, ListListInt, {{1, 2}, {3}})
    .ATTR(no_int_lists_attr, ListListInt, {{}})
    .ATTR(types_attr, ListType, {DT_FLOAT, DT_BF16})
    .REQUIRED_ATTR(int_required, Int)
    .REQUIRED_ATTR(float_required, Float)
    .REQUIRED_ATTR(bool_required, Bool)
    .REQUIRED_ATTR(string_required, String)
    .REQUIRED_ATTR(ascend_required, AscendString)
    .REQUIRED_ATTR(tensor_required, Tensor)
    .REQUIRED_ATTR(type_required, Type)
    .REQUIRED_ATTR(ints_required, ListInt)
    .REQUIRED_ATTR(floats_required, ListFloat)
    .REQUIRED_ATTR(bools_required, ListBool)
    .REQUIRED_ATTR(strings_required, ListString)
    .REQUIRED_ATTR(ascends_required, ListAscendString)
    .REQUIRED_ATTR(tensors_required, ListTensor)
    .REQUIRED_ATTR(bytes_required, Bytes)
    .REQUIRED_ATTR(int_lists_required, ListListInt)
    .REQUIRED_ATTR(types_required, ListType)
    .GRAPH(body)
    .DYNAMIC_GRAPH(branches)
    .DATATYPE(T, TensorType({DT_FLOAT, DT_FLOAT16}))
    .DATATYPE(TL, ListTensorType(TensorType::RealNumberType()))
    .DATATYPE(TP, Promote({"T", "TL"}))
    // clang-format off: without the semicolon, which is optional, it takes what follows for the same statement.
    .OP_END_FACTORY_REG(EveryClause)

REG_OP(OneInOneOut).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).REQUIRED_ATTR(needed, Int).OP_END_FACTORY_REG(OneInOneOut);
// clang-format on

}  // namespace ge

#endif  // OPKIT_SIM_TESTS_GRAPH_EVERY_CLAUSE_H_
