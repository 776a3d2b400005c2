# The libraries of graph building, along the toolkit's borders: metadef (values), graph_base (operators, graphs), graph (custom-op registry), platform.
# graph_base also links what needs metadef, and graph what needs either: programs name only these two on their link line.

opkit_sim_library(
  metadef
  SOURCES
    src/metadef/ascend_string.cpp
    src/metadef/report.cpp
    src/metadef/shape.cpp
    src/metadef/status_factory.cpp
    src/metadef/tensor.cpp
    src/metadef/tensor_desc.cpp
    src/metadef/types.cpp
)

opkit_sim_library(
  graph_base
  SOURCES
    src/graph/attr_value.cpp
    src/graph/describe.cpp
    src/graph/gnode.cpp
    src/graph/graph.cpp
    src/graph/graph_impl.cpp
    src/graph/inference_context.cpp
    src/graph/operator.cpp
    src/graph/operator_attr.cpp
    src/graph/operator_factory.cpp
    src/graph/operator_impl.cpp
    src/graph/operator_proto.cpp
  LINK metadef
  FILTEES metadef
)

opkit_sim_library(platform SOURCES src/platform/platform_infos.cpp LINK metadef)

opkit_sim_library(graph SOURCES src/register/custom_op_registry.cpp LINK metadef graph_base FILTEES metadef graph_base)
