// Tests of response caches made for Triton, as the core uses them.
#include <cstring>
#include <string>

#include "test/triton/triton_fixture.h"

namespace nereid::test {
namespace {

std::string Mode(const std::string& mode) { return R"({"mode":")" + mode + R"("})"; }

// The cache plug-in 'keeper' in one of its modes.
class Keeper {
 public:
  explicit Keeper(const std::string& mode) {
    PluginHost::Get().TakeLog();
    Errors errors;
    const std::string config = Mode(mode);
    REQUIRE_MESSAGE(nrt_cache_open(View("keeper"), View(NEREID_KEEPER_PATH), View(config), &cache_,
                                   &table_, errors.out()) == NRD_OK,
                    errors.message());
  }
  ~Keeper() { nrt_cache_close(cache_); }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  int32_t Insert(const std::string& key, std::string value) {
    return table_.insert(table_.context, View(key), value.size(), &value,
                         [](void* giver, void* data) {
                           const auto& text = *static_cast<std::string*>(giver);
                           std::memcpy(data, text.data(), text.size());
                         });
  }
  int32_t Lookup(const std::string& key) {
    found.clear();
    return table_.lookup(table_.context, View(key), this,
                         [](void* taker, const void* data, uint64_t size) {
                           auto* const me = static_cast<Keeper*>(taker);
                           me->found.assign(static_cast<const char*>(data), size);
                           return static_cast<int32_t>(me->takes ? NRD_OK : NRD_INTERNAL);
                         });
  }

  const nrd_cache& table() { return table_; }

  std::string found;
  bool takes = true;

 private:
  nrt_cache* cache_ = nullptr;
  nrd_cache table_{};
};

// An identity model of a runtime that caches answers in the keeper.
class CachedModel {
 public:
  explicit CachedModel(Keeper& keeper) {
    Errors errors;
    nrd_runtime_options runtime_options{};
    runtime_options.struct_size = sizeof(runtime_options);
    REQUIRE(nrd_runtime_create(&runtime_options, &runtime_, errors.out()) == NRD_OK);
    REQUIRE(nrd_runtime_use_cache(runtime_, &keeper.table(), errors.out()) == NRD_OK);
    nrd_backend backend{};
    backend.struct_size = sizeof(backend);
    REQUIRE(nrd_backend_find("identity", 8, &backend, errors.out()) == NRD_OK);
    nrd_tensor_spec spec{};
    spec.name = View("X");
    spec.datatype = NRD_TYPE_INT32;
    spec.rank = 1;
    spec.dims[0] = -1;
    nrd_model_options options{};
    options.struct_size = sizeof(options);
    options.flags = NRD_MODEL_RESPONSE_CACHE;
    options.name = View("cached");
    options.version = View("1");
    options.backend = &backend;
    options.inputs = options.outputs = &spec;
    options.input_count = options.output_count = 1;
    REQUIRE_MESSAGE(nrd_model_load(runtime_, &options, nullptr, &model_, errors.out()) == NRD_OK,
                    errors.message());
  }
  ~CachedModel() {
    Errors errors;
    nrd_model_release(model_);
    CHECK_MESSAGE(nrd_runtime_release(runtime_, errors.out()) == NRD_OK, errors.message());
  }
  CachedModel(const CachedModel&) = delete;
  CachedModel& operator=(const CachedModel&) = delete;

  // True if the answer came from the cache; the value is right in any case.
  bool Hits(int32_t element) {
    Errors errors;
    nrd_request* request = nullptr;
    REQUIRE(nrd_request_acquire(model_, &request, errors.out()) == NRD_OK);
    nrd_tensor& input = request->inputs[0];
    input.datatype = NRD_TYPE_INT32;
    input.rank = 1;
    input.shape[0] = 1;
    input.byte_size = sizeof(element);
    input.data = &element;
    input.flags = NRD_TENSOR_SELECTED;
    if (nrd_request_submit(request) == NRD_PENDING) {
      nrd_request_wait(request, 0);
    }
    REQUIRE(request->status == NRD_OK);
    REQUIRE(request->outputs[0].byte_size == sizeof(element));
    CHECK(std::memcmp(request->outputs[0].data, &element, sizeof(element)) == 0);
    const bool hit = request->cache_hit != 0;
    nrd_request_release(request);
    return hit;
  }

 private:
  nrd_runtime* runtime_ = nullptr;
  nrd_model* model_ = nullptr;
};

std::string Refusal(const std::string& library, const std::string& config) {
  PluginHost::Get();
  Errors errors;
  nrt_cache* cache = nullptr;
  nrd_cache table{};
  REQUIRE(nrt_cache_open(View("keeper"), View(library), View(config), &cache, &table,
                         errors.out()) != NRD_OK);
  return errors.message();
}

}  // namespace

TEST_CASE("a cache gives back what was stored") {
  Keeper keeper("good");
  CHECK(keeper.Lookup("a") == NRD_NOT_FOUND);
  CHECK(keeper.Insert("a", "what was asked") == NRD_OK);
  CHECK(keeper.Lookup("a") == NRD_OK);
  CHECK(keeper.found == "what was asked");
  CHECK(keeper.Insert("a", "again") == NRD_ALREADY_EXISTS);
  CHECK(keeper.Lookup("b") == NRD_NOT_FOUND);
  // A missing key or a taken key is not a failure.
  CHECK(PluginHost::Get().TakeLog() == "");
}

TEST_CASE("a runtime keeps its answers in a cache made for Triton") {
  Keeper keeper("good");
  CachedModel model(keeper);
  CHECK_FALSE(model.Hits(1));
  CHECK(model.Hits(1));
  CHECK_FALSE(model.Hits(2));
  CHECK(model.Hits(2));
  CHECK(model.Hits(1));
}

TEST_CASE("a cache that fails costs answers of the model, and nothing else") {
  Keeper keeper("fails");
  CachedModel model(keeper);
  CHECK_FALSE(model.Hits(1));
  CHECK_FALSE(model.Hits(1));
  CHECK(PluginHost::Get().TakeLog().find("the keeper is away") != std::string::npos);
}

TEST_CASE("what a cache has is not taken by whom it does not fit") {
  Keeper keeper("good");
  CHECK(keeper.Insert("a", "value") == NRD_OK);
  keeper.takes = false;
  CHECK(keeper.Lookup("a") == NRD_INTERNAL);
  CHECK(PluginHost::Get().TakeLog().find("does not fit") != std::string::npos);
}

TEST_CASE("what a cache fails at is logged with its name") {
  const auto log_of = [](const std::string& mode) {
    Keeper keeper(mode);
    const bool stored = keeper.Insert("a", "value") == NRD_OK;
    const int32_t code = keeper.Lookup("a");
    CHECK(code != NRD_OK);
    CHECK(stored == (code != NRD_NOT_FOUND && mode != "fails"));
    return PluginHost::Get().TakeLog();
  };
  CHECK(log_of("fails") ==
        "cache 'keeper', TRITONCACHE_CacheInsert: the keeper is away\n"
        "cache 'keeper', TRITONCACHE_CacheLookup: the keeper is away\n");
  CHECK(log_of("keeps quiet") ==
        "cache 'keeper', TRITONCACHE_CacheLookup: succeeded without TRITONCACHE_Copy\n");
  CHECK(log_of("shows two") ==
        "cache 'keeper', TRITONCACHE_CacheLookup: the entry has 2 buffers, expected 1\n");
  CHECK(log_of("shows nothing") ==
        "cache 'keeper', TRITONCACHE_CacheLookup: the buffer is NULL or empty\n");
  CHECK(log_of("copies twice") ==
        "cache 'keeper', TRITONCACHE_CacheLookup: the entry was copied before\n");
  CHECK(log_of("forgets the place") ==
        "cache 'keeper', TRITONCACHE_CacheInsert: expected a buffer of 5 bytes, got none\n");
  CHECK(log_of("counts wrongly") ==
        "cache 'keeper', TRITONCACHE_CacheInsert: there is no buffer 1, the entry has 1\n");
}

TEST_CASE("a cache that does not open says why") {
  CHECK(Refusal(NEREID_KEEPER_PATH, "{}") == "the configuration has no mode");
  CHECK(Refusal(NEREID_KEEPER_PATH, Mode("nothing")) ==
        "cache 'keeper' was initialised and gave no cache");
  CHECK(Refusal(NEREID_RELOCATING_PATH, "{}").find("is no cache: expected") != std::string::npos);
  CHECK(Refusal("/nowhere.so", "{}").find("/nowhere.so") != std::string::npos);
}

}  // namespace nereid::test
