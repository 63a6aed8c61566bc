#ifndef NEREID_CORE_QUEUE_REQUEST_QUEUE_H_
#define NEREID_CORE_QUEUE_REQUEST_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "core/config/model_config.h"
#include "core/queue/expiry_heap.h"
#include "core/request/request.h"

namespace nereid {

// Keeps the requests that wait, with priority levels, limits and timeouts. Not synchronised: the
// dispatcher's mutex guards it. Requests are linked into it and not owned.
//
// The queue serves level by level; within a level in order of arrival, then those whose timeout
// passed under the DELAY action. A request waits in exactly one list through its own links, so that
// taking one out of the middle costs nothing.
class RequestQueue {
 public:
  // One policy for each level, the most urgent first. `default_level` is an index. `by_due`: within
  // a level, requests are ordered by due time, and none waits beyond it.
  RequestQueue(std::vector<QueuePolicy> policies, uint32_t default_level, bool by_due = false);

  // Fails when the level is full; throws when it is out of memory, with nothing changed. Sets
  // level, enqueue time and expiries of the request.
  Status Push(Request* request, int64_t now_ns);

  void Remove(Request* request);

  // Takes out every request whose time is up and that its policy rejects, appending it to
  // `expired`, the earliest first; moves those that the policy delays behind the others of their
  // level.
  void TakeExpired(int64_t now_ns, RequestList* expired);

  // When the next request expires; kNever: none does.
  [[nodiscard]] int64_t next_expiry_ns() const {
    const Request* const first = expiries_.First();
    return first == nullptr ? kNever : first->NextExpiryNs();
  }

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] int64_t rows() const { return rows_; }

  // The rows that come before a request that is pushed now, if requests are ordered by when due.
  [[nodiscard]] int64_t RowsBefore(const Request& request) const;

  // Walks the requests in the order of service: First, then After until null.
  [[nodiscard]] Request* First() const;
  [[nodiscard]] Request* After(const Request* request) const;

 private:
  struct Level {
    QueuePolicy policy;
    size_t size = 0;
    int64_t rows = 0;
    RequestList in_time;
    RequestList delayed;
  };

  [[nodiscard]] Request* FirstFrom(size_t level) const;
  [[nodiscard]] uint32_t LevelOf(const Request& request) const;

  std::vector<Level> levels_;
  uint32_t default_level_;
  const bool by_due_;
  size_t size_ = 0;
  int64_t rows_ = 0;
  ExpiryHeap expiries_;
};

// Sets when a request's time in the queue is up, which begins at its enqueue time.
void SetExpiries(const QueuePolicy& policy, Request& request);

// The error for a request that comes when no more may wait.
Status QueueFull(const QueuePolicy& policy);

// Tells a request that its time in the queue is up.
void SetExpired(Request& request, int64_t now_ns);

}  // namespace nereid

#endif  // NEREID_CORE_QUEUE_REQUEST_QUEUE_H_
