// What an operator that reads and writes a resource keeps about the resource's content between inferences.
#ifndef OPKIT_SIM_GRAPH_RESOURCE_CONTEXT_H_
#define OPKIT_SIM_GRAPH_RESOURCE_CONTEXT_H_

namespace ge {

struct ResourceContext {
  virtual ~ResourceContext() = default;
};

}  // namespace ge

#endif  // OPKIT_SIM_GRAPH_RESOURCE_CONTEXT_H_
