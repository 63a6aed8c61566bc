#include "isolation/isolated_instance.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/tensor.h"
#include "isolation/isolated_model.h"

namespace nereid {
namespace {

// An end of the child wakes who waits for it; this is for a wake-up that came too early.
constexpr int64_t kLookNs = 100'000'000;

Record TensorRecord(RecordKind kind, uint32_t index, const nrd_tensor& tensor, uint64_t offset) {
  Record record{};
  record.kind = kind;
  record.index = index;
  record.datatype = tensor.datatype;
  record.rank = tensor.rank;
  record.offset = offset;
  record.byte_size = tensor.byte_size;
  std::copy_n(tensor.shape, NRD_MAX_RANK, record.shape);
  return record;
}

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

// An execution has its link for itself: what takes its place is made while it still goes on.
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

Status IsolatedInstance::ExecuteIn(Link* link, nrd_batch* batch) {
  const uint64_t timeout_ns = model_.isolation().timeout_ms * 1'000'000;
  const int64_t deadline_ns = timeout_ns == 0 ? kNever : AddDelay(MonotonicNowNs(), timeout_ns);
  NRD_RETURN_IF_ERROR(SendBatch(link, *batch, deadline_ns));
  return AwaitAnswer(link, batch, deadline_ns);
}

Status IsolatedInstance::SendBatch(Link* link, const nrd_batch& batch, int64_t deadline_ns) {
  const SharedChannel& channel = *link->channel;
  uint64_t byte_size = 0;
  for (uint32_t i = 0; i < batch.input_count; ++i) {
    byte_size += IsSelected(batch.inputs[i]) ? SharedChannel::Aligned(batch.inputs[i].byte_size)
                                             : uint64_t{0};
  }
  if (byte_size > channel.area_bytes()) {
    return Status(NRD_RESOURCE_EXHAUSTED,
                  "the inputs have " + std::to_string(byte_size) + " bytes, isolated model '" +
                      model_.name() + "' can share " + std::to_string(channel.area_bytes()) +
                      " with its process; raise isolation_tensor_mb");
  }
  uint64_t offset = 0;
  for (uint32_t i = 0; i < batch.input_count; ++i) {
    const nrd_tensor& input = batch.inputs[i];
    if (!IsSelected(input)) {
      continue;
    }
    if (input.byte_size > 0) {
      std::memcpy(channel.inputs() + offset, input.data, input.byte_size);
    }
    NRD_RETURN_IF_ERROR(Put(link, TensorRecord(RecordKind::kInput, i, input, offset), deadline_ns));
    offset += SharedChannel::Aligned(input.byte_size);
  }
  for (uint32_t i = 0; i < batch.output_count; ++i) {
    if (IsSelected(batch.outputs[i])) {
      Record record{};
      record.kind = RecordKind::kWanted;
      record.index = i;
      NRD_RETURN_IF_ERROR(Put(link, record, deadline_ns));
    }
  }
  Record run{};
  run.kind = RecordKind::kRun;
  run.number = batch.batch_size;
  NRD_RETURN_IF_ERROR(Put(link, run, deadline_ns));
  link->to_child.Publish();
  return Status();
}

// A ring holds the records of almost any batch; a larger one waits for the child to read.
Status IsolatedInstance::Put(Link* link, const Record& record, int64_t deadline_ns) {
  while (!link->to_child.Put(record)) {
    link->to_child.Publish();
    NRD_RETURN_IF_ERROR(CheckAlive(*link, deadline_ns));
    const timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
    nanosleep(&moment, nullptr);
  }
  return Status();
}

Status IsolatedInstance::AwaitAnswer(Link* link, nrd_batch* batch, int64_t deadline_ns) {
  ChannelControl* const control = link->channel->control();
  check_.Begin(*batch, link->channel->area_bytes(), sizeof(control->message));
  Status failed;
  for (;;) {
    Record record;
    NRD_RETURN_IF_ERROR(TakeRecord(link, deadline_ns, &record));
    if (const char* const wrong = check_.Check(record); wrong != nullptr) {
      return Kill(*link, wrong);
    }
    if (record.kind == RecordKind::kComputed) {
      nrd_batch_computed(batch, record.number, record.other);
    } else if (record.kind != RecordKind::kEnd) {
      Status taken = TakeOutput(*link, record, batch);
      failed = failed.ok() ? std::move(taken) : std::move(failed);
    } else {
      model_.Answered();
      if (record.datatype == NRD_OK) {
        return failed;
      }
      std::array<char, sizeof(control->message)> message;
      std::memcpy(message.data(), control->message, record.byte_size);
      WriteError(&error_, record.datatype, {message.data(), record.byte_size});
      return StatusFromCallback(record.datatype, error_, "the backend");
    }
  }
}

Status IsolatedInstance::TakeRecord(Link* link, int64_t deadline_ns, Record* record_out) {
  for (;;) {
    // An answer that was complete when the child ended counts.
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
    link->to_parent.Wait(std::min(deadline_ns, MonotonicNowNs() + kLookNs));
  }
}

// The core checks datatype and shape, as it does for each backend, and has the memory.
Status IsolatedInstance::TakeOutput(const Link& link, const Record& record, nrd_batch* batch) {
  if (record.kind == RecordKind::kForward) {
    const int32_t code = nrd_batch_output_forward(batch, record.index,
                                                  static_cast<uint32_t>(record.number), &error_);
    return StatusFromCallback(code, error_, "forwarding an output");
  }
  void* data = nullptr;
  const int32_t code = nrd_batch_output(batch, record.index, record.datatype, record.rank,
                                        record.shape, record.byte_size, &data, &error_);
  if (code == NRD_OK && record.byte_size > 0) {
    std::memcpy(data, link.channel->outputs() + record.offset, record.byte_size);
  }
  return StatusFromCallback(code, error_, "allocating an output");
}

Status IsolatedInstance::CheckAlive(const Link& link, int64_t deadline_ns) {
  if (MonotonicNowNs() < deadline_ns) {
    return link.child->ended() ? Lost(link.child->end()) : Status();
  }
  return Kill(link, "it gave no answer within isolation_timeout_ms, " +
                        std::to_string(model_.isolation().timeout_ms) + " ms");
}

// Its end is a matter of a moment; who comes next must not find it.
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
