#include "request_queue.h"

#include <algorithm>
#include <utility>

namespace nereid {

RequestQueue::RequestQueue(std::vector<QueuePolicy> policies, uint32_t default_level)
    : default_level_(default_level) {
  levels_.resize(policies.size());
  for (size_t i = 0; i < policies.size(); ++i) {
    levels_[i].policy = policies[i];
  }
}

void RequestQueue::Append(List& list, Request* request) {
  request->previous = list.tail;
  request->next = nullptr;
  (list.tail == nullptr ? list.head : list.tail->next) = request;
  list.tail = request;
}

void RequestQueue::Unlink(List& list, Request* request) {
  (request->previous == nullptr ? list.head : request->previous->next) = request->next;
  (request->next == nullptr ? list.tail : request->next->previous) = request->previous;
  request->previous = nullptr;
  request->next = nullptr;
}

// A request's own timeout can shorten the model's, never lengthen it. Where the model lets requests
// take part in its policy, the policy's action follows; where it does not, the client's limit still
// binds and ends in an error.
void RequestQueue::SetExpiries(const QueuePolicy& policy, Request& request) const {
  const int64_t now_ns = request.enqueue_ns;
  uint64_t policy_timeout_ns = policy.default_timeout_ns;
  request.hard_expiry_ns = request.record.deadline_ns > 0 ? request.record.deadline_ns : kNever;
  if (const uint64_t own_ns = request.record.timeout_ns; own_ns > 0) {
    if (!policy.allow_timeout_override) {
      request.hard_expiry_ns = std::min(request.hard_expiry_ns, AddDelay(now_ns, own_ns));
    } else if (policy_timeout_ns == 0 || own_ns < policy_timeout_ns) {
      policy_timeout_ns = own_ns;
    }
  }
  request.policy_expiry_ns = policy_timeout_ns > 0 ? AddDelay(now_ns, policy_timeout_ns) : kNever;
  request.delay_on_expiry = policy.delay_on_timeout;
}

Status RequestQueue::Push(Request* request, int64_t now_ns) {
  const uint32_t priority = request->record.priority;
  const bool given = priority >= 1 && priority <= levels_.size();
  request->level = given ? priority - 1 : default_level_;
  Level& level = levels_[request->level];
  if (level.size >= level.policy.max_queue_size) {
    return Status::Unavailable("Exceeds maximum queue size (" +
                               std::to_string(level.policy.max_queue_size) + " requests wait)");
  }
  request->enqueue_ns = now_ns;
  request->delayed = false;
  SetExpiries(level.policy, *request);
  Append(level.in_time, request);
  ++level.size;
  ++size_;
  rows_ += request->rows;
  next_expiry_ns_ = std::min(next_expiry_ns_, request->NextExpiryNs());
  return Status();
}

void RequestQueue::Remove(Request* request) {
  Level& level = levels_[request->level];
  Unlink(request->delayed ? level.delayed : level.in_time, request);
  --level.size;
  --size_;
  rows_ -= request->rows;
  if (size_ == 0) {
    next_expiry_ns_ = kNever;
  }
}

void RequestQueue::TakeExpired(int64_t now_ns, std::vector<Request*>* expired) {
  if (now_ns < next_expiry_ns_) {
    return;
  }
  int64_t next_expiry_ns = kNever;
  for (Request* request = First(); request != nullptr;) {
    Request* const following = After(request);
    if (request->hard_expiry_ns <= now_ns ||
        (request->policy_expiry_ns <= now_ns && !request->delay_on_expiry)) {
      Remove(request);
      expired->push_back(request);
    } else {
      if (request->policy_expiry_ns <= now_ns) {
        request->policy_expiry_ns = kNever;
        Level& level = levels_[request->level];
        Unlink(level.in_time, request);
        request->delayed = true;
        Append(level.delayed, request);
      }
      next_expiry_ns = std::min(next_expiry_ns, request->NextExpiryNs());
    }
    request = following;
  }
  next_expiry_ns_ = next_expiry_ns;
}

Request* RequestQueue::FirstFrom(size_t level) const {
  for (; level < levels_.size(); ++level) {
    if (levels_[level].in_time.head != nullptr) {
      return levels_[level].in_time.head;
    }
    if (levels_[level].delayed.head != nullptr) {
      return levels_[level].delayed.head;
    }
  }
  return nullptr;
}

Request* RequestQueue::First() const { return FirstFrom(0); }

Request* RequestQueue::After(const Request* request) const {
  if (request->next != nullptr) {
    return request->next;
  }
  if (!request->delayed && levels_[request->level].delayed.head != nullptr) {
    return levels_[request->level].delayed.head;
  }
  return FirstFrom(request->level + 1);
}

Status ExpiryStatus(const Request& request, int64_t now_ns) {
  if (request.record.deadline_ns > 0 && request.record.deadline_ns <= now_ns) {
    return Status(NRD_DEADLINE_EXCEEDED, "Request deadline expired while it waited in the queue");
  }
  return Status::Unavailable("Request timeout expired");
}

}  // namespace nereid
