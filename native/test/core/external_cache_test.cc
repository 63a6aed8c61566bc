// Tests a response cache outside of the core.
#include <map>
#include <mutex>
#include <string>

#include "test/core/core_fixture.h"
#include "test/core/ensemble_fixture.h"

namespace nereid::test {
namespace {

// Keeps entries in a map, and fails as a test wants.
struct Store {
  nrd_cache table{.context = this, .lookup = Lookup, .insert = Insert};
  std::mutex mutex;
  std::map<std::string, std::string> entries;
  int32_t lookup_code = NRD_OK;  // result of lookups after they gave the entry
  bool gives_twice = false;
  bool refuses = false;

  static Store* Self(void* context) { return static_cast<Store*>(context); }

  static int32_t Lookup(void* context, nrd_string key, void* taker,
                        int32_t (*take)(void*, const void*, uint64_t)) {
    const std::lock_guard lock(Self(context)->mutex);
    const auto found = Self(context)->entries.find(std::string(View(key)));
    if (found == Self(context)->entries.end()) {
      return NRD_NOT_FOUND;
    }
    const std::string& entry = found->second;
    const int32_t code = take(taker, entry.data(), entry.size());
    if (Self(context)->gives_twice) {
      CHECK(take(taker, entry.data(), entry.size()) == NRD_FAILED_PRECONDITION);
    }
    return code == NRD_OK ? Self(context)->lookup_code : code;
  }

  static int32_t Insert(void* context, nrd_string key, uint64_t byte_size, void* giver,
                        void (*give)(void*, void*)) {
    if (Self(context)->refuses) {
      return NRD_RESOURCE_EXHAUSTED;
    }
    std::string entry(byte_size, '\0');
    give(giver, entry.data());
    const std::lock_guard lock(Self(context)->mutex);
    Self(context)->entries[std::string(View(key))] = std::move(entry);
    return NRD_OK;
  }
};

struct CachingRuntime : TestRuntime {
  explicit CachingRuntime(Store& store) {
    nrd_error error{};
    REQUIRE(nrd_runtime_use_cache(get(), &store.table, &error) == NRD_OK);
  }
  nrd_cache_stats stats() {
    nrd_cache_stats stats{};
    nrd_runtime_cache_stats(get(), &stats);
    return stats;
  }
};

constexpr uint32_t kCached = NRD_MODEL_NO_INLINE | NRD_MODEL_RESPONSE_CACHE;

// True if the answer, which must be right, came from the cache.
bool Hits(TestModel& model, int32_t value, int64_t rows = 1) {
  TestRequest request(model, rows, value);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request.output() == std::vector<int32_t>(static_cast<size_t>(rows) * 4, value));
  CHECK(request->outputs[0].rank == 2);
  CHECK(request->outputs[0].shape[0] == rows);
  return request->cache_hit != 0;
}

TEST_CASE("a cache of the caller's keeps answers, also beyond the model and the runtime") {
  Store store;
  FunctionBackend backend{.run = CopyInputs};
  for (int round = 0; round < 2; ++round) {
    CachingRuntime runtime(store);
    for (int load = 0; load < 2; ++load) {
      TestModel model(runtime, backend, {.flags = kCached, .output_count = 1});
      const bool known = round + load > 0;
      CHECK(Hits(model, 1) == known);
      CHECK(Hits(model, 2, 3) == known);
      CHECK(Hits(model, 1));
    }
    CHECK(runtime.stats().hits == (round == 0 ? 4 : 6));
    CHECK(runtime.stats().misses == (round == 0 ? 2 : 0));
    CHECK(runtime.stats().entries == 0);
  }
  CHECK(backend.executions == 2);
  CHECK(store.entries.size() == 2);
  for (const auto& [key, entry] : store.entries) {
    CHECK(key.size() == 48);
    CHECK(key.find_first_not_of("0123456789abcdef") == std::string::npos);
  }
}

TEST_CASE("answers of another name are not found") {
  Store store;
  CachingRuntime runtime(store);
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.name = "a", .flags = kCached});
  TestModel other(runtime, backend, {.name = "b", .flags = kCached});
  CHECK_FALSE(Hits(model, 1));
  CHECK_FALSE(Hits(other, 1));
  CHECK(Hits(model, 1));
}

TEST_CASE("an output that a request does not want is not kept, and not given") {
  Store store;
  CachingRuntime runtime(store);
  FunctionBackend backend = Adder(0);
  TestModel model(runtime, backend, {.flags = kCached, .output_count = 2});
  for (const bool hit : {false, true}) {
    TestRequest request(model, 1, 3);
    request->outputs[1].flags = NRD_TENSOR_SELECTED;
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK((request->cache_hit != 0) == hit);
    CHECK(request->outputs[0].data == nullptr);
    CHECK(request.output(1) == std::vector<int32_t>(4, 3));
  }
}

TEST_CASE("an entry that is damaged anywhere, cut or foreign is a miss") {
  Store store;
  CachingRuntime runtime(store);
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.flags = kCached});
  CHECK_FALSE(Hits(model, 1));
  CHECK_FALSE(Hits(model, 2));
  const std::string key = store.entries.begin()->first;
  const std::string whole = store.entries[key];
  const std::string other = store.entries.rbegin()->second;
  const auto is_miss = [&](const std::string& entry) {
    // Either entry will do: the one with this key is not found.
    store.entries[key] = entry;
    const int before = backend.executions;
    CHECK(Hits(model, 1) != Hits(model, 2));
    CHECK(store.entries[key] == whole);  // it was inserted again
    return backend.executions == before + 1;
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    CHECK(is_miss(damaged));
    CHECK(is_miss(whole.substr(0, i)));
  }
  CHECK(is_miss(whole + "x"));
  CHECK(is_miss(other));
  CHECK(Hits(model, 1));
  CHECK(Hits(model, 2));
}

TEST_CASE("what a cache fails at is a miss, and the request is answered") {
  Store store;
  CachingRuntime runtime(store);
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend, {.flags = kCached});
  CHECK_FALSE(Hits(model, 1));
  SUBCASE("a lookup that fails in the end") {
    store.lookup_code = NRD_UNAVAILABLE;
    CHECK_FALSE(Hits(model, 1));
  }
  SUBCASE("an insert that is refused") {
    store.refuses = true;
    CHECK_FALSE(Hits(model, 2));
    CHECK_FALSE(Hits(model, 2));
  }
  SUBCASE("an entry that is given twice") {
    store.gives_twice = true;
    CHECK(Hits(model, 1));
  }
}

TEST_CASE("a runtime has one cache, from before its models on") {
  Store store;
  nrd_error error{};
  CachingRuntime runtime(store);
  CHECK(nrd_runtime_use_cache(runtime.get(), &store.table, &error) == NRD_FAILED_PRECONDITION);
}

TEST_CASE("a runtime with a cache of its own takes no other") {
  Store store;
  nrd_error error{};
  TestRuntime runtime(1 << 20);
  CHECK(nrd_runtime_use_cache(runtime.get(), &store.table, &error) == NRD_FAILED_PRECONDITION);
}

TEST_CASE("a cache that comes after a model is refused") {
  Store store;
  nrd_error error{};
  FunctionBackend backend{.run = CopyInputs};
  TestRuntime runtime;
  TestModel model(runtime, backend);
  CHECK(nrd_runtime_use_cache(runtime.get(), &store.table, &error) == NRD_FAILED_PRECONDITION);
}

TEST_CASE("an ensemble's answers go into the cache, too") {
  Store store;
  CachingRuntime runtime(store);
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend);
  EnsembleSettings settings = Chain({model.get(), model.get()});
  settings.flags = NRD_MODEL_RESPONSE_CACHE;
  TestModel ensemble(LoadEnsemble(runtime, settings));
  CHECK_FALSE(Hits(ensemble, 1));
  CHECK(Hits(ensemble, 1));
}

TEST_CASE("an output whose datatype the backend chose is kept with it, or not at all") {
  Store store;
  CachingRuntime runtime(store);
  FunctionBackend backend{.flags = NRD_BACKEND_FREE_OUTPUTS};
  backend.run = [](nrd_batch* batch, nrd_error* error) {
    void* data = nullptr;
    const int64_t shape[] = {1, 4};
    const int32_t code =
        nrd_batch_request_output(batch, 0, 0, NRD_TYPE_FP32, 2, shape, 16, &data, error);
    if (code == NRD_OK) {
      std::memset(data, 0, 16);
    }
    return code;
  };
  TestModel model(runtime, backend, {.flags = kCached});
  for (int i = 0; i < 2; ++i) {
    TestRequest request(model);
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(request->outputs[0].datatype == NRD_TYPE_FP32);
  }
}

}  // namespace
}  // namespace nereid::test
