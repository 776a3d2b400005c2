// Loads shared objects made by aclrtc and answers questions about their entries.
#include "acl/kernel_binary.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "acl/device.h"
#include "acl/error_text.h"

namespace opkit_sim::rt {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#endif

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void *, std::shared_ptr<Binary>> binaries;
  std::unordered_map<const void *, std::weak_ptr<Binary>> functions;
  std::unordered_set<const void *> gone_functions;
  std::unordered_set<const void *> gone_binaries;
};

Registry &Loaded() {
  static Registry &registry = *new Registry;
  return registry;
}

// The loader maps what the headers say and faults on a file that is cut short: look first.
const char *WhyNotLoadable(const uint8_t *data, size_t bytes) {
  Elf64_Ehdr header;
  if (bytes < sizeof header) return "too short for an ELF file";
  std::memcpy(&header, data, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "not an ELF file";
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine || header.e_type != ET_DYN) {
    return "an ELF file that is not a host shared object: the simulator runs only what its own aclrtc compiled";
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > bytes ||
      header.e_phnum > (bytes - header.e_phoff) / sizeof(Elf64_Phdr)) {
    return "an ELF file that is cut short";
  }
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, data + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_filesz > bytes || segment.p_offset > bytes - segment.p_filesz) return "an ELF file that is cut short";
  }
  return nullptr;
}

// A path to the file that no other load uses: the dynamic loader takes two equal paths for one library, the number of a closed descriptor
// is given again, and a library may stay mapped past its dlclose. The number of the load is spelt in "./" (1) and "/" (0), which name
// nothing.
std::string PathOfLoad(int file) {
  static std::atomic<uint64_t> loads{0};
  std::string path = "/proc/self/fd/";
  for (uint64_t number = loads.fetch_add(1) + 1; number != 0; number /= 2) path += number % 2 != 0 ? "./" : "/";
  return path + std::to_string(file);
}

// A library handle of its own for each load, so that two loads of one binary don't share state. Empty reason: loaded.
// `*kept` is the file: it stays open as long as the library, so that a debugger or sanitizer finds it under its path.
void *OpenFromMemory(const uint8_t *data, size_t bytes, int *kept, std::string *reason) {
  const int file = memfd_create("opkit_kernel", MFD_CLOEXEC);
  if (file < 0) {
    *reason = std::string("memfd_create: ") + std::strerror(errno);
    return nullptr;
  }
  size_t written = 0;
  while (written < bytes) {
    const ssize_t count = write(file, data + written, bytes - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      *reason = std::string("memfd: ") + std::strerror(errno);
      close(file);
      return nullptr;
    }
    written += static_cast<size_t>(count);
  }
  void *library = dlopen(PathOfLoad(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *reason = dlerror();
    close(file);
    return nullptr;
  }
  *kept = file;
  return library;
}

uint32_t StrictestAlign(const KernelEntry &entry) {
  uint32_t align = 4;
  for (uint32_t i = 0; i < entry.param_count; ++i) {
    if (entry.params[i].bytes >= 8 && entry.params[i].offset % 8 == 0) align = 8;
  }
  return align;
}

}  // namespace

Binary::~Binary() {
  if (library_ != nullptr) dlclose(library_);
  if (file_ >= 0) close(file_);
}

const Function *Binary::Find(const char *name) const {
  for (const Function &function : functions_) {
    if (std::strcmp(function.entry->name, name) == 0) return &function;
  }
  return nullptr;
}

std::string Binary::Names() const {
  std::string names;
  for (const Function &function : functions_) {
    if (!names.empty()) names += ", ";
    names += function.entry->name;
  }
  return names.empty() ? "none" : names;
}

aclError LoadBinary(const char *who, const void *data, size_t bytes, aclrtBinHandle *handle) {
  if (data == nullptr || bytes == 0 || handle == nullptr) {
    return Refuse(ACL_ERROR_INVALID_PARAM, "%s: %s must not be %s", who,
                  data == nullptr ? "data"
                  : bytes == 0    ? "length"
                                  : "binHandle",
                  data != nullptr && bytes == 0 ? "0" : "null");
  }
  *handle = nullptr;
  if (const aclError code = RequireContext(who)) return code;
  if (const char *why = WhyNotLoadable(static_cast<const uint8_t *>(data), bytes)) {
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: the binary (%zu bytes) is %s", who, bytes, why);
  }
  auto binary = std::make_shared<Binary>();
  std::string reason;
  binary->library_ = OpenFromMemory(static_cast<const uint8_t *>(data), bytes, &binary->file_, &reason);
  if (binary->library_ == nullptr) return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: the binary can't be loaded: %s", who, reason.c_str());
  const auto table_of = reinterpret_cast<KernelTableFn>(dlsym(binary->library_, "opkit_sim_kernel_table"));
  if (table_of == nullptr) {
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: the binary has no kernel table: it wasn't compiled by the simulator's aclrtc", who);
  }
  const KernelTable *table = table_of();
  if (table->abi_version != kAbiVersion) {
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: the binary was compiled for kernel interface %u, this runtime has %u: compile it again",
                  who, table->abi_version, kAbiVersion);
  }
  for (uint32_t i = 0; i < table->entry_count; ++i) {
    binary->functions_.push_back(Function{&table->entries[i], table, binary.get(), StrictestAlign(table->entries[i])});
  }
  Registry &loaded = Loaded();
  const std::lock_guard<std::mutex> lock(loaded.mutex);
  loaded.gone_binaries.erase(binary.get());
  for (const Function &function : binary->functions_) {
    loaded.functions[&function] = binary;
    loaded.gone_functions.erase(&function);
  }
  *handle = binary.get();
  loaded.binaries[binary.get()] = std::move(binary);
  return ACL_SUCCESS;
}

aclError UnloadBinary(aclrtBinHandle handle) {
  if (handle == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtBinaryUnLoad: binHandle must not be null");
  std::shared_ptr<Binary> binary;
  Registry &loaded = Loaded();
  const std::lock_guard<std::mutex> lock(loaded.mutex);
  const auto found = loaded.binaries.find(handle);
  if (found == loaded.binaries.end()) {
    const bool is_gone = loaded.gone_binaries.count(handle) != 0;
    return Refuse(ACL_ERROR_RT_INVALID_HANDLE, "aclrtBinaryUnLoad: %p %s", handle,
                  is_gone ? "has been unloaded already" : "is not a binary handle");
  }
  binary = std::move(found->second);
  loaded.binaries.erase(found);
  binary->is_unloaded_.store(true, std::memory_order_release);
  loaded.gone_binaries.insert(handle);
  for (const Function &function : binary->functions_) {
    loaded.functions.erase(&function);
    loaded.gone_functions.insert(&function);
  }
  return ACL_SUCCESS;
}

std::shared_ptr<Binary> BinaryOf(const char *who, const void *function, aclError *code) {
  // Launches in a row mostly name the same function.
  thread_local const void *last_function = nullptr;
  thread_local std::weak_ptr<Binary> last_binary;
  if (function != nullptr && function == last_function) {
    if (auto binary = last_binary.lock(); binary != nullptr && !binary->IsUnloaded()) return binary;
  }
  Registry &loaded = Loaded();
  const std::lock_guard<std::mutex> lock(loaded.mutex);
  const auto found = loaded.functions.find(function);
  if (found == loaded.functions.end()) {
    if (function == nullptr) {
      *code = Refuse(ACL_ERROR_INVALID_PARAM, "%s: the function handle must not be null", who);
    } else if (loaded.gone_functions.count(function) != 0) {
      *code = Refuse(ACL_ERROR_RT_INVALID_HANDLE, "%s: the binary of this function has been unloaded", who);
    } else {
      *code = Refuse(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a function handle", who, function);
    }
    return nullptr;
  }
  last_function = function;
  last_binary = found->second;
  return found->second.lock();
}

}  // namespace opkit_sim::rt

using namespace opkit_sim::rt;

namespace {

// Calls `use` with the function behind the handle, or refuses.
template <typename Use>
aclError WithFunction(const char *who, const void *handle, Use use) {
  aclError code = ACL_SUCCESS;
  const auto binary = BinaryOf(who, handle, &code);
  if (binary == nullptr) return code;
  return use(*static_cast<const Function *>(handle));
}

struct OldBinary {
  const void *data;
  size_t bytes;
};

}  // namespace

extern "C" {

aclrtBinary aclrtCreateBinary(const void *data, size_t dataLen) {
  if (data == nullptr || dataLen == 0) {
    Refuse(ACL_ERROR_INVALID_PARAM, "aclrtCreateBinary: data must not be null, nor its length 0");
    return nullptr;
  }
  return new OldBinary{data, dataLen};
}

aclError aclrtDestroyBinary(aclrtBinary binary) {
  if (binary == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtDestroyBinary: binary must not be null");
  delete static_cast<OldBinary *>(binary);
  return ACL_SUCCESS;
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle *binHandle) {
  if (binary == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtBinaryLoad: binary must not be null");
  const auto *old = static_cast<const OldBinary *>(binary);
  return LoadBinary("aclrtBinaryLoad", old->data, old->bytes, binHandle);
}

aclError aclrtBinaryLoadFromFile(const char *binPath, aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle) {
  if (binPath == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtBinaryLoadFromFile: binPath must not be null");
  std::ifstream file(binPath, std::ios::binary);
  if (!file) return Refuse(ACL_ERROR_RT_FILE_OPEN, "aclrtBinaryLoadFromFile: %s: %s", binPath, std::strerror(errno));
  const std::string data((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return aclrtBinaryLoadFromData(data.empty() ? binPath : data.data(), data.size(), options, binHandle);
}

aclError aclrtBinaryLoadFromData(const void *data, size_t length, const aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle) {
  constexpr const char *kWho = "aclrtBinaryLoadFromData";
  if (options != nullptr && options->numOpt != 0 && options->options == nullptr) {
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: %zu options announced, but the list is null", kWho, options->numOpt);
  }
  for (size_t i = 0; options != nullptr && i < options->numOpt; ++i) {
    const aclrtBinaryLoadOption &option = options->options[i];
    if (option.type == ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE) {
      return Refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s: AI CPU kernels aren't simulated", kWho);
    }
    if (option.type != ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD && option.type != ACL_RT_BINARY_LOAD_OPT_MAGIC) {
      return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: option type %d is unknown", kWho, static_cast<int>(option.type));
    }
    if (option.type == ACL_RT_BINARY_LOAD_OPT_MAGIC && option.value.magic != ACL_RT_BINARY_MAGIC_ELF_AICORE &&
        option.value.magic != ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE && option.value.magic != ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE) {
      return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: magic 0x%x is none of the three ELF magics", kWho, option.value.magic);
    }
  }
  return LoadBinary(kWho, data, length, binHandle);
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) { return UnloadBinary(binHandle); }

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char *kernelName, aclrtFuncHandle *funcHandle) {
  constexpr const char *kWho = "aclrtBinaryGetFunction";
  if (binHandle == nullptr || kernelName == nullptr || funcHandle == nullptr) {
    return Refuse(ACL_ERROR_INVALID_PARAM, "%s: %s must not be null", kWho,
                  binHandle == nullptr    ? "binHandle"
                  : kernelName == nullptr ? "kernelName"
                                          : "funcHandle");
  }
  *funcHandle = nullptr;
  std::shared_ptr<Binary> binary;
  {
    Registry &loaded = Loaded();
    const std::lock_guard<std::mutex> lock(loaded.mutex);
    const auto found = loaded.binaries.find(binHandle);
    if (found != loaded.binaries.end()) binary = found->second;
  }
  if (binary == nullptr) return Refuse(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not the handle of a loaded binary", kWho, binHandle);
  const Function *function = binary->Find(kernelName);
  if (function == nullptr) {
    return Refuse(ACL_ERROR_RT_KERNEL_LOOKUP, "%s: the binary has no kernel '%s'; it has: %s", kWho, kernelName, binary->Names().c_str());
  }
  *funcHandle = const_cast<Function *>(function);
  return ACL_SUCCESS;
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char *name) {
  constexpr const char *kWho = "aclrtGetFunctionName";
  if (name == nullptr || maxLen == 0) return Refuse(ACL_ERROR_INVALID_PARAM, "%s: name must not be null, nor maxLen 0", kWho);
  return WithFunction(kWho, funcHandle, [&](const Function &function) {
    std::snprintf(name, maxLen, "%s", function.entry->name);
    return ACL_SUCCESS;
  });
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType, int64_t *attrValue) {
  constexpr const char *kWho = "aclrtGetFunctionAttribute";
  if (attrValue == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "%s: attrValue must not be null", kWho);
  return WithFunction(kWho, funcHandle, [&](const Function &function) -> aclError {
    const std::string core = function.entry->core_type;
    switch (attrType) {
      case ACL_FUNC_ATTR_KERNEL_TYPE:
        *attrValue = core == "aiv" ? ACL_KERNEL_TYPE_VECTOR : core == "aic" ? ACL_KERNEL_TYPE_CUBE : ACL_KERNEL_TYPE_MIX;
        return ACL_SUCCESS;
      case ACL_FUNC_ATTR_KERNEL_RATIO:
        // Cube cores in the upper half, vector cores in the lower.
        *attrValue = core == "aiv" ? 1 : core == "aic" ? int64_t{1} << 16 : (int64_t{1} << 16) + 2;
        return ACL_SUCCESS;
      case ACL_FUNC_ATTR_KERNEL_SCHED_MODE:
        *attrValue = 0;
        return ACL_SUCCESS;
    }
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: attribute %d is unknown", kWho, static_cast<int>(attrType));
  });
}

aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle *binHandle) {
  constexpr const char *kWho = "aclrtFunctionGetBinary";
  if (binHandle == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "%s: binHandle must not be null", kWho);
  return WithFunction(kWho, funcHandle, [&](const Function &function) {
    *binHandle = function.binary;
    return ACL_SUCCESS;
  });
}

aclError aclrtFunctionGetParamCount(const void *func, size_t *paramCount) {
  constexpr const char *kWho = "aclrtFunctionGetParamCount";
  if (paramCount == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "%s: paramCount must not be null", kWho);
  return WithFunction(kWho, func, [&](const Function &function) {
    *paramCount = function.entry->param_count;
    return ACL_SUCCESS;
  });
}

aclError aclrtFunctionGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize) {
  constexpr const char *kWho = "aclrtFunctionGetParamInfo";
  if (paramOffset == nullptr && paramSize == nullptr) {
    return Refuse(ACL_ERROR_INVALID_PARAM, "%s: paramOffset and paramSize must not both be null", kWho);
  }
  return WithFunction(kWho, func, [&](const Function &function) -> aclError {
    if (paramIndex >= function.entry->param_count) {
      return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: parameter %zu of kernel '%s', which has %u", kWho, paramIndex, function.entry->name,
                    function.entry->param_count);
    }
    const opkit_sim::KernelParam &param = function.entry->params[paramIndex];
    if (paramOffset != nullptr) *paramOffset = param.offset;
    if (paramSize != nullptr) *paramSize = param.bytes;
    return ACL_SUCCESS;
  });
}

}  // extern "C"
