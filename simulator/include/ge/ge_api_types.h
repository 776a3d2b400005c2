// Option names of GEInitialize, Session and LoadGraph, and the plain types of the session interface.
#ifndef OPKIT_SIM_GE_API_TYPES_H_
#define OPKIT_SIM_GE_API_TYPES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exe_graph/runtime/runtime_tensor.h"
#include "graph/ascend_string.h"
#include "graph/tensor.h"
#include "graph/types.h"

namespace ge {
// The simulator acts on these.
const char_t *const OPTION_EXEC_DEVICE_ID = "ge.exec.deviceId";
const char_t *const OPTION_SESSION_DEVICE_ID = "ge.session_device_id";

// These name what a device's compiler or executor may be told. They are accepted, handed to CompilableOp::Compile, and change nothing here.
const char_t *const OPTION_GRAPH_RUN_MODE = "ge.graphRunMode";
const char_t *const OPTION_DEVICE_TYPE = "ge.deviceType";
const char_t *const OPTION_EXEC_SESSION_ID = "ge.exec.sessionId";
const char_t *const OPTION_EXEC_JOB_ID = "ge.exec.jobId";
const char_t *const OPTION_EXEC_RANK_ID = "ge.exec.rankId";
const char_t *const OPTION_EXEC_ENABLE_DUMP = "ge.exec.enableDump";
const char_t *const OPTION_EXEC_DUMP_PATH = "ge.exec.dumpPath";
const char_t *const OPTION_EXEC_DUMP_STEP = "ge.exec.dumpStep";
const char_t *const OPTION_EXEC_DUMP_MODE = "ge.exec.dumpMode";
const char_t *const OPTION_EXEC_PROFILING_MODE = "ge.exec.profilingMode";
const char_t *const OPTION_EXEC_PROFILING_OPTIONS = "ge.exec.profilingOptions";
const char_t *const OPTION_EXEC_DISABLE_REUSED_MEMORY = "ge.exec.disableReuseMemory";
const char_t *const OPTION_EXEC_GRAPH_EXEC_TIMEOUT = "ge.exec.graphExecTimeout";
const char_t *const OPTION_EXEC_REUSE_ZERO_COPY_MEMORY = "ge.exec.reuseZeroCopyMemory";
const char_t *const OPTION_EXEC_HOST_INPUT_INDEXES = "ge.exec.hostInputIndexes";
const char_t *const OPTION_EXEC_OP_DEBUG_CONFIG = "ge.exec.opDebugConfig";
const char_t *const OPTION_FEATURE_BASE_REFRESHABLE = "ge.featureBaseRefreshable";
const char_t *const OPTION_CONST_LIFECYCLE = "ge.constLifecycle";
const char_t *const GRAPH_MEMORY_MAX_SIZE = "ge.graphMemoryMaxSize";
const char_t *const VARIABLE_MEMORY_MAX_SIZE = "ge.variableMemoryMaxSize";
const std::string PRECISION_MODE = "ge.exec.precision_mode";
const std::string PRECISION_MODE_V2 = "ge.exec.precision_mode_v2";
const std::string SOC_VERSION = "ge.socVersion";
const std::string OP_SELECT_IMPL_MODE = "ge.opSelectImplmode";
const std::string STATIC_MEMORY_POLICY = "ge.exec.staticMemoryPolicy";
const std::string DETERMINISTIC = "ge.deterministic";
const char_t *const INPUT_FORMAT = "input_format";

enum GraphRunMode : std::int32_t { PREDICTION = 0, TRAIN = 1 };

/// A graph input as BuildGraph takes it; data isn't needed.
struct InputTensorInfo {
  uint32_t data_type;
  std::vector<int64_t> dims;
  void *data;
  int64_t length;
};

using Status = uint32_t;
using RunAsyncCallback = std::function<void(Status, std::vector<ge::Tensor> &)>;
}  // namespace ge

#endif  // OPKIT_SIM_GE_API_TYPES_H_
