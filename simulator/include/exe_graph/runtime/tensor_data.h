// Who owns a tensor's memory: an address, its size and place, and optionally a manager function that counts the owners.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_TENSOR_DATA_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_TENSOR_DATA_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "graph/error_codes.h"

namespace gert {
using TensorAddress = void *;
using ConstTensorAddressPtr = const void *;

enum TensorPlacement : int32_t { kOnDeviceHbm = 0, kOnHost = 1, kFollowing = 2, kOnDeviceP2p = 3, kTensorPlacementEnd = 4 };

class TensorPlacementUtils {
 public:
  static bool IsOnDevice(TensorPlacement placement) { return IsOnDeviceHbm(placement) || IsOnDeviceP2p(placement); }
  static bool IsOnHost(TensorPlacement placement) { return IsOnHostNotFollowing(placement) || IsOnHostFollowing(placement); }
  static bool IsOnHostFollowing(TensorPlacement placement) { return placement == kFollowing; }
  static bool IsOnHostNotFollowing(TensorPlacement placement) { return placement == kOnHost; }
  static bool IsOnDeviceHbm(TensorPlacement placement) { return placement == kOnDeviceHbm; }
  static bool IsOnDeviceP2p(TensorPlacement placement) { return placement == kOnDeviceP2p; }
};

enum TensorOperateType : int32_t { kGetTensorAddress = 0, kFreeTensor = 1, kPlusShareCount = 2, kTensorOperateType = 3 };

/// Works on the opaque address of a block: writes the usable address to *out, drops a reference, or adds one.
using TensorAddrManager = ge::graphStatus (*)(TensorAddress addr, TensorOperateType operate_type, void **out);

class TensorData {
 public:
  explicit TensorData(TensorAddress addr = nullptr, const TensorAddrManager manager = nullptr)
      : TensorData(addr, manager, 0, kTensorPlacementEnd) {}
  explicit TensorData(TensorAddress addr, const TensorAddrManager manager, size_t size, TensorPlacement placement)
      : addr_(addr), manager_(manager), size_(size), placement_(placement) {}

  TensorData(const TensorData &) = delete;
  TensorData &operator=(const TensorData &) = delete;
  TensorData(TensorData &&other) noexcept { Take(other); }
  TensorData &operator=(TensorData &&other) noexcept {
    if (this != &other) {
      (void)Free();
      Take(other);
    }
    return *this;
  }
  ~TensorData() noexcept { (void)Free(); }

  TensorAddress GetAddr() const {
    if (manager_ == nullptr || addr_ == nullptr) {
      return addr_;
    }
    TensorAddress usable = nullptr;
    return manager_(addr_, kGetTensorAddress, &usable) == ge::GRAPH_SUCCESS ? usable : nullptr;
  }

  size_t GetSize() const { return size_; }
  void SetSize(const size_t size) { size_ = size; }
  TensorPlacement GetPlacement() const { return placement_; }
  void SetPlacement(const TensorPlacement placement) { placement_ = placement; }

  /// Without a manager the memory is someone else's: the address stays and nothing is freed.
  ge::graphStatus Free() {
    if (manager_ == nullptr) {
      return ge::GRAPH_SUCCESS;
    }
    const ge::graphStatus status = manager_(addr_, kFreeTensor, nullptr);
    if (status == ge::GRAPH_SUCCESS) {
      addr_ = nullptr;
      manager_ = nullptr;
    }
    return status;
  }

  /// Keeps size and placement.
  ge::graphStatus SetAddr(const ConstTensorAddressPtr addr, TensorAddrManager manager) {
    const ge::graphStatus status = Free();
    if (status == ge::GRAPH_SUCCESS) {
      addr_ = const_cast<TensorAddress>(addr);
      manager_ = manager;
    }
    return status;
  }

  bool IsSharedWith(const TensorData &other) const {
    return addr_ == other.addr_ && manager_ == other.manager_ && size_ == other.size_ && placement_ == other.placement_;
  }

  ge::graphStatus ShareFrom(const TensorData &other) {
    if (IsSharedWith(other)) {
      return ge::GRAPH_SUCCESS;
    }
    const ge::graphStatus status = Free();
    if (status != ge::GRAPH_SUCCESS) {
      return status;
    }
    addr_ = other.addr_;
    manager_ = other.manager_;
    size_ = other.size_;
    placement_ = other.placement_;
    return manager_ == nullptr ? ge::GRAPH_SUCCESS : manager_(addr_, kPlusShareCount, nullptr);
  }

  /// Gives the ownership away: the caller frees through `manager`.
  TensorAddress Release(TensorAddrManager &manager) {
    TensorData gone;
    gone.Take(*this);
    manager = std::exchange(gone.manager_, nullptr);
    return gone.addr_;
  }

 private:
  void Take(TensorData &other) noexcept {
    addr_ = std::exchange(other.addr_, nullptr);
    manager_ = std::exchange(other.manager_, nullptr);
    size_ = std::exchange(other.size_, size_t{0});
    placement_ = std::exchange(other.placement_, kTensorPlacementEnd);
  }

  TensorAddress addr_ = nullptr;
  TensorAddrManager manager_ = nullptr;
  size_t size_ = 0;
  TensorPlacement placement_ = kTensorPlacementEnd;
  uint32_t placement_padding_ = 0;
  uint8_t reserved_[40] = {};
};

static_assert(sizeof(TensorData) == 72, "TensorData crosses library borders by layout");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_TENSOR_DATA_H_
