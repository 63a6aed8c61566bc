// Tests of Triton backends that keep state, and that ask to get a request again.
#include <cstdlib>

#include "test/triton/triton_fixture.h"

namespace nereid::test {
namespace {

constexpr uint32_t kSameBuffer = NRD_STATE_SAME_BUFFER;

TEST_CASE("a backend reads and writes the state of a sequence") {
  Plugin plugin(NEREID_PROBE_PATH);
  nrd_state state{};
  state.input = 1;
  state.output = 1;
  state.rank = 1;
  state.dims[0] = 1;
  nrd_sequence_options sequences{};
  sequences.states = &state;
  sequences.state_count = 1;
  for (const auto& [strategy, flags] :
       {std::pair(NRD_SEQUENCES_OLDEST, 0U), std::pair(NRD_SEQUENCES_DIRECT, 0U),
        std::pair(NRD_SEQUENCES_OLDEST, kSameBuffer),
        std::pair(NRD_SEQUENCES_DIRECT, kSameBuffer)}) {
    sequences.strategy = strategy;
    state.flags = flags;
    PluginModel model(plugin, {.max_batch_size = 2, .sequences = &sequences, .with_state = true});
    int32_t sum = 0;
    for (int32_t i = 1; i <= 4; ++i) {
      for (const uint64_t id : {41U, 42U}) {
        if (id == 42 && i > 2) {
          continue;
        }
        PluginRequest request(model, "state", {i});
        // A plug-in in its own process cannot write over its input.
        request.With("in_place",
                     int64_t{flags != 0 && std::getenv("NEREID_ISOLATED_PLUGINS") == nullptr});
        request->sequence_id = id;
        request->flags = (i == 1 ? uint32_t{NRD_REQUEST_SEQUENCE_START} : 0U) |
                         (i == (id == 42 ? 2 : 4) ? uint32_t{NRD_REQUEST_SEQUENCE_END} : 0U);
        request.Run();
        request.CheckReport();
        const int32_t expected = i * (i + 1) / 2;
        CHECK(request.replies()[0].output == std::vector<int32_t>{expected});
        sum += expected;
      }
    }
    CHECK(sum == 24);
  }
}

TEST_CASE("a sequence is a number or a name, and its flags reach the backend") {
  Plugin plugin(NEREID_PROBE_PATH);
  nrd_sequence_options sequences{};
  sequences.strategy = NRD_SEQUENCES_OLDEST;
  PluginModel model(plugin, {.sequences = &sequences});
  PluginRequest numbered(model, "read");
  numbered->sequence_id = 1234567890123;
  numbered->flags = NRD_REQUEST_SEQUENCE_START;
  numbered.Run();
  numbered.CheckReport();
  CHECK(std::get<int64_t>(numbered.replies()[0].values.at("sequence")) == 1234567890123);
  CHECK(std::get<int64_t>(numbered.replies()[0].values.at("flags")) == 1);
  PluginRequest named(model, "read");
  named->id = View("named sequence");
  named->sequence_name = View("the name of it");
  named->flags = NRD_REQUEST_SEQUENCE_START | NRD_REQUEST_SEQUENCE_END;
  named.Run();
  named.CheckReport();
  CHECK(std::get<std::string>(named.replies()[0].values.at("sequence")) == "the name of it");
  CHECK(std::get<int64_t>(named.replies()[0].values.at("flags")) == 3);
}

TEST_CASE("an iterative model gives a request back until it is done") {
  Plugin plugin(NEREID_PROBE_PATH);
  nrd_sequence_options sequences{};
  sequences.strategy = NRD_SEQUENCES_OLDEST;
  sequences.flags = NRD_SEQUENCES_ITERATIVE;
  PluginModel model(plugin, {.sequences = &sequences});
  PluginRequest request(model, "again", {5});
  request.With("times", int64_t{4});
  request.Run();
  request.CheckReport();
  CHECK(request.replies()[0].output == std::vector<int32_t>{5});
  CHECK(model.stats().execution_count == 4);
}

TEST_CASE("other models cannot give a request back") {
  Plugin plugin(NEREID_PROBE_PATH);
  PluginModel model(plugin);
  PluginRequest request(model, "again", {5});
  request.With("times", int64_t{4});
  CHECK(request.Run() != NRD_OK);
}

}  // namespace
}  // namespace nereid::test
