// What is behind ge::TensorType, for the libraries that read it.
#ifndef OPKIT_SIM_SRC_METADEF_TYPE_SETS_H_
#define OPKIT_SIM_SRC_METADEF_TYPE_SETS_H_

#include <vector>

#include "graph/ascend_string.h"
#include "graph/types.h"

namespace ge {

class TensorTypeImpl {
 public:
  std::vector<DataType> types;
};

}  // namespace ge

#endif  // OPKIT_SIM_SRC_METADEF_TYPE_SETS_H_
