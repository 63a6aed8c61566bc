#include "test/onnxruntime/onnx_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#if defined(__SANITIZE_THREAD__)
// ONNX Runtime is not compiled for ThreadSanitizer, which therefore sees its copies and frees of
// memory, but not the atomics that order them between its threads.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:libonnxruntime.so\n"; }
#endif

namespace nereid::test {
namespace {

std::filesystem::path TestFolder() { return NEREID_TEST_FOLDER; }

std::vector<nrd_tensor_spec> Specs(const std::vector<TensorSpec>& specs) {
  std::vector<nrd_tensor_spec> converted(specs.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    converted[i].name = AsNrdString(specs[i].name);
    converted[i].datatype = specs[i].datatype;
    converted[i].flags = specs[i].optional ? NRD_SPEC_OPTIONAL : 0;
    converted[i].rank = static_cast<uint32_t>(specs[i].dims.size());
    std::copy(specs[i].dims.begin(), specs[i].dims.end(), converted[i].dims);
    if (specs[i].reshape) {
      converted[i].flags |= NRD_SPEC_RESHAPE;
      converted[i].reshape_rank = static_cast<uint32_t>(specs[i].reshape->size());
      std::copy(specs[i].reshape->begin(), specs[i].reshape->end(), converted[i].reshape);
    }
  }
  return converted;
}

// Calls `use` with the options that the settings say.
template <typename Use>
Status WithOptions(const OnnxSettings& settings, Use use) {
  nrd_error error{};
  nrd_backend backend{};
  REQUIRE(nrd_backend_find("onnxruntime", 11, &backend, &error) == NRD_OK);
  auto parameters = settings.parameters;
  parameters.emplace_back("model_path", settings.model_path);
  parameters.emplace_back("onnxruntime_path", OnnxRuntimePath());
  parameters.emplace_back("shared_thread_count", std::to_string(kSharedThreadCount));
  std::vector<nrd_parameter> views;
  for (const auto& [key, value] : parameters) {
    views.push_back({AsNrdString(key), AsNrdString(value)});
  }
  const std::vector<nrd_tensor_spec> inputs = Specs(settings.inputs);
  const std::vector<nrd_tensor_spec> outputs = Specs(settings.outputs);
  nrd_model_options options{};
  options.struct_size = sizeof(options);
  options.flags = settings.flags;
  options.name = AsNrdString("m");
  options.version = AsNrdString("1");
  options.backend = &backend;
  options.inputs = inputs.data();
  options.outputs = outputs.data();
  options.input_count = static_cast<uint32_t>(inputs.size());
  options.output_count = static_cast<uint32_t>(outputs.size());
  options.max_batch_size = settings.max_batch_size;
  options.instance_count = settings.instance_count;
  options.max_queue_delay_ns = settings.max_queue_delay_ns;
  options.parameters = views.data();
  options.parameter_count = views.size();
  return StatusFromCallback(use(options, &error), error, "load");
}

Status Load(TestRuntime& runtime, const OnnxSettings& settings, nrd_model** model_out) {
  return WithOptions(settings, [&](const nrd_model_options& options, nrd_error* error) {
    return nrd_model_load(runtime.get(), &options, settings.source, model_out, error);
  });
}

}  // namespace

std::string OnnxRuntimePath() {
  const char* path = std::getenv("NEREID_ONNXRUNTIME_PATH");
  return path == nullptr ? "" : path;
}

void SayWhatIsMissing() {
  MESSAGE("skipped: NEREID_ONNXRUNTIME_PATH does not name ONNX Runtime's library");
}

const OrtLibrary& SharedOnnxRuntime() {
  const OrtLibrary* library = nullptr;
  const Status status = OrtLibrary::Load(OnnxRuntimePath(), kSharedThreadCount, &library);
  REQUIRE_MESSAGE(status.ok(), status.message());
  return *library;
}

std::vector<std::string> OrtThreads() {
  std::vector<std::string> ids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    std::getline(file, name);
    if (name == "nrd-ort") {
      ids.push_back(task.path().filename());
    }
  }
  return ids;
}

bool HasOrtThreads(size_t count) {
  return Eventually([=] { return OrtThreads().size() == count; });
}

std::string TestModelPath(std::string_view name) {
  return TestFolder() / "models" / (std::string(name) + ".onnx");
}

std::string BundledModelPath(std::string_view name) {
  return ExamplePath("models/" + std::string(name) + "/1/model.onnx");
}

std::string ExamplePath(std::string_view path) {
  return TestFolder().parent_path().parent_path() / "examples" / path;
}

Status OpenSource(TestRuntime& runtime, const OnnxSettings& settings, nrd_source** source_out) {
  return WithOptions(settings, [&](const nrd_model_options& options, nrd_error* error) {
    return nrd_source_open(runtime.get(), &options, source_out, error);
  });
}

OnnxTestModel::OnnxTestModel(TestRuntime& runtime, const OnnxSettings& settings) {
  const Status status = Load(runtime, settings, &model_);
  REQUIRE_MESSAGE(status.ok(), status.message());
}

OnnxTestModel::~OnnxTestModel() { nrd_model_release(model_); }

Status OnnxTestModel::TryLoad(TestRuntime& runtime, const OnnxSettings& settings) {
  nrd_model* model = nullptr;
  Status status = Load(runtime, settings, &model);
  if (status.ok()) {
    nrd_model_release(model);
  }
  return status;
}

OnnxRequest::OnnxRequest(OnnxTestModel& model) {
  nrd_error error{};
  REQUIRE(nrd_request_acquire(model.get(), &record_, &error) == NRD_OK);
}

OnnxRequest::~OnnxRequest() { nrd_request_release(record_); }

void OnnxRequest::SetInput(uint32_t index, int32_t datatype, const std::vector<int64_t>& shape,
                           const void* data, uint64_t byte_size) {
  nrd_tensor& input = record_->inputs[index];
  input.datatype = datatype;
  input.rank = static_cast<uint32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), input.shape);
  input.byte_size = byte_size;
  REQUIRE(nrd_request_input_alloc(record_, index) == NRD_OK);
  if (byte_size > 0) {
    std::memcpy(input.data, data, byte_size);
  }
}

void OnnxRequest::SetStrings(uint32_t index, const std::vector<int64_t>& shape,
                             const std::vector<std::string>& values) {
  std::vector<char> encoded;
  for (const std::string& value : values) {
    const auto size = static_cast<uint32_t>(value.size());
    const char* length = reinterpret_cast<const char*>(&size);
    encoded.insert(encoded.end(), length, length + sizeof(size));
    encoded.insert(encoded.end(), value.begin(), value.end());
  }
  SetInput(index, NRD_TYPE_BYTES, shape, encoded);
}

Status OnnxRequest::Run() {
  return Submit() == NRD_PENDING ? Wait()
                                 : StatusFromCallback(record_->status, *record_->error, "run");
}

Status OnnxRequest::Wait() {
  REQUIRE(nrd_request_wait(record_, In(kPatienceMs)) != NRD_DEADLINE_EXCEEDED);
  return StatusFromCallback(record_->status, *record_->error, "run");
}

std::vector<int64_t> OnnxRequest::OutputShape(uint32_t index) const {
  return {output(index).shape, output(index).shape + output(index).rank};
}

std::vector<std::string> OnnxRequest::OutputStrings(uint32_t index) const {
  std::vector<std::string> values;
  const char* at = static_cast<const char*>(output(index).data);
  const char* const end = at + output(index).byte_size;
  while (at < end) {
    uint32_t size = 0;
    std::memcpy(&size, at, sizeof(size));
    at += sizeof(size);
    values.emplace_back(at, size);
    at += size;
  }
  return values;
}

}  // namespace nereid::test
