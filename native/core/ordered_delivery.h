// Answers in the order in which requests were taken from the queue, over all instances of a model.
#ifndef NEREID_CORE_ORDERED_DELIVERY_H_
#define NEREID_CORE_ORDERED_DELIVERY_H_

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/completion.h"

namespace nereid {

class OrderedDelivery {
 public:
  explicit OrderedDelivery(Completion& completion) : completion_(completion) {}
  OrderedDelivery(const OrderedDelivery&) = delete;
  OrderedDelivery& operator=(const OrderedDelivery&) = delete;

  // A place in the order. Every ticket must be finished once, with at least one request.
  uint64_t TakeTicket();

  // Delivers `requests` as soon as all earlier tickets are finished, here or on the thread that
  // finishes them, and whatever became deliverable by it. Returns how many requests were delivered
  // by this call.
  size_t Finish(uint64_t ticket, RequestList requests);

 private:
  // Everything that is finished and whose turn it is; with the lock held.
  RequestList TakeNext();

  Completion& completion_;
  std::mutex mutex_;
  uint64_t next_ticket_ = 0;
  uint64_t next_delivery_ = 0;
  bool delivering_ = false;  // one thread at a time calls out, or two answers could swap
  RequestList finished_;     // by ticket
};

}  // namespace nereid

#endif  // NEREID_CORE_ORDERED_DELIVERY_H_
