// Stores answers that the response cache did not have, for all runners.
#ifndef NEREID_CORE_REQUEST_STORE_ANSWER_H_
#define NEREID_CORE_REQUEST_STORE_ANSWER_H_

#include "core/request/answer_cache.h"
#include "core/request/request.h"
#include "core/request/stats.h"

namespace nereid {

// Called for a `cacheable` request before its answer is delivered: stores the answer if it is
// NRD_OK and memory allows, and counts the miss.
void StoreAnswer(AnswerCache& cache, ModelStats& stats, const Request& request) noexcept;

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_STORE_ANSWER_H_
