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

// The time that a run has been free, told by ReleaseIdle, which looks at it twice before the system
// gets its pages back. `kReleased`: the system has them all.
enum class RunAge : uint8_t { kNew, kSeen, kReleased };

// Describes the run that starts at this page; there is one per page of a chunk. The entries inside
// a run are out of date except the last, of which only `page_count` and `is_free` are right: that
// is how the run behind it finds the start of its neighbour.
struct PageRun {
  Chunk* chunk = nullptr;
  PageRun* previous = nullptr;  // in the bin of free runs, or in a size class's list
  PageRun* next = nullptr;
  uint32_t page_count = 0;
  bool is_free = false;
  RunAge age = RunAge::kReleased;  // of a free run: what its pages still hold

  // For a run that a size class cut into blocks.
  uint32_t blocks_carved = 0;  // blocks behind these were never used
  uint32_t blocks_used = 0;    // carved and not on free_blocks
  BufferHeader* free_blocks = nullptr;
};

// Not synchronised: the mutex of BufferPool guards it.
class PageAllocator {
 public:
  // Coarse enough that a description per page costs nothing, fine enough that rounding up to whole
  // pages wastes less than a fifth of any run above 64 KiB.
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

  // A run of exactly `page_count` pages, or NULL when neither the free runs nor the allocator,
  // within the limit, can give it.
  PageRun* Allocate(uint64_t page_count);
  void Free(PageRun* run);

  // Gives the system the huge pages that were free at the last call and are still, of one chunk.
  // They stay mapped and are zero when they are used again. Locked memory and that of a caller's
  // allocator stay as they are.
  void ReleaseIdle(size_t chunk);
  [[nodiscard]] size_t chunk_count() const { return chunks_.size(); }
  // Bytes that ReleaseIdle gave to the system, and that it still has. A run that has grown since
  // counts when it is given as a whole.
  [[nodiscard]] uint64_t released_bytes() const;

  // Locks the chunks that are there and all that come. False: there is a lock already.
  bool LockPages(const PageLock& page_lock);

  static void* Address(const PageRun& run);

  [[nodiscard]] uint64_t byte_limit() const { return options_.byte_limit; }
  [[nodiscard]] uint64_t reserved_bytes() const { return reserved_bytes_; }
  [[nodiscard]] uint64_t locked_bytes() const { return locked_bytes_; }
  // True if the last Allocate that gave NULL was the allocator's doing and not the limit's.
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
  PageLock page_lock_{};  // without functions: none
  uint64_t reserved_bytes_ = 0;
  uint64_t locked_bytes_ = 0;
  bool allocator_failed_ = false;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::array<PageRun*, kLastBin + 1> bins_{};
  std::array<uint64_t, kBinWords> occupied_bins_{};  // bit i: bin i is not empty
};

}  // namespace nereid

#endif  // NEREID_MEMORY_PAGE_ALLOCATOR_H_
