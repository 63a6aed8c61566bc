// Tests of integer divisions without a result, in models that divide by a client's input.
#include <atomic>
#include <limits>
#include <thread>

#include "test/onnxruntime/onnx_fixture.h"
#include "test/onnxruntime/onnx_writer.h"

namespace nereid::test {
namespace {

// OUTPUT0 = INPUT0 `operation` INPUT1, of one datatype.
OnnxGraph Binary(const std::string& operation, OrtElementType type) {
  return {.inputs = {{"INPUT0", {-1}, type}, {"INPUT1", {-1}, type}},
          .outputs = {{"OUTPUT0", {-1}, type}},
          .nodes = {{operation, {"INPUT0", "INPUT1"}, {"OUTPUT0"}}}};
}

OnnxSettings BinarySettings(const OnnxFile& file, int32_t datatype) {
  return {.model_path = file.path(),
          .inputs = {{"INPUT0", datatype, false, {-1}}, {"INPUT1", datatype, false, {-1}}},
          .outputs = {{"OUTPUT0", datatype, false, {-1}}}};
}

template <typename T>
Status Divide(OnnxTestModel& model, int32_t datatype, const std::vector<T>& dividends,
              const std::vector<T>& divisors, std::vector<T>* results = nullptr) {
  OnnxRequest request(model);
  request.SetInput(0, datatype, {static_cast<int64_t>(dividends.size())}, dividends);
  request.SetInput(1, datatype, {static_cast<int64_t>(divisors.size())}, divisors);
  Status status = request.Run();
  if (status.ok() && results != nullptr) {
    *results = request.Output<T>(0);
  }
  return status;
}

void CheckRefused(const Status& status) {
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(status.message() == "integer division by zero or overflow in model 'm'");
}

// The smallest number divided by -1: other processors have a result for that.
void CheckOverflow(const Status& status) {
#if defined(__x86_64__)
  CheckRefused(status);
#else
  CHECK(status.ok());
#endif
}

template <typename T>
void CheckOperation(const std::string& operation, OrtElementType type, int32_t datatype) {
  CAPTURE(operation);
  CAPTURE(datatype);
  TestRuntime runtime;
  const OnnxFile file(Binary(operation, type));
  OnnxTestModel model(runtime, BinarySettings(file, datatype));
  const T results = operation == "Div" ? T{2} : T{1};
  std::vector<T> output;
  CheckRefused(Divide<T>(model, datatype, {7, 7}, {3, 0}));
  CHECK(Divide<T>(model, datatype, {7, 7}, {3, 3}, &output).ok());
  CHECK(output == std::vector<T>{results, results});
  if constexpr (std::is_signed_v<T> && sizeof(T) >= sizeof(int)) {
    const T least = std::numeric_limits<T>::min();
    CheckOverflow(Divide<T>(model, datatype, {least, 1}, {T{-1}, 1}));
  }
}

TEST_SUITE_BEGIN("arithmetic" * SkipWithoutOnnxRuntime());

TEST_CASE("a division without a result is the request's failure") {
  for (const char* operation : {"Div", "Mod"}) {
    CheckOperation<int32_t>(operation, OrtElementType::kInt32, NRD_TYPE_INT32);
    CheckOperation<int64_t>(operation, OrtElementType::kInt64, NRD_TYPE_INT64);
    CheckOperation<int8_t>(operation, OrtElementType::kInt8, NRD_TYPE_INT8);
    CheckOperation<int16_t>(operation, OrtElementType::kInt16, NRD_TYPE_INT16);
    CheckOperation<uint8_t>(operation, OrtElementType::kUint8, NRD_TYPE_UINT8);
    CheckOperation<uint16_t>(operation, OrtElementType::kUint16, NRD_TYPE_UINT16);
    CheckOperation<uint32_t>(operation, OrtElementType::kUint32, NRD_TYPE_UINT32);
    CheckOperation<uint64_t>(operation, OrtElementType::kUint64, NRD_TYPE_UINT64);
  }
}

// The library's threads share large tensors and fault on behalf of a request. If a thread's stack
// does not tell the request, all requests that run at that moment fail, which is seldom.
TEST_CASE("a fault on a thread of the library fails the request that it worked for") {
  constexpr size_t kSize = 1 << 20;
  constexpr int kLeastRuns = 20;
  TestRuntime runtime;
  const OnnxFile file(Binary("Div", OrtElementType::kInt64));
  const OnnxSettings settings = BinarySettings(file, NRD_TYPE_INT64);
  OnnxTestModel attacked(runtime, settings);
  OnnxTestModel beside(runtime, settings);
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> dividends(kSize, kLeast);
  const std::vector<int64_t> good(kSize, 4);
  std::atomic<bool> done{false};
  std::atomic<int> right{0};
  std::atomic<int> blamed{0};
  std::atomic<int> wrong{0};
  std::thread innocent([&] {
    std::vector<int64_t> output;
    while (!done) {
      const Status status = Divide<int64_t>(beside, NRD_TYPE_INT64, dividends, good, &output);
      const bool is_blamed = status.code() == NRD_INVALID_ARGUMENT;
      const bool is_right = status.ok() && output == std::vector<int64_t>(kSize, kLeast / 4);
      ++(is_right ? right : is_blamed ? blamed : wrong);
    }
  });
  for (size_t i = 0; i < 64 || right + blamed + wrong < kLeastRuns; ++i) {
    std::vector<int64_t> divisors = good;
    for (size_t j = i % 64; j < kSize; j += 1 << 12) {
      divisors[j] = -1;
    }
    CheckOverflow(Divide<int64_t>(attacked, NRD_TYPE_INT64, dividends, divisors));
  }
  done = true;
  innocent.join();
  CHECK(wrong == 0);
  CHECK(right > blamed);
}

TEST_CASE("with threads of its own a model fails alike") {
  TestRuntime runtime;
  const OnnxFile file(Binary("Div", OrtElementType::kInt64));
  OnnxSettings settings = BinarySettings(file, NRD_TYPE_INT64);
  settings.parameters = {
      {"execution_mode", "1"}, {"inter_op_thread_count", "2"}, {"intra_op_thread_count", "3"}};
  OnnxTestModel model(runtime, settings);
  constexpr size_t kSize = 1 << 18;
  const std::vector<int64_t> dividends(kSize, std::numeric_limits<int64_t>::min());
  for (size_t i = 0; i < 8; ++i) {
    std::vector<int64_t> divisors(kSize, 4);
    divisors[i * (kSize / 8)] = -1;
    CheckOverflow(Divide<int64_t>(model, NRD_TYPE_INT64, dividends, divisors));
  }
}

TEST_SUITE_END();

TEST_CASE("the tests in this file need ONNX Runtime" * SkipWithOnnxRuntime()) {
  SayWhatIsMissing();
}

}  // namespace
}  // namespace nereid::test
