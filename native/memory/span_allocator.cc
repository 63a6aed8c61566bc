#include "memory/span_allocator.h"

#include <algorithm>
#include <new>

#include "memory/memory_marks.h"

namespace nereid {

constexpr SpanAllocator::Sizes SpanAllocator::SizesOf(uint32_t size_class) {
  constexpr uint64_t kBatchBytes = uint64_t{32} << 10;
  const uint64_t block_bytes = SizeClassBytes(size_class) + kHeaderBytes;
  // The shortest span of four blocks or more that leaves at most a sixteenth unused.
  uint64_t span_pages = 0;
  uint64_t span_bytes = 0;
  do {
    span_bytes = ++span_pages * PageAllocator::kPageBytes;
  } while (span_bytes < 4 * block_bytes || span_bytes % block_bytes > span_bytes / 16);
  return {
      .block_bytes = static_cast<uint32_t>(block_bytes),
      .batch_blocks = static_cast<uint32_t>(std::clamp<uint64_t>(kBatchBytes / block_bytes, 2, 64)),
      .span_blocks = static_cast<uint32_t>(span_bytes / block_bytes),
      .span_pages = static_cast<uint32_t>(span_pages)};
}

constexpr std::array<SpanAllocator::Sizes, kSizeClassCount> SpanAllocator::kSizes = [] {
  std::array<Sizes, kSizeClassCount> sizes{};
  for (uint32_t i = 0; i < kSizeClassCount; ++i) {
    sizes[i] = SizesOf(i);
  }
  return sizes;
}();

SpanAllocator::SpanAllocator(BufferPool* pool, PageAllocator* pages) : pool_(pool), pages_(pages) {}

BufferHeader* SpanAllocator::Take(uint32_t size_class, uint32_t* count) {
  const Spans& spans = spans_[size_class];
  BufferHeader* chain = nullptr;
  uint32_t taken = 0;
  while (taken < *count) {
    PageRun* span = spans.partial != nullptr ? spans.partial : AddSpan(size_class);
    if (span == nullptr) {
      break;
    }
    BufferHeader* block = TakeBlock(size_class, span);
    block->next_free = chain;
    chain = block;
    ++taken;
  }
  *count = taken;
  return chain;
}

void SpanAllocator::Return(BufferHeader* chain) {
  while (chain != nullptr) {
    BufferHeader* next = chain->next_free;
    ReturnBlock(chain);
    chain = next;
  }
}

void SpanAllocator::ReleaseUnusedSpans() {
  for (Spans& spans : spans_) {
    if (spans.unused != nullptr) {
      Unlink(&spans, spans.unused);
      pages_->Free(spans.unused);
      spans.unused = nullptr;
    }
  }
}

PageRun* SpanAllocator::AddSpan(uint32_t size_class) {
  PageRun* span = pages_->Allocate(kSizes[size_class].span_pages);
  if (span == nullptr) {
    return nullptr;
  }
  span->blocks_carved = 0;
  span->blocks_used = 0;
  span->free_blocks = nullptr;
  Link(&spans_[size_class], span);
  return span;
}

BufferHeader* SpanAllocator::TakeBlock(uint32_t size_class, PageRun* span) {
  const Sizes& sizes = kSizes[size_class];
  Spans& spans = spans_[size_class];
  BufferHeader* block = span->free_blocks;
  if (block != nullptr) {
    span->free_blocks = block->next_free;
  } else {
    auto* memory = static_cast<uint8_t*>(PageAllocator::Address(*span)) +
                   uint64_t{span->blocks_carved} * sizes.block_bytes;
    ++span->blocks_carved;
    MarkUsable(memory, kHeaderBytes);
    MarkUnusable(memory + kHeaderBytes, sizes.block_bytes - kHeaderBytes);
    block = new (memory) BufferHeader{pool_, span, nullptr, size_class, 0};
  }
  if (span == spans.unused) {
    spans.unused = nullptr;
  }
  if (++span->blocks_used == sizes.span_blocks) {
    Unlink(&spans, span);
  }
  return block;
}

void SpanAllocator::ReturnBlock(BufferHeader* block) {
  Spans& spans = spans_[block->size_class];
  PageRun* span = block->run;
  block->next_free = span->free_blocks;
  span->free_blocks = block;
  if (span->blocks_used-- == kSizes[block->size_class].span_blocks) {
    Link(&spans, span);
  }
  if (span->blocks_used > 0) {
    return;
  }
  // One unused span is kept, so that a class that is empty now and then does not cut new ones.
  if (spans.unused == nullptr) {
    spans.unused = span;
    return;
  }
  Unlink(&spans, span);
  pages_->Free(span);
}

void SpanAllocator::Link(Spans* spans, PageRun* span) {
  span->previous = nullptr;
  span->next = spans->partial;
  if (span->next != nullptr) {
    span->next->previous = span;
  }
  spans->partial = span;
}

void SpanAllocator::Unlink(Spans* spans, PageRun* span) {
  if (span->next != nullptr) {
    span->next->previous = span->previous;
  }
  if (span->previous != nullptr) {
    span->previous->next = span->next;
  } else {
    spans->partial = span->next;
  }
}

}  // namespace nereid
