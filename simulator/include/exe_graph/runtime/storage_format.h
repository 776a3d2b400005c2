// Origin and storage format of a tensor, and how the one becomes the other.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_STORAGE_FORMAT_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_STORAGE_FORMAT_H_

#include <memory>

#include "exe_graph/runtime/expand_dims_type.h"
#include "graph/types.h"

namespace gert {
struct StorageFormat {
  // A device leaves both formats uninitialised here. FORMAT_MAX stands for that: nobody can mistake it for a format that was set.
  StorageFormat() = default;
  StorageFormat(const ge::Format origin_format, const ge::Format storage_format, const ExpandDimsType &expand_dims_type)
      : origin_(origin_format), storage_(storage_format), expand_dims_(expand_dims_type) {}

  ge::Format GetOriginFormat() const { return origin_; }
  void SetOriginFormat(const ge::Format format) { origin_ = format; }
  ge::Format GetStorageFormat() const { return storage_; }
  void SetStorageFormat(const ge::Format format) { storage_ = format; }
  ExpandDimsType GetExpandDimsType() const { return expand_dims_; }
  void SetExpandDimsType(const ExpandDimsType &expand_dims_type) { expand_dims_ = expand_dims_type; }
  ExpandDimsType &MutableExpandDimsType() { return expand_dims_; }

  bool operator==(const StorageFormat &other) const {
    return origin_ == other.origin_ && storage_ == other.storage_ && expand_dims_ == other.expand_dims_;
  }
  bool operator!=(const StorageFormat &other) const { return !(*this == other); }

 private:
  ge::Format origin_ = ge::FORMAT_MAX;
  ge::Format storage_ = ge::FORMAT_MAX;
  ExpandDimsType expand_dims_;
  uint8_t reserved_[40] = {};
};

static_assert(std::is_standard_layout<StorageFormat>::value && sizeof(StorageFormat) == 96,
              "StorageFormat crosses library borders by layout");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_STORAGE_FORMAT_H_
