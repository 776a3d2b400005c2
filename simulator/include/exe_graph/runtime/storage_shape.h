// The two shapes of a tensor: the one the user sees (origin) and the one in memory (storage); they differ only for private formats.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_STORAGE_SHAPE_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_STORAGE_SHAPE_H_

#include "exe_graph/runtime/shape.h"

namespace gert {
struct StorageShape {
  StorageShape() = default;
  StorageShape(const std::initializer_list<int64_t> &origin, const std::initializer_list<int64_t> &storage)
      : origin_(origin), storage_(storage) {}

  const Shape &GetShape() const { return origin_; }
  const Shape &GetOriginShape() const { return origin_; }
  const Shape &GetStorageShape() const { return storage_; }
  Shape &MutableShape() { return origin_; }
  Shape &MutableOriginShape() { return origin_; }
  Shape &MutableStorageShape() { return storage_; }

  bool operator==(const StorageShape &other) const { return origin_ == other.origin_ && storage_ == other.storage_; }
  bool operator!=(const StorageShape &other) const { return !(*this == other); }

 private:
  // First, because InferShapeContext reads an input tensor's address as its origin shape.
  Shape origin_;
  Shape storage_;
  uint8_t reserved_[40] = {};
};

static_assert(std::is_standard_layout<StorageShape>::value && sizeof(StorageShape) == 536,
              "StorageShape crosses library borders by layout");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_STORAGE_SHAPE_H_
