#ifndef NEREID_ISOLATION_ANSWER_TAKER_H_
#define NEREID_ISOLATION_ANSWER_TAKER_H_

#include "base/status.h"
#include "isolation/ring.h"
#include "isolation/shared_channel.h"
#include "nereid/nereid.h"

namespace nereid {

// Passes a child's answers to the core. Used by the thread of an execution, with records that
// AnswerCheck let through. It copies content from the child's memory before using it; the core
// checks datatypes and shapes, as for each backend.
class AnswerTaker {
 public:
  AnswerTaker() { error_.struct_size = sizeof(error_); }

  // Takes any record but kEnd. A returned failure fails the whole batch; a request's own only that
  // request.
  Status Take(const Record& record, const SharedChannel& channel, nrd_batch* batch);

 private:
  Status TakeOutput(const Record& record, const SharedChannel& channel, nrd_batch* batch);
  void TakeOfRequest(const Record& record, const SharedChannel& channel, nrd_batch* batch);
  int32_t TakeValue(const Record& record, const SharedChannel& channel, nrd_batch* batch);

  nrd_error error_{};
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_ANSWER_TAKER_H_
