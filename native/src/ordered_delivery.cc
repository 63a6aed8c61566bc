#include "ordered_delivery.h"

#include <utility>

namespace nereid {

uint64_t OrderedDelivery::TakeTicket() {
  const std::lock_guard lock(mutex_);
  return next_ticket_++;
}

size_t OrderedDelivery::Finish(uint64_t ticket, std::span<Request* const> requests) {
  std::unique_lock lock(mutex_);
  finished_.emplace(ticket, std::vector<Request*>(requests.begin(), requests.end()));
  if (delivering_) {
    return 0;
  }
  delivering_ = true;
  size_t delivered = 0;
  std::vector<uint64_t> tags;
  while (!finished_.empty() && finished_.begin()->first == next_delivery_) {
    const std::vector<Request*> batch = std::move(finished_.begin()->second);
    finished_.erase(finished_.begin());
    lock.unlock();
    completion_.Deliver(batch, tags);
    delivered += batch.size();
    lock.lock();
    ++next_delivery_;
  }
  delivering_ = false;
  return delivered;
}

}  // namespace nereid
