// Tests the responses of ensembles with decoupled steps.
#include <algorithm>
#include <thread>

#include "test/core/ensemble_stream_fixture.h"

namespace nereid::test {

TEST_CASE("each response of a decoupled step becomes one of the ensemble, in the same order") {
  for (const bool last_with_end : {false, true}) {
    for (const uint32_t limit : {0U, 1U, 3U}) {
      Collector collector;
      Stream stream(collector, Count(20, last_with_end),
                    {.flags = NRD_MODEL_NO_INLINE, .instance_count = 3}, limit);
      stream.run_adder = [](nrd_batch* batch, nrd_error* error) {
        std::this_thread::sleep_for(std::chrono::microseconds(ValueOf(batch, 0) % 5 * 100));
        return SumInputs(batch, error, 100);
      };
      TestRequest request(stream.ensemble, 1, 7);
      request->tag = 5;
      CHECK(request.Submit() == NRD_PENDING);
      CHECK(request.Wait() == NRD_OK);
      std::vector<int32_t> expected;
      for (int32_t i = 0; i < (last_with_end ? 19 : 20); ++i) {
        expected.push_back(107 + i);
      }
      CHECK(collector.Of(5) == Rows(expected));
      CHECK((request->outputs[0].data != nullptr) == last_with_end);
      if (last_with_end) {
        CHECK(request.output() == std::vector<int32_t>(4, 126));
      }
      const nrd_model_stats stats = stream.ensemble.stats();
      CHECK(stats.success.count == 1);
      CHECK(stats.inference_count == 1);
      CHECK(stream.adder.stats().success.count == 20);
    }
  }
}

TEST_CASE("an error that a decoupled step responds with is the end of the ensemble's request") {
  Collector collector;
  Stream stream(collector, [](nrd_batch* batch, nrd_error* error) {
    CHECK(Send(batch, 0, 1, error) == NRD_OK);
    CHECK(SendError(batch, 0, error) == NRD_CANCELLED);
    CHECK(Send(batch, 0, 2, error) == NRD_INVALID_ARGUMENT);
    return int32_t{NRD_OK};
  });
  TestRequest request(stream.ensemble);
  CHECK(request.SubmitAndWait() == NRD_NOT_FOUND);
  CHECK(request.message() == "in ensemble 'e', step 'counter': not this one");
  CHECK(collector.Of(0) == Values{std::vector<int32_t>(4, 101)});
}

TEST_CASE("a record serves one stream after the other, also where the steps run inline") {
  Collector collector;
  Stream stream(collector, Count(3, true), {.flags = 0});
  TestRequest request(stream.ensemble, 2, 1);
  for (uint64_t tag = 1; tag <= 5; ++tag) {
    request->tag = tag;
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(collector.Of(tag) == Values{std::vector<int32_t>(8, 101), std::vector<int32_t>(8, 102)});
    CHECK(request.output() == std::vector<int32_t>(8, 103));
  }
  CHECK(stream.adder.stats().inline_count > 0);
  CHECK(stream.ensemble.stats().inference_count == 10);
}

TEST_CASE("a decoupled step may give no response") {
  Collector collector;
  Stream stream(collector, Count(0, false));
  TestRequest request(stream.ensemble);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request->outputs[0].data == nullptr);
  CHECK(collector.Of(0).empty());
  CHECK(stream.adder_backend.executions == 0);
}

TEST_CASE("a decoupled step can be the last, and its outputs and those behind it go together") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend first = Adder(1);
  FunctionBackend counting{.run = Count(3, true)};
  FunctionBackend last = Adder(10);
  TestModel adder(runtime, first, {.name = "first"});
  TestModel counter(runtime, counting, {.name = "counter", .flags = kDecoupled});
  TestModel behind(runtime, last, {.name = "last"});
  {
    TestModel direct(LoadEnsemble(runtime, Chain({adder.get(), counter.get()})));
    TestRequest request(direct, 1, 1);
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(collector.Of(0) == Rows({2, 3}));
    CHECK(request.output() == std::vector<int32_t>(4, 4));
  }
  EnsembleSettings settings = Chain({adder.get(), counter.get(), behind.get()});
  settings.outputs = {Int32Spec("COUNT"), Int32Spec("SUM")};
  settings.output_values = {2, 3};
  TestModel both(LoadEnsemble(runtime, settings));
  int32_t second = 0;
  collector.on_response = [&](uint64_t, nrd_tensor* outputs, uint32_t count) {
    CHECK(count == 2);
    second += *static_cast<int32_t*>(outputs[1].data);
  };
  TestRequest request(both, 1, 1);
  request->tag = 1;
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(collector.Of(1) == Rows({2, 3}));
  CHECK(second == 12 + 13);
  CHECK(request.output(0) == std::vector<int32_t>(4, 4));
  CHECK(request.output(1) == std::vector<int32_t>(4, 14));

  collector.on_response = nullptr;
  TestRequest one(both, 1, 5);  // wants only what the counter makes
  one->tag = 2;
  one->outputs[0].flags = NRD_TENSOR_SELECTED;
  const int executions = last.executions;
  CHECK(one.SubmitAndWait() == NRD_OK);
  CHECK(collector.Of(2) == Rows({6, 7}));
  CHECK(last.executions == executions);
}

TEST_CASE("two decoupled steps behind one another keep the order of both") {
  for (const uint32_t limit : {0U, 1U, 2U}) {
    Collector collector;
    TestRuntime runtime(0, collector.Options());
    FunctionBackend outer = {.run = [](nrd_batch* batch, nrd_error* error) {
      for (const int32_t value : {10, 20, 30}) {
        if (Send(batch, 0, value, error) != NRD_OK) {
          return error->code;
        }
      }
      return Make(batch, 0, 0, 40, error);
    }};
    FunctionBackend middle{.run = [](nrd_batch* batch, nrd_error* error) {
      std::this_thread::sleep_for(std::chrono::microseconds(500 / ValueOf(batch, 0)));
      return SumInputs(batch, error, 0);
    }};
    FunctionBackend inner{.run = Count(3, true)};
    FunctionBackend plain = Adder(0);
    TestModel first(runtime, outer, {.name = "first", .flags = kDecoupled});
    TestModel between(runtime, middle, {.name = "between", .instance_count = 3});
    TestModel second(runtime, inner, {.name = "second", .flags = kDecoupled, .instance_count = 3});
    TestModel last(runtime, plain, {.name = "last", .instance_count = 2});
    EnsembleSettings settings = Chain({first.get(), between.get(), second.get(), last.get()});
    settings.max_inflight_requests = limit;
    TestModel ensemble(LoadEnsemble(runtime, settings));
    TestRequest request(ensemble);
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(collector.Of(0) == Rows({10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41}));
    CHECK(request.output() == std::vector<int32_t>(4, 42));
    CHECK(ensemble.stats().success.count == 1);

    settings = Chain({ensemble.get(), last.get()});  // as a step of another one
    settings.max_inflight_requests = limit;
    TestModel nested(LoadEnsemble(runtime, settings));
    TestRequest through(nested);
    through->tag = 1;
    CHECK(through.SubmitAndWait() == NRD_OK);
    CHECK(collector.Of(1) == Rows({10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41}));
    CHECK(through.output() == std::vector<int32_t>(4, 42));
  }
}

TEST_CASE("values that do not come equally often are not taken together") {
  Collector collector;
  FunctionBackend backend = Adder(0);
  TestRuntime runtime(1 << 20, collector.Options());
  TestModel counter(runtime, backend, {.name = "counter", .flags = kDecoupled});
  TestModel other(runtime, backend, {.name = "other", .flags = kDecoupled});
  TestModel join(runtime, backend, {.name = "join", .with_optional_input = true});
  EnsembleSettings settings = Chain({counter.get()});
  settings.steps.push_back({join.get(), {{0, 1}, {1, 0}}, {{0, 2}}});
  settings.output_values = {2};
  nrd_model* model = nullptr;
  std::string message;
  CHECK(LoadEnsemble(runtime, settings, &model, &message) == NRD_INVALID_ARGUMENT);
  CHECK(message ==
        "step 'join' receives inputs originated from different decoupled models: output "
        "'OUTPUT0' of step 'counter' and input 'INPUT0' of the ensemble do not come equally "
        "often, so no response of the one belongs to one of the other");
  settings.steps[1] = {other.get(), {{0, 0}}, {{0, 2}}};
  settings.outputs = {Int32Spec("A"), Int32Spec("B")};
  settings.output_values = {1, 2};
  CHECK(LoadEnsemble(runtime, settings, &model, &message) == NRD_INVALID_ARGUMENT);
  CHECK(message.starts_with("the ensemble has outputs originated from different decoupled models"));

  settings = Chain({counter.get()});
  settings.flags = NRD_MODEL_RESPONSE_CACHE;
  CHECK(LoadEnsemble(runtime, settings, &model, &message) == NRD_INVALID_ARGUMENT);
  CHECK(message == "response_cache is not possible with a decoupled model");

  // One that no output needs is never run, and two that take the same are no join.
  settings = Chain({join.get()});
  settings.steps.push_back({counter.get(), {{0, 1}}, {{0, 2}}});
  TestModel unneeded(LoadEnsemble(runtime, settings));
  TestRequest request(unneeded);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request.output() == std::vector<int32_t>(4, 7));
  CHECK(counter.stats().success.count == 0);
}

TEST_CASE("steps behind a decoupled one may part and join again") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  FunctionBackend counting{.run = Count(4, false)};
  FunctionBackend adding = Adder(1);
  TestModel counter(runtime, counting, {.name = "counter", .flags = kDecoupled});
  TestModel left(runtime, adding, {.name = "left"});
  TestModel right(runtime, adding, {.name = "right"});
  TestModel join(runtime, adding, {.name = "join", .with_optional_input = true});
  EnsembleSettings settings;
  settings.steps = {{counter.get(), {{0, 0}}, {{0, 1}}},
                    {left.get(), {{0, 1}}, {{0, 2}}},
                    {right.get(), {{0, 1}}, {{0, 3}}},
                    {join.get(), {{0, 2}, {1, 3}}, {{0, 4}}}};
  settings.output_values = {4};
  TestModel ensemble(LoadEnsemble(runtime, settings));
  TestRequest request(ensemble, 1, 1);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(collector.Of(0) == Rows({5, 7, 9, 11}));
}

TEST_CASE("each step is told the sequence of the request") {
  Collector collector;
  TestRuntime runtime(0, collector.Options());
  std::mutex mutex;
  std::vector<std::string> seen;
  const auto see = [&](const nrd_batch* batch) {
    const nrd_request& request = *batch->requests[0];
    const std::lock_guard lock(mutex);
    seen.push_back(
        std::to_string(request.sequence_id) + ":" +
        std::string(request.sequence_name.data, request.sequence_name.size) + ":" +
        std::to_string(request.flags & (NRD_REQUEST_SEQUENCE_START | NRD_REQUEST_SEQUENCE_END)));
  };
  FunctionBackend adding{.run = [&](nrd_batch* batch, nrd_error* error) {
    see(batch);
    return SumInputs(batch, error, 1);
  }};
  const Run sending = Count(2, false);
  FunctionBackend counting{.run = [&](nrd_batch* batch, nrd_error* error) {
    see(batch);
    return sending(batch, error);
  }};
  TestModel first(runtime, adding, {.name = "first"});
  TestModel counter(runtime, counting, {.name = "counter", .flags = kDecoupled});
  TestModel last(runtime, adding, {.name = "last"});
  TestModel ensemble(LoadEnsemble(runtime, Chain({first.get(), counter.get(), last.get()})));
  TestRequest request(ensemble);
  {
    std::string name = "a name that is gone when submit has returned";
    request->sequence_name = {name.data(), name.size()};
    request->flags = NRD_REQUEST_SEQUENCE_START;
    CHECK(request.Submit() == NRD_PENDING);
    std::fill(name.begin(), name.end(), '#');
  }
  CHECK(request.Wait() == NRD_OK);
  CHECK(seen == std::vector<std::string>(4, "0:a name that is gone when submit has returned:" +
                                                std::to_string(NRD_REQUEST_SEQUENCE_START)));
  seen.clear();
  TestRequest numbered(ensemble);
  numbered->sequence_id = 77;
  numbered->flags = NRD_REQUEST_SEQUENCE_END;
  CHECK(numbered.SubmitAndWait() == NRD_OK);
  CHECK(seen == std::vector<std::string>(4, "77::" + std::to_string(NRD_REQUEST_SEQUENCE_END)));
  const std::string long_name(NRD_MAX_SEQUENCE_NAME + 1, 'x');
  TestRequest refused(ensemble);
  refused->sequence_name = {long_name.data(), long_name.size()};
  CHECK(refused.Submit() == NRD_INVALID_ARGUMENT);
}

}  // namespace nereid::test
