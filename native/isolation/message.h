// Messages between an isolated model and its child while the model loads: plain values in sequence,
// in an order that both sides share.
#ifndef NEREID_ISOLATION_MESSAGE_H_
#define NEREID_ISOLATION_MESSAGE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace nereid {

enum class MessageKind : uint32_t {
  kOpen = 1,          // options: opens the model
  kConfigure = 2,     // options: configures it
  kOpenInstance = 3,  // index, bytes of an area; with a descriptor
  kReply = 4,         // status, message, and the requested values
  kJoin = 5           // with a descriptor: the socket of another model
};

class MessageWriter {
 public:
  template <typename Value>
  void Put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(Value));
  }
  void PutText(std::string_view text) {
    Put(uint64_t{text.size()});
    bytes_.append(text);
  }
  void Append(const MessageWriter& other) { bytes_.append(other.bytes_); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads a writer's message; missing values read as zero, and `ok` is false then.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  template <typename Value>
  Value Get() {
    static_assert(std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value>);
    Value value{};
    if (rest_.size() < sizeof(Value)) {
      ok_ = false;
      rest_ = {};
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(Value));
    rest_.remove_prefix(sizeof(Value));
    return value;
  }
  std::string_view GetText() {
    const auto size = Get<uint64_t>();
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }
  // Reads the number of items that follow, each of at least `bytes_each`.
  uint32_t GetCount(size_t bytes_each) {
    const auto count = Get<uint32_t>();
    if (count > rest_.size() / bytes_each) {
      ok_ = false;
      rest_ = {};
      return 0;
    }
    return count;
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_MESSAGE_H_
