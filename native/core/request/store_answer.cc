#include "core/request/store_answer.h"

#include <exception>

namespace nereid {

void StoreAnswer(AnswerCache& cache, ModelStats& stats, const Request& request) noexcept {
  const int64_t insert_ns = MonotonicNowNs();
  if (request.record.status == NRD_OK) {
    try {
      cache.Insert(request.cache_key, request.record);
    } catch (const std::exception&) {  // without memory, the answer is just not kept
    }
  }
  stats.RecordCacheMiss(request.cache_lookup_ns + ElapsedNs(insert_ns, MonotonicNowNs()));
}

}  // namespace nereid
