#include "memory/span_allocator.h"

#include <algorithm>
#include <new>

#include "memory/memory_marks.h"

namespace nereid {

SpanAllocator::SpanAllocator(BufferPool* pool, PageAllocator* pages) : pool_(pool), pages_(pages) {
  constexpr uint64_t kBatchBytes = uint64_t{32} << 10;
  for (uint32_t i = 0; i < kSizeClassCount; ++i) {
    const uint64_t block_bytes = SizeClassBytes(i) + kHeaderBytes;
    // The shortest span of four blocks or more that leaves at most a sixteenth unused.
    uint64_t span_pages = 0;
    uint64_t span_bytes = 0;
    do {
      span_bytes = ++span_pages * PageAllocator::kPageBytes;
    } while (span_bytes < 4 * block_bytes || span_bytes % block_bytes > span_bytes / 16);
    SizeClass& info = classes_[i];
    info.block_bytes = static_cast<uint32_t>(block_bytes);
    info.batch_blocks =
        static_cast<uint32_t>(std::clamp<uint64_t>(kBatchBytes / block_bytes, 2, 64));
    info.span_blocks = static_cast<uint32_t>(span_bytes / block_bytes);
    info.span_pages = static_cast<uint32_t>(span_pages);
  }
}

BufferHeader* SpanAllocator::Take(uint32_t size_class, uint32_t* count) {
  SizeClass& info = classes_[size_class];
  BufferHeader* chain = nullptr;
  uint32_t taken = 0;
  while (taken < *count) {
    PageRun* span = info.partial != nullptr ? info.partial : AddSpan(&info);
    if (span == nullptr) {
      break;
    }
    BufferHeader* block = TakeBlock(&info, size_class, span);
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
  for (SizeClass& info : classes_) {
    if (info.unused != nullptr) {
      Unlink(&info, info.unused);
      pages_->Free(info.unused);
      info.unused = nullptr;
    }
  }
}

PageRun* SpanAllocator::AddSpan(SizeClass* info) {
  PageRun* span = pages_->Allocate(info->span_pages);
  if (span == nullptr) {
    return nullptr;
  }
  span->blocks_carved = 0;
  span->blocks_used = 0;
  span->free_blocks = nullptr;
  Link(info, span);
  return span;
}

BufferHeader* SpanAllocator::TakeBlock(SizeClass* info, uint32_t size_class, PageRun* span) {
  BufferHeader* block = span->free_blocks;
  if (block != nullptr) {
    span->free_blocks = block->next_free;
  } else {
    auto* memory = static_cast<uint8_t*>(PageAllocator::Address(*span)) +
                   uint64_t{span->blocks_carved} * info->block_bytes;
    ++span->blocks_carved;
    MarkUsable(memory, kHeaderBytes);
    MarkUnusable(memory + kHeaderBytes, info->block_bytes - kHeaderBytes);
    block = new (memory) BufferHeader{pool_, span, nullptr, size_class, 0};
  }
  if (span == info->unused) {
    info->unused = nullptr;
  }
  if (++span->blocks_used == info->span_blocks) {
    Unlink(info, span);
  }
  return block;
}

void SpanAllocator::ReturnBlock(BufferHeader* block) {
  SizeClass& info = classes_[block->size_class];
  PageRun* span = block->run;
  block->next_free = span->free_blocks;
  span->free_blocks = block;
  if (span->blocks_used-- == info.span_blocks) {
    Link(&info, span);
  }
  if (span->blocks_used > 0) {
    return;
  }
  // Keeping one saves a class whose use swings around zero from cutting spans over and over.
  if (info.unused == nullptr) {
    info.unused = span;
    return;
  }
  Unlink(&info, span);
  pages_->Free(span);
}

void SpanAllocator::Link(SizeClass* info, PageRun* span) {
  span->previous = nullptr;
  span->next = info->partial;
  if (span->next != nullptr) {
    span->next->previous = span;
  }
  info->partial = span;
}

void SpanAllocator::Unlink(SizeClass* info, PageRun* span) {
  if (span->next != nullptr) {
    span->next->previous = span->previous;
  }
  if (span->previous != nullptr) {
    span->previous->next = span->next;
  } else {
    info->partial = span->next;
  }
}

}  // namespace nereid
