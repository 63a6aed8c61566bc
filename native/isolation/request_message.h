// Messages with a request of a batch for a child, and with the values of its responses.
#ifndef NEREID_ISOLATION_REQUEST_MESSAGE_H_
#define NEREID_ISOLATION_REQUEST_MESSAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "isolation/message.h"
#include "nereid/nereid.h"

namespace nereid {

void WriteValue(const nrd_value& value, MessageWriter* writer);
// Reads a value, whose texts point into the reader's message.
nrd_value ReadValue(MessageReader* reader);

// Writes the parts of a request that a backend may read, except tensors. A child's activities are
// not traced, so the flag for tracing is left out.
void WriteRequest(const nrd_request& request, MessageWriter* writer);

// False: the body is incomplete. Texts of the record point into the body; `values` gets its values.
bool ReadRequest(std::string_view body, nrd_request* record, std::vector<nrd_value>* values);

}  // namespace nereid

#endif  // NEREID_ISOLATION_REQUEST_MESSAGE_H_
