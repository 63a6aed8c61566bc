// TRITONSERVER_InferenceTrace*.
#include "triton/calls.h"
#include "triton/errors.h"
#include "triton/inference_trace.h"

using nereid::Status;
using nereid::triton::CheckText;
using nereid::triton::Give;
using nereid::triton::InferenceTrace;
using nereid::triton::Serve;
using nereid::triton::Site;
using nereid::triton::TraceCallbacks;

namespace {

TRITONSERVER_Error* NewTrace(const Site& site, TRITONSERVER_InferenceTrace** trace, uint32_t level,
                             uint64_t parent, const TraceCallbacks& callbacks) {
  return Serve(site, [&]() -> Status {
    if (callbacks.activity == nullptr || callbacks.release == nullptr) {
      return Status::InvalidArgument("a trace has to have functions for activities and release");
    }
    *trace = Give<TRITONSERVER_InferenceTrace>(new InferenceTrace(level, parent, callbacks));
    return Status();
  });
}

}  // namespace

extern "C" {

const char* TRITONSERVER_InferenceTraceLevelString(TRITONSERVER_InferenceTraceLevel level) {
  switch (level) {
    case TRITONSERVER_TRACE_LEVEL_DISABLED:
      return "DISABLED";
    case TRITONSERVER_TRACE_LEVEL_MIN:
      return "MIN";
    case TRITONSERVER_TRACE_LEVEL_MAX:
      return "MAX";
    case TRITONSERVER_TRACE_LEVEL_TIMESTAMPS:
      return "TIMESTAMPS";
    case TRITONSERVER_TRACE_LEVEL_TENSORS:
      return "TENSORS";
    default:
      return "<unknown>";
  }
}

const char* TRITONSERVER_InferenceTraceActivityString(
    TRITONSERVER_InferenceTraceActivity activity) {
  switch (activity) {
    case TRITONSERVER_TRACE_REQUEST_START:
      return "REQUEST_START";
    case TRITONSERVER_TRACE_QUEUE_START:
      return "QUEUE_START";
    case TRITONSERVER_TRACE_COMPUTE_START:
      return "COMPUTE_START";
    case TRITONSERVER_TRACE_COMPUTE_INPUT_END:
      return "COMPUTE_INPUT_END";
    case TRITONSERVER_TRACE_COMPUTE_OUTPUT_START:
      return "COMPUTE_OUTPUT_START";
    case TRITONSERVER_TRACE_COMPUTE_END:
      return "COMPUTE_END";
    case TRITONSERVER_TRACE_REQUEST_END:
      return "REQUEST_END";
    case TRITONSERVER_TRACE_TENSOR_QUEUE_INPUT:
      return "TENSOR_QUEUE_INPUT";
    case TRITONSERVER_TRACE_TENSOR_BACKEND_INPUT:
      return "TENSOR_BACKEND_INPUT";
    case TRITONSERVER_TRACE_TENSOR_BACKEND_OUTPUT:
      return "TENSOR_BACKEND_OUTPUT";
    case TRITONSERVER_TRACE_CUSTOM_ACTIVITY:
      return "CUSTOM_ACTIVITY";
    default:
      return "<unknown>";
  }
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceNew(TRITONSERVER_InferenceTrace** trace,
                                                   TRITONSERVER_InferenceTraceLevel level,
                                                   uint64_t parent,
                                                   TRITONSERVER_InferenceTraceActivityFn_t activity,
                                                   TRITONSERVER_InferenceTraceReleaseFn_t release,
                                                   void* userp) {
  return NewTrace(NRT_SITE, trace, level, parent, {activity, nullptr, release, userp});
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceTensorNew(
    TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level, uint64_t parent,
    TRITONSERVER_InferenceTraceActivityFn_t activity,
    TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_activity,
    TRITONSERVER_InferenceTraceReleaseFn_t release, void* userp) {
  return NewTrace(NRT_SITE, trace, level, parent, {activity, tensor_activity, release, userp});
}

// A backend reports for each of its requests, traced or not.
TRITONSERVER_Error* TRITONSERVER_InferenceTraceReportActivity(TRITONSERVER_InferenceTrace* trace,
                                                              uint64_t time_ns, const char* name) {
  if (trace == nullptr) {
    return nullptr;
  }
  const Site site = NRT_SITE;
  return Serve<InferenceTrace>(site, trace, [&](InferenceTrace& known) -> Status {
    NRD_RETURN_IF_ERROR(CheckText(site, name, "the activity's name"));
    known.ReportCustom(static_cast<int64_t>(time_ns), name);
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceDelete(TRITONSERVER_InferenceTrace* trace) {
  return Serve<InferenceTrace>(NRT_SITE, trace, [](InferenceTrace& known) -> Status {
    if (!known.is_plugins()) {
      return Status::InvalidArgument("the trace belongs to the request that it was taken from");
    }
    delete &known;
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceId(TRITONSERVER_InferenceTrace* trace,
                                                  uint64_t* id) {
  return Serve<InferenceTrace>(NRT_SITE, trace, [&](InferenceTrace& known) { *id = known.id(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceParentId(TRITONSERVER_InferenceTrace* trace,
                                                        uint64_t* parent) {
  return Serve<InferenceTrace>(NRT_SITE, trace,
                               [&](InferenceTrace& known) { *parent = known.parent(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelName(TRITONSERVER_InferenceTrace* trace,
                                                         const char** name) {
  return Serve<InferenceTrace>(NRT_SITE, trace,
                               [&](InferenceTrace& known) { *name = known.model().c_str(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelVersion(TRITONSERVER_InferenceTrace* trace,
                                                            int64_t* version) {
  return Serve<InferenceTrace>(NRT_SITE, trace,
                               [&](InferenceTrace& known) { *version = known.version(); });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceRequestId(TRITONSERVER_InferenceTrace* trace,
                                                         const char** id) {
  return Serve<InferenceTrace>(NRT_SITE, trace,
                               [&](InferenceTrace& known) { *id = known.request_id().c_str(); });
}

// Without a trace there is no child.
TRITONSERVER_Error* TRITONSERVER_InferenceTraceSpawnChildTrace(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTrace** child) {
  if (trace == nullptr) {
    *child = nullptr;
    return nullptr;
  }
  return Serve<InferenceTrace>(NRT_SITE, trace, [&](InferenceTrace& known) {
    *child = Give<TRITONSERVER_InferenceTrace>(known.SpawnChild());
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceSetContext(TRITONSERVER_InferenceTrace* trace,
                                                          const char* context) {
  const Site site = NRT_SITE;
  return Serve<InferenceTrace>(site, trace, [&](InferenceTrace& known) -> Status {
    NRD_RETURN_IF_ERROR(CheckText(site, context, "the context"));
    known.SetContext(context);
    return Status();
  });
}

TRITONSERVER_Error* TRITONSERVER_InferenceTraceContext(TRITONSERVER_InferenceTrace* trace,
                                                       const char** context) {
  return Serve<InferenceTrace>(NRT_SITE, trace,
                               [&](InferenceTrace& known) { *context = known.context(); });
}

}  // extern "C"
