#include "isolation/child/child_batch.h"

#include <time.h>

#include <algorithm>
#include <cstring>

#include "base/tensor.h"
#include "isolation/request_message.h"

namespace nereid {
namespace {

Record RecordOf(RecordKind kind, uint32_t request) {
  Record record{};
  record.kind = kind;
  record.request = request;
  return record;
}

}  // namespace

ChildBatch::ChildBatch(const SharedChannel& channel, const nrd_model_options& options)
    : channel_(channel),
      decoupled_((options.flags & NRD_MODEL_DECOUPLED) != 0),
      iterative_(options.sequences != nullptr &&
                 (options.sequences->flags & NRD_SEQUENCES_ITERATIVE) != 0),
      inputs_(options.input_count),
      outputs_(options.output_count),
      to_parent_(&channel.control()->to_parent),
      area_(channel.area_bytes()) {
  batch_.struct_size = sizeof(nrd_batch);
  batch_.input_count = options.input_count;
  batch_.output_count = options.output_count;
  batch_.inputs = inputs_.data();
  batch_.outputs = outputs_.data();
  made_.reserve(options.output_count + 1);
}

void ChildBatch::Begin() {
  std::fill(inputs_.begin(), inputs_.end(), nrd_tensor{});
  std::fill(outputs_.begin(), outputs_.end(), nrd_tensor{});
  records_.clear();
  const MutexLock lock(mutex_);
  made_.clear();
  sent_.clear();
  area_.GiveAll();
  is_finished_ = false;
}

bool ChildBatch::Add(const Record& record) {
  if (record.kind == RecordKind::kRequest && record.request == records_.size() + 1) {
    if (record.request > requests_.size()) {
      requests_.push_back(std::make_unique<ChildRequest>());
    }
    ChildRequest& request = *requests_[record.request - 1];
    const auto* const body = reinterpret_cast<const char*>(channel_.inputs() + record.offset);
    if (!ReadRequest({body, record.byte_size}, &request.record, &request.values)) {
      return false;
    }
    request.control = channel_.control();
    request.index = record.request - 1;
    request.inputs.assign(request.record.input_count, nrd_tensor{});
    request.outputs.assign(request.record.output_count, nrd_tensor{});
    request.record.inputs = request.inputs.data();
    request.record.outputs = request.outputs.data();
    request.made.clear();
    records_.push_back(&request.record);
    return true;
  }
  if (record.request > records_.size()) {
    return false;
  }
  ChildRequest* const request = record.request == 0 ? nullptr : requests_[record.request - 1].get();
  if (record.kind == RecordKind::kInput) {
    return AddInput(record, request == nullptr ? &inputs_ : &request->inputs);
  }
  std::vector<nrd_tensor>& outputs = request == nullptr ? outputs_ : request->outputs;
  if (record.kind != RecordKind::kWanted || record.index >= outputs.size()) {
    return false;
  }
  outputs[record.index].flags = NRD_TENSOR_SELECTED;
  return true;
}

bool ChildBatch::AddInput(const Record& record, std::vector<nrd_tensor>* inputs) {
  if (record.index >= inputs->size()) {
    return false;
  }
  nrd_tensor& input = (*inputs)[record.index];
  input.data = channel_.inputs() + record.offset;
  input.byte_size = record.byte_size;
  input.datatype = record.datatype;
  input.rank = record.rank;
  input.flags = NRD_TENSOR_SELECTED;
  std::copy_n(record.shape, NRD_MAX_RANK, input.shape);
  return true;
}

void ChildBatch::Complete(int64_t rows) {
  batch_.batch_size = rows;
  batch_.requests = records_.data();
  batch_.request_count = static_cast<uint32_t>(records_.size());
}

Status ChildBatch::CheckWanted(uint32_t index) const {
  if (index >= outputs_.size() || !IsSelected(outputs_[index]) || outputs_[index].data != nullptr) {
    return Status::Internal("the backend made output " + std::to_string(index) +
                            ", which nobody asked for, or twice");
  }
  return Status();
}

Status ChildBatch::Find(uint32_t request, ChildRequest** request_out) {
  if (request >= records_.size()) {
    return Status::InvalidArgument("backend named request " + std::to_string(request) +
                                   ", the batch has " + std::to_string(records_.size()));
  }
  *request_out = requests_[request].get();
  return Status();
}

// Finds room in the outputs; places of records that the parent has read, and so copied, are free.
Status ChildBatch::Place(uint64_t byte_size, Record* record) {
  for (;;) {
    while (!sent_.empty() && to_parent_.WasRead(sent_.front().written)) {
      area_.Give(sent_.front().places);
      sent_.pop_front();
    }
    record->byte_size = byte_size;
    if (area_.Take(byte_size, &record->offset)) {
      return Status();
    }
    if (sent_.empty()) {
      return Status(NRD_RESOURCE_EXHAUSTED,
                    "the outputs need more than " + std::to_string(channel_.area_bytes()) +
                        " bytes, which an isolated model shares; raise isolation_tensor_mb");
    }
    const timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
    nanosleep(&moment, nullptr);
  }
}

Status ChildBatch::PlaceText(std::string_view text, Record* record) {
  text = text.substr(0, kMaxTextBytes);
  NRD_RETURN_IF_ERROR(Place(text.size(), record));
  std::memcpy(channel_.outputs() + record->offset, text.data(), text.size());
  return Status();
}

Status ChildBatch::PlaceOutput(const nrd_tensor& wanted, Record record, std::vector<Record>* made,
                               nrd_tensor* output) {
  if (wanted.rank > NRD_MAX_RANK) {
    return Status::Internal("backend made an output of " + std::to_string(wanted.rank) +
                            " dimensions, expected at most " + std::to_string(NRD_MAX_RANK));
  }
  record.datatype = wanted.datatype;
  record.rank = wanted.rank;
  std::copy_n(wanted.shape, wanted.rank, record.shape);
  NRD_RETURN_IF_ERROR(Place(wanted.byte_size, &record));
  made->push_back(record);
  const uint32_t flags = output->flags;
  *output = wanted;
  output->flags = flags;
  output->data = channel_.outputs() + record.offset;
  return Status();
}

Status ChildBatch::Output(uint32_t index, const nrd_tensor& wanted, void** data_out) {
  const MutexLock lock(mutex_);
  NRD_RETURN_IF_ERROR(CheckWanted(index));
  Record record = RecordOf(RecordKind::kOutput, 0);
  record.index = index;
  NRD_RETURN_IF_ERROR(PlaceOutput(wanted, record, &made_, &outputs_[index]));
  *data_out = outputs_[index].data;
  return Status();
}

Status ChildBatch::Forward(uint32_t index, uint32_t input_index) {
  const MutexLock lock(mutex_);
  NRD_RETURN_IF_ERROR(CheckWanted(index));
  Record record = RecordOf(RecordKind::kForward, 0);
  record.index = index;
  record.number = input_index;
  made_.push_back(record);
  return Status();
}

void ChildBatch::Computed(int64_t start_ns, int64_t end_ns) {
  Record record = RecordOf(RecordKind::kComputed, 0);
  record.number = start_ns;
  record.other = end_ns;
  const MutexLock lock(mutex_);
  std::erase_if(made_, [](const Record& made) { return made.kind == RecordKind::kComputed; });
  made_.push_back(record);
}

Status ChildBatch::RequestOutput(uint32_t request, uint32_t index, const nrd_tensor& wanted,
                                 void** data_out) {
  const MutexLock lock(mutex_);
  ChildRequest* found = nullptr;
  NRD_RETURN_IF_ERROR(Find(request, &found));
  if (index >= found->outputs.size()) {
    return Status::Internal("backend named output " + std::to_string(index) + " of a request, " +
                            std::to_string(found->outputs.size()) + " there are");
  }
  Record record = RecordOf(RecordKind::kOutput, request + 1);
  record.index = index;
  NRD_RETURN_IF_ERROR(PlaceOutput(wanted, record, &found->made, &found->outputs[index]));
  *data_out = found->outputs[index].data;
  return Status();
}

Status ChildBatch::AddValue(uint32_t request, const nrd_value& value) {
  MessageWriter writer;
  WriteValue(value, &writer);
  if (writer.bytes().size() > kMaxTextBytes) {
    return Status(NRD_RESOURCE_EXHAUSTED, "a value of " + std::to_string(writer.bytes().size()) +
                                              " bytes, expected at most " +
                                              std::to_string(kMaxTextBytes) +
                                              " of an isolated model's response");
  }
  const MutexLock lock(mutex_);
  ChildRequest* found = nullptr;
  NRD_RETURN_IF_ERROR(Find(request, &found));
  Record record = RecordOf(RecordKind::kValue, request + 1);
  NRD_RETURN_IF_ERROR(PlaceText(writer.bytes(), &record));
  found->made.push_back(record);
  return Status();
}

Status ChildBatch::Respond(uint32_t request) {
  const MutexLock lock(mutex_);
  ChildRequest* found = nullptr;
  NRD_RETURN_IF_ERROR(Find(request, &found));
  if (!decoupled_) {
    return Status(NRD_FAILED_PRECONDITION, "the model is not decoupled");
  }
  Send(found, RecordOf(RecordKind::kRespond, request + 1));
  return found->IsCancelled() ? Status(NRD_CANCELLED, "Request was cancelled") : Status();
}

Status ChildBatch::RespondError(uint32_t request, int32_t code, std::string_view message) {
  const MutexLock lock(mutex_);
  ChildRequest* found = nullptr;
  NRD_RETURN_IF_ERROR(Find(request, &found));
  if (!decoupled_) {
    return Status(NRD_FAILED_PRECONDITION, "the model is not decoupled");
  }
  area_.Give(static_cast<uint32_t>(std::erase_if(
      found->made, [](const Record& made) { return made.kind == RecordKind::kOutput; })));
  Record record = RecordOf(RecordKind::kRespondError, request + 1);
  record.datatype = code;
  NRD_RETURN_IF_ERROR(PlaceText(message, &record));
  Send(found, record);
  return found->IsCancelled() ? Status(NRD_CANCELLED, "Request was cancelled") : Status();
}

Status ChildBatch::Reschedule(uint32_t request) {
  const MutexLock lock(mutex_);
  ChildRequest* found = nullptr;
  NRD_RETURN_IF_ERROR(Find(request, &found));
  if (!iterative_) {
    return Status(NRD_FAILED_PRECONDITION,
                  "the model has no iterative sequences: its requests are executed once");
  }
  found->made.push_back(RecordOf(RecordKind::kReschedule, request + 1));
  return Status();
}

void ChildBatch::Fail(uint32_t request, int32_t code, std::string_view message) {
  const MutexLock lock(mutex_);
  ChildRequest* found = nullptr;
  if (!Find(request, &found).ok()) {
    return;
  }
  Record record = RecordOf(RecordKind::kFail, request + 1);
  record.datatype = code;
  if (!PlaceText(message, &record).ok()) {
    record.byte_size = 0;  // there is no room for the message
  }
  found->made.push_back(record);
}

void ChildBatch::Finish(int32_t code, std::string_view message) {
  const MutexLock lock(mutex_);
  is_finished_ = true;
  code_ = code;
  message_ = message;
  finished_.NotifyAll();
}

void ChildBatch::AwaitFinish(int32_t* code_out, std::string* message_out) {
  const MutexLock lock(mutex_);
  while (!is_finished_) {
    finished_.Wait(mutex_);
  }
  *code_out = code_;
  *message_out = message_;
}

// Sends a request's complete outputs, and empties them for the next response.
void ChildBatch::Send(ChildRequest* request, const Record& last) {
  const auto has_place = [](const Record& made) { return made.kind != RecordKind::kReschedule; };
  auto places =
      static_cast<uint32_t>(std::count_if(request->made.begin(), request->made.end(), has_place));
  places += last.kind == RecordKind::kRespondError ? 1 : 0;
  for (const Record& record : request->made) {
    Put(record);
  }
  Put(last);
  to_parent_.Publish();
  sent_.push_back({to_parent_.written(), places});
  request->made.clear();
  for (nrd_tensor& output : request->outputs) {
    output.data = nullptr;
  }
}

void ChildBatch::Put(const Record& record) {
  while (!to_parent_.Put(record)) {
    to_parent_.Publish();
    const timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
    nanosleep(&moment, nullptr);
  }
}

void ChildBatch::End(int32_t code, std::string_view message) {
  const MutexLock lock(mutex_);
  if (code == NRD_OK) {
    for (const Record& record : made_) {
      Put(record);
    }
    for (size_t i = 0; i < records_.size(); ++i) {
      for (const Record& record : requests_[i]->made) {
        Put(record);
      }
    }
  }
  ChannelControl* const control = channel_.control();
  Record end = RecordOf(RecordKind::kEnd, 0);
  end.datatype = code;
  end.byte_size = std::min(message.size(), sizeof(control->message));
  std::memcpy(control->message, message.data(), end.byte_size);
  Put(end);
  to_parent_.Publish();
}

}  // namespace nereid
