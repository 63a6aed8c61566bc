// The values of responses, in the records of their requests.
#ifndef NEREID_CORE_REQUEST_RESPONSE_VALUES_H_
#define NEREID_CORE_REQUEST_RESPONSE_VALUES_H_

#include <memory>

#include "base/response_values.h"
#include "core/request/request.h"
#include "nereid/nereid.h"

namespace nereid {

// A record has such values from its first one on, and keeps their memory; most never have any.
void AddResponseValue(Request& request, const nrd_value& value);
void DropResponseValues(Request& request);
inline void ClearResponseValues(Request& request) {
  if (request.record.response_value_count > 0) [[unlikely]] {
    DropResponseValues(request);
  }
}
// Passes them on from one record to another, which loses its own. Null: there are none.
std::unique_ptr<ResponseValues> TakeResponseValues(Request& request);
void GiveResponseValues(std::unique_ptr<ResponseValues> values, Request& request);

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_RESPONSE_VALUES_H_
