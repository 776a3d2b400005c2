// A custom-op library for the loader's tests: registers type LOADER_TYPE, whose InferShape gives LOADER_NUMBER so that one can tell who
// registered it.
#include "graph/custom_op.h"

class LOADER_TYPE : public ge::ShapeInferOp {
 public:
  ge::graphStatus InferShape(gert::InferShapeContext *) override { return LOADER_NUMBER; }
  ge::graphStatus InferDataType(gert::InferDataTypeContext *) override { return ge::GRAPH_SUCCESS; }
};
REG_AUTO_MAPPING_OP(LOADER_TYPE);

#ifdef LOADER_BROKEN
extern "C" int nobody_defines_this();
const int kAsked = nobody_defines_this();
#endif
