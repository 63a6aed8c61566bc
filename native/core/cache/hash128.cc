#include "core/cache/hash128.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

// The state is a pair of words. A step takes 16 bytes: each word of the state is combined with both
// words of the input by a 64 by 64 bit multiplication whose halves are XORed ("folded"), under keys
// of its own, and the rotated other word of the state is added. Long inputs alternate between two
// such states, so that one step need not wait for the one before; Finish joins them.
//
// Collisions. The keys are random per cache and never leave the process. If two inputs differ, or
// their states do, one step makes the states equal with a chance of about 2^-128 over the keys,
// because both words must meet and their keys are independent; so two requests collide with a
// chance near (their length / 16) * 2^-128. A cache of 2^24 responses that is asked 2^40 times
// about gigabyte inputs (2^26 steps) compares 2^64 pairs: one wrong answer has a chance of 2^-38. A
// client cannot search for one, because it does not know the keys. This is an engineer's argument
// and no cryptographic proof.
namespace nereid {
namespace {

constexpr uint64_t kStepBytes = 16;
constexpr int kRotation = 23;

uint64_t Fold(uint64_t first, uint64_t second) {
  __extension__ typedef unsigned __int128 Wide;
  const Wide product = static_cast<Wide>(first) * second;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t ReadWord(const uint8_t* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// The other word is added outside of the products, so that the state keeps its history when a
// factor is zero. The second product takes the input crosswise for the same reason.
void Absorb(Hash128State* state, const HashKeys& keys, uint64_t first, uint64_t second) {
  const auto& k = keys.words;
  const uint64_t a = state->a;
  const uint64_t b = state->b;
  state->a = std::rotl(b, kRotation) + Fold(first ^ k[0] ^ a, second ^ k[1]);
  state->b = std::rotl(a, kRotation) + Fold(second ^ k[2] ^ b, first ^ k[3]);
}

}  // namespace

HashKeys HashKeys::Random() {
  // std::random_device would require a newer C library.
  HashKeys keys;
  ssize_t byte_count = 0;
  do {  // so few bytes are read completely or not at all
    byte_count = getrandom(keys.words.data(), sizeof(keys.words), 0);
  } while (byte_count < 0 && errno == EINTR);
  if (byte_count != ssize_t{sizeof(keys.words)}) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return keys;
}

Hash128::Hash128(const HashKeys& keys)
    : keys_(keys), even_{keys.words[4], keys.words[5]}, odd_{keys.words[6], keys.words[7]} {}

void Hash128::AddPair(uint64_t first, uint64_t second) { Absorb(&even_, keys_, first, second); }

void Hash128::AddBytes(const void* data, uint64_t byte_size) {
  AddPair(byte_size, 1);
  const auto* at = static_cast<const uint8_t*>(data);
  uint64_t left = byte_size;
  // Copies: `data` could alias members, which would keep these out of registers.
  const HashKeys keys = keys_;
  Hash128State even = even_;
  Hash128State odd = odd_;
  for (; left >= 2 * kStepBytes; left -= 2 * kStepBytes, at += 2 * kStepBytes) {
    Absorb(&even, keys, ReadWord(at), ReadWord(at + 8));
    Absorb(&odd, keys, ReadWord(at + 16), ReadWord(at + 24));
  }
  even_ = even;
  odd_ = odd;
  // Padding with zeros is unambiguous, since the length was hashed already.
  while (left > 0) {
    uint64_t words[2] = {0, 0};
    const uint64_t taken = left < kStepBytes ? left : kStepBytes;
    std::memcpy(words, at, taken);
    AddPair(words[0], words[1]);
    left -= taken;
    at += taken;
  }
}

Hash128::Value Hash128::Finish() const {
  Hash128 last(*this);
  last.AddPair(odd_.a, odd_.b);
  // Lets every bit of the state reach every bit of the result.
  last.AddPair(0, 0);
  last.AddPair(0, 0);
  return {last.even_.a, last.even_.b};
}

}  // namespace nereid
