#include "memory/buffer_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>

#include "base/counter.h"
#include "memory/memory_marks.h"

namespace nereid {
namespace {

constexpr uint32_t kLargeClass = kSizeClassCount;  // no size class: the buffer has its own run

// Numbers threads in order of their first call. The number only spreads threads over the shards, so
// nothing is to be done when one ends.
uint32_t ThreadNumber() {
  static std::atomic<uint32_t> next_number{1};
  static thread_local uint32_t number = 0;
  if (number == 0) [[unlikely]] {
    number = next_number.fetch_add(1, std::memory_order_relaxed);
  }
  return number;
}

BufferHeader* HeaderOf(void* buffer) { return static_cast<BufferHeader*>(buffer) - 1; }

uint64_t RunBytes(const PageRun& run) { return run.page_count * PageAllocator::kPageBytes; }

}  // namespace

// A cache of small buffers, a capability itself: the thread that locked it owns its lists.
struct alignas(64) NRD_CAPABILITY("shard") BufferPool::Shard {
  struct FreeList {
    BufferHeader* first = nullptr;
    uint32_t count = 0;
  };

  bool TryLock() NRD_TRY_ACQUIRE(true) {
    return !is_locked.exchange(true, std::memory_order_acquire);
  }
  void Unlock() NRD_RELEASE() { is_locked.store(false, std::memory_order_release); }

  // Called for a shard that LockShard returned.
  void AssertLocked() const NRD_ASSERT_HELD() {}

  void CountAllocation(uint64_t block_bytes, PoolAccount* account) NRD_REQUIRES(this) {
    AddSingleWriter(&allocations, 1);
    AddSingleWriter(&live_bytes, block_bytes);
    if (account != nullptr) {
      account->Add(index, block_bytes);
    }
  }
  void CountRelease(uint64_t block_bytes, PoolAccount* account) NRD_REQUIRES(this) {
    AddSingleWriter(&releases, 1);
    SubtractSingleWriter(&live_bytes, block_bytes);
    if (account != nullptr) {
      account->Subtract(index, block_bytes);
    }
  }

  std::atomic<bool> is_locked{false};
  uint32_t index = 0;
  // Count the small buffers that were allocated and released through this shard, so only sums over
  // all shards have a meaning: live_bytes wraps around where more were released than allocated.
  std::atomic<uint64_t> allocations{0};
  std::atomic<uint64_t> releases{0};
  std::atomic<uint64_t> live_bytes{0};
  std::array<FreeList, kSizeClassCount> lists NRD_GUARDED_BY(this);
};

BufferPool::BufferPool(const Options& options, bool poison_freed)
    : shard_count_(std::clamp(std::bit_ceil(2 * std::thread::hardware_concurrency()), 4U, 64U)),
      poison_freed_(poison_freed),
      shards_(new Shard[shard_count_]),
      accounts_(shard_count_ + 1),
      pages_(options),
      spans_(this, &pages_) {
  for (uint32_t i = 0; i < shard_count_; ++i) {
    shards_[i].index = i;
  }
}

BufferPool::~BufferPool() = default;

Status BufferPool::Allocate(uint64_t byte_size, void** buffer_out, PoolAccount* account) {
  BufferHeader* header = byte_size <= kMaxSmallBytes
                             ? AllocateSmall(SizeClassOf(byte_size), account)
                             : AllocateLarge(byte_size, account);
  if (header == nullptr) [[unlikely]] {
    return Refuse(byte_size);
  }
  header->references.store(1, std::memory_order_relaxed);
  header->account = account;
  void* buffer = header + 1;
  MarkUsable(buffer, byte_size);
  *buffer_out = buffer;
  return Status();
}

void BufferPool::Retain(void* buffer) {
  HeaderOf(buffer)->references.fetch_add(1, std::memory_order_relaxed);
}

void BufferPool::Release(void* buffer) {
  BufferHeader* header = HeaderOf(buffer);
  const uint32_t references = header->references.load(std::memory_order_acquire);
  if (references == 0) [[unlikely]] {
    // Going on would hand the same memory out twice.
    std::fputs("nereid: a pool buffer was released more often than it was retained\n", stderr);
    std::abort();
  }
  // The holder of the only reference has no competitors, which saves the locked instruction.
  if (references != 1 && header->references.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;
  }
  header->references.store(0, std::memory_order_relaxed);
  if (header->pool->poison_freed_) [[unlikely]] {
    header->pool->Poison(header);
  }
  if (header->size_class == kLargeClass) {
    header->pool->ReleaseLarge(header);
  } else {
    header->pool->ReleaseSmall(header);
  }
}

void BufferPool::Poison(BufferHeader* header) {
  const uint64_t block_bytes = header->size_class == kLargeClass
                                   ? RunBytes(*header->run)
                                   : SpanAllocator::block_bytes(header->size_class);
  MarkUsable(header + 1, block_bytes - kHeaderBytes);
  std::memset(static_cast<void*>(header + 1), NRD_POISON_BYTE, block_bytes - kHeaderBytes);
}

// The thread's own shard, or the next that is not locked: a thread that is preempted while it holds
// one stops nobody. Not analysed, since the locked shard is only known at the return.
BufferPool::Shard& BufferPool::LockShard() NRD_NOT_ANALYSED {
  const uint32_t number = ThreadNumber();
  for (;;) {
    for (uint32_t i = 0; i < shard_count_; ++i) {
      Shard& shard = shards_[(number + i) & (shard_count_ - 1)];
      if (shard.TryLock()) [[likely]] {
        return shard;
      }
    }
    std::this_thread::yield();
  }
}

BufferHeader* BufferPool::AllocateSmall(uint32_t size_class, PoolAccount* account) {
  Shard& shard = LockShard();
  shard.AssertLocked();
  Shard::FreeList& list = shard.lists[size_class];
  BufferHeader* header = list.first;
  if (header == nullptr) [[unlikely]] {
    shard.Unlock();
    return Refill(size_class, account);
  }
  list.first = header->next_free;
  --list.count;
  shard.CountAllocation(SpanAllocator::block_bytes(size_class), account);
  shard.Unlock();
  return header;
}

// Takes a batch of blocks: one for the caller, the others for a shard.
BufferHeader* BufferPool::Refill(uint32_t size_class, PoolAccount* account) {
  const uint64_t block_bytes = SpanAllocator::block_bytes(size_class);
  uint32_t count = SpanAllocator::batch_blocks(size_class);
  BufferHeader* header;
  {
    const MutexLock lock(mutex_);
    header = spans_.Take(size_class, &count);
    if (header == nullptr) {
      FlushShards();
      count = 1;
      header = spans_.Take(size_class, &count);
    }
    if (header == nullptr) {
      return nullptr;
    }
    SampleHighWater(block_bytes);
  }
  BufferHeader* last = header;
  while (last->next_free != nullptr) {
    last = last->next_free;
  }
  Shard& shard = LockShard();
  shard.AssertLocked();
  Shard::FreeList& list = shard.lists[size_class];
  last->next_free = list.first;
  list.first = header->next_free;
  list.count += count - 1;
  shard.CountAllocation(block_bytes, account);
  shard.Unlock();
  return header;
}

void BufferPool::ReleaseSmall(BufferHeader* header) {
  const uint32_t size_class = header->size_class;
  const uint64_t block_bytes = SpanAllocator::block_bytes(size_class);
  const uint32_t batch_blocks = SpanAllocator::batch_blocks(size_class);
  MarkUnusable(header + 1, block_bytes - kHeaderBytes);
  Shard& shard = LockShard();
  shard.AssertLocked();
  Shard::FreeList& list = shard.lists[size_class];
  header->next_free = list.first;
  list.first = header;
  shard.CountRelease(block_bytes, header->account);
  BufferHeader* surplus = nullptr;
  if (++list.count > 2 * batch_blocks) [[unlikely]] {
    surplus = header;
    BufferHeader* last = header;
    for (uint32_t i = 1; i < batch_blocks; ++i) {
      last = last->next_free;
    }
    list.first = last->next_free;
    list.count -= batch_blocks;
    last->next_free = nullptr;
  }
  shard.Unlock();
  if (surplus != nullptr) {
    const MutexLock lock(mutex_);
    spans_.Return(surplus);
  }
}

BufferHeader* BufferPool::AllocateLarge(uint64_t byte_size, PoolAccount* account) {
  constexpr uint64_t kPageBytes = PageAllocator::kPageBytes;
  // Computed in two parts, because byte_size + kHeaderBytes may overflow.
  const uint64_t page_count = byte_size / kPageBytes +
                              (byte_size % kPageBytes + kHeaderBytes + kPageBytes - 1) / kPageBytes;
  const MutexLock lock(mutex_);
  PageRun* run = pages_.Allocate(page_count);
  if (run == nullptr) {
    FlushShards();
    run = pages_.Allocate(page_count);
  }
  if (run == nullptr) {
    return nullptr;
  }
  AddSingleWriter(&large_allocations_, 1);
  AddSingleWriter(&large_live_bytes_, RunBytes(*run));
  if (account != nullptr) {
    account->Add(shard_count_, RunBytes(*run));
  }
  SampleHighWater(0);
  auto* memory = static_cast<uint8_t*>(PageAllocator::Address(*run));
  MarkUsable(memory, kHeaderBytes);
  MarkUnusable(memory + kHeaderBytes, RunBytes(*run) - kHeaderBytes);
  return new (memory) BufferHeader{this, run, nullptr, kLargeClass, 0};
}

void BufferPool::ReleaseLarge(BufferHeader* header) {
  const MutexLock lock(mutex_);
  PageRun* run = header->run;
  MarkUnusable(header + 1, RunBytes(*run) - kHeaderBytes);
  AddSingleWriter(&large_releases_, 1);
  SubtractSingleWriter(&large_live_bytes_, RunBytes(*run));
  if (header->account != nullptr) {
    header->account->Subtract(shard_count_, RunBytes(*run));
  }
  pages_.Free(run);
}

Status BufferPool::Refuse(uint64_t byte_size) {
  AddShared(&failures_, 1);
  nrd_pool_stats stats{};
  ReadStats(&stats);
  std::string message = "cannot allocate " + std::to_string(byte_size) +
                        " bytes from the pool: limit " + std::to_string(stats.byte_limit) +
                        " bytes, " + std::to_string(stats.live_bytes) + " bytes live in " +
                        std::to_string(stats.live_buffers) + " buffers";
  const MutexLock lock(mutex_);
  if (pages_.allocator_failed()) {
    message += ", and the allocator has no more memory";
  }
  return Status(NRD_RESOURCE_EXHAUSTED, std::move(message));
}

// Returns all unused blocks to the pages, so that other sizes can use them.
void BufferPool::FlushShards() {
  for (uint32_t i = 0; i < shard_count_; ++i) {
    Shard& shard = shards_[i];
    while (!shard.TryLock()) {
      std::this_thread::yield();
    }
    for (Shard::FreeList& list : shard.lists) {
      spans_.Return(list.first);
      list = {};
    }
    shard.Unlock();
  }
  spans_.ReleaseUnusedSpans();
}

uint64_t BufferPool::LiveBytes() const {
  uint64_t sum = ReadCounter(large_live_bytes_);
  for (uint32_t i = 0; i < shard_count_; ++i) {
    sum += ReadCounter(shards_[i].live_bytes);
  }
  // Sums of changing counters can be negative, when a release is seen before its allocation.
  return static_cast<int64_t>(sum) < 0 ? 0 : sum;
}

void BufferPool::SampleHighWater(uint64_t extra_bytes) {
  const uint64_t live_bytes = LiveBytes() + extra_bytes;
  if (live_bytes > ReadCounter(high_water_bytes_)) {
    high_water_bytes_.store(live_bytes, std::memory_order_relaxed);
  }
}

uint64_t BufferPool::live_buffers() const {
  uint64_t count = ReadCounter(large_allocations_) - ReadCounter(large_releases_);
  for (uint32_t i = 0; i < shard_count_; ++i) {
    count += ReadCounter(shards_[i].allocations) - ReadCounter(shards_[i].releases);
  }
  return static_cast<int64_t>(count) < 0 ? 0 : count;
}

void BufferPool::ReadStats(nrd_pool_stats* stats_out) {
  uint64_t allocations = ReadCounter(large_allocations_);
  for (uint32_t i = 0; i < shard_count_; ++i) {
    allocations += ReadCounter(shards_[i].allocations);
  }
  const MutexLock lock(mutex_);
  SampleHighWater(0);
  stats_out->struct_size = sizeof(nrd_pool_stats);
  stats_out->reserved = 0;
  stats_out->byte_limit = pages_.byte_limit();
  stats_out->reserved_bytes = pages_.reserved_bytes();
  stats_out->live_bytes = LiveBytes();
  stats_out->high_water_bytes = ReadCounter(high_water_bytes_);
  stats_out->live_buffers = live_buffers();
  stats_out->allocations = allocations;
  stats_out->failures = ReadCounter(failures_);
  stats_out->locked_bytes = pages_.locked_bytes();
}

void BufferPool::ReleaseIdle() {
  if (poison_freed_) {
    return;  // poisoned memory is kept, so that stale reads find the poison
  }
  uint64_t small_allocations = 0;
  for (uint32_t i = 0; i < shard_count_; ++i) {
    small_allocations += ReadCounter(shards_[i].allocations);
  }
  const bool shards_idle = small_allocations == seen_small_allocations_;
  seen_small_allocations_ = small_allocations;
  size_t chunk_count = 0;
  {
    const MutexLock lock(mutex_);
    if (shards_idle) {
      FlushShards();
    }
    chunk_count = pages_.chunk_count();
  }
  // One chunk at a time, since allocating large buffers waits meanwhile.
  for (size_t i = 0; i < chunk_count; ++i) {
    const MutexLock lock(mutex_);
    pages_.ReleaseIdle(i);
  }
}

uint64_t BufferPool::released_bytes() const {
  const MutexLock lock(mutex_);
  return pages_.released_bytes();
}

bool BufferPool::LockPages(const PageAllocator::PageLock& page_lock) {
  const MutexLock lock(mutex_);
  return pages_.LockPages(page_lock);
}

}  // namespace nereid
