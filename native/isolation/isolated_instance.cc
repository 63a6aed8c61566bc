#include "isolation/isolated_instance.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "base/clock.h"
#include "isolation/isolated_model.h"

namespace nereid {
namespace {

// The interval of looking again after a wake-up too early; the child's end wakes the thread.
constexpr int64_t kLookNs = 100'000'000;

}  // namespace

IsolatedInstance::Link::Link(std::shared_ptr<ChildProcess> of,
                             std::unique_ptr<SharedChannel> through)
    : child(std::move(of)),
      channel(std::move(through)),
      to_child(&channel->control()->to_child),
      to_parent(&channel->control()->to_parent) {}

IsolatedInstance::IsolatedInstance(IsolatedModel* model, uint32_t index,
                                   std::shared_ptr<ChildProcess> child,
                                   std::unique_ptr<SharedChannel> channel)
    : model_(*model),
      index_(index),
      link_(std::make_shared<Link>(std::move(child), std::move(channel))) {
  error_.struct_size = sizeof(error_);
}

void IsolatedInstance::Replace(std::shared_ptr<ChildProcess> child,
                               std::unique_ptr<SharedChannel> channel) {
  auto link = std::make_shared<Link>(std::move(child), std::move(channel));
  const MutexLock lock(use_);
  link_ = std::move(link);
}

void IsolatedInstance::Wake() {
  std::shared_ptr<Link> link;
  {
    const MutexLock lock(use_);
    link = link_;
  }
  RingReader::Wake(&link->channel->control()->to_parent);
}

// Executes on a copy of the link, so that a new link can be made meanwhile.
Status IsolatedInstance::Execute(nrd_batch* batch) {
  for (;;) {
    std::shared_ptr<Link> link;
    {
      const MutexLock lock(use_);
      link = link_;
    }
    if (!link->child->ended()) [[likely]] {
      return ExecuteIn(link.get(), batch);
    }
    NRD_RETURN_IF_ERROR(model_.AwaitNext(link->child.get()));
  }
}

int64_t IsolatedInstance::Deadline() const {
  const uint64_t timeout_ns = model_.isolation().timeout_ms * 1'000'000;
  return timeout_ns == 0 ? kNever : AddDelay(MonotonicNowNs(), timeout_ns);
}

Status IsolatedInstance::ExecuteIn(Link* link, nrd_batch* batch) {
  const int64_t deadline_ns = Deadline();
  check_.Begin(*batch, link->channel->area_bytes(), sizeof(link->channel->control()->message));
  NRD_RETURN_IF_ERROR(records_.Write(*batch, model_.isolation().with_requests, *link->channel));
  try {
    NRD_RETURN_IF_ERROR(SendBatch(link, *batch, deadline_ns));
    return AwaitAnswer(link, batch, deadline_ns);
  } catch (const std::exception&) {  // the rest of the answer must not meet the next batch
    return Kill(*link, "there was no memory for its answer");
  }
}

// Sends the records of a batch. A ring holds almost any batch's records; a larger one waits for the
// child.
Status IsolatedInstance::SendBatch(Link* link, const nrd_batch& batch, int64_t deadline_ns) {
  if (model_.isolation().with_requests) {
    link->channel->control()->ForgetCancelled(batch.request_count);
  }
  for (const Record& record : records_.all()) {
    while (!link->to_child.Put(record)) {
      link->to_child.Publish();
      NRD_RETURN_IF_ERROR(CheckAlive(*link, deadline_ns));
      const timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
      nanosleep(&moment, nullptr);
    }
  }
  link->to_child.Publish();
  return Status();
}

// Waits for the answer; each response of a decoupled model restarts the timeout.
Status IsolatedInstance::AwaitAnswer(Link* link, nrd_batch* batch, int64_t deadline_ns) {
  Status failed;
  for (;;) {
    Record record;
    NRD_RETURN_IF_ERROR(TakeRecord(link, *batch, deadline_ns, &record));
    if (const char* const wrong = check_.Check(record); wrong != nullptr) {
      return Kill(*link, wrong);
    }
    if (record.kind == RecordKind::kEnd) {
      model_.Answered();
      Status ended = TakeEnd(*link, record);
      return ended.ok() ? std::move(failed) : std::move(ended);
    }
    // Checked here for decoupled models, whose records may never end; others are limited.
    if (record.request != 0 && MonotonicNowNs() >= deadline_ns) {
      return CheckAlive(*link, deadline_ns);
    }
    Status taken = taker_.Take(record, *link->channel, batch);
    failed = failed.ok() ? std::move(taken) : std::move(failed);
    if (record.kind == RecordKind::kRespond || record.kind == RecordKind::kRespondError) {
      deadline_ns = Deadline();
    }
  }
}

Status IsolatedInstance::TakeEnd(const Link& link, const Record& record) {
  if (record.datatype == NRD_OK) {
    return Status();
  }
  const ChannelControl& control = *link.channel->control();
  std::array<char, sizeof(control.message)> message;
  std::memcpy(message.data(), control.message, record.byte_size);
  WriteError(&error_, record.datatype, {message.data(), record.byte_size});
  return StatusFromCallback(record.datatype, error_, "the backend");
}

// Tells the child about requests that were cancelled.
void IsolatedInstance::TellCancelled(const Link& link, const nrd_batch& batch) const {
  for (uint32_t i = 0; model_.isolation().with_requests && i < batch.request_count; ++i) {
    if (nrd_request_is_cancelled(batch.requests[i]) != 0) {
      link.channel->control()->Cancel(i);
    }
  }
}

Status IsolatedInstance::TakeRecord(Link* link, const nrd_batch& batch, int64_t deadline_ns,
                                    Record* record_out) {
  for (;;) {
    // Read before the ring, because an answer counts that was complete when the child ended.
    const bool ended = link->child->ended();
    switch (link->to_parent.Take(record_out)) {
      case RingReader::Taken::kRecord:
        return Status();
      case RingReader::Taken::kBroken:
        return Kill(*link, "it wrote over the records of its answers");
      case RingReader::Taken::kNothing:
        break;
    }
    if (ended) {
      return Lost(link->child->end());
    }
    NRD_RETURN_IF_ERROR(CheckAlive(*link, deadline_ns));
    TellCancelled(*link, batch);
    link->to_parent.Wait(std::min(deadline_ns, MonotonicNowNs() + kLookNs));
  }
}

Status IsolatedInstance::CheckAlive(const Link& link, int64_t deadline_ns) {
  if (MonotonicNowNs() < deadline_ns) {
    return link.child->ended() ? Lost(link.child->end()) : Status();
  }
  return Kill(link, "it gave no answer within isolation_timeout_ms, " +
                        std::to_string(model_.isolation().timeout_ms) + " ms");
}

// Kills the child and waits for its end, so that the next execution does not find it.
Status IsolatedInstance::Kill(const Link& link, std::string_view reason) {
  link.child->Kill(reason);
  while (!link.child->ended()) {
    const timespec moment{.tv_sec = 0, .tv_nsec = 100'000};
    nanosleep(&moment, nullptr);
  }
  return Lost(link.child->end());
}

Status IsolatedInstance::Lost(std::string_view end) const {
  return Status::Unavailable("the process of isolated model '" + model_.name() + "' " +
                             std::string(end));
}

}  // namespace nereid
