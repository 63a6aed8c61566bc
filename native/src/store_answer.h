// What every runner does with an answer that the response cache did not have.
#ifndef NEREID_STORE_ANSWER_H_
#define NEREID_STORE_ANSWER_H_

#include "request.h"
#include "response_cache.h"
#include "stats.h"

namespace nereid {

// For a request with `cacheable`, before its answer is delivered: stores it when it is NRD_OK and
// memory allows, and counts the miss.
void StoreAnswer(ResponseCache& cache, ModelStats& stats, const Request& request) noexcept;

}  // namespace nereid

#endif  // NEREID_STORE_ANSWER_H_
