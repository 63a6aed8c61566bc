// TRITONBACKEND_Response*, TRITONBACKEND_Output* and TRITONBACKEND_State*: a backend's answers.
#include <memory>

#include "triton/errors.h"
#include "triton/execution.h"
#include "triton/request.h"
#include "triton/response.h"

using nereid::Status;
using nereid::triton::Give;
using nereid::triton::Output;
using nereid::triton::Request;
using nereid::triton::Response;
using nereid::triton::ResponseFactory;
using nereid::triton::SequenceState;
using nereid::triton::Serve;
using nereid::triton::Site;

namespace {

Status NewResponse(Request& request, TRITONBACKEND_Response** response) {
  *response = nullptr;
  Response* made = nullptr;
  NRD_RETURN_IF_ERROR(request.NewResponse(&made));
  *response = Give<TRITONBACKEND_Response>(made);
  return Status();
}

TRITONSERVER_Error* AddParameter(const Site& site, TRITONBACKEND_Response* response,
                                 const char* name, nrd_value value) {
  return Serve<Response>(site, response, [&](Response& known) -> Status {
    if (name == nullptr) {
      return Status::InvalidArgument("the name of a response's parameter is NULL");
    }
    value.name = nereid::AsNrdString(name);
    known.Add(value);
    return Status();
  });
}

void Describe(const Output& output, TRITONSERVER_DataType* datatype, const int64_t** shape,
              uint64_t* rank) {
  *datatype = static_cast<TRITONSERVER_DataType>(output.tensor().datatype);
  *shape = output.tensor().shape;
  *rank = output.tensor().rank;
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryNew(TRITONBACKEND_ResponseFactory** factory,
                                                     TRITONBACKEND_Request* request) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) -> Status {
    *factory = nullptr;
    auto made = std::make_unique<ResponseFactory>(known, known.execution().owner());
    NRD_RETURN_IF_ERROR(known.HoldFactory());
    *factory = Give<TRITONBACKEND_ResponseFactory>(made.release());
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryDelete(TRITONBACKEND_ResponseFactory* factory) {
  return Serve<ResponseFactory>(NRT_SITE, factory, [&](ResponseFactory& known) {
    Request& request = known.request();
    delete &known;
    request.DropFactory();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryIsCancelled(TRITONBACKEND_ResponseFactory* factory,
                                                             bool* cancelled) {
  return Serve<ResponseFactory>(NRT_SITE, factory, [&](ResponseFactory& known) {
    *cancelled = known.request().IsCancelled();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactorySendFlags(TRITONBACKEND_ResponseFactory* factory,
                                                           const uint32_t flags) {
  const Site site = NRT_SITE;
  return Serve<ResponseFactory>(site, factory, [&](ResponseFactory& known) {
    return known.request().SendFlags(site, flags);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request) {
  return Serve<Request>(NRT_SITE, request,
                        [&](Request& known) { return NewResponse(known, response); });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNewFromFactory(TRITONBACKEND_Response** response,
                                                         TRITONBACKEND_ResponseFactory* factory) {
  return Serve<ResponseFactory>(NRT_SITE, factory, [&](ResponseFactory& known) {
    return NewResponse(known.request(), response);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseDelete(TRITONBACKEND_Response* response) {
  return Serve<Response>(NRT_SITE, response,
                         [](Response& known) { known.request().DropResponse(known); });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetStringParameter(TRITONBACKEND_Response* response,
                                                             const char* name, const char* value) {
  nrd_value text{};
  text.kind = NRD_VALUE_STRING;
  text.text = nereid::AsNrdString(value == nullptr ? "" : value);
  return AddParameter(NRT_SITE, response, name, text);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetIntParameter(TRITONBACKEND_Response* response,
                                                          const char* name, const int64_t value) {
  nrd_value number{};
  number.kind = NRD_VALUE_INT;
  number.number = value;
  return AddParameter(NRT_SITE, response, name, number);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetBoolParameter(TRITONBACKEND_Response* response,
                                                           const char* name, const bool value) {
  nrd_value truth{};
  truth.kind = NRD_VALUE_BOOL;
  truth.number = value ? 1 : 0;
  return AddParameter(NRT_SITE, response, name, truth);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetDoubleParameter(TRITONBACKEND_Response* response,
                                                             const char* name, const double value) {
  nrd_value real{};
  real.kind = NRD_VALUE_DOUBLE;
  real.real = value;
  return AddParameter(NRT_SITE, response, name, real);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 const TRITONSERVER_DataType datatype,
                                                 const int64_t* shape, const uint32_t rank) {
  return Serve<Response>(NRT_SITE, response, [&](Response& known) -> Status {
    *output = nullptr;
    Output* made = nullptr;
    NRD_RETURN_IF_ERROR(known.AddOutput(name, datatype, shape, rank, &made));
    *output = Give<TRITONBACKEND_Output>(made);
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response,
                                               const uint32_t flags, TRITONSERVER_Error* error) {
  const Site site = NRT_SITE;
  return Serve<Response>(site, response, [&](Response& known) {
    return known.request().Send(site, known, flags, nereid::triton::StatusOf(error));
  });
}

TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutputByName(TRITONBACKEND_Response* response,
                                                                const char* name,
                                                                TRITONSERVER_DataType* datatype,
                                                                const int64_t** shape,
                                                                uint64_t* rank) {
  return Serve<Response>(NRT_SITE, response, [&](Response& known) -> Status {
    for (uint32_t i = 0; i < known.output_count(); ++i) {
      if (name != nullptr && known.output(i).name() == name) {
        Describe(known.output(i), datatype, shape, rank);
        return Status();
      }
    }
    return Status(NRD_NOT_FOUND,
                  "Output name " + std::string(name == nullptr ? "" : name) + " not found.");
  });
}

TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutput(TRITONBACKEND_Response* response,
                                                          const uint32_t index, const char** name,
                                                          TRITONSERVER_DataType* datatype,
                                                          const int64_t** shape, uint64_t* rank) {
  return Serve<Response>(NRT_SITE, response, [&](Response& known) -> Status {
    if (index >= known.output_count()) {
      return Status::InvalidArgument("out of bounds index " + std::to_string(index) +
                                     ": response has " + std::to_string(known.output_count()) +
                                     " outputs");
    }
    *name = known.output(index).name().c_str();
    Describe(known.output(index), datatype, shape, rank);
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               const uint64_t byte_size,
                                               TRITONSERVER_MemoryType* type, int64_t* id) {
  return Serve<Output>(NRT_SITE, output, [&](Output& known) -> Status {
    *buffer = nullptr;
    NRD_RETURN_IF_ERROR(known.Buffer(byte_size, buffer));
    *type = known.attributes().type;
    *id = known.attributes().id;
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_OutputBufferAttributes(
    TRITONBACKEND_Output* output, TRITONSERVER_BufferAttributes** attributes) {
  return Serve<Output>(NRT_SITE, output, [&](Output& known) {
    *attributes = Give<TRITONSERVER_BufferAttributes>(&known.attributes());
  });
}

TRITONSERVER_Error* TRITONBACKEND_StateNew(TRITONBACKEND_State** state,
                                           TRITONBACKEND_Request* request, const char* name,
                                           const TRITONSERVER_DataType datatype,
                                           const int64_t* shape, const uint32_t rank) {
  return Serve<Request>(NRT_SITE, request, [&](Request& known) -> Status {
    *state = nullptr;
    SequenceState* made = nullptr;
    NRD_RETURN_IF_ERROR(known.State(name == nullptr ? "" : name, datatype, shape, rank, &made));
    *state = Give<TRITONBACKEND_State>(made);
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* state) {
  return Serve<SequenceState>(NRT_SITE, state, [](SequenceState& known) { return known.Update(); });
}

TRITONSERVER_Error* TRITONBACKEND_StateBuffer(TRITONBACKEND_State* state, void** buffer,
                                              const uint64_t byte_size,
                                              TRITONSERVER_MemoryType* type, int64_t* id) {
  return Serve<SequenceState>(NRT_SITE, state, [&](SequenceState& known) -> Status {
    *buffer = nullptr;
    NRD_RETURN_IF_ERROR(known.Buffer(byte_size, buffer));
    *type = known.attributes().type;
    *id = known.attributes().id;
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_StateBufferAttributes(
    TRITONBACKEND_State* state, TRITONSERVER_BufferAttributes** attributes) {
  return Serve<SequenceState>(NRT_SITE, state, [&](SequenceState& known) {
    *attributes = Give<TRITONSERVER_BufferAttributes>(&known.attributes());
  });
}

}  // extern "C"
