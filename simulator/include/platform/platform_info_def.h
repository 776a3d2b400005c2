// Where the platform headers keep their plain records. None of them is part of the
// simulator: the tables of PlatFormInfos carry the same facts.
#ifndef OPKIT_SIM_PLATFORM_PLATFORM_INFO_DEF_H_
#define OPKIT_SIM_PLATFORM_PLATFORM_INFO_DEF_H_

#include <cstdint>

#endif  // OPKIT_SIM_PLATFORM_PLATFORM_INFO_DEF_H_
