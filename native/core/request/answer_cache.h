// Keeps answers under what was asked: in the core's own memory, or by somebody else.
#ifndef NEREID_CORE_REQUEST_ANSWER_CACHE_H_
#define NEREID_CORE_REQUEST_ANSWER_CACHE_H_

#include <cstdint>
#include <string_view>

#include "nereid/nereid.h"

namespace nereid {

class BufferPool;
class PoolAccount;

// Stands for all that was asked.
struct CacheKey {
  uint64_t hi;
  uint64_t lo;
  uint64_t model;  // in the core's own cache: of the model and version alone, for EraseModel

  bool operator==(const CacheKey&) const = default;
};

// Any thread may call it, without a lock, because it may take long.
class AnswerCache {
 public:
  virtual ~AnswerCache() = default;

  // True if answers are found again after their model was loaded anew: then nothing but the version
  // tells two loads apart.
  [[nodiscard]] virtual bool outlives_models() const = 0;

  // Covers model, version, which outputs are wanted (none selected means all), which inputs are
  // given, their datatypes, shapes and data, and the values that came with the request.
  [[nodiscard]] virtual CacheKey KeyOf(std::string_view model, std::string_view version,
                                       const nrd_request& request) const = 0;

  // On a hit fills data, slab, byte_size, datatype, rank and shape of the request's outputs (absent
  // ones: NULL data and slab; flags stay) with one buffer of `pool` that they share, and returns
  // true. Otherwise, also when the pool is exhausted, the request is left alone and it counts as a
  // miss. The outputs must hold no buffers.
  virtual bool Lookup(const CacheKey& key, BufferPool& pool, nrd_request* request,
                      PoolAccount* account) = 0;

  // Copies the outputs, where that is possible.
  virtual void Insert(const CacheKey& key, const nrd_request& request) = 0;

  // For a model version that goes away: what is loaded under its name next may answer differently.
  // Its requests must have been answered, or a late one could insert again.
  virtual void EraseModel(std::string_view model, std::string_view version) = 0;

  virtual void ReadStats(nrd_cache_stats* stats_out) const = 0;
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_ANSWER_CACHE_H_
