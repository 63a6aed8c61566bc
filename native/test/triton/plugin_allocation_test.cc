// Every allocation of the plug-in host, and of the core below it, fails once, alone and with all
// later ones: requests from and to plug-ins are still answered.
#include <memory>
#include <vector>

#include "test/core/failing_heap.h"
#include "test/triton/inference_fixture.h"

namespace nereid::test {
namespace {

// Sends all while an allocation fails; each is answered with the right value or a reason. Returns
// whether that many allocations were made.
bool SendAll(std::deque<PluginRequest>& requests, int64_t number, bool lasting) {
  const FailingAllocation failing(number, lasting);
  for (PluginRequest& request : requests) {
    request.Submit();
  }
  for (PluginRequest& request : requests) {
    (void)request.Wait();
  }
  return failing.happened();
}

void CheckValues(std::deque<PluginRequest>& requests, const std::vector<int32_t>& expected) {
  for (PluginRequest& request : requests) {
    CAPTURE(request.message());
    if (request->status == NRD_OK) {
      REQUIRE(!request.replies().empty());
      for (const Reply& reply : request.replies()) {
        CHECK((reply.output == expected || !reply.error.empty()));
      }
    } else {
      CHECK(!request.message().empty());
    }
  }
}

// The model continues as if nothing had happened.
void CheckAfter(PluginModel& model, const std::vector<int32_t>& expected = {1, 2, 3}) {
  PluginRequest later(model, "", expected);
  CHECK(later.Run() == NRD_OK);
  CHECK(later.replies().at(0).output == expected);
  const nrd_model_stats stats = model.stats();
  CHECK(stats.pending_count == 0);
  CHECK(stats.executing_count == 0);
}

TEST_CASE("a plug-in's model that misses an allocation loads or not, and leaves nothing behind") {
  Plugin plugin(NEREID_CAREFUL_PATH, "careful");
  const std::string before = PluginHost::Handles();
  const int64_t allocations = ForEachAllocation([&](int64_t number, bool lasting) {
    nrd_model* loaded = nullptr;
    bool happened = false;
    {
      const FailingAllocation failing(number, lasting);
      const int32_t code = PluginModel::Load(plugin, {}, &loaded);
      CHECK((loaded != nullptr) == (code == NRD_OK));
      happened = failing.happened();
    }
    if (loaded != nullptr) {
      (void)nrd_model_drain(loaded, 0, nullptr);
      nrd_model_release(loaded);
    }
    CHECK(PluginHost::Handles() == before);
    return happened;
  });
  CHECK(allocations > 20);
  PluginModel model(plugin);
  CheckAfter(model);
}

TEST_CASE("requests of a plug-in that miss an allocation are answered") {
  Plugin plugin(NEREID_CAREFUL_PATH, "careful");
  const int64_t allocations = ForEachAllocation([&](int64_t number, bool lasting) {
    PluginModel model(plugin, {.flags = NRD_MODEL_DYNAMIC_BATCHING});
    std::deque<PluginRequest> requests;
    for (int64_t i = 0; i < 4; ++i) {
      requests.emplace_back(model, "").With("colour", i / 2);
    }
    const bool happened = SendAll(requests, number, lasting);
    CheckValues(requests, {1, 2, 3});
    CheckAfter(model);
    return happened;
  });
  CHECK(allocations > 10);
}

TEST_CASE("a plug-in's error that misses an allocation is an error all the same") {
  Plugin plugin(NEREID_CAREFUL_PATH, "careful");
  PluginModel model(plugin);
  ForEachAllocation([&](int64_t number, bool lasting) {
    std::deque<PluginRequest> requests;
    requests.emplace_back(model, "").With("fails", int64_t{1});
    const bool happened = SendAll(requests, number, lasting);
    CHECK(requests[0]->status != NRD_OK);
    CHECK(!requests[0].message().empty());
    CheckAfter(model);
    return happened;
  });
}

TEST_CASE("a plug-in's stream that misses an allocation ends") {
  Plugin plugin(NEREID_CAREFUL_PATH, "careful");
  PluginModel model(plugin, {.flags = NRD_MODEL_DECOUPLED});
  ForEachAllocation([&](int64_t number, bool lasting) {
    std::deque<PluginRequest> requests;
    requests.emplace_back(model, "").With("count", int64_t{3});
    const bool happened = SendAll(requests, number, lasting);
    for (const Reply& reply : requests[0].replies()) {
      CHECK((reply.output == std::vector<int32_t>{1, 2, 3} || !reply.error.empty()));
    }
    CheckAfter(model);
    return happened;
  });
}

TEST_CASE("a sequence of a plug-in that misses an allocation has added up what it answered") {
  Plugin plugin(NEREID_CAREFUL_PATH, "careful");
  nrd_state state{};
  state.input = state.output = 1;
  state.rank = 1;
  state.dims[0] = 1;
  nrd_sequence_options sequences{};
  sequences.states = &state;
  sequences.state_count = 1;
  sequences.strategy = NRD_SEQUENCES_OLDEST;
  PluginModel model(plugin, {.max_batch_size = 2, .sequences = &sequences, .with_state = true});
  uint64_t sequence = 0;
  ForEachAllocation([&](int64_t number, bool lasting) {
    std::deque<PluginRequest> requests;
    ++sequence;
    for (int32_t i = 0; i < 3; ++i) {
      requests.emplace_back(model, "", std::vector<int32_t>{i + 1});
      requests.back()->sequence_id = sequence;
      requests.back()->flags = i == 0   ? uint32_t{NRD_REQUEST_SEQUENCE_START}
                               : i == 2 ? uint32_t{NRD_REQUEST_SEQUENCE_END}
                                        : 0U;
    }
    const bool happened = SendAll(requests, number, lasting);
    int32_t sum = 0;
    for (int32_t i = 0; i < 3; ++i) {
      CAPTURE(i);
      CAPTURE(requests[i].message());
      if (requests[i]->status == NRD_OK) {
        sum += i + 1;
        CHECK(requests[i].replies().at(0).output == std::vector<int32_t>{sum});
      }
    }
    return happened;
  });
}

TEST_CASE(
    "an inference of a plug-in that misses an allocation is answered, and its request given back") {
  const Target target("target", Target::Copy);
  ForEachAllocation([&](int64_t number, bool lasting) {
    Asker asker("target");
    bool happened = false;
    {
      const FailingAllocation failing(number, lasting);
      TRITONSERVER_Error* const error =
          TRITONSERVER_ServerInferAsync(Server(), asker.get(), nullptr);
      if (error == nullptr) {
        asker.Wait();
      } else {
        TRITONSERVER_ErrorDelete(error);
      }
      happened = failing.happened();
    }
    for (const Answer& answer : asker.answers()) {
      CAPTURE(answer.error);
      CHECK((answer.output == std::vector<int32_t>{1, 2, 3} || !answer.error.empty()));
    }
    asker.Run();
    CHECK(asker.answer().output == std::vector<int32_t>{1, 2, 3});
    return happened;
  });
}

}  // namespace
}  // namespace nereid::test
