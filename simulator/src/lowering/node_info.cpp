#include "lowering/node_info.h"

#include <cstring>
#include <map>
#include <new>
#include <string>
#include <type_traits>
#include <variant>

#include "exe_graph/runtime/continuous_vector.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "lowering/tensor_spec.h"

namespace opkit_sim::lowering {
namespace {
using Bytes = std::vector<uint8_t>;

// The head of gert::ComputeNodeInfo member by member: the class has no constructor, a buffer is laid out instead.
struct Head {
  const char *type;
  const char *name;
  size_t ir_inputs;
  size_t inputs;
  size_t outputs;
  size_t ir_outputs;
  size_t attr_bytes;
  uint8_t reserved[24];
};

void Append(Bytes &to, const void *data, size_t bytes) {
  const auto *begin = static_cast<const uint8_t *>(data);
  to.insert(to.end(), begin, begin + bytes);
}

template <typename T>
void AppendValue(Bytes &to, const T &value) {
  static_assert(std::is_standard_layout<T>::value, "only what lies flat can be copied into the buffer");
  Append(to, &value, sizeof(T));
}

void Align(Bytes &to) { to.resize((to.size() + 7) / 8 * 8); }

template <typename T>
void AppendVector(Bytes &to, const T *elements, size_t count) {
  size_t bytes = 0;
  const auto holder = gert::ContinuousVector::Create<T>(count, bytes);
  auto *vector = reinterpret_cast<gert::ContinuousVector *>(holder.get());
  (void)vector->SetSize(count);
  if (count > 0) {
    std::memcpy(vector->MutableData(), elements, count * sizeof(T));
  }
  Append(to, vector, bytes);
}

void AppendTensor(Bytes &to, const ge::Tensor &tensor) {
  const TensorSpec spec = SpecOf(tensor.GetTensorDesc());
  size_t bytes = 0;
  const auto holder = gert::Tensor::CreateFollowing(spec.dtype, tensor.GetSize(), bytes);
  auto *placed = reinterpret_cast<gert::Tensor *>(holder.get());
  placed->GetShape() = spec.shape;
  placed->MutableFormat() = spec.format;
  if (tensor.GetSize() > 0) {
    std::memcpy(placed->GetAddr(), tensor.GetData(), tensor.GetSize());
  }
  Append(to, holder.get(), bytes);
  placed->~Tensor();
}

// How the accessors of gert::RuntimeAttrs read each type; a list of lists and everything without an accessor comes as what it holds.
struct AttrAppender {
  Bytes &to;

  void operator()(std::monostate) const { AppendValue(to, int64_t{0}); }
  void operator()(int64_t value) const { AppendValue(to, value); }
  void operator()(float value) const { AppendValue(to, value); }
  void operator()(bool value) const { AppendValue(to, value); }
  void operator()(ge::DataType value) const { AppendValue(to, static_cast<int64_t>(value)); }
  void operator()(const ge::AscendString &value) const { Append(to, value.GetString(), std::strlen(value.GetString()) + 1); }
  void operator()(const ge::Tensor &value) const { AppendTensor(to, value); }
  void operator()(const std::vector<int64_t> &values) const { AppendVector(to, values.data(), values.size()); }
  void operator()(const std::vector<float> &values) const { AppendVector(to, values.data(), values.size()); }
  void operator()(const std::vector<uint8_t> &values) const { AppendVector(to, values.data(), values.size()); }
  void operator()(const std::vector<ge::DataType> &values) const { AppendVector(to, values.data(), values.size()); }
  void operator()(const std::vector<bool> &values) const {
    const Bytes flat(values.begin(), values.end());
    AppendVector(to, flat.data(), flat.size());
  }
  void operator()(const std::vector<ge::AscendString> &values) const {
    std::string joined;
    for (const ge::AscendString &value : values) {
      joined.append(value.GetString()).push_back('\0');
    }
    AppendVector(to, joined.data(), joined.size());
  }
  void operator()(const std::vector<std::vector<int64_t>> &lists) const {
    size_t bytes = gert::ContinuousVectorVector::GetOverHeadLength(lists.size());
    for (const std::vector<int64_t> &list : lists) {
      bytes += sizeof(gert::ContinuousVector) + list.size() * sizeof(int64_t);
    }
    std::vector<uint64_t> buffer(bytes / 8 + 1);
    auto *vectors = new (buffer.data()) gert::ContinuousVectorVector;
    vectors->Init(lists.size());
    for (const std::vector<int64_t> &list : lists) {
      gert::ContinuousVector *inner = vectors->Add<int64_t>(list.size());
      if (!list.empty()) {
        std::memcpy(inner->MutableData(), list.data(), list.size() * sizeof(int64_t));
      }
    }
    Append(to, vectors, bytes);
  }
  // Lists of tensors and the like have no accessor and no layout to imitate: the op sees that there is something, and nothing in it.
  template <typename Other>
  void operator()(const Other &) const {
    AppendVector<uint8_t>(to, nullptr, 0);
  }
};

// gert::RuntimeAttrs: count, 40 reserved bytes, one offset from its own start per attribute, the values.
Bytes EncodedAttrs(const graph::NodeDesc &node) {
  const size_t count = node.proto.attrs.size();
  const size_t first = sizeof(gert::RuntimeAttrs) + count * sizeof(size_t);
  Bytes values;
  std::vector<size_t> offsets;
  for (const graph::AttrDecl &declared : node.proto.attrs) {
    Align(values);
    offsets.push_back(first + values.size());
    const auto set = node.attrs.find(declared.name);
    std::visit(AttrAppender{values}, set == node.attrs.end() ? declared.default_value : set->second);
  }
  Align(values);
  Bytes encoded;
  AppendValue(encoded, count);
  encoded.resize(sizeof(gert::RuntimeAttrs));
  Append(encoded, offsets.data(), offsets.size() * sizeof(size_t));
  Append(encoded, values.data(), values.size());
  return encoded;
}

// The members of a dynamic port stand together, but not always where the prototype has the port: create_dynamic_input may put them in
// front.
std::vector<gert::AnchorInstanceInfo> Instances(size_t declared, const std::vector<size_t> &port_of_instance) {
  std::vector<gert::AnchorInstanceInfo> infos(declared);
  for (size_t i = port_of_instance.size(); i-- > 0;) {
    gert::AnchorInstanceInfo &port = infos[port_of_instance[i]];
    port = gert::AnchorInstanceInfo(static_cast<uint32_t>(i), static_cast<uint32_t>(port.GetInstanceNum() + 1));
  }
  return infos;
}

gert::CompileTimeTensorDesc Compiled(const ge::TensorDesc &desc) {
  const TensorSpec spec = SpecOf(desc);
  gert::CompileTimeTensorDesc compiled;
  compiled.SetDataType(spec.dtype);
  compiled.SetOriginFormat(spec.format.GetOriginFormat());
  compiled.SetStorageFormat(spec.format.GetStorageFormat());
  return compiled;
}

template <typename T>
void AppendAll(Bytes &to, const std::vector<T> &values) {
  Append(to, values.data(), values.size() * sizeof(T));
}
}  // namespace

std::vector<size_t> PresentInputs(const graph::NodeDesc &node) {
  std::vector<size_t> present;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].source.IsConnected()) {
      present.push_back(i);
    }
  }
  return present;
}

NodeInfo::NodeInfo(const graph::NodeDesc &node) : name_(node.name), type_(node.type) {
  std::vector<size_t> input_ports;
  std::vector<size_t> output_ports;
  std::vector<gert::CompileTimeTensorDesc> descs;
  for (const size_t i : PresentInputs(node)) {
    input_ports.push_back(node.inputs[i].port);
    descs.push_back(Compiled(node.inputs[i].desc));
  }
  for (const graph::OutputDesc &output : node.outputs) {
    output_ports.push_back(output.port);
    descs.push_back(Compiled(output.desc));
  }
  const Bytes attrs = EncodedAttrs(node);

  Head head = {};
  head.type = type_.GetString();
  head.name = name_.GetString();
  head.ir_inputs = node.proto.inputs.size();
  head.ir_outputs = node.proto.outputs.size();
  head.inputs = input_ports.size();
  head.outputs = output_ports.size();
  head.attr_bytes = attrs.size();

  Bytes bytes;
  AppendValue(bytes, head);
  AppendAll(bytes, Instances(head.ir_inputs, input_ports));
  AppendAll(bytes, descs);
  AppendAll(bytes, attrs);
  AppendAll(bytes, Instances(head.ir_outputs, output_ports));
  // The class ends in a word of its own, which an empty node wouldn't reach.
  buffer_.resize(bytes.size() / sizeof(uint64_t) + 2);
  std::memcpy(buffer_.data(), bytes.data(), bytes.size());
}
}  // namespace opkit_sim::lowering
