// Tests the functions that lock the pool's pages: their arguments and the times of their calls.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memory/page_allocator.h"
#include "nereid/nereid.h"

namespace nereid {
namespace {

constexpr uint64_t kPage = PageAllocator::kPageBytes;

// Records the locked memory, and can refuse more.
struct PageKeeper {
  static int32_t Lock(void* context, void* memory, uint64_t byte_size) {
    auto* self = static_cast<PageKeeper*>(context);
    ++self->offers;
    if (self->refuses) {
      return 1;
    }
    CHECK(self->held.emplace(memory, byte_size).second);
    // The function may use all pages that it locks.
    static_cast<volatile uint8_t*>(memory)[byte_size - 1] = 1;
    return 0;
  }
  static void Unlock(void* context, void* memory, uint64_t byte_size) {
    auto* self = static_cast<PageKeeper*>(context);
    CHECK(self->held[memory] == byte_size);
    self->held.erase(memory);
  }

  bool refuses = false;
  int offers = 0;
  std::map<void*, uint64_t> held;
};

struct Pool {
  explicit Pool(uint64_t chunk_bytes) {
    nrd_runtime_options options{};
    options.struct_size = sizeof(options);
    options.pool_chunk_bytes = chunk_bytes;
    REQUIRE(nrd_runtime_create(&options, &runtime, nullptr) == NRD_OK);
  }
  ~Pool() {
    for (void* buffer : buffers) {
      nrd_buffer_release(buffer);
    }
    CHECK(nrd_runtime_release(runtime, nullptr) == NRD_OK);
  }
  int32_t Lock(PageKeeper* keeper, nrd_error* error_out = nullptr) {
    return nrd_runtime_lock_pages(runtime, keeper, PageKeeper::Lock, PageKeeper::Unlock, error_out);
  }
  void Allocate(uint64_t byte_size) {
    void* buffer = nullptr;
    REQUIRE(nrd_buffer_alloc(runtime, byte_size, &buffer, nullptr) == NRD_OK);
    buffers.push_back(buffer);
  }
  nrd_pool_stats Stats() {
    nrd_pool_stats stats{};
    nrd_runtime_pool_stats(runtime, &stats);
    return stats;
  }

  nrd_runtime* runtime = nullptr;
  std::vector<void*> buffers;
};

}  // namespace

TEST_CASE("page lock: what there is and what comes is locked, and unlocked at the end") {
  PageKeeper keeper;
  {
    Pool pool(64 * kPage);
    pool.Allocate(10 * kPage);
    CHECK(pool.Stats().locked_bytes == 0);
    REQUIRE(pool.Lock(&keeper) == NRD_OK);
    CHECK(keeper.held.size() == 1);
    CHECK(pool.Stats().locked_bytes == 64 * kPage);
    pool.Allocate(100 * kPage);  // more than a chunk
    CHECK(keeper.held.size() == 2);
    CHECK(pool.Stats().locked_bytes == pool.Stats().reserved_bytes);
    const int offers = keeper.offers;
    pool.Allocate(8);  // there is room
    CHECK(keeper.offers == offers);
  }
  CHECK(keeper.held.empty());
}

TEST_CASE("page lock: memory that cannot be locked is used all the same") {
  PageKeeper keeper;
  {
    Pool pool(64 * kPage);
    keeper.refuses = true;
    REQUIRE(pool.Lock(&keeper) == NRD_OK);
    pool.Allocate(10 * kPage);
    CHECK(keeper.offers == 1);
    CHECK(pool.Stats().locked_bytes == 0);
    keeper.refuses = false;
    pool.Allocate(100 * kPage);
    CHECK(keeper.held.size() == 1);
    CHECK(pool.Stats().locked_bytes < pool.Stats().reserved_bytes);
  }
  CHECK(keeper.held.empty());  // refused memory was not unlocked
}

TEST_CASE("page lock: there is one, with both functions") {
  PageKeeper keeper;
  Pool pool(0);
  nrd_error error{};
  error.struct_size = sizeof(error);
  CHECK(nrd_runtime_lock_pages(pool.runtime, &keeper, PageKeeper::Lock, nullptr, &error) ==
        NRD_INVALID_ARGUMENT);
  REQUIRE(pool.Lock(&keeper) == NRD_OK);
  CHECK(pool.Lock(&keeper, &error) == NRD_FAILED_PRECONDITION);
  CHECK(std::string(error.message, error.message_size) ==
        "the pool's memory is being page-locked already");
}

}  // namespace nereid
