// Tests of the onnxruntime backend over the C ABI, with the real library.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include "test/onnxruntime/onnx_fixture.h"

namespace nereid::test {
namespace {

OnnxSettings Simple() {
  return {
      .model_path = BundledModelPath("simple"),
      .max_batch_size = 8,
      .inputs = {{"INPUT0", NRD_TYPE_INT32, false, {16}}, {"INPUT1", NRD_TYPE_INT32, false, {16}}},
      .outputs = {{"OUTPUT0", NRD_TYPE_INT32, false, {16}},
                  {"OUTPUT1", NRD_TYPE_INT32, false, {16}}}};
}

OnnxSettings Digits() {
  return {.model_path = BundledModelPath("digits"),
          .max_batch_size = 64,
          .inputs = {{"image", NRD_TYPE_FP32, false, {8, 8}}},
          .outputs = {{"scores", NRD_TYPE_FP32, false, {10}}}};
}

OnnxSettings Identity(std::string_view datatype_name, int32_t datatype) {
  return {.model_path = TestModelPath("identity_" + std::string(datatype_name)),
          .max_batch_size = 8,
          .inputs = {{"INPUT0", datatype, false, {-1}}},
          .outputs = {{"OUTPUT0", datatype, false, {-1}}}};
}

OnnxSettings Repeat(int64_t output_dim) {
  return {.model_path = TestModelPath("repeat"),
          .max_batch_size = 8,
          .inputs = {{"INPUT0", NRD_TYPE_FP32, false, {1}}, {"INPUT1", NRD_TYPE_INT64, false, {1}}},
          .outputs = {{"OUTPUT0", NRD_TYPE_FP32, false, {output_dim}}}};
}

OnnxSettings Gather() {
  return {.model_path = TestModelPath("gather"),
          .max_batch_size = 8,
          .inputs = {{"INPUT0", NRD_TYPE_INT64, false, {1}}},
          .outputs = {{"OUTPUT0", NRD_TYPE_FP32, false, {1}}}};
}

std::vector<int32_t> Counting(int32_t first, size_t count, int32_t step = 1) {
  std::vector<int32_t> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = first + static_cast<int32_t>(i) * step;
  }
  return values;
}

struct Image {
  int label;
  std::vector<float> pixels;
};

std::vector<Image> HeldOutImages() {
  std::ifstream file(ExamplePath("data/digits.csv"));
  std::vector<Image> images;
  for (std::string line; std::getline(file, line);) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream numbers(line);
    Image image{};
    numbers >> image.label;
    for (float pixel = 0; numbers >> pixel;) {
      image.pixels.push_back(pixel);
    }
    REQUIRE(image.pixels.size() == 64);
    images.push_back(std::move(image));
  }
  return images;
}

int Best(const float* scores) {
  return static_cast<int>(std::max_element(scores, scores + 10) - scores);
}

}  // namespace

TEST_SUITE_BEGIN("onnxruntime" * SkipWithoutOnnxRuntime());

TEST_CASE("simple adds and subtracts, one row or many") {
  TestRuntime runtime;
  OnnxTestModel model(runtime, Simple());
  for (const int64_t rows : {1, 8, 3, 1}) {
    OnnxRequest request(model);
    const auto count = static_cast<size_t>(rows) * 16;
    const std::vector<int32_t> left = Counting(100, count);
    const std::vector<int32_t> right = Counting(-5, count, 3);
    request.SetInput(0, NRD_TYPE_INT32, {rows, 16}, left);
    request.SetInput(1, NRD_TYPE_INT32, {rows, 16}, right);
    const Status status = request.Run();
    REQUIRE_MESSAGE(status.ok(), status.message());
    CHECK(request.OutputShape(0) == std::vector<int64_t>{rows, 16});
    CHECK(request.Output<int32_t>(0) == Counting(95, count, 4));
    CHECK(request.Output<int32_t>(1) == Counting(105, count, -2));
  }
}

TEST_CASE("an output that nobody wants is not produced") {
  TestRuntime runtime;
  OnnxTestModel model(runtime, Simple());
  OnnxRequest request(model);
  request.SetInput(0, NRD_TYPE_INT32, {1, 16}, Counting(1, 16));
  request.SetInput(1, NRD_TYPE_INT32, {1, 16}, Counting(1, 16));
  request->outputs[1].flags |= NRD_TENSOR_SELECTED;
  const Status status = request.Run();
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(request.output(0).data == nullptr);
  CHECK(request.Output<int32_t>(1) == std::vector<int32_t>(16, 0));
}

TEST_CASE("simple_string reads and writes decimal strings") {
  TestRuntime runtime;
  OnnxSettings settings = Simple();
  settings.model_path = BundledModelPath("simple_string");
  for (TensorSpec* spec :
       {&settings.inputs[0], &settings.inputs[1], &settings.outputs[0], &settings.outputs[1]}) {
    spec->datatype = NRD_TYPE_BYTES;
  }
  OnnxTestModel model(runtime, settings);
  OnnxRequest request(model);
  std::vector<std::string> left(32, "40");
  left[31] = "-1000000";
  request.SetStrings(0, {2, 16}, left);
  request.SetStrings(1, {2, 16}, std::vector<std::string>(32, "2"));
  Status status = request.Run();
  REQUIRE_MESSAGE(status.ok(), status.message());
  std::vector<std::string> sums(32, "42");
  sums[31] = "-999998";
  CHECK(request.OutputStrings(0) == sums);
  CHECK(request.OutputStrings(1)[0] == "38");

  OnnxRequest wrong(model);
  wrong.SetStrings(0, {1, 16}, std::vector<std::string>(16, "forty"));
  wrong.SetStrings(1, {1, 16}, std::vector<std::string>(16, "2"));
  status = wrong.Run();
  CHECK_FALSE(status.ok());
  CHECK(status.message().find("ONNX Runtime") != std::string_view::npos);
}

TEST_CASE("every datatype passes through bit by bit") {
  struct Case {
    const char* name;
    int32_t datatype;
    size_t bytes;
  };
  const Case cases[] = {{"bool", NRD_TYPE_BOOL, 1},     {"uint8", NRD_TYPE_UINT8, 1},
                        {"uint16", NRD_TYPE_UINT16, 2}, {"uint32", NRD_TYPE_UINT32, 4},
                        {"uint64", NRD_TYPE_UINT64, 8}, {"int8", NRD_TYPE_INT8, 1},
                        {"int16", NRD_TYPE_INT16, 2},   {"int32", NRD_TYPE_INT32, 4},
                        {"int64", NRD_TYPE_INT64, 8},   {"fp16", NRD_TYPE_FP16, 2},
                        {"fp32", NRD_TYPE_FP32, 4},     {"fp64", NRD_TYPE_FP64, 8},
                        {"bf16", NRD_TYPE_BF16, 2}};
  TestRuntime runtime;
  for (const Case& one : cases) {
    CAPTURE(one.name);
    // The output's shape is known beforehand, or not: written in place, or copied.
    for (const int64_t dim : {5, -1}) {
      OnnxSettings settings = Identity(one.name, one.datatype);
      settings.inputs[0].dims = {dim};
      settings.outputs[0].dims = {dim};
      OnnxTestModel model(runtime, settings);
      std::vector<uint8_t> data(3 * 5 * one.bytes);
      for (size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<uint8_t>(one.datatype == NRD_TYPE_BOOL ? i % 2 : i * 37 + 11);
      }
      OnnxRequest request(model);
      request.SetInput(0, one.datatype, {3, 5}, data);
      const Status status = request.Run();
      REQUIRE_MESSAGE(status.ok(), status.message());
      CHECK(request.output(0).datatype == one.datatype);
      CHECK(request.OutputShape(0) == std::vector<int64_t>{3, 5});
      CHECK(request.Output<uint8_t>(0) == data);
    }
  }
}

TEST_CASE("strings keep every byte: empty ones, zeros, no UTF-8") {
  TestRuntime runtime;
  OnnxTestModel model(runtime, Identity("bytes", NRD_TYPE_BYTES));
  const std::vector<std::string> values = {"", std::string("a\0b", 3),   "\xff\xfe", "grün",
                                           "", std::string(100'000, 'x')};
  OnnxRequest request(model);
  request.SetStrings(0, {2, 3}, values);
  Status status = request.Run();
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(request.OutputShape(0) == std::vector<int64_t>{2, 3});
  CHECK(request.OutputStrings(0) == values);

  OnnxRequest blank(model);
  blank.SetStrings(0, {1, 2}, {"", ""});
  status = blank.Run();
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(blank.OutputStrings(0) == std::vector<std::string>{"", ""});

  OnnxRequest empty(model);
  empty.SetStrings(0, {2, 0}, {});
  status = empty.Run();
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(empty.OutputShape(0) == std::vector<int64_t>{2, 0});
  CHECK(empty.output(0).byte_size == 0);
}

TEST_CASE("tensors without elements") {
  TestRuntime runtime;
  OnnxTestModel model(runtime, Identity("fp32", NRD_TYPE_FP32));
  OnnxRequest request(model);
  request.SetInput(0, NRD_TYPE_FP32, {3, 0}, std::vector<float>{});
  const Status status = request.Run();
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(request.OutputShape(0) == std::vector<int64_t>{3, 0});
}

TEST_CASE("digits recognizes the images that it was not trained on") {
  TestRuntime runtime;
  OnnxTestModel model(runtime, Digits());
  const std::vector<Image> images = HeldOutImages();
  REQUIRE(images.size() == 359);
  size_t right = 0;
  for (size_t first = 0; first < images.size(); first += 50) {
    const size_t count = std::min<size_t>(50, images.size() - first);
    std::vector<float> pixels;
    for (size_t i = first; i < first + count; ++i) {
      pixels.insert(pixels.end(), images[i].pixels.begin(), images[i].pixels.end());
    }
    OnnxRequest request(model);
    request.SetInput(0, NRD_TYPE_FP32, {static_cast<int64_t>(count), 8, 8}, pixels);
    const Status status = request.Run();
    REQUIRE_MESSAGE(status.ok(), status.message());
    const std::vector<float> scores = request.Output<float>(0);
    REQUIRE(scores.size() == count * 10);
    for (size_t i = 0; i < count; ++i) {
      right += Best(&scores[i * 10]) == images[first + i].label ? 1U : 0U;
    }
  }
  CHECK(right == 356);
}

TEST_CASE("an output whose shape only a run tells") {
  TestRuntime runtime;
  OnnxTestModel repeat(runtime, Repeat(-1));
  for (const int64_t times : {3, 1, 7, 0}) {
    OnnxRequest request(repeat);
    request.SetInput(0, NRD_TYPE_FP32, {2, 1}, std::vector<float>{1.5F, -2});
    request.SetInput(1, NRD_TYPE_INT64, {2, 1}, std::vector<int64_t>{0, times});
    const Status status = request.Run();
    REQUIRE_MESSAGE(status.ok(), status.message());
    CHECK(request.OutputShape(0) == std::vector<int64_t>{2, times});
    std::vector<float> expected(static_cast<size_t>(times), 1.5F);
    expected.insert(expected.end(), static_cast<size_t>(times), -2.0F);
    CHECK(request.Output<float>(0) == expected);
  }

  OnnxTestModel nonzero(runtime, {.model_path = TestModelPath("nonzero"),
                                  .inputs = {{"INPUT0", NRD_TYPE_FP32, false, {-1}}},
                                  .outputs = {{"OUTPUT0", NRD_TYPE_INT64, false, {1, -1}}}});
  OnnxRequest some(nonzero);
  some.SetInput(0, NRD_TYPE_FP32, {4}, std::vector<float>{0, 2, 0, 3});
  REQUIRE(some.Run().ok());
  CHECK(some.Output<int64_t>(0) == std::vector<int64_t>{1, 3});
  OnnxRequest none(nonzero);
  none.SetInput(0, NRD_TYPE_FP32, {2}, std::vector<float>{0, 0});
  REQUIRE(none.Run().ok());
  CHECK(none.OutputShape(0) == std::vector<int64_t>{1, 0});
}

TEST_CASE("a scalar output") {
  TestRuntime runtime;
  OnnxTestModel dot(runtime, {.model_path = TestModelPath("dot"),
                              .inputs = {{"INPUT0", NRD_TYPE_FP32, false, {-1}},
                                         {"INPUT1", NRD_TYPE_FP32, false, {-1}}},
                              .outputs = {{"OUTPUT0", NRD_TYPE_FP32, false, {}}}});
  OnnxRequest request(dot);
  request.SetInput(0, NRD_TYPE_FP32, {3}, std::vector<float>{1, 2, 3});
  request.SetInput(1, NRD_TYPE_FP32, {3}, std::vector<float>{4, 5, 6});
  const Status status = request.Run();
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(request.OutputShape(0).empty());
  CHECK(request.Output<float>(0) == std::vector<float>{32});
}

TEST_CASE("a run that fails, fails its request and nothing else") {
  TestRuntime runtime;
  OnnxTestModel model(runtime, Gather());
  for (int round = 0; round < 3; ++round) {
    OnnxRequest bad(model);
    bad.SetInput(0, NRD_TYPE_INT64, {1, 1}, std::vector<int64_t>{17});
    const Status status = bad.Run();
    CHECK(status.code() == NRD_INVALID_ARGUMENT);
    CHECK(status.message().find("Gather") != std::string_view::npos);
    CHECK(bad.output(0).data == nullptr);
    OnnxRequest good(model);
    good.SetInput(0, NRD_TYPE_INT64, {2, 1}, std::vector<int64_t>{3, 0});
    REQUIRE(good.Run().ok());
    CHECK(good.Output<float>(0) == std::vector<float>{40, 10});
  }
}

TEST_CASE("a configured output shape that the model does not keep is an error") {
  TestRuntime runtime;
  OnnxTestModel model(runtime, Repeat(3));
  for (const int64_t times : {3, 2, 4, 3}) {
    OnnxRequest request(model);
    request.SetInput(0, NRD_TYPE_FP32, {1, 1}, std::vector<float>{5});
    request.SetInput(1, NRD_TYPE_INT64, {1, 1}, std::vector<int64_t>{times});
    CHECK(request.Run().ok() == (times == 3));
    if (times == 3) {
      CHECK(request.Output<float>(0) == std::vector<float>{5, 5, 5});
    }
  }
}

TEST_CASE("an input with a default value may be optional") {
  TestRuntime runtime;
  OnnxTestModel model(runtime, {.model_path = TestModelPath("scale"),
                                .inputs = {{"INPUT0", NRD_TYPE_FP32, false, {-1, 2}},
                                           {"SCALE", NRD_TYPE_FP32, true, {1}}},
                                .outputs = {{"OUTPUT0", NRD_TYPE_FP32, false, {-1, 2}}}});
  OnnxRequest without(model);
  without.SetInput(0, NRD_TYPE_FP32, {1, 2}, std::vector<float>{1, 2});
  REQUIRE(without.Run().ok());
  CHECK(without.Output<float>(0) == std::vector<float>{2, 4});
  OnnxRequest with(model);
  with.SetInput(0, NRD_TYPE_FP32, {1, 2}, std::vector<float>{1, 2});
  with.SetInput(1, NRD_TYPE_FP32, {1}, std::vector<float>{10});
  REQUIRE(with.Run().ok());
  CHECK(with.Output<float>(0) == std::vector<float>{10, 20});
}

TEST_CASE("requests with strings share a batch") {
  TestRuntime runtime;
  OnnxSettings settings = Identity("bytes", NRD_TYPE_BYTES);
  settings.max_batch_size = 2;
  settings.flags = NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_NO_INLINE;
  settings.max_queue_delay_ns = kUntilFullNs;
  OnnxTestModel model(runtime, settings);
  OnnxRequest first(model);
  OnnxRequest second(model);
  first.SetStrings(0, {1, 2}, {"one", ""});
  second.SetStrings(0, {1, 2}, {"three", "four"});
  CHECK(first.Submit() == NRD_PENDING);
  CHECK(second.Submit() == NRD_PENDING);
  REQUIRE(first.Wait().ok());
  REQUIRE(second.Wait().ok());
  CHECK(first->executed_batch_size == 2);
  CHECK(first.OutputStrings(0) == std::vector<std::string>{"one", ""});
  CHECK(second.OutputStrings(0) == std::vector<std::string>{"three", "four"});
}

TEST_CASE("instances run one session side by side") {
  TestRuntime runtime;
  OnnxSettings settings = Digits();
  settings.instance_count = 4;
  settings.flags = NRD_MODEL_DYNAMIC_BATCHING;
  OnnxTestModel model(runtime, settings);
  const std::vector<Image> images = HeldOutImages();
  std::vector<size_t> right(4, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      for (const Image& image : images) {
        OnnxRequest request(model);
        request.SetInput(0, NRD_TYPE_FP32, {1, 8, 8}, image.pixels);
        if (request.Run().ok() && Best(request.Output<float>(0).data()) == image.label) {
          ++right[t];
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(right == std::vector<size_t>(4, 356));
}

TEST_SUITE_END();

TEST_CASE("the tests in this file need ONNX Runtime" * SkipWithOnnxRuntime()) {
  SayWhatIsMissing();
}

TEST_CASE("a reshape stands between what clients send and what the file has" *
          SkipWithoutOnnxRuntime()) {
  TestRuntime runtime;
  OnnxSettings flat = Digits();
  flat.inputs[0].dims = {64};
  flat.inputs[0].reshape = {8, 8};
  flat.outputs[0].dims = {2, 5};
  flat.outputs[0].reshape = {10};
  OnnxTestModel plain(runtime, Digits());
  OnnxTestModel reshaped(runtime, flat);
  const Image image = HeldOutImages().front();
  OnnxRequest expected(plain);
  expected.SetInput(0, NRD_TYPE_FP32, {1, 8, 8}, image.pixels);
  CHECK(expected.Run().ok());
  OnnxRequest request(reshaped);
  request.SetInput(0, NRD_TYPE_FP32, {1, 64}, image.pixels);
  const Status status = request.Run();
  CHECK_MESSAGE(status.ok(), status.message());
  CHECK(request.OutputShape(0) == std::vector<int64_t>{1, 2, 5});
  CHECK(request.Output<float>(0) == expected.Output<float>(0));

  flat.inputs[0].reshape = {4, 16};
  CHECK(OnnxTestModel::TryLoad(runtime, flat).code() == NRD_INVALID_ARGUMENT);
}

TEST_CASE("an output of free size gets the clients' shape back" * SkipWithoutOnnxRuntime()) {
  TestRuntime runtime;
  OnnxSettings settings = Identity("bytes", NRD_TYPE_BYTES);
  settings.inputs[0] = {"INPUT0", NRD_TYPE_BYTES, false, {1, -1, 1}, std::vector<int64_t>{-1}};
  settings.outputs[0] = {"OUTPUT0", NRD_TYPE_BYTES, false, {-1, 1}, std::vector<int64_t>{-1}};
  OnnxTestModel model(runtime, settings);
  OnnxRequest request(model);
  request.SetStrings(0, {2, 1, 2, 1}, {"a", "", "ccc", "dd"});
  const Status status = request.Run();
  CHECK_MESSAGE(status.ok(), status.message());
  CHECK(request.OutputShape(0) == std::vector<int64_t>{2, 2, 1});
  CHECK(request.OutputStrings(0) == std::vector<std::string>{"a", "", "ccc", "dd"});
}

}  // namespace nereid::test
