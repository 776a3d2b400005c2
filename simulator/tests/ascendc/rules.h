// What the tests of the checked mistakes share: queues and tensors of the usual kind.
#ifndef OPKIT_SIM_TESTS_ASCENDC_RULES_H_
#define OPKIT_SIM_TESTS_ASCENDC_RULES_H_

#include "harness.h"

namespace ascendc_test {

using InQueue = AscendC::TQue<AscendC::TPosition::VECIN, 2>;
using OutQueue = AscendC::TQue<AscendC::TPosition::VECOUT, 2>;

// x holds 16 floats, z as many.
struct Tensors {
  Device device;
  float *x = device.Allocate("x", std::vector<float>(16, 1.0f));
  float *z = device.Allocate("z", std::vector<float>(16, 0.0f));
};

template <typename T>
AscendC::GlobalTensor<T> Global(T *address, size_t count) {
  AscendC::GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(address, count);
  return tensor;
}

const AscendC::DataCopyPadExtParams<float> kNoPad{false, 0, 0, 0};

}  // namespace ascendc_test

#endif  // OPKIT_SIM_TESTS_ASCENDC_RULES_H_
