// Shared parts of the tests of ragged batches: a model with one ragged input, the inputs that its
// backend saw, and the expected ones.
#ifndef NEREID_TEST_CORE_RAGGED_FIXTURE_H_
#define NEREID_TEST_CORE_RAGGED_FIXTURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/core/core_fixture.h"

namespace nereid::test {

using Dims = std::vector<int64_t>;

// A hidden input that describes input 0.
struct Combined {
  int32_t kind = NRD_COMBINE_ELEMENT_COUNT;
  int32_t datatype = NRD_TYPE_INT32;
};

// Input 0, VALUES, and output 0, OUT, have these dims; input 1, ROWS, and output 1, ROWS_OUT, one
// int32 a row. Hidden inputs follow.
struct RaggedSettings {
  int64_t max_batch_size = 16;
  int32_t datatype = NRD_TYPE_INT32;
  Dims dims = {-1};
  std::optional<Dims> reshape;
  uint32_t value_flags = NRD_SPEC_RAGGED;
  std::vector<Combined> combined;
  bool scattered = true;
  uint32_t flags = NRD_MODEL_NO_INLINE | NRD_MODEL_DYNAMIC_BATCHING;
};

// The options of a model, to be changed before they are loaded.
struct RaggedOptions {
  RaggedOptions(FunctionBackend& backend, const RaggedSettings& settings);
  RaggedOptions(const RaggedOptions&) = delete;
  RaggedOptions& operator=(const RaggedOptions&) = delete;

  // The message of loading; "" if it succeeds.
  std::string Refused(TestRuntime& runtime);

  nrd_backend table;
  std::vector<std::string> names;
  std::vector<nrd_tensor_spec> inputs;
  std::vector<nrd_tensor_spec> outputs;
  std::vector<nrd_combined_input> combined;
  std::vector<nrd_scattered_output> scattered;
  nrd_model_options options{};

  const nrd_model_options* Finish();
};

nrd_model* LoadRagged(TestRuntime& runtime, FunctionBackend& backend,
                      const RaggedSettings& settings);

// A tensor and a copy of its bytes.
struct Seen {
  nrd_tensor tensor{};
  std::vector<uint8_t> data;

  [[nodiscard]] Dims shape() const { return {tensor.shape, tensor.shape + tensor.rank}; }
  template <typename T>
  [[nodiscard]] std::vector<T> values() const {
    const auto* const begin = reinterpret_cast<const T*>(data.data());
    return {begin, begin + data.size() / sizeof(T)};
  }
};
Seen See(const nrd_tensor& tensor);

// The inputs of an executed batch, and its requests' tags.
struct RaggedBatch {
  int64_t rows = 0;
  std::vector<uint64_t> tags;
  std::vector<uint32_t> first_rows;
  std::vector<Seen> inputs;
};

// Records each batch, and answers with the two inputs of its requests.
class RecordingBackend {
 public:
  RecordingBackend();

  FunctionBackend backend;
  Gate gate;  // executions enter it
  std::vector<RaggedBatch> batches;
};

class RaggedRequest {
 public:
  // The shape of VALUES, with its rows in front where the model has a batch dimension.
  RaggedRequest(TestModel& model, int32_t datatype, const Dims& shape_in,
                std::vector<uint8_t> data_in, uint64_t tag);
  RaggedRequest(TestModel& model, const Dims& shape_in, const std::vector<int32_t>& values,
                uint64_t tag = 0);
  ~RaggedRequest();
  RaggedRequest(RaggedRequest&& other) noexcept
      : shape(other.shape), data(other.data), record_(std::exchange(other.record_, nullptr)) {}
  RaggedRequest& operator=(RaggedRequest&&) = delete;

  nrd_request* operator->() { return record_; }
  nrd_request* get() { return record_; }
  int32_t Submit() { return nrd_request_submit(record_); }
  int32_t Wait() { return nrd_request_wait(record_, In(kPatienceMs)); }
  [[nodiscard]] std::string message() const {
    return {record_->error->message, record_->error->message_size};
  }
  [[nodiscard]] Seen output(uint32_t index) const { return See(record_->outputs[index]); }

  const Dims shape;
  const std::vector<uint8_t> data;

 private:
  nrd_request* record_ = nullptr;
};

template <typename T>
std::vector<uint8_t> AsBytes(const std::vector<T>& values) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}

}  // namespace nereid::test

#endif  // NEREID_TEST_CORE_RAGGED_FIXTURE_H_
