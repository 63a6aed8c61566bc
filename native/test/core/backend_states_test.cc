// Tests states of sequences in the backend's own memory, which the core passes on by address.
#include <chrono>
#include <thread>

#include "test/core/sequence_fixture.h"

namespace nereid::test {
namespace {

SequenceSettings Own(int32_t strategy, uint32_t state_flags = 0) {
  SequenceSettings settings;
  settings.strategy = strategy;
  settings.candidates = strategy == NRD_SEQUENCES_OLDEST ? 4 : 0;
  settings.with_state = true;
  settings.own_states = true;
  settings.state_flags = state_flags;
  settings.initial_state = 100;
  return settings;
}

// Loads a model with one state in the backend's memory, for any backend.
int32_t Load(TestRuntime& runtime, const nrd_backend& backend, nrd_model** model_out,
             nrd_error* error) {
  return LoadSequenceModel(runtime.get(), backend, Own(NRD_SEQUENCES_DIRECT), model_out, error);
}

std::string Text(const nrd_error& error) { return {error.message, error.message_size}; }

}  // namespace

TEST_CASE("a state of the backend's own is handed on and goes with its sequence") {
  for (const int32_t strategy : {NRD_SEQUENCES_DIRECT, NRD_SEQUENCES_OLDEST}) {
    for (const uint32_t flags : {0U, uint32_t{NRD_STATE_SAME_BUFFER}}) {
      TestRuntime runtime;
      SequenceModel model(runtime, Own(strategy, flags));
      CHECK(SequenceRequest(model, 1, 5, kStart).Sum() == 105);
      CHECK(SequenceRequest(model, 2, 1, kStart).Sum() == 101);
      CHECK(SequenceRequest(model, 1, 6).Sum() == 111);
      CHECK(model.states_left() == 2);
      CHECK(model.stats().state_bytes == 2 * sizeof(int32_t));
      CHECK(SequenceRequest(model, 1, 1, kStart).Sum() == 101);  // anew
      CHECK(model.states_left() == 2);
      CHECK(SequenceRequest(model, 1, 1, kEnd).Sum() == 102);
      CHECK(SequenceRequest(model, 2, 1, kEnd).Sum() == 102);
      CHECK(SequenceRequest(model, 3, 1, kStart | kEnd).Sum() == 101);
      CHECK(SequenceRequest(model, 4, 1, kStart).Sum() == 101);
      CHECK(model.states_left() == 1);
      CHECK(model.most_states() == 3);  // the old state of 1 stays until its request succeeds
      model.model().Release();
      CHECK(model.states_left() == 0);
    }
  }
}

TEST_CASE("states of the backend's own in batches from which some are missing") {
  TestRuntime runtime;
  SequenceModel model(runtime, Own(NRD_SEQUENCES_DIRECT));
  std::vector<int32_t> sums(5, 100);
  for (int round = 0; round < 20; ++round) {
    model.gate.Close();
    std::vector<std::pair<uint64_t, SequenceRequest>> requests;
    for (uint64_t id = 1; id <= 4; ++id) {
      if (round % 3 == 0 || (round + id) % 3 != 0) {
        const auto value = static_cast<int32_t>(10 * id) + round;
        requests.emplace_back(id, SequenceRequest(model, id, value, round == 0 ? kStart : 0U));
        sums[id] += value;
      }
    }
    std::vector<std::thread> senders;
    senders.reserve(requests.size());
    for (auto& [id, request] : requests) {
      senders.emplace_back([&sent = request] { sent.Submit(); });
    }
    model.gate.WaitForEntered(1);
    model.gate.Open();
    for (std::thread& sender : senders) {
      sender.join();
    }
    for (auto& [id, request] : requests) {
      REQUIRE(request.Wait() == NRD_OK);
      CHECK(request.output().front() == sums[id]);
    }
  }
  CHECK(model.states_left() == 4);
}

TEST_CASE(
    "a failed request leaves the backend's own state as it was, and gives back what it made") {
  TestRuntime runtime;
  SequenceModel model(runtime, Own(NRD_SEQUENCES_OLDEST));
  CHECK(SequenceRequest(model, 1, 5, kStart).Sum() == 105);
  SequenceRequest poisoned(model, 1, SequenceModel::kPoison);
  CHECK(poisoned.SubmitAndWait() == NRD_INTERNAL);
  CHECK(model.states_left() == 1);
  CHECK(SequenceRequest(model, 1, 1).Sum() == 106);
  SequenceRequest first(model, 2, SequenceModel::kPoison, kStart);
  CHECK(first.SubmitAndWait() == NRD_INTERNAL);
  CHECK(model.states_left() == 1);
  CHECK(SequenceRequest(model, 2, 1).Sum() == 101);
}

TEST_CASE("what a failed request wrote over the old state stays with the sequence") {
  TestRuntime runtime;
  SequenceModel model(runtime, Own(NRD_SEQUENCES_DIRECT, NRD_STATE_SAME_BUFFER));
  CHECK(SequenceRequest(model, 1, 5, kStart).Sum() == 105);
  SequenceRequest poisoned(model, 1, SequenceModel::kPoison);
  CHECK(poisoned.SubmitAndWait() == NRD_INTERNAL);
  CHECK(model.states_left() == 1);
  CHECK(SequenceRequest(model, 1, 1).Sum() == 106 + SequenceModel::kPoison);
}

TEST_CASE("a state of the backend's own goes when its sequence is idle for too long") {
  TestRuntime runtime;
  SequenceSettings settings = Own(NRD_SEQUENCES_DIRECT);
  settings.max_idle_ns = 1'000'000;
  SequenceModel model(runtime, settings);
  CHECK(SequenceRequest(model, 1, 5, kStart).Sum() == 105);
  while (model.stats().idle_ended == 0) {
    std::this_thread::yield();
  }
  CHECK(model.states_left() == 0);
}

TEST_CASE("a warm-up keeps no state of the backend's own") {
  TestRuntime runtime;
  SequenceModel model(runtime, Own(NRD_SEQUENCES_DIRECT));
  SequenceRequest request(model, 1, 5, kStart);
  CHECK(nrd_request_warm_up(request.get()) == NRD_OK);
  CHECK(model.states_left() == 0);
}

TEST_CASE("what a backend does wrong with its own states is an error with a message") {
  TestRuntime runtime;
  FunctionBackend backend;
  backend.flags = NRD_BACKEND_OWN_STATES;
  std::vector<void*> released;
  backend.release_state = [&released](const nrd_tensor* state) { released.push_back(state->data); };
  int misdeed = 0;
  std::vector<std::string> said;
  backend.run = [&](nrd_batch* batch, nrd_error* error) {
    nrd_tensor made{};
    made.datatype = NRD_TYPE_INT32;
    made.rank = misdeed == 1 ? 1 : 2;
    made.shape[0] = made.shape[1] = 1;
    made.byte_size = misdeed == 2 ? 8 : 4;
    made.data = misdeed == 3 ? nullptr : reinterpret_cast<void*>(uintptr_t{64});
    if (misdeed != 0) {
      const uint32_t state = misdeed == 4 ? 1 : 0;
      const uint32_t request = misdeed == 5 ? 1 : 0;
      int32_t code = nrd_batch_request_keep(batch, request, state, &made, error);
      if (misdeed == 6) {
        CHECK(code == NRD_OK);
        code = nrd_batch_request_keep(batch, request, state, &made, error);
      }
      CHECK(code != NRD_OK);
      return code;
    }
    void* data = nullptr;
    return nrd_batch_output(batch, 0, NRD_TYPE_INT32, 2, batch->inputs[0].shape, 4, &data, error);
  };
  nrd_error error{};
  nrd_model* loaded = nullptr;
  const nrd_backend table = backend.Table();
  REQUIRE(Load(runtime, table, &loaded, &error) == NRD_OK);
  TestModel model(loaded);
  for (misdeed = 0; misdeed <= 6; ++misdeed) {
    TestRequest request(model, 1, 1, 1);
    request->sequence_id = 1;
    request->flags |= kStart;
    CHECK(request.SubmitAndWait() != NRD_OK);
    said.emplace_back(request.message());
  }
  CHECK(said[0] == "backend did not produce state 'STATE_OUT' of model 'adder'");
  CHECK(said[1].find("backend produced shape [1] for output 'STATE_OUT'") == 0);
  CHECK(said[2].find("backend gave 8 bytes for output 'STATE_OUT'") == 0);
  CHECK(said[3] == "backend gave no memory for state 'STATE_OUT' of model 'adder'");
  CHECK(said[4] == "backend named state 1 of request 0, the batch has 1 of 1");
  CHECK(said[5] == "backend named state 0 of request 1, the batch has 1 of 1");
  CHECK(said[6] == "backend gave memory twice for state 'STATE_OUT' of model 'adder'");
  CHECK(released.size() == 1);  // the first of the two
}

TEST_CASE("only states of the backend's own can be given") {
  TestRuntime runtime;
  FunctionBackend backend;
  int32_t code = NRD_OK;
  backend.run = [&code](nrd_batch* batch, nrd_error* error) {
    nrd_tensor kept{};
    code = nrd_batch_request_state(batch, 0, 0, &kept, error);
    return code;
  };
  nrd_error error{};
  nrd_model* loaded = nullptr;
  nrd_backend table = backend.Table();
  REQUIRE(Load(runtime, table, &loaded, &error) == NRD_OK);
  TestModel model(loaded);
  TestRequest request(model, 1, 1, 1);
  request->sequence_id = 1;
  request->flags |= kStart;
  CHECK(request.SubmitAndWait() == NRD_FAILED_PRECONDITION);
  CHECK(code == NRD_FAILED_PRECONDITION);

  table.flags = NRD_BACKEND_OWN_STATES;
  CHECK(Load(runtime, table, &loaded, &error) == NRD_INVALID_ARGUMENT);
  CHECK(Text(error) == "the backend keeps states, expected that it takes them back");
}

}  // namespace nereid::test
