// Tests of ONNX files, configurations and parameters: which load, and the messages for those that
// do not.
#include <filesystem>

#include "test/onnxruntime/onnx_fixture.h"

namespace nereid::test {
namespace {

OnnxSettings Identity() {
  return {.model_path = TestModelPath("identity_fp32"),
          .max_batch_size = 8,
          .inputs = {{"INPUT0", NRD_TYPE_FP32, false, {-1}}},
          .outputs = {{"OUTPUT0", NRD_TYPE_FP32, false, {-1}}}};
}

void CheckRuns(TestRuntime& runtime, const OnnxSettings& settings) {
  OnnxTestModel model(runtime, settings);
  OnnxRequest request(model);
  request.SetInput(0, NRD_TYPE_FP32, {2, 2}, std::vector<float>{1, 2, 3, 4});
  const Status status = request.Run();
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(request.Output<float>(0) == std::vector<float>{1, 2, 3, 4});
}

bool Contains(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string_view::npos;
}

}  // namespace

TEST_SUITE_BEGIN("onnxruntime" * SkipWithoutOnnxRuntime());

TEST_CASE("a file that is missing or no model") {
  TestRuntime runtime;
  OnnxSettings settings = Identity();
  settings.model_path = TestModelPath("no_such_model");
  Status status = OnnxTestModel::TryLoad(runtime, settings);
  CHECK(status.code() == NRD_NOT_FOUND);
  CHECK(Contains(status, "no_such_model.onnx"));

  settings.model_path = ExamplePath("data/digits.csv");
  status = OnnxTestModel::TryLoad(runtime, settings);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(Contains(status, "digits.csv"));
}

TEST_CASE("a configuration that does not fit the file says what to change") {
  TestRuntime runtime;
  OnnxSettings settings = Identity();
  settings.inputs[0].dims = {-1, 3};
  Status status = OnnxTestModel::TryLoad(runtime, settings);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(Contains(status, "[ batch, length ]"));
  CHECK(Contains(status, "set dims: [ -1 ]"));

  settings = Identity();
  settings.outputs[0].datatype = NRD_TYPE_INT64;
  status = OnnxTestModel::TryLoad(runtime, settings);
  CHECK(Contains(status, "set data_type: TYPE_FP32"));

  settings.model_path = TestModelPath("sequence");
  settings.inputs[0].dims = {2};
  status = OnnxTestModel::TryLoad(runtime, settings);
  CHECK(status.code() == NRD_UNIMPLEMENTED);
  CHECK(Contains(status, "output 'OUTPUT0'"));
}

TEST_CASE("a file with a fixed first dimension has no batch dimension") {
  TestRuntime runtime;
  OnnxSettings settings = Identity();
  settings.model_path = TestModelPath("fixed_batch");
  settings.inputs[0].dims = {3};
  settings.outputs[0].dims = {3};
  const Status status = OnnxTestModel::TryLoad(runtime, settings);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(Contains(status, "set max_batch_size: 0 and dims: [ 4, 3 ]"));

  settings.max_batch_size = 0;
  settings.inputs[0].dims = {4, 3};
  settings.outputs[0].dims = {4, 3};
  CHECK(OnnxTestModel::TryLoad(runtime, settings).ok());
}

TEST_CASE("parameters that change how a model runs, not what it answers") {
  TestRuntime runtime;
  const std::vector<std::vector<std::pair<std::string, std::string>>> sets = {
      {{"enable_mem_arena", "0"}, {"enable_mem_pattern", "false"}},
      {{"execution_mode", "1"}, {"inter_op_thread_count", "2"}},
      {{"optimization.graph.level", "-1"}},
      {{"optimization.graph.level", "2"}, {"log_severity_level", "4"}},
      {{"session.set_denormal_as_zero", "1"}},
      {{"memory.enable_memory_arena_shrinkage", "cpu:0"}},
      {{"dimension.length", "2"}},
      {{"somebody.elses", "parameter"}}};
  for (const auto& parameters : sets) {
    CAPTURE(parameters.front().first);
    OnnxSettings settings = Identity();
    settings.parameters = parameters;
    if (parameters.front().first == "dimension.length") {
      settings.inputs[0].dims = {2};
      settings.outputs[0].dims = {2};
    }
    CheckRuns(runtime, settings);
  }
}

TEST_CASE("a model gets threads of its own only when it asks for them") {
  TestRuntime runtime;
  SharedOnnxRuntime();
  constexpr size_t kShared = kSharedThreadCount - 1;  // the caller is one of them
  CHECK(HasOrtThreads(kShared));
  OnnxSettings settings = Identity();
  {
    OnnxTestModel model(runtime, settings);
    CHECK(HasOrtThreads(kShared));
  }
  settings.parameters = {{"intra_op_thread_count", "5"}};
  {
    OnnxTestModel model(runtime, settings);
    CHECK(HasOrtThreads(kShared + 4));
  }
  CHECK(HasOrtThreads(kShared));
}

TEST_CASE("nothing is collected for anybody") {
  TestRuntime runtime;
  CheckRuns(runtime, Identity());
  // ONNX Runtime's telemetry keeps unsent data in a database in the user's cache.
  for (const auto& open_file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string path = std::filesystem::read_symlink(open_file.path(), gone);
    CHECK_MESSAGE(path.find("onnxruntime.db") == std::string::npos, path);
  }
}

TEST_CASE("a parameter that cannot be read names itself") {
  TestRuntime runtime;
  OnnxSettings settings = Identity();
  settings.parameters = {{"intra_op_thread_count", "many"}};
  const Status status = OnnxTestModel::TryLoad(runtime, settings);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(Contains(status, "'intra_op_thread_count' is 'many'"));
}

TEST_SUITE_END();

TEST_CASE("the tests in this file need ONNX Runtime" * SkipWithOnnxRuntime()) {
  SayWhatIsMissing();
}

}  // namespace nereid::test
