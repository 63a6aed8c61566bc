// Calls each function of ort_api.h through its slot and checks that it did what its name says.
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <set>

#include "onnxruntime/ort_threads.h"
#include "test/onnxruntime/onnx_fixture.h"

// The function, noted as called.
#define NRD_SLOT(slots, name) ((slots).called.insert(#name), (slots).library.api().name)

namespace nereid::test {
namespace {

struct Slots {
  const OrtLibrary& library;
  std::set<std::string_view> called;

  void Ok(OrtStatus* status) const {
    const Status converted = library.Check(status, "call");
    CHECK_MESSAGE(converted.ok(), converted.message());
  }
  // The message of a call that must fail.
  std::string Failure(OrtStatus* status) const {
    REQUIRE(status != nullptr);
    return std::string(library.Check(status, "").message());
  }
  OrtSessionOptions* NewOptions() {
    OrtSessionOptions* options = nullptr;
    Ok(NRD_SLOT(*this, CreateSessionOptions)(&options));
    REQUIRE(options != nullptr);
    return options;
  }
  OrtSession* NewSession(std::string_view name, const OrtSessionOptions* options) {
    OrtSession* session = nullptr;
    Ok(NRD_SLOT(*this, CreateSession)(library.env(), TestModelPath(name).c_str(), options,
                                      &session));
    REQUIRE(session != nullptr);
    return session;
  }
  OrtSession* NewSession(std::string_view name) {
    OrtSessionOptions* options = NewOptions();
    Ok(NRD_SLOT(*this, DisablePerSessionThreads)(options));
    OrtSession* session = NewSession(name, options);
    NRD_SLOT(*this, ReleaseSessionOptions)(options);
    return session;
  }
};

// Collects standard error while it lives.
class ErrorOutput {
 public:
  ErrorOutput() : file_(std::tmpfile()), kept_(dup(STDERR_FILENO)) {
    REQUIRE(file_ != nullptr);
    std::fflush(stderr);
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~ErrorOutput() { Restore(); }
  ErrorOutput(const ErrorOutput&) = delete;
  ErrorOutput& operator=(const ErrorOutput&) = delete;

  std::string Take() {
    std::fflush(stderr);
    std::rewind(file_);
    std::string text;
    std::array<char, 4096> part;
    for (size_t size = 0; (size = std::fread(part.data(), 1, part.size(), file_)) > 0;) {
      text.append(part.data(), size);
    }
    Restore();
    return text;
  }

 private:
  void Restore() {
    if (file_ != nullptr) {
      dup2(kept_, STDERR_FILENO);
      close(kept_);
      std::fclose(file_);
      file_ = nullptr;
    }
  }

  FILE* file_;
  int kept_;
};

void CheckErrors(Slots& slots) {
  OrtSessionOptions* options = slots.NewOptions();
  OrtSession* session = nullptr;
  OrtStatus* status =
      NRD_SLOT(slots, CreateSession)(slots.library.env(), "/no/such/file.onnx", options, &session);
  REQUIRE(status != nullptr);
  CHECK(NRD_SLOT(slots, GetErrorCode)(status) == OrtErrorCode::kNoSuchFile);
  CHECK(std::string(NRD_SLOT(slots, GetErrorMessage)(status)).find("/no/such/file.onnx") !=
        std::string::npos);
  NRD_SLOT(slots, ReleaseStatus)(status);
  NRD_SLOT(slots, ReleaseSessionOptions)(options);
}

void CheckEnvironment(Slots& slots) {
  OrtThreadingOptions* options = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateThreadingOptions)(&options));
  slots.Ok(NRD_SLOT(slots, SetGlobalIntraOpNumThreads)(options, 2));
  slots.Ok(NRD_SLOT(slots, SetGlobalInterOpNumThreads)(options, 1));
  slots.Ok(NRD_SLOT(slots, SetGlobalCustomCreateThreadFn)(options, CreateOrtThread));
  slots.Ok(NRD_SLOT(slots, SetGlobalCustomJoinThreadFn)(options, JoinOrtThread));
  CHECK(slots.Failure(NRD_SLOT(slots, SetGlobalSpinControl)(options, 7)).find("allow_spinning") !=
        std::string::npos);
  // There is one environment: the library's, made by the same function with the same setters.
  OrtEnv* env = nullptr;
  slots.Ok(
      NRD_SLOT(slots, CreateEnvWithGlobalThreadPools)(OrtLogLevel::kFatal, "slots", options, &env));
  CHECK(env == slots.library.env());
  CHECK(HasOrtThreads(kSharedThreadCount - 1));
  NRD_SLOT(slots, ReleaseThreadingOptions)(options);
}

// ONNX Runtime tells a session's options at the log level "info".
void CheckSessionOptions(Slots& slots) {
  OrtSessionOptions* options = slots.NewOptions();
  slots.Ok(NRD_SLOT(slots, SetSessionLogSeverityLevel)(options, 1));
  slots.Ok(NRD_SLOT(slots, SetSessionExecutionMode)(options, OrtExecutionMode::kParallel));
  slots.Ok(NRD_SLOT(slots, DisableMemPattern)(options));
  slots.Ok(NRD_SLOT(slots, DisableCpuMemArena)(options));
  slots.Ok(
      NRD_SLOT(slots, SetSessionGraphOptimizationLevel)(options, OrtGraphOptimization::kExtended));
  slots.Ok(NRD_SLOT(slots, SetIntraOpNumThreads)(options, 5));
  slots.Ok(NRD_SLOT(slots, SetInterOpNumThreads)(options, 3));
  slots.Ok(NRD_SLOT(slots, AddSessionConfigEntry)(options, "session.inter_op.allow_spinning", "0"));
  slots.Ok(NRD_SLOT(slots, SessionOptionsSetCustomCreateThreadFn)(options, CreateOrtThread));
  slots.Ok(NRD_SLOT(slots, SessionOptionsSetCustomJoinThreadFn)(options, JoinOrtThread));
  slots.Ok(NRD_SLOT(slots, AddFreeDimensionOverrideByName)(options, "length", 5));
  ErrorOutput output;
  OrtSession* session = slots.NewSession("identity_fp32", options);
  const std::string log = output.Take();
  for (const std::string_view part :
       {"execution_mode:1", "enable_mem_pattern:0", "enable_cpu_mem_arena:0",
        "session_log_severity_level:1", "graph_optimization_level:2",
        "intra_op_param:OrtThreadPoolParams { thread_pool_size: 5",
        "inter_op_param:OrtThreadPoolParams { thread_pool_size: 3", "use_per_session_threads:1",
        "session.inter_op.allow_spinning: 0"}) {
    CHECK_MESSAGE(log.find(part) != std::string::npos, part, " in: ", log);
  }
  CHECK(OrtThreads().size() > kSharedThreadCount - 1);
  OrtTypeInfo* type = nullptr;
  slots.Ok(NRD_SLOT(slots, SessionGetInputTypeInfo)(session, 0, &type));
  const OrtTensorInfo* info = nullptr;
  slots.Ok(NRD_SLOT(slots, CastTypeInfoToTensorInfo)(type, &info));
  std::array<int64_t, 2> dims{};
  slots.Ok(NRD_SLOT(slots, GetDimensions)(info, dims.data(), dims.size()));
  CHECK(dims == std::array<int64_t, 2>{-1, 5});
  NRD_SLOT(slots, ReleaseTypeInfo)(type);
  NRD_SLOT(slots, ReleaseSession)(session);
  CHECK(HasOrtThreads(kSharedThreadCount - 1));
  NRD_SLOT(slots, ReleaseSessionOptions)(options);
}

void CheckSignature(Slots& slots) {
  OrtSession* scale = slots.NewSession("scale");
  size_t count = 0;
  slots.Ok(NRD_SLOT(slots, SessionGetInputCount)(scale, &count));
  CHECK(count == 1);
  slots.Ok(NRD_SLOT(slots, SessionGetOverridableInitializerCount)(scale, &count));
  CHECK(count == 1);
  NRD_SLOT(slots, ReleaseSession)(scale);
  OrtSession* dot = slots.NewSession("dot");
  slots.Ok(NRD_SLOT(slots, SessionGetInputCount)(dot, &count));
  CHECK(count == 2);
  slots.Ok(NRD_SLOT(slots, SessionGetOutputCount)(dot, &count));
  CHECK(count == 1);
  slots.Ok(NRD_SLOT(slots, SessionGetOverridableInitializerCount)(dot, &count));
  CHECK(count == 0);
  NRD_SLOT(slots, ReleaseSession)(dot);
}

void CheckNames(Slots& slots) {
  OrtSession* session = slots.NewSession("scale");
  OrtAllocator* allocator = nullptr;
  slots.Ok(NRD_SLOT(slots, GetAllocatorWithDefaultOptions)(&allocator));
  CHECK(allocator == slots.library.allocator());
  const auto take = [&](char* name) {
    std::string text(name);
    slots.Ok(NRD_SLOT(slots, AllocatorFree)(allocator, name));
    return text;
  };
  char* name = nullptr;
  slots.Ok(NRD_SLOT(slots, SessionGetInputName)(session, 0, allocator, &name));
  CHECK(take(name) == "INPUT0");
  slots.Ok(NRD_SLOT(slots, SessionGetOutputName)(session, 0, allocator, &name));
  CHECK(take(name) == "OUTPUT0");
  slots.Ok(NRD_SLOT(slots, SessionGetOverridableInitializerName)(session, 0, allocator, &name));
  CHECK(take(name) == "SCALE");
  NRD_SLOT(slots, ReleaseSession)(session);
}

void CheckTypes(Slots& slots) {
  const auto describe = [&](OrtTypeInfo* type) {
    const OrtTensorInfo* info = nullptr;
    slots.Ok(NRD_SLOT(slots, CastTypeInfoToTensorInfo)(type, &info));
    std::string text = "no tensor";
    if (info != nullptr) {
      OrtElementType element = OrtElementType::kUndefined;
      size_t rank = 0;
      slots.Ok(NRD_SLOT(slots, GetTensorElementType)(info, &element));
      slots.Ok(NRD_SLOT(slots, GetDimensionsCount)(info, &rank));
      std::vector<const char*> names(rank);
      slots.Ok(NRD_SLOT(slots, GetSymbolicDimensions)(info, names.data(), rank));
      text = std::to_string(static_cast<int>(element)) + "," + std::to_string(rank) + "," +
             (rank > 0 ? names[0] : "");
    }
    NRD_SLOT(slots, ReleaseTypeInfo)(type);
    return text;
  };
  OrtTypeInfo* type = nullptr;
  OrtSession* gather = slots.NewSession("gather");
  slots.Ok(NRD_SLOT(slots, SessionGetInputTypeInfo)(gather, 0, &type));
  CHECK(describe(type) == "7,2,batch");
  slots.Ok(NRD_SLOT(slots, SessionGetOutputTypeInfo)(gather, 0, &type));
  CHECK(describe(type) == "1,2,batch");
  NRD_SLOT(slots, ReleaseSession)(gather);
  OrtSession* scale = slots.NewSession("scale");
  slots.Ok(NRD_SLOT(slots, SessionGetOverridableInitializerTypeInfo)(scale, 0, &type));
  CHECK(describe(type) == "1,1,");
  NRD_SLOT(slots, ReleaseSession)(scale);
  OrtSession* sequence = slots.NewSession("sequence");
  slots.Ok(NRD_SLOT(slots, SessionGetOutputTypeInfo)(sequence, 0, &type));
  CHECK(describe(type) == "no tensor");
  NRD_SLOT(slots, ReleaseSession)(sequence);
}

void CheckTensors(Slots& slots) {
  OrtMemoryInfo* memory = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateCpuMemoryInfo)(OrtAllocatorKind::kDevice, OrtMemoryKind::kDefault,
                                                &memory));
  std::array<int64_t, 4> table_indices{3, 1, 0, 2};
  const std::array<int64_t, 2> shape{4, 1};
  OrtValue* input = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateTensorWithDataAsOrtValue)(memory, table_indices.data(), 32,
                                                           shape.data(), shape.size(),
                                                           OrtElementType::kInt64, &input));
  void* data = nullptr;
  slots.Ok(NRD_SLOT(slots, GetTensorMutableData)(input, &data));
  CHECK(data == table_indices.data());

  OrtSession* session = slots.NewSession("gather");
  const char* input_name = "INPUT0";
  const char* output_name = "OUTPUT0";
  OrtValue* output = nullptr;
  slots.Ok(
      NRD_SLOT(slots, Run)(session, nullptr, &input_name, &input, 1, &output_name, 1, &output));
  OrtTensorInfo* info = nullptr;
  slots.Ok(NRD_SLOT(slots, GetTensorTypeAndShape)(output, &info));
  std::array<int64_t, 2> dims{};
  slots.Ok(NRD_SLOT(slots, GetDimensions)(info, dims.data(), dims.size()));
  CHECK(dims == shape);
  NRD_SLOT(slots, ReleaseTensorTypeAndShapeInfo)(info);
  slots.Ok(NRD_SLOT(slots, GetTensorMutableData)(output, &data));
  CHECK(static_cast<float*>(data)[0] == 40);
  CHECK(static_cast<float*>(data)[1] == 20);
  NRD_SLOT(slots, ReleaseValue)(output);

  OrtRunOptions* run_options = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateRunOptions)(&run_options));
  slots.Ok(NRD_SLOT(slots, AddRunConfigEntry)(run_options, "memory.enable_memory_arena_shrinkage",
                                              "abacus:0"));
  output = nullptr;
  const std::string failure = slots.Failure(
      NRD_SLOT(slots, Run)(session, run_options, &input_name, &input, 1, &output_name, 1, &output));
  CHECK_MESSAGE(failure.find("abacus") != std::string::npos, failure);
  NRD_SLOT(slots, ReleaseRunOptions)(run_options);
  NRD_SLOT(slots, ReleaseSession)(session);
  NRD_SLOT(slots, ReleaseValue)(input);
  NRD_SLOT(slots, ReleaseMemoryInfo)(memory);
}

void CheckStrings(Slots& slots) {
  const int64_t length = 2;
  OrtValue* value = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateTensorAsOrtValue)(slots.library.allocator(), &length, 1,
                                                   OrtElementType::kString, &value));
  const std::array<std::string, 2> texts{"ab", std::string("c\0de", 4)};
  for (size_t i = 0; i < texts.size(); ++i) {
    char* text = nullptr;
    slots.Ok(
        NRD_SLOT(slots, GetResizedStringTensorElementBuffer)(value, i, texts[i].size(), &text));
    texts[i].copy(text, texts[i].size());
  }
  size_t bytes = 0;
  slots.Ok(NRD_SLOT(slots, GetStringTensorDataLength)(value, &bytes));
  CHECK(bytes == 6);
  std::string all(bytes, '?');
  std::array<size_t, 2> offsets{};
  slots.Ok(NRD_SLOT(slots, GetStringTensorContent)(value, all.data(), all.size(), offsets.data(),
                                                   offsets.size()));
  CHECK(all == texts[0] + texts[1]);
  CHECK(offsets == std::array<size_t, 2>{0, 2});
  NRD_SLOT(slots, ReleaseValue)(value);
}

// The session's own arena counts what is taken from it.
void CheckAllocator(Slots& slots) {
  OrtSession* session = slots.NewSession("product");
  OrtAllocator* allocator = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateAllocator)(session, slots.library.cpu_memory(), &allocator));
  REQUIRE(allocator != nullptr);
  CHECK(allocator != slots.library.allocator());
  if (slots.library.api().AllocatorGetStats != nullptr) {
    const auto bytes_in_use = [&] {
      OrtKeyValuePairs* stats = nullptr;
      slots.Ok(NRD_SLOT(slots, AllocatorGetStats)(allocator, &stats));
      CHECK(NRD_SLOT(slots, GetKeyValue)(stats, "no such key") == nullptr);
      const std::string value = NRD_SLOT(slots, GetKeyValue)(stats, "InUse");
      NRD_SLOT(slots, ReleaseKeyValuePairs)(stats);
      return std::stoll(value);
    };
    const int64_t before = bytes_in_use();
    const int64_t length = 1000;
    OrtValue* value = nullptr;
    slots.Ok(NRD_SLOT(slots, CreateTensorAsOrtValue)(allocator, &length, 1, OrtElementType::kDouble,
                                                     &value));
    CHECK(bytes_in_use() >= before + 8000);
    NRD_SLOT(slots, ReleaseValue)(value);
    CHECK(bytes_in_use() == before);
  }
  NRD_SLOT(slots, ReleaseAllocator)(allocator);
  NRD_SLOT(slots, ReleaseSession)(session);
}

// The pool that all models share does work for a session without threads of its own.
void CheckSharedThreads(Slots& slots) {
  const auto worked_ns = [] {
    uint64_t sum = 0;
    for (const std::string& id : OrtThreads()) {
      std::ifstream file("/proc/self/task/" + id + "/schedstat");
      uint64_t run_ns = 0;
      file >> run_ns;
      sum += run_ns;
    }
    return sum;
  };
  constexpr int64_t kSide = 512;
  std::vector<float> matrix(kSide * kSide, 1.0F);
  const std::array<int64_t, 2> shape{kSide, kSide};
  OrtValue* input = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateTensorWithDataAsOrtValue)(
      slots.library.cpu_memory(), matrix.data(), matrix.size() * sizeof(float), shape.data(), 2,
      OrtElementType::kFloat, &input));
  OrtSession* session = slots.NewSession("product");
  const std::array<const char*, 2> input_names{"INPUT0", "INPUT1"};
  const std::array<const OrtValue*, 2> inputs{input, input};
  const char* output_name = "OUTPUT0";
  // Where the processors are busy the calling thread may be done before another one is woken, so
  // this is repeated until they had their chance.
  constexpr uint64_t kEnoughNs = 100'000;
  constexpr int kMostRuns = 500;
  const uint64_t before_ns = worked_ns();
  for (int i = 0; i < kMostRuns && worked_ns() - before_ns <= kEnoughNs; ++i) {
    OrtValue* output = nullptr;
    slots.Ok(NRD_SLOT(slots, Run)(session, nullptr, input_names.data(), inputs.data(), 2,
                                  &output_name, 1, &output));
    NRD_SLOT(slots, ReleaseValue)(output);
  }
  CHECK(worked_ns() - before_ns > kEnoughNs);
  NRD_SLOT(slots, ReleaseSession)(session);
  NRD_SLOT(slots, ReleaseValue)(input);
}

// Makes one of each object and releases it. (That sessions end shows in their threads.)
void MakeAndRelease(Slots& slots, const OrtSession* session) {
  OrtAllocator* allocator = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateAllocator)(session, slots.library.cpu_memory(), &allocator));
  if (slots.library.api().AllocatorGetStats != nullptr) {
    OrtKeyValuePairs* stats = nullptr;
    slots.Ok(NRD_SLOT(slots, AllocatorGetStats)(allocator, &stats));
    NRD_SLOT(slots, ReleaseKeyValuePairs)(stats);
  }
  NRD_SLOT(slots, ReleaseAllocator)(allocator);
  OrtThreadingOptions* threading = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateThreadingOptions)(&threading));
  NRD_SLOT(slots, ReleaseStatus)(NRD_SLOT(slots, SetGlobalSpinControl)(threading, 7));
  NRD_SLOT(slots, ReleaseThreadingOptions)(threading);
  NRD_SLOT(slots, ReleaseSessionOptions)(slots.NewOptions());
  OrtRunOptions* run_options = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateRunOptions)(&run_options));
  NRD_SLOT(slots, ReleaseRunOptions)(run_options);
  OrtMemoryInfo* memory = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateCpuMemoryInfo)(OrtAllocatorKind::kDevice, OrtMemoryKind::kDefault,
                                                &memory));
  NRD_SLOT(slots, ReleaseMemoryInfo)(memory);
  char* name = nullptr;
  slots.Ok(NRD_SLOT(slots, SessionGetInputName)(session, 0, slots.library.allocator(), &name));
  slots.Ok(NRD_SLOT(slots, AllocatorFree)(slots.library.allocator(), name));
  OrtTypeInfo* type = nullptr;
  slots.Ok(NRD_SLOT(slots, SessionGetInputTypeInfo)(session, 0, &type));
  NRD_SLOT(slots, ReleaseTypeInfo)(type);
  const int64_t length = 100;
  OrtValue* value = nullptr;
  slots.Ok(NRD_SLOT(slots, CreateTensorAsOrtValue)(slots.library.allocator(), &length, 1,
                                                   OrtElementType::kFloat, &value));
  OrtTensorInfo* info = nullptr;
  slots.Ok(NRD_SLOT(slots, GetTensorTypeAndShape)(value, &info));
  NRD_SLOT(slots, ReleaseTensorTypeAndShapeInfo)(info);
  NRD_SLOT(slots, ReleaseValue)(value);
}

// The heap does not grow when objects come and go. (Under AddressSanitizer it looks empty here, and
// its own leak check takes over.)
void CheckReleases(Slots& slots) {
  OrtSession* session = slots.NewSession("gather");
  MakeAndRelease(slots, session);
  const size_t before = mallinfo2().uordblks;
  constexpr size_t kRounds = 1000;
  for (size_t i = 0; i < kRounds; ++i) {
    MakeAndRelease(slots, session);
  }
  CHECK(mallinfo2().uordblks < before + kRounds * sizeof(void*));
  NRD_SLOT(slots, ReleaseSession)(session);
}

}  // namespace

TEST_SUITE_BEGIN("onnxruntime" * SkipWithoutOnnxRuntime());

TEST_CASE("every slot does what its name says") {
  Slots slots{SharedOnnxRuntime(), {}};
  CheckErrors(slots);
  CheckEnvironment(slots);
  CheckSessionOptions(slots);
  CheckSignature(slots);
  CheckNames(slots);
  CheckTypes(slots);
  CheckTensors(slots);
  CheckStrings(slots);
  CheckAllocator(slots);
  CheckSharedThreads(slots);
  CheckReleases(slots);
  if (slots.library.api().AllocatorGetStats == nullptr) {  // an older library: nothing to call
    slots.called.insert({"GetKeyValue", "ReleaseKeyValuePairs", "AllocatorGetStats"});
  }
  for (const OrtSlot& slot : kOrtSlots) {
    CHECK_MESSAGE(slots.called.contains(slot.name), slot.name, " (slot ", slot.slot,
                  ") is not checked");
  }
  CHECK(slots.called.size() == std::size(kOrtSlots));
}

TEST_SUITE_END();

TEST_CASE("the tests in this file need ONNX Runtime" * SkipWithOnnxRuntime()) {
  SayWhatIsMissing();
}

}  // namespace nereid::test
