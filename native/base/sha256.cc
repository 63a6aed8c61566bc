#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace nereid {
namespace {

constexpr size_t kBlockBytes = 64;

// The first bits of the fractions of the cube roots of the first 64 primes.
constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t ReadBigEndian(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
}

void WriteBigEndian(uint64_t value, size_t byte_count, uint8_t* at) {
  for (size_t i = byte_count; i-- > 0; value >>= 8) {
    at[i] = static_cast<uint8_t>(value);
  }
}

}  // namespace

void Sha256::Absorb(const uint8_t* block) {
  uint32_t words[64];
  for (size_t i = 0; i < 16; ++i) {
    words[i] = ReadBigEndian(block + i * 4);
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t early = words[i - 15];
    const uint32_t late = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] +
               (std::rotr(early, 7) ^ std::rotr(early, 18) ^ (early >> 3)) +
               (std::rotr(late, 17) ^ std::rotr(late, 19) ^ (late >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & f) ^ (~e & g)) + kRounds[i] + words[i];
    const uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) {
    state_[i] += added[i];
  }
}

void Sha256::Append(const void* data, size_t byte_size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  const size_t held = byte_count_ % kBlockBytes;
  byte_count_ += byte_size;
  if (held > 0) {
    const size_t taken = std::min(kBlockBytes - held, byte_size);
    if (taken > 0) {
      std::memcpy(rest_.data() + held, bytes, taken);
    }
    if (held + taken < kBlockBytes) {
      return;
    }
    Absorb(rest_.data());
    bytes += taken;
    byte_size -= taken;
  }
  for (; byte_size >= kBlockBytes; bytes += kBlockBytes, byte_size -= kBlockBytes) {
    Absorb(bytes);
  }
  if (byte_size > 0) {
    std::memcpy(rest_.data(), bytes, byte_size);
  }
}

Sha256::Digest Sha256::Finish() {
  uint8_t end[kBlockBytes + 8] = {0x80};
  const size_t held = (byte_count_ + 1 + 8) % kBlockBytes;
  const size_t zeros = held == 0 ? 0 : kBlockBytes - held;
  WriteBigEndian(byte_count_ * 8, 8, end + 1 + zeros);
  Append(end, 1 + zeros + 8);
  Digest digest;
  for (size_t i = 0; i < state_.size(); ++i) {
    WriteBigEndian(state_[i], 4, digest.data() + i * 4);
  }
  return digest;
}

}  // namespace nereid
