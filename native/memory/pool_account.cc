#include "memory/pool_account.h"

#include <algorithm>

namespace nereid {

uint64_t PoolAccount::LiveBytes() const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < counter_count_; ++i) {
    sum += ReadCounter(counters_[i].live_bytes);
  }
  // Sums of moving counters can come out below zero: a release seen, its allocation not.
  return static_cast<int64_t>(sum) < 0 ? 0 : sum;
}

// A closed account can only release what it holds, so a sum of zero is no passing moment.
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
