#include "isolation/request_message.h"

#include <algorithm>

#include "base/status.h"

namespace nereid {
namespace {

// Bytes of a value without texts.
constexpr size_t kValueBytes = 3 * sizeof(uint64_t) + sizeof(double) + sizeof(int32_t);

}  // namespace

void WriteValue(const nrd_value& value, MessageWriter* writer) {
  writer->PutText(View(value.name));
  writer->PutText(View(value.text));
  writer->Put(value.number);
  writer->Put(value.real);
  writer->Put(value.kind);
}

nrd_value ReadValue(MessageReader* reader) {
  nrd_value value{};
  value.name = AsNrdString(reader->GetText());
  value.text = AsNrdString(reader->GetText());
  value.number = reader->Get<int64_t>();
  value.real = reader->Get<double>();
  value.kind = reader->Get<int32_t>();
  return value;
}

void WriteRequest(const nrd_request& request, MessageWriter* writer) {
  writer->Put(request.flags & ~uint32_t{NRD_REQUEST_TRACED});
  writer->Put(request.deadline_ns);
  writer->Put(request.timeout_ns);
  writer->Put(request.priority);
  writer->Put(request.input_count);
  writer->Put(request.output_count);
  writer->Put(request.first_row);
  writer->Put(request.sequence_id);
  writer->PutText(View(request.sequence_name));
  writer->PutText(View(request.id));
  writer->Put(request.value_count);
  for (uint32_t i = 0; i < request.value_count; ++i) {
    WriteValue(request.values[i], writer);
  }
}

bool ReadRequest(std::string_view body, nrd_request* record, std::vector<nrd_value>* values) {
  MessageReader reader(body);
  *record = {};
  record->struct_size = sizeof(nrd_request);
  record->tag = UINT64_MAX;  // unknown: the sender is in another process
  record->flags = reader.Get<uint32_t>();
  record->deadline_ns = reader.Get<int64_t>();
  record->timeout_ns = reader.Get<uint64_t>();
  record->priority = reader.Get<uint32_t>();
  record->input_count = reader.Get<uint32_t>();
  record->output_count = reader.Get<uint32_t>();
  record->first_row = reader.Get<uint32_t>();
  record->sequence_id = reader.Get<uint64_t>();
  record->sequence_name = AsNrdString(reader.GetText());
  record->id = AsNrdString(reader.GetText());
  values->resize(reader.GetCount(kValueBytes));
  std::generate(values->begin(), values->end(), [&] { return ReadValue(&reader); });
  record->values = values->data();
  record->value_count = static_cast<uint32_t>(values->size());
  return reader.ok();
}

}  // namespace nereid
