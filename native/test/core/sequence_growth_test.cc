// Tests of states whose size grows: each request appends its input to the sequence's state.
#include <algorithm>
#include <numeric>
#include <random>

#include "test/core/sequence_fixture.h"

namespace nereid::test {
namespace {

// Appends the input of each row to its state; the answer is the length. Rows of a batch have states
// of one shape.
int32_t Append(nrd_batch* batch, nrd_error* error) {
  const nrd_tensor& before = batch->inputs[1];
  const int64_t rows = batch->inputs[0].shape[0];
  const int64_t kept = before.shape[1];
  const int64_t shape[] = {rows, kept + 1};
  const int64_t one[] = {rows, 1};
  void* state = nullptr;
  void* count = nullptr;
  if (nrd_batch_output(batch, 0, NRD_TYPE_INT32, 2, one, static_cast<uint64_t>(rows) * 4, &count,
                       error) != NRD_OK ||
      nrd_batch_output(batch, 1, NRD_TYPE_INT32, 2, shape,
                       static_cast<uint64_t>(rows * (kept + 1)) * 4, &state, error) != NRD_OK) {
    return error->code;
  }
  const auto* const values = static_cast<const int32_t*>(batch->inputs[0].data);
  const auto* const old = static_cast<const int32_t*>(before.data);
  for (int64_t row = 0; row < rows; ++row) {
    int32_t* const target = static_cast<int32_t*>(state) + row * (kept + 1);
    std::copy_n(old + row * kept, kept, target);
    target[kept] = values[row];
    // The sum of all that was kept shows that nothing was lost or mixed up.
    static_cast<int32_t*>(count)[row] = std::accumulate(target, target + kept + 1, 0);
  }
  return NRD_OK;
}

nrd_tensor_spec Spec(std::string_view name, int64_t dim, uint32_t flags) {
  nrd_tensor_spec spec{};
  spec.name = AsNrdString(name);
  spec.datatype = NRD_TYPE_INT32;
  spec.rank = 1;
  spec.dims[0] = dim;
  spec.flags = flags;
  return spec;
}

nrd_model* Load(TestRuntime& runtime, const nrd_backend& backend, uint32_t sequence_flags) {
  const nrd_tensor_spec inputs[] = {Spec("INPUT", 1, 0), Spec("STATE_IN", -1, NRD_SPEC_HIDDEN)};
  const nrd_tensor_spec outputs[] = {Spec("OUTPUT", 1, 0), Spec("STATE_OUT", -1, NRD_SPEC_HIDDEN)};
  nrd_state state{};
  state.input = 1;
  state.output = 1;
  state.rank = 1;
  state.flags = NRD_STATE_SAME_BUFFER;
  state.dims[0] = 0;
  nrd_sequence_options sequences{};
  sequences.strategy = NRD_SEQUENCES_OLDEST;
  sequences.flags = sequence_flags;
  sequences.max_idle_ns = 60'000'000'000;
  sequences.candidates = 16;
  sequences.states = &state;
  sequences.state_count = 1;
  nrd_model_options options{};
  options.struct_size = sizeof(options);
  options.flags = NRD_MODEL_NO_INLINE;
  options.name = AsNrdString("grows");
  options.version = AsNrdString("1");
  options.backend = &backend;
  options.inputs = inputs;
  options.outputs = outputs;
  options.input_count = 2;
  options.output_count = 2;
  options.max_batch_size = 8;
  options.sequences = &sequences;
  nrd_error error{};
  nrd_model* loaded = nullptr;
  REQUIRE(nrd_model_load(runtime.get(), &options, nullptr, &loaded, &error) == NRD_OK);
  return loaded;
}

}  // namespace

TEST_CASE("states grow, and those of different sizes share no batch") {
  TestRuntime runtime;
  FunctionBackend backend;
  backend.run = Append;
  TestModel model(Load(runtime, backend.Table(), 0));

  std::mt19937 random(3);
  std::vector<int32_t> sums(17);
  std::vector<bool> started(17);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::pair<size_t, TestRequest>> requests;
    for (size_t id = 1; id <= 16; ++id) {
      if (random() % 2 == 0) {
        const auto value = static_cast<int32_t>(random() % 1000);
        requests.emplace_back(id, TestRequest(model, 1, value, 1));
        requests.back().second->sequence_id = id;
        requests.back().second->flags = started[id] ? 0U : uint32_t{kStart};
        started[id] = true;
        sums[id] += value;
        CHECK(requests.back().second.Submit() == NRD_PENDING);
      }
    }
    for (auto& [id, request] : requests) {
      REQUIRE(request.Wait() == NRD_OK);
      CHECK(request.output().front() == sums[id]);
    }
  }
  nrd_sequence_stats stats{};
  nrd_model_sequence_stats_read(model.get(), &stats);
  CHECK(stats.state_bytes > 16 * 20 * sizeof(int32_t));
}

TEST_CASE("states of different sizes share no batch in an iterative model, START or not") {
  for (const uint32_t flags : {0U, kStart}) {
    CAPTURE(flags);
    TestRuntime runtime;
    Gate gate;
    FunctionBackend backend;
    backend.run = [&](nrd_batch* batch, nrd_error* error) {
      gate.Enter();
      const int32_t code = Append(batch, error);
      return code == NRD_OK && batch->inputs[1].shape[1] == 0
                 ? nrd_batch_request_reschedule(batch, 0, error)
                 : code;
    };
    TestModel model(Load(runtime, backend.Table(), NRD_SEQUENCES_ITERATIVE));
    TestRequest grown(model, 1, 7, 1);
    TestRequest fresh(model, 1, 5, 1);
    grown->flags |= flags;
    fresh->flags |= flags;
    CHECK(grown.Submit() == NRD_PENDING);
    gate.WaitForEntered(1);
    CHECK(fresh.Submit() == NRD_PENDING);
    gate.Open();
    CHECK(grown.Wait() == NRD_OK);
    CHECK(fresh.Wait() == NRD_OK);
    CHECK(grown.output().front() == 14);
    CHECK(fresh.output().front() == 10);
    CHECK(backend.executions == 3);  // the second of each together
  }
}

}  // namespace nereid::test
