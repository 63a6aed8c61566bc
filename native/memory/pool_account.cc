#include "memory/pool_account.h"

#include <algorithm>

namespace nereid {

uint64_t PoolAccount::LiveBytes() const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < counter_count_; ++i) {
    sum += ReadCounter(counters_[i].live_bytes);
  }
  // Sums of changing counters can be negative, when a release is seen before its allocation.
  return static_cast<int64_t>(sum) < 0 ? 0 : sum;
}

// Reuses a closed account with sum zero: it can only release, so the sum is final.
PoolAccount* PoolAccounts::Open() {
  const MutexLock lock(mutex_);
  const auto unused = std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return !entry.is_open && entry.account->LiveBytes() == 0;
  });
  if (unused != entries_.end()) {
    unused->is_open = true;
    return unused->account.get();
  }
  entries_.push_back({std::make_unique<PoolAccount>(counter_count_), true});
  return entries_.back().account.get();
}

void PoolAccounts::Close(const PoolAccount* account) {
  const MutexLock lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [=](const Entry& entry) {
    return entry.account.get() == account;
  });
  found->is_open = false;
}

}  // namespace nereid
