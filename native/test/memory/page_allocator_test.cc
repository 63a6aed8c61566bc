#include "memory/page_allocator.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "test/core/failing_heap.h"

namespace nereid {
namespace {

constexpr uint64_t kPage = PageAllocator::kPageBytes;

// Counts the memory that it gave, and can refuse more.
struct CountingAllocator {
  static void* Allocate(void* context, uint64_t byte_size) {
    auto* self = static_cast<CountingAllocator*>(context);
    if (self->fails) {
      return nullptr;
    }
    void* memory = std::aligned_alloc(4096, byte_size);
    self->given.emplace(memory, byte_size);
    return memory;
  }
  static void Deallocate(void* context, void* memory, uint64_t byte_size) {
    auto* self = static_cast<CountingAllocator*>(context);
    CHECK(self->given[memory] == byte_size);
    self->given.erase(memory);
    std::free(memory);
  }
  PageAllocator::Options Options(uint64_t byte_limit, uint64_t chunk_bytes) {
    return {byte_limit, chunk_bytes, this, Allocate, Deallocate};
  }

  bool fails = false;
  std::map<void*, uint64_t> given;
};

}  // namespace

TEST_CASE("pages: neighbours join and are cut again") {
  CountingAllocator memory;
  PageAllocator pages(memory.Options(8 * kPage, 8 * kPage));
  PageRun* first = pages.Allocate(3);
  PageRun* second = pages.Allocate(3);
  PageRun* third = pages.Allocate(2);
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  REQUIRE(third != nullptr);
  CHECK(pages.Allocate(1) == nullptr);
  CHECK_FALSE(pages.allocator_failed());

  // Free neighbours on both sides join a run, in any order of freeing.
  pages.Free(first);
  pages.Free(third);
  CHECK(pages.Allocate(4) == nullptr);
  pages.Free(second);
  PageRun* whole = pages.Allocate(8);
  CHECK(whole == first);
  pages.Free(whole);
  CHECK(memory.given.size() == 1);
}

TEST_CASE("pages: the smallest run that fits is taken") {
  CountingAllocator memory;
  PageAllocator pages(memory.Options(32 * kPage, 32 * kPage));
  PageRun* large_gap = pages.Allocate(9);
  PageRun* fence_1 = pages.Allocate(1);
  PageRun* small_gap = pages.Allocate(4);
  PageRun* fence_2 = pages.Allocate(18);
  pages.Free(large_gap);
  pages.Free(small_gap);
  CHECK(pages.Allocate(4) == small_gap);
  CHECK(pages.Allocate(5) == large_gap);
  CHECK(pages.Allocate(5) == nullptr);
  CHECK(pages.Allocate(4) == large_gap + 5);
  CHECK(fence_1 == large_gap + 9);
  CHECK(fence_2 == small_gap + 4);
}

TEST_CASE("pages: runs of any length, above the largest bin too") {
  CountingAllocator memory;
  PageAllocator pages(memory.Options(uint64_t{1} << 40, 64 * kPage));
  PageRun* long_run = pages.Allocate(3000);
  PageRun* longer_run = pages.Allocate(5000);
  REQUIRE(long_run != nullptr);
  REQUIRE(longer_run != nullptr);
  pages.Free(longer_run);
  pages.Free(long_run);
  CHECK(pages.Allocate(2000) == long_run);
  CHECK(pages.Allocate(4000) == longer_run);
  CHECK(pages.reserved_bytes() == 8000 * kPage);
}

TEST_CASE("pages: the limit holds to the last page, and the allocator's failure is told apart") {
  CountingAllocator memory;
  PageAllocator pages(memory.Options(20 * kPage + 100, 8 * kPage));
  std::vector<PageRun*> runs;
  while (PageRun* run = pages.Allocate(1)) {
    runs.push_back(run);
  }
  CHECK(runs.size() == 20);
  CHECK(pages.reserved_bytes() == 20 * kPage);
  CHECK_FALSE(pages.allocator_failed());
  CHECK(pages.Allocate(uint64_t{1} << 63) == nullptr);
  CHECK(pages.Allocate(UINT64_MAX) == nullptr);

  CountingAllocator empty;
  empty.fails = true;
  PageAllocator without_memory(empty.Options(20 * kPage, 8 * kPage));
  CHECK(without_memory.Allocate(1) == nullptr);
  CHECK(without_memory.allocator_failed());
  CHECK(without_memory.reserved_bytes() == 0);
  empty.fails = false;
  CHECK(without_memory.Allocate(1) != nullptr);
}

TEST_CASE("pages: a heap without room for another chunk loses no memory") {
  bool happened = true;
  for (int64_t number = 1; happened; ++number) {
    CAPTURE(number);
    uint64_t given = 0;
    {
      PageAllocator pages({20 * kPage, 8 * kPage, &given,
                           [](void* context, uint64_t byte_size) {
                             *static_cast<uint64_t*>(context) += byte_size;
                             return std::aligned_alloc(4096, byte_size);
                           },
                           [](void* context, void* memory, uint64_t byte_size) {
                             *static_cast<uint64_t*>(context) -= byte_size;
                             std::free(memory);
                           }});
      {
        const test::FailingAllocation failing(number);
        try {
          pages.Allocate(1);
        } catch (const std::bad_alloc&) {
          // The pool's caller is told.
        }
        happened = failing.happened();
      }
      CHECK(pages.Allocate(2) != nullptr);
      CHECK(pages.reserved_bytes() == given);
    }
    CHECK(given == 0);
  }
}

TEST_CASE("pages: anonymous memory starts at a huge page and is all there") {
  PageAllocator pages({0, 0, nullptr, nullptr, nullptr});
  CHECK(pages.byte_limit() == uint64_t{4} << 30);
  PageRun* run = pages.Allocate(3);
  REQUIRE(run != nullptr);
  CHECK(pages.reserved_bytes() == uint64_t{8} << 20);
  auto* memory = static_cast<uint8_t*>(PageAllocator::Address(*run));
  CHECK(reinterpret_cast<uintptr_t>(memory) % (2U << 20) == 0);
  memory[0] = 1;
  memory[3 * kPage - 1] = 2;
  CHECK(memory[0] + memory[3 * kPage - 1] == 3);
}

TEST_CASE("pages: random use never overlaps and ends as one run per chunk") {
  CountingAllocator memory;
  auto allocator = std::make_unique<PageAllocator>(memory.Options(256 * kPage, 64 * kPage));
  PageAllocator& pages = *allocator;
  std::mt19937_64 random(3);
  std::map<uintptr_t, PageRun*> live;  // by start address
  for (int round = 0; round < 20000; ++round) {
    if (random() % 2 == 0) {
      const uint64_t page_count = 1 + random() % 20;
      PageRun* run = pages.Allocate(page_count);
      if (run == nullptr) {
        continue;
      }
      REQUIRE(run->page_count == page_count);
      const auto start = reinterpret_cast<uintptr_t>(PageAllocator::Address(*run));
      const auto behind = live.lower_bound(start);
      REQUIRE((behind == live.end() || start + page_count * kPage <= behind->first));
      if (behind != live.begin()) {
        const auto before = std::prev(behind);
        REQUIRE(before->first + before->second->page_count * kPage <= start);
      }
      live.emplace(start, run);
    } else if (!live.empty()) {
      const auto at = std::next(live.begin(), static_cast<int64_t>(random() % live.size()));
      pages.Free(at->second);
      live.erase(at);
    }
  }
  for (const auto& [start, run] : live) {
    pages.Free(run);
  }
  CHECK(pages.reserved_bytes() == 256 * kPage);
  for (uint32_t i = 0; i < 4; ++i) {
    CHECK(pages.Allocate(64) != nullptr);
  }
  CHECK(memory.given.size() == 4);
  allocator.reset();
  CHECK(memory.given.empty());
}

}  // namespace nereid
