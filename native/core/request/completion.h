#ifndef NEREID_CORE_REQUEST_COMPLETION_H_
#define NEREID_CORE_REQUEST_COMPLETION_H_

#include <cstddef>
#include <cstdint>

#include "base/mutex.h"
#include "core/request/request.h"

namespace nereid {

// Brings the answers of queued requests to the threads and callbacks that wait for them. One per
// runtime. With a callback, one call reports many requests; without one, nrd_request_wait sleeps on
// a condition variable that all requests share. Any thread may call it.
class Completion {
 public:
  Completion(nrd_complete_fn callback, void* context) : callback_(callback), context_(context) {}
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // Hands the records back to their owners, or calls their continuations: no record may be touched
  // after this. Called without locks. Allocates nothing and cannot fail. Returns the number of
  // requests.
  size_t Deliver(RequestList requests);

  // True if this thread is inside a completion callback or a continuation.
  static bool InCallback();

  // False when the request was not done at `deadline_ns` (kNever: waits without end).
  bool Wait(const Request& request, int64_t deadline_ns);

 private:
  void CallBack(RequestList requests);

  const nrd_complete_fn callback_;
  void* const context_;
  // Guards no field: held while a request's state changes to one that threads may wait for.
  Mutex mutex_;
  Condition done_;
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_COMPLETION_H_
