// The runtime that models share: pool, cache, timer, limits, and delivery of answers.
#ifndef NEREID_CORE_MODEL_RUNTIME_H_
#define NEREID_CORE_MODEL_RUNTIME_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/log_target.h"
#include "base/status.h"
#include "core/request/answer_cache.h"
#include "core/request/completion.h"
#include "core/request/decoupled_responses.h"
#include "core/schedule/execution_limits.h"
#include "core/schedule/timer.h"
#include "memory/buffer_pool.h"

namespace nereid {

struct ModelConfig;

// Outlives all that was made from it. Any thread may call it.
class Runtime : public LogTarget {
 public:
  explicit Runtime(const nrd_runtime_options& options);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // See nrd_runtime_use_cache.
  Status UseCache(const nrd_cache& cache);

  // Fails with the objects that keep the runtime from being released.
  Status Unused();

  BufferPool& pool() { return pool_; }
  AnswerCache* cache() { return cache_.get(); }
  Completion& completion() { return completion_; }
  [[nodiscard]] const Responder& responder() const { return responder_; }
  Timer& timer() { return timer_; }
  SharedLimiter& limiter() { return limiter_; }
  // True if models keep histograms of the stages of their requests.
  [[nodiscard]] bool stage_histograms() const { return stage_histograms_; }

  // Fails if a model has responses that the runtime cannot hand on.
  [[nodiscard]] Status CheckResponder(const ModelConfig& config) const;

  void CountModel(int64_t change);
  // Counts the sources that no model has taken over.
  void CountSource(int64_t change);
  void CountRequest(int64_t change);
  void Log(int32_t level, std::string_view message) const override;

  static void ReadHandleCounts(nrd_handle_counts* counts_out);

 private:
  // Makes the pool give back unused memory.
  class IdleMemory final : public TimerTarget {
   public:
    IdleMemory(BufferPool* pool, Timer* timer);
    ~IdleMemory() override;
    int64_t OnTimer(int64_t now_ns) override;

   private:
    BufferPool* const pool_;
    Timer* const timer_;
  };

  BufferPool pool_;
  std::unique_ptr<AnswerCache> cache_;  // null: there is none
  Completion completion_;
  const Responder responder_;
  Timer timer_;
  IdleMemory idle_memory_{&pool_, &timer_};
  SharedLimiter limiter_;
  const bool stage_histograms_;
  const nrd_log_fn log_;
  void* const log_context_;
  std::atomic<int64_t> models_{0};
  std::atomic<int64_t> sources_{0};
  std::atomic<int64_t> requests_{0};
};

}  // namespace nereid

#endif  // NEREID_CORE_MODEL_RUNTIME_H_
