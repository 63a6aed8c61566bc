// TRITONSERVER_InferenceRequest*: the settings other than tensors.
#include <algorithm>
#include <limits>
#include <utility>

#include "triton/inference_change.h"

using nereid::Status;
using nereid::triton::Change;
using nereid::triton::ChangeBy;
using nereid::triton::Find;
using nereid::triton::InferenceRequest;
using nereid::triton::Parameter;
using nereid::triton::ResponseAllocator;
using nereid::triton::Serve;
using nereid::triton::Site;

namespace {

TRITONSERVER_Error* AddParameter(const Site& site, TRITONSERVER_InferenceRequest* request,
                                 const char* key, Parameter parameter) {
  return ChangeBy(site, request, key, [&](InferenceRequest& known) {
    known.settings.parameters.push_back(std::move(parameter));
  });
}

std::string OrEmpty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_InferenceRequestId(TRITONSERVER_InferenceRequest* request,
                                                    const char** id) {
  return Serve<InferenceRequest>(NRT_SITE, request,
                                 [&](InferenceRequest& known) { *id = known.settings.id.c_str(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetId(TRITONSERVER_InferenceRequest* request,
                                                       const char* id) {
  return ChangeBy(NRT_SITE, request, id, [&](InferenceRequest& known) { known.settings.id = id; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestFlags(TRITONSERVER_InferenceRequest* request,
                                                       uint32_t* flags) {
  return Serve<InferenceRequest>(NRT_SITE, request,
                                 [&](InferenceRequest& known) { *flags = known.settings.flags; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetFlags(TRITONSERVER_InferenceRequest* request,
                                                          uint32_t flags) {
  return Change(NRT_SITE, request, [&](InferenceRequest& known) { known.settings.flags = flags; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationId(
    TRITONSERVER_InferenceRequest* request, uint64_t* id) {
  return Serve<InferenceRequest>(NRT_SITE, request, [&](InferenceRequest& known) -> Status {
    if (!known.settings.sequence_name.empty()) {
      return Status::InvalidArgument(known.Prefix() +
                                     "correlation ID in request is not an unsigned int");
    }
    *id = known.settings.sequence_id;
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationIdString(
    TRITONSERVER_InferenceRequest* request, const char** id) {
  return Serve<InferenceRequest>(NRT_SITE, request, [&](InferenceRequest& known) -> Status {
    if (known.settings.sequence_id != 0) {
      return Status::InvalidArgument(known.Prefix() + "correlation ID in request is not a string");
    }
    *id = known.settings.sequence_name.c_str();
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationId(
    TRITONSERVER_InferenceRequest* request, uint64_t id) {
  return Change(NRT_SITE, request, [&](InferenceRequest& known) {
    known.settings.sequence_id = id;
    known.settings.sequence_name.clear();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationIdString(
    TRITONSERVER_InferenceRequest* request, const char* id) {
  return ChangeBy(NRT_SITE, request, id, [&](InferenceRequest& known) -> Status {
    const size_t size = std::char_traits<char>::length(id);
    if (size > NRD_MAX_SEQUENCE_NAME) {
      return Status::InvalidArgument(known.Prefix() + "the correlation ID has " +
                                     std::to_string(size) + " bytes, at most " +
                                     std::to_string(NRD_MAX_SEQUENCE_NAME) + " are supported");
    }
    known.settings.sequence_id = 0;
    known.settings.sequence_name.assign(id, size);
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriority(TRITONSERVER_InferenceRequest* request,
                                                          uint32_t* priority) {
  return Serve<InferenceRequest>(NRT_SITE, request, [&](InferenceRequest& known) {
    *priority = static_cast<uint32_t>(
        std::min<uint64_t>(known.settings.priority, std::numeric_limits<uint32_t>::max()));
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriorityUInt64(
    TRITONSERVER_InferenceRequest* request, uint64_t* priority) {
  return Serve<InferenceRequest>(
      NRT_SITE, request, [&](InferenceRequest& known) { *priority = known.settings.priority; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriority(TRITONSERVER_InferenceRequest* request,
                                                             uint32_t priority) {
  return Change(NRT_SITE, request,
                [&](InferenceRequest& known) { known.settings.priority = priority; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriorityUInt64(
    TRITONSERVER_InferenceRequest* request, uint64_t priority) {
  return Change(NRT_SITE, request,
                [&](InferenceRequest& known) { known.settings.priority = priority; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* request, uint64_t* timeout_us) {
  return Serve<InferenceRequest>(
      NRT_SITE, request, [&](InferenceRequest& known) { *timeout_us = known.settings.timeout_us; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* request, uint64_t timeout_us) {
  return Change(NRT_SITE, request,
                [&](InferenceRequest& known) { known.settings.timeout_us = timeout_us; });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetReleaseCallback(
    TRITONSERVER_InferenceRequest* request, TRITONSERVER_InferenceRequestReleaseFn_t release,
    void* userp) {
  return Change(NRT_SITE, request, [&](InferenceRequest& known) {
    known.settings.release = {release, userp};
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetResponseCallback(
    TRITONSERVER_InferenceRequest* request, TRITONSERVER_ResponseAllocator* allocator,
    void* allocator_userp, TRITONSERVER_InferenceResponseCompleteFn_t complete, void* userp) {
  const Site site = NRT_SITE;
  return Change(site, request, [&](InferenceRequest& known) -> Status {
    const auto* const found = Find<ResponseAllocator>(allocator);
    if (found == nullptr) {
      return nereid::triton::WrongHandle(site, ResponseAllocator::kKind, allocator);
    }
    known.settings.response = {{found->functions, allocator, allocator_userp}, complete, userp};
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetStringParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const char* value) {
  return AddParameter(NRT_SITE, request, value == nullptr ? nullptr : key,
                      Parameter::OfString(OrEmpty(key), OrEmpty(value)));
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetIntParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const int64_t value) {
  return AddParameter(NRT_SITE, request, key, Parameter::OfInt(OrEmpty(key), value));
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetBoolParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const bool value) {
  return AddParameter(NRT_SITE, request, key, Parameter::OfBool(OrEmpty(key), value));
}

TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetDoubleParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const double value) {
  return AddParameter(NRT_SITE, request, key, Parameter::OfDouble(OrEmpty(key), value));
}

}  // extern "C"
