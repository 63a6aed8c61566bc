// The interface of response caches: in the core's own memory, or outside of it.
#ifndef NEREID_CORE_REQUEST_ANSWER_CACHE_H_
#define NEREID_CORE_REQUEST_ANSWER_CACHE_H_

#include <cstdint>
#include <string_view>

#include "nereid/nereid.h"

namespace nereid {

class BufferPool;
class PoolAccount;

// Identifies a request with all that its answer depends on.
struct CacheKey {
  uint64_t hi;
  uint64_t lo;
  uint64_t model;  // in the core's own cache: the hash of model and version alone, for EraseModel

  bool operator==(const CacheKey&) const = default;
};

// A cache of responses. Any thread may call it, without a lock, because it may take long.
class AnswerCache {
 public:
  virtual ~AnswerCache() = default;

  // True if answers are still found after their model was loaded anew: only the version
  // distinguishes loads then.
  [[nodiscard]] virtual bool outlives_models() const = 0;

  // Covers model, version, the wanted outputs (none selected means all), the given inputs with
  // datatypes, shapes and data, and the request's values.
  [[nodiscard]] virtual CacheKey KeyOf(std::string_view model, std::string_view version,
                                       const nrd_request& request) const = 0;

  // On a hit fills data, slab, byte_size, datatype, rank and shape of the request's outputs (absent
  // ones: NULL data and slab; flags stay) with one buffer of `pool` that they share, and returns
  // true. Otherwise, also when the pool is exhausted, the request is unchanged and counts as a
  // miss. The outputs must hold no buffers.
  virtual bool Lookup(const CacheKey& key, BufferPool& pool, nrd_request* request,
                      PoolAccount* account) = 0;

  // Copies the outputs, if that is possible.
  virtual void Insert(const CacheKey& key, const nrd_request& request) = 0;

  // Removes the answers of a model version that is unloaded, because the next load may answer
  // differently. Its requests must have been answered, or a late one could insert again.
  virtual void EraseModel(std::string_view model, std::string_view version) = 0;

  virtual void ReadStats(nrd_cache_stats* stats_out) const = 0;
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_ANSWER_CACHE_H_
