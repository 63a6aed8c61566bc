// Decides which requests a model accepts, and whether the submitting thread may execute one.
#ifndef NEREID_CORE_SCHEDULE_ADMISSION_H_
#define NEREID_CORE_SCHEDULE_ADMISSION_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/status.h"
#include "core/config/model_config.h"
#include "core/request/completion.h"
#include "core/request/request.h"

namespace nereid {

// Guarded by the dispatcher's mutex, except is_open. Functions that every request passes are
// inline.
class Admission {
 public:
  // Both arguments outlive this.
  Admission(const ModelConfig& config, const nrd_backend& backend)
      : config_(config), backend_(backend) {}

  // Requests are refused before Open and after Close.
  void Open() { open_ = true; }
  void Close() { open_ = false; }
  [[nodiscard]] bool is_open() const { return open_.load(std::memory_order_relaxed); }

  [[nodiscard]] Status Check(const Request& request, int64_t now_ns) const {
    const bool expired = request.record.deadline_ns > 0 && request.record.deadline_ns <= now_ns;
    if (request.cancelled.load(std::memory_order_relaxed) || !is_open() || expired) [[unlikely]] {
      return WhyRefused(request);
    }
    return Status();
  }

  // True if the submitting thread may execute the request on an idle instance.
  [[nodiscard]] bool MayRunInline(const Request& request) const {
    return estimate_ns_ <= config_.inline_budget_ns && TakesInline(request);
  }
  // The same, after an execution so short that waiting for its end pays.
  [[nodiscard]] bool IsWorthAwaiting(const Request& request) const {
    return estimate_ns_ != 0 && estimate_ns_ <= kShortExecutionNs && TakesInline(request);
  }

  // Averages with a weight of an eighth, also for the first: a single slow run, such as a cold
  // start, does not end inline execution, but one far above the budget does.
  void Measured(uint64_t execution_ns) {
    const auto newest = static_cast<int64_t>(std::min<uint64_t>(execution_ns, kNever / 2));
    estimate_ns_ += (newest - estimate_ns_) / 8;
  }

 private:
  // Waking a thread takes longer than this, and its reply as long again.
  static constexpr int64_t kShortExecutionNs = 5'000;

  [[nodiscard]] Status WhyRefused(const Request& request) const;

  [[nodiscard]] bool TakesInline(const Request& request) const {
    return config_.allow_inline &&
           (backend_.flags & (NRD_BACKEND_OWN_THREAD | NRD_BACKEND_DETACHES)) == 0 &&
           !request.Has(NRD_REQUEST_NO_INLINE) &&
           // A callback's thread must answer other requests, the timer's even other models'.
           !Completion::InCallback();
  }

  const ModelConfig& config_;
  const nrd_backend& backend_;
  std::atomic<bool> open_{false};  // written with the mutex held, also read without it
  int64_t estimate_ns_ = 0;        // moving average of an execution
};

}  // namespace nereid

#endif  // NEREID_CORE_SCHEDULE_ADMISSION_H_
