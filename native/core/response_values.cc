#include "core/response_values.h"

#include <utility>

#include "base/status.h"

namespace nereid {
namespace {

// Says in the record what there is.
void Tell(Request& request) {
  const ResponseValues* const values = request.response_values;
  const bool some = values != nullptr && values->size() > 0;
  request.record.response_values = some ? values->data() : nullptr;
  request.record.response_value_count = some ? static_cast<uint32_t>(values->size()) : 0;
}

}  // namespace

nrd_string ResponseValues::Keep(const nrd_string& text) {
  return text.size == 0 ? nrd_string{} : AsNrdString(texts_.emplace_back(View(text)));
}

// What may throw comes first. A text that nothing points to goes with the others.
void ResponseValues::Add(const nrd_value& value) {
  nrd_value kept = value;
  kept.name = Keep(value.name);
  kept.text = Keep(value.text);
  values_.push_back(kept);
}

void ResponseValues::Clear() {
  values_.clear();
  texts_.clear();
}

void AddResponseValue(Request& request, const nrd_value& value) {
  if (request.response_values == nullptr) {
    request.response_values = new ResponseValues();
  }
  request.response_values->Add(value);
  Tell(request);
}

void DropResponseValues(Request& request) {
  request.response_values->Clear();
  Tell(request);
}

std::unique_ptr<ResponseValues> TakeResponseValues(Request& request) {
  if (request.record.response_value_count == 0) {
    return nullptr;
  }
  std::unique_ptr<ResponseValues> taken(std::exchange(request.response_values, nullptr));
  Tell(request);
  return taken;
}

void GiveResponseValues(std::unique_ptr<ResponseValues> values, Request& request) {
  if (values != nullptr) {
    delete std::exchange(request.response_values, values.release());
    Tell(request);
  }
}

}  // namespace nereid
