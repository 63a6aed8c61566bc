// Counts the part of the pool's live bytes that was handed out for one model.
#ifndef NEREID_MEMORY_POOL_ACCOUNT_H_
#define NEREID_MEMORY_POOL_ACCOUNT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/counter.h"
#include "base/mutex.h"

namespace nereid {

// Counts with one counter for each shard of the pool, and one for large buffers, each written under
// a lock that is held anyway: adding costs a plain store, not a locked instruction.
class PoolAccount {
 public:
  explicit PoolAccount(uint32_t counter_count)
      : counter_count_(counter_count), counters_(new Counter[counter_count]) {}

  // The caller holds the lock of the counter's shard or, for large buffers, the pool's mutex.
  void Add(uint32_t index, uint64_t byte_size) {
    AddSingleWriter(&counters_[index].live_bytes, byte_size);
  }
  void Subtract(uint32_t index, uint64_t byte_size) {
    SubtractSingleWriter(&counters_[index].live_bytes, byte_size);
  }

  [[nodiscard]] uint64_t LiveBytes() const;

 private:
  // Only the sum has a meaning: live_bytes wraps around where more was released than allocated.
  struct alignas(64) Counter {
    std::atomic<uint64_t> live_bytes{0};
  };

  const uint32_t counter_count_;
  const std::unique_ptr<Counter[]> counters_;
};

// Owns accounts at fixed addresses, because a buffer can outlive its model. A closed account is
// reused when its last buffer is gone.
class PoolAccounts {
 public:
  explicit PoolAccounts(uint32_t counter_count) : counter_count_(counter_count) {}

  PoolAccount* Open();
  // Closes an account, for which nothing is allocated any more.
  void Close(const PoolAccount* account);

 private:
  struct Entry {
    std::unique_ptr<PoolAccount> account;
    bool is_open;
  };

  const uint32_t counter_count_;
  Mutex mutex_;
  std::vector<Entry> entries_ NRD_GUARDED_BY(mutex_);
};

}  // namespace nereid

#endif  // NEREID_MEMORY_POOL_ACCOUNT_H_
