// Keeps responses by a hash of the request: a sharded LRU, bounded in bytes. Any thread may call
// it. It owns copies of what it stores and holds no buffer of the pool.
#ifndef NEREID_CORE_CACHE_RESPONSE_CACHE_H_
#define NEREID_CORE_CACHE_RESPONSE_CACHE_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "core/cache/hash128.h"
#include "core/request/answer_cache.h"
#include "memory/buffer_pool.h"
#include "nereid/nereid.h"

namespace nereid {

class ResponseCache final : public AnswerCache {
 public:
  // byte_limit 0: nothing is stored.
  explicit ResponseCache(uint64_t byte_limit);
  ~ResponseCache() override;
  ResponseCache(const ResponseCache&) = delete;
  ResponseCache& operator=(const ResponseCache&) = delete;

  [[nodiscard]] bool outlives_models() const override { return false; }
  // Two requests do not share a key in practice; see hash128.cc.
  [[nodiscard]] CacheKey KeyOf(std::string_view model, std::string_view version,
                               const nrd_request& request) const override;
  bool Lookup(const CacheKey& key, BufferPool& pool, nrd_request* request,
              PoolAccount* account = nullptr) override;
  // Does nothing when the outputs exceed a shard's share of the limit, when the key is there
  // already, or when memory is short.
  void Insert(const CacheKey& key, const nrd_request& request) override;
  void EraseModel(std::string_view model, std::string_view version) override;
  void ReadStats(nrd_cache_stats* stats_out) const override;

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

#endif  // NEREID_CORE_CACHE_RESPONSE_CACHE_H_
