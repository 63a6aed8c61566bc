// A latency histogram whose counters can be read while they are written, and summed over
// histograms.
#ifndef NEREID_CORE_REQUEST_HISTOGRAM_H_
#define NEREID_CORE_REQUEST_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/counter.h"

namespace nereid {

// Log-linear: sixteen buckets per doubling, so a bucket's bounds differ by at most 1/16. Covers 0
// ns to 2^42 - 1 ns (73 minutes); longer times fall into the last bucket.
class Histogram {
 public:
  static constexpr uint32_t bucket_count() { return kBucketCount; }

  // The longest duration that bucket i holds; for the last one INT64_MAX, which means no bound and
  // is positive in languages without unsigned integers.
  static constexpr uint64_t bucket_ns(uint32_t bucket) {
    if (bucket >= kBucketCount - 1) {
      return static_cast<uint64_t>(INT64_MAX);
    }
    if (bucket < kSubBuckets) {
      return bucket;
    }
    const uint32_t shift = bucket / kSubBuckets - 1;
    const uint64_t first = uint64_t{kSubBuckets + bucket % kSubBuckets} << shift;
    return first + (uint64_t{1} << shift) - 1;
  }

  static constexpr uint32_t BucketOf(uint64_t duration_ns) {
    if (duration_ns < kSubBuckets) {
      return static_cast<uint32_t>(duration_ns);
    }
    const uint32_t width = static_cast<uint32_t>(std::bit_width(duration_ns));
    if (width > kMaxBits) {
      return kBucketCount - 1;
    }
    const uint32_t shift = width - 1 - kSubBits;
    // The leading bit of the shifted value equals kSubBuckets, and so selects the next group.
    return shift * kSubBuckets + static_cast<uint32_t>(duration_ns >> shift);
  }

  // The calls of one histogram never overlap.
  void RecordSingleWriter(uint64_t duration_ns) {
    AddSingleWriter(&counts_[BucketOf(duration_ns)], 1);
  }

  void RecordShared(uint64_t duration_ns) { AddShared(&counts_[BucketOf(duration_ns)], 1); }

  // Adds this histogram's counts to bucket_count() entries.
  void AddTo(uint64_t* counts) const {
    for (uint32_t i = 0; i < kBucketCount; ++i) {
      counts[i] += ReadCounter(counts_[i]);
    }
  }

 private:
  static constexpr uint32_t kSubBits = 4;
  static constexpr uint32_t kSubBuckets = 1U << kSubBits;
  static constexpr uint32_t kMaxBits = 42;
  static constexpr uint32_t kBucketCount = (kMaxBits - kSubBits + 1) * kSubBuckets + 1;

  std::array<std::atomic<uint64_t>, kBucketCount> counts_{};
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_HISTOGRAM_H_
