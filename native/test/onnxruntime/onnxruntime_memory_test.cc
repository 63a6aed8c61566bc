// Tests of the memory of ONNX models: it is reported, and it is freed.
#include <unistd.h>

#include <fstream>

#include "onnxruntime/ort_memory.h"
#include "test/onnxruntime/onnx_fixture.h"
#include "test/onnxruntime/onnx_writer.h"

namespace nereid::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;  // sanitizers' allocators keep freed memory, to find its users
#else
constexpr bool kIsSanitized = false;
#endif

constexpr int64_t kMiB = 1 << 20;

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  file >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// `layers` square matrices of `side`, each behind the one before.
OnnxGraph Layers(int layers, int64_t side) {
  OnnxGraph graph{.inputs = {{"INPUT0", {-1, side}}}, .outputs = {{"OUTPUT0", {-1, side}}}};
  std::string from = "INPUT0";
  for (int i = 0; i < layers; ++i) {
    const std::string number = std::to_string(i);
    const std::string to = i + 1 == layers ? "OUTPUT0" : "LAYER" + number;
    graph.weights.push_back({"WEIGHT" + number, {side, side}});
    graph.nodes.push_back({"MatMul", {from, "WEIGHT" + number}, {"PRODUCT" + number}});
    graph.nodes.push_back({"Relu", {"PRODUCT" + number}, {to}});
    from = to;
  }
  return graph;
}

OnnxSettings Settings(const OnnxFile& file, int64_t side) {
  return {.model_path = file.path(),
          .max_batch_size = 64,
          .inputs = {{"INPUT0", NRD_TYPE_FP32, false, {side}}},
          .outputs = {{"OUTPUT0", NRD_TYPE_FP32, false, {side}}}};
}

void RunRows(OnnxTestModel& model, int64_t rows, int64_t side) {
  OnnxRequest request(model);
  request.SetInput(0, NRD_TYPE_FP32, {rows, side},
                   std::vector<float>(static_cast<size_t>(rows * side), 1.0F));
  const Status status = request.Run();
  REQUIRE_MESSAGE(status.ok(), status.message());
}

nrd_memory_stats MemoryOf(OnnxTestModel& model) {
  nrd_memory_stats stats{};
  nrd_model_memory_read(model.get(), &stats);
  CHECK(stats.struct_size == sizeof(stats));
  return stats;
}

void LoadRunAndUnload(TestRuntime& runtime, const OnnxFile& file, int64_t side) {
  OnnxSettings settings = Settings(file, side);
  settings.parameters = {{"session.disable_prepacking", "1"}};  // saves a third of the time
  OnnxTestModel model(runtime, settings);
  RunRows(model, 1, side);
}

}  // namespace

TEST_SUITE_BEGIN("onnxruntime" * SkipWithoutOnnxRuntime());

TEST_CASE("weights are told within a tenth, however they are kept") {
  constexpr int64_t kSide = 512;
  constexpr int64_t kWeightBytes = 8 * kSide * kSide * 4;
  const OnnxFile file(Layers(8, kSide));
  TestRuntime runtime;
  for (const char* disable_prepacking : {"0", "1"}) {
    OnnxSettings settings = Settings(file, kSide);
    settings.parameters = {{"session.disable_prepacking", disable_prepacking}};
    OnnxTestModel model(runtime, settings);
    const auto weight_bytes = static_cast<int64_t>(MemoryOf(model).weight_bytes);
    CHECK(weight_bytes >= kWeightBytes);
    CHECK(weight_bytes < kWeightBytes + kWeightBytes / 10);
  }
}

TEST_CASE("working memory grows with what runs need, where the library tells") {
  constexpr int64_t kSide = 512;
  const OnnxFile file(Layers(2, kSide));
  TestRuntime runtime;
  OnnxSettings settings = Settings(file, kSide);
  settings.max_batch_size = 4096;
  OnnxTestModel model(runtime, settings);
  const nrd_memory_stats loaded = MemoryOf(model);
  RunRows(model, 4096, kSide);
  const nrd_memory_stats used = MemoryOf(model);
  CHECK(used.weight_bytes == loaded.weight_bytes);
  if (SharedOnnxRuntime().api().AllocatorGetStats != nullptr) {
    // One intermediate tensor of 8 MiB at least.
    CHECK(used.working_bytes >= loaded.working_bytes + 4096 * kSide * 4);
  } else {
    CHECK(used.working_bytes == 0);
  }

  settings.parameters = {{"enable_mem_arena", "0"}};
  OnnxTestModel without_arena(runtime, settings);
  RunRows(without_arena, 4096, kSide);
  CHECK(MemoryOf(without_arena).weight_bytes >= file.byte_size());
  CHECK(MemoryOf(without_arena).working_bytes == 0);
}

// Matrices of 1 MiB, since malloc keeps such pieces: see GiveBackFreedMemory.
TEST_CASE("50 MiB of weights, loaded and unloaded 50 times, are given back") {
  constexpr int64_t kSide = 512;
  const OnnxFile large(Layers(50, kSide));
  const OnnxFile small(Layers(1, kSide));
  TestRuntime runtime;
  LoadRunAndUnload(runtime, small, kSide);  // costs that only the first model has
  GiveBackFreedMemory();                    // memory left from writing the files
  const int64_t before = ResidentBytes();
  int64_t loaded = 0;
  for (int i = 0; i < 3; ++i) {
    OnnxTestModel model(runtime, Settings(large, kSide));
    RunRows(model, 1, kSide);
    loaded = ResidentBytes();
  }
  const int64_t warm = ResidentBytes();
  for (int i = 0; i < (kIsSanitized ? 2 : 50); ++i) {
    LoadRunAndUnload(runtime, large, kSide);
  }
  const int64_t after = ResidentBytes();
  MESSAGE("resident MiB: before ", before / kMiB, ", loaded ", loaded / kMiB, ", warm ",
          warm / kMiB, ", after ", after / kMiB);
  if (!kIsSanitized) {
    CHECK(loaded > before + 45 * kMiB);
    CHECK(loaded < before + 65 * kMiB);
    CHECK(after < warm + kMiB);
    CHECK(after < before + 8 * kMiB);
  }
}

TEST_SUITE_END();

TEST_CASE("the tests in this file need ONNX Runtime" * SkipWithOnnxRuntime()) {
  SayWhatIsMissing();
}

}  // namespace nereid::test
