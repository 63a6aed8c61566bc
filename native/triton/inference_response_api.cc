// TRITONSERVER_InferenceResponse* and TRITONSERVER_ResponseAllocator*.
#include "triton/calls.h"
#include "triton/errors.h"
#include "triton/inference_response.h"

using nereid::Status;
using nereid::triton::AllocatorFunctions;
using nereid::triton::Find;
using nereid::triton::Give;
using nereid::triton::InferenceOutput;
using nereid::triton::InferenceResponse;
using nereid::triton::Parameter;
using nereid::triton::ResponseAllocator;
using nereid::triton::Serve;

namespace {

Status OutOfBounds(uint32_t index, size_t count, const char* what) {
  return Status::InvalidArgument("out of bounds index " + std::to_string(index) +
                                 ": response has " + std::to_string(count) + " " + what);
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorNew(
    TRITONSERVER_ResponseAllocator** allocator, TRITONSERVER_ResponseAllocatorAllocFn_t allocate,
    TRITONSERVER_ResponseAllocatorReleaseFn_t release,
    TRITONSERVER_ResponseAllocatorStartFn_t start) {
  return Serve(NRT_SITE, [&]() -> Status {
    if (allocate == nullptr || release == nullptr) {
      return Status::InvalidArgument(
          "a response allocator has to have functions for allocation and release");
    }
    AllocatorFunctions functions;
    functions.allocate = allocate;
    functions.release = release;
    functions.start = start;
    *allocator = Give<TRITONSERVER_ResponseAllocator>(new ResponseAllocator(functions));
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(
    TRITONSERVER_ResponseAllocator* allocator,
    TRITONSERVER_ResponseAllocatorBufferAttributesFn_t attributes) {
  return Serve<ResponseAllocator>(NRT_SITE, allocator, [&](ResponseAllocator& known) {
    known.functions.attributes = attributes;
  });
}

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetQueryFunction(
    TRITONSERVER_ResponseAllocator* allocator, TRITONSERVER_ResponseAllocatorQueryFn_t query) {
  return Serve<ResponseAllocator>(NRT_SITE, allocator,
                                  [&](ResponseAllocator& known) { known.functions.query = query; });
}

TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorDelete(
    TRITONSERVER_ResponseAllocator* allocator) {
  return Serve<ResponseAllocator>(NRT_SITE, allocator,
                                  [](ResponseAllocator& known) { delete &known; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseDelete(TRITONSERVER_InferenceResponse* response) {
  return response == nullptr
             ? nullptr
             : Serve<InferenceResponse>(NRT_SITE, response,
                                        [](InferenceResponse& known) { delete &known; });
}

// The plug-in also owns, and deletes, the error of a wrong pointer.
TRITONSERVER_Error* TRITONSERVER_InferenceResponseError(TRITONSERVER_InferenceResponse* response) {
  auto* const known = Find<InferenceResponse>(response);
  if (known == nullptr) {
    return nereid::triton::NewError(
        nereid::triton::WrongHandle(NRT_SITE, InferenceResponse::kKind, response));
  }
  return Give<TRITONSERVER_Error>(known->error());
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseModel(TRITONSERVER_InferenceResponse* response,
                                                        const char** name, int64_t* version) {
  return Serve<InferenceResponse>(NRT_SITE, response, [&](InferenceResponse& known) {
    *name = known.model().c_str();
    *version = known.version();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseId(TRITONSERVER_InferenceResponse* response,
                                                     const char** id) {
  return Serve<InferenceResponse>(
      NRT_SITE, response, [&](InferenceResponse& known) { *id = known.request_id().c_str(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameterCount(
    TRITONSERVER_InferenceResponse* response, uint32_t* count) {
  return Serve<InferenceResponse>(NRT_SITE, response, [&](InferenceResponse& known) {
    *count = static_cast<uint32_t>(known.values().size());
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameter(
    TRITONSERVER_InferenceResponse* response, const uint32_t index, const char** name,
    TRITONSERVER_ParameterType* type, const void** value) {
  return Serve<InferenceResponse>(NRT_SITE, response, [&](InferenceResponse& known) -> Status {
    if (index >= known.values().size()) {
      return OutOfBounds(index, known.values().size(), "parameters");
    }
    const Parameter& parameter = known.values()[index];
    *name = parameter.name().c_str();
    *type = parameter.type();
    *value = parameter.value();
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputCount(
    TRITONSERVER_InferenceResponse* response, uint32_t* count) {
  return Serve<InferenceResponse>(NRT_SITE, response, [&](InferenceResponse& known) {
    *count = static_cast<uint32_t>(known.outputs().size());
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutput(
    TRITONSERVER_InferenceResponse* response, const uint32_t index, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint64_t* rank, const void** data,
    size_t* byte_size, TRITONSERVER_MemoryType* type, int64_t* id, void** userp) {
  return Serve<InferenceResponse>(NRT_SITE, response, [&](InferenceResponse& known) -> Status {
    if (index >= known.outputs().size()) {
      return OutOfBounds(index, known.outputs().size(), "outputs");
    }
    const InferenceOutput& output = known.outputs()[index];
    *name = output.name.c_str();
    *datatype = output.datatype;
    *shape = output.shape.data();
    *rank = output.shape.size();
    *data = output.data;
    *byte_size = output.byte_size;
    *type = output.memory_type;
    *id = output.memory_id;
    *userp = output.userp;
    return Status();
  });
}

}  // extern "C"
