// TRITONSERVER_InferenceRequest*: functions for requests and their tensors, and ServerInferAsync,
// which sends a request. inference_settings_api.cc has the other settings.
#include "triton/buffer_attributes.h"
#include "triton/inference_change.h"
#include "triton/inference_flight.h"

using nereid::Status;
using nereid::triton::BufferAttributes;
using nereid::triton::Change;
using nereid::triton::ChangeBy;
using nereid::triton::CheckText;
using nereid::triton::Find;
using nereid::triton::Give;
using nereid::triton::InferenceFlight;
using nereid::triton::InferenceRequest;
using nereid::triton::InferenceTrace;
using nereid::triton::Serve;
using nereid::triton::Site;

namespace {

// Ends the trace in any case.
Status Infer(const Site& site, TRITONSERVER_Server* server, TRITONSERVER_InferenceRequest* request,
             InferenceTrace* trace) {
  auto* const known = Find<InferenceRequest>(request);
  Status status = nereid::triton::CheckServer(site, server);
  if (status.ok()) {
    status = known == nullptr ? nereid::triton::WrongHandle(site, InferenceRequest::kKind, request)
                              : known->CheckReady();
  }
  if (status.ok()) {
    return InferenceFlight::Start(*known, trace);
  }
  if (trace != nullptr) {
    InferenceTrace::End(trace);
  }
  return status;
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_InferenceRequestNew(TRITONSERVER_InferenceRequest** request,
                                                     TRITONSERVER_Server* server, const char* model,
                                                     const int64_t version) {
  const Site site = NRT_SITE;
  return Serve(site, [&]() -> Status {
    NRD_RETURN_IF_ERROR(nereid::triton::CheckServer(site, server));
    NRD_RETURN_IF_ERROR(CheckText(site, model, "the model's name"));
    // A missing model is an error at once, as in Triton; the load is chosen on sending.
    NRD_RETURN_IF_ERROR(nereid::triton::PinnedModel().Acquire(model, version));
    *request = Give<TRITONSERVER_InferenceRequest>(new InferenceRequest(model, version));
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestDelete(TRITONSERVER_InferenceRequest* request) {
  return request == nullptr
             ? nullptr
             : Change(NRT_SITE, request, [](InferenceRequest& known) { delete &known; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestCancel(TRITONSERVER_InferenceRequest* request) {
  return Serve<InferenceRequest>(NRT_SITE, request,
                                 [](InferenceRequest& known) { known.Cancel(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestIsCancelled(TRITONSERVER_InferenceRequest* request,
                                                             bool* cancelled) {
  return Serve<InferenceRequest>(
      NRT_SITE, request, [&](InferenceRequest& known) { *cancelled = known.is_cancelled(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddInput(TRITONSERVER_InferenceRequest* request,
                                                          const char* name,
                                                          const TRITONSERVER_DataType datatype,
                                                          const int64_t* shape, uint64_t rank) {
  return ChangeBy(NRT_SITE, request, name, [&](InferenceRequest& known) {
    return known.AddInput(name, datatype, shape, rank);
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveInput(TRITONSERVER_InferenceRequest* request,
                                                             const char* name) {
  return ChangeBy(NRT_SITE, request, name,
                  [&](InferenceRequest& known) { return known.RemoveInput(name); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputs(
    TRITONSERVER_InferenceRequest* request) {
  return Change(NRT_SITE, request, [](InferenceRequest& known) { known.RemoveAllInputs(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputData(
    TRITONSERVER_InferenceRequest* request, const char* name, const void* data, size_t byte_size,
    TRITONSERVER_MemoryType type, int64_t id) {
  return ChangeBy(NRT_SITE, request, name, [&](InferenceRequest& known) {
    return known.AppendData(name, {data, byte_size, type, id});
  });
}

// Data for some instances equals the data for all others, in another place: the core gives one
// place to all, so this is checked and dropped.
TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
    TRITONSERVER_InferenceRequest* request, const char* name, const void* /*data*/,
    size_t /*byte_size*/, TRITONSERVER_MemoryType /*type*/, int64_t /*id*/,
    const char* host_policy) {
  const Site site = NRT_SITE;
  return ChangeBy(site, request, name, [&](InferenceRequest& known) -> Status {
    NRD_RETURN_IF_ERROR(CheckText(site, host_policy, "the host policy"));
    return known.AppendData(name, {nullptr, 0, TRITONSERVER_MEMORY_CPU, 0});
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(
    TRITONSERVER_InferenceRequest* request, const char* name, const void* data,
    TRITONSERVER_BufferAttributes* attributes) {
  const Site site = NRT_SITE;
  return ChangeBy(site, request, name, [&](InferenceRequest& known) -> Status {
    const auto* const place = Find<BufferAttributes>(attributes);
    if (place == nullptr) {
      return nereid::triton::WrongHandle(site, BufferAttributes::kKind, attributes);
    }
    return known.AppendData(name, {data, place->byte_size, place->type, place->id});
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputData(
    TRITONSERVER_InferenceRequest* request, const char* name) {
  return ChangeBy(NRT_SITE, request, name,
                  [&](InferenceRequest& known) { return known.RemoveAllData(name); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRequestedOutput(
    TRITONSERVER_InferenceRequest* request, const char* name) {
  return ChangeBy(NRT_SITE, request, name,
                  [&](InferenceRequest& known) { return known.AddOutput(name); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveRequestedOutput(
    TRITONSERVER_InferenceRequest* request, const char* name) {
  return ChangeBy(NRT_SITE, request, name,
                  [&](InferenceRequest& known) { known.RemoveOutput(name); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(
    TRITONSERVER_InferenceRequest* request) {
  return Change(NRT_SITE, request, [](InferenceRequest& known) { known.RemoveAllOutputs(); });
}

TRITONSERVER_Error* TRITONSERVER_ServerInferAsync(TRITONSERVER_Server* server,
                                                  TRITONSERVER_InferenceRequest* request,
                                                  TRITONSERVER_InferenceTrace* trace) {
  const Site site = NRT_SITE;
  return Serve(site, [&]() -> Status {
    auto* const known = Find<InferenceTrace>(trace);
    if (trace != nullptr && known == nullptr) {
      return nereid::triton::WrongHandle(site, InferenceTrace::kKind, trace);
    }
    if (known != nullptr && !known->is_plugins()) {
      return Status::InvalidArgument(
          "TRITONSERVER_ServerInferAsync: the trace belongs to another request, expected a child "
          "of it");
    }
    return Infer(site, server, request, known);
  });
}

}  // extern "C"
