// Shared parts of the tests of sequences: models that sum a sequence's inputs, by controls or by
// state, and requests of a sequence.
#ifndef NEREID_TEST_CORE_SEQUENCE_FIXTURE_H_
#define NEREID_TEST_CORE_SEQUENCE_FIXTURE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "test/core/core_fixture.h"

namespace nereid::test {

inline constexpr uint32_t kStart = NRD_REQUEST_SEQUENCE_START;
inline constexpr uint32_t kEnd = NRD_REQUEST_SEQUENCE_END;

struct SequenceSettings {
  int32_t strategy = NRD_SEQUENCES_DIRECT;
  uint32_t sequence_flags = 0;
  int64_t max_batch_size = 4;
  uint32_t instance_count = 1;
  uint32_t candidates = 0;
  uint64_t max_idle_ns = 60'000'000'000;
  uint64_t max_queue_delay_ns = 0;
  double minimum_utilization = 0;
  std::vector<int64_t> preferred_sizes;
  uint32_t flags = 0;  // NRD_MODEL_*
  bool text_ids = false;
  bool with_state = false;  // in place of controls
  uint32_t state_flags = 0;
  int32_t initial_state = 0;
  bool own_states = false;  // states are in the backend's own memory
};

// One batch, as the backend saw it.
struct SeenBatch {
  std::vector<int32_t> start, end, ready;  // by row
  std::vector<std::string> ids;
};

// Sums int32 inputs for each sequence: by row and START in slots, by id without slots, or in a
// state that the core keeps. Each answer is the sum so far.
class SequenceModel {
 public:
  SequenceModel(TestRuntime& runtime, const SequenceSettings& settings);

  nrd_model* get() { return model_->get(); }
  TestModel& model() { return *model_; }
  nrd_sequence_stats stats();
  std::vector<SeenBatch> seen();
  // Number of states in the backend's own memory; the most it had at once.
  size_t states_left();
  size_t most_states();

  // Executions wait here while the gate is closed; it is open at first.
  Gate gate;
  // Fails the executions of rows that bring this value.
  static constexpr int32_t kPoison = -999;

 private:
  int32_t Execute(nrd_batch* batch, nrd_error* error);
  int32_t ExecuteByState(nrd_batch* batch, nrd_error* error);
  int32_t ExecuteByOwnState(nrd_batch* batch, nrd_error* error);
  int32_t AddToOwnState(nrd_batch* batch, uint32_t index, int32_t* sum_out, nrd_error* error);
  void Release(const nrd_tensor& state);
  SeenBatch Note(const nrd_batch& batch);

  const SequenceSettings settings_;
  FunctionBackend backend_;
  std::mutex mutex_;
  // Contents of a pretended device by address; the addresses are not real.
  std::map<uintptr_t, int32_t> device_;
  uintptr_t next_address_ = 64;
  size_t most_states_ = 0;
  std::unique_ptr<TestModel> model_;
  std::vector<SeenBatch> seen_;
  std::map<std::pair<nrd_batch*, std::string>, int32_t> sums_;  // of an instance, by row or id
};

// A request with one int32, for a sequence.
class SequenceRequest : public TestRequest {
 public:
  SequenceRequest(SequenceModel& model, uint64_t id, int32_t value, uint32_t flags = 0);
  SequenceRequest(SequenceModel& model, std::string name, int32_t value, uint32_t flags = 0);

  // The sum so far; fails the test when there is none.
  int32_t Sum();

 private:
  std::string name_;
};

int32_t LoadSequenceModel(nrd_runtime* runtime, const nrd_backend& backend,
                          const SequenceSettings& settings, nrd_model** model_out,
                          nrd_error* error_out);

}  // namespace nereid::test

#endif  // NEREID_TEST_CORE_SEQUENCE_FIXTURE_H_
