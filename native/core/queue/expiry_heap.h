// Finds the waiting request that expires next.
#ifndef NEREID_CORE_QUEUE_EXPIRY_HEAP_H_
#define NEREID_CORE_QUEUE_EXPIRY_HEAP_H_

#include <cstddef>
#include <vector>

#include "core/request/request.h"

namespace nereid {

// A binary heap by Request::NextExpiryNs, a part of the queue and guarded with it. It does not own
// the requests, which know their place in the heap, so that any can be taken out. Without a heap, a
// full queue would be walked for each request that expires: most work when there is least time.
class ExpiryHeap {
 public:
  explicit ExpiryHeap(size_t expected_size) { entries_.reserve(expected_size); }

  // Until there are more than `count` requests, Add does not throw.
  void Reserve(size_t count) { entries_.reserve(count); }
  // Ignores a request that never expires. Changes nothing if it throws.
  void Add(Request* request);
  // Does nothing for a request that is not in the heap.
  void Remove(Request* request);

  // Null when no request expires.
  [[nodiscard]] Request* First() const {
    return entries_.empty() ? nullptr : entries_.front().request;
  }

 private:
  struct Entry {
    int64_t expiry_ns;  // a copy: comparing touches no request
    Request* request;
  };

  void Place(size_t index, const Entry& entry);
  void SiftUp(size_t index, const Entry& entry);
  void SiftDown(size_t index, const Entry& entry);

  std::vector<Entry> entries_;
};

}  // namespace nereid

#endif  // NEREID_CORE_QUEUE_EXPIRY_HEAP_H_
