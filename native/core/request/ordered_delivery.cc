#include "core/request/ordered_delivery.h"

namespace nereid {

size_t OrderedDelivery::Finish(uint64_t ticket, RequestList requests) {
  for (Request* request = requests.head; request != nullptr; request = request->next) {
    request->ticket = ticket;
  }
  const MutexLock lock(mutex_);
  // Searches from the end: a batch that finishes now seldom precedes the finished ones.
  Request* place = finished_.tail;
  while (place != nullptr && place->ticket > ticket) {
    place = place->previous;
  }
  finished_.InsertAfter(place, requests);
  if (delivering_) {
    return 0;
  }
  delivering_ = true;
  size_t delivered = 0;
  for (RequestList next = TakeNext(); !next.empty(); next = TakeNext()) {
    const MutexUnlock unlock(mutex_);
    delivered += completion_.Deliver(next);
  }
  delivering_ = false;
  return delivered;
}

RequestList OrderedDelivery::TakeNext() {
  RequestList next;
  while (!finished_.empty() && finished_.head->ticket == next_delivery_) {
    next.Append(finished_.TakeFirst());
    if (finished_.empty() || finished_.head->ticket != next.tail->ticket) {
      ++next_delivery_;
    }
  }
  return next;
}

}  // namespace nereid
