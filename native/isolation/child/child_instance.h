// An instance of the backend in a child, and the thread that executes on it.
#ifndef NEREID_ISOLATION_CHILD_CHILD_INSTANCE_H_
#define NEREID_ISOLATION_CHILD_CHILD_INSTANCE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "base/status.h"
#include "isolation/child/child_batch.h"
#include "isolation/ring.h"
#include "isolation/shared_channel.h"
#include "nereid/nereid.h"

namespace nereid {

// The main thread makes and destroys it; the instance works on its own thread.
class ChildInstance {
 public:
  // The backend and its configured model outlive this.
  ChildInstance(const nrd_backend& backend, const nrd_model_options& options,
                std::unique_ptr<SharedChannel> channel);
  // Waits for executing batches, and closes the backend's instance.
  ~ChildInstance();
  ChildInstance(const ChildInstance&) = delete;
  ChildInstance& operator=(const ChildInstance&) = delete;

  // Called once. Returns when the backend has opened its instance.
  Status Open(void* model_state, uint32_t index);

 private:
  void Run(void* instance);
  void Execute(void* instance);

  const nrd_backend& backend_;
  const std::unique_ptr<SharedChannel> channel_;
  RingReader to_child_;
  ChildBatch batch_;
  nrd_error error_{};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_CHILD_CHILD_INSTANCE_H_
