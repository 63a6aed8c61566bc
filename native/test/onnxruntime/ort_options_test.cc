#include "onnxruntime/ort_options.h"

#include "doctest/doctest.h"

namespace nereid::test {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

Status Read(Parameters parameters, OrtOptions* options) {
  parameters.emplace_back("model_path", "m.onnx");
  parameters.emplace_back("onnxruntime_path", "libonnxruntime.so");
  std::vector<nrd_parameter> views;
  for (const auto& [key, value] : parameters) {
    views.push_back({AsNrdString(key), AsNrdString(value)});
  }
  return ReadOrtOptions(views.data(), views.size(), options);
}

}  // namespace

TEST_CASE("a model without parameters shares threads and gets all optimizations") {
  OrtOptions options;
  REQUIRE(Read({}, &options).ok());
  CHECK(options.model_path == "m.onnx");
  CHECK(options.library_path == "libonnxruntime.so");
  CHECK_FALSE(options.own_threads());
  CHECK(options.graph_optimization == OrtGraphOptimization::kAll);
  CHECK(options.use_memory_arena);
  CHECK(options.use_memory_pattern);
}

TEST_CASE("parameters by Triton's names") {
  OrtOptions options;
  REQUIRE(Read({{"intra_op_thread_count", "4"},
                {"inter_op_thread_count", "2"},
                {"execution_mode", "1"},
                {"enable_mem_arena", "0"},
                {"enable_mem_pattern", "false"},
                {"session.use_device_allocator_for_initializers", "1"},
                {"memory.enable_memory_arena_shrinkage", "cpu:0"},
                {"dimension.batch", "8"},
                {"unknown", "anything"}},
               &options)
              .ok());
  CHECK(options.intra_op_thread_count == 4);
  CHECK(options.inter_op_thread_count == 2);
  CHECK(options.execution_mode == OrtExecutionMode::kParallel);
  CHECK(options.own_threads());
  CHECK_FALSE(options.use_memory_arena);
  CHECK_FALSE(options.use_memory_pattern);
  CHECK(options.session_entries ==
        Parameters{{"session.use_device_allocator_for_initializers", "1"}});
  CHECK(options.run_entries == Parameters{{"memory.enable_memory_arena_shrinkage", "cpu:0"}});
  REQUIRE(options.dimension_sizes.size() == 1);
  CHECK(options.dimension_sizes[0] == std::pair<std::string, int64_t>("batch", 8));
}

TEST_CASE("graph levels as Triton counts them") {
  const std::pair<const char*, OrtGraphOptimization> levels[] = {
      {"0", OrtGraphOptimization::kAll},
      {"-1", OrtGraphOptimization::kBasic},
      {"1", OrtGraphOptimization::kExtended},
      {"2", OrtGraphOptimization::kNone}};
  for (const auto& [text, level] : levels) {
    OrtOptions options;
    REQUIRE(Read({{"optimization.graph.level", text}}, &options).ok());
    CHECK(options.graph_optimization == level);
  }
}

TEST_CASE("values that cannot be read are refused by name") {
  const std::pair<const char*, const char*> wrong[] = {
      {"intra_op_thread_count", "-1"},   {"intra_op_thread_count", ""},
      {"intra_op_thread_count", "4x"},   {"intra_op_thread_count", "99999999999999999999"},
      {"inter_op_thread_count", "1.5"},  {"execution_mode", "2"},
      {"optimization.graph.level", "3"}, {"enable_mem_arena", "yes"},
      {"shared_thread_count", "5000"},   {"log_severity_level", "5"},
      {"dimension.batch", "0"}};
  for (const auto& [key, value] : wrong) {
    OrtOptions options;
    const Status status = Read({{key, value}}, &options);
    CHECK(status.code() == NRD_INVALID_ARGUMENT);
    CHECK(status.message().find("'" + std::string(key) + "' is '" + value + "', expected") !=
          std::string_view::npos);
  }
}

TEST_CASE("both paths are needed") {
  OrtOptions options;
  CHECK(ReadOrtOptions(nullptr, 0, &options).message().find("'model_path' is missing") !=
        std::string_view::npos);
  const nrd_parameter model{AsNrdString("model_path"), AsNrdString("m.onnx")};
  const Status status = ReadOrtOptions(&model, 1, &options);
  CHECK(status.code() == NRD_FAILED_PRECONDITION);
  CHECK(status.message().find("'onnxruntime_path' is missing") != std::string_view::npos);
}

}  // namespace nereid::test
