// Tests of the onnxruntime backend's description of a file before it is configured.
#include "test/onnxruntime/onnx_fixture.h"
#include "test/onnxruntime/onnx_writer.h"

namespace nereid::test {
namespace {

// "INPUT0 FP32 [-1,3]", with "?" in front of an input that may be left out.
std::string Describe(nrd_source* source, int32_t kind, uint32_t index) {
  nrd_tensor_spec spec{};
  if (const int32_t code = nrd_source_tensor(source, kind, index, &spec); code != NRD_OK) {
    return "status " + std::to_string(code);
  }
  std::string text = (spec.flags & NRD_SPEC_OPTIONAL) != 0 ? "?" : "";
  text += std::string(View(spec.name)) + " " + std::to_string(spec.datatype) + " [";
  for (uint32_t i = 0; i < std::min<uint32_t>(spec.rank, NRD_MAX_RANK); ++i) {
    text += (i > 0 ? "," : "") + std::to_string(spec.dims[i]);
  }
  return text + "]" + (spec.rank > NRD_MAX_RANK ? " of rank " + std::to_string(spec.rank) : "");
}

}  // namespace

TEST_SUITE_BEGIN("onnxruntime" * SkipWithoutOnnxRuntime());

TEST_CASE("a source tells the tensors of the file, and a model is loaded from it") {
  TestRuntime runtime;
  OnnxSettings settings{.model_path = TestModelPath("scale")};
  Status status = OpenSource(runtime, settings, &settings.source);
  REQUIRE_MESSAGE(status.ok(), status.message());
  const auto describe = [&](int32_t kind, uint32_t index) {
    return Describe(settings.source, kind, index);
  };
  const std::string fp32 = std::to_string(NRD_TYPE_FP32);
  CHECK(describe(NRD_TENSOR_INPUT, 0) == "INPUT0 " + fp32 + " [-1,2]");
  CHECK(describe(NRD_TENSOR_INPUT, 1) == "?SCALE " + fp32 + " [1]");
  CHECK(describe(NRD_TENSOR_INPUT, 2) == "status " + std::to_string(NRD_NOT_FOUND));
  CHECK(describe(NRD_TENSOR_OUTPUT, 0) == "OUTPUT0 " + fp32 + " [-1,2]");
  CHECK(describe(NRD_TENSOR_OUTPUT, 1) == "status " + std::to_string(NRD_NOT_FOUND));

  settings.max_batch_size = 4;
  settings.inputs = {{"INPUT0", NRD_TYPE_FP32, false, {2}}};
  settings.outputs = {{"OUTPUT0", NRD_TYPE_FP32, false, {2}}};
  OnnxTestModel model(runtime, settings);
  OnnxRequest request(model);
  request.SetInput(0, NRD_TYPE_FP32, {1, 2}, std::vector<float>{3, 4});
  status = request.Run();
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(request.OutputShape(0) == std::vector<int64_t>{1, 2});
}

TEST_CASE("what is no tensor has no datatype, and sizes fixed at load are told") {
  TestRuntime runtime;
  nrd_source* source = nullptr;
  Status status = OpenSource(runtime, {.model_path = TestModelPath("sequence")}, &source);
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(Describe(source, NRD_TENSOR_OUTPUT, 0) == "OUTPUT0 0 []");
  nrd_source_release(source);

  status = OpenSource(
      runtime,
      {.model_path = TestModelPath("identity_fp32"), .parameters = {{"dimension.length", "5"}}},
      &source);
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(Describe(source, NRD_TENSOR_INPUT, 0) ==
        "INPUT0 " + std::to_string(NRD_TYPE_FP32) + " [-1,5]");
  nrd_source_release(source);
}

TEST_CASE("of more dimensions than are supported the first are told, and how many there are") {
  const std::vector<int64_t> dims{-1, 2, 3, 4, 5, 6, 7, 8, 9};
  const OnnxFile file({.inputs = {{"INPUT0", dims}},
                       .outputs = {{"OUTPUT0", dims}},
                       .nodes = {{"Identity", {"INPUT0"}, {"OUTPUT0"}}}});
  TestRuntime runtime;
  nrd_source* source = nullptr;
  const Status status = OpenSource(runtime, {.model_path = file.path()}, &source);
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(Describe(source, NRD_TENSOR_INPUT, 0) ==
        "INPUT0 " + std::to_string(NRD_TYPE_FP32) + " [-1,2,3,4,5,6,7,8] of rank 9");
  nrd_source_release(source);
}

TEST_CASE("a file that does not open is no source") {
  TestRuntime runtime;
  nrd_source* source = nullptr;
  CHECK(OpenSource(runtime, {.model_path = TestModelPath("no_such_model")}, &source).code() ==
        NRD_NOT_FOUND);
  CHECK(source == nullptr);
}

TEST_CASE("a source is given back when the configuration does not fit it") {
  TestRuntime runtime;
  OnnxSettings settings{.model_path = TestModelPath("identity_fp32"),
                        .max_batch_size = 8,
                        .inputs = {{"INPUT0", NRD_TYPE_FP32, false, {-1, 3}}},
                        .outputs = {{"OUTPUT0", NRD_TYPE_FP32, false, {-1}}}};
  Status status = OpenSource(runtime, settings, &settings.source);
  REQUIRE_MESSAGE(status.ok(), status.message());
  status = OnnxTestModel::TryLoad(runtime, settings);
  CHECK(status.code() == NRD_INVALID_ARGUMENT);
  CHECK(status.message().find("set dims: [ -1 ]") != std::string_view::npos);
}

TEST_SUITE_END();

TEST_CASE("the tests in this file need ONNX Runtime" * SkipWithOnnxRuntime()) {
  SayWhatIsMissing();
}

}  // namespace nereid::test
