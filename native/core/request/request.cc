#include "core/request/request.h"

#include "base/status.h"
#include "memory/buffer_pool.h"

namespace nereid {

void RequestList::Append(Request* request) {
  request->previous = tail;
  request->next = nullptr;
  (tail == nullptr ? head : tail->next) = request;
  tail = request;
}

void RequestList::Remove(Request* request) {
  (request->previous == nullptr ? head : request->previous->next) = request->next;
  (request->next == nullptr ? tail : request->next->previous) = request->previous;
  request->previous = nullptr;
  request->next = nullptr;
}

Request* RequestList::TakeFirst() {
  Request* const first = head;
  if (first != nullptr) {
    Remove(first);
  }
  return first;
}

void RequestList::InsertAfter(Request* place, RequestList more) {
  if (more.empty()) {
    return;
  }
  Request* const following = place == nullptr ? head : place->next;
  more.head->previous = place;
  more.tail->next = following;
  (place == nullptr ? head : place->next) = more.head;
  (following == nullptr ? tail : following->previous) = more.tail;
}

void DropTensors(nrd_tensor* tensors, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (tensors[i].slab != nullptr) {
      BufferPool::Release(tensors[i].slab);
      tensors[i].slab = nullptr;
    }
    tensors[i].data = nullptr;
  }
}

void SetFailure(Request& request, int32_t code, std::string_view message) {
  request.record.status = code;
  WriteError(&request.error, code, message);
}

}  // namespace nereid
