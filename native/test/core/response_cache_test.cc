#include "core/cache/response_cache.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace nereid {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A request with memory of its own: two inputs, two outputs.
struct Record {
  explicit Record(const std::string& input = "input") {
    request.struct_size = sizeof(request);
    request.input_count = 2;
    request.output_count = 2;
    request.inputs = inputs;
    request.outputs = outputs;
    SetInput(0, input);
    SetInput(1, "other");
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  ~Record() { DropOutputs(); }

  void SetInput(uint32_t index, const std::string& content) {
    input_data[index] = content;
    Fill(&inputs[index], &input_data[index]);
    inputs[index].flags = NRD_TENSOR_SELECTED;
  }
  void SetOutput(uint32_t index, const std::string& content) {
    output_data[index] = content;
    Fill(&outputs[index], &output_data[index]);
  }
  static void Fill(nrd_tensor* tensor, std::string* content) {
    tensor->data = content->data();
    tensor->byte_size = content->size();
    tensor->datatype = NRD_TYPE_UINT8;
    tensor->rank = 2;
    tensor->shape[0] = 1;
    tensor->shape[1] = static_cast<int64_t>(content->size());
  }
  void DropOutputs() {
    for (nrd_tensor& output : outputs) {
      if (output.slab != nullptr) {
        BufferPool::Release(output.slab);
        output.slab = nullptr;
      }
    }
  }
  [[nodiscard]] std::string Output(uint32_t index) const {
    return {static_cast<const char*>(outputs[index].data), outputs[index].byte_size};
  }

  nrd_request request{};
  nrd_tensor inputs[2] = {};
  nrd_tensor outputs[2] = {};
  std::string input_data[2];
  std::string output_data[2];
};

BufferPool::Options PoolOptions(uint64_t byte_limit) {
  return {byte_limit, kMiB, nullptr, nullptr, nullptr};
}

nrd_cache_stats StatsOf(const ResponseCache& cache) {
  nrd_cache_stats stats{};
  cache.ReadStats(&stats);
  return stats;
}

// Looks `input` up; on a miss stores `answer`. Returns the cache's answer, or "".
std::string Ask(ResponseCache& cache, BufferPool& pool, const std::string& input,
                const std::string& answer) {
  Record record(input);
  const CacheKey key = cache.KeyOf("m", "1", record.request);
  if (cache.Lookup(key, pool, &record.request)) {
    return record.Output(0);
  }
  record.SetOutput(0, answer);
  cache.Insert(key, record.request);
  return "";
}

}  // namespace

TEST_CASE("cache: the key covers everything that can change the answer") {
  const ResponseCache cache(kMiB);
  const auto key_with = [&](const std::function<void(Record*)>& change) {
    Record record;
    change(&record);
    return cache.KeyOf("m", "1", record.request);
  };
  const CacheKey same = key_with([](Record*) {});
  CHECK(same == key_with([](Record*) {}));

  std::vector<CacheKey> keys = {same};
  keys.push_back(key_with([](Record* r) { r->SetInput(0, "inpuT"); }));
  keys.push_back(key_with([](Record* r) { r->SetInput(0, "inpu"); }));
  keys.push_back(key_with([](Record* r) { r->SetInput(0, ""); }));
  keys.push_back(key_with([](Record* r) { r->inputs[0].flags = 0; }));
  keys.push_back(key_with([](Record* r) { r->inputs[1].flags = 0; }));
  keys.push_back(key_with([](Record* r) { r->inputs[0].datatype = NRD_TYPE_INT8; }));
  keys.push_back(
      key_with([](Record* r) { std::swap(r->inputs[0].shape[0], r->inputs[0].shape[1]); }));
  keys.push_back(key_with([](Record* r) { r->inputs[0].rank = 1; }));
  keys.push_back(key_with([](Record* r) { std::swap(r->inputs[0], r->inputs[1]); }));
  keys.push_back(key_with([](Record* r) { r->outputs[0].flags = NRD_TENSOR_SELECTED; }));
  keys.push_back(key_with([](Record* r) { r->outputs[1].flags = NRD_TENSOR_SELECTED; }));
  Record record;
  keys.push_back(cache.KeyOf("m", "2", record.request));
  keys.push_back(cache.KeyOf("m1", "", record.request));
  keys.push_back(cache.KeyOf("", "m1", record.request));
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      CAPTURE(i);
      CAPTURE(j);
      CHECK(keys[i].hi != keys[j].hi);
      CHECK(keys[i].lo != keys[j].lo);
    }
  }

  // Things that do not change the key: naming all outputs, old values in an absent input's record,
  // and the rest of the request.
  CHECK(same == key_with([](Record* r) {
          r->outputs[0].flags = r->outputs[1].flags = NRD_TENSOR_SELECTED;
        }));
  CHECK(same == key_with([](Record* r) {
          r->request.tag = r->request.timeout_ns = r->request.priority = 7;
          r->inputs[0].shape[5] = 3;
        }));
  const CacheKey without = key_with([](Record* r) { r->inputs[1].flags = 0; });
  CHECK(without == key_with([](Record* r) {
          r->inputs[1].flags = 0;
          r->inputs[1].rank = 5;
        }));
  // Another cache has other keys.
  CHECK_FALSE(ResponseCache(kMiB).KeyOf("m", "1", record.request) == same);
}

TEST_CASE("cache: a hit gives copies in one pool buffer that the outputs share") {
  BufferPool pool(PoolOptions(16 * kMiB));
  ResponseCache cache(kMiB);
  Record first;
  const CacheKey key = cache.KeyOf("m", "1", first.request);
  CHECK_FALSE(cache.Lookup(key, pool, &first.request));
  first.SetOutput(0, "the answer");
  first.SetOutput(1, "");
  cache.Insert(key, first.request);
  first.output_data[0] = "overwritten";
  CHECK(pool.live_buffers() == 0);

  Record second;
  second.outputs[1].flags = NRD_TENSOR_SELECTED;
  REQUIRE(cache.Lookup(key, pool, &second.request));
  CHECK(second.Output(0) == "the answer");
  CHECK(second.outputs[0].datatype == NRD_TYPE_UINT8);
  CHECK(second.outputs[0].rank == 2);
  CHECK(second.outputs[0].shape[1] == 10);
  CHECK(second.outputs[0].flags == 0);
  CHECK(second.outputs[1].flags == NRD_TENSOR_SELECTED);
  CHECK(second.outputs[1].data != nullptr);  // there, though empty
  CHECK(second.outputs[1].byte_size == 0);
  CHECK(second.outputs[0].slab == second.outputs[1].slab);
  CHECK(pool.live_buffers() == 1);
  second.DropOutputs();
  CHECK(pool.live_buffers() == 0);
  const nrd_cache_stats stats = StatsOf(cache);
  CHECK(stats.hits == 1);
  CHECK(stats.misses == 1);
  CHECK(stats.entries == 1);
  CHECK(stats.byte_limit == kMiB);
}

TEST_CASE("cache: an output that was absent stays absent") {
  BufferPool pool(PoolOptions(16 * kMiB));
  ResponseCache cache(kMiB);
  CHECK(Ask(cache, pool, "x", "y") == "");
  Record record("x");
  record.outputs[1].data = &record;  // stale
  REQUIRE(cache.Lookup(cache.KeyOf("m", "1", record.request), pool, &record.request));
  CHECK(record.Output(0) == "y");
  CHECK(record.outputs[1].data == nullptr);
  CHECK(record.outputs[1].slab == nullptr);
}

TEST_CASE("cache: without pool memory a hit becomes a miss and leaves the request alone") {
  BufferPool pool(PoolOptions(kMiB));
  ResponseCache cache(16 * kMiB);
  const std::string answer(600000, 'a');
  CHECK(Ask(cache, pool, "x", answer) == "");
  CHECK(Ask(cache, pool, "x", answer) == answer);
  void* occupied = nullptr;
  REQUIRE(pool.Allocate(600000, &occupied).ok());
  Record record("x");
  const CacheKey key = cache.KeyOf("m", "1", record.request);
  CHECK_FALSE(cache.Lookup(key, pool, &record.request));
  CHECK(record.outputs[0].data == nullptr);
  CHECK(record.outputs[0].slab == nullptr);
  CHECK(StatsOf(cache).misses == 2);
  CHECK(StatsOf(cache).hits == 1);
  BufferPool::Release(occupied);
  CHECK(cache.Lookup(key, pool, &record.request));
}

TEST_CASE(
    "cache: the least recently used response goes first, and the bytes stay below the limit") {
  BufferPool pool(PoolOptions(16 * kMiB));
  ResponseCache cache(kMiB);  // so small that it has one shard
  const std::string answer(100000, 'a');
  for (int i = 0; i < 10; ++i) {
    Ask(cache, pool, std::to_string(i), answer);
  }
  CHECK(StatsOf(cache).entries == 10);
  CHECK(Ask(cache, pool, "0", "") == answer);
  Ask(cache, pool, "10", answer);  // pushes out 1, not 0
  CHECK(Ask(cache, pool, "0", "") == answer);
  Record one("1");
  CHECK_FALSE(cache.Lookup(cache.KeyOf("m", "1", one.request), pool, &one.request));
  const nrd_cache_stats stats = StatsOf(cache);
  CHECK(stats.evictions == 1);
  CHECK(stats.entries == 10);
  CHECK(stats.bytes > 10 * 100000);
  CHECK(stats.bytes <= kMiB);
}

TEST_CASE("cache: what is too large is not stored, and nothing is with a limit of zero") {
  BufferPool pool(PoolOptions(64 * kMiB));
  ResponseCache small(kMiB);
  CHECK(Ask(small, pool, "x", std::string(kMiB, 'a')) == "");
  CHECK(StatsOf(small).entries == 0);
  CHECK(StatsOf(small).evictions == 0);
  ResponseCache nothing(0);
  CHECK(Ask(nothing, pool, "x", "y") == "");
  CHECK(Ask(nothing, pool, "x", "y") == "");
  CHECK(StatsOf(nothing).entries == 0);
  CHECK(StatsOf(nothing).misses == 2);
}

TEST_CASE("cache: storing again under a key changes nothing") {
  BufferPool pool(PoolOptions(16 * kMiB));
  ResponseCache cache(kMiB);
  Record record;
  record.SetOutput(0, "first");
  const CacheKey key = cache.KeyOf("m", "1", record.request);
  cache.Insert(key, record.request);
  const uint64_t bytes = StatsOf(cache).bytes;
  record.SetOutput(0, "second, and longer than a line of the cache, so that it would be counted");
  cache.Insert(key, record.request);
  CHECK(StatsOf(cache).bytes == bytes);
  CHECK(StatsOf(cache).entries == 1);
}

TEST_CASE("cache: a model that goes away takes its responses along, and no others") {
  BufferPool pool(PoolOptions(16 * kMiB));
  ResponseCache cache(256 * kMiB);
  const auto key_of = [&](const char* model, const char* version, int i) {
    Record record(std::to_string(i));
    return cache.KeyOf(model, version, record.request);
  };
  Record answer;
  answer.SetOutput(0, "answer");
  for (int i = 0; i < 50; ++i) {
    cache.Insert(key_of("m", "1", i), answer.request);
    cache.Insert(key_of("m", "2", i), answer.request);
    cache.Insert(key_of("n", "1", i), answer.request);
  }
  CHECK(StatsOf(cache).entries == 150);
  const uint64_t bytes = StatsOf(cache).bytes;
  cache.EraseModel("m", "1");
  CHECK(StatsOf(cache).entries == 100);
  CHECK(StatsOf(cache).bytes == bytes / 3 * 2);
  CHECK(StatsOf(cache).evictions == 0);
  for (int i = 0; i < 50; ++i) {
    Record one;
    Record two;
    REQUIRE_FALSE(cache.Lookup(key_of("m", "1", i), pool, &one.request));
    REQUIRE(cache.Lookup(key_of("m", "2", i), pool, &two.request));
  }
}

TEST_CASE("cache: threads that look up, insert, evict and erase get right answers only") {
  BufferPool pool(PoolOptions(32 * kMiB));
  ResponseCache cache(8 * kMiB);
  std::atomic<uint64_t> wrong{0};
  std::atomic<uint64_t> hits{0};
  const auto answer_of = [](uint64_t input) {
    return std::string(1000 + input % 50000, static_cast<char>('a' + input % 26));
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937_64 random(i);
      for (int round = 0; round < 600; ++round) {
        const uint64_t input = random() % 500 * 97;
        const std::string expected = answer_of(input);
        const std::string found = Ask(cache, pool, std::to_string(input), expected);
        hits += !found.empty();
        wrong += !found.empty() && found != expected;
        if (i == 0 && round % 200 == 199) {
          cache.EraseModel("m", "1");
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(wrong == 0);
  CHECK(hits > 50);
  const nrd_cache_stats stats = StatsOf(cache);
  CHECK(stats.hits == hits);
  CHECK(stats.hits + stats.misses == 2400);
  CHECK(stats.bytes <= 8 * kMiB);
  CHECK(stats.evictions > 0);
  CHECK(pool.live_buffers() == 0);
  cache.EraseModel("m", "1");
  CHECK(StatsOf(cache).bytes == 0);
  CHECK(StatsOf(cache).entries == 0);
}

}  // namespace nereid
