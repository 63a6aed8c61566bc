// A backend that decides which requests of a model form a batch.
#ifndef NEREID_TRITON_PLUGIN_BATCHER_H_
#define NEREID_TRITON_PLUGIN_BATCHER_H_

#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "base/status.h"
#include "triton/execution.h"
#include "triton/model.h"

namespace nereid::triton {

// The backend sees a batch from its first request on and remembers it, while the core may ask for
// the same batch again: so each question shows the batch anew.
class PluginBatcher {
 public:
  static Status Open(Model& model, std::unique_ptr<PluginBatcher>* out);
  ~PluginBatcher();
  PluginBatcher(const PluginBatcher&) = delete;
  PluginBatcher& operator=(const PluginBatcher&) = delete;

  [[nodiscard]] nrd_batcher table();

 private:
  PluginBatcher(Model& model, TRITONBACKEND_Batcher* batcher);
  bool Includes(std::span<const nrd_request* const> chosen, const nrd_request* next);
  Status Ask(bool* included_out) NRD_REQUIRES(mutex_);

  Model& model_;
  TRITONBACKEND_Batcher* const batcher_;
  Mutex mutex_;
  Execution views_ NRD_GUARDED_BY(mutex_);
};

}  // namespace nereid::triton

#endif  // NEREID_TRITON_PLUGIN_BATCHER_H_
