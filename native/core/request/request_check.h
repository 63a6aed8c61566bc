// Checks that a request fits its model; the messages tell the expected and the given values.
#ifndef NEREID_CORE_REQUEST_REQUEST_CHECK_H_
#define NEREID_CORE_REQUEST_REQUEST_CHECK_H_

#include "base/status.h"
#include "core/config/model_config.h"
#include "core/request/request.h"

namespace nereid {

// Checks inputs against the configuration and sets request.rows.
Status CheckRequest(const ModelConfig& config, Request& request);

// True if `dims` allow `shape`, with `rows` as first dimension if the model has a batch dimension.
bool ShapeFits(const std::vector<int64_t>& dims, bool batched, int64_t rows, uint32_t rank,
               const int64_t* shape);

// `dims` with the batch dimension in front, as in "[-1,16]".
std::string ExpectedShape(const std::vector<int64_t>& dims, bool batched);

// True if two requests give the same inputs in the same shapes, rows and ragged inputs aside.
bool SameShapes(const ModelConfig& config, const Request& a, const Request& b);

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_REQUEST_CHECK_H_
