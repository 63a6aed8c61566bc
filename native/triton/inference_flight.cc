#include "triton/inference_flight.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "triton/calls.h"

namespace nereid::triton {
namespace {

uint32_t CoreFlags(uint32_t flags) {
  uint32_t core = 0;
  if ((flags & TRITONSERVER_REQUEST_FLAG_SEQUENCE_START) != 0) {
    core |= NRD_REQUEST_SEQUENCE_START;
  }
  if ((flags & TRITONSERVER_REQUEST_FLAG_SEQUENCE_END) != 0) {
    core |= NRD_REQUEST_SEQUENCE_END;
  }
  return core;
}

uint64_t Nanoseconds(uint64_t microseconds) {
  constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max() / 1000;
  return std::min(microseconds, kLongest) * 1000;
}

}  // namespace

InferenceFlight::InferenceFlight(InferenceRequest& request, InferenceTrace* trace)
    : owner_(request.owner()),
      request_(request),
      trace_(trace),
      receiver_{this, &OnComplete, &OnRespond} {
  owner_.BeginInference();
}

InferenceFlight::~InferenceFlight() {
  if (record_ != nullptr) {
    nrd_request_release(record_);
  }
  owner_.EndInference();
}

Status InferenceFlight::Start(InferenceRequest& request, InferenceTrace* trace) {
  std::shared_ptr<InferenceFlight> flight;
  Status status = Caught("beginning an inference", [&] {
    flight = std::make_shared<InferenceFlight>(request, trace);
    return flight->Prepare();
  });
  if (!status.ok()) {
    if (trace != nullptr) {
      InferenceTrace::End(trace);
    }
    return status;
  }
  flight->self_ = flight;
  request.Launch(flight);
  const int32_t code = nrd_request_submit(flight->record_);
  if (code == NRD_PENDING) {
    return Status();  // another thread may have finished it by now
  }
  const nrd_request& record = *flight->record_;
  if (code == NRD_OK || record.ran_inline != 0) {
    flight->Finish();
    return Status();
  }
  status = Caught("sending an inference", [&] {
    return Status(code, request.Prefix() + std::string(MessageOf(*record.error)));
  });
  request.Land();
  flight->EndTrace();
  flight->model_.Release();
  flight->self_.reset();
  return status;
}

Status InferenceFlight::Prepare() {
  NRD_RETURN_IF_ERROR(AcquireRecord());
  FillSettings();
  NRD_RETURN_IF_ERROR(FillInputs());
  NRD_RETURN_IF_ERROR(FillOutputs());
  last_ = NewResponse();
  nrd_request_receive(record_, &receiver_);
  start_ns_ = nrd_clock_now_ns();
  if (trace_ != nullptr) {
    trace_->Begin(request_.model(), model_.version(), request_.settings.id, start_ns_);
    trace_->ReportInputs(*record_, model_.get());
  }
  return Status();
}

Status InferenceFlight::AcquireRecord() {
  const InferenceSettings& settings = request_.settings;
  NRD_RETURN_IF_ERROR(
      model_.Acquire(request_.model(), request_.version(),
                     {settings.sequence_id, settings.sequence_name, CoreFlags(settings.flags)}));
  return Ask("a record for a request",
             [&](nrd_error* error) { return nrd_request_acquire(model_.get(), &record_, error); });
}

void InferenceFlight::FillSettings() {
  const InferenceSettings& settings = request_.settings;
  record_->flags = CoreFlags(settings.flags) | (trace_ != nullptr ? NRD_REQUEST_TRACED : 0);
  record_->tag = InferenceTrace::TagOf(trace_);
  record_->timeout_ns = Nanoseconds(settings.timeout_us);
  // A priority out of range means the model's default, as 0 does.
  record_->priority = settings.priority > std::numeric_limits<uint32_t>::max()
                          ? 0
                          : static_cast<uint32_t>(settings.priority);
  record_->sequence_id = settings.sequence_id;
  record_->sequence_name = AsNrdString(settings.sequence_name);
  record_->id = AsNrdString(settings.id);
  values_.reserve(settings.parameters.size());
  for (const Parameter& parameter : settings.parameters) {
    values_.push_back(parameter.AsValue());
  }
  record_->values = values_.data();
  record_->value_count = static_cast<uint32_t>(values_.size());
}

Status InferenceFlight::FillInputs() {
  for (const InferenceInput& input : request_.inputs()) {
    uint32_t index = 0;
    if (nrd_model_input_index(model_.get(), input.name.data(), input.name.size(), &index) !=
        NRD_OK) {
      return Status::InvalidArgument(request_.Prefix() + "unexpected inference input '" +
                                     input.name + "' for model '" + request_.model() + "'");
    }
    nrd_tensor& tensor = record_->inputs[index];
    tensor.datatype = static_cast<int32_t>(input.datatype);
    tensor.rank = static_cast<uint32_t>(input.shape.size());
    std::copy(input.shape.begin(), input.shape.end(), tensor.shape);
    NRD_RETURN_IF_ERROR(FillBytes(input, index));
  }
  return Status();
}

// A single buffer is lent, since it stays valid until the request is released.
Status InferenceFlight::FillBytes(const InferenceInput& input, uint32_t index) {
  if (input.pieces.size() > 1) {
    return GatherBytes(input, index);
  }
  static char nothing = 0;
  const InputPiece piece =
      input.pieces.empty() ? InputPiece{&nothing, 0, TRITONSERVER_MEMORY_CPU, 0} : input.pieces[0];
  nrd_tensor& tensor = record_->inputs[index];
  tensor.data = const_cast<void*>(piece.data);  // no code writes there
  tensor.byte_size = piece.byte_size;
  tensor.flags = NRD_TENSOR_SELECTED;
  if (piece.memory_type == TRITONSERVER_MEMORY_GPU) {
    tensor.flags |= NRD_TENSOR_DEVICE;
    tensor.device = static_cast<uint32_t>(piece.memory_id);
  }
  return Status();
}

Status InferenceFlight::GatherBytes(const InferenceInput& input, uint32_t index) {
  nrd_tensor& tensor = record_->inputs[index];
  tensor.byte_size = 0;
  for (const InputPiece& piece : input.pieces) {
    if (piece.memory_type == TRITONSERVER_MEMORY_GPU) {
      return Status(NRD_UNIMPLEMENTED, request_.Prefix() + "input '" + input.name +
                                           "' consists of " + std::to_string(input.pieces.size()) +
                                           " buffers, some in the memory of a GPU, expected one "
                                           "buffer, or memory of the processor");
    }
    tensor.byte_size += piece.byte_size;
  }
  if (nrd_request_input_alloc(record_, index) != NRD_OK) {
    return Status(NRD_RESOURCE_EXHAUSTED, request_.Prefix() + "no memory for the " +
                                              std::to_string(tensor.byte_size) +
                                              " bytes of input '" + input.name + "'");
  }
  auto* end = static_cast<char*>(tensor.data);
  for (const InputPiece& piece : input.pieces) {
    std::memcpy(end, piece.data, piece.byte_size);
    end += piece.byte_size;
  }
  return Status();
}

Status InferenceFlight::FillOutputs() {
  for (const std::string& name : request_.outputs()) {
    uint32_t index = 0;
    if (nrd_model_output_index(model_.get(), name.data(), name.size(), &index) != NRD_OK) {
      return Status::InvalidArgument(request_.Prefix() + "unexpected inference output '" + name +
                                     "' for model '" + request_.model() + "'");
    }
    record_->outputs[index].flags = NRD_TENSOR_SELECTED;
  }
  return Status();
}

void InferenceFlight::OnComplete(void* context, nrd_request* /*record*/) {
  static_cast<InferenceFlight*>(context)->Finish();
}

void InferenceFlight::OnRespond(void* context, nrd_request* /*record*/, nrd_tensor* outputs,
                                uint32_t count) {
  if (outputs != nullptr) {
    static_cast<InferenceFlight*>(context)->Respond(outputs, count);
  }
}

void InferenceFlight::Respond(const nrd_tensor* outputs, uint32_t count) {
  std::unique_ptr<InferenceResponse> response;
  const Status made = Caught("making a response", [&] {
    response = NewResponse();
    return Status();
  });
  if (!made.ok()) {
    lost_ = true;  // the last response reports it
    return;
  }
  Fill(*response, outputs, count);
  Send(std::move(response), 0);
}

void InferenceFlight::Finish() {
  // The last callback may reuse or delete the request.
  const std::shared_ptr<InferenceFlight> self = std::move(self_);
  const ReleaseTarget release = request_.settings.release;
  Owner& owner = request_.owner();
  auto* const handle = Give<TRITONSERVER_InferenceRequest>(&request_);
  if (lost_) {
    last_->Fail(Status::OutOfMemory());
  } else if (IsSilentEnd()) {
    last_.reset();
  } else {
    Fill(*last_, record_->outputs, record_->output_count);
  }
  nrd_request_drop_inputs(record_);
  nrd_request_drop_outputs(record_);
  Send(std::move(last_), TRITONSERVER_RESPONSE_COMPLETE_FINAL);
  if (trace_ != nullptr) {
    trace_->ReportCourse(*record_, start_ns_);
  }
  EndTrace();
  request_.Land();
  CallBack(owner, "a release callback",
           [&] { release.release(handle, TRITONSERVER_REQUEST_RELEASE_ALL, release.userp); });
  model_.Release();
}

// True if a decoupled model ended without a further response.
bool InferenceFlight::IsSilentEnd() const {
  return model_.decoupled() && record_->status == NRD_OK && record_->response_value_count == 0 &&
         std::none_of(record_->outputs, record_->outputs + record_->output_count,
                      [](const nrd_tensor& output) { return output.data != nullptr; });
}

void InferenceFlight::Fill(InferenceResponse& response, const nrd_tensor* outputs, uint32_t count) {
  const Status filled = Caught("filling a response", [&]() -> Status {
    response.TakeValues(record_->response_values, record_->response_value_count);
    if (record_->status != NRD_OK) {
      return Status(record_->status, std::string(MessageOf(*record_->error)));
    }
    response.TakeOutputs(model_.get(), outputs, count);
    if (trace_ != nullptr) {
      trace_->ReportOutputs(response);
    }
    return Status();
  });
  if (!filled.ok()) {
    response.Fail(filled);
  }
}

std::unique_ptr<InferenceResponse> InferenceFlight::NewResponse() const {
  return std::make_unique<InferenceResponse>(request_.owner(), request_.model(), model_.version(),
                                             request_.settings.id,
                                             request_.settings.response.place);
}

void InferenceFlight::Send(std::unique_ptr<InferenceResponse> response, uint32_t flags) {
  const ResponseTarget& target = request_.settings.response;
  CallBack(request_.owner(), "a response callback", [&] {
    target.complete(Give<TRITONSERVER_InferenceResponse>(response.release()), flags, target.userp);
  });
}

void InferenceFlight::EndTrace() {
  if (trace_ != nullptr) {
    InferenceTrace::End(std::exchange(trace_, nullptr));
  }
}

}  // namespace nereid::triton
