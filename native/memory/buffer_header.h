// The header in front of every buffer of the pool.
#ifndef NEREID_MEMORY_BUFFER_HEADER_H_
#define NEREID_MEMORY_BUFFER_HEADER_H_

#include <atomic>
#include <cstdint>

namespace nereid {

class BufferPool;
class PoolAccount;
struct PageRun;

// The pool writes only this header of a free buffer, unless it poisons freed memory.
struct alignas(64) BufferHeader {
  BufferPool* pool;
  PageRun* run;  // the run that contains the buffer, alone or among blocks of its class
  BufferHeader* next_free;
  uint32_t size_class;
  std::atomic<uint32_t> references;
  PoolAccount* account = nullptr;  // the account that counts its bytes; null: none
};
static_assert(sizeof(BufferHeader) == 64, "buffers are aligned to 64 bytes");

constexpr uint64_t kHeaderBytes = sizeof(BufferHeader);

}  // namespace nereid

#endif  // NEREID_MEMORY_BUFFER_HEADER_H_
