#include "core/work_queue.h"

#include "core/objective_queue.h"
#include "core/sequence_queue.h"
#include "core/shared_queue.h"

namespace nereid {

std::unique_ptr<WorkQueue> MakeWorkQueue(const ModelConfig& config) {
  if (config.sequences) {
    return std::make_unique<SequenceQueue>(config);
  }
  if (config.objective) {
    return std::make_unique<ObjectiveQueue>(config);
  }
  return std::make_unique<SharedQueue>(config);
}

}  // namespace nereid
