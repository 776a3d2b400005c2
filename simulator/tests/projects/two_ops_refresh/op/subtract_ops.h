#ifndef SUBTRACT_OPS_H
#define SUBTRACT_OPS_H

#include "graph/operator_reg.h"

namespace ge {
REG_OP(SubtractRefreshed)
    .INPUT(x, TensorType({DT_FLOAT}))
    .INPUT(y, TensorType({DT_FLOAT}))
    .OUTPUT(z, TensorType({DT_FLOAT}))
    .OP_END_FACTORY_REG(SubtractRefreshed);

REG_OP(SubtractCopied)
    .INPUT(x, TensorType({DT_FLOAT}))
    .INPUT(y, TensorType({DT_FLOAT}))
    .OUTPUT(z, TensorType({DT_FLOAT}))
    .OP_END_FACTORY_REG(SubtractCopied);
}  // namespace ge

#endif
