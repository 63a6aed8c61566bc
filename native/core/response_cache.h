// Keeps responses under what was asked: a sharded LRU, bounded in bytes. Any thread may call it. It
// owns copies of what it stores and holds no buffer of the pool.
#ifndef NEREID_CORE_RESPONSE_CACHE_H_
#define NEREID_CORE_RESPONSE_CACHE_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "core/hash128.h"
#include "memory/buffer_pool.h"
#include "nereid/nereid.h"

namespace nereid {

// Stands for all that was asked; see hash128.cc on why two requests do not share one in practice.
struct CacheKey {
  uint64_t hi;
  uint64_t lo;
  uint64_t model;  // of the model and version alone, for EraseModel

  bool operator==(const CacheKey&) const = default;
};

class ResponseCache {
 public:
  // byte_limit 0: nothing is stored.
  explicit ResponseCache(uint64_t byte_limit);
  ~ResponseCache();
  ResponseCache(const ResponseCache&) = delete;
  ResponseCache& operator=(const ResponseCache&) = delete;

  // Covers model, version, which outputs are wanted (none selected means all), which inputs are
  // given, their datatypes, shapes and data, and the values that came with the request.
  [[nodiscard]] CacheKey KeyOf(std::string_view model, std::string_view version,
                               const nrd_request& request) const;

  // On a hit fills data, slab, byte_size, datatype, rank and shape of the request's outputs (absent
  // ones: NULL data and slab; flags stay) with one buffer of `pool` that they share, and returns
  // true. Otherwise, also when the pool is exhausted, the request is left alone and it counts as a
  // miss. The outputs must hold no buffers.
  bool Lookup(const CacheKey& key, BufferPool& pool, nrd_request* request,
              PoolAccount* account = nullptr);

  // Copies the outputs. Does nothing when they exceed a shard's share of the limit, when the key is
  // there already, or when memory is short.
  void Insert(const CacheKey& key, const nrd_request& request);

  // For a model version that goes away: what is loaded under its name next may answer differently.
  // Its requests must have been answered, or a late one could insert again.
  void EraseModel(std::string_view model, std::string_view version);

  void ReadStats(nrd_cache_stats* stats_out) const;

 private:
  struct Entry;
  struct Shard;

  [[nodiscard]] Hash128 HashOfModel(std::string_view model, std::string_view version) const;
  [[nodiscard]] Shard& ShardOf(const CacheKey& key) const;
  static std::shared_ptr<Entry> CopyIn(const nrd_request& request);
  static bool CopyOut(const Entry& entry, BufferPool& pool, nrd_request* request,
                      PoolAccount* account);

  const HashKeys keys_;
  const uint64_t byte_limit_;
  const uint32_t shard_count_;  // a power of two
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace nereid

#endif  // NEREID_CORE_RESPONSE_CACHE_H_
