// The tensor that custom-op callbacks and Session execution exchange: shape, format, dtype and memory in one movable value.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_RUNTIME_TENSOR_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_RUNTIME_TENSOR_H_

#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "exe_graph/runtime/storage_format.h"
#include "exe_graph/runtime/storage_shape.h"
#include "exe_graph/runtime/stride.h"
#include "exe_graph/runtime/tensor_data.h"
#include "graph/error_codes.h"
#include "graph/types.h"

namespace gert {
using ConstTensorAddress = void *const;

enum TensorVersion : uint8_t { kTensorV1 = 0, kTensorV2 = 1 };

class Tensor {
 public:
  // A device leaves format and dtype uninitialised here; they read as FORMAT_MAX and DT_MAX until they are set.
  Tensor() = default;
  Tensor(const StorageShape &storage_shape, const StorageFormat &storage_format, ge::DataType data_type)
      : shape_(storage_shape), format_(storage_format), data_type_(data_type) {}
  Tensor(const StorageShape &storage_shape, const StorageFormat &storage_format, const TensorPlacement placement,
         const ge::DataType data_type, TensorAddress addr)
      : Tensor(storage_shape, storage_format, placement, data_type, addr, nullptr) {}

  // An element count or dtype without a size (unknown dims, strings) makes the size 2^64-1, as on a device.
  Tensor(const StorageShape &storage_shape, const StorageFormat &storage_format, const TensorPlacement placement,
         const ge::DataType data_type, TensorAddress addr, TensorAddrManager manager)
      : shape_(storage_shape),
        format_(storage_format),
        data_type_(data_type),
        data_(addr, manager, static_cast<size_t>(ge::GetSizeInBytes(storage_shape.GetStorageShape().GetShapeSize(), data_type)),
              placement) {}

  /// Elements of the storage shape.
  int64_t GetShapeSize() const { return shape_.GetStorageShape().GetShapeSize(); }

  const StorageShape &GetShape() const { return shape_; }
  StorageShape &GetShape() { return shape_; }
  const Shape &GetStorageShape() const { return shape_.GetStorageShape(); }
  Shape &MutableStorageShape() { return shape_.MutableStorageShape(); }
  const Shape &GetOriginShape() const { return shape_.GetOriginShape(); }
  Shape &MutableOriginShape() { return shape_.MutableOriginShape(); }

  const StorageFormat &GetFormat() const { return format_; }
  StorageFormat &MutableFormat() { return format_; }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
  void SetStorageFormat(const ge::Format format) { format_.SetStorageFormat(format); }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
  void SetOriginFormat(const ge::Format format) { format_.SetOriginFormat(format); }
  ExpandDimsType GetExpandDimsType() const { return format_.GetExpandDimsType(); }
  void SetExpandDimsType(const ExpandDimsType &expand_dims_type) { format_.SetExpandDimsType(expand_dims_type); }

  ge::DataType GetDataType() const { return data_type_; }
  void SetDataType(const ge::DataType data_type) { data_type_ = data_type; }

  /// The address of the first element; for kFollowing the bytes right behind this object.
  const void *GetAddr() const { return data_.GetPlacement() == kFollowing ? this + 1 : data_.GetAddr(); }
  void *GetAddr() { return data_.GetPlacement() == kFollowing ? this + 1 : data_.GetAddr(); }
  template <class T>
  const T *GetData() const {
    return static_cast<const T *>(GetAddr());
  }
  template <class T>
  T *GetData() {
    return static_cast<T *>(GetAddr());
  }
  void SetData(TensorData &&data) { data_ = std::move(data); }
  const TensorData &GetTensorData() const { return data_; }
  TensorData &MutableTensorData() { return data_; }
  size_t GetSize() const { return data_.GetSize(); }
  void SetSize(const size_t size) { data_.SetSize(size); }
  TensorPlacement GetPlacement() const { return data_.GetPlacement(); }
  void SetPlacement(const TensorPlacement placement) { data_.SetPlacement(placement); }
  TensorVersion GetVersion() const { return version_; }

  /// A tensor and room for its elements in one buffer; total_size becomes the size of both together. nullptr if that doesn't fit.
  static std::unique_ptr<uint8_t[]> CreateFollowing(const int64_t shape_size, const ge::DataType dt, size_t &total_size) {
    return CreateFollowing(dt, static_cast<size_t>(ge::GetSizeInBytes(shape_size, dt)), total_size);
  }
  static std::unique_ptr<uint8_t[]> CreateFollowing(const ge::DataType dt, const size_t tensor_size, size_t &total_size) {
    return PlaceWithElements<Tensor>(dt, tensor_size, total_size);
  }

 private:
  friend class TensorV2;

  template <class Whole>
  static std::unique_ptr<uint8_t[]> PlaceWithElements(const ge::DataType dt, const size_t bytes, size_t &total_size) {
    if (__builtin_add_overflow(bytes, sizeof(Whole), &total_size)) {
      return nullptr;
    }
    std::unique_ptr<uint8_t[]> holder(new (std::nothrow) uint8_t[total_size]);
    if (holder != nullptr) {
      auto *tensor = new (holder.get()) Whole(StorageShape(), StorageFormat(), dt);
      tensor->SetData(TensorData(nullptr, nullptr, bytes, kFollowing));
    }
    return holder;
  }

  StorageShape shape_;
  StorageFormat format_;
  TensorVersion version_ = kTensorV1;
  uint8_t version_padding_[3] = {};
  ge::DataType data_type_ = ge::DT_MAX;
  TensorData data_;
  uint8_t reserved_[40] = {};
};

static_assert(std::is_standard_layout<Tensor>::value && sizeof(Tensor) == 752, "Tensor crosses library borders by layout");

/// A tensor with element strides and an offset; begins like a Tensor, so that code that knows only Tensor reads it.
class TensorV2 {
 public:
  TensorV2() { tensor_.version_ = kTensorV2; }
  TensorV2(const StorageShape &storage_shape, const StorageFormat &storage_format, ge::DataType data_type)
      : tensor_(storage_shape, storage_format, data_type) {
    tensor_.version_ = kTensorV2;
  }
  TensorV2(const StorageShape &storage_shape, const StorageFormat &storage_format, const TensorPlacement placement,
           const ge::DataType data_type, TensorAddress addr, TensorAddrManager manager = nullptr)
      : TensorV2(storage_shape, storage_format, placement, data_type, addr, manager, Stride(), 0) {}
  TensorV2(const StorageShape &storage_shape, const StorageFormat &storage_format, const TensorPlacement placement,
           const ge::DataType data_type, TensorAddress addr, TensorAddrManager manager, const Stride &stride, const int64_t offset)
      : tensor_(storage_shape, storage_format, placement, data_type, addr, manager), stride_(stride), offset_(offset) {
    tensor_.version_ = kTensorV2;
  }

  int64_t GetShapeSize() const { return tensor_.GetShapeSize(); }
  const StorageShape &GetShape() const { return tensor_.GetShape(); }
  StorageShape &GetShape() { return tensor_.GetShape(); }
  const Shape &GetStorageShape() const { return tensor_.GetStorageShape(); }
  Shape &MutableStorageShape() { return tensor_.MutableStorageShape(); }
  const Shape &GetOriginShape() const { return tensor_.GetOriginShape(); }
  Shape &MutableOriginShape() { return tensor_.MutableOriginShape(); }
  const StorageFormat &GetFormat() const { return tensor_.GetFormat(); }
  StorageFormat &MutableFormat() { return tensor_.MutableFormat(); }
  ge::Format GetStorageFormat() const { return tensor_.GetStorageFormat(); }
  void SetStorageFormat(const ge::Format format) { tensor_.SetStorageFormat(format); }
  ge::Format GetOriginFormat() const { return tensor_.GetOriginFormat(); }
  void SetOriginFormat(const ge::Format format) { tensor_.SetOriginFormat(format); }
  ExpandDimsType GetExpandDimsType() const { return tensor_.GetExpandDimsType(); }
  void SetExpandDimsType(const ExpandDimsType &expand_dims_type) { tensor_.SetExpandDimsType(expand_dims_type); }
  ge::DataType GetDataType() const { return tensor_.GetDataType(); }
  void SetDataType(const ge::DataType data_type) { tensor_.SetDataType(data_type); }

  const void *GetAddr() const { return GetPlacement() == kFollowing ? this + 1 : tensor_.GetAddr(); }
  void *GetAddr() { return GetPlacement() == kFollowing ? this + 1 : tensor_.GetAddr(); }
  template <class T>
  const T *GetData() const {
    return static_cast<const T *>(GetAddr());
  }
  template <class T>
  T *GetData() {
    return static_cast<T *>(GetAddr());
  }
  void SetData(TensorData &&data) { tensor_.SetData(std::move(data)); }
  const TensorData &GetTensorData() const { return tensor_.GetTensorData(); }
  TensorData &MutableTensorData() { return tensor_.MutableTensorData(); }
  size_t GetSize() const { return tensor_.GetSize(); }
  void SetSize(const size_t size) { tensor_.SetSize(size); }
  TensorPlacement GetPlacement() const { return tensor_.GetPlacement(); }
  void SetPlacement(const TensorPlacement placement) { tensor_.SetPlacement(placement); }
  TensorVersion GetVersion() const { return tensor_.GetVersion(); }

  const Stride &GetStride() const { return stride_; }
  Stride &MutableStride() { return stride_; }
  int64_t GetOffset() const { return offset_; }
  void SetOffset(const int64_t offset) { offset_ = offset; }

  static std::unique_ptr<uint8_t[]> CreateFollowing(const int64_t shape_size, const ge::DataType dt, size_t &total_size) {
    return CreateFollowing(dt, static_cast<size_t>(ge::GetSizeInBytes(shape_size, dt)), total_size);
  }
  static std::unique_ptr<uint8_t[]> CreateFollowing(const ge::DataType dt, const size_t tensor_size, size_t &total_size) {
    return Tensor::PlaceWithElements<TensorV2>(dt, tensor_size, total_size);
  }

 private:
  Tensor tensor_;
  Stride stride_;
  int64_t offset_ = 0;
  uint8_t reserved_[40] = {};
};

static_assert(std::is_standard_layout<TensorV2>::value && sizeof(TensorV2) == 1048, "TensorV2 crosses library borders by layout");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_RUNTIME_TENSOR_H_
