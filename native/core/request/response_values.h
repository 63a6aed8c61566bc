// The values of responses, in the records of their requests.
#ifndef NEREID_CORE_REQUEST_RESPONSE_VALUES_H_
#define NEREID_CORE_REQUEST_RESPONSE_VALUES_H_

#include <memory>

#include "base/response_values.h"
#include "core/request/request.h"
#include "nereid/nereid.h"

namespace nereid {

// Adds a value to the record's next response. The memory is allocated at a record's first value and
// kept; most have none.
void AddResponseValue(Request& request, const nrd_value& value);
void DropResponseValues(Request& request);
inline void ClearResponseValues(Request& request) {
  if (request.record.response_value_count > 0) [[unlikely]] {
    DropResponseValues(request);
  }
}
// Moves the values from one record to another, which loses its own. Null: there are none.
std::unique_ptr<ResponseValues> TakeResponseValues(Request& request);
void GiveResponseValues(std::unique_ptr<ResponseValues> values, Request& request);

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_RESPONSE_VALUES_H_
