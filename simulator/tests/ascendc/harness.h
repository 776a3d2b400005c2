// Runs kernels written in a test on the emulated core, with device memory of exact size, and keeps what was reported.
#ifndef OPKIT_SIM_TESTS_ASCENDC_HARNESS_H_
#define OPKIT_SIM_TESTS_ASCENDC_HARNESS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "kernel_operator.h"

namespace ascendc_test {

struct Found {
  opkit_sim::Severity severity;
  std::string rule;
  std::string message;
  std::string file;
  uint32_t line;
  uint32_t block;
};

struct Outcome {
  uint32_t abandoned = 0;  // blocks that ended in an error
  std::vector<Found> findings;

  std::string Text() const {
    std::string text;
    for (const Found &found : findings) {
      text += (found.severity == opkit_sim::Severity::kError ? "error " : "warning ") + found.rule + " line " + std::to_string(found.line) +
              ": " + found.message + "\n";
    }
    return text;
  }
};

struct Settings {
  uint32_t blocks = 1;
  uint32_t threads = 1;
  uint32_t ub_bytes = 196608;
  bool strict = false;
};

// Device memory of one test. Every allocation has its exact size on the heap, so that an overrun that the emulation lets through is one for
// ASan too.
class Device {
 public:
  template <typename T>
  T *Allocate(const char *name, const std::vector<T> &values) {
    const size_t bytes = values.size() * sizeof(T);
    // Not from a vector: its storage may be null when it is empty, and is aligned for its element alone.
    uint8_t *memory = static_cast<uint8_t *>(std::aligned_alloc(64, (bytes + 64) / 64 * 64));
    owned_.push_back({memory, &std::free});
    if (bytes != 0) std::memcpy(memory, values.data(), bytes);
    regions_.push_back({reinterpret_cast<uintptr_t>(memory), bytes, name});
    return reinterpret_cast<T *>(memory);
  }

  Outcome Run(const std::function<void()> &kernel, const Settings &settings = {}) {
    std::vector<opkit_sim::Region> regions = regions_;
    std::sort(regions.begin(), regions.end(), [](const opkit_sim::Region &a, const opkit_sim::Region &b) { return a.begin < b.begin; });
    Sink sink;
    const opkit_sim::LaunchEnv launch{"test_kernel",   settings.blocks, settings.ub_bytes, regions.data(), regions.size(),
                                      settings.strict, &sink,           &Sink::Report};
    const opkit_sim::KernelEntry entry{"test_kernel", nullptr, 0, 0, &CallFunction, "aiv"};
    std::atomic<uint32_t> next{0};
    std::atomic<uint32_t> abandoned{0};
    auto work = [&] {
      std::unique_ptr<uint8_t, decltype(&std::free)> ub(static_cast<uint8_t *>(std::aligned_alloc(4096, 262144)), &std::free);
      std::memset(ub.get(), 0x5c, 262144);
      for (uint32_t block = next++; block < settings.blocks; block = next++) {
        const opkit_sim::BlockEnv env{&launch, block, ub.get()};
        const std::function<void()> *function = &kernel;
        if (!opkit_sim::RunBlock(entry, reinterpret_cast<const uint8_t *>(&function), env)) ++abandoned;
      }
      opkit_sim::FinishBlocks();
    };
    std::vector<std::thread> others;
    for (uint32_t i = 1; i < settings.threads; ++i) others.emplace_back(work);
    work();
    for (std::thread &other : others) other.join();
    return {abandoned, sink.findings};
  }

 private:
  struct Sink {
    std::mutex mutex;
    std::vector<Found> findings;
    static void Report(void *sink, uint32_t block, const opkit_sim::Finding &finding) {
      auto *self = static_cast<Sink *>(sink);
      const std::lock_guard<std::mutex> lock(self->mutex);
      self->findings.push_back({finding.severity, finding.rule, finding.message, finding.file, finding.line, block});
    }
  };

  static void CallFunction(const uint8_t *args) { (**reinterpret_cast<const std::function<void()> *const *>(args))(); }

  std::vector<std::unique_ptr<uint8_t, decltype(&std::free)>> owned_;
  std::vector<opkit_sim::Region> regions_;
};

// The kernel must end with no finding at all.
inline void RunClean(const std::function<void()> &kernel) {
  Device device;
  const Outcome outcome = device.Run(kernel);
  CHECK_EQ(outcome.Text(), "");
  CHECK_EQ(outcome.abandoned, 0);
}

// The kernel must break exactly this rule, in this line of the test.
inline void CheckFinding(const Outcome &outcome, opkit_sim::Severity severity, const char *rule, int line, const char *text) {
  CHECK_EQ(outcome.findings.size(), 1);
  if (outcome.findings.size() != 1) {
    std::cerr << outcome.Text();
    return;
  }
  const Found &found = outcome.findings[0];
  CHECK_EQ(found.rule, rule);
  CHECK(found.severity == severity);
  CHECK_EQ(found.line, line);
  CHECK_CONTAINS(found.file, "_test.cpp");
  CHECK_CONTAINS(found.message, text);
  CHECK_EQ(outcome.abandoned, severity == opkit_sim::Severity::kError ? 1 : 0);
}

inline void ExpectError(const char *rule, int line, const char *text, const std::function<void()> &kernel) {
  Device device;
  CheckFinding(device.Run(kernel), opkit_sim::Severity::kError, rule, line, text);
}

// A warning doesn't stop the block, but does in strict mode.
inline void ExpectWarning(const char *rule, int line, const char *text, const std::function<void()> &kernel) {
  Device device;
  CheckFinding(device.Run(kernel), opkit_sim::Severity::kWarning, rule, line, text);
  Settings strict;
  strict.strict = true;
  CheckFinding(device.Run(kernel, strict), opkit_sim::Severity::kError, rule, line, text);
}

// A tensor at a chosen place of the UB, filled; as kernels of the static style make them.
template <typename T>
AscendC::LocalTensor<T> Place(uint32_t address, const std::vector<T> &values) {
  AscendC::LocalTensor<T> tensor(AscendC::TPosition::VECCALC, address, static_cast<uint32_t>(values.size()));
  if (!values.empty()) std::memcpy(tensor.Data(), values.data(), values.size() * sizeof(T));
  return tensor;
}

template <typename T>
std::vector<T> ValuesOf(const AscendC::LocalTensor<T> &tensor, size_t count) {
  std::vector<T> values(count);
  if (count != 0) std::memcpy(values.data(), tensor.Data(), count * sizeof(T));
  return values;
}

// Deterministic values of every magnitude that the tests care for.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed * 2654435769u + 12345) {}
  uint32_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }
  template <typename T>
  T Value() {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(Next()) << 20 ^ Next());
    } else {
      return T((static_cast<float>(Next() % 20001) - 10000.0f) / 64.0f);
    }
  }
  template <typename T>
  std::vector<T> Many(size_t count) {
    std::vector<T> values(count);
    for (T &value : values) value = Value<T>();
    return values;
  }

 private:
  uint64_t state_;
};

template <typename T>
bool SameBits(const T &a, const T &b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <typename T>
std::string TextOf(const T &value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>) {
    return std::to_string(static_cast<float>(value)) + " (bits " + std::to_string(value.Bits()) + ")";
  } else {
    return opkit_test::Shown(value);
  }
}

template <typename T>
void CheckSame(const char *what, const std::vector<T> &got, const std::vector<T> &expected) {
  CHECK_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size() && i < expected.size(); ++i) {
    if (SameBits(got[i], expected[i])) continue;
    opkit_test::Fail(__FILE__, __LINE__,
                     std::string(what) + ": element " + std::to_string(i) + " of " + std::to_string(got.size()) + " is " + TextOf(got[i]) +
                         ", expected " + TextOf(expected[i]));
    return;
  }
}

}  // namespace ascendc_test

#endif  // OPKIT_SIM_TESTS_ASCENDC_HARNESS_H_
