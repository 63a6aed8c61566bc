#include "core/request/response_values.h"

#include <utility>

namespace nereid {
namespace {

// Writes the values' address and count into the record.
void Tell(Request& request) {
  const ResponseValues* const values = request.response_values;
  const bool some = values != nullptr && values->size() > 0;
  request.record.response_values = some ? values->data() : nullptr;
  request.record.response_value_count = some ? static_cast<uint32_t>(values->size()) : 0;
}

}  // namespace

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
