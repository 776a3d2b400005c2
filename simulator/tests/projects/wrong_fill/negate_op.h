#ifndef NEGATE_OP_H
#define NEGATE_OP_H

#include "graph/operator_reg.h"

namespace ge {
REG_OP(NegateWrongly).INPUT(x, TensorType({DT_FLOAT})).OUTPUT(z, TensorType({DT_FLOAT})).OP_END_FACTORY_REG(NegateWrongly)
}  // namespace ge

#endif
