// The door from the platform tables to the session: the description of the simulated chip.
#ifndef OPKIT_SIM_SRC_PLATFORM_PLATFORM_INTERNAL_H_
#define OPKIT_SIM_SRC_PLATFORM_PLATFORM_INTERNAL_H_

#include <cstdint>

#include "platform/platform_infos_def.h"

namespace opkit_sim::platform {

// Replaces both by the simulated chip: NpuArch 2201, 192 KiB of unified buffer a core, as many cores as the runtime says it has.
void DescribeSimulatedChip(uint32_t ai_cores, uint32_t vector_cores, fe::PlatFormInfos &infos, fe::OptionalInfos &options);

}  // namespace opkit_sim::platform

#endif  // OPKIT_SIM_SRC_PLATFORM_PLATFORM_INTERNAL_H_
