#include "core/response_values.h"

#include <algorithm>
#include <cstring>
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

// There is room.
nrd_string ResponseValues::Keep(const nrd_string& text) {
  if (text.size == 0) {
    return {};
  }
  char* const kept = texts_.get() + used_;
  std::memcpy(kept, text.data, text.size);
  used_ += text.size;
  return {kept, text.size};
}

// Moves the texts, and what points to them.
void ResponseValues::Grow(size_t size) {
  const size_t room = std::max(size, 2 * room_);
  auto grown = std::make_unique<char[]>(room);
  room_ = room;
  if (used_ > 0) {
    std::memcpy(grown.get(), texts_.get(), used_);
  }
  const auto move = [&](nrd_string* text) {
    if (text->size > 0) {
      text->data = grown.get() + (text->data - texts_.get());
    }
  };
  for (nrd_value& value : values_) {
    move(&value.name);
    move(&value.text);
  }
  texts_ = std::move(grown);
}

// What may throw comes first.
void ResponseValues::Add(const nrd_value& value) {
  const size_t size = used_ + value.name.size + value.text.size;
  if (size > room_) {
    Grow(size);
  }
  values_.push_back(value);
  values_.back().name = Keep(value.name);
  values_.back().text = Keep(value.text);
}

void ResponseValues::Clear() {
  values_.clear();
  used_ = 0;
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
