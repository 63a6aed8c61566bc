#include "core/config/resource_count.h"

#include "base/status.h"

namespace nereid {

std::vector<ResourceCount> ReadResources(const nrd_resource* resources, uint32_t count) {
  std::vector<ResourceCount> read;
  for (uint32_t i = 0; i < count; ++i) {
    read.push_back({.name = std::string(View(resources[i].name)),
                    .count = resources[i].count,
                    .device = resources[i].device});
  }
  return read;
}

}  // namespace nereid
