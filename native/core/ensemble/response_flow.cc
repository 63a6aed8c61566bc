#include "core/ensemble/response_flow.h"

#include <exception>
#include <utility>

#include "base/tensor.h"
#include "core/ensemble/ensemble.h"
#include "core/ensemble/ensemble_run.h"
#include "core/model/model.h"

namespace nereid {
namespace {

bool HasOutputs(const nrd_request& record) {
  for (uint32_t i = 0; i < record.output_count; ++i) {
    if (IsSelected(record.outputs[i]) && record.outputs[i].data != nullptr) {
      return true;
    }
  }
  return false;
}

// Moves a tensor with its buffer.
void Move(nrd_tensor* from, nrd_tensor* to) {
  const uint32_t flags = to->flags;
  *to = *from;
  to->flags = flags;
  from->slab = nullptr;
  from->data = nullptr;
}

}  // namespace

void ResponseFlow::Part::Respond(nrd_tensor* outputs, uint32_t count,
                                 std::unique_ptr<ResponseValues> its_values) {
  try {
    const MutexLock lock(flow->mutex_);
    values.reserve(values.size() + 1);
    responses.insert(responses.end(), outputs, outputs + count);
    values.push_back(std::move(its_values));
  } catch (const std::exception&) {  // only memory can be lacking
    Ensemble::Abandon(flow->run_, FailReason::kOther, NRD_RESOURCE_EXHAUSTED,
                      "the process is out of memory");
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    outputs[i].slab = nullptr;
    outputs[i].data = nullptr;
  }
  flow->Pump();
}

void ResponseFlow::Begin() {
  const MutexLock lock(mutex_);
  stopping_ = false;
  closed_ = false;
  failed_ = nullptr;
  last_ = nullptr;
}

bool ResponseFlow::AwaitReader() {
  Request& whole = run_.request();
  if (whole.sink != nullptr) {
    return whole.sink->AwaitRoom();
  }
  responder_.Respond(whole, nullptr, 0);
  return true;
}

void ResponseFlow::Pass(nrd_tensor* outputs, uint32_t count,
                        std::unique_ptr<ResponseValues> values) {
  Request& whole = run_.request();
  if (whole.sink != nullptr) {
    whole.sink->Respond(outputs, count, std::move(values));
    return;
  }
  GiveResponseValues(std::move(values), whole);
  responder_.Respond(whole, outputs, count);
  ClearResponseValues(whole);
}

bool ResponseFlow::ReaderHasRoom() {
  ResponseSink* const sink = run_.request().sink;
  return sink == nullptr || sink->HasRoom();
}

bool ResponseFlow::HasRoom() {
  {
    const MutexLock lock(mutex_);
    if (IsFull()) {
      return false;
    }
  }
  return ReaderHasRoom();
}

bool ResponseFlow::AwaitRoom() {
  const int64_t deadline_ns = run_.request().record.deadline_ns;
  {
    const MutexLock lock(mutex_);
    bool in_time = true;
    while (IsFull() && in_time) {
      in_time = room_.WaitUntil(mutex_, deadline_ns > 0 ? deadline_ns : kNever);
    }
    if (stopping_) {
      return false;
    }
  }
  return AwaitReader();
}

void ResponseFlow::StepAnswered(Request& request) {
  nrd_request& record = request.record;
  if (record.status == NRD_OK && HasOutputs(record)) {
    Add(record.outputs, record.output_count, TakeResponseValues(request), true);
  }
}

void ResponseFlow::Add(nrd_tensor* outputs, uint32_t count, std::unique_ptr<ResponseValues> values,
                       bool last) {
  Part* const part = MakePart(outputs, count, std::move(values));
  if (part == nullptr) {
    Ensemble::Abandon(run_, FailReason::kOther, NRD_RESOURCE_EXHAUSTED,
                      "the process is out of memory");
    return;
  }
  part->last = last;
  bool refused = false;
  {
    const MutexLock lock(mutex_);
    refused = stopping_;
    if (!refused) {
      (head_ == nullptr ? head_ : tail_->next) = part;
      tail_ = part;
      first_ = first_ == nullptr ? part : first_;
      waiting_ = waiting_ == nullptr ? part : waiting_;
      ++count_;
    }
  }
  if (refused) {
    Recycle(*part);
  } else {
    Pump();
  }
}

// Makes a part; null: memory is lacking.
ResponseFlow::Part* ResponseFlow::MakePart(nrd_tensor* outputs, uint32_t count,
                                           std::unique_ptr<ResponseValues> values) {
  Request* request = nullptr;
  Part* part = nullptr;
  try {
    if (!behind_.Acquire(&request).ok()) {
      return nullptr;
    }
    part = UnusedPart();
  } catch (const std::exception&) {
    if (request != nullptr) {
      behind_.GiveBack(*request);
    }
    return nullptr;
  }
  *part = Part{};
  part->flow = this;
  part->request = request;
  request->continuation = OnPartAnswered;
  request->continuation_context = part;
  request->sink = part;
  run_.FillPart(outputs, count, request);
  GiveResponseValues(std::move(values), *request);
  return part;
}

ResponseFlow::Part* ResponseFlow::UnusedPart() {
  const MutexLock lock(mutex_);
  if (unused_.empty()) {
    unused_.reserve(parts_.size() + 1);
    return parts_.emplace_back(std::make_unique<Part>()).get();
  }
  Part* const part = unused_.back();
  unused_.pop_back();
  return part;
}

void ResponseFlow::OnPartAnswered(Request& request) {
  Part& part = *static_cast<Part*>(request.continuation_context);
  ResponseFlow& flow = *part.flow;
  flow.Answered(part);
  flow.Pump();
  flow.run_.ensemble().Leave(flow.run_);
}

// The part may be delivered and reused for another response as soon as the mutex is released,
// unless it failed: then those behind it are useless.
void ResponseFlow::Answered(Part& part) {
  const bool failed = part.request->record.status != NRD_OK;
  {
    const MutexLock lock(mutex_);
    part.answered = true;
    if (!failed) {
      return;
    }
    stopping_ = true;
    room_.NotifyAll();
  }
  CancelFrom(part.next);
  run_.CancelLastStep();
}

// Cancels parts; the chain does not change after stopping_.
void ResponseFlow::CancelFrom(Part* part) {
  for (; part != nullptr; part = part->next) {
    Request& request = *part->request;
    if (part->started && request.state.load(std::memory_order_acquire) != RequestState::kDone) {
      (void)request.model->Cancel(request);
    }
  }
}

void ResponseFlow::Close() {
  Part* first = nullptr;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    closed_ = true;
    first = head_;
    room_.NotifyAll();
  }
  CancelFrom(first);
}

// A loop and not a recursion: it finds parts that are answered at once.
void ResponseFlow::Pump() {
  const MutexLock lock(mutex_);
  if (pumping_) {
    return;
  }
  pumping_ = true;
  while (DeliverNext() || StartNext()) {
  }
  pumping_ = false;
}

// True if it delivered something.
bool ResponseFlow::DeliverNext() {
  Part* const head = head_;
  if (closed_ || head == nullptr) {
    return false;
  }
  if (!head->responses.empty()) {
    DeliverWaiting(*head);
    return true;
  }
  if (!head->answered) {
    return false;
  }
  nrd_request& record = head->request->record;
  if (record.status != NRD_OK) {
    closed_ = true;
    failed_ = head->request;
    return false;
  }
  {
    const MutexUnlock unlock(mutex_);
    run_.AddTimes(record);
    if (head->last) {
      last_ = head->request;
    } else if (HasOutputs(record)) {
      Pass(record.outputs, record.output_count, TakeResponseValues(*head->request));
    }
  }
  TakeOut(*head);
  return true;
}

void ResponseFlow::DeliverWaiting(Part& part) {
  std::vector<nrd_tensor> responses = std::exchange(part.responses, {});
  std::vector<std::unique_ptr<ResponseValues>> values = std::exchange(part.values, {});
  const uint32_t each = part.request->record.output_count;
  const MutexUnlock unlock(mutex_);
  for (size_t i = 0; i < responses.size(); i += each) {
    Pass(&responses[i], each, std::move(values[i / each]));
    DropTensors(&responses[i], each);
  }
}

void ResponseFlow::TakeOut(Part& head) {
  head_ = head.next;
  --count_;
  --started_;
  room_.NotifyOne();
  if (!stopping_ && !head.last) {
    first_ = head_;
    const MutexUnlock unlock(mutex_);
    Recycle(head);
  }
}

// True if it submitted a part.
bool ResponseFlow::StartNext() {
  Part* const part = waiting_;
  if (stopping_ || part == nullptr || (limit_ > 0 && started_ >= limit_)) {
    return false;
  }
  waiting_ = part->next;
  part->started = true;
  ++started_;
  run_.AddToken();
  const MutexUnlock unlock(mutex_);
  if (behind_.SubmitPart(*part->request) != NRD_PENDING) {
    Answered(*part);
    (void)run_.DropToken();  // not the last: the caller has its own
  }
  return true;
}

void ResponseFlow::Recycle(Part& part) {
  DropTensors(part.responses.data(), static_cast<uint32_t>(part.responses.size()));
  part.responses.clear();
  part.values.clear();
  behind_.GiveBack(*std::exchange(part.request, nullptr));
  const MutexLock lock(mutex_);
  unused_.push_back(&part);  // has room for all parts
}

void ResponseFlow::TakeLast(nrd_request* record) {
  if (last_ == nullptr) {
    return;
  }
  for (uint32_t i = 0; i < record->output_count; ++i) {
    if (IsSelected(record->outputs[i])) {
      Move(&last_->record.outputs[i], &record->outputs[i]);
    }
  }
}

void ResponseFlow::End() {
  if (last_ != nullptr) {
    GiveResponseValues(TakeResponseValues(*last_), run_.request());
  }
  Part* part = nullptr;
  {
    const MutexLock lock(mutex_);
    part = std::exchange(first_, nullptr);
    head_ = waiting_ = tail_ = nullptr;
    count_ = started_ = 0;
  }
  while (part != nullptr) {
    Part* const next = part->next;
    Recycle(*part);
    part = next;
  }
}

}  // namespace nereid
