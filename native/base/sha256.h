// SHA-256 (FIPS 180-4), for hashes that are equal in every process and cannot be forged.
#ifndef NEREID_BASE_SHA256_H_
#define NEREID_BASE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nereid {

// Absorbs bytes, on one thread. AddBytes and AddText put the length in front, so that two different
// sequences of fields never become the same bytes.
class Sha256 {
 public:
  using Digest = std::array<uint8_t, 32>;

  void Append(const void* data, size_t byte_size);
  // Called once, at the end.
  Digest Finish();

  void AddWord(uint64_t word) { Append(&word, sizeof(word)); }
  void AddPair(uint64_t first, uint64_t second) {
    AddWord(first);
    AddWord(second);
  }
  void AddBytes(const void* data, uint64_t byte_size) {
    AddWord(byte_size);
    Append(data, byte_size);
  }
  void AddText(std::string_view text) { AddBytes(text.data(), text.size()); }

 private:
  void Absorb(const uint8_t* block);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> rest_{};  // bytes that do not fill a block yet
  uint64_t byte_count_ = 0;
};

}  // namespace nereid

#endif  // NEREID_BASE_SHA256_H_
