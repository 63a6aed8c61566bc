#include "memory/buffer_pool.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace nereid {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// An allocator for the pool that refuses on demand.
struct FaultyAllocator {
  static void* Allocate(void* context, uint64_t byte_size) {
    auto* self = static_cast<FaultyAllocator*>(context);
    if (self->refuses_half && self->random() % 2 == 0) {
      return nullptr;
    }
    self->live_bytes += byte_size;
    return std::aligned_alloc(4096, byte_size);
  }
  static void Deallocate(void* context, void* memory, uint64_t byte_size) {
    static_cast<FaultyAllocator*>(context)->live_bytes -= byte_size;
    std::free(memory);
  }
  BufferPool::Options Options(uint64_t byte_limit, uint64_t chunk_bytes = kMiB) {
    return {byte_limit, chunk_bytes, this, Allocate, Deallocate};
  }

  bool refuses_half = false;
  std::mt19937_64 random{9};
  std::atomic<uint64_t> live_bytes{0};
};

BufferPool::Options Anonymous(uint64_t byte_limit) {
  return {byte_limit, 0, nullptr, nullptr, nullptr};
}

nrd_pool_stats StatsOf(BufferPool& pool) {
  nrd_pool_stats stats{};
  pool.ReadStats(&stats);
  return stats;
}

void* MustAllocate(BufferPool& pool, uint64_t byte_size) {
  void* buffer = nullptr;
  const Status status = pool.Allocate(byte_size, &buffer);
  REQUIRE_MESSAGE(status.ok(), status.message());
  REQUIRE(buffer != nullptr);
  REQUIRE(reinterpret_cast<uintptr_t>(buffer) % 64 == 0);
  return buffer;
}

// Every size at which a size class or a page count begins or ends, up to a bit over 1 MiB.
std::vector<uint64_t> InterestingSizes() {
  std::set<uint64_t> sizes = {0, 1, 602112};
  for (uint32_t i = 0; i < kSizeClassCount; ++i) {
    sizes.insert({SizeClassBytes(i) - 1, SizeClassBytes(i), SizeClassBytes(i) + 1});
  }
  for (uint64_t pages = 5; pages < 70; ++pages) {
    const uint64_t byte_size = pages * PageAllocator::kPageBytes - kHeaderBytes;
    sizes.insert({byte_size, byte_size + 1});
  }
  return {sizes.begin(), sizes.end()};
}

// Fills a buffer with a pattern of its owner and later checks that it is unchanged.
class Stamp {
 public:
  Stamp(void* buffer, uint64_t byte_size, uint64_t owner)
      : bytes_(static_cast<uint8_t*>(buffer)),
        byte_size_(byte_size),
        value_(static_cast<uint8_t>(owner * 37 + 11)) {
    std::memset(bytes_, value_, byte_size_);
  }
  [[nodiscard]] bool IsIntact() const {
    return byte_size_ == 0 ||
           (bytes_[0] == value_ && std::memcmp(bytes_, bytes_ + 1, byte_size_ - 1) == 0);
  }
  [[nodiscard]] void* buffer() const { return bytes_; }

 private:
  uint8_t* bytes_;
  uint64_t byte_size_;
  uint8_t value_;
};

}  // namespace

TEST_CASE("size classes hold what they say") {
  for (uint64_t byte_size = 0; byte_size <= kMaxSmallBytes; ++byte_size) {
    const uint32_t size_class = SizeClassOf(byte_size);
    REQUIRE(size_class < kSizeClassCount);
    REQUIRE(SizeClassBytes(size_class) >= byte_size);
    REQUIRE(SizeClassBytes(size_class) % 64 == 0);
    if (size_class > 0) {
      REQUIRE(SizeClassBytes(size_class - 1) < byte_size);
    }
  }
}

TEST_CASE("every size: aligned, all usable, little wasted, counted") {
  BufferPool pool(Anonymous(0));
  uint64_t previous_bytes = 0;
  std::vector<Stamp> stamps;
  for (const uint64_t byte_size : InterestingSizes()) {
    CAPTURE(byte_size);
    stamps.emplace_back(MustAllocate(pool, byte_size), byte_size, stamps.size());
    const nrd_pool_stats stats = StatsOf(pool);
    const uint64_t charged = stats.live_bytes - previous_bytes;
    previous_bytes = stats.live_bytes;
    CHECK(charged >= byte_size + kHeaderBytes);
    if (byte_size > 256) {
      CHECK(charged - byte_size - kHeaderBytes < charged / 4);
    }
    CHECK(stats.live_buffers == stamps.size());
    CHECK(stats.high_water_bytes == stats.live_bytes);
    CHECK(stats.reserved_bytes >= stats.live_bytes);
  }
  for (const Stamp& stamp : stamps) {
    CHECK(stamp.IsIntact());
    BufferPool::Release(stamp.buffer());
  }
  const nrd_pool_stats stats = StatsOf(pool);
  CHECK(stats.live_bytes == 0);
  CHECK(stats.live_buffers == 0);
  CHECK(pool.live_buffers() == 0);
  CHECK(stats.allocations == stamps.size());
  CHECK(stats.failures == 0);
  CHECK(stats.high_water_bytes == previous_bytes);
}

TEST_CASE("a buffer lives until its last reference goes") {
  BufferPool pool(Anonymous(0));
  for (const uint64_t byte_size : {uint64_t{100}, kMiB}) {
    void* buffer = MustAllocate(pool, byte_size);
    BufferPool::Retain(buffer);
    BufferPool::Retain(buffer);
    BufferPool::Release(buffer);
    BufferPool::Release(buffer);
    CHECK(pool.live_buffers() == 1);
    void* other = MustAllocate(pool, byte_size);
    CHECK(other != buffer);
    BufferPool::Release(buffer);
    CHECK(pool.live_buffers() == 1);
    // The freed one is the first to be used again, while the cache still has it.
    void* again = MustAllocate(pool, byte_size);
    CHECK(again == buffer);
    BufferPool::Release(again);
    BufferPool::Release(other);
  }
  CHECK(pool.live_buffers() == 0);
}

#if !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer is told that freed buffers have no owner
TEST_CASE("a freed buffer can still be read and keeps its content") {
  BufferPool pool(Anonymous(0));
  for (const uint64_t byte_size : {uint64_t{100}, 3 * kMiB}) {
    const Stamp stamp(MustAllocate(pool, byte_size), byte_size, 1);
    BufferPool::Release(stamp.buffer());
    CHECK(stamp.IsIntact());
  }
}
#endif

TEST_CASE("releasing once too often ends the process") {
  BufferPool pool(Anonymous(0));
  void* buffer = MustAllocate(pool, 8);
  BufferPool::Release(buffer);
  std::fflush(nullptr);  // or the child could print it again
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    close(STDERR_FILENO);
    BufferPool::Release(buffer);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
}

TEST_CASE("the limit: the message, absurd sizes, and room again after a release") {
  FaultyAllocator memory;
  {
    BufferPool pool(memory.Options(3 * kMiB));
    void* buffer = MustAllocate(pool, 2 * kMiB);
    void* refused = nullptr;
    Status status = pool.Allocate(2 * kMiB, &refused);
    CHECK(status.code() == NRD_RESOURCE_EXHAUSTED);
    CHECK(refused == nullptr);
    CHECK(status.message() ==
          "cannot allocate 2097152 bytes from the pool: limit 3145728 bytes, 2113536 bytes live in "
          "1 buffers");
    for (const uint64_t absurd :
         {uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 64, uint64_t{1} << 40}) {
      CHECK(pool.Allocate(absurd, &refused).code() == NRD_RESOURCE_EXHAUSTED);
    }
    CHECK(StatsOf(pool).failures == 5);
    BufferPool::Release(buffer);
    BufferPool::Release(MustAllocate(pool, 2 * kMiB));
    CHECK(memory.live_bytes <= 3 * kMiB);
    CHECK(memory.live_bytes == StatsOf(pool).reserved_bytes);
  }
  CHECK(memory.live_bytes == 0);
}

TEST_CASE("the limit: memory that one size used is there for every other") {
  FaultyAllocator memory;
  BufferPool pool(memory.Options(4 * kMiB, 4 * kMiB));
  for (const uint64_t byte_size : {uint64_t{64}, uint64_t{5000}, kMaxSmallBytes, uint64_t{300000},
                                   uint64_t{700}, 4 * kMiB - kHeaderBytes, uint64_t{64}}) {
    CAPTURE(byte_size);
    std::vector<void*> buffers;
    void* buffer = nullptr;
    while (pool.Allocate(byte_size, &buffer).ok()) {
      buffers.push_back(buffer);
    }
    // The rest is lost to the ends of spans and to holes around what caches held.
    const uint64_t used_bytes = StatsOf(pool).live_bytes;
    CHECK(used_bytes > 3 * kMiB);
    CHECK(used_bytes <= 4 * kMiB);
    for (void* used : buffers) {
      BufferPool::Release(used);
    }
    CHECK(pool.live_buffers() == 0);
  }
}

TEST_CASE("a failing allocator refuses requests and breaks nothing") {
  FaultyAllocator memory;
  memory.refuses_half = true;
  {
    BufferPool pool(memory.Options(64 * kMiB));
    std::mt19937_64 random(5);
    std::vector<Stamp> stamps;
    uint64_t refusals = 0;
    for (int round = 0; round < 400; ++round) {
      const uint64_t byte_size = random() % (random() % 2 == 0 ? 1000 : 400000);
      void* buffer = nullptr;
      const Status status = pool.Allocate(byte_size, &buffer);
      if (status.ok()) {
        stamps.emplace_back(buffer, byte_size, stamps.size());
      } else {
        REQUIRE(status.code() == NRD_RESOURCE_EXHAUSTED);
        REQUIRE(status.message().ends_with("and the allocator has no more memory"));
        ++refusals;
      }
    }
    CHECK(refusals > 0);
    CHECK(StatsOf(pool).failures == refusals);
    CHECK(pool.live_buffers() == stamps.size());
    for (const Stamp& stamp : stamps) {
      CHECK(stamp.IsIntact());
      BufferPool::Release(stamp.buffer());
    }
    CHECK(pool.live_buffers() == 0);
  }
  CHECK(memory.live_bytes == 0);
}

TEST_CASE("threads that come and go, and release what others allocated") {
  FaultyAllocator memory;
  // A pool so small that refusals and flushed caches occur.
  BufferPool pool(memory.Options(6 * kMiB, 6 * kMiB));
  std::atomic<uint64_t> damaged{0};
  std::atomic<uint64_t> succeeded{0};
  std::mutex exchange_mutex;
  std::vector<Stamp> exchanged;

  const auto work = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Stamp> mine;
    for (int round = 0; round < 1500; ++round) {
      const uint64_t action = random() % 8;
      if (action < 4) {
        const uint64_t byte_size = action == 0 ? random() % 200000 : random() % 3000;
        void* buffer = nullptr;
        if (pool.Allocate(byte_size, &buffer).ok()) {
          mine.emplace_back(buffer, byte_size, random());
          ++succeeded;
        }
      } else if (!mine.empty()) {
        std::swap(mine[random() % mine.size()], mine.back());
        if (action == 7) {
          std::lock_guard lock(exchange_mutex);
          exchanged.push_back(mine.back());
          mine.pop_back();
          if (exchanged.size() > 40) {
            std::swap(exchanged[random() % exchanged.size()], exchanged.back());
            mine.push_back(exchanged.back());
            exchanged.pop_back();
          }
          continue;
        }
        damaged += !mine.back().IsIntact();
        BufferPool::Release(mine.back().buffer());
        mine.pop_back();
      }
    }
    for (const Stamp& stamp : mine) {
      damaged += !stamp.IsIntact();
      BufferPool::Release(stamp.buffer());
    }
  };

  for (uint64_t generation = 0; generation < 4; ++generation) {
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < 4; ++i) {
      threads.emplace_back(work, generation * 100 + i);
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  for (const Stamp& stamp : exchanged) {
    damaged += !stamp.IsIntact();
    BufferPool::Release(stamp.buffer());
  }
  CHECK(damaged == 0);
  const nrd_pool_stats stats = StatsOf(pool);
  CHECK(stats.live_buffers == 0);
  CHECK(stats.live_bytes == 0);
  CHECK(stats.allocations == succeeded);
  CHECK(stats.high_water_bytes <= stats.reserved_bytes);
  CHECK(stats.reserved_bytes <= 6 * kMiB);
  // Caches keep nothing back: one buffer can have all the memory.
  BufferPool::Release(MustAllocate(pool, 6 * kMiB - kHeaderBytes));
}

// The sanitizer forbids to look.
#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a pool that poisons overwrites what is given back, and only then") {
  for (const bool poisons : {true, false}) {
    CAPTURE(poisons);
    BufferPool pool(Anonymous(0), poisons);
    for (const size_t byte_size : {size_t{1}, size_t{4096}, size_t{3} << 20U}) {
      CAPTURE(byte_size);
      void* buffer = MustAllocate(pool, byte_size);
      std::memset(buffer, 7, byte_size);
      BufferPool::Retain(buffer);
      BufferPool::Release(buffer);
      const auto* const bytes = static_cast<const volatile uint8_t*>(buffer);
      CHECK(bytes[0] == 7);
      BufferPool::Release(buffer);
      CHECK(bytes[0] == (poisons ? NRD_POISON_BYTE : 7));
      CHECK(bytes[byte_size - 1] == (poisons ? NRD_POISON_BYTE : 7));
    }
  }
}
#endif

TEST_CASE("references from many threads") {
  BufferPool pool(Anonymous(0));
  for (int round = 0; round < 200; ++round) {
    void* buffer = MustAllocate(pool, 64);
    std::memset(buffer, 1, 64);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      BufferPool::Retain(buffer);
      threads.emplace_back([buffer] {
        BufferPool::Retain(buffer);
        BufferPool::Release(buffer);
        BufferPool::Release(buffer);
      });
    }
    BufferPool::Release(buffer);
    for (std::thread& thread : threads) {
      thread.join();
    }
    REQUIRE(pool.live_buffers() == 0);
  }
}

TEST_CASE("the system gets back what nobody has used between two looks, and the memory stays") {
  BufferPool pool(Anonymous(64 * kMiB));
  auto* first = static_cast<uint8_t*>(MustAllocate(pool, 7 * kMiB));
  auto* held = static_cast<uint8_t*>(MustAllocate(pool, 7 * kMiB));
  std::memset(first, 7, 7 * kMiB);
  std::memset(held, 8, 7 * kMiB);
  BufferPool::Release(first);

  pool.ReleaseIdle();
  CHECK(pool.released_bytes() == 0);
  SUBCASE("what is used in between is kept") {
    auto* again = static_cast<uint8_t*>(MustAllocate(pool, 7 * kMiB));
    CHECK(again == first);
    CHECK(again[4 * kMiB] == 7);
    BufferPool::Release(again);
    pool.ReleaseIdle();
    CHECK(pool.released_bytes() == 0);
  }
  SUBCASE("what is not is zero when it is used again") {
    pool.ReleaseIdle();
    CHECK(pool.released_bytes() >= 6 * kMiB);
    CHECK(std::count(held, held + 7 * kMiB, 8) == 7 * kMiB);
    const uint64_t released_bytes = pool.released_bytes();
    pool.ReleaseIdle();
    CHECK(pool.released_bytes() == released_bytes);
    auto* again = static_cast<uint8_t*>(MustAllocate(pool, 7 * kMiB));
    CHECK(again == first);
    CHECK(again[4 * kMiB] == 0);
    std::memset(again, 9, 7 * kMiB);
    CHECK(std::count(held, held + 7 * kMiB, 8) == 7 * kMiB);
    BufferPool::Release(again);
  }
  BufferPool::Release(held);
}

TEST_CASE("what the system has counts once, also when more is freed beside it") {
  BufferPool pool(Anonymous(8 * kMiB));
  void* first = MustAllocate(pool, 3 * kMiB);
  void* second = MustAllocate(pool, 3 * kMiB);
  BufferPool::Release(first);
  pool.ReleaseIdle();
  pool.ReleaseIdle();
  CHECK(pool.released_bytes() > 0);
  BufferPool::Release(second);
  pool.ReleaseIdle();
  pool.ReleaseIdle();
  CHECK(pool.released_bytes() == 8 * kMiB);
}

TEST_CASE("small buffers that wait in the caches go back when nobody takes any") {
  BufferPool pool(Anonymous(64 * kMiB));
  std::vector<void*> buffers;
  for (int i = 0; i < 200; ++i) {
    buffers.push_back(MustAllocate(pool, 60 << 10));
    std::memset(buffers.back(), 1, 60 << 10);
  }
  for (void* buffer : buffers) {
    BufferPool::Release(buffer);
  }
  for (int i = 0; i < 3; ++i) {
    pool.ReleaseIdle();
  }
  CHECK(pool.released_bytes() >= 10 * kMiB);
}

TEST_CASE("memory of a caller's allocator, and of a pool that poisons, stays as it is") {
  FaultyAllocator allocator;
  BufferPool lent(allocator.Options(64 * kMiB, 8 * kMiB));
  BufferPool poisoned(Anonymous(64 * kMiB), true);
  for (BufferPool* pool : {&lent, &poisoned}) {
    BufferPool::Release(MustAllocate(*pool, 7 * kMiB));
    for (int i = 0; i < 3; ++i) {
      pool->ReleaseIdle();
    }
    CHECK(pool->released_bytes() == 0);
  }
}

}  // namespace nereid
