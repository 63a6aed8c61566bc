#include "core/cache/hash128.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nereid {
namespace {

using Pair = std::pair<uint64_t, uint64_t>;

HashKeys KeysOf(uint64_t seed) {
  std::mt19937_64 random(seed);
  HashKeys keys;
  for (uint64_t& word : keys.words) {
    word = random();
  }
  return keys;
}

Pair HashOf(const HashKeys& keys, const std::vector<uint8_t>& data) {
  Hash128 hash(keys);
  hash.AddBytes(data.data(), data.size());
  const Hash128::Value value = hash.Finish();
  return {value.hi, value.lo};
}

uint32_t DistanceOf(const Pair& one, const Pair& other) {
  return static_cast<uint32_t>(std::popcount(one.first ^ other.first) +
                               std::popcount(one.second ^ other.second));
}

}  // namespace

TEST_CASE("hash: equal input under equal keys, wherever it lies in memory") {
  const HashKeys keys = KeysOf(1);
  std::mt19937_64 random(2);
  for (size_t byte_size = 0; byte_size < 200; ++byte_size) {
    std::vector<uint8_t> data(byte_size + 8);
    for (uint8_t& byte : data) {
      byte = static_cast<uint8_t>(random());
    }
    const std::vector<uint8_t> aligned(data.begin(), data.end() - 8);
    std::memmove(data.data() + 3, data.data(), byte_size);
    Hash128 hash(keys);
    hash.AddBytes(data.data() + 3, byte_size);
    const Hash128::Value value = hash.Finish();
    REQUIRE(HashOf(keys, aligned) == Pair{value.hi, value.lo});
    REQUIRE(HashOf(KeysOf(3), aligned) != Pair{value.hi, value.lo});
  }
}

TEST_CASE("hash: random keys differ") {
  const HashKeys first = HashKeys::Random();
  const HashKeys second = HashKeys::Random();
  CHECK(first.words != second.words);
}

TEST_CASE("hash: every bit of the input changes about half of the bits of the result") {
  const HashKeys keys = KeysOf(4);
  for (const size_t byte_size : {1, 8, 15, 16, 17, 31, 32, 33, 63, 64, 100, 257}) {
    CAPTURE(byte_size);
    std::vector<uint8_t> data(byte_size);  // zeros: the hardest input
    const Pair original = HashOf(keys, data);
    uint64_t distance_sum = 0;
    for (size_t bit = 0; bit < byte_size * 8; ++bit) {
      data[bit / 8] ^= static_cast<uint8_t>(1U << (bit % 8));
      const uint32_t distance = DistanceOf(original, HashOf(keys, data));
      data[bit / 8] ^= static_cast<uint8_t>(1U << (bit % 8));
      REQUIRE(distance > 24);  // 64 expected, with a deviation of 5.7
      REQUIRE(distance < 104);
      distance_sum += distance;
    }
    const double mean = static_cast<double>(distance_sum) / static_cast<double>(byte_size * 8);
    CHECK(mean > 58);
    CHECK(mean < 70);
  }
}

TEST_CASE("hash: patterned inputs collide in neither half") {
  // Where a collision of 64 bits by chance has a probability below 2^-28 for each half.
  const HashKeys keys = KeysOf(5);
  std::set<uint64_t> high;
  std::set<uint64_t> low;
  uint64_t count = 0;
  const auto add = [&](const std::vector<uint8_t>& data) {
    const Pair value = HashOf(keys, data);
    high.insert(value.first);
    low.insert(value.second);
    ++count;
  };
  // Repetitions of one byte that differ only in length.
  for (size_t byte_size = 0; byte_size < 3000; ++byte_size) {
    add(std::vector<uint8_t>(byte_size, 0));
    if (byte_size > 0) {
      add(std::vector<uint8_t>(byte_size, 0xFF));
    }
  }
  // One or two equal words anywhere in a block of zeros, which a multiplication could lose, or a
  // swap of words or stripes hide.
  for (size_t first = 0; first < 64; ++first) {
    for (size_t second = first; second < 64; ++second) {
      for (const uint64_t word : {uint64_t{1}, uint64_t{1} << 63, ~uint64_t{0}}) {
        std::vector<uint8_t> data(512);
        std::memcpy(&data[first * 8], &word, 8);
        std::memcpy(&data[second * 8], &word, 8);
        add(data);
      }
    }
  }
  // Counters, as small integer tensors are.
  for (uint32_t i = 1; i < 20000; ++i) {
    std::vector<uint8_t> data(64);
    std::memcpy(&data[40], &i, 4);
    add(data);
  }
  CHECK(high.size() == count);
  CHECK(low.size() == count);
}

TEST_CASE("hash: a factor that is zero loses nothing") {
  // Only knowledge of the keys can provoke this; keys 4 and 5 are the state at the start.
  const HashKeys keys = KeysOf(7);
  const auto& k = keys.words;
  std::set<Pair> values;
  for (uint64_t i = 0; i < 100; ++i) {
    Hash128 first_factor(keys);
    first_factor.AddPair(k[0] ^ k[4], i);
    Hash128 other_word(keys);
    other_word.AddPair(i, k[2] ^ k[5]);
    // Every product is zero here, so what came before must survive without them.
    Hash128 what_came_before(keys);
    what_came_before.AddPair(i, 7);
    what_came_before.AddPair(k[3], k[1]);
    what_came_before.AddPair(k[3], k[1]);
    for (const Hash128& hash : {first_factor, other_word, what_came_before}) {
      const Hash128::Value value = hash.Finish();
      values.insert({value.hi, value.lo});
    }
  }
  CHECK(values.size() == 300);
}

TEST_CASE("hash: fields cannot run into each other") {
  const HashKeys keys = KeysOf(6);
  std::set<Pair> values;
  uint64_t count = 0;
  const auto add = [&](const std::vector<std::string>& fields) {
    Hash128 hash(keys);
    for (const std::string& field : fields) {
      hash.AddText(field);
    }
    const Hash128::Value value = hash.Finish();
    values.insert({value.hi, value.lo});
    ++count;
  };
  add({});
  add({""});
  add({"", ""});
  add({"ab"});
  add({"a", "b"});
  add({"", "ab"});
  add({"ab", ""});
  add({std::string("ab\0", 3)});
  add({std::string("ab\0", 3), ""});
  const std::string text(100, 'x');
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    add({text.substr(0, cut), text.substr(cut)});
  }
  CHECK(values.size() == count);
}

}  // namespace nereid
