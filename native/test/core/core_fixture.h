// Shared parts of the tests of scheduling: a runtime, models with a backend made of a function, and
// requests over the C ABI.
#ifndef NEREID_TEST_CORE_FIXTURE_H_
#define NEREID_TEST_CORE_FIXTURE_H_

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/status.h"
#include "doctest/doctest.h"
#include "nereid/nereid.h"

namespace nereid::test {

inline int64_t In(int64_t delay_ms) { return nrd_clock_now_ns() + delay_ms * 1'000'000; }

// Long enough for any machine: a test waits that long only for what never comes.
inline constexpr int64_t kPatienceMs = 120'000;
// The delay of a batch that only its size ends.
inline constexpr uint64_t kUntilFullNs = 600'000'000'000;
// A stall of the machine must not end inline execution.
inline constexpr uint64_t kInlineBudgetNs = 60'000'000'000;

// Waits until the condition holds; false if it never does.
template <typename Condition>
bool Eventually(Condition&& condition) {
  const int64_t give_up_ns = In(kPatienceMs);
  while (!condition()) {
    if (nrd_clock_now_ns() > give_up_ns) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

// Doubles a limit until `run`, which has to be quick enough for it, returns true; false if none
// does.
template <typename Run>
bool UnderSomeLimit(int64_t limit_ms, Run&& run) {
  constexpr int64_t kMostMs = 20'000;
  while (limit_ms < kMostMs && !run(limit_ms)) {
    limit_ms *= 2;
  }
  return limit_ms < kMostMs;
}

// A backend that executes `run`, and counts open models and instances.
struct FunctionBackend {
  std::function<int32_t(nrd_batch*, nrd_error*)> run;
  std::function<void(const nrd_tensor*)> release_state;  // with NRD_BACKEND_OWN_STATES
  int32_t fail_instance = -1;                            // open_instance of this index fails
  bool fail_model = false;
  uint32_t flags = 0;
  std::atomic<int> open_models{0};
  std::atomic<int> open_instances{0};
  std::atomic<int> executions{0};

  nrd_backend Table();
};

// Copies inputs to outputs, as the identity backend does.
int32_t CopyInputs(nrd_batch* batch, nrd_error* error);

// Blocks entering threads until it is opened, and counts them.
class Gate {
 public:
  void Enter();
  void Open();
  void Close();
  void WaitForEntered(int count);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int entered_ = 0;
};

struct ModelSettings {
  std::string name = "m";
  int64_t max_batch_size = 8;
  uint32_t flags = NRD_MODEL_NO_INLINE;
  uint32_t instance_count = 1;
  uint64_t max_queue_delay_ns = 0;
  std::vector<int64_t> preferred_sizes;
  nrd_queue_policy policy{};
  uint32_t priority_levels = 0;
  uint32_t default_priority_level = 0;
  std::vector<nrd_queue_policy> level_policies;
  int32_t datatype = NRD_TYPE_INT32;
  int64_t dim = 4;
  bool with_optional_input = false;
  uint32_t output_count = 1;  // at most 2
  uint64_t inline_budget_ns = kInlineBudgetNs;
  nrd_source* source = nullptr;
  std::vector<nrd_instance_options> instances;  // of all, or none
  const nrd_batcher* batcher = nullptr;
  const nrd_objective* objective = nullptr;
};

class TestRuntime {
 public:
  explicit TestRuntime(uint64_t cache_byte_limit = 0, nrd_runtime_options options = {});
  // Checks that nothing is left behind.
  ~TestRuntime();
  TestRuntime(const TestRuntime&) = delete;
  TestRuntime& operator=(const TestRuntime&) = delete;

  nrd_runtime* get() { return runtime_; }
  [[nodiscard]] uint64_t live_bytes() const;

 private:
  nrd_runtime* runtime_ = nullptr;
};

class TestModel {
 public:
  TestModel(TestRuntime& runtime, FunctionBackend& backend, const ModelSettings& settings = {});
  // Takes over a loaded model.
  explicit TestModel(nrd_model* model) : model_(model) {}
  ~TestModel() { Release(); }
  TestModel(const TestModel&) = delete;
  TestModel& operator=(const TestModel&) = delete;

  nrd_model* get() { return model_; }
  void Release();
  nrd_model_stats stats();

 private:
  nrd_model* model_ = nullptr;
};

// Loads and returns the status, for configurations that must fail.
int32_t LoadModel(nrd_runtime* runtime, const nrd_backend& backend, const ModelSettings& settings,
                  nrd_model** model_out, nrd_error* error_out,
                  const std::vector<nrd_parameter>& parameters = {});

// A request of `rows` rows of `dim` int32 each, all equal to `value`, unless filled otherwise.
class TestRequest {
 public:
  explicit TestRequest(TestModel& model, int64_t rows = 1, int32_t value = 7, int64_t dim = 4);
  ~TestRequest();
  TestRequest(TestRequest&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  TestRequest& operator=(TestRequest&&) = delete;

  nrd_request* get() { return record_; }
  nrd_request* operator->() { return record_; }
  // Gives up the record, which other code releases.
  void Disown() { record_ = nullptr; }

  int32_t Submit() { return nrd_request_submit(record_); }
  int32_t Wait() { return nrd_request_wait(record_, In(kPatienceMs)); }
  int32_t SubmitAndWait();
  [[nodiscard]] std::string_view message() const {
    return {record_->error->message, record_->error->message_size};
  }
  [[nodiscard]] std::vector<int32_t> output(uint32_t index = 0) const;

 private:
  nrd_request* record_ = nullptr;
};

// Submits the request; true once the idle instance of its model executes it, false if it is
// answered without that.
bool Begins(TestRequest& request, const FunctionBackend& backend);

}  // namespace nereid::test

#endif  // NEREID_TEST_CORE_FIXTURE_H_
