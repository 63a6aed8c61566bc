#include "triton/inference_response.h"

#include <cstring>
#include <utility>

#include "triton/buffer_attributes.h"
#include "triton/host.h"

namespace nereid::triton {

InferenceResponse::InferenceResponse(Owner& owner, std::string_view model, int64_t version,
                                     std::string_view request_id, const OutputPlace& place)
    : owner_(owner), model_(model), version_(version), request_id_(request_id), place_(place) {
  Open(kKind, &owner);
}

InferenceResponse::~InferenceResponse() {
  Close();
  ReleaseOutputs();
}

void InferenceResponse::TakeOutputs(nrd_model* model, const nrd_tensor* outputs, uint32_t count) {
  if (const Status status = TakeAll(model, outputs, count); !status.ok()) {
    Fail(status);
  }
}

Status InferenceResponse::TakeAll(nrd_model* model, const nrd_tensor* outputs, uint32_t count) {
  if (place_.functions.start != nullptr) {
    NRD_RETURN_IF_ERROR(CallPlugin(owner_, "the start of a response", [this] {
      return place_.functions.start(place_.handle, place_.userp);
    }));
  }
  outputs_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    nrd_tensor_spec spec{};
    if (outputs[i].data != nullptr &&
        nrd_model_tensor(model, NRD_TENSOR_OUTPUT, i, &spec) == NRD_OK) {
      NRD_RETURN_IF_ERROR(Place(View(spec.name), outputs[i]));
    }
  }
  return Status();
}

void InferenceResponse::TakeValues(const nrd_value* values, uint32_t count) {
  values_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    values_.push_back(Parameter::Of(values[i]));
  }
}

void InferenceResponse::Fail(const Status& status) noexcept {
  error_ = &Error::OutOfMemory();
  (void)Caught("making an error", [&] {
    own_error_ = std::make_unique<Error>(ToErrorCode(status.code()), status.message(), nullptr);
    error_ = own_error_.get();
    return Status();
  });
  ReleaseOutputs();
}

Status InferenceResponse::Place(std::string_view name, const nrd_tensor& tensor) {
  InferenceOutput& output = outputs_.emplace_back();
  output.name = name;
  output.datatype = static_cast<TRITONSERVER_DataType>(tensor.datatype);
  output.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  output.byte_size = tensor.byte_size;
  NRD_RETURN_IF_ERROR(Allocate(&output));
  if (output.byte_size == 0) {
    return Status();
  }
  if (output.data == nullptr || output.memory_type == TRITONSERVER_MEMORY_GPU) {
    return Status(NRD_UNIMPLEMENTED,
                  "the response allocator of " + owner_.name() + " gave " +
                      (output.data == nullptr ? "no memory" : "memory of a GPU") + " for output '" +
                      output.name + "' of model '" + model_ +
                      "', expected memory of the processor");
  }
  std::memcpy(output.data, tensor.data, output.byte_size);
  return Status();
}

Status InferenceResponse::Allocate(InferenceOutput* output) {
  const AllocatorFunctions& functions = place_.functions;
  const char* const name = output->name.c_str();
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  if (functions.query != nullptr) {
    size_t byte_size = output->byte_size;
    NRD_RETURN_IF_ERROR(CallPlugin(owner_, "a response allocator's query", [&] {
      return functions.query(place_.handle, place_.userp, name, &byte_size, &type, &id);
    }));
  }
  output->memory_type = type;
  output->memory_id = id;
  Status status = CallPlugin(owner_, "a response allocator", [&] {
    return functions.allocate(place_.handle, name, output->byte_size, type, id, place_.userp,
                              &output->data, &output->userp, &output->memory_type,
                              &output->memory_id);
  });
  if (!status.ok()) {
    output->data = nullptr;  // a pointer left by a failed allocation must not be released
    return status;
  }
  return functions.attributes == nullptr ? Status() : AskAttributes(*output);
}

// The contract demands this call; its answer is not used.
Status InferenceResponse::AskAttributes(const InferenceOutput& output) {
  BufferAttributes attributes;
  attributes.byte_size = output.byte_size;
  attributes.type = output.memory_type;
  attributes.id = output.memory_id;
  attributes.OpenFor(nullptr);
  return CallPlugin(owner_, "a response allocator's buffer attributes", [&] {
    return place_.functions.attributes(place_.handle, output.name.c_str(),
                                       Give<TRITONSERVER_BufferAttributes>(&attributes),
                                       place_.userp, output.userp);
  });
}

void InferenceResponse::ReleaseOutputs() {
  for (const InferenceOutput& output : outputs_) {
    if (output.data == nullptr) {
      continue;
    }
    const Status status = CallPlugin(owner_, "a response allocator's release", [&] {
      return place_.functions.release(place_.handle, output.data, output.userp, output.byte_size,
                                      output.memory_type, output.memory_id);
    });
    if (!status.ok()) {
      Log(kLogError, {"output '", output.name, "' of model '", model_,
                      "' was not released: ", status.message()});
    }
  }
  outputs_.clear();
}

}  // namespace nereid::triton
