#include "base/response_values.h"

#include <algorithm>
#include <cstring>

namespace nereid {

// Copies a text, for which there is room.
nrd_string ResponseValues::Keep(const nrd_string& text) {
  if (text.size == 0) {
    return {};
  }
  char* const kept = texts_.get() + used_;
  std::memcpy(kept, text.data, text.size);
  used_ += text.size;
  return {kept, text.size};
}

// Moves the texts, and adjusts the pointers to them.
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

// Allocates first: that may throw, and then nothing has changed.
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

}  // namespace nereid
