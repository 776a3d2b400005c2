// Copies of device memory at the speed of the host's memory.
#ifndef OPKIT_SIM_SRC_ACL_COPY_H_
#define OPKIT_SIM_SRC_ACL_COPY_H_

#include <cstddef>

namespace opkit_sim::rt {

// Like memcpy for ranges that don't overlap (like memmove for those that do); large ones bypass the cache and are split over the block
// threads.
void CopyBytes(void *dst, const void *src, size_t bytes);
void FillBytes(void *dst, int value, size_t bytes);

}  // namespace opkit_sim::rt

#endif  // OPKIT_SIM_SRC_ACL_COPY_H_
