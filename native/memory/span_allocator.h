#ifndef NEREID_MEMORY_SPAN_ALLOCATOR_H_
#define NEREID_MEMORY_SPAN_ALLOCATOR_H_

#include <array>
#include <cstdint>

#include "memory/buffer_header.h"
#include "memory/page_allocator.h"
#include "memory/size_class.h"

namespace nereid {

// The pool's middle layer: cuts runs of pages ("spans") into blocks of one size class, and gives a
// span's pages back when none of its blocks is in use. Not synchronised: the mutex of BufferPool
// guards it, except the sizes, which are constant.
class SpanAllocator {
 public:
  // The blocks' headers refer to `pool`. `pages` outlives this.
  SpanAllocator(BufferPool* pool, PageAllocator* pages);
  SpanAllocator(const SpanAllocator&) = delete;
  SpanAllocator& operator=(const SpanAllocator&) = delete;

  // Header and payload of a block.
  static uint64_t block_bytes(uint32_t size_class) { return kSizes[size_class].block_bytes; }
  // The number of blocks that are taken or returned at once.
  static uint32_t batch_blocks(uint32_t size_class) { return kSizes[size_class].batch_blocks; }

  // Takes a chain (by next_free) of up to *count blocks, and sets *count to their number; NULL: no
  // memory for even one.
  BufferHeader* Take(uint32_t size_class, uint32_t* count);
  void Return(BufferHeader* chain);

  // Gives back the pages of the unused spans that were kept.
  void ReleaseUnusedSpans();

 private:
  struct Sizes {
    uint32_t block_bytes;
    uint32_t batch_blocks;
    uint32_t span_blocks;
    uint32_t span_pages;
  };
  static constexpr Sizes SizesOf(uint32_t size_class);
  static const std::array<Sizes, kSizeClassCount> kSizes;

  // The spans of one size class.
  struct Spans {
    PageRun* partial = nullptr;  // spans with free blocks
    PageRun* unused = nullptr;   // the one of them that is kept without a block in use
  };

  PageRun* AddSpan(uint32_t size_class);
  BufferHeader* TakeBlock(uint32_t size_class, PageRun* span);
  void ReturnBlock(BufferHeader* block);
  static void Link(Spans* spans, PageRun* span);
  static void Unlink(Spans* spans, PageRun* span);

  BufferPool* const pool_;
  PageAllocator* const pages_;
  std::array<Spans, kSizeClassCount> spans_;
};

}  // namespace nereid

#endif  // NEREID_MEMORY_SPAN_ALLOCATOR_H_
