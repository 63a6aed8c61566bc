// Fixtures of the onnxruntime backend's tests. They need the real library: NEREID_ONNXRUNTIME_PATH
// holds its path, and without it they say so and are skipped.
#ifndef NEREID_TEST_ONNX_FIXTURE_H_
#define NEREID_TEST_ONNX_FIXTURE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/model_config.h"
#include "doctest/doctest.h"
#include "nereid/nereid.h"
#include "onnxruntime/ort_library.h"
#include "test/core/core_fixture.h"

namespace nereid::test {

// Empty when the variable is not set.
std::string OnnxRuntimePath();

inline doctest::skip SkipWithoutOnnxRuntime() { return doctest::skip(OnnxRuntimePath().empty()); }
inline doctest::skip SkipWithOnnxRuntime() { return doctest::skip(!OnnxRuntimePath().empty()); }
void SayWhatIsMissing();

// All tests share the library with this many threads.
inline constexpr uint32_t kSharedThreadCount = 3;
const OrtLibrary& SharedOnnxRuntime();

// The ids of this process's threads that run ONNX Runtime's work.
std::vector<std::string> OrtThreads();
// Waits until there are so many: threads that were joined may still be listed.
bool HasOrtThreads(size_t count);

std::string TestModelPath(std::string_view name);     // native/test/models/NAME.onnx
std::string BundledModelPath(std::string_view name);  // examples/models/NAME/1/model.onnx
std::string ExamplePath(std::string_view path);       // examples/PATH

struct OnnxSettings {
  std::string model_path = {};
  int64_t max_batch_size = 0;
  std::vector<TensorSpec> inputs = {};
  std::vector<TensorSpec> outputs = {};
  std::vector<std::pair<std::string, std::string>> parameters = {};
  uint32_t flags = 0;
  uint32_t instance_count = 1;
  uint64_t max_queue_delay_ns = 0;
  nrd_source* source = nullptr;
};

// Of the settings only path and parameters count.
Status OpenSource(TestRuntime& runtime, const OnnxSettings& settings, nrd_source** source_out);

class OnnxTestModel {
 public:
  // Fails the test when the model does not load.
  OnnxTestModel(TestRuntime& runtime, const OnnxSettings& settings);
  ~OnnxTestModel();
  OnnxTestModel(const OnnxTestModel&) = delete;
  OnnxTestModel& operator=(const OnnxTestModel&) = delete;

  // Loads and unloads a model; returns the status.
  static Status TryLoad(TestRuntime& runtime, const OnnxSettings& settings);

  nrd_model* get() { return model_; }

 private:
  nrd_model* model_ = nullptr;
};

class OnnxRequest {
 public:
  explicit OnnxRequest(OnnxTestModel& model);
  ~OnnxRequest();
  OnnxRequest(const OnnxRequest&) = delete;
  OnnxRequest& operator=(const OnnxRequest&) = delete;

  // Copies the bytes into a buffer of the pool.
  void SetInput(uint32_t index, int32_t datatype, const std::vector<int64_t>& shape,
                const void* data, uint64_t byte_size);
  template <typename T>
  void SetInput(uint32_t index, int32_t datatype, const std::vector<int64_t>& shape,
                const std::vector<T>& values) {
    SetInput(index, datatype, shape, values.data(), values.size() * sizeof(T));
  }
  void SetStrings(uint32_t index, const std::vector<int64_t>& shape,
                  const std::vector<std::string>& values);

  // Submits, waits, and returns the status.
  Status Run();
  int32_t Submit() { return nrd_request_submit(record_); }
  Status Wait();

  nrd_request* operator->() { return record_; }
  [[nodiscard]] const nrd_tensor& output(uint32_t index) const { return record_->outputs[index]; }
  [[nodiscard]] std::vector<int64_t> OutputShape(uint32_t index) const;
  template <typename T>
  [[nodiscard]] std::vector<T> Output(uint32_t index) const {
    const nrd_tensor& tensor = output(index);
    std::vector<T> values(tensor.byte_size / sizeof(T));
    if (!values.empty()) {
      std::memcpy(values.data(), tensor.data, values.size() * sizeof(T));
    }
    return values;
  }
  [[nodiscard]] std::vector<std::string> OutputStrings(uint32_t index) const;

 private:
  nrd_request* record_ = nullptr;
};

}  // namespace nereid::test

#endif  // NEREID_TEST_ONNX_FIXTURE_H_
