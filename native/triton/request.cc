#include "triton/request.h"

#include <cstring>
#include <span>
#include <utility>

#include "base/tensor.h"
#include "triton/calls.h"
#include "triton/execution.h"

namespace nereid::triton {

namespace {

// Row `row` of a batch's input of `rows` rows; malformed elements stay together.
nrd_tensor RowOf(const nrd_tensor& whole, int64_t rows, int64_t row) {
  nrd_tensor part = whole;
  if (rows <= 1) {
    return part;
  }
  const auto count = static_cast<uint64_t>(rows);
  const auto before = static_cast<uint64_t>(row);
  part.byte_size = whole.byte_size / count;
  uint64_t offset = part.byte_size * before;
  if (uint64_t elements = 0;
      whole.datatype == NRD_TYPE_BYTES && ElementCount(whole.rank, whole.shape, &elements).ok()) {
    elements /= count;
    uint64_t end = 0;
    if (SkipBytesElements(whole.data, whole.byte_size, elements * before, &offset) &&
        SkipBytesElements(whole.data, whole.byte_size, elements * (before + 1), &end)) {
      part.byte_size = end - offset;
    }
  }
  part.data = static_cast<char*>(whole.data) + offset;
  part.shape[0] = 1;
  return part;
}

// Most requests have no such texts, and then this costs little.
void Assign(const nrd_string& text, std::string* out) {
  if (text.size == 0) {
    out->clear();
  } else {
    out->assign(View(text));
  }
}

// These buffers are never freed: a plug-in may use them at any time.
void Keep(const nrd_tensor* tensors, uint32_t count) {
  for (const nrd_tensor& tensor : std::span(tensors, count)) {
    if (tensor.slab != nullptr) {
      nrd_buffer_retain(tensor.slab);
    }
  }
}

}  // namespace

void Input::Begin(const TensorInfo& info, const nrd_tensor& tensor, bool pinned) {
  info_ = &info;
  tensor_ = tensor;
  attributes_.type =
      pinned && tensor.slab != nullptr ? TRITONSERVER_MEMORY_CPU_PINNED : TRITONSERVER_MEMORY_CPU;
  attributes_.byte_size = tensor.byte_size;
  attributes_.OpenFor(nullptr);
  Open(kKind, nullptr);
}

void Input::End() {
  attributes_.End();
  ClosePart();
}

Request::Request(Execution& execution) : execution_(execution) {}

void Request::Begin(uint32_t index, const nrd_request* record, int64_t row) {
  tensors_ = &execution_.model().tensors();
  decoupled_ = tensors_->decoupled;
  record_ = record;
  index_ = index;
  row_ = row;
  Assign(record == nullptr ? nrd_string{} : record->id, &id_);
  Assign(record == nullptr ? nrd_string{} : record->sequence_name, &sequence_name_);
  parameters_.clear();
  wanted_.clear();
  for (uint32_t i = 0; record != nullptr && i < record->output_count; ++i) {
    if (IsSelected(record->outputs[i])) {
      wanted_.push_back(i);
    }
  }
  BeginInputs(row);
  BeginStates();
  BeginCourse();
  Open(kKind, &execution_.owner());
}

// No other thread has the request, so nothing is locked.
void Request::BeginCourse() {
  released_ = rescheduled_ = answered_ = failed_ = final_ = handed_ = gone_ = false;
  ended_ = execution_.batch() == nullptr;
  responses_ = 0;
  factories_ = 0;
}

void Request::BeginInputs(int64_t row) {
  const nrd_batch* const batch = execution_.batch();
  const nrd_tensor* const whole = batch == nullptr ? nullptr : batch->inputs;
  const bool pinned = execution_.model().pinned();
  input_count_ = 0;
  for (uint32_t i = 0; i < tensors_->inputs.size(); ++i) {
    const TensorInfo& info = tensors_->inputs[i];
    if (!info.is_shown) {
      continue;
    }
    if (record_ != nullptr && !info.is_hidden) {
      if (IsSelected(record_->inputs[i])) {
        nrd_tensor tensor = record_->inputs[i];
        ToBackendShape(info, tensors_->batched, &tensor);
        Add(info, tensor, pinned);
      }
    } else if (whole != nullptr && IsSelected(whole[i])) {
      Add(info, RowOf(whole[i], batch->batch_size, row), pinned);
    }
  }
}

void Request::Add(const TensorInfo& info, const nrd_tensor& tensor, bool pinned) {
  if (input_count_ == inputs_.size()) {
    inputs_.emplace_back();
  }
  inputs_[input_count_++].Begin(info, tensor, pinned);
}

Input* Request::FindInput(std::string_view name) {
  for (uint32_t i = 0; i < input_count_; ++i) {
    if (inputs_[i].name() == name) {
      return &inputs_[i];
    }
  }
  return nullptr;
}

void Request::EndInputs() {
  for (uint32_t i = 0; i < input_count_; ++i) {
    inputs_[i].End();
  }
}

Request::Taken Request::TakeBack(const Status& why, bool lost) {
  const MutexLock lock(mutex_);
  Taken taken;
  if (Close()) {
    EndInputs();
    trace_.reset();
    ++taken.handles;
  }
  for (Response& response : made_) {
    if (response.TakeFromPlugin()) {
      if (!lost) {
        EndResponse(response);
      }
      ++taken.handles;
    }
  }
  if (!ended_ && IsUnanswered()) {
    Fail(why);
  }
  if (lost && !ended_ && record_ != nullptr) {
    Keep(record_->inputs, record_->input_count);
    Keep(record_->outputs, record_->output_count);
  }
  taken.ended = !ended_;
  ended_ = gone_ = true;
  return taken;
}

bool Request::TakeEnded() {
  const MutexLock lock(mutex_);
  return ended_ && record_ != nullptr && !std::exchange(handed_, true);
}

uint64_t Request::sequence_id() const { return record_ == nullptr ? 0 : record_->sequence_id; }

bool Request::Wants(uint32_t output) const {
  return record_ != nullptr && output < record_->output_count &&
         IsSelected(record_->outputs[output]);
}

const std::vector<Parameter>& Request::parameters() {
  const MutexLock lock(mutex_);
  if (record_ != nullptr && parameters_.empty()) {
    std::vector<Parameter> all;
    for (uint32_t i = 0; i < record_->value_count; ++i) {
      all.push_back(Parameter::Of(record_->values[i]));
    }
    parameters_ = std::move(all);
  }
  return parameters_;
}

bool Request::IsCancelled() {
  const MutexLock lock(mutex_);
  return gone_ || (!ended_ && record_ != nullptr && nrd_request_is_cancelled(record_) != 0);
}

InferenceTrace* Request::trace() {
  const MutexLock lock(mutex_);
  if (record_ == nullptr || (record_->flags & NRD_REQUEST_TRACED) == 0) {
    return nullptr;
  }
  if (InferenceTrace* const plugins = InferenceTrace::OfTag(record_->tag); plugins != nullptr) {
    return plugins;
  }
  if (trace_ == nullptr) {
    trace_ = std::make_unique<InferenceTrace>(record_->tag);
  }
  return trace_.get();
}

Status Request::State(std::string_view name, int32_t datatype, const int64_t* shape, uint32_t rank,
                      SequenceState** out) {
  const int32_t index = tensors_->StateIndex(name);
  if (tensors_->states.empty()) {
    return Status::InvalidArgument("unable to add state '" + std::string(name) +
                                   "'. State configuration is missing for model '" +
                                   execution_.model_name() + "'.");
  }
  if (index < 0 || rank > NRD_MAX_RANK) {
    return Status::InvalidArgument("state '" + std::string(name) +
                                   "' is not a valid state name of model '" +
                                   execution_.model_name() + "'");
  }
  *out = &states_[static_cast<size_t>(index)];
  const StateInfo& info = tensors_->states[static_cast<size_t>(index)];
  const Input* const before =
      info.in_place ? FindInput(tensors_->inputs[info.input].name) : nullptr;
  (*out)->Begin(datatype, shape, rank, execution_.model().pinned(),
                before == nullptr ? nrd_tensor{} : before->tensor());
  return Status();
}

void Request::BeginStates() {
  while (states_.size() < tensors_->states.size()) {
    states_.emplace_back();
  }
  for (SequenceState& state : states_) {
    state.End();
  }
}

Status Request::Release(const Site& site, uint32_t flags) {
  bool ends = false;
  {
    const MutexLock lock(mutex_);
    if (execution_.batch() == nullptr) {
      return Status::InvalidArgument(std::string(site.function) + ": " + execution_.owner().name() +
                                     " released a request that is not executed yet");
    }
    if ((flags & TRITONSERVER_REQUEST_RELEASE_RESCHEDULE) != 0 && record_ != nullptr) {
      const Status status = Ask("the core", [&](nrd_error* error) {
        return nrd_batch_request_reschedule(execution_.batch(), index_, error);
      });
      if (!status.ok()) {
        Fail(status);  // otherwise it would never be answered
      }
      rescheduled_ = true;
    }
    if (!Close()) {
      return WrongHandle(site, kKind, this);
    }
    EndInputs();
    trace_.reset();
    released_ = true;
    ends = Ends();
  }
  Leave(ends);
  return Status();
}

Status Request::HoldFactory() {
  const MutexLock lock(mutex_);
  if (ended_) {
    return Status::InvalidArgument(execution_.owner().name() +
                                   " makes a response factory of a request that is not executed");
  }
  ++factories_;
  execution_.Refer();
  return Status();
}

void Request::DropFactory() {
  bool ends = false;
  {
    const MutexLock lock(mutex_);
    --factories_;
    ends = Ends();
  }
  Leave(ends);
}

bool Request::Ends() {
  if (ended_ || !released_ || responses_ > 0 || (!final_ && factories_ > 0)) {
    return false;
  }
  ended_ = true;
  if (!rescheduled_ && IsUnanswered()) {
    Fail(Caught("ending a request", [this] {
      return Status::Internal(execution_.owner().name() + " released a request of model '" +
                              execution_.model_name() + "' without " +
                              (decoupled_ ? "the final flag" : "a response"));
    }));
  }
  return true;
}

// Responses without the final flag are part of an answer, and must not look complete.
bool Request::IsUnanswered() const {
  const bool answered = decoupled_ ? final_ : answered_;
  return !answered && !failed_ && !gone_ && record_ != nullptr;
}

void Request::Fail(const Status& status) {
  failed_ = true;
  execution_.NoteFailure();
  nrd_batch_request_fail(execution_.batch(), index_, status.code(), status.message().data(),
                         status.message().size());
}

void Request::Leave(bool ends) {
  Execution& execution = execution_;
  if (ends) {
    execution.EndRequest(*this);
  }
  execution.Forget();
}

}  // namespace nereid::triton
