// Parameter structs of copies and repeats. Members are wider than a device's, so that a value that would be cut there is seen and reported
// instead.
#ifndef OPKIT_SIM_ASCENDC_PARAMS_H_
#define OPKIT_SIM_ASCENDC_PARAMS_H_

#include <cstdint>

namespace AscendC {

// blockLen, srcStride and dstStride in blocks of 32 bytes; with DataCopyPad blockLen and the GM side's gap are bytes.
struct DataCopyParams {
  DataCopyParams() = default;
  DataCopyParams(int64_t count, int64_t length, int64_t source_gap, int64_t destination_gap)
      : blockCount(count), blockLen(length), srcStride(source_gap), dstStride(destination_gap) {}
  int64_t blockCount = 1;
  int64_t blockLen = 0;
  union {
    int64_t srcStride = 0;
    int64_t srcGap;
  };
  union {
    int64_t dstStride = 0;
    int64_t dstGap;
  };
};

// blockLen and the GM side's gap in bytes, the UB side's gap in blocks of 32 bytes.
struct DataCopyExtParams {
  DataCopyExtParams() = default;
  DataCopyExtParams(int64_t count, int64_t length, int64_t source_gap, int64_t destination_gap, int64_t reserved)
      : blockCount(count), blockLen(length), srcStride(source_gap), dstStride(destination_gap), rsv(reserved) {}
  int64_t blockCount = 1;
  int64_t blockLen = 0;
  int64_t srcStride = 0;
  int64_t dstStride = 0;
  int64_t rsv = 0;
};

struct DataCopyPadParams {
  DataCopyPadParams() = default;
  DataCopyPadParams(bool pads, int64_t left, int64_t right, uint64_t value)
      : isPad(pads), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  int64_t leftPadding = 0;
  int64_t rightPadding = 0;
  uint64_t paddingValue = 0;
};

template <typename T>
struct DataCopyPadExtParams {
  DataCopyPadExtParams() = default;
  DataCopyPadExtParams(bool pads, int64_t left, int64_t right, T value)
      : isPad(pads), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  int64_t leftPadding = 0;
  int64_t rightPadding = 0;
  T paddingValue{};
};

struct UnaryRepeatParams {
  UnaryRepeatParams() = default;
  UnaryRepeatParams(int64_t dst_block, int64_t src_block, int64_t dst_repeat, int64_t src_repeat)
      : dstBlkStride(dst_block), srcBlkStride(src_block), dstRepStride(dst_repeat), srcRepStride(src_repeat) {}
  int64_t dstBlkStride = 1;
  int64_t srcBlkStride = 1;
  int64_t dstRepStride = 8;
  int64_t srcRepStride = 8;
};

struct BinaryRepeatParams {
  BinaryRepeatParams() = default;
  BinaryRepeatParams(int64_t dst_block, int64_t src0_block, int64_t src1_block, int64_t dst_repeat, int64_t src0_repeat,
                     int64_t src1_repeat)
      : dstBlkStride(dst_block),
        src0BlkStride(src0_block),
        src1BlkStride(src1_block),
        dstRepStride(dst_repeat),
        src0RepStride(src0_repeat),
        src1RepStride(src1_repeat) {}
  int64_t dstBlkStride = 1;
  int64_t src0BlkStride = 1;
  int64_t src1BlkStride = 1;
  int64_t dstRepStride = 8;
  int64_t src0RepStride = 8;
  int64_t src1RepStride = 8;
};

}  // namespace AscendC

#endif  // OPKIT_SIM_ASCENDC_PARAMS_H_
