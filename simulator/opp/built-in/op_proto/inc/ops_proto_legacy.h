// Prototypes of built-in operators that graphs of custom operators are built from: inputs, constants, casts, elementwise arithmetic.
//
// A prototype lets a program build a graph. Which types a session can run is the session's business.
#ifndef OPKIT_SIM_OPS_PROTO_LEGACY_H_
#define OPKIT_SIM_OPS_PROTO_LEGACY_H_

#include "graph/operator_reg.h"

namespace ge {

// A graph input. `index` is renumbered to the place in Graph::SetInputs.
REG_OP(Data).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).ATTR(index, Int, 0).OP_END_FACTORY_REG(Data);

// A value that is part of the graph.
REG_OP(Const).OUTPUT(y, TensorType::ALL()).ATTR(value, Tensor, Tensor()).OP_END_FACTORY_REG(Const);
REG_OP(Constant).OUTPUT(y, TensorType::ALL()).ATTR(value, Tensor, Tensor()).OP_END_FACTORY_REG(Constant);

REG_OP(Identity).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).OP_END_FACTORY_REG(Identity);

// The end of a graph; compilers add it themselves.
REG_OP(NetOutput).DYNAMIC_INPUT(x, TensorType::ALL()).OP_END_FACTORY_REG(NetOutput);

REG_OP(Cast).INPUT(x, TensorType::ALL()).OUTPUT(y, TensorType::ALL()).REQUIRED_ATTR(dst_type, Int).OP_END_FACTORY_REG(Cast);

REG_OP(Add)
    .INPUT(x1, TensorType::NumberType())
    .INPUT(x2, TensorType::NumberType())
    .OUTPUT(y, TensorType::NumberType())
    .OP_END_FACTORY_REG(Add);

REG_OP(Sub)
    .INPUT(x1, TensorType::NumberType())
    .INPUT(x2, TensorType::NumberType())
    .OUTPUT(y, TensorType::NumberType())
    .OP_END_FACTORY_REG(Sub);

REG_OP(Mul)
    .INPUT(x1, TensorType::NumberType())
    .INPUT(x2, TensorType::NumberType())
    .OUTPUT(y, TensorType::NumberType())
    .OP_END_FACTORY_REG(Mul);

REG_OP(Relu).INPUT(x, TensorType::RealNumberType()).OUTPUT(y, TensorType::RealNumberType()).OP_END_FACTORY_REG(Relu);

}  // namespace ge

#endif  // OPKIT_SIM_OPS_PROTO_LEGACY_H_
