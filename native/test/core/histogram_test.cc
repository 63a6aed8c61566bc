#include "core/request/histogram.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace nereid {
namespace {

constexpr uint32_t kBuckets = Histogram::bucket_count();
constexpr uint64_t kHourNs = 3'600'000'000'000;

std::vector<uint64_t> CountsOf(const Histogram& histogram) {
  std::vector<uint64_t> counts(kBuckets);
  histogram.AddTo(counts.data());
  return counts;
}

}  // namespace

TEST_CASE("histogram: bounds grow, and each bucket holds exactly what lies between two of them") {
  CHECK(Histogram::bucket_ns(0) == 0);
  CHECK(Histogram::BucketOf(0) == 0);
  for (uint32_t i = 0; i + 1 < kBuckets; ++i) {
    CAPTURE(i);
    const uint64_t last = Histogram::bucket_ns(i);
    REQUIRE(Histogram::bucket_ns(i + 1) > last);
    REQUIRE(Histogram::BucketOf(last) == i);
    REQUIRE(Histogram::BucketOf(last + 1) == i + 1);
  }
  CHECK(Histogram::bucket_ns(kBuckets - 1) == static_cast<uint64_t>(INT64_MAX));
  CHECK(Histogram::bucket_ns(kBuckets) == static_cast<uint64_t>(INT64_MAX));
  CHECK(Histogram::BucketOf(UINT64_MAX) == kBuckets - 1);
}

TEST_CASE("histogram: a bound is at most a sixteenth above what was recorded, up to an hour") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 100000; ++round) {
    const uint64_t duration_ns = (random() >> (random() % 64)) % (kHourNs + 1);
    const uint64_t bound_ns = Histogram::bucket_ns(Histogram::BucketOf(duration_ns));
    REQUIRE(bound_ns >= duration_ns);
    REQUIRE(bound_ns - duration_ns <= duration_ns / 16);
  }
  CHECK(Histogram::BucketOf(kHourNs) < kBuckets - 1);
}

TEST_CASE("histogram: counts are kept and can be added up") {
  const auto first = std::make_unique<Histogram>();
  const auto second = std::make_unique<Histogram>();
  first->RecordSingleWriter(5);
  first->RecordSingleWriter(1000);
  second->RecordSingleWriter(1000);
  second->RecordShared(1000);
  second->RecordShared(UINT64_MAX);
  std::vector<uint64_t> counts = CountsOf(*first);
  CHECK(counts[5] == 1);
  CHECK(counts[Histogram::BucketOf(1000)] == 1);
  second->AddTo(counts.data());
  CHECK(counts[5] == 1);
  CHECK(counts[Histogram::BucketOf(1000)] == 3);
  CHECK(counts[kBuckets - 1] == 1);
}

TEST_CASE("histogram: nothing recorded by several threads is lost") {
  Histogram histogram;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&histogram] {
      for (uint64_t j = 0; j < 10000; ++j) {
        histogram.RecordShared(j);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  uint64_t sum = 0;
  for (const uint64_t count : CountsOf(histogram)) {
    sum += count;
  }
  CHECK(sum == 30000);
}

}  // namespace nereid
