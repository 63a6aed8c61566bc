// A model whose backend runs in a process of its own, and the thread that replaces dead ones.
#ifndef NEREID_ISOLATION_ISOLATED_MODEL_H_
#define NEREID_ISOLATION_ISOLATED_MODEL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log_target.h"
#include "base/mutex.h"
#include "base/status.h"
#include "isolation/child_process.h"
#include "isolation/isolation_options.h"
#include "isolation/shared_channel.h"
#include "nereid/nereid.h"

namespace nereid {

class IsolatedInstance;

// A backend's model_state. The core opens, configures and closes it on one thread at a time;
// instances are opened and closed on their own threads. The thread `nrd-child` starts the child,
// awaits its end, and starts the next one, which opens the same model and instances.
class IsolatedModel {
 public:
  // The model's tensors, if its backend can tell.
  struct Described {
    bool known = false;
    std::vector<nrd_tensor_spec> inputs;
    std::vector<nrd_tensor_spec> outputs;
    std::string_view completed;  // the configuration that a plug-in completed; empty: unchanged
  };

  IsolatedModel(const nrd_model_options& options, IsolationOptions isolation, const LogTarget& log);
  // Closes the model; the child has ended afterwards.
  ~IsolatedModel();
  IsolatedModel(const IsolatedModel&) = delete;
  IsolatedModel& operator=(const IsolatedModel&) = delete;

  Status Open(const nrd_model_options& options);
  [[nodiscard]] const Described& described() const { return described_; }
  Status Configure(const nrd_model_options& options);
  Status OpenInstance(uint32_t index, std::unique_ptr<IsolatedInstance>* instance_out);
  // Called before the instance is deleted.
  void CloseInstance(const IsolatedInstance& instance);
  void ReadMemory(uint64_t* weight_bytes_out, uint64_t* working_bytes_out) const;

  // Waits for the child that replaces `ended`. UNAVAILABLE: there will be none.
  Status AwaitNext(const ChildProcess* ended);
  // Called when an execution got an answer: ends the count of deaths in a row.
  void Answered() {
    if (deaths_in_a_row_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      deaths_in_a_row_.store(0, std::memory_order_relaxed);
    }
  }

  // See nrd_model_isolation_read; `reason_out` may be null.
  void ReadStats(nrd_isolation_stats* stats_out, nrd_error* reason_out);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const IsolationOptions& isolation() const { return isolation_; }

 private:
  enum class State {
    kOpening,  // the first child, until all instances are open
    kUp,       // a child executes
    kBetween,  // a child has ended, and the next is not ready
    kFailed,   // there will be no other child
    kClosing
  };

  void Run();
  std::thread StartReopening(ChildProcess* child);
  Status Reopen(ChildProcess* child);
  Status OpenModel(ChildProcess* child);
  Status OpenInstanceIn(ChildProcess* child, uint32_t index,
                        std::unique_ptr<SharedChannel>* channel_out);
  bool Ended(ChildProcess* child, std::string end) NRD_REQUIRES(mutex_);
  void Fail(std::string reason) NRD_REQUIRES(mutex_);
  void AwaitBackOff() NRD_REQUIRES(mutex_);
  void Log(int32_t level, const std::string& message) const;
  [[nodiscard]] Status Lost(const std::string& reason) const;
  Status StartChild(std::shared_ptr<ChildProcess>* child_out) const;

  const std::string name_;
  const IsolationOptions isolation_;
  const LogTarget& log_;
  std::string opened_with_;      // the options of Open, as a message
  std::string configured_with_;  // the options of Configure, as a message
  std::string described_in_;     // contains the names of described_
  Described described_;
  std::atomic<uint64_t> weight_bytes_{0};
  std::atomic<uint64_t> working_bytes_{0};
  std::atomic<uint32_t> deaths_in_a_row_{0};

  Mutex mutex_;
  Condition changed_;
  State state_ NRD_GUARDED_BY(mutex_) = State::kOpening;
  std::shared_ptr<ChildProcess> child_ NRD_GUARDED_BY(mutex_);
  std::vector<IsolatedInstance*> instances_ NRD_GUARDED_BY(mutex_);
  uint32_t instance_count_ NRD_GUARDED_BY(mutex_) = 0;  // the number of instances, opened or to be
                                                        // opened
  uint64_t restarts_ NRD_GUARDED_BY(mutex_) = 0;
  std::string last_end_ NRD_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_ISOLATED_MODEL_H_
