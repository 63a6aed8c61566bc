// Makes ensembles with a decoupled step, for tests.
#ifndef NEREID_TEST_ENSEMBLE_STREAM_FIXTURE_H_
#define NEREID_TEST_ENSEMBLE_STREAM_FIXTURE_H_

#include <functional>
#include <utility>
#include <vector>

#include "test/core/decoupled_fixture.h"
#include "test/core/ensemble_fixture.h"

namespace nereid::test {

using Values = std::vector<std::vector<int32_t>>;

inline Values Rows(const std::vector<int32_t>& values) {
  Values rows;
  for (const int32_t value : values) {
    rows.emplace_back(4, value);
  }
  return rows;
}

using Run = std::function<int32_t(nrd_batch*, nrd_error*)>;

// Sends value, value + 1, ... as often as it was asked for; the last one may come with the end.
inline Run Count(int32_t count, bool last_with_end) {
  return [=](nrd_batch* batch, nrd_error* error) {
    for (uint32_t i = 0; i < batch->request_count; ++i) {
      const int32_t value = ValueOf(batch, i);
      for (int32_t sent = 0; sent < count; ++sent) {
        const bool end = last_with_end && sent == count - 1;
        const int32_t code =
            end ? Make(batch, i, 0, value + sent, error) : Send(batch, i, value + sent, error);
        if (code != NRD_OK) {
          return code;
        }
      }
    }
    return int32_t{NRD_OK};
  };
}

// A counter, and a model behind it that adds 100.
struct Stream {
  explicit Stream(Collector& collector, Run count, const ModelSettings& behind = {},
                  uint32_t limit = 0)
      : runtime(0, collector.Options()),
        counter_backend{.run = std::move(count)},
        counter(runtime, counter_backend,
                {.name = "counter", .flags = kDecoupled, .instance_count = 2}),
        adder(runtime, adder_backend, behind),
        ensemble(Load(limit)) {}

  nrd_model* Load(uint32_t limit) {
    EnsembleSettings settings = Chain({counter.get(), adder.get()});
    settings.max_inflight_requests = limit;
    return LoadEnsemble(runtime, settings);
  }

  TestRuntime runtime;
  FunctionBackend counter_backend;
  Run run_adder;
  FunctionBackend adder_backend{.run = [this](nrd_batch* batch, nrd_error* error) {
    return run_adder ? run_adder(batch, error) : SumInputs(batch, error, 100);
  }};
  TestModel counter;
  TestModel adder;
  TestModel ensemble;
};

}  // namespace nereid::test

#endif  // NEREID_TEST_ENSEMBLE_STREAM_FIXTURE_H_
