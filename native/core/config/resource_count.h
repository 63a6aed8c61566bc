// An amount of a resource that executions share.
#ifndef NEREID_CORE_CONFIG_RESOURCE_COUNT_H_
#define NEREID_CORE_CONFIG_RESOURCE_COUNT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nereid/nereid.h"

namespace nereid {

struct ResourceCount {
  static constexpr int32_t kNoDevice = -1;  // one for all devices

  std::string name;
  uint32_t count = 0;
  int32_t device = kNoDevice;
};

std::vector<ResourceCount> ReadResources(const nrd_resource* resources, uint32_t count);

}  // namespace nereid

#endif  // NEREID_CORE_CONFIG_RESOURCE_COUNT_H_
