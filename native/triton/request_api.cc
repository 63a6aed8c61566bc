// TRITONBACKEND_Request* and TRITONBACKEND_Input*: functions by which a backend reads a request.
#include "triton/errors.h"
#include "triton/execution.h"
#include "triton/request.h"

using nereid::Status;
using nereid::triton::Give;
using nereid::triton::Input;
using nereid::triton::Parameter;
using nereid::triton::Request;
using nereid::triton::Serve;
using nereid::triton::Site;

namespace {

Status OutOfBounds(uint32_t index, size_t count, const char* what) {
  return Status::InvalidArgument("out of bounds index " + std::to_string(index) + ": request has " +
                                 std::to_string(count) + " " + what);
}

TRITONSERVER_Error* Properties(const Site& site, TRITONBACKEND_Input* input, const char** name,
                               TRITONSERVER_DataType* datatype, const int64_t** shape,
                               uint32_t* rank, uint64_t* byte_size, uint32_t* buffer_count) {
  return Serve<Input>(site, input, [&](Input& known) {
    const nrd_tensor& tensor = known.tensor();
    if (name != nullptr) {
      *name = known.name().c_str();
    }
    if (datatype != nullptr) {
      *datatype = static_cast<TRITONSERVER_DataType>(tensor.datatype);
    }
    if (shape != nullptr) {
      *shape = tensor.shape;
    }
    if (rank != nullptr) {
      *rank = tensor.rank;
    }
    if (byte_size != nullptr) {
      *byte_size = tensor.byte_size;
    }
    if (buffer_count != nullptr) {
      *buffer_count = tensor.byte_size == 0 ? 0 : 1;
    }
  });
}

// An input has one buffer, or none if it is empty.
Status CheckBuffer(const Input& input, uint32_t index) {
  const uint32_t count = input.tensor().byte_size == 0 ? 0 : 1;
  return index < count ? Status()
                       : Status::InvalidArgument("out of bounds index " + std::to_string(index) +
                                                 ": input '" + input.name() + "' has " +
                                                 std::to_string(count) + " buffers");
}

TRITONSERVER_Error* Buffer(const Site& site, TRITONBACKEND_Input* input, uint32_t index,
                           const void** buffer, uint64_t* byte_size, TRITONSERVER_MemoryType* type,
                           int64_t* id) {
  return Serve<Input>(site, input, [&](Input& known) -> Status {
    *buffer = nullptr;
    *byte_size = 0;
    NRD_RETURN_IF_ERROR(CheckBuffer(known, index));
    *buffer = known.tensor().data;
    *byte_size = known.tensor().byte_size;
    *type = known.attributes().type;
    *id = known.attributes().id;
    return Status();
  });
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_RequestId(TRITONBACKEND_Request* request, const char** id) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) { *id = known.id().c_str(); });
}

TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* request,
                                                     bool* cancelled) {
  return Serve<Request>(NRT_SITE, request,
                        [&](Request& known) { *cancelled = known.IsCancelled(); });
}

TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationId(TRITONBACKEND_Request* request,
                                                       uint64_t* id) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) -> Status {
    if (!known.sequence_name().empty()) {
      return Status::InvalidArgument("correlation ID in request is not an unsigned int");
    }
    *id = known.sequence_id();
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationIdString(TRITONBACKEND_Request* request,
                                                             const char** id) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) -> Status {
    if (known.sequence_name().empty()) {
      return Status::InvalidArgument("correlation ID in request is not a string");
    }
    *id = known.sequence_name().c_str();
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout_us) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) {
    *timeout_us = known.record() == nullptr ? 0 : known.record()->timeout_ns / 1000;
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestFlags(TRITONBACKEND_Request* request, uint32_t* flags) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) {
    const uint32_t core = known.record() == nullptr ? 0 : known.record()->flags;
    *flags = 0;
    if ((core & NRD_REQUEST_SEQUENCE_START) != 0) {
      *flags |= TRITONSERVER_REQUEST_FLAG_SEQUENCE_START;
    }
    if ((core & NRD_REQUEST_SEQUENCE_END) != 0) {
      *flags |= TRITONSERVER_REQUEST_FLAG_SEQUENCE_END;
    }
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(TRITONBACKEND_Request* request,
                                                        uint32_t* count) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) {
    *count = static_cast<uint32_t>(known.parameters().size());
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestParameter(TRITONBACKEND_Request* request,
                                                   const uint32_t index, const char** key,
                                                   TRITONSERVER_ParameterType* type,
                                                   const void** value) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) -> Status {
    const std::vector<Parameter>& parameters = known.parameters();
    if (index >= parameters.size()) {
      return OutOfBounds(index, parameters.size(), "parameters");
    }
    *key = parameters[index].name().c_str();
    *type = parameters[index].type();
    *value = parameters[index].value();
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request,
                                                    uint32_t* count) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) { *count = known.input_count(); });
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputName(TRITONBACKEND_Request* request,
                                                   const uint32_t index, const char** name) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) -> Status {
    *name = nullptr;
    if (index >= known.input_count()) {
      return OutOfBounds(index, known.input_count(), "inputs");
    }
    *name = known.input(index).name().c_str();
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestInput(TRITONBACKEND_Request* request, const char* name,
                                               TRITONBACKEND_Input** input) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) -> Status {
    Input* const found = name == nullptr ? nullptr : known.FindInput(name);
    *input = Give<TRITONBACKEND_Input>(found);
    return found != nullptr ? Status()
                            : Status::InvalidArgument("unknown request input name " +
                                                      std::string(name == nullptr ? "" : name));
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                      const uint32_t index,
                                                      TRITONBACKEND_Input** input) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) -> Status {
    *input = nullptr;
    if (index >= known.input_count()) {
      return OutOfBounds(index, known.input_count(), "inputs");
    }
    *input = Give<TRITONBACKEND_Input>(&known.input(index));
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                     uint32_t* count) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) {
    *count = static_cast<uint32_t>(known.wanted().size());
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request,
                                                    const uint32_t index, const char** name) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) -> Status {
    *name = nullptr;
    if (index >= known.wanted().size()) {
      return OutOfBounds(index, known.wanted().size(), "requested outputs");
    }
    *name = known.tensors().outputs[known.wanted()[index]].name.c_str();
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputBufferProperties(TRITONBACKEND_Request* request,
                                                                const char* /*name*/,
                                                                size_t* /*byte_size*/,
                                                                TRITONSERVER_MemoryType* type,
                                                                int64_t* id) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) {
    *type = known.execution().model().pinned() ? TRITONSERVER_MEMORY_CPU_PINNED
                                               : TRITONSERVER_MEMORY_CPU;
    *id = 0;
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request, uint32_t flags) {
  const Site site = NRT_SITE;
  return Serve<Request>(site, request, [&](Request& known) { return known.Release(site, flags); });
}

TRITONSERVER_Error* TRITONBACKEND_RequestTrace(TRITONBACKEND_Request* request,
                                               TRITONSERVER_InferenceTrace** trace) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) {
    *trace = Give<TRITONSERVER_InferenceTrace>(known.trace());
  });
}

TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  TRITONSERVER_DataType* datatype,
                                                  const int64_t** shape, uint32_t* rank,
                                                  uint64_t* byte_size, uint32_t* buffer_count) {
  return Properties(NRT_SITE, input, name, datatype, shape, rank, byte_size, buffer_count);
}

TRITONSERVER_Error* TRITONBACKEND_InputPropertiesForHostPolicy(
    TRITONBACKEND_Input* input, const char* /*host_policy*/, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint32_t* rank, uint64_t* byte_size,
    uint32_t* buffer_count) {
  return Properties(NRT_SITE, input, name, datatype, shape, rank, byte_size, buffer_count);
}

TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, const uint32_t index,
                                              const void** buffer, uint64_t* byte_size,
                                              TRITONSERVER_MemoryType* type, int64_t* id) {
  return Buffer(NRT_SITE, input, index, buffer, byte_size, type, id);
}

TRITONSERVER_Error* TRITONBACKEND_InputBufferForHostPolicy(
    TRITONBACKEND_Input* input, const char* /*host_policy*/, const uint32_t index,
    const void** buffer, uint64_t* byte_size, TRITONSERVER_MemoryType* type, int64_t* id) {
  return Buffer(NRT_SITE, input, index, buffer, byte_size, type, id);
}

TRITONSERVER_Error* TRITONBACKEND_InputBufferAttributes(
    TRITONBACKEND_Input* input, const uint32_t index, const void** buffer,
    TRITONSERVER_BufferAttributes** attributes) {
  return Serve<Input>(NRT_SITE, input, [&](Input& known) -> Status {
    *buffer = nullptr;
    *attributes = nullptr;
    NRD_RETURN_IF_ERROR(CheckBuffer(known, index));
    *buffer = known.tensor().data;
    *attributes = Give<TRITONSERVER_BufferAttributes>(&known.attributes());
    return Status();
  });
}

}  // extern "C"
