// Statistics of one model, with the meaning that Triton's statistics extension gives them.
// Recording takes no lock (batch sizes above kMaxDenseBatchSize excepted); reading sums up while
// recording goes on, so related numbers can be a request apart.
#ifndef NEREID_CORE_REQUEST_STATS_H_
#define NEREID_CORE_REQUEST_STATS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "base/mutex.h"
#include "base/status.h"
#include "core/request/histogram.h"
#include "nereid/nereid.h"

namespace nereid {

struct RequestTimes {
  uint64_t queue_ns = 0;
  uint64_t compute_input_ns = 0;
  uint64_t compute_infer_ns = 0;
  uint64_t compute_output_ns = 0;
  uint64_t total_ns = 0;
};

enum class FailReason { kRejected, kCancelled, kBackend, kOther };

class ModelStats {
 public:
  // Larger batch sizes are counted in a map under a mutex.
  static constexpr uint64_t kMaxDenseBatchSize = 1024;

  // `stages`: whether the histograms from NRD_HISTOGRAM_COMPUTE_INPUT on are kept.
  ModelStats(uint32_t instance_count, int64_t max_batch_size, bool stages);
  ~ModelStats();
  ModelStats(const ModelStats&) = delete;
  ModelStats& operator=(const ModelStats&) = delete;

  // The two functions with an instance must not overlap for one instance: only its holder calls
  // them, and a later holder must have synchronised with an earlier one.

  // One execution. `rows` counts into inference_count; `batch_size_key` is the batch size under
  // which ReadBatchStats reports it.
  void RecordExecution(uint32_t instance, uint64_t rows, uint64_t batch_size_key,
                       uint64_t compute_input_ns, uint64_t compute_infer_ns,
                       uint64_t compute_output_ns, bool ran_inline);

  // One request that an execution answered. Counts into success, queue and compute, once each.
  void RecordSuccess(uint32_t instance, const RequestTimes& times);

  // Any thread may call these.

  void RecordFail(FailReason reason, uint64_t total_ns);

  // One request that the cache answered: counts into success, queue and cache_hit, not into
  // compute. It reads only queue_ns and total_ns of `times`. `cache_hit_ns`: lookup and copying.
  void RecordCacheHit(const RequestTimes& times, uint64_t cache_hit_ns);

  // A lookup that found nothing, including the time of an insertion. Its request is also recorded
  // by RecordSuccess or RecordFail.
  void RecordCacheMiss(uint64_t cache_miss_ns);

  // Everything but pending_count and executing_count, which it leaves as they are.
  void Read(nrd_model_stats* stats_out) const;

  // Batch sizes that ran, ascending; writes at most `capacity` and returns how many there are.
  uint32_t ReadBatchStats(nrd_batch_stats* stats_out, uint32_t capacity) const;

  // `which` is an NRD_HISTOGRAM_*. Writes min(capacity, Histogram::bucket_count()) counts. Queue
  // and compute hold what RecordSuccess saw (compute: input, infer and output together); queue and
  // total hold cache hits too. NRD_FAILED_PRECONDITION: those of stages are not kept.
  Status ReadHistogram(uint32_t which, uint64_t* counts_out, uint32_t capacity) const;

 private:
  struct Duration;
  struct BatchDurations;
  struct ComputeStages;
  struct CacheStages;
  struct InstanceShard;
  struct SharedShard;

  const uint32_t instance_count_;
  const uint32_t dense_batch_count_;
  const bool stages_;
  std::unique_ptr<InstanceShard[]> instances_;
  std::unique_ptr<SharedShard> shared_;

  mutable Mutex sparse_mutex_;
  std::map<uint64_t, nrd_batch_stats> sparse_batches_ NRD_GUARDED_BY(sparse_mutex_);
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_STATS_H_
