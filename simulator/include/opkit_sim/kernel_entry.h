// How a compiled kernel describes and calls its own entries: the argument layout follows from the C++ signature, nothing is declared twice.
//
// RTC appends, for each entry, `EntryOf<decltype(&f), &f>::Describe(...)` to the preprocessed source and puts the results into the kernel
// table.
#ifndef OPKIT_SIM_KERNEL_ENTRY_H_
#define OPKIT_SIM_KERNEL_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "opkit_sim/kernel_abi.h"

namespace opkit_sim {

// The device's argument block is one struct whose members lie at the alignment of their type, but at least 4.
template <typename... Args>
struct ArgsLayout {
  static constexpr size_t kCount = sizeof...(Args);
  // One element more than needed, so that a kernel without parameters has an array too.
  KernelParam params[kCount + 1];
  uint32_t bytes;

  static constexpr ArgsLayout Make(const char *const *names) {
    ArgsLayout layout{};
    uint32_t at = 0;
    size_t index = 0;
    (layout.Place<Args>(names, index, at), ...);
    layout.bytes = at;
    return layout;
  }

  static constexpr uint32_t OffsetOf(size_t wanted) {
    constexpr const char *kNames[kCount + 1] = {};
    return Make(kNames).params[wanted].offset;
  }

 private:
  template <typename T>
  constexpr void Place(const char *const *names, size_t &index, uint32_t &at) {
    constexpr uint32_t kAlign = alignof(T) < 4 ? 4 : static_cast<uint32_t>(alignof(T));
    at = (at + kAlign - 1) / kAlign * kAlign;
    params[index] = KernelParam{names[index], at, static_cast<uint32_t>(sizeof(T)), std::is_pointer_v<T>};
    at += static_cast<uint32_t>(sizeof(T));
    ++index;
  }
};

// The parameter of a kernel as a value: top-level const goes, references can't cross to a device.
template <typename T>
struct ArgValue {
  static_assert(!std::is_reference_v<T>, "a kernel parameter can't be a reference");
  static_assert(std::is_trivially_copyable_v<T>, "a kernel parameter must be trivially copyable");
  using Type = std::remove_cv_t<T>;

  static Type Read(const uint8_t *from) {
    // Bytes of the caller's, at whatever alignment the caller's buffer has.
    alignas(Type) unsigned char bytes[sizeof(Type)];
    std::memcpy(bytes, from, sizeof(Type));
    return *std::launder(reinterpret_cast<Type *>(bytes));
  }
};

template <>
struct ArgValue<bool> {
  using Type = bool;
  // Any non-zero byte is true; reading one as bool would be undefined.
  static bool Read(const uint8_t *from) { return *from != 0; }
};

template <>
struct ArgValue<const bool> : ArgValue<bool> {};

template <typename Signature, Signature Function>
struct EntryOf;

template <typename... Args, void (*Function)(Args...)>
struct EntryOf<void (*)(Args...), Function> {
  using Layout = ArgsLayout<std::remove_cv_t<Args>...>;

  // `names` has one string per parameter and must outlive the entry, as must `name` and `core_type`.
  static KernelEntry Describe(const char *name, const char *const *names, const char *core_type) {
    static const Layout layout = Layout::Make(names);
    return KernelEntry{name, layout.params, static_cast<uint32_t>(sizeof...(Args)), layout.bytes, &Call, core_type};
  }

  static void Call(const uint8_t *args) { CallWith(args, std::index_sequence_for<Args...>{}); }

 private:
  template <size_t... Index>
  static void CallWith([[maybe_unused]] const uint8_t *args, std::index_sequence<Index...>) {
    Function(ArgValue<Args>::Read(args + std::integral_constant<uint32_t, Layout::OffsetOf(Index)>::value)...);
  }
};

template <typename... Args, void (*Function)(Args...) noexcept>
struct EntryOf<void (*)(Args...) noexcept, Function> : EntryOf<void (*)(Args...), Function> {};

// What run_block is for a source that doesn't include kernel_operator.h: no block state, no checks.
inline bool PlainRunBlock(const KernelEntry &entry, const uint8_t *args, const BlockEnv &) {
  entry.call(args);
  return true;
}

}  // namespace opkit_sim

#endif  // OPKIT_SIM_KERNEL_ENTRY_H_
