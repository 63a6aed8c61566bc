#include "core/request/stats.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace nereid {
namespace {

nrd_model_stats StatsOf(const ModelStats& stats) {
  nrd_model_stats read{};
  stats.Read(&read);
  return read;
}

std::vector<nrd_batch_stats> BatchesOf(const ModelStats& stats) {
  std::vector<nrd_batch_stats> batches(16);
  batches.resize(stats.ReadBatchStats(batches.data(), 16));
  return batches;
}

std::vector<uint64_t> HistogramOf(const ModelStats& stats, uint32_t which) {
  std::vector<uint64_t> counts(Histogram::bucket_count());
  const Status status =
      stats.ReadHistogram(which, counts.data(), static_cast<uint32_t>(counts.size()));
  REQUIRE(status.ok());
  return counts;
}

bool Is(const nrd_duration_stat& stat, uint64_t count, uint64_t ns) {
  return stat.count == count && stat.ns == ns;
}

uint64_t NowMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

}  // namespace

TEST_CASE("statistics: nothing happened yet") {
  const ModelStats stats(3, 8, false);
  nrd_model_stats read{};
  read.pending_count = 5;
  read.executing_count = 6;
  stats.Read(&read);
  CHECK(read.struct_size == sizeof(nrd_model_stats));
  CHECK(read.instance_count == 3);
  CHECK(read.last_inference_ms == 0);
  CHECK(Is(read.success, 0, 0));
  CHECK(read.pending_count == 5);
  CHECK(read.executing_count == 6);
  CHECK(BatchesOf(stats).empty());
}

TEST_CASE("statistics: executions count batches and rows, successes count requests") {
  ModelStats stats(2, 8, false);
  const uint64_t before_ms = NowMs();
  // A batch of 1 + 3 rows, and one of 2 rows on the other instance, inline.
  stats.RecordExecution(0, 4, 4, 10, 100, 20, false);
  stats.RecordSuccess(0, {5, 10, 100, 20, 140});
  stats.RecordSuccess(0, {7, 10, 100, 20, 150});
  stats.RecordExecution(1, 2, 2, 1, 50, 2, true);
  stats.RecordSuccess(1, {0, 1, 50, 2, 54});

  const nrd_model_stats read = StatsOf(stats);
  CHECK(read.inference_count == 6);
  CHECK(read.execution_count == 2);
  CHECK(read.inline_count == 1);
  CHECK(Is(read.success, 3, 344));
  CHECK(Is(read.queue, 3, 12));
  CHECK(Is(read.compute_input, 3, 21));
  CHECK(Is(read.compute_infer, 3, 250));
  CHECK(Is(read.compute_output, 3, 42));
  CHECK(Is(read.fail, 0, 0));
  // The coarse clock lags by a timer tick or two.
  CHECK(read.last_inference_ms + 50 >= before_ms);
  CHECK(read.last_inference_ms <= NowMs());
}

TEST_CASE("statistics: cache hits are successes without compute") {
  ModelStats stats(1, 8, false);
  stats.RecordExecution(0, 1, 1, 1, 2, 3, false);
  stats.RecordSuccess(0, {4, 1, 2, 3, 10});
  stats.RecordCacheMiss(30);
  stats.RecordCacheHit({6, 999, 999, 999, 20}, 15);
  stats.RecordCacheHit({0, 0, 0, 0, 12}, 11);
  const nrd_model_stats read = StatsOf(stats);
  CHECK(Is(read.success, 3, 42));
  CHECK(Is(read.queue, 3, 10));
  CHECK(Is(read.compute_input, 1, 1));
  CHECK(Is(read.compute_infer, 1, 2));
  CHECK(Is(read.compute_output, 1, 3));
  CHECK(Is(read.cache_hit, 2, 26));
  CHECK(Is(read.cache_miss, 1, 30));
  CHECK(read.inference_count == 1);
  CHECK(read.execution_count == 1);

  ModelStats only_hits(1, 8, false);
  only_hits.RecordCacheHit({}, 1);
  CHECK(StatsOf(only_hits).last_inference_ms > 0);
}

TEST_CASE("statistics: failures by reason") {
  ModelStats stats(1, 0, false);
  stats.RecordFail(FailReason::kRejected, 1);
  stats.RecordFail(FailReason::kCancelled, 2);
  stats.RecordFail(FailReason::kCancelled, 3);
  stats.RecordFail(FailReason::kBackend, 4);
  stats.RecordFail(FailReason::kOther, 5);
  const nrd_model_stats read = StatsOf(stats);
  CHECK(Is(read.fail, 5, 15));
  CHECK(read.fail_rejected == 1);
  CHECK(read.fail_cancelled == 2);
  CHECK(read.fail_backend == 1);
  CHECK(read.fail_other == 1);
  CHECK(Is(read.success, 0, 0));
  CHECK(Is(read.queue, 0, 0));
}

TEST_CASE("statistics: batch sizes ascend, dense and sparse ones, over all instances") {
  ModelStats stats(2, 5000, false);
  stats.RecordExecution(0, 4000, 4000, 1, 2, 3, false);
  stats.RecordExecution(1, 1025, 1025, 1, 2, 3, false);
  stats.RecordExecution(1, 4000, 4000, 10, 20, 30, false);
  stats.RecordExecution(0, 1024, 1024, 7, 8, 9, false);
  stats.RecordExecution(0, 2, 2, 1, 1, 1, false);
  stats.RecordExecution(1, 2, 2, 1, 2, 4, true);
  const std::vector<nrd_batch_stats> batches = BatchesOf(stats);
  REQUIRE(batches.size() == 4);
  CHECK(batches[0].batch_size == 2);
  CHECK(Is(batches[0].compute_input, 2, 2));
  CHECK(Is(batches[0].compute_infer, 2, 3));
  CHECK(Is(batches[0].compute_output, 2, 5));
  CHECK(batches[1].batch_size == 1024);
  CHECK(batches[2].batch_size == 1025);
  CHECK(batches[3].batch_size == 4000);
  CHECK(Is(batches[3].compute_output, 2, 33));

  // Fewer places than batch sizes: the count tells, the other places stay unchanged.
  nrd_batch_stats two[3] = {};
  CHECK(stats.ReadBatchStats(two, 2) == 4);
  CHECK(two[1].batch_size == 1024);
  CHECK(two[2].batch_size == 0);
}

TEST_CASE("statistics: histograms of queue, compute and total") {
  ModelStats stats(2, 1, false);
  stats.RecordSuccess(0, {5, 1, 2, 3, 11});
  stats.RecordSuccess(1, {5, 2, 2, 2, 12});
  stats.RecordCacheHit({5, 0, 0, 0, 13}, 1);
  stats.RecordFail(FailReason::kOther, 14);
  CHECK(HistogramOf(stats, NRD_HISTOGRAM_QUEUE)[5] == 3);
  CHECK(HistogramOf(stats, NRD_HISTOGRAM_COMPUTE)[6] == 2);
  const std::vector<uint64_t> total = HistogramOf(stats, NRD_HISTOGRAM_TOTAL);
  CHECK(total[11] == 1);
  CHECK(total[12] == 1);
  CHECK(total[13] == 1);
  CHECK(total[14] == 0);

  uint64_t few[3] = {9, 9, 9};
  CHECK(stats.ReadHistogram(NRD_HISTOGRAM_QUEUE, few, 2).ok());
  CHECK(few[1] == 0);
  CHECK(few[2] == 9);
  CHECK(stats.ReadHistogram(99, few, 3).code() == NRD_INVALID_ARGUMENT);
}

TEST_CASE("statistics: writers per instance, others on the side, a reader all the while") {
  constexpr uint64_t kRounds = 5000;
  ModelStats stats(2, 4, false);
  std::atomic<bool> is_done{false};
  std::vector<std::thread> writers;
  for (uint32_t instance = 0; instance < 2; ++instance) {
    writers.emplace_back([&stats, instance] {
      for (uint64_t i = 0; i < kRounds; ++i) {
        stats.RecordExecution(instance, 2, i % 4 + 1, 1, 1, 1, i % 2 == 0);
        stats.RecordSuccess(instance, {1, 1, 1, 1, 4});
      }
    });
    writers.emplace_back([&stats] {
      for (uint64_t i = 0; i < kRounds; ++i) {
        stats.RecordFail(FailReason::kRejected, 1);
        stats.RecordCacheHit({1, 0, 0, 0, 2}, 1);
        stats.RecordCacheMiss(1);
      }
    });
  }
  uint64_t previous_successes = 0;
  bool is_consistent = true;
  std::thread reader([&] {
    while (!is_done) {
      const nrd_model_stats read = StatsOf(stats);
      is_consistent &= read.success.count >= previous_successes;
      is_consistent &= read.compute_input.count == read.compute_infer.count;
      is_consistent &= read.compute_input.count == read.compute_output.count;
      previous_successes = read.success.count;
      BatchesOf(stats);
    }
  });
  for (std::thread& writer : writers) {
    writer.join();
  }
  is_done = true;
  reader.join();
  CHECK(is_consistent);
  const nrd_model_stats read = StatsOf(stats);
  CHECK(read.inference_count == 4 * kRounds);
  CHECK(read.execution_count == 2 * kRounds);
  CHECK(read.inline_count == kRounds);
  CHECK(Is(read.success, 4 * kRounds, 12 * kRounds));
  CHECK(Is(read.fail, 2 * kRounds, 2 * kRounds));
  CHECK(Is(read.cache_hit, 2 * kRounds, 2 * kRounds));
  CHECK(Is(read.cache_miss, 2 * kRounds, 2 * kRounds));
  uint64_t executions = 0;
  for (const nrd_batch_stats& batch : BatchesOf(stats)) {
    executions += batch.compute_infer.count;
  }
  CHECK(executions == 2 * kRounds);
}

TEST_CASE("statistics: the stages of requests have histograms where they are wanted") {
  ModelStats stats(2, 8, true);
  const RequestTimes times{.queue_ns = 1,
                           .compute_input_ns = 2,
                           .compute_infer_ns = 3,
                           .compute_output_ns = 4,
                           .total_ns = 10};
  stats.RecordSuccess(0, times);
  stats.RecordSuccess(1, times);
  stats.RecordCacheHit({.total_ns = 9}, 5);
  stats.RecordCacheMiss(6);
  CHECK(HistogramOf(stats, NRD_HISTOGRAM_COMPUTE_INPUT)[2] == 2);
  CHECK(HistogramOf(stats, NRD_HISTOGRAM_COMPUTE_INFER)[3] == 2);
  CHECK(HistogramOf(stats, NRD_HISTOGRAM_COMPUTE_OUTPUT)[4] == 2);
  CHECK(HistogramOf(stats, NRD_HISTOGRAM_CACHE_HIT)[5] == 1);
  CHECK(HistogramOf(stats, NRD_HISTOGRAM_CACHE_MISS)[6] == 1);
}

TEST_CASE("statistics: else they have none") {
  ModelStats stats(1, 8, false);
  stats.RecordSuccess(0, {.total_ns = 1});
  stats.RecordCacheHit({.total_ns = 1}, 1);
  stats.RecordCacheMiss(1);
  uint64_t count = 0;
  for (uint32_t which = NRD_HISTOGRAM_COMPUTE_INPUT; which <= NRD_HISTOGRAM_CACHE_MISS; ++which) {
    CHECK(stats.ReadHistogram(which, &count, 1).code() == NRD_FAILED_PRECONDITION);
  }
}

}  // namespace nereid
