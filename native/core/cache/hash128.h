// A keyed 128-bit hash for finding equal tensors.
#ifndef NEREID_CORE_CACHE_HASH128_H_
#define NEREID_CORE_CACHE_HASH128_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace nereid {

struct HashKeys {
  std::array<uint64_t, 8> words;

  // Makes keys from the system's random source.
  static HashKeys Random();
};

struct Hash128State {
  uint64_t a;
  uint64_t b;
};

// Absorbs fields one after another, on one thread. Every field's length goes in ahead of its bytes,
// so two different sequences of fields never become the same sequence of words.
class Hash128 {
 public:
  struct Value {
    uint64_t hi;
    uint64_t lo;
  };

  // `keys` outlive this.
  explicit Hash128(const HashKeys& keys);

  void AddWord(uint64_t word) { AddPair(word, 0); }
  void AddPair(uint64_t first, uint64_t second);
  void AddBytes(const void* data, uint64_t byte_size);
  void AddText(std::string_view text) { AddBytes(text.data(), text.size()); }

  [[nodiscard]] Value Finish() const;

 private:
  const HashKeys& keys_;
  Hash128State even_;
  Hash128State odd_;
};

}  // namespace nereid

#endif  // NEREID_CORE_CACHE_HASH128_H_
