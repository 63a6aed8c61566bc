#include "core/batch/batch_execution.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "base/tensor.h"
#include "core/batch/detached_batch.h"
#include "core/request/response_values.h"
#include "core/sequence/sequence.h"

namespace nereid {
namespace {

constexpr char kOutOfMemory[] = "the process is out of memory";

// The code of a backend's failure; an unknown one becomes INTERNAL.
int32_t FailureCode(int32_t code) {
  return code > NRD_OK && code <= NRD_UNAVAILABLE ? code : static_cast<int32_t>(NRD_INTERNAL);
}

}  // namespace

BatchExecution::BatchExecution(const ModelConfig& config, BufferPool& pool, PoolAccount* account,
                               DetachedBatch* detached)
    : batch_{},
      config_(config),
      detached_(detached),
      inputs_(config, pool, account),
      outputs_(config, pool, account),
      error_{} {
  requests_.reserve(config.max_batch_requests());
  records_.reserve(config.max_batch_requests());
  if (config.sequences) {
    sequences_.emplace(config, pool, account, outputs_.maker());
  }
}

int32_t BatchExecution::Start(const nrd_backend& backend, void* instance,
                              std::span<Request* const> requests, int64_t start_ns,
                              const Responder* responder) {
  Begin(requests);
  responder_ = responder;
  start_ns_ = start_ns;
  gathered_ns_ = start_ns;
  computed_end_ns_ = 0;
  error_.struct_size = sizeof(nrd_error);
  error_.message_size = 0;
  try {
    const Status status = Gather((backend.flags & NRD_BACKEND_GATHERS) != 0);
    gathered_ns_ = MonotonicNowNs();
    if (!status.ok() || requests_.empty()) {
      return Report(status, &error_);
    }
    executed_ = true;
    return Execute(backend, instance);
  } catch (const std::exception&) {  // only memory for a message can be lacking here
    WriteError(&error_, NRD_RESOURCE_EXHAUSTED, kOutOfMemory);
    return NRD_RESOURCE_EXHAUSTED;
  }
}

int64_t BatchExecution::End(int32_t code, const nrd_error& error) {
  const int64_t executed_ns = MonotonicNowNs();
  try {
    if (code == NRD_OK) {
      HandOut();
    } else {
      const Status status = StatusFromCallback(code, error, "the backend");
      FailAll(status.code(), status.message());
    }
  } catch (const std::exception&) {  // as in Start
    FailAll(NRD_RESOURCE_EXHAUSTED, kOutOfMemory);
  }
  if (sequences_) {
    sequences_->End(requests_);
  }
  outputs_.Drop();
  inputs_.Drop(requests_.size());
  const int64_t end_ns = MonotonicNowNs();
  SetTimes(executed_ns, end_ns);
  return end_ns;
}

void BatchExecution::SetTimes(int64_t executed_ns, int64_t end_ns) {
  int64_t from_ns = gathered_ns_;
  int64_t to_ns = executed_ns;
  if (computed_end_ns_ != 0) {
    from_ns = std::clamp(computed_start_ns_, start_ns_, executed_ns);
    to_ns = std::clamp(computed_end_ns_, from_ns, executed_ns);
  }
  compute_input_ns_ = ElapsedNs(start_ns_, from_ns);
  compute_infer_ns_ = ElapsedNs(from_ns, to_ns);
  compute_output_ns_ = ElapsedNs(to_ns, end_ns);
  for (Request* request : requests_) {
    SetTimes(&request->record, compute_infer_ns_, compute_output_ns_);
  }
}

void BatchExecution::SetTimes(nrd_request* record, uint64_t infer_ns, uint64_t output_ns) const {
  record->executed_batch_size = executed_ ? static_cast<uint32_t>(rows_) : 0;
  record->compute_input_ns = compute_input_ns_;
  record->compute_infer_ns = infer_ns;
  record->compute_output_ns = output_ns;
}

void BatchExecution::Forget() {
  requests_.clear();
  records_.clear();
  batch_.request_count = 0;
}

void BatchExecution::Computed(int64_t start_ns, int64_t end_ns) {
  computed_start_ns_ = start_ns;
  computed_end_ns_ = end_ns;
}

void BatchExecution::Finish(int32_t code, std::string_view message) {
  if (detached_ != nullptr) {
    detached_->Finish(code, message);
  }
}

// Not for sequences: one goes on at its request's answer, which needs the states of the batch. A
// warm-up, which has no responder, is not answered.
int32_t BatchExecution::FinishRequest(uint32_t request_index) {
  if (detached_ == nullptr || responder_ == nullptr || sequences_ || config_.preserve_ordering) {
    return NRD_FAILED_PRECONDITION;
  }
  return detached_->FinishRequest(request_index);
}

Request* BatchExecution::TakeRequest(uint32_t request_index) {
  if (request_index >= requests_.size() || requests_[request_index] == nullptr) {
    return nullptr;
  }
  Request* const request = std::exchange(requests_[request_index], nullptr);
  records_[request_index] = nullptr;
  try {
    outputs_.CheckOwn(*request);
  } catch (const std::exception&) {  // as in Start
    SetFailure(*request, NRD_RESOURCE_EXHAUSTED, kOutOfMemory);
  }
  BatchOutputs::Finish(*request);
  nrd_request& record = request->record;
  SetTimes(&record, ElapsedNs(gathered_ns_, MonotonicNowNs()), 0);
  record.compute_input_ns = ElapsedNs(start_ns_, gathered_ns_);
  return request;
}

void BatchExecution::ForgetTaken() {
  std::erase(requests_, nullptr);
  std::erase(records_, nullptr);
  batch_.request_count = static_cast<uint32_t>(requests_.size());
}

// Leaves out the requests that were cancelled since they were taken from the queue.
void BatchExecution::Begin(std::span<Request* const> requests) {
  requests_.clear();
  records_.clear();
  rows_ = 0;
  executed_ = false;
  outputs_.Begin();
  if (sequences_) {
    sequences_->Select(outputs_.whole());
  }
  for (Request* request : requests) {
    if (request->cancelled.load(std::memory_order_acquire)) {
      SetFailure(*request, NRD_CANCELLED, "Request was cancelled");
      continue;
    }
    request->record.status = NRD_OK;
    requests_.push_back(request);
    if (config_.sequences && config_.sequences->rows_are_slots && request->sequence != nullptr) {
      rows_ = request->sequence->slot;  // in ascending order; rows between them are empty
    }
    request->record.first_row = static_cast<uint32_t>(rows_);
    records_.push_back(&request->record);
    rows_ += request->rows;
    outputs_.Select(*request);
  }
  batch_.struct_size = sizeof(nrd_batch);
  batch_.request_count = static_cast<uint32_t>(requests_.size());
  batch_.batch_size = config_.batched() ? rows_ : 0;
  batch_.input_count = static_cast<uint32_t>(inputs_.size());
  batch_.output_count = static_cast<uint32_t>(outputs_.whole().size());
  batch_.inputs = nullptr;
  batch_.outputs = outputs_.whole().data();
  batch_.requests = records_.data();
}

Status BatchExecution::Gather(bool backend_gathers) {
  if ((backend_gathers && !config_.core_gathers) || requests_.empty()) {
    return Status();
  }
  return inputs_.Gather(requests_, rows_, sequences_ ? &sequences_->tensors() : nullptr,
                        &batch_.inputs);
}

int32_t BatchExecution::Execute(const nrd_backend& backend, void* instance) {
  // A backend in C++ that throws breaks its contract; that fails its batch only.
  Status status;
  try {
    return backend.execute(instance, &batch_, &error_);
  } catch (const std::exception& failure) {
    status = Status::Internal(std::string("the backend threw an exception: ") + failure.what());
  } catch (...) {
    status = Status::Internal("the backend threw an unknown exception");
  }
  return Report(status, &error_);
}

Status BatchExecution::Output(uint32_t index, const nrd_tensor& wanted, void** data_out) {
  const std::span<nrd_tensor> outputs = outputs_.whole();
  if (index >= outputs.size()) {
    return Status::Internal("backend named output " + std::to_string(index) + ", model '" +
                            config_.name + "' has " + std::to_string(outputs.size()));
  }
  nrd_tensor* const output = &outputs[index];
  if (sequences_ && index >= config_.visible_outputs) {
    NRD_RETURN_IF_ERROR(outputs_.maker().Describe(index, rows_, wanted, output));
    if (sequences_->tensors().Reuse(requests_, index, inputs_.made(), output)) {
      *data_out = output->data;
      return Status();
    }
  }
  return outputs_.maker().Allocate(index, outputs_.WholeRows(index, rows_), wanted, output,
                                   data_out);
}

Status BatchExecution::ForwardInput(uint32_t index, uint32_t input_index) {
  const std::span<nrd_tensor> outputs = outputs_.whole();
  if (index >= outputs.size() || input_index >= batch_.input_count || batch_.inputs == nullptr ||
      !IsSelected(batch_.inputs[input_index]) || IsOnDevice(batch_.inputs[input_index])) {
    return Status::Internal("backend forwarded input " + std::to_string(input_index) +
                            " to output " + std::to_string(index) + " of model '" + config_.name +
                            "', expected an input that was given and an output that there is");
  }
  const nrd_tensor& input = batch_.inputs[input_index];
  nrd_tensor* const output = &outputs[index];
  const int64_t rows = outputs_.WholeRows(index, rows_);
  // Tensors that were copied to change their shape hold no reference; the request does.
  void* const slab = requests_.size() == 1 && input_index < config_.visible_inputs &&
                             !HasEmptyRows(config_, rows_, 1)
                         ? requests_.front()->record.inputs[input_index].slab
                         : input.slab;
  if (slab == nullptr) {  // the caller's own memory, which the answer may outlive
    void* data = nullptr;
    NRD_RETURN_IF_ERROR(outputs_.maker().Allocate(index, rows, input, output, &data));
    if (input.byte_size > 0) {
      std::memcpy(data, input.data, input.byte_size);
    }
    return Status();
  }
  NRD_RETURN_IF_ERROR(outputs_.maker().Describe(index, rows, input, output));
  BufferPool::Retain(slab);
  output->slab = slab;
  output->data = input.data;
  return Status();
}

Status BatchExecution::RequestOutput(uint32_t request_index, uint32_t index,
                                     const nrd_tensor& wanted, void** data_out) {
  if (request_index >= requests_.size() || index >= config_.visible_outputs) {
    return Status::Internal("backend named output " + std::to_string(index) + " of request " +
                            std::to_string(request_index) + ", the batch has " +
                            std::to_string(config_.visible_outputs) + " outputs and " +
                            std::to_string(requests_.size()) + " requests");
  }
  Request& request = *requests_[request_index];
  nrd_tensor* const output = &request.record.outputs[index];
  const OutputMaker& maker = outputs_.maker();
  return IsOnDevice(*output) ? maker.Place(index, request.rows, wanted, output, data_out)
                             : maker.Allocate(index, request.rows, wanted, output, data_out);
}

Status BatchExecution::AddValue(uint32_t request_index, const nrd_value& value) {
  NRD_RETURN_IF_ERROR(CheckRequestIndex(request_index));
  AddResponseValue(*requests_[request_index], value);
  return Status();
}

Status BatchExecution::CheckRequestIndex(uint32_t request_index) const {
  if (request_index < requests_.size()) {
    return Status();
  }
  return Status::InvalidArgument("backend named request " + std::to_string(request_index) +
                                 ", the batch has " + std::to_string(requests_.size()));
}

Status BatchExecution::CheckResponds(uint32_t request_index) const {
  if (!config_.decoupled) {
    return Status(NRD_FAILED_PRECONDITION,
                  "model '" + config_.name + "' is not decoupled: its requests have one response");
  }
  return CheckRequestIndex(request_index);
}

Status BatchExecution::Respond(uint32_t request_index) {
  NRD_RETURN_IF_ERROR(CheckResponds(request_index));
  return outputs_.responses().Send(*requests_[request_index], request_index, responder_);
}

Status BatchExecution::RespondError(uint32_t request_index, int32_t code,
                                    std::string_view message) {
  NRD_RETURN_IF_ERROR(CheckResponds(request_index));
  return outputs_.responses().SendError(*requests_[request_index], request_index, responder_,
                                        FailureCode(code), message);
}

Status BatchExecution::Reschedule(uint32_t request_index) {
  if (!config_.sequences || !config_.sequences->iterative) {
    return Status(NRD_FAILED_PRECONDITION, "model '" + config_.name +
                                               "' has no iterative sequences: its requests are "
                                               "executed once");
  }
  NRD_RETURN_IF_ERROR(CheckRequestIndex(request_index));
  requests_[request_index]->rescheduled = true;
  return Status();
}

Status BatchExecution::CheckState(uint32_t request_index, uint32_t state) const {
  if (!sequences_ || !sequences_->backend_has_states()) {
    return Status(NRD_FAILED_PRECONDITION,
                  "the states of model '" + config_.name + "' are not in memory of its backend");
  }
  const size_t states = sequences_->tensors().states().size();
  if (request_index >= requests_.size() || state >= states) {
    return Status::InvalidArgument("backend named state " + std::to_string(state) + " of request " +
                                   std::to_string(request_index) + ", the batch has " +
                                   std::to_string(states) + " of " +
                                   std::to_string(requests_.size()));
  }
  return Status();
}

Status BatchExecution::FindState(uint32_t request_index, uint32_t state,
                                 nrd_tensor* found_out) const {
  NRD_RETURN_IF_ERROR(CheckState(request_index, state));
  *found_out = sequences_->tensors().StateOf(state, *requests_[request_index]);
  return Status();
}

Status BatchExecution::GiveState(uint32_t request_index, uint32_t state, const nrd_tensor& made) {
  NRD_RETURN_IF_ERROR(CheckState(request_index, state));
  return sequences_->Give(request_index, *requests_[request_index], state, made);
}

void BatchExecution::FailRequest(uint32_t request_index, int32_t code, std::string_view message) {
  if (request_index < requests_.size()) {
    SetFailure(*requests_[request_index], FailureCode(code), message);
  }
}

void BatchExecution::HandOut() {
  outputs_.HandOut(requests_, rows_);
  if (sequences_) {
    sequences_->Keep(requests_, rows_, outputs_.whole());
  }
  for (Request* request : requests_) {
    BatchOutputs::Finish(*request);
  }
}

void BatchExecution::FailAll(int32_t code, std::string_view message) {
  for (Request* request : requests_) {
    SetFailure(*request, code, message);
    DropTensors(request->record.outputs, request->record.output_count);
  }
}

}  // namespace nereid
