// Shape, TensorDesc and Tensor of the graph side. (gert::Tensor of the runtime side is in exe_graph/runtime.)
#ifndef OPKIT_SIM_GRAPH_TENSOR_H_
#define OPKIT_SIM_GRAPH_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/error_codes.h"
#include "graph/types.h"

namespace ge {

class ShapeImpl;

// A trap that the toolkits have and this keeps: copies share their dims, so SetDim on a copy changes the original too.
class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY Shape {
 public:
  Shape();
  explicit Shape(const std::vector<int64_t> &dims);
  ~Shape() = default;
  Shape(const Shape &) = default;
  Shape &operator=(const Shape &) = default;

  size_t GetDimNum() const;                       // 0 for a scalar and for unknown rank; GetDims tells the two apart
  int64_t GetDim(size_t idx) const;               // 0 past the rank
  graphStatus SetDim(size_t idx, int64_t value);  // GRAPH_FAILED past the rank
  std::vector<int64_t> GetDims() const;
  int64_t GetShapeSize() const;  // -1 with an unknown dim; 0 for a scalar, an empty shape, and an overflow

 private:
  std::shared_ptr<ShapeImpl> impl_;
};

class TensorDescImpl;

// A value, except for its shapes (see Shape).
class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY TensorDesc {
 public:
  TensorDesc();
  explicit TensorDesc(Shape shape, Format format = FORMAT_ND, DataType dt = DT_FLOAT);
  ~TensorDesc() = default;
  TensorDesc(const TensorDesc &desc);
  TensorDesc(TensorDesc &&desc);
  TensorDesc &operator=(const TensorDesc &desc);
  TensorDesc &operator=(TensorDesc &&desc);

  void Update(const Shape &shape, Format format = FORMAT_ND, DataType dt = DT_FLOAT);

  Shape GetShape() const;
  void SetShape(const Shape &shape);
  graphStatus SetUnknownDimNumShape();
  graphStatus SetShapeRange(const std::vector<std::pair<int64_t, int64_t>> &range);
  graphStatus GetShapeRange(std::vector<std::pair<int64_t, int64_t>> &range) const;

  Format GetFormat() const;
  void SetFormat(Format format);
  Shape GetOriginShape() const;
  void SetOriginShape(const Shape &origin_shape);
  Format GetOriginFormat() const;
  void SetOriginFormat(Format origin_format);
  DataType GetDataType() const;
  void SetDataType(DataType dt);

  graphStatus GetName(AscendString &name);
  graphStatus GetName(AscendString &name) const;
  void SetName(const char_t *name);
  ATTRIBUTED_DEPRECATED(graphStatus GetName(AscendString &)) std::string GetName() const {
    AscendString name;
    (void)GetName(name);
    return name.GetString();
  }
  ATTRIBUTED_DEPRECATED(void SetName(const char_t *)) void SetName(const std::string &name) { SetName(name.c_str()); }

  int64_t GetSize() const;
  void SetSize(int64_t size);
  int64_t GetRealDimCnt() const;
  void SetRealDimCnt(const int64_t real_dim_cnt);
  Placement GetPlacement() const;
  void SetPlacement(Placement placement);

  // Takes the buffer over. GetConstData lends it: valid while a desc that holds it lives; false if there is none.
  void SetConstData(std::unique_ptr<uint8_t[]> const_data_buffer, const size_t &const_data_len);
  bool GetConstData(uint8_t **const_data_buffer, size_t &const_data_len) const;

  // One digit an axis of the expanded shape: 1 was added, 0 was there ("0110": [2,2] became [2,1,1,2]).
  void SetExpandDimsRule(const AscendString &expand_dims_rule);
  graphStatus GetExpandDimsRule(AscendString &expand_dims_rule) const;

  void SetReuseInputIndex(const uint32_t idx);

 private:
  friend class TensorAdapter;
  std::shared_ptr<TensorDescImpl> impl;
};

class TensorImpl;

// A handle: copies share the data. Clone makes an independent one.
class GE_FUNC_DEV_VISIBILITY GE_FUNC_HOST_VISIBILITY Tensor {
 public:
  using DeleteFunc = std::function<void(uint8_t *)>;

  Tensor();
  explicit Tensor(const TensorDesc &tensor_desc);
  Tensor(const TensorDesc &tensor_desc, const std::vector<uint8_t> &data);
  Tensor(const TensorDesc &tensor_desc, const uint8_t *data, size_t size);
  Tensor(TensorDesc &&tensor_desc, std::vector<uint8_t> &&data);
  ~Tensor() = default;
  Tensor(const Tensor &) = default;
  Tensor &operator=(const Tensor &) = default;

  TensorDesc GetTensorDesc() const;
  graphStatus SetTensorDesc(const TensorDesc &tensor_desc);

  const uint8_t *GetData() const;
  uint8_t *GetData();
  size_t GetSize() const;
  // Hands the data out; the tensor is empty afterwards.
  std::unique_ptr<uint8_t[], Tensor::DeleteFunc> ResetData();

  graphStatus SetData(std::vector<uint8_t> &&data);
  graphStatus SetData(const std::vector<uint8_t> &data);
  graphStatus SetData(const uint8_t *data, size_t size);
  // Strings become a DT_STRING payload: for each a StringHead whose addr counts from
  // the start of the payload, then the texts with their NUL.
  graphStatus SetData(const char_t *data);
  graphStatus SetData(const std::vector<AscendString> &datas);
  ATTRIBUTED_DEPRECATED(graphStatus SetData(const char_t *)) graphStatus SetData(const std::string &data) {
    return SetData(std::vector<AscendString>{AscendString(data.data(), data.size())});
  }
  ATTRIBUTED_DEPRECATED(graphStatus SetData(const std::vector<AscendString> &)) graphStatus SetData(const std::vector<std::string> &data) {
    std::vector<AscendString> texts;
    for (const std::string &text : data) {
      texts.emplace_back(text.data(), text.size());
    }
    return SetData(texts);
  }
  // Takes `data` over; `deleter_func` frees it.
  graphStatus SetData(uint8_t *data, size_t size, const Tensor::DeleteFunc &deleter_func);
  graphStatus ResetData(uint8_t *data, size_t size, const Tensor::DeleteFunc &deleter_func);

  // GRAPH_SUCCESS if the bytes are as many as shape and data type ask for, or if the type has no fixed size.
  graphStatus IsValid();

  graphStatus SetOriginShapeDimNum(const size_t dim_num);
  size_t GetOriginShapeDimNum() const;
  graphStatus SetOriginShapeDim(const size_t idx, const int64_t dim_value);
  int64_t GetOriginShapeDim(const size_t idx) const;
  graphStatus SetOriginFormat(const ge::Format &format);
  ge::Format GetOriginFormat() const;
  graphStatus SetShapeDimNum(const size_t dim_num);
  size_t GetShapeDimNum() const;
  graphStatus SetShapeDim(const size_t idx, const int64_t dim_value);
  int64_t GetShapeDim(const size_t idx) const;
  graphStatus SetFormat(const ge::Format &format);
  ge::Format GetFormat() const;
  graphStatus SetDataType(const ge::DataType &dtype);
  ge::DataType GetDataType() const;
  graphStatus SetPlacement(const ge::Placement &placement);
  ge::Placement GetPlacement() const;
  graphStatus SetExpandDimsRule(const AscendString &expand_dims_rule);
  graphStatus GetExpandDimsRule(AscendString &expand_dims_rule) const;

  Tensor Clone() const;

 private:
  friend class TensorAdapter;
  std::shared_ptr<TensorImpl> impl;
};

}  // namespace ge

#endif  // OPKIT_SIM_GRAPH_TENSOR_H_
