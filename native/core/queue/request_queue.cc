#include "core/queue/request_queue.h"

#include <algorithm>
#include <utility>

namespace nereid {

RequestQueue::RequestQueue(std::vector<QueuePolicy> policies, uint32_t default_level, bool by_due)
    : default_level_(default_level), by_due_(by_due), expiries_(NRD_DEFAULT_MAX_QUEUE_SIZE) {
  levels_.resize(policies.size());
  for (size_t i = 0; i < policies.size(); ++i) {
    levels_[i].policy = policies[i];
  }
}

Status RequestQueue::Push(Request* request, int64_t now_ns) {
  request->level = LevelOf(*request);
  Level& level = levels_[request->level];
  if (level.size >= level.policy.max_queue_size) {
    return QueueFull(level.policy);
  }
  request->enqueue_ns = now_ns;
  request->delayed = false;
  SetExpiries(level.policy, *request);
  if (by_due_) [[unlikely]] {
    request->policy_expiry_ns = std::min(request->policy_expiry_ns, request->latest_ns);
    expiries_.Add(request);
    Request* place = level.in_time.tail;
    while (place != nullptr && place->due_ns > request->due_ns) {
      place = place->previous;
    }
    level.in_time.InsertAfter(place, {.head = request, .tail = request});
  } else {
    expiries_.Add(request);
    level.in_time.Append(request);
  }
  ++level.size;
  ++size_;
  level.rows += request->rows;
  rows_ += request->rows;
  return Status();
}

uint32_t RequestQueue::LevelOf(const Request& request) const {
  const uint32_t priority = request.record.priority;
  const bool given = priority >= 1 && priority <= levels_.size();
  return given ? priority - 1 : default_level_;
}

int64_t RequestQueue::RowsBefore(const Request& request) const {
  const uint32_t own = LevelOf(request);
  int64_t rows = 0;
  for (uint32_t level = 0; level <= own; ++level) {
    rows += levels_[level].rows;
  }
  for (const Request* later = levels_[own].in_time.tail;
       later != nullptr && later->due_ns > request.due_ns; later = later->previous) {
    rows -= later->rows;
  }
  return rows;
}

void RequestQueue::Remove(Request* request) {
  Level& level = levels_[request->level];
  (request->delayed ? level.delayed : level.in_time).Remove(request);
  --level.size;
  --size_;
  level.rows -= request->rows;
  rows_ -= request->rows;
  expiries_.Remove(request);
}

void RequestQueue::TakeExpired(int64_t now_ns, RequestList* expired) {
  for (Request* request = expiries_.First();
       request != nullptr && request->NextExpiryNs() <= now_ns; request = expiries_.First()) {
    if (request->hard_expiry_ns <= now_ns || !request->delay_on_expiry) {
      Remove(request);
      expired->Append(request);
      continue;
    }
    expiries_.Remove(request);
    request->policy_expiry_ns = kNever;
    expiries_.Add(request);  // never throws: its room has just become free
    Level& level = levels_[request->level];
    level.in_time.Remove(request);
    request->delayed = true;
    level.delayed.Append(request);
  }
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

// A request's own timeout can shorten the model's, never lengthen it. The policy's action applies
// if the model lets requests override timeouts; otherwise the timeout ends in an error.
void SetExpiries(const QueuePolicy& policy, Request& request) {
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

Status QueueFull(const QueuePolicy& policy) {
  return Status::Unavailable("Exceeds maximum queue size (" +
                             std::to_string(policy.max_queue_size) + " requests wait)");
}

void SetExpired(Request& request, int64_t now_ns) {
  if (request.record.deadline_ns > 0 && request.record.deadline_ns <= now_ns) {
    SetFailure(request, NRD_DEADLINE_EXCEEDED,
               "Request deadline expired while it waited in the queue");
  } else {
    SetFailure(request, NRD_UNAVAILABLE, "Request timeout expired");
  }
}

}  // namespace nereid
