#include "onnxruntime/onnxruntime_backend.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/guarded.h"
#include "core/model/model_options.h"
#include "onnxruntime/onnx_instance.h"
#include "onnxruntime/ort_library.h"
#include "onnxruntime/ort_memory.h"
#include "onnxruntime/ort_options.h"
#include "onnxruntime/ort_session.h"
#include "onnxruntime/ort_signature.h"

namespace nereid {
namespace {

Status Open(const nrd_model_options& options, std::unique_ptr<OnnxModel>* model_out) {
  auto model = std::make_unique<OnnxModel>();
  OrtOptions ort_options;
  NRD_RETURN_IF_ERROR(ReadOrtOptions(options.parameters, options.parameter_count, &ort_options));
  const OrtLibrary* library = nullptr;
  NRD_RETURN_IF_ERROR(
      OrtLibrary::Load(ort_options.library_path, ort_options.shared_thread_count, &library));
  Status status = OnnxSession::Open(*library, ort_options, &model->session);
  GiveBackFreedMemory();
  NRD_RETURN_IF_ERROR(std::move(status));
  *model_out = std::move(model);
  return Status();
}

Status Configure(const nrd_model_options& options, OnnxModel* model) {
  NRD_RETURN_IF_ERROR(ReadModelConfig(options, &model->config));
  return CheckSignature(model->config, model->session->signature());
}

int32_t OpenModel(void* /*context*/, const nrd_model_options* options, void** model_out,
                  nrd_error* error_out) {
  return Guarded(error_out, [&] {
    std::unique_ptr<OnnxModel> model;
    Status status = Open(*options, &model);
    *model_out = model.release();
    return status;
  });
}

int32_t Describe(void* model, int32_t kind, uint32_t index, nrd_tensor_spec* spec_out) {
  const OnnxSignature& signature = static_cast<const OnnxModel*>(model)->session->signature();
  const std::vector<OnnxTensor>& tensors =
      kind == NRD_TENSOR_INPUT ? signature.inputs : signature.outputs;
  if (index >= tensors.size()) {
    return NRD_NOT_FOUND;
  }
  const OnnxTensor& tensor = tensors[index];
  spec_out->name = AsNrdString(tensor.name);
  spec_out->datatype = tensor.datatype;
  spec_out->flags = tensor.has_default ? uint32_t{NRD_SPEC_OPTIONAL} : 0;
  spec_out->rank = static_cast<uint32_t>(tensor.dims.size());
  std::copy_n(tensor.dims.begin(), std::min<size_t>(tensor.dims.size(), NRD_MAX_RANK),
              spec_out->dims);
  return NRD_OK;
}

int32_t ConfigureModel(void* model, const nrd_model_options* options, nrd_error* error_out) {
  return Guarded(error_out, [&] { return Configure(*options, static_cast<OnnxModel*>(model)); });
}

void ReadMemory(void* model, uint64_t* weight_bytes_out, uint64_t* working_bytes_out) {
  static_cast<const OnnxModel*>(model)->session->memory().Read(weight_bytes_out, working_bytes_out);
}

void CloseModel(void* model) {
  delete static_cast<OnnxModel*>(model);
  GiveBackFreedMemory();
}

int32_t OpenInstance(void* model, uint32_t /*index*/, void** instance_out, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    *instance_out = new OnnxInstance(*static_cast<const OnnxModel*>(model));
    return Status();
  });
}

void CloseInstance(void* instance) { delete static_cast<OnnxInstance*>(instance); }

int32_t Execute(void* instance, nrd_batch* batch, nrd_error* error_out) {
  return Guarded(error_out, [&] { return static_cast<OnnxInstance*>(instance)->Run(batch); });
}

}  // namespace

nrd_backend OnnxRuntimeBackend() {
  return {.struct_size = sizeof(nrd_backend),
          .flags = 0,
          .context = nullptr,
          .open_model = OpenModel,
          .describe = Describe,
          .configure = ConfigureModel,
          .memory_read = ReadMemory,
          .open_instance = OpenInstance,
          .execute = Execute,
          .close_instance = CloseInstance,
          .close_model = CloseModel,
          .release_state = nullptr};
}

}  // namespace nereid
