// Typed access to a KernelRunContext: the root of every context class, none of which adds a member.
#ifndef OPKIT_SIM_EXE_GRAPH_RUNTIME_KERNEL_CONTEXT_H_
#define OPKIT_SIM_EXE_GRAPH_RUNTIME_KERNEL_CONTEXT_H_

#include <cstddef>
#include <type_traits>

#include "exe_graph/runtime/kernel_run_context.h"

namespace gert {
/// One cell: a value of up to pointer size lies in the cell itself, anything larger behind its pointer.
class Chain {
 public:
  using Deleter = void (*)(void *);

  template <typename T>
  const T *GetPointer() const {
    return static_cast<const T *>(Place<T>());
  }
  template <typename T>
  T *GetPointer() {
    return static_cast<T *>(const_cast<void *>(Place<T>()));
  }
  template <typename T, typename std::enable_if<(sizeof(T) <= sizeof(void *)), int>::type = 0>
  const T &GetValue() const {
    return *GetPointer<T>();
  }
  template <typename T, typename std::enable_if<(sizeof(T) <= sizeof(void *)), int>::type = 0>
  T &GetValue() {
    return *GetPointer<T>();
  }

  /// Deletes what the cell owned before.
  void Set(void *const data, const Deleter deleter) {
    if (cell_.deleter != nullptr) {
      cell_.deleter(cell_.data.pointer);
    }
    cell_.data.pointer = data;
    cell_.deleter = deleter;
  }
  template <typename T, typename std::enable_if<!std::is_array<T>::value, int>::type = 0>
  void SetWithDefaultDeleter(T *data) {
    Set(data, [](void *owned) { delete static_cast<T *>(owned); });
  }
  template <typename T, typename Element = typename std::remove_extent<T>::type,
            typename std::enable_if<std::is_array<T>::value, int>::type = 0>
  void SetWithDefaultDeleter(Element *data) {
    Set(data, [](void *owned) { delete[] static_cast<Element *>(owned); });
  }
  bool HasDeleter() const { return cell_.deleter != nullptr; }

 private:
  template <typename T>
  const void *Place() const {
    return sizeof(T) <= sizeof(void *) ? static_cast<const void *>(cell_.data.inplace) : cell_.data.pointer;
  }

  AsyncAnyValue cell_;
};

static_assert(std::is_standard_layout<Chain>::value && sizeof(Chain) == sizeof(AsyncAnyValue), "a Chain is a cell");

class KernelContext {
 public:
  size_t GetInputNum() const { return context_.input_size; }
  size_t GetOutputNum() const { return context_.output_size; }

  const Chain *GetInput(const size_t i) const { return i < context_.input_size ? Cell(i) : nullptr; }
  Chain *MutableInput(const size_t i) const { return i < context_.input_size ? Cell(i) : nullptr; }
  const Chain *GetOutput(const size_t i) const { return i < context_.output_size ? Cell(context_.input_size + i) : nullptr; }
  Chain *GetOutput(const size_t i) { return i < context_.output_size ? Cell(context_.input_size + i) : nullptr; }

  template <typename T>
  const T GetInputValue(size_t i) const {
    const Chain *cell = GetInput(i);
    return cell == nullptr ? T{} : cell->GetValue<T>();
  }
  template <typename T>
  const T *GetInputPointer(size_t i) const {
    const Chain *cell = GetInput(i);
    return cell == nullptr ? nullptr : cell->GetPointer<T>();
  }
  template <typename T>
  T *MutableInputPointer(size_t i) const {
    Chain *cell = MutableInput(i);
    return cell == nullptr ? nullptr : cell->GetPointer<T>();
  }
  const char *GetInputStrPointer(const size_t i) const { return GetInputValue<const char *>(i); }
  template <typename T>
  const T *GetOutputPointer(size_t i) const {
    const Chain *cell = GetOutput(i);
    return cell == nullptr ? nullptr : cell->GetPointer<T>();
  }
  template <typename T>
  T *GetOutputPointer(size_t i) {
    Chain *cell = GetOutput(i);
    return cell == nullptr ? nullptr : cell->GetPointer<T>();
  }

  const void *GetComputeNodeExtend() const { return context_.compute_node_info; }
  const void *GetKernelExtend() const { return context_.kernel_extend_info; }
  const KernelRunContext *GetContext() const { return &context_; }
  KernelRunContext *GetContext() { return &context_; }

  static bool IsInlineSize(const size_t size) { return size <= sizeof(void *); }

 private:
  Chain *Cell(size_t i) const {
    AsyncAnyValue *const *const cells = context_.values;
    return reinterpret_cast<Chain *>(cells[i]);
  }

  KernelRunContext context_;
};

static_assert(std::is_standard_layout<KernelContext>::value && sizeof(KernelContext) == 48, "KernelContext is a KernelRunContext");
}  // namespace gert

#endif  // OPKIT_SIM_EXE_GRAPH_RUNTIME_KERNEL_CONTEXT_H_
