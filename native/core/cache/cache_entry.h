// The outputs of an answer as one block of bytes, for caches outside of the core.
#ifndef NEREID_CORE_CACHE_CACHE_ENTRY_H_
#define NEREID_CORE_CACHE_CACHE_ENTRY_H_

#include <cstdint>
#include <span>

#include "core/config/model_config.h"
#include "core/request/answer_cache.h"
#include "memory/buffer_pool.h"
#include "nereid/nereid.h"

namespace nereid {

// Up to the next cache line, where the next output begins.
constexpr uint64_t AlignUp(uint64_t byte_size) { return (byte_size + 63) & ~uint64_t{63}; }

// `specs` are the outputs of the request's model. An output without memory is left out.
uint64_t CacheEntrySize(std::span<const TensorSpec> specs, const nrd_request& request);
// `entry` has CacheEntrySize bytes, with any alignment.
void WriteCacheEntry(const CacheKey& key, std::span<const TensorSpec> specs,
                     const nrd_request& request, std::span<uint8_t> entry);

// Fills the outputs of the request with one buffer that they share. False, without any effect: the
// bytes are no entry for this key and these outputs, a wanted output is missing, or the pool is
// exhausted.
bool ReadCacheEntry(std::span<const uint8_t> entry, const CacheKey& key,
                    std::span<const TensorSpec> specs, BufferPool& pool, PoolAccount* account,
                    nrd_request* request);

}  // namespace nereid

#endif  // NEREID_CORE_CACHE_CACHE_ENTRY_H_
