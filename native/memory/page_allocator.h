// The pool's lower half: takes chunks from the allocator and cuts them into runs of pages. A run is
// cut from the free one that fits best, and joined with its neighbours again when it is free.
#ifndef NEREID_MEMORY_PAGE_ALLOCATOR_H_
#define NEREID_MEMORY_PAGE_ALLOCATOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "nereid/nereid.h"

namespace nereid {

struct BufferHeader;
struct Chunk;

// The age of a free run: ReleaseIdle must see it twice before it gives its pages to the system.
// `kReleased`: the system has all pages.
enum class RunAge : uint8_t { kNew, kSeen, kReleased };

// Describes the run that starts at this page; there is one per page of a chunk. Entries inside a
// run are invalid except the last, of which only `page_count` and `is_free` are valid: by them the
// next run finds its neighbour's start.
struct PageRun {
  Chunk* chunk = nullptr;
  PageRun* previous = nullptr;  // in the bin of free runs, or in a size class's list
  PageRun* next = nullptr;
  uint32_t page_count = 0;
  bool is_free = false;
  RunAge age = RunAge::kReleased;  // of a free run: whether its pages are still in memory

  // For a run that a size class cut into blocks.
  uint32_t blocks_carved = 0;  // blocks behind these were never used
  uint32_t blocks_used = 0;    // carved blocks that are not on free_blocks
  BufferHeader* free_blocks = nullptr;
};

// Hands out runs of pages. Not synchronised: the mutex of BufferPool guards it.
class PageAllocator {
 public:
  // Large enough that a description per page costs little, small enough that rounding up wastes
  // less than a fifth of any run above 64 KiB.
  static constexpr uint64_t kPageBytes = uint64_t{16} << 10;

  struct Options {
    uint64_t byte_limit;
    uint64_t chunk_bytes;
    void* allocator_context;
    nrd_allocate_fn allocate;
    nrd_deallocate_fn deallocate;
  };

  // See nrd_runtime_lock_pages.
  struct PageLock {
    void* context;
    nrd_lock_pages_fn lock;
    nrd_unlock_pages_fn unlock;
  };

  explicit PageAllocator(const Options& options);
  ~PageAllocator();
  PageAllocator(const PageAllocator&) = delete;
  PageAllocator& operator=(const PageAllocator&) = delete;

  // Returns a run of exactly `page_count` pages; NULL: neither free runs nor the allocator, within
  // the limit, have it.
  PageRun* Allocate(uint64_t page_count);
  void Free(PageRun* run);

  // Gives the system those huge pages of one chunk that were free at the last call and still are.
  // They stay mapped and are zero when they are used again. Locked memory and that of a caller's
  // allocator stay as they are.
  void ReleaseIdle(size_t chunk);
  [[nodiscard]] size_t chunk_count() const { return chunks_.size(); }
  // The bytes that ReleaseIdle gave to the system and that are still unused. A run that has grown
  // since counts only once it is released as a whole.
  [[nodiscard]] uint64_t released_bytes() const;

  // Locks the present chunks and all later ones. False: there is a lock already.
  bool LockPages(const PageLock& page_lock);

  static void* Address(const PageRun& run);

  [[nodiscard]] uint64_t byte_limit() const { return options_.byte_limit; }
  [[nodiscard]] uint64_t reserved_bytes() const { return reserved_bytes_; }
  [[nodiscard]] uint64_t locked_bytes() const { return locked_bytes_; }
  // True if the allocator, and not the limit, made the last Allocate return NULL.
  [[nodiscard]] bool allocator_failed() const { return allocator_failed_; }

 private:
  // Bin i holds the free runs of i pages; the last one those of kLastBin pages and more.
  static constexpr uint32_t kLastBin = 1023;
  static constexpr uint32_t kBinWords = (kLastBin + 1) / 64;

  PageRun* TakeBestFit(uint64_t page_count);
  bool Grow(uint64_t page_count);
  void Lock(Chunk* chunk);
  void Insert(PageRun* run);
  void Remove(PageRun* run);
  static void Describe(PageRun* first, uint32_t page_count, bool is_free);

  Options options_;
  PageLock page_lock_{};  // without functions: no lock
  uint64_t reserved_bytes_ = 0;
  uint64_t locked_bytes_ = 0;
  bool allocator_failed_ = false;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::array<PageRun*, kLastBin + 1> bins_{};
  std::array<uint64_t, kBinWords> occupied_bins_{};  // bit i: bin i is not empty
};

}  // namespace nereid

#endif  // NEREID_MEMORY_PAGE_ALLOCATOR_H_
