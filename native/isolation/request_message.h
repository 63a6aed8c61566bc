// A request of a batch on its way into a child, and the values that come back with its responses.
#ifndef NEREID_ISOLATION_REQUEST_MESSAGE_H_
#define NEREID_ISOLATION_REQUEST_MESSAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "isolation/message.h"
#include "nereid/nereid.h"

namespace nereid {

void WriteValue(const nrd_value& value, MessageWriter* writer);
// The texts lie in what the reader reads.
nrd_value ReadValue(MessageReader* reader);

// Writes all that a backend may look at but the tensors. Nobody records what a child does, so the
// request does not say that somebody wants to.
void WriteRequest(const nrd_request& request, MessageWriter* writer);

// False: the body is incomplete. Texts of the record lie in the body; `values` has its values.
bool ReadRequest(std::string_view body, nrd_request* record, std::vector<nrd_value>* values);

}  // namespace nereid

#endif  // NEREID_ISOLATION_REQUEST_MESSAGE_H_
