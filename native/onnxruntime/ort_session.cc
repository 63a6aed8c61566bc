#include "onnxruntime/ort_session.h"

#include <algorithm>
#include <utility>

#include "onnxruntime/arithmetic_guard.h"
#include "onnxruntime/consumed_file.h"
#include "onnxruntime/ort_threads.h"

namespace nereid {
namespace {

// Gives a model that asks for threads its own; other models share the library's.
Status SetThreads(const OrtLibrary& library, const OrtOptions& options,
                  OrtSessionOptions* session) {
  const OrtFunctions& api = library.api();
  if (!options.own_threads()) {
    return library.Check(api.DisablePerSessionThreads(session), "shared threads");
  }
  // The numbers are always set: a library that chooses them also binds threads to processors, which
  // fails in containers.
  const auto standard = static_cast<int>(library.shared_thread_count());
  const int intra = options.intra_op_thread_count > 0 ? options.intra_op_thread_count : standard;
  const int inter = options.inter_op_thread_count > 0 ? options.inter_op_thread_count : standard;
  NRD_RETURN_IF_ERROR(
      library.Check(api.SetIntraOpNumThreads(session, intra), "intra_op_thread_count"));
  NRD_RETURN_IF_ERROR(
      library.Check(api.SetInterOpNumThreads(session, inter), "inter_op_thread_count"));
  NRD_RETURN_IF_ERROR(library.Check(api.SetSessionExecutionMode(session, options.execution_mode),
                                    "execution_mode"));
  // Set first, so that the model's own entries override it.
  for (const char* key : {"session.intra_op.allow_spinning", "session.inter_op.allow_spinning"}) {
    NRD_RETURN_IF_ERROR(library.Check(api.AddSessionConfigEntry(session, key, "0"), key));
  }
  NRD_RETURN_IF_ERROR(library.Check(
      api.SessionOptionsSetCustomCreateThreadFn(session, CreateOrtThread), "thread names"));
  return library.Check(api.SessionOptionsSetCustomJoinThreadFn(session, JoinOrtThread),
                       "thread names");
}

Status SetOptions(const OrtLibrary& library, const OrtOptions& options,
                  OrtSessionOptions* session) {
  const OrtFunctions& api = library.api();
  NRD_RETURN_IF_ERROR(SetThreads(library, options, session));
  NRD_RETURN_IF_ERROR(
      library.Check(api.SetSessionGraphOptimizationLevel(session, options.graph_optimization),
                    "optimization.graph.level"));
  if (!options.use_memory_arena) {
    NRD_RETURN_IF_ERROR(library.Check(api.DisableCpuMemArena(session), "enable_mem_arena"));
  }
  if (!options.use_memory_pattern) {
    NRD_RETURN_IF_ERROR(library.Check(api.DisableMemPattern(session), "enable_mem_pattern"));
  }
  if (options.log_severity_level >= 0) {
    NRD_RETURN_IF_ERROR(library.Check(
        api.SetSessionLogSeverityLevel(session, options.log_severity_level), "log_severity_level"));
  }
  for (const auto& [key, value] : options.session_entries) {
    NRD_RETURN_IF_ERROR(
        library.Check(api.AddSessionConfigEntry(session, key.c_str(), value.c_str()), key));
  }
  for (const auto& [name, size] : options.dimension_sizes) {
    NRD_RETURN_IF_ERROR(library.Check(
        api.AddFreeDimensionOverrideByName(session, name.c_str(), size), "dimension." + name));
  }
  return Status();
}

Status ReadShape(const OrtLibrary& library, const OrtTensorInfo* info, OnnxTensor* tensor) {
  const OrtFunctions& api = library.api();
  size_t rank = 0;
  NRD_RETURN_IF_ERROR(library.Check(api.GetDimensionsCount(info, &rank), "rank"));
  tensor->dims.resize(rank);
  NRD_RETURN_IF_ERROR(
      library.Check(api.GetDimensions(info, tensor->dims.data(), rank), "dimensions"));
  std::vector<const char*> names(rank, nullptr);
  NRD_RETURN_IF_ERROR(
      library.Check(api.GetSymbolicDimensions(info, names.data(), rank), "dimension names"));
  std::transform(names.begin(), names.end(), std::back_inserter(tensor->dim_names),
                 [](const char* name) { return name == nullptr ? "" : name; });
  return Status();
}

Status ReadTensor(const OrtLibrary& library, const OrtTypeInfo* type, OnnxTensor* tensor) {
  const OrtFunctions& api = library.api();
  const OrtTensorInfo* info = nullptr;
  NRD_RETURN_IF_ERROR(library.Check(api.CastTypeInfoToTensorInfo(type, &info), "type"));
  if (info == nullptr) {
    return Status();  // a sequence, a map: no datatype
  }
  OrtElementType element = OrtElementType::kUndefined;
  NRD_RETURN_IF_ERROR(library.Check(api.GetTensorElementType(info, &element), "datatype"));
  tensor->datatype = DataTypeOf(element);
  return ReadShape(library, info, tensor);
}

using CountFn = OrtStatus* (*)(const OrtSession*, size_t*);
using NameFn = OrtStatus* (*)(const OrtSession*, size_t, OrtAllocator*, char**);
using TypeFn = OrtStatus* (*)(const OrtSession*, size_t, OrtTypeInfo**);

// Appends the tensors of one of the three groups: inputs, outputs, overridable initializers.
Status ReadGroup(const OrtLibrary& library, const OrtSession* session, CountFn count_of,
                 NameFn name_of, TypeFn type_of, std::vector<OnnxTensor>* tensors) {
  size_t count = 0;
  NRD_RETURN_IF_ERROR(library.Check(count_of(session, &count), "number of tensors"));
  for (size_t i = 0; i < count; ++i) {
    OnnxTensor tensor;
    char* name = nullptr;
    NRD_RETURN_IF_ERROR(
        library.Check(name_of(session, i, library.allocator(), &name), "name of a tensor"));
    tensor.name = name;
    NRD_RETURN_IF_ERROR(
        library.Check(library.api().AllocatorFree(library.allocator(), name), "freeing a name"));
    OrtTypeInfo* type = nullptr;
    NRD_RETURN_IF_ERROR(library.Check(type_of(session, i, &type), "type of a tensor"));
    const OrtOwned<OrtTypeInfo> owned(type, library.api().ReleaseTypeInfo);
    NRD_RETURN_IF_ERROR(ReadTensor(library, type, &tensor));
    tensors->push_back(std::move(tensor));
  }
  return Status();
}

}  // namespace

OnnxSession::OnnxSession(const OrtLibrary& library)
    : library_(library),
      session_(nullptr, library.api().ReleaseSession),
      memory_(library),
      run_options_(nullptr, library.api().ReleaseRunOptions) {}

Status OnnxSession::Open(const OrtLibrary& library, const OrtOptions& options,
                         std::unique_ptr<const OnnxSession>* session_out) {
  std::unique_ptr<OnnxSession> session(new OnnxSession(library));
  NRD_RETURN_IF_ERROR(session->Load(options));
  NRD_RETURN_IF_ERROR(session->ReadSignature());
  *session_out = std::move(session);
  return Status();
}

Status OnnxSession::Load(const OrtOptions& options) {
  const OrtFunctions& api = library_.api();
  OrtSessionOptions* raw = nullptr;
  NRD_RETURN_IF_ERROR(library_.Check(api.CreateSessionOptions(&raw), "session options"));
  const OrtOwned<OrtSessionOptions> session_options(raw, api.ReleaseSessionOptions);
  NRD_RETURN_IF_ERROR(SetOptions(library_, options, raw));
  NRD_RETURN_IF_ERROR(Create(options, raw));
  memory_.Open(handle(), options.model_path);
  if (options.run_entries.empty()) {
    return Status();
  }
  OrtRunOptions* run_options = nullptr;
  NRD_RETURN_IF_ERROR(library_.Check(api.CreateRunOptions(&run_options), "run options"));
  run_options_.reset(run_options);
  for (const auto& [key, value] : options.run_entries) {
    NRD_RETURN_IF_ERROR(
        library_.Check(api.AddRunConfigEntry(run_options, key.c_str(), value.c_str()), key));
  }
  return Status();
}

// Creates the session. ONNX Runtime computes constant parts meanwhile, which can divide by zero.
Status OnnxSession::Create(const OrtOptions& options, const OrtSessionOptions* session_options) {
  const std::string what = "cannot load '" + options.model_path + "'";
  ArithmeticWatch arithmetic;
  OrtSession* session = nullptr;
  const std::unique_ptr<ConsumedFile> consumed = ConsumedFile::Open(options.model_path);
  const std::string& path = consumed == nullptr ? options.model_path : consumed->path();
  arithmetic.Begin();
  Status status = library_.Check(
      library_.api().CreateSession(library_.env(), path.c_str(), session_options, &session), what);
  session_.reset(session);
  if (arithmetic.End()) {
    return Status::InvalidArgument(what + ": " + std::string(kArithmeticFault));
  }
  return status;
}

Status OnnxSession::ReadSignature() {
  const OrtFunctions& api = library_.api();
  NRD_RETURN_IF_ERROR(ReadGroup(library_, handle(), api.SessionGetInputCount,
                                api.SessionGetInputName, api.SessionGetInputTypeInfo,
                                &signature_.inputs));
  const size_t required = signature_.inputs.size();
  NRD_RETURN_IF_ERROR(ReadGroup(library_, handle(), api.SessionGetOverridableInitializerCount,
                                api.SessionGetOverridableInitializerName,
                                api.SessionGetOverridableInitializerTypeInfo, &signature_.inputs));
  for (size_t i = required; i < signature_.inputs.size(); ++i) {
    signature_.inputs[i].has_default = true;
  }
  return ReadGroup(library_, handle(), api.SessionGetOutputCount, api.SessionGetOutputName,
                   api.SessionGetOutputTypeInfo, &signature_.outputs);
}

}  // namespace nereid
