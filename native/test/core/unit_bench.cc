// Processor times of the core's units, printed and not asserted:
// nereid_tests --no-skip -tc="bench:*"
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <thread>
#include <vector>

#include "core/cache/hash128.h"
#include "core/cache/response_cache.h"
#include "core/request/stats.h"
#include "memory/buffer_pool.h"

namespace nereid {
namespace {

double ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Mean processor time of a call when each of `thread_count` threads makes `calls` of them: unlike
// wall clock time it says the same on a machine that is busy with other things.
template <typename Call>
double NsPerCall(uint32_t thread_count, uint64_t calls, const Call& call) {
  std::vector<double> took_ns(thread_count);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < thread_count; ++i) {
    threads.emplace_back([&call, &took_ns, calls, i] {
      const double begin_ns = ThreadCpuNs();
      for (uint64_t j = 0; j < calls; ++j) {
        call(i, j);
      }
      took_ns[i] = ThreadCpuNs() - begin_ns;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const double sum_ns = std::accumulate(took_ns.begin(), took_ns.end(), 0.0);
  return sum_ns / thread_count / static_cast<double>(calls);
}

constexpr uint64_t kSizes[] = {64, 1000, 65536, 602112};

BufferPool::Options DefaultPool() { return {0, 0, nullptr, nullptr, nullptr}; }

void* AllocateOrDie(BufferPool& pool, uint64_t byte_size) {
  void* buffer;
  if (!pool.Allocate(byte_size, &buffer).ok()) {
    std::abort();
  }
  return buffer;
}

}  // namespace

TEST_CASE("bench: pool" * doctest::skip()) {
  BufferPool pool(DefaultPool());
  for (const uint64_t byte_size : kSizes) {
    const auto pair = [&](uint32_t, uint64_t) {
      BufferPool::Release(AllocateOrDie(pool, byte_size));
    };
    // More than a shard keeps, so batches move between it and the spans.
    const auto deep = [&](uint32_t, uint64_t) {
      void* buffers[200];
      for (void*& buffer : buffers) {
        buffer = AllocateOrDie(pool, byte_size);
      }
      for (void* buffer : buffers) {
        BufferPool::Release(buffer);
      }
    };
    std::printf(
        "pool, %6lu bytes: allocate + release %.1f ns, on each of 2 threads %.1f ns, 200 deep %.1f "
        "ns\n",
        byte_size, NsPerCall(1, 4'000'000, pair), NsPerCall(2, 4'000'000, pair),
        NsPerCall(1, 10'000, deep) / 200);
  }
  CHECK(pool.live_buffers() == 0);
}

TEST_CASE("bench: hash and cache" * doctest::skip()) {
  BufferPool pool(DefaultPool());
  ResponseCache cache(uint64_t{256} << 20);
  for (const uint64_t byte_size : kSizes) {
    std::vector<uint8_t> data(byte_size, 1);
    nrd_tensor input{};
    input.data = data.data();
    input.byte_size = byte_size;
    input.datatype = NRD_TYPE_UINT8;
    input.rank = 2;
    input.flags = NRD_TENSOR_SELECTED;
    nrd_tensor output = input;
    nrd_request request{};
    request.input_count = 1;
    request.output_count = 1;
    request.inputs = &input;
    request.outputs = &output;
    const CacheKey key = cache.KeyOf("model", "1", request);
    cache.Insert(key, request);
    const uint64_t calls = (uint64_t{1} << 30) / (byte_size + 500);
    uint64_t sum = 0;
    const double key_ns = NsPerCall(
        1, calls, [&](uint32_t, uint64_t) { sum += cache.KeyOf("model", "1", request).lo; });
    const double hit_ns = NsPerCall(1, calls, [&](uint32_t, uint64_t) {
      if (cache.Lookup(key, pool, &request)) {
        BufferPool::Release(output.slab);
      }
    });
    std::printf("cache, %6lu bytes: key %.0f ns (%.1f GB/s), hit %.0f ns\n", byte_size, key_ns,
                static_cast<double>(byte_size) / key_ns, hit_ns);
    CHECK(sum != 0);
  }
  CHECK(pool.live_buffers() == 0);
}

TEST_CASE("bench: statistics" * doctest::skip()) {
  constexpr uint64_t kCalls = 4'000'000;
  ModelStats stats(2, 8, false);
  const double execution_ns = NsPerCall(2, kCalls, [&](uint32_t thread, uint64_t i) {
    stats.RecordExecution(thread, 1, i % 8 + 1, i % 100, i % 1000, i % 100, true);
  });
  const double success_ns = NsPerCall(2, kCalls, [&](uint32_t thread, uint64_t i) {
    stats.RecordSuccess(thread, {i % 100, i % 100, i % 1000, i % 100, i % 3000});
  });
  const double hit_ns = NsPerCall(2, kCalls, [&](uint32_t, uint64_t i) {
    stats.RecordCacheHit({0, 0, 0, 0, i % 1000}, i % 1000);
  });
  std::printf("statistics on each of 2 threads: execution %.1f ns, success %.1f ns, hit %.1f ns\n",
              execution_ns, success_ns, hit_ns);
  nrd_model_stats read{};
  stats.Read(&read);
  CHECK(read.execution_count == 2 * kCalls);
}

}  // namespace nereid
