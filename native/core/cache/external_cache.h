// A response cache outside of the core: see nrd_runtime_use_cache.
#ifndef NEREID_CORE_CACHE_EXTERNAL_CACHE_H_
#define NEREID_CORE_CACHE_EXTERNAL_CACHE_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/request/answer_cache.h"
#include "memory/buffer_pool.h"
#include "nereid/nereid.h"

namespace nereid {

// An entry is one block of bytes: a head (format, key, and a hash of the rest), then for each
// output of the model its name, datatype, shape and size, then the data of all. No byte that comes
// back is trusted: an entry that is not whole, or of another model, is a miss.
//
// Keys are the same in all processes, so they come from SHA-256: with a weaker hash without secret,
// a client could search for two requests with the same key.
class ExternalCache final : public AnswerCache {
 public:
  // `cache` outlives this.
  explicit ExternalCache(const nrd_cache& cache) : cache_(cache) {}

  [[nodiscard]] bool outlives_models() const override { return true; }
  [[nodiscard]] CacheKey KeyOf(std::string_view model, std::string_view version,
                               const nrd_request& request) const override;
  // The request is a record of a model, as in Insert.
  bool Lookup(const CacheKey& key, BufferPool& pool, nrd_request* request,
              PoolAccount* account) override;
  void Insert(const CacheKey& key, const nrd_request& request) override;
  void EraseModel(std::string_view /*model*/, std::string_view /*version*/) override {}
  void ReadStats(nrd_cache_stats* stats_out) const override;

 private:
  const nrd_cache cache_;
  std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> misses_{0};
};

}  // namespace nereid

#endif  // NEREID_CORE_CACHE_EXTERNAL_CACHE_H_
