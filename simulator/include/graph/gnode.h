// GNode: a node of a built graph, as passes and tools see it.
#ifndef OPKIT_SIM_GRAPH_GNODE_H_
#define OPKIT_SIM_GRAPH_GNODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/error_codes.h"
#include "graph/tensor.h"
#include "graph/types.h"

namespace ge {

class AttrValue;
class GNode;
class Graph;
class NodeImpl;

using GNodePtr = std::shared_ptr<GNode>;
using GraphPtr = std::shared_ptr<Graph>;
using OpBytes = std::vector<uint8_t>;

// A handle on a node; a default-made one is empty and fails every call. Ports are counted over all inputs (or outputs) of the node.
class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY GNode {
 public:
  GNode();
  ~GNode() = default;
  GNode(const GNode &) = default;
  GNode &operator=(const GNode &) = default;

  graphStatus GetType(AscendString &type) const;
  graphStatus GetName(AscendString &name) const;

  // The neighbour and its port; {nullptr, -1} where nothing is connected.
  std::pair<GNodePtr, int32_t> GetInDataNodesAndPortIndexs(const int32_t index) const;
  std::vector<std::pair<GNodePtr, int32_t>> GetOutDataNodesAndPortIndexs(const int32_t index) const;
  std::vector<GNodePtr> GetInControlNodes() const;
  std::vector<GNodePtr> GetOutControlNodes() const;

  graphStatus GetInputConstData(const int32_t index, Tensor &data) const;
  graphStatus GetInputIndexByName(const AscendString &name, int32_t &index);
  graphStatus GetOutputIndexByName(const AscendString &name, int32_t &index);
  graphStatus GetDynamicInputIndexesByName(const AscendString &name, std::vector<int32_t> &indexes);
  graphStatus GetDynamicOutputIndexesByName(const AscendString &name, std::vector<int32_t> &indexes);
  size_t GetInputsSize() const;
  size_t GetOutputsSize() const;

  graphStatus GetInputDesc(const int32_t index, TensorDesc &tensor_desc) const;
  graphStatus UpdateInputDesc(const int32_t index, const TensorDesc &tensor_desc);
  graphStatus GetOutputDesc(const int32_t index, TensorDesc &tensor_desc) const;
  graphStatus UpdateOutputDesc(const int32_t index, const TensorDesc &tensor_desc);

  // The setters take lvalues: that is how the toolkits declare them.
#define OPKIT_SIM_GNODE_ATTR(...)                                               \
  graphStatus GetAttr(const AscendString &name, __VA_ARGS__ &attr_value) const; \
  graphStatus SetAttr(const AscendString &name, __VA_ARGS__ &attr_value) const;
  OPKIT_SIM_GNODE_ATTR(int64_t)
  OPKIT_SIM_GNODE_ATTR(int32_t)
  OPKIT_SIM_GNODE_ATTR(uint32_t)
  OPKIT_SIM_GNODE_ATTR(float32_t)
  OPKIT_SIM_GNODE_ATTR(bool)
  OPKIT_SIM_GNODE_ATTR(AscendString)
  OPKIT_SIM_GNODE_ATTR(ge::DataType)
  OPKIT_SIM_GNODE_ATTR(Tensor)
  OPKIT_SIM_GNODE_ATTR(OpBytes)
  OPKIT_SIM_GNODE_ATTR(std::vector<int64_t>)
  OPKIT_SIM_GNODE_ATTR(std::vector<int32_t>)
  OPKIT_SIM_GNODE_ATTR(std::vector<uint32_t>)
  OPKIT_SIM_GNODE_ATTR(std::vector<float32_t>)
  OPKIT_SIM_GNODE_ATTR(std::vector<bool>)
  OPKIT_SIM_GNODE_ATTR(std::vector<AscendString>)
  OPKIT_SIM_GNODE_ATTR(std::vector<ge::DataType>)
  OPKIT_SIM_GNODE_ATTR(std::vector<Tensor>)
  OPKIT_SIM_GNODE_ATTR(std::vector<std::vector<int64_t>>)
  OPKIT_SIM_GNODE_ATTR(AttrValue)
#undef OPKIT_SIM_GNODE_ATTR
  bool HasAttr(const AscendString &name);

  graphStatus GetInputAttr(const AscendString &name, uint32_t input_index, AttrValue &attr_value) const;
  graphStatus SetInputAttr(const AscendString &name, uint32_t input_index, const AttrValue &attr_value);
  graphStatus GetOutputAttr(const AscendString &name, uint32_t output_index, AttrValue &attr_value) const;
  graphStatus SetOutputAttr(const AscendString &name, uint32_t output_index, const AttrValue &attr_value);

 private:
  friend class NodeImpl;
  std::shared_ptr<NodeImpl> impl_;
};

}  // namespace ge

#endif  // OPKIT_SIM_GRAPH_GNODE_H_
