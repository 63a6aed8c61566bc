#include "core/batch_execution.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "base/tensor.h"
#include "core/detached_batch.h"
#include "core/request_check.h"
#include "core/reshape.h"
#include "core/response_values.h"
#include "core/scattered_outputs.h"
#include "core/sequence.h"

namespace nereid {
namespace {

constexpr char kOutOfMemory[] = "the process is out of memory";

// What a backend says may be none of the codes that there are.
int32_t FailureCode(int32_t code) {
  return code > NRD_OK && code <= NRD_UNAVAILABLE ? code : static_cast<int32_t>(NRD_INTERNAL);
}

}  // namespace

BatchExecution::BatchExecution(const ModelConfig& config, BufferPool& pool, PoolAccount* account,
                               DetachedBatch* detached)
    : batch_{},
      config_(config),
      pool_(pool),
      account_(account),
      detached_(detached),
      maker_(config, pool, account),
      responses_(maker_),
      combined_(config, pool, account),
      inputs_(config.inputs.size()),
      outputs_(config.outputs.size()),
      error_{} {
  requests_.reserve(config.max_batch_requests());
  records_.reserve(config.max_batch_requests());
  if (config.sequences) {
    sequences_.emplace(config, pool, account);
    if (config.sequences->release_state != nullptr) {
      backend_states_.emplace(config);
    }
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
  } catch (const std::exception&) {  // only memory, for a message, can be missing here
    WriteError(&error_, NRD_RESOURCE_EXHAUSTED, kOutOfMemory);
    return NRD_RESOURCE_EXHAUSTED;
  }
}

int64_t BatchExecution::End(int32_t code, const nrd_error& error) {
  const int64_t executed_ns = MonotonicNowNs();
  try {
    if (code == NRD_OK) {
      Scatter();
    } else {
      const Status status = StatusFromCallback(code, error, "the backend");
      FailAll(status.code(), status.message());
    }
  } catch (const std::exception&) {  // as in Start
    FailAll(NRD_RESOURCE_EXHAUSTED, kOutOfMemory);
  }
  if (sequences_) {
    EndRescheduled();
    if (backend_states_) {
      backend_states_->DropRest(requests_);
    }
  }
  DropTensors(outputs_.data(), batch_.output_count);
  if (requests_.size() > 1 || config_.core_gathers) {
    DropTensors(inputs_.data(), batch_.input_count);
  }
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

// A sequence goes on when its request is answered, for which the whole batch's states are needed.
int32_t BatchExecution::FinishRequest(uint32_t request_index) {
  if (detached_ == nullptr || sequences_ || config_.preserve_ordering) {
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
  CheckOwnOutputs(*request);
  FinishOutputs(*request);
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

// Of a request whose backend made all of its outputs by themselves.
void BatchExecution::CheckOwnOutputs(Request& request) const {
  const nrd_request& record = request.record;
  for (uint32_t i = 0; i < record.output_count && record.status == NRD_OK; ++i) {
    const nrd_tensor& output = record.outputs[i];
    if (!IsSelected(output) || (output.data == nullptr && config_.decoupled)) {
      continue;
    }
    const Status status = output.data == nullptr ? maker_.Missing(i) : maker_.CheckBytes(i, output);
    if (!status.ok()) {
      SetFailure(request, status.code(), status.message());
    }
  }
  if (config_.decoupled) {
    responses_.CheckLast(request);
  }
}

// Leaves out the requests that were cancelled since they were taken from the queue.
void BatchExecution::Begin(std::span<Request* const> requests) {
  requests_.clear();
  records_.clear();
  rows_ = 0;
  executed_ = false;
  for (nrd_tensor& output : outputs_) {
    output = nrd_tensor{};
  }
  if (config_.core_gathers) {
    for (size_t i = config_.visible_outputs; i < outputs_.size(); ++i) {
      outputs_[i].flags = NRD_TENSOR_SELECTED;
    }
  }
  if (sequences_) {
    for (const StateSpec& state : sequences_->states()) {
      outputs_[state.output].flags = backend_states_ ? 0 : NRD_TENSOR_SELECTED;
    }
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
    for (uint32_t i = 0; i < request->record.output_count; ++i) {
      outputs_[i].flags |= request->record.outputs[i].flags & NRD_TENSOR_SELECTED;
    }
  }
  batch_.struct_size = sizeof(nrd_batch);
  batch_.request_count = static_cast<uint32_t>(requests_.size());
  batch_.batch_size = config_.batched() ? rows_ : 0;
  batch_.input_count = static_cast<uint32_t>(inputs_.size());
  batch_.output_count = static_cast<uint32_t>(outputs_.size());
  batch_.inputs = nullptr;
  batch_.outputs = outputs_.data();
  batch_.requests = records_.data();
}

Status BatchExecution::Gather(bool backend_gathers) {
  if ((backend_gathers && !config_.core_gathers) || requests_.empty()) {
    return Status();
  }
  const nrd_tensor* const own = requests_.front()->record.inputs;
  if (requests_.size() == 1 && !config_.reshapes_inputs && !config_.core_gathers) {
    batch_.inputs = own;
    return Status();
  }
  batch_.inputs = inputs_.data();
  for (uint32_t i = 0; i < batch_.input_count; ++i) {
    inputs_[i] = nrd_tensor{};
  }
  if (requests_.size() == 1 && !HasEmptyRows()) {
    NRD_RETURN_IF_ERROR(Describe(own));
  } else {
    for (uint32_t i = 0; i < config_.visible_inputs; ++i) {
      NRD_RETURN_IF_ERROR(GatherInput(i));
    }
  }
  return config_.core_gathers ? MakeHidden() : Status();
}

// Only a model whose sequences have rows of their own has such.
bool BatchExecution::HasEmptyRows() const {
  return config_.sequences && static_cast<size_t>(rows_) != requests_.size();
}

// Makes copies of a request's inputs that differ in shape only, and hold no references.
Status BatchExecution::Describe(const nrd_tensor* own) {
  for (uint32_t i = 0; i < config_.visible_inputs; ++i) {
    inputs_[i] = own[i];
    inputs_[i].slab = nullptr;
    if (IsSelected(own[i])) {
      NRD_RETURN_IF_ERROR(ToBackend(i, &inputs_[i]));
    }
  }
  return Status();
}

Status BatchExecution::GatherInput(uint32_t index) {
  const nrd_tensor& first = requests_.front()->record.inputs[index];
  if (!IsSelected(first)) {
    return Status();
  }
  uint64_t byte_size = 0;
  for (const Request* request : requests_) {
    byte_size += request->record.inputs[index].byte_size;
  }
  // Zeros, which for BYTES are empty strings.
  uint64_t empty_row_bytes = 0;
  if (HasEmptyRows()) {
    empty_row_bytes = first.byte_size;
    if (first.datatype == NRD_TYPE_BYTES) {
      NRD_RETURN_IF_ERROR(ElementCount(first.rank, first.shape, &empty_row_bytes));
      empty_row_bytes *= sizeof(uint32_t);
    }
    byte_size += empty_row_bytes * (static_cast<uint64_t>(rows_) - requests_.size());
  }
  nrd_tensor& input = inputs_[index];
  input = first;
  input.shape[0] = rows_;
  input.byte_size = byte_size;
  input.slab = nullptr;
  NRD_RETURN_IF_ERROR(pool_.Allocate(byte_size, &input.slab, account_));
  input.data = input.slab;
  NRD_RETURN_IF_ERROR(ToBackend(index, &input));
  char* target = static_cast<char*>(input.data);
  int64_t row = 0;
  for (const Request* request : requests_) {
    const nrd_tensor& part = request->record.inputs[index];
    const auto gap = static_cast<uint64_t>(request->record.first_row - row) * empty_row_bytes;
    if (gap > 0) {
      std::memset(target, 0, gap);
      target += gap;
    }
    if (part.byte_size > 0) {
      std::memcpy(target, part.data, part.byte_size);
      target += part.byte_size;
    }
    row = request->record.first_row + request->rows;
  }
  return Status();
}

// Gives an input of the batch, which has the clients' shape, that which the backend sees.
Status BatchExecution::ToBackend(uint32_t index, nrd_tensor* input) const {
  const TensorSpec& spec = config_.inputs[index];
  if (!spec.ragged) {
    ToBackendShape(spec, config_.batched(), input);
    return Status();
  }
  uint64_t elements = 0;
  for (const Request* request : requests_) {
    const nrd_tensor& part = request->record.inputs[index];
    uint64_t count = 0;
    NRD_RETURN_IF_ERROR(ElementCount(part.rank, part.shape, &count));
    elements += count;
  }
  input->rank = 1;
  input->shape[0] = static_cast<int64_t>(elements);
  return Status();
}

// Makes what no request brings, in `inputs_` behind what they do. Each tensor that is made has a
// buffer of its own, which is dropped when the batch is answered.
Status BatchExecution::MakeHidden() {
  NRD_RETURN_IF_ERROR(combined_.Make(requests_, inputs_));
  return sequences_ ? sequences_->Make(requests_, rows_, inputs_) : Status();
}

int32_t BatchExecution::Execute(const nrd_backend& backend, void* instance) {
  // A backend in C++ that lets an exception out breaks its contract; only its batch pays for that.
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
  if (index >= outputs_.size()) {
    return Status::Internal("backend named output " + std::to_string(index) + ", model '" +
                            config_.name + "' has " + std::to_string(outputs_.size()));
  }
  nrd_tensor* const output = &outputs_[index];
  if (sequences_ && index >= config_.visible_outputs) {
    NRD_RETURN_IF_ERROR(maker_.Describe(index, rows_, wanted, output));
    if (sequences_->Reuse(requests_, index, inputs_, output)) {
      *data_out = output->data;
      return Status();
    }
  }
  return maker_.Allocate(index, WholeRows(index), wanted, output, data_out);
}

// What an output of the whole batch must have for rows.
int64_t BatchExecution::WholeRows(uint32_t index) const {
  const bool any = config_.scatters && config_.outputs[index].scattered_by;
  return any ? OutputMaker::kAnyShape : rows_;
}

Status BatchExecution::ForwardInput(uint32_t index, uint32_t input_index) {
  if (index >= outputs_.size() || input_index >= inputs_.size() || batch_.inputs == nullptr ||
      !IsSelected(batch_.inputs[input_index]) || IsOnDevice(batch_.inputs[input_index])) {
    return Status::Internal("backend forwarded input " + std::to_string(input_index) +
                            " to output " + std::to_string(index) + " of model '" + config_.name +
                            "', expected an input that was given and an output that there is");
  }
  const nrd_tensor& input = batch_.inputs[input_index];
  nrd_tensor* const output = &outputs_[index];
  // Copies for the sake of their shape do not hold the reference; the request does.
  void* const slab =
      requests_.size() == 1 && input_index < config_.visible_inputs && !HasEmptyRows()
          ? requests_.front()->record.inputs[input_index].slab
          : input.slab;
  if (slab == nullptr) {  // the caller's own memory, which the answer may outlive
    void* data = nullptr;
    NRD_RETURN_IF_ERROR(maker_.Allocate(index, WholeRows(index), input, output, &data));
    if (input.byte_size > 0) {
      std::memcpy(data, input.data, input.byte_size);
    }
    return Status();
  }
  NRD_RETURN_IF_ERROR(maker_.Describe(index, WholeRows(index), input, output));
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
  return IsOnDevice(*output) ? maker_.Place(index, request.rows, wanted, output, data_out)
                             : maker_.Allocate(index, request.rows, wanted, output, data_out);
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
  return responses_.Send(*requests_[request_index], request_index, responder_);
}

Status BatchExecution::RespondError(uint32_t request_index, int32_t code,
                                    std::string_view message) {
  NRD_RETURN_IF_ERROR(CheckResponds(request_index));
  return responses_.SendError(*requests_[request_index], request_index, responder_,
                              FailureCode(code), message);
}

Status BatchExecution::Reschedule(uint32_t request_index) {
  if (!config_.sequences || !config_.sequences->iterative) {
    return Status(NRD_FAILED_PRECONDITION, "model '" + config_.name +
                                               "' has no iterative sequences: its requests are "
                                               "executed once");
  }
  NRD_RETURN_IF_ERROR(CheckRequestIndex(request_index));
  requests_[request_index]->rescheduled = requests_[request_index]->sequence != nullptr;
  return Status();
}

Status BatchExecution::CheckState(uint32_t request_index, uint32_t state) const {
  if (!backend_states_) {
    return Status(NRD_FAILED_PRECONDITION,
                  "the states of model '" + config_.name + "' are not in memory of its backend");
  }
  if (request_index >= requests_.size() || state >= sequences_->states().size()) {
    return Status::InvalidArgument("backend named state " + std::to_string(state) + " of request " +
                                   std::to_string(request_index) + ", the batch has " +
                                   std::to_string(sequences_->states().size()) + " of " +
                                   std::to_string(requests_.size()));
  }
  return Status();
}

Status BatchExecution::FindState(uint32_t request_index, uint32_t state,
                                 nrd_tensor* found_out) const {
  NRD_RETURN_IF_ERROR(CheckState(request_index, state));
  *found_out = sequences_->StateOf(state, *requests_[request_index]);
  return Status();
}

Status BatchExecution::GiveState(uint32_t request_index, uint32_t state, const nrd_tensor& made) {
  NRD_RETURN_IF_ERROR(CheckState(request_index, state));
  nrd_tensor described{};
  NRD_RETURN_IF_ERROR(maker_.Describe(sequences_->states()[state].output,
                                      requests_[request_index]->rows, made, &described));
  described.data = made.data;
  return backend_states_->Give(request_index, state, described);
}

void BatchExecution::FailRequest(uint32_t request_index, int32_t code, std::string_view message) {
  if (request_index < requests_.size()) {
    SetFailure(*requests_[request_index], FailureCode(code), message);
  }
}

// How many bytes so many rows take that begin at `byte_offset`.
Status BatchExecution::BytesOfRows(const nrd_tensor& whole, uint32_t index, uint64_t byte_offset,
                                   int64_t rows, uint64_t* bytes_out) const {
  if (whole.datatype != NRD_TYPE_BYTES) {
    *bytes_out = whole.byte_size / static_cast<uint64_t>(rows_) * static_cast<uint64_t>(rows);
    return Status();
  }
  uint64_t count = 0;
  NRD_RETURN_IF_ERROR(ElementCount(whole.rank, whole.shape, &count));
  count = count / static_cast<uint64_t>(rows_) * static_cast<uint64_t>(rows);
  if (!SkipBytesElements(static_cast<const char*>(whole.data) + byte_offset,
                         whole.byte_size - byte_offset, count, bytes_out)) {
    return Status::Internal(maker_.Name(index) + " holds malformed elements");
  }
  return Status();
}

// Points one request's output at its rows of the batch's. `byte_offset` is where the rows of the
// request before it end.
Status BatchExecution::Slice(Request& request, uint32_t index, uint64_t* byte_offset) {
  const nrd_tensor& whole = outputs_[index];
  nrd_tensor& part = request.record.outputs[index];
  if (config_.scatters && config_.outputs[index].scattered_by) [[unlikely]] {
    return SliceByShape(config_, whole, request, index, byte_offset);
  }
  uint64_t byte_size = whole.byte_size - *byte_offset;
  if (HasEmptyRows()) {
    NRD_RETURN_IF_ERROR(BytesOfRows(whole, index, 0, request.record.first_row, byte_offset));
  }
  if (request.rows != rows_) {
    NRD_RETURN_IF_ERROR(BytesOfRows(whole, index, *byte_offset, request.rows, &byte_size));
  }
  const uint32_t flags = part.flags;
  if (IsSelected(part) && part.data == nullptr && !IsOnDevice(part)) {
    part = whole;
    part.flags = flags;
    part.data = static_cast<char*>(whole.data) + *byte_offset;
    part.byte_size = byte_size;
    if (config_.batched()) {
      part.shape[0] = request.rows;
    }
    BufferPool::Retain(part.slab);
  }
  *byte_offset += byte_size;
  return Status();
}

void BatchExecution::Scatter() {
  for (uint32_t i = 0; i < config_.visible_outputs; ++i) {
    if (!IsSelected(outputs_[i])) {
      continue;
    }
    Status status = maker_.CheckBytes(i, outputs_[i]);
    uint64_t byte_offset = 0;
    for (Request* request : requests_) {
      if (status.ok() && outputs_[i].data != nullptr) {
        status = Slice(*request, i, &byte_offset);
      }
      if (request->record.status != NRD_OK || request->rescheduled ||
          !IsSelected(request->record.outputs[i])) {
        continue;
      }
      const nrd_tensor& part = request->record.outputs[i];
      Status own = status.Clone();
      if (own.ok() && part.data == nullptr) {
        if (config_.decoupled) {
          continue;  // DecoupledResponses::CheckLast decides
        }
        own = maker_.Missing(i);
      } else if (own.ok() && part.slab != outputs_[i].slab) {  // the backend made it by itself
        own = maker_.CheckBytes(i, part);
      }
      if (!own.ok()) {
        SetFailure(*request, own.code(), own.message());
      }
    }
  }
  if (config_.decoupled) {
    for (Request* request : requests_) {
      if (!request->rescheduled) {
        responses_.CheckLast(*request);
      }
    }
  }
  if (sequences_) {
    KeepStates();
  }
  for (Request* request : requests_) {
    FinishOutputs(*request);
  }
}

// What a failed request made of the state of its sequence is not kept.
void BatchExecution::KeepStates() {
  for (const StateSpec& state : sequences_->states()) {
    if (const Status status = maker_.CheckBytes(state.output, outputs_[state.output]);
        !status.ok()) {
      FailAll(status.code(), status.message());
    }
  }
  for (uint32_t i = 0; i < requests_.size(); ++i) {
    Request& request = *requests_[i];
    if (request.record.status != NRD_OK) {
      continue;
    }
    const Status status = backend_states_ ? backend_states_->Keep(i, request)
                                          : sequences_->Keep(request, rows_, outputs_);
    if (!status.ok()) {
      SetFailure(request, status.code(), status.message());
    }
  }
}

// A request that failed is answered, whatever its backend wanted.
void BatchExecution::EndRescheduled() {
  for (Request* request : requests_) {
    request->rescheduled = request->rescheduled && request->record.status == NRD_OK;
    if (request->rescheduled) {
      DropTensors(request->record.outputs, request->record.output_count);
      ClearResponseValues(*request);
    }
  }
}

// A request keeps what it asked for, and nothing when it failed.
void BatchExecution::FinishOutputs(Request& request) {
  nrd_request& record = request.record;
  for (uint32_t i = 0; i < record.output_count; ++i) {
    if (record.status != NRD_OK || !IsSelected(record.outputs[i])) {
      DropTensors(&record.outputs[i], 1);
    }
  }
}

void BatchExecution::FailAll(int32_t code, std::string_view message) {
  for (Request* request : requests_) {
    SetFailure(*request, code, message);
    DropTensors(request->record.outputs, request->record.output_count);
  }
}

}  // namespace nereid
