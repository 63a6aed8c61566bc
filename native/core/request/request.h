// A request record: the public part that the caller fills, followed by the core's own part.
#ifndef NEREID_CORE_REQUEST_REQUEST_H_
#define NEREID_CORE_REQUEST_REQUEST_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "base/clock.h"
#include "core/request/answer_cache.h"
#include "nereid/nereid.h"

namespace nereid {

class Model;
struct ModelConfig;
class ResponseValues;
struct Sequence;

enum class RequestState : uint32_t { kIdle, kQueued, kExecuting, kDone };

// Gets, in order, the responses of a decoupled request except the one that completes it, for
// requests that the core itself made as steps of an ensemble.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;

  // Called before each response on the backend's thread: blocks while there are too many responses.
  // False: no more are wanted.
  virtual bool AwaitRoom() = 0;
  // True if AwaitRoom would not block because of the core: for a thread that drives all backends.
  [[nodiscard]] virtual bool HasRoom() = 0;

  // Takes buffers over by clearing their slabs; the caller drops the others. Does not block.
  // `values`: the response's values; null: none.
  virtual void Respond(nrd_tensor* outputs, uint32_t count,
                       std::unique_ptr<ResponseValues> values) = 0;
};

// `record` comes first, so that the caller's nrd_request* and the core's Request* are one address.
// The tensors follow in the same allocation. Fields behind `record` belong to the core; those of
// the queue are guarded by the dispatcher's mutex while the state is kQueued. The model allocates
// the record, aligned, so that the tensors begin on a cache line, and keeps it for its next use.
struct alignas(64) Request {
  nrd_request record;
  Model* model;
  const ModelConfig* config;  // of the model
  std::atomic<RequestState> state;
  std::atomic<bool> cancelled;

  int64_t submit_ns;
  int64_t enqueue_ns;
  int64_t rows;  // first dimension of the inputs; 1 if the model has no batch dimension

  // Links of the one list that contains the request: a queue's, an ensemble's, requests to be
  // answered, or unused records.
  Request* previous;
  Request* next;

  // For a request that the core itself made, as a step of an ensemble, or one with a receiver:
  // called with its answer in place of the runtime's completion callback, and under the same rules.
  // NULL: the runtime's.
  void (*continuation)(Request& request);
  void* continuation_context;
  // Takes the responses of an ensemble's step in place of the runtime's callback; NULL: none.
  ResponseSink* sink;
  // The caller's receiver; NULL: the runtime's callbacks get the answers.
  const nrd_receiver* receiver;

  // Queue.
  uint32_t level;            // index of its priority level, 0 is the most urgent
  bool delayed;              // the timeout has passed and the policy is to serve the request last
  int64_t policy_expiry_ns;  // then the model's policy applies; kNever: none
  int64_t hard_expiry_ns;    // the client's own limit: answered with an error; kNever: none
  bool delay_on_expiry;
  // With an objective: the due time, the latest begin (kNever: irrelevant), the predicted time of
  // the answer if refused, and the size of a row.
  int64_t due_ns;
  int64_t latest_ns;
  int64_t predicted_ns;
  uint64_t row_elements;
  size_t heap_place;  // place in the heap of expiries, counted from 1; 0: not in it
  uint64_t ticket;    // place in the order of answers, with preserve_ordering

  // For sequences: the sequence in which the request waits or executes, whether the sequence begins
  // with it, and whether the backend wants it again.
  Sequence* sequence;
  bool starts;
  bool rescheduled;

  // Response cache.
  bool cacheable;
  CacheKey cache_key;
  uint64_t cache_lookup_ns;

  // Values that come with the response; NULL: this record never had any. Freed with the record.
  ResponseValues* response_values;

  // Data that the model's runner keeps with the record between its uses; freed with it.
  void* runner_state;

  nrd_error error;

  static Request* From(nrd_request* record) { return reinterpret_cast<Request*>(record); }
  static const Request* From(const nrd_request* record) {
    return reinterpret_cast<const Request*>(record);
  }

  // One of NRD_REQUEST_...
  [[nodiscard]] bool Has(uint32_t flag) const { return (record.flags & flag) != 0; }

  [[nodiscard]] int64_t NextExpiryNs() const {
    return policy_expiry_ns < hard_expiry_ns ? policy_expiry_ns : hard_expiry_ns;
  }
};
static_assert(std::is_standard_layout_v<Request> && offsetof(Request, record) == 0,
              "the ABI hands out the address of the record as the request");

// A list of requests chained through their own links: no function allocates or fails.
struct RequestList {
  Request* head = nullptr;
  Request* tail = nullptr;

  [[nodiscard]] bool empty() const { return head == nullptr; }
  void Append(Request* request);
  void Remove(Request* request);
  // Null when the list is empty.
  Request* TakeFirst();
  // Puts all of `more` behind `place`, which is in this list; null: in front.
  void InsertAfter(Request* place, RequestList more);
};

// Requests that were taken out of the queue before they ran.
struct RemovedRequests {
  RequestList culprits;   // requests that were to be taken out, or whose time is up
  RequestList abandoned;  // requests of the same sequences, which cannot run without the culprits

  [[nodiscard]] bool empty() const { return culprits.empty() && abandoned.empty(); }
};

// Releases the buffers of `count` tensors and clears their data.
void DropTensors(nrd_tensor* tensors, uint32_t count);

// Sets status and message of a request that will not run, or failed.
void SetFailure(Request& request, int32_t code, std::string_view message);

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_REQUEST_H_
