# The session's libraries, along the genuine borders: contexts in lowering, the custom-op loader in register, compilation in ge_compiler, the session
# in ge_runner. ge_common holds the reports that all of them make.

opkit_sim_library(ge_common SOURCES src/session/report.cpp LINK metadef FILTEES metadef)
opkit_sim_library(
  lowering
  SOURCES
    src/lowering/annotated_args_context.cpp
    src/lowering/context_frame.cpp
    src/lowering/eager_op_execution_context.cpp
    src/lowering/node_info.cpp
    src/lowering/node_memory.cpp
    src/lowering/op_compile_context.cpp
    src/lowering/tensor_spec.cpp
    src/lowering/update_args_context.cpp
  LINK ge_common platform metadef acl_rt
)
opkit_sim_library(register SOURCES src/register/custom_op_loader.cpp LINK ge_common ${CMAKE_DL_LIBS})
opkit_sim_library(
  ge_compiler
  SOURCES src/session/compile.cpp src/session/inference.cpp src/session/memory_plan.cpp
  LINK ge_common lowering graph graph_base metadef
)
opkit_sim_library(
  ge_runner
  SOURCES
    src/session/ge_api.cpp
    src/session/loaded_graph.cpp
    src/session/loaded_node.cpp
    src/session/output_blocks.cpp
    src/session/session_state.cpp
    src/session/summary.cpp
  LINK ge_common ge_compiler lowering register graph graph_base metadef acl_rt Threads::Threads
)
