#include "memory/page_allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

#include "memory/memory_marks.h"

namespace nereid {

struct Chunk {
  uint8_t* memory = nullptr;
  uint64_t byte_size = 0;
  uint32_t page_count = 0;
  bool is_locked = false;
  std::unique_ptr<PageRun[]> runs;
};

namespace {

constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;

// A chunk's page count must fit into PageRun::page_count; no address space holds more (64 TiB).
constexpr uint64_t kMaxRunPages = uint64_t{1} << 32;

void* AllocateAnonymous(void*, uint64_t byte_size) {
  // More than needed, to start at a huge page's boundary; the rest is unmapped at once.
  const uint64_t mapped_bytes = byte_size + kHugePageBytes;
  void* mapping = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return nullptr;
  }
  auto* start = static_cast<uint8_t*>(mapping);
  const uint64_t misaligned = reinterpret_cast<uintptr_t>(start) % kHugePageBytes;
  const uint64_t front_bytes = misaligned == 0 ? 0 : kHugePageBytes - misaligned;
  if (front_bytes > 0) {
    munmap(start, front_bytes);
  }
  uint8_t* memory = start + front_bytes;
  munmap(memory + byte_size, mapped_bytes - front_bytes - byte_size);
  // Only a hint, which a kernel without huge pages refuses harmlessly.
  madvise(memory, byte_size, MADV_HUGEPAGE);
  return memory;
}

void DeallocateAnonymous(void*, void* memory, uint64_t byte_size) { munmap(memory, byte_size); }

uint64_t RoundDownToPages(uint64_t byte_size) {
  return byte_size - byte_size % PageAllocator::kPageBytes;
}

PageAllocator::Options WithDefaults(PageAllocator::Options options) {
  if (options.byte_limit == 0) {
    options.byte_limit = uint64_t{4} << 30;
  }
  if (options.chunk_bytes == 0) {
    options.chunk_bytes = uint64_t{8} << 20;
  }
  options.chunk_bytes = std::max(RoundDownToPages(options.chunk_bytes), PageAllocator::kPageBytes);
  if (options.allocate == nullptr) {
    options.allocate = AllocateAnonymous;
    options.deallocate = DeallocateAnonymous;
  }
  return options;
}

struct HugePages {
  uint64_t first;
  uint64_t count;
};

// The huge pages inside a run: the kernel would fill a partly released one again.
HugePages WholeHugePages(uint64_t page, uint64_t page_count) {
  const uint64_t first = (page * PageAllocator::kPageBytes + kHugePageBytes - 1) / kHugePageBytes;
  const uint64_t end = (page + page_count) * PageAllocator::kPageBytes / kHugePageBytes;
  return {first, end > first ? end - first : 0};
}

}  // namespace

PageAllocator::PageAllocator(const Options& options) : options_(WithDefaults(options)) {}

PageAllocator::~PageAllocator() {
  for (const std::unique_ptr<Chunk>& chunk : chunks_) {
    MarkUsable(chunk->memory, chunk->byte_size);
    if (chunk->is_locked) {
      page_lock_.unlock(page_lock_.context, chunk->memory, chunk->byte_size);
    }
    options_.deallocate(options_.allocator_context, chunk->memory, chunk->byte_size);
  }
}

bool PageAllocator::LockPages(const PageLock& page_lock) {
  if (page_lock_.lock != nullptr) {
    return false;
  }
  page_lock_ = page_lock;
  for (const std::unique_ptr<Chunk>& chunk : chunks_) {
    Lock(chunk.get());
  }
  return true;
}

void PageAllocator::Lock(Chunk* chunk) {
  if (page_lock_.lock(page_lock_.context, chunk->memory, chunk->byte_size) == 0) {
    chunk->is_locked = true;
    locked_bytes_ += chunk->byte_size;
  }
}

void PageAllocator::ReleaseIdle(size_t index) {
  Chunk& chunk = *chunks_[index];
  if (options_.allocate != AllocateAnonymous || chunk.is_locked) {
    return;
  }
  for (uint32_t i = 0; i < chunk.page_count; i += chunk.runs[i].page_count) {
    PageRun& run = chunk.runs[i];
    if (!run.is_free || run.age == RunAge::kReleased) {
      continue;
    }
    if (run.age == RunAge::kNew) {
      run.age = RunAge::kSeen;
      continue;
    }
    const HugePages whole = WholeHugePages(i, run.page_count);
    if (whole.count > 0) {
      madvise(chunk.memory + whole.first * kHugePageBytes, whole.count * kHugePageBytes,
              MADV_DONTNEED);
    }
    run.age = RunAge::kReleased;
  }
}

uint64_t PageAllocator::released_bytes() const {
  uint64_t bytes = 0;
  for (const std::unique_ptr<Chunk>& chunk : chunks_) {
    for (uint32_t i = 0; i < chunk->page_count; i += chunk->runs[i].page_count) {
      const PageRun& run = chunk->runs[i];
      if (run.is_free && run.age == RunAge::kReleased) {
        bytes += WholeHugePages(i, run.page_count).count * kHugePageBytes;
      }
    }
  }
  return bytes;
}

void* PageAllocator::Address(const PageRun& run) {
  const auto page = static_cast<uint64_t>(&run - run.chunk->runs.get());
  return run.chunk->memory + page * kPageBytes;
}

PageRun* PageAllocator::Allocate(uint64_t page_count) {
  allocator_failed_ = false;
  PageRun* run = TakeBestFit(page_count);
  if (run == nullptr && Grow(page_count)) {
    run = TakeBestFit(page_count);
  }
  if (run == nullptr) {
    return nullptr;
  }
  const auto used_pages = static_cast<uint32_t>(page_count);
  if (run->page_count > used_pages) {
    PageRun* rest = run + used_pages;
    rest->age = run->age;
    Describe(rest, run->page_count - used_pages, true);
    Insert(rest);
  }
  Describe(run, used_pages, false);
  return run;
}

void PageAllocator::Free(PageRun* run) {
  Chunk* chunk = run->chunk;
  PageRun* first = run;
  uint32_t page_count = run->page_count;
  PageRun* behind = run + page_count;
  if (behind != chunk->runs.get() + chunk->page_count && behind->is_free) {
    Remove(behind);
    page_count += behind->page_count;
  }
  if (run != chunk->runs.get() && run[-1].is_free) {
    first = run - run[-1].page_count;
    Remove(first);
    page_count += first->page_count;
  }
  first->age = RunAge::kNew;
  Describe(first, page_count, true);
  Insert(first);
}

PageRun* PageAllocator::TakeBestFit(uint64_t page_count) {
  const auto first_bin = static_cast<uint32_t>(std::min<uint64_t>(page_count, kLastBin));
  uint32_t word = first_bin / 64;
  uint64_t occupied = occupied_bins_[word] & (~uint64_t{0} << (first_bin % 64));
  while (occupied == 0 && ++word < kBinWords) {
    occupied = occupied_bins_[word];
  }
  if (occupied == 0) {
    return nullptr;
  }
  const uint32_t bin = word * 64 + static_cast<uint32_t>(std::countr_zero(occupied));
  PageRun* best = bins_[bin];
  if (bin == kLastBin) {
    best = nullptr;
    for (PageRun* run = bins_[bin]; run != nullptr; run = run->next) {
      if (run->page_count >= page_count &&
          (best == nullptr || run->page_count < best->page_count)) {
        best = run;
      }
    }
  }
  if (best != nullptr) {
    Remove(best);
  }
  return best;
}

// Takes a chunk for a run of `page_count`. The last one under the limit may be smaller than
// chunk_bytes, so that the whole limit can be used.
bool PageAllocator::Grow(uint64_t page_count) {
  const uint64_t available_bytes = RoundDownToPages(options_.byte_limit - reserved_bytes_);
  if (page_count > available_bytes / kPageBytes || page_count >= kMaxRunPages) {
    return false;
  }
  const uint64_t byte_size = std::min({std::max(options_.chunk_bytes, page_count * kPageBytes),
                                       available_bytes, (kMaxRunPages - 1) * kPageBytes});
  auto chunk = std::make_unique<Chunk>();
  chunk->page_count = static_cast<uint32_t>(byte_size / kPageBytes);
  chunk->byte_size = byte_size;
  chunk->runs.reset(new (std::nothrow) PageRun[chunk->page_count]);
  if (chunk->runs == nullptr) {
    allocator_failed_ = true;
    return false;
  }
  chunks_.reserve(chunks_.size() + 1);  // may throw, as long as nothing points at the chunk
  chunk->memory = static_cast<uint8_t*>(options_.allocate(options_.allocator_context, byte_size));
  if (chunk->memory == nullptr) {
    allocator_failed_ = true;
    return false;
  }
  reserved_bytes_ += byte_size;
  if (page_lock_.lock != nullptr) {
    Lock(chunk.get());
  }
  for (uint32_t i = 0; i < chunk->page_count; ++i) {
    chunk->runs[i].chunk = chunk.get();
  }
  Describe(&chunk->runs[0], chunk->page_count, true);
  Insert(&chunk->runs[0]);
  chunks_.push_back(std::move(chunk));
  return true;
}

void PageAllocator::Describe(PageRun* first, uint32_t page_count, bool is_free) {
  PageRun* last = first + page_count - 1;
  first->page_count = page_count;
  first->is_free = is_free;
  last->page_count = page_count;
  last->is_free = is_free;
}

void PageAllocator::Insert(PageRun* run) {
  const uint32_t bin = std::min(run->page_count, kLastBin);
  run->previous = nullptr;
  run->next = bins_[bin];
  if (run->next != nullptr) {
    run->next->previous = run;
  }
  bins_[bin] = run;
  occupied_bins_[bin / 64] |= uint64_t{1} << (bin % 64);
}

void PageAllocator::Remove(PageRun* run) {
  const uint32_t bin = std::min(run->page_count, kLastBin);
  if (run->next != nullptr) {
    run->next->previous = run->previous;
  }
  if (run->previous != nullptr) {
    run->previous->next = run->next;
    return;
  }
  bins_[bin] = run->next;
  if (run->next == nullptr) {
    occupied_bins_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
  }
}

}  // namespace nereid
