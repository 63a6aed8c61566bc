#ifndef NEREID_CORE_REQUEST_ORDERED_DELIVERY_H_
#define NEREID_CORE_REQUEST_ORDERED_DELIVERY_H_

#include <cstddef>
#include <cstdint>

#include "base/mutex.h"
#include "core/request/completion.h"

namespace nereid {

// Delivers the answers of a model in the order in which its requests were taken from the queue,
// over all instances. Called by the threads of the instances, each with the batch that it has
// executed. Batches are numbered from 0 on, in the order of the queue.
class OrderedDelivery {
 public:
  explicit OrderedDelivery(Completion& completion) : completion_(completion) {}
  OrderedDelivery(const OrderedDelivery&) = delete;
  OrderedDelivery& operator=(const OrderedDelivery&) = delete;

  // Delivers `requests` as soon as all batches with earlier tickets are finished, on this thread or
  // on that which finishes them, together with all that became deliverable by it. Every ticket must
  // be finished once, with at least one request. Returns how many it delivered.
  size_t Finish(uint64_t ticket, RequestList requests) NRD_EXCLUDES(mutex_);

 private:
  // Takes all finished requests whose turn has come.
  RequestList TakeNext() NRD_REQUIRES(mutex_);

  Completion& completion_;
  Mutex mutex_;
  uint64_t next_delivery_ NRD_GUARDED_BY(mutex_) = 0;  // the ticket whose turn it is
  // One thread at a time delivers, or two answers could swap.
  bool delivering_ NRD_GUARDED_BY(mutex_) = false;
  RequestList finished_ NRD_GUARDED_BY(mutex_);  // by ticket
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_ORDERED_DELIVERY_H_
