// The rate limiter with threads: executions wait for shared resources.
#ifndef NEREID_CORE_SCHEDULE_EXECUTION_LIMITS_H_
#define NEREID_CORE_SCHEDULE_EXECUTION_LIMITS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "core/config/model_config.h"
#include "core/schedule/rate_limiter.h"

namespace nereid {

// The one limiter of a runtime, with its mutex, which is the last in the lock order: no other code
// is called while it is held.
class SharedLimiter final : private RateLimiter::Observer {
 public:
  // An instance in the limiter, with the condition on which its thread waits.
  struct Member : RateLimiter::Holder {
    Condition served;
  };

  SharedLimiter() : limiter_(*this) {}

  Status Limit(std::vector<ResourceCount> limits) NRD_EXCLUDES(mutex_);
  void SetTotal(const std::string& name, uint32_t count) NRD_EXCLUDES(mutex_);
  Status Add(Member& member, const InstanceOptions& options) NRD_EXCLUDES(mutex_);
  void Remove(Member& member) NRD_EXCLUDES(mutex_);

  bool TryAcquire(Member& member) NRD_EXCLUDES(mutex_);
  bool AcquireOrWait(Member& member, int64_t latest_ns) NRD_EXCLUDES(mutex_);
  // Always true, for use as result of MayExecute.
  bool Leave(Member& member) NRD_EXCLUDES(mutex_);
  void LeaveIfWaiting(Member& member) NRD_EXCLUDES(mutex_);
  // True if the member waits, or was granted its resources after waiting.
  [[nodiscard]] bool HasWaited(const Member& member) NRD_EXCLUDES(mutex_);
  [[nodiscard]] bool Waits(const Member& member) NRD_EXCLUDES(mutex_);
  // Returns when the member waits no more.
  void Await(Member& member) NRD_EXCLUDES(mutex_);

  // Reads the resources that some instance needs, `capacity` at most; returns how many there are.
  uint32_t ReadResources(nrd_resource_stats* stats_out, uint32_t capacity) NRD_EXCLUDES(mutex_);
  void ReadInstance(const Member& member, nrd_instance_stats* stats_out) NRD_EXCLUDES(mutex_);

 private:
  void Changed(RateLimiter::Holder& holder) override {
    static_cast<Member&>(holder).served.NotifyOne();
  }

  Mutex mutex_;
  RateLimiter limiter_ NRD_GUARDED_BY(mutex_);
};

// The instances of one model in the shared limiter, named by their index. If no instance needs
// resources, each function is one branch.
class ExecutionLimits {
 public:
  ExecutionLimits(SharedLimiter& limiter, const ModelConfig& config);
  ~ExecutionLimits() { Close(); }
  ExecutionLimits(const ExecutionLimits&) = delete;
  ExecutionLimits& operator=(const ExecutionLimits&) = delete;

  // True if some instance needs resources.
  [[nodiscard]] bool any() const { return limited_; }

  // Open is the first call, and fails if there is too little of a resource for some instance. Close
  // may be called twice.
  Status Open();
  void Close();

  // For a thread that borrows the instance, if any(): acquires at once or not at all.
  bool TryAcquire(uint32_t instance) { return limiter_.TryAcquire(*members_[instance]); }
  // Called by the instance's thread: `executes` says whether it has work, to begin by `latest_ns`.
  // False: it has work and waits for resources.
  bool MayExecute(uint32_t instance, bool executes, int64_t latest_ns = kNever) {
    return !limited_ || (executes ? limiter_.AcquireOrWait(*members_[instance], latest_ns)
                                  : limiter_.Leave(*members_[instance]));
  }
  // Called when the instance has executed, or has nothing to execute.
  void Leave(uint32_t instance) { MayExecute(instance, false); }
  // Ends all waits if there are no requests.
  void LeaveUnless(bool requests) {
    if (limited_ && !requests) {
      LeaveAll();
    }
  }
  // True if the instance waits, or did until just now.
  [[nodiscard]] bool HasWaited(uint32_t instance) {
    return limited_ && limiter_.HasWaited(*members_[instance]);
  }
  // True if Await would wait.
  [[nodiscard]] bool Waits(uint32_t instance) {
    return limited_ && limiter_.Waits(*members_[instance]);
  }
  // Returns when the instance's turn has come, or there is nothing to execute.
  void Await(uint32_t instance) { limiter_.Await(*members_[instance]); }

  // See nrd_model_instance_stats_read.
  void Read(uint32_t instance, nrd_instance_stats* stats_out);

 private:
  void LeaveAll();

  SharedLimiter& limiter_;
  const ModelConfig& config_;
  const bool limited_;
  std::vector<std::unique_ptr<SharedLimiter::Member>> members_;  // for all instances, or empty
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_EXECUTION_LIMITS_H_
