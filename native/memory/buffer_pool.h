// The pool of tensor memory: hands out reference-counted buffers, and keeps memory as long as it is
// used.
//
// Any thread may call it. A buffer belongs to the holders of references, all of which must be
// released before the pool is destroyed. Small sizes come in size classes from caches ("shards")
// that are picked by thread and need no teardown when a thread ends; SpanAllocator fills them.
// Larger buffers are runs of pages under one mutex. Memory stays mapped until the pool dies, so a
// stale read never faults; pages unused for a while are given back to the system.
#ifndef NEREID_MEMORY_BUFFER_POOL_H_
#define NEREID_MEMORY_BUFFER_POOL_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "base/status.h"
#include "memory/buffer_header.h"
#include "memory/page_allocator.h"
#include "memory/pool_account.h"
#include "memory/span_allocator.h"
#include "nereid/nereid.h"

namespace nereid {

class BufferPool {
 public:
  using Options = PageAllocator::Options;

  // Zero limits take the defaults of nrd_runtime_options; a NULL `allocate` takes anonymous memory.
  // `poison_freed`: see NRD_RUNTIME_POISON_FREED.
  explicit BufferPool(const Options& options, bool poison_freed = false);
  // No buffer may be live.
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // A buffer with one reference, aligned to 64 bytes; its content is undefined. RESOURCE_EXHAUSTED:
  // the limit or the allocator refuses; at the limit also when another thread is just moving
  // suitable memory between a shard and the pages. `account` is one of accounts(), or null.
  Status Allocate(uint64_t byte_size, void** buffer_out, PoolAccount* account = nullptr);

  static void Retain(void* buffer);
  static void Release(void* buffer);

  // Exact when no other thread allocates or releases meanwhile. The high water is sampled here, at
  // every large allocation, and whenever a shard is filled: in between, a peak can be missed by at
  // most the bytes in the shards.
  void ReadStats(nrd_pool_stats* stats_out);
  [[nodiscard]] uint64_t live_buffers() const;
  PoolAccounts& accounts() { return accounts_; }

  // Periodically gives memory back that was not used between the last two calls.
  void ReleaseIdle() NRD_EXCLUDES(mutex_);
  // The bytes that are given back to the system now.
  [[nodiscard]] uint64_t released_bytes() const NRD_EXCLUDES(mutex_);

  // See PageAllocator::LockPages.
  bool LockPages(const PageAllocator::PageLock& page_lock);

 private:
  struct Shard;

  Shard& LockShard();
  BufferHeader* AllocateSmall(uint32_t size_class, PoolAccount* account);
  BufferHeader* Refill(uint32_t size_class, PoolAccount* account) NRD_EXCLUDES(mutex_);
  BufferHeader* AllocateLarge(uint64_t byte_size, PoolAccount* account) NRD_EXCLUDES(mutex_);
  void Poison(BufferHeader* header);
  void ReleaseSmall(BufferHeader* header) NRD_EXCLUDES(mutex_);
  void ReleaseLarge(BufferHeader* header) NRD_EXCLUDES(mutex_);
  Status Refuse(uint64_t byte_size) NRD_EXCLUDES(mutex_);
  void FlushShards() NRD_REQUIRES(mutex_);
  void SampleHighWater(uint64_t extra_bytes) NRD_REQUIRES(mutex_);
  [[nodiscard]] uint64_t LiveBytes() const;

  const uint32_t shard_count_;  // a power of two
  const bool poison_freed_;
  std::unique_ptr<Shard[]> shards_;
  PoolAccounts accounts_;

  // Locked before a shard if both are held.
  mutable Mutex mutex_;
  PageAllocator pages_ NRD_GUARDED_BY(mutex_);
  SpanAllocator spans_ NRD_GUARDED_BY(mutex_);
  std::atomic<uint64_t> high_water_bytes_{0};
  std::atomic<uint64_t> large_allocations_{0};
  std::atomic<uint64_t> large_releases_{0};
  std::atomic<uint64_t> large_live_bytes_{0};

  std::atomic<uint64_t> failures_{0};
  uint64_t seen_small_allocations_ = 0;  // used by ReleaseIdle, which one thread calls
};

}  // namespace nereid

#endif  // NEREID_MEMORY_BUFFER_POOL_H_
