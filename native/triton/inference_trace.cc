#include "triton/inference_trace.h"

#include <algorithm>
#include <memory>

#include "triton/calls.h"
#include "triton/json.h"

namespace nereid::triton {
namespace {

// The control plane's tags are small numbers.
constexpr uint64_t kPluginsTag = uint64_t{1} << 63;

// 0 stands for no trace.
uint64_t NextId() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

InferenceTrace::InferenceTrace(uint32_t level, uint64_t parent, const TraceCallbacks& callbacks)
    : level_(level),
      id_(NextId()),
      parent_(parent),
      callbacks_(callbacks),
      owner_(Owner::Current()) {
  Open(kKind, &owner_);
}

InferenceTrace::InferenceTrace(uint64_t tag)
    : level_(TRITONSERVER_TRACE_LEVEL_TIMESTAMPS | TRITONSERVER_TRACE_LEVEL_TENSORS),
      id_(NextId()),
      parent_(0),
      origin_(std::make_shared<Origin>(tag, id_)),
      owner_(Owner::Current()) {
  Open(kKind, nullptr);
}

InferenceTrace::InferenceTrace(const InferenceTrace& parent)
    : level_(parent.level_),
      id_(NextId()),
      parent_(parent.id_),
      callbacks_(parent.callbacks_),
      origin_(parent.origin_),
      owner_(Owner::Current()) {
  Open(kKind, &owner_);
}

InferenceTrace::~InferenceTrace() {
  if (is_requests()) {
    const MutexLock lock(origin_->mutex);
    origin_->open = false;
  }
}

InferenceTrace* InferenceTrace::SpawnChild() const { return new InferenceTrace(*this); }

uint64_t InferenceTrace::TagOf(InferenceTrace* trace) {
  return kPluginsTag | reinterpret_cast<uint64_t>(trace);
}

InferenceTrace* InferenceTrace::OfTag(uint64_t tag) {
  return (tag & kPluginsTag) == 0 ? nullptr : reinterpret_cast<InferenceTrace*>(tag & ~kPluginsTag);
}

void InferenceTrace::Begin(std::string_view model, int64_t version, std::string_view request_id,
                           int64_t time_ns) {
  model_ = model;
  version_ = version;
  request_id_ = request_id;
  in_flight_ = true;
  Report(TRITONSERVER_TRACE_REQUEST_START, time_ns);
}

void InferenceTrace::ReportInputs(const nrd_request& record, nrd_model* model) {
  for (uint32_t i = 0; wants_tensors() && i < record.input_count; ++i) {
    const nrd_tensor& input = record.inputs[i];
    nrd_tensor_spec spec{};
    if ((input.flags & NRD_TENSOR_SELECTED) == 0 ||
        nrd_model_tensor(model, NRD_TENSOR_INPUT, i, &spec) != NRD_OK) {
      continue;
    }
    InferenceOutput tensor;
    tensor.name = View(spec.name);
    tensor.datatype = static_cast<TRITONSERVER_DataType>(input.datatype);
    tensor.shape.assign(input.shape, input.shape + input.rank);
    tensor.data = input.data;
    tensor.byte_size = input.byte_size;
    if ((input.flags & NRD_TENSOR_DEVICE) != 0) {
      tensor.memory_type = TRITONSERVER_MEMORY_GPU;
      tensor.memory_id = input.device;
    }
    ReportTensor(TRITONSERVER_TRACE_TENSOR_QUEUE_INPUT, tensor);
  }
}

void InferenceTrace::ReportOutputs(const InferenceResponse& response) {
  if (wants_tensors()) {
    for (const InferenceOutput& output : response.outputs()) {
      ReportTensor(TRITONSERVER_TRACE_TENSOR_BACKEND_OUTPUT, output);
    }
  }
}

// The core reports how long each stage took, not when: the stages follow one another.
void InferenceTrace::ReportCourse(const nrd_request& record, int64_t start_ns) {
  Report(TRITONSERVER_TRACE_QUEUE_START, start_ns);
  if (record.executed_batch_size != 0) {
    int64_t time_ns = start_ns + static_cast<int64_t>(record.queue_ns);
    Report(TRITONSERVER_TRACE_COMPUTE_START, time_ns);
    time_ns += static_cast<int64_t>(record.compute_input_ns);
    Report(TRITONSERVER_TRACE_COMPUTE_INPUT_END, time_ns);
    time_ns += static_cast<int64_t>(record.compute_infer_ns);
    Report(TRITONSERVER_TRACE_COMPUTE_OUTPUT_START, time_ns);
    time_ns += static_cast<int64_t>(record.compute_output_ns);
    Report(TRITONSERVER_TRACE_COMPUTE_END, time_ns);
  }
  Report(TRITONSERVER_TRACE_REQUEST_END, nrd_clock_now_ns());
}

void InferenceTrace::End(InferenceTrace* trace) {
  trace->in_flight_ = false;
  if (trace->callbacks_.release == nullptr) {
    delete trace;
    return;
  }
  CallBack(trace->owner_, "a trace's release", [trace] {
    trace->callbacks_.release(Give<TRITONSERVER_InferenceTrace>(trace), trace->callbacks_.userp);
  });
}

void InferenceTrace::ReportCustom(int64_t time_ns, std::string_view name) {
  {
    const MutexLock lock(mutex_);
    const std::string entry = Quoted(std::to_string(time_ns)) + ":" + Quoted(name) + "}";
    const size_t end = context_.rfind('}');
    if (end == std::string::npos) {
      context_ = "{" + entry;
    } else {
      context_.replace(end, std::string::npos,
                       (context_.find(':') == std::string::npos ? "" : ",") + entry);
    }
  }
  TellMoment(TRITONSERVER_TRACE_CUSTOM_ACTIVITY, time_ns, name);
}

void InferenceTrace::SetContext(std::string_view context) {
  const MutexLock lock(mutex_);
  context_ = context;
}

const char* InferenceTrace::context() {
  const MutexLock lock(mutex_);
  return context_.c_str();
}

void InferenceTrace::Report(TRITONSERVER_InferenceTraceActivity activity, int64_t time_ns) {
  TellMoment(activity, time_ns, TRITONSERVER_InferenceTraceActivityString(activity));
}

// `name` is for the control plane, which knows no numbers of activities.
void InferenceTrace::TellMoment(TRITONSERVER_InferenceTraceActivity activity, int64_t time_ns,
                                std::string_view name) {
  if ((level_ & TRITONSERVER_TRACE_LEVEL_TIMESTAMPS) == 0) {
    return;
  }
  if (origin_ != nullptr) {
    Tell(name, time_ns, nullptr);
  } else if (callbacks_.activity != nullptr) {
    CallBack(owner_, "a trace's activity", [&] {
      callbacks_.activity(Give<TRITONSERVER_InferenceTrace>(this), activity,
                          static_cast<uint64_t>(time_ns), callbacks_.userp);
    });
  }
}

void InferenceTrace::Tell(std::string_view name, int64_t time_ns, const InferenceOutput* tensor) {
  nrd_tensor told{};
  nrt_activity activity{};
  activity.tag = origin_->tag;
  activity.trace = is_requests() ? 0 : id_;
  activity.parent = parent_ == origin_->trace ? 0 : parent_;
  activity.time_ns = time_ns;
  activity.version = version_;
  activity.model = AsNrdString(model_);
  activity.request_id = AsNrdString(request_id_);
  activity.name = AsNrdString(name);
  if (tensor != nullptr) {
    told.data = const_cast<void*>(tensor->data);  // no code writes there
    told.byte_size = tensor->byte_size;
    told.datatype = static_cast<int32_t>(tensor->datatype);
    told.rank = static_cast<uint32_t>(std::min<size_t>(tensor->shape.size(), NRD_MAX_RANK));
    std::copy_n(tensor->shape.begin(), told.rank, told.shape);
    told.flags = tensor->memory_type == TRITONSERVER_MEMORY_GPU ? NRD_TENSOR_DEVICE : 0;
    activity.tensor_name = AsNrdString(tensor->name);
    activity.tensor = &told;
  }
  const MutexLock lock(origin_->mutex);
  if (origin_->open && TheHost().trace_activity != nullptr) {
    TheHost().trace_activity(TheHost().context, &activity);
  }
}

void InferenceTrace::ReportTensor(TRITONSERVER_InferenceTraceActivity activity,
                                  const InferenceOutput& tensor) {
  if (origin_ != nullptr) {
    Tell(TRITONSERVER_InferenceTraceActivityString(activity), nrd_clock_now_ns(), &tensor);
    return;
  }
  CallBack(owner_, "a trace's tensor activity", [&] {
    callbacks_.tensor_activity(Give<TRITONSERVER_InferenceTrace>(this), activity,
                               tensor.name.c_str(), tensor.datatype, tensor.data, tensor.byte_size,
                               tensor.shape.data(), tensor.shape.size(), tensor.memory_type,
                               tensor.memory_id, callbacks_.userp);
  });
}

bool InferenceTrace::wants_tensors() const {
  return (level_ & TRITONSERVER_TRACE_LEVEL_TENSORS) != 0 &&
         (origin_ != nullptr || callbacks_.tensor_activity != nullptr);
}

}  // namespace nereid::triton
