#include "core/model/runtime.h"

#include <string>

#include "base/clock.h"
#include "core/cache/external_cache.h"
#include "core/cache/response_cache.h"
#include "core/config/model_config.h"

namespace nereid {
namespace {

// Longer than usual pauses of the load, because pages that come back cost a fault and are cleared.
constexpr int64_t kIdleMemoryNs = int64_t{10} * 1'000'000'000;

// Counts of the whole process, for nrd_handle_counts_read.
std::atomic<int64_t> live_runtimes{0};
std::atomic<int64_t> live_models{0};
std::atomic<int64_t> live_requests{0};

}  // namespace

Runtime::Runtime(const nrd_runtime_options& options)
    : pool_({.byte_limit = options.pool_byte_limit,
             .chunk_bytes = options.pool_chunk_bytes,
             .allocator_context = options.allocator_context,
             .allocate = options.allocate,
             .deallocate = options.deallocate},
            (options.flags & NRD_RUNTIME_POISON_FREED) != 0),
      cache_(options.cache_byte_limit == 0
                 ? nullptr
                 : std::make_unique<ResponseCache>(options.cache_byte_limit)),
      completion_(options.complete, options.complete_context),
      responder_{.respond = options.respond, .context = options.respond_context},
      stage_histograms_((options.flags & NRD_RUNTIME_STAGE_HISTOGRAMS) != 0),
      log_(options.log),
      log_context_(options.log_context) {
  live_runtimes.fetch_add(1, std::memory_order_relaxed);
}

Runtime::~Runtime() { live_runtimes.fetch_sub(1, std::memory_order_relaxed); }

Runtime::IdleMemory::IdleMemory(BufferPool* pool, Timer* timer) : pool_(pool), timer_(timer) {
  timer_->Add(this);
  timer_->Arm(this, MonotonicNowNs() + kIdleMemoryNs);
}

Runtime::IdleMemory::~IdleMemory() { timer_->Remove(this); }

int64_t Runtime::IdleMemory::OnTimer(int64_t now_ns) {
  pool_->ReleaseIdle();
  return now_ns + kIdleMemoryNs;
}

Status Runtime::UseCache(const nrd_cache& cache) {
  if (cache.lookup == nullptr || cache.insert == nullptr) {
    return Status::InvalidArgument("lookup and insert must both be set");
  }
  if (cache_ != nullptr) {
    return Status(NRD_FAILED_PRECONDITION, "the runtime has a response cache already");
  }
  if (models_.load(std::memory_order_acquire) != 0) {
    return Status(NRD_FAILED_PRECONDITION,
                  "the runtime has models already, expected its cache before these");
  }
  cache_ = std::make_unique<ExternalCache>(cache);
  return Status();
}

Status Runtime::Unused() {
  const int64_t models = models_.load(std::memory_order_acquire);
  const int64_t sources = sources_.load(std::memory_order_acquire);
  const int64_t requests = requests_.load(std::memory_order_acquire);
  const uint64_t buffers = pool_.live_buffers();
  if (models == 0 && sources == 0 && requests == 0 && buffers == 0) {
    return Status();
  }
  return Status(NRD_FAILED_PRECONDITION, "the runtime is still in use: " + std::to_string(models) +
                                             " models, " + std::to_string(sources) + " sources, " +
                                             std::to_string(requests) + " requests, " +
                                             std::to_string(buffers) + " buffers");
}

Status Runtime::CheckResponder(const ModelConfig& config) const {
  if (config.decoupled && responder_.respond == nullptr) {
    return Status(NRD_FAILED_PRECONDITION,
                  "the model is decoupled, but the runtime was created without a respond callback");
  }
  return Status();
}

void Runtime::CountModel(int64_t change) {
  models_.fetch_add(change, std::memory_order_release);
  live_models.fetch_add(change, std::memory_order_relaxed);
}

void Runtime::CountSource(int64_t change) {
  sources_.fetch_add(change, std::memory_order_release);
  live_models.fetch_add(change, std::memory_order_relaxed);
}

void Runtime::CountRequest(int64_t change) {
  requests_.fetch_add(change, std::memory_order_release);
  live_requests.fetch_add(change, std::memory_order_relaxed);
}

void Runtime::Log(int32_t level, std::string_view message) const {
  if (log_ != nullptr) {
    log_(log_context_, level, message.data(), message.size());
  }
}

void Runtime::ReadHandleCounts(nrd_handle_counts* counts) {
  counts->runtimes = static_cast<uint64_t>(live_runtimes.load(std::memory_order_relaxed));
  counts->models = static_cast<uint64_t>(live_models.load(std::memory_order_relaxed));
  counts->requests = static_cast<uint64_t>(live_requests.load(std::memory_order_relaxed));
}

}  // namespace nereid
