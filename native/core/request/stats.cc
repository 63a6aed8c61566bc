#include "core/request/stats.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <string>

namespace nereid {
namespace {

// The wall clock to a few milliseconds, enough for last_inference_ms, at a fifth of the cost.
uint64_t WallClockMs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

uint32_t DenseBatchCount(int64_t max_batch_size) {
  const int64_t largest =
      std::clamp<int64_t>(max_batch_size, 1, int64_t{ModelStats::kMaxDenseBatchSize});
  return static_cast<uint32_t>(largest) + 1;
}

void AddDuration(nrd_duration_stat* sum, uint64_t count, uint64_t ns) {
  sum->count += count;
  sum->ns += ns;
}

void AddBatch(nrd_batch_stats* sum, uint64_t count, uint64_t input_ns, uint64_t infer_ns,
              uint64_t output_ns) {
  AddDuration(&sum->compute_input, count, input_ns);
  AddDuration(&sum->compute_infer, count, infer_ns);
  AddDuration(&sum->compute_output, count, output_ns);
}

}  // namespace

struct ModelStats::BatchDurations {
  std::atomic<uint64_t> count{0};
  std::atomic<uint64_t> compute_input_ns{0};
  std::atomic<uint64_t> compute_infer_ns{0};
  std::atomic<uint64_t> compute_output_ns{0};
};

// Durations of the stages of the requests that an instance answered.
struct ModelStats::ComputeStages {
  Histogram input;
  Histogram infer;
  Histogram output;
};

// Durations of lookups in the response cache.
struct ModelStats::CacheStages {
  Histogram hit;
  Histogram miss;
};

// The counters that only the thread that holds an instance writes.
struct alignas(64) ModelStats::InstanceShard {
  std::atomic<uint64_t> last_inference_ms{0};
  std::atomic<uint64_t> rows{0};
  std::atomic<uint64_t> executions{0};
  std::atomic<uint64_t> inline_executions{0};
  std::atomic<uint64_t> successes{0};
  std::atomic<uint64_t> total_ns{0};
  std::atomic<uint64_t> queue_ns{0};
  std::atomic<uint64_t> compute_input_ns{0};
  std::atomic<uint64_t> compute_infer_ns{0};
  std::atomic<uint64_t> compute_output_ns{0};
  std::unique_ptr<BatchDurations[]> batches;  // by batch size
  std::unique_ptr<ComputeStages> stages;      // nullptr: not kept
  Histogram queue;
  Histogram compute;
  Histogram total;
};

struct ModelStats::Duration {
  void Add(uint64_t duration_ns) {
    AddShared(&count, 1);
    AddShared(&ns, duration_ns);
  }
  void AddTo(nrd_duration_stat* sum) const {
    AddDuration(sum, ReadCounter(count), ReadCounter(ns));
  }

  std::atomic<uint64_t> count{0};
  std::atomic<uint64_t> ns{0};
};

// The counters that any thread writes.
struct alignas(64) ModelStats::SharedShard {
  std::atomic<uint64_t> last_inference_ms{0};
  Duration fail;
  std::atomic<uint64_t> fail_reasons[4]{};  // by FailReason
  Duration cache_hit;
  Duration cache_miss;
  std::atomic<uint64_t> hit_total_ns{0};
  std::atomic<uint64_t> hit_queue_ns{0};
  std::unique_ptr<CacheStages> stages;  // nullptr: not kept
  Histogram queue;
  Histogram total;
};

ModelStats::ModelStats(uint32_t instance_count, int64_t max_batch_size, bool stages)
    : instance_count_(instance_count),
      dense_batch_count_(DenseBatchCount(max_batch_size)),
      stages_(stages),
      instances_(new InstanceShard[instance_count]),
      shared_(new SharedShard) {
  for (uint32_t i = 0; i < instance_count_; ++i) {
    instances_[i].batches.reset(new BatchDurations[dense_batch_count_]);
    if (stages) {
      instances_[i].stages = std::make_unique<ComputeStages>();
    }
  }
  if (stages) {
    shared_->stages = std::make_unique<CacheStages>();
  }
}

ModelStats::~ModelStats() = default;

void ModelStats::RecordExecution(uint32_t instance, uint64_t rows, uint64_t batch_size_key,
                                 uint64_t compute_input_ns, uint64_t compute_infer_ns,
                                 uint64_t compute_output_ns, bool ran_inline) {
  InstanceShard& shard = instances_[instance];
  shard.last_inference_ms.store(WallClockMs(), std::memory_order_relaxed);
  AddSingleWriter(&shard.rows, rows);
  AddSingleWriter(&shard.executions, 1);
  if (ran_inline) {
    AddSingleWriter(&shard.inline_executions, 1);
  }
  if (batch_size_key >= dense_batch_count_) [[unlikely]] {
    const MutexLock lock(sparse_mutex_);
    nrd_batch_stats& batch = sparse_batches_[batch_size_key];
    batch.batch_size = batch_size_key;
    AddBatch(&batch, 1, compute_input_ns, compute_infer_ns, compute_output_ns);
    return;
  }
  BatchDurations& batch = shard.batches[batch_size_key];
  AddSingleWriter(&batch.count, 1);
  AddSingleWriter(&batch.compute_input_ns, compute_input_ns);
  AddSingleWriter(&batch.compute_infer_ns, compute_infer_ns);
  AddSingleWriter(&batch.compute_output_ns, compute_output_ns);
}

void ModelStats::RecordSuccess(uint32_t instance, const RequestTimes& times) {
  InstanceShard& shard = instances_[instance];
  AddSingleWriter(&shard.successes, 1);
  AddSingleWriter(&shard.total_ns, times.total_ns);
  AddSingleWriter(&shard.queue_ns, times.queue_ns);
  AddSingleWriter(&shard.compute_input_ns, times.compute_input_ns);
  AddSingleWriter(&shard.compute_infer_ns, times.compute_infer_ns);
  AddSingleWriter(&shard.compute_output_ns, times.compute_output_ns);
  shard.queue.RecordSingleWriter(times.queue_ns);
  shard.compute.RecordSingleWriter(times.compute_input_ns + times.compute_infer_ns +
                                   times.compute_output_ns);
  shard.total.RecordSingleWriter(times.total_ns);
  if (shard.stages != nullptr) [[unlikely]] {
    shard.stages->input.RecordSingleWriter(times.compute_input_ns);
    shard.stages->infer.RecordSingleWriter(times.compute_infer_ns);
    shard.stages->output.RecordSingleWriter(times.compute_output_ns);
  }
}

void ModelStats::RecordFail(FailReason reason, uint64_t total_ns) {
  shared_->fail.Add(total_ns);
  AddShared(&shared_->fail_reasons[static_cast<size_t>(reason)], 1);
}

void ModelStats::RecordCacheHit(const RequestTimes& times, uint64_t cache_hit_ns) {
  shared_->last_inference_ms.store(WallClockMs(), std::memory_order_relaxed);
  shared_->cache_hit.Add(cache_hit_ns);
  AddShared(&shared_->hit_total_ns, times.total_ns);
  AddShared(&shared_->hit_queue_ns, times.queue_ns);
  shared_->queue.RecordShared(times.queue_ns);
  shared_->total.RecordShared(times.total_ns);
  if (shared_->stages != nullptr) [[unlikely]] {
    shared_->stages->hit.RecordShared(cache_hit_ns);
  }
}

void ModelStats::RecordCacheMiss(uint64_t cache_miss_ns) {
  shared_->cache_miss.Add(cache_miss_ns);
  if (shared_->stages != nullptr) [[unlikely]] {
    shared_->stages->miss.RecordShared(cache_miss_ns);
  }
}

void ModelStats::Read(nrd_model_stats* stats_out) const {
  nrd_model_stats stats{};
  stats.struct_size = sizeof(stats);
  stats.instance_count = instance_count_;
  stats.pending_count = stats_out->pending_count;
  stats.executing_count = stats_out->executing_count;
  stats.last_inference_ms = ReadCounter(shared_->last_inference_ms);
  for (uint32_t i = 0; i < instance_count_; ++i) {
    const InstanceShard& shard = instances_[i];
    stats.last_inference_ms =
        std::max(stats.last_inference_ms, ReadCounter(shard.last_inference_ms));
    stats.inference_count += ReadCounter(shard.rows);
    stats.execution_count += ReadCounter(shard.executions);
    stats.inline_count += ReadCounter(shard.inline_executions);
    // Read once, so that counts that clients expect to be equal are equal.
    const uint64_t successes = ReadCounter(shard.successes);
    AddDuration(&stats.success, successes, ReadCounter(shard.total_ns));
    AddDuration(&stats.queue, successes, ReadCounter(shard.queue_ns));
    AddDuration(&stats.compute_input, successes, ReadCounter(shard.compute_input_ns));
    AddDuration(&stats.compute_infer, successes, ReadCounter(shard.compute_infer_ns));
    AddDuration(&stats.compute_output, successes, ReadCounter(shard.compute_output_ns));
  }
  shared_->fail.AddTo(&stats.fail);
  shared_->cache_hit.AddTo(&stats.cache_hit);
  shared_->cache_miss.AddTo(&stats.cache_miss);
  AddDuration(&stats.success, stats.cache_hit.count, ReadCounter(shared_->hit_total_ns));
  AddDuration(&stats.queue, stats.cache_hit.count, ReadCounter(shared_->hit_queue_ns));
  const auto failed = [this](FailReason reason) {
    return ReadCounter(shared_->fail_reasons[static_cast<size_t>(reason)]);
  };
  stats.fail_rejected = failed(FailReason::kRejected);
  stats.fail_cancelled = failed(FailReason::kCancelled);
  stats.fail_backend = failed(FailReason::kBackend);
  stats.fail_other = failed(FailReason::kOther);
  *stats_out = stats;
}

uint32_t ModelStats::ReadBatchStats(nrd_batch_stats* stats_out, uint32_t capacity) const {
  uint32_t count = 0;
  const auto append = [&](const nrd_batch_stats& batch) {
    if (count < capacity) {
      stats_out[count] = batch;
    }
    ++count;
  };
  for (uint32_t size = 0; size < dense_batch_count_; ++size) {
    nrd_batch_stats sum{};
    sum.batch_size = size;
    for (uint32_t i = 0; i < instance_count_; ++i) {
      const BatchDurations& batch = instances_[i].batches[size];
      AddBatch(&sum, ReadCounter(batch.count), ReadCounter(batch.compute_input_ns),
               ReadCounter(batch.compute_infer_ns), ReadCounter(batch.compute_output_ns));
    }
    if (sum.compute_infer.count > 0) {
      append(sum);
    }
  }
  const MutexLock lock(sparse_mutex_);
  for (const auto& [size, batch] : sparse_batches_) {
    append(batch);
  }
  return count;
}

Status ModelStats::ReadHistogram(uint32_t which, uint64_t* counts_out, uint32_t capacity) const {
  std::array<uint64_t, Histogram::bucket_count()> counts{};  // on the stack, needing no heap
  const auto add_instances = [&](Histogram InstanceShard::*histogram) {
    for (uint32_t i = 0; i < instance_count_; ++i) {
      (instances_[i].*histogram).AddTo(counts.data());
    }
  };
  const auto add_stages = [&](Histogram ComputeStages::*histogram) {
    for (uint32_t i = 0; i < instance_count_; ++i) {
      (instances_[i].stages.get()->*histogram).AddTo(counts.data());
    }
  };
  if (!stages_ && which >= NRD_HISTOGRAM_COMPUTE_INPUT && which <= NRD_HISTOGRAM_CACHE_MISS) {
    return Status(NRD_FAILED_PRECONDITION,
                  "the runtime was created without NRD_RUNTIME_STAGE_HISTOGRAMS");
  }
  switch (which) {
    case NRD_HISTOGRAM_QUEUE:
      add_instances(&InstanceShard::queue);
      shared_->queue.AddTo(counts.data());
      break;
    case NRD_HISTOGRAM_COMPUTE:
      add_instances(&InstanceShard::compute);
      break;
    case NRD_HISTOGRAM_TOTAL:
      add_instances(&InstanceShard::total);
      shared_->total.AddTo(counts.data());
      break;
    case NRD_HISTOGRAM_COMPUTE_INPUT:
      add_stages(&ComputeStages::input);
      break;
    case NRD_HISTOGRAM_COMPUTE_INFER:
      add_stages(&ComputeStages::infer);
      break;
    case NRD_HISTOGRAM_COMPUTE_OUTPUT:
      add_stages(&ComputeStages::output);
      break;
    case NRD_HISTOGRAM_CACHE_HIT:
      shared_->stages->hit.AddTo(counts.data());
      break;
    case NRD_HISTOGRAM_CACHE_MISS:
      shared_->stages->miss.AddTo(counts.data());
      break;
    default:
      return Status::InvalidArgument("there is no histogram " + std::to_string(which));
  }
  std::copy_n(counts.data(), std::min<size_t>(capacity, counts.size()), counts_out);
  return Status();
}

}  // namespace nereid
