#include "core/queue/expiry_heap.h"

namespace nereid {

void ExpiryHeap::Place(size_t index, const Entry& entry) {
  entries_[index] = entry;
  entry.request->heap_place = index + 1;
}

void ExpiryHeap::SiftUp(size_t index, const Entry& entry) {
  while (index > 0) {
    const size_t parent = (index - 1) / 2;
    if (entries_[parent].expiry_ns <= entry.expiry_ns) {
      break;
    }
    Place(index, entries_[parent]);
    index = parent;
  }
  Place(index, entry);
}

void ExpiryHeap::SiftDown(size_t index, const Entry& entry) {
  for (size_t child = 2 * index + 1; child < entries_.size(); child = 2 * index + 1) {
    if (child + 1 < entries_.size() && entries_[child + 1].expiry_ns < entries_[child].expiry_ns) {
      ++child;
    }
    if (entries_[child].expiry_ns >= entry.expiry_ns) {
      break;
    }
    Place(index, entries_[child]);
    index = child;
  }
  Place(index, entry);
}

void ExpiryHeap::Add(Request* request) {
  request->heap_place = 0;
  const Entry entry{request->NextExpiryNs(), request};
  if (entry.expiry_ns != kNever) {
    entries_.push_back(entry);
    SiftUp(entries_.size() - 1, entry);
  }
}

void ExpiryHeap::Remove(Request* request) {
  if (request->heap_place == 0) {
    return;
  }
  const size_t index = request->heap_place - 1;
  request->heap_place = 0;
  const Entry last = entries_.back();
  entries_.pop_back();
  if (index == entries_.size()) {
    return;
  }
  if (index > 0 && entries_[(index - 1) / 2].expiry_ns > last.expiry_ns) {
    SiftUp(index, last);
  } else {
    SiftDown(index, last);
  }
}

}  // namespace nereid
