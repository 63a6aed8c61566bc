// Keeps the requests that wait in sequences, and says which sequence has which slot.
#ifndef NEREID_CORE_SEQUENCE_QUEUE_H_
#define NEREID_CORE_SEQUENCE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "core/batch_policy.h"
#include "core/expiry_heap.h"
#include "core/model_config.h"
#include "core/request.h"
#include "core/sequence.h"

namespace nereid {

// In place of the RequestQueue for models with sequences. Not synchronised: the dispatcher's mutex
// guards it. It owns the sequences, and links the requests without owning them.
//
// A sequence has a slot of one instance from when there is a free one until it ends: by its last
// request, or by idle time. Its requests are executed one after the other, by that instance alone.
// What takes one of its requests out (a cancellation, an expiry) takes all that wait, because what
// comes behind a gap would be computed from another state.
class SequenceQueue {
 public:
  // `config` outlives this and has sequences.
  explicit SequenceQueue(const ModelConfig& config);
  ~SequenceQueue();
  SequenceQueue(const SequenceQueue&) = delete;
  SequenceQueue& operator=(const SequenceQueue&) = delete;

  // Puts the request into its sequence, which it starts where it may. Fails, with nothing changed,
  // when the sequence is unknown or the queue is full; throws when it is out of memory. Afterwards
  // request.sequence says where it went.
  Status Push(Request& request, int64_t now_ns);

  // Fills `batch` with what the instance executes now, each request of another sequence, and sets
  // their rows; or leaves it empty and returns when to look again.
  int64_t Take(uint32_t instance, int64_t now_ns, std::vector<Request*>* batch);

  // For what Take gave, when it has been executed and before it is answered. Requests that are to
  // run again are in the queue afterwards, and no more in the batch.
  void Finish(std::vector<Request*>* batch, int64_t now_ns);

  // Takes out a request that waits, and what waits with it.
  void Remove(Request& request, RemovedRequests* removed, int64_t now_ns);
  // The same for all whose time is up, and ends sequences that were idle for too long.
  void TakeExpired(int64_t now_ns, RemovedRequests* removed);
  // Everything that waits; sequences without a request that executes end.
  RequestList TakeAll();

  // From here on no sequence starts.
  void FinishSequences() { finishing_ = true; }
  [[nodiscard]] bool Knows(uint64_t number, std::string_view name) const;

  // When TakeExpired has something to do; kNever: not before requests come or end.
  [[nodiscard]] int64_t next_event_ns() const;
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool HasReady(uint32_t instance) const { return !ready_[instance].empty(); }

  // An instance that got something to do by what was called here, each told once; kNone: none.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t TakeRoused();

  void ReadStats(nrd_sequence_stats* stats_out) const;

  // The model ends: nothing executes any more, and what sequences have kept is given back.
  void DropStates();

 private:
  struct Slots {
    std::vector<bool> taken;
    uint32_t first_free = 0;  // the lowest one; taken.size(): none
  };

  Status Refuse(const Request& request, std::string_view rule) const;
  Sequence* Find(uint64_t number, std::string_view name) const;
  Sequence* Start(const Request& request);
  bool AssignSlot(Sequence* sequence);
  void FreeSlot(const Sequence& sequence);
  void Forget(Sequence* sequence);
  void End(Sequence* sequence);
  void MakeReady(Sequence* sequence);
  void Rest(Sequence* sequence, int64_t now_ns);
  void SettleEmpty(Sequence* sequence, bool lost_start, int64_t now_ns);
  void RemoveWaiting(Sequence* sequence, Request* request);
  [[nodiscard]] bool Includes(const Request& request) const;
  [[nodiscard]] bool SameStates(const Sequence& a, const Sequence& b) const;
  BatchDecision Decide(uint32_t instance, int64_t now_ns);
  void TakeHead(Sequence* sequence, std::vector<Request*>* batch);

  const ModelConfig& config_;
  const SequenceConfig& sequences_;
  size_t size_ = 0;
  bool finishing_ = false;
  uint64_t last_number_ = 0;  // given to iterative sequences
  ExpiryHeap expiries_;
  std::unordered_map<uint64_t, Sequence*> by_number_;
  std::unordered_map<std::string_view, Sequence*> by_name_;  // views of the sequences' names
  std::vector<Slots> slots_;                                 // by instance
  std::vector<SequenceList> ready_;  // by instance, ordered by when their first request came
  SequenceList backlog_;
  SequenceList idle_;  // by when they became idle
  Sequence* unused_ = nullptr;
  std::vector<std::unique_ptr<Sequence>> all_;
  std::vector<WaitingRequest> seen_;        // reserved once, as are the next two
  std::vector<Sequence*> candidates_;       // what `seen_` was made of
  std::vector<const nrd_request*> chosen_;  // of these, what a batcher let in
  std::vector<uint32_t> roused_;
  std::vector<bool> is_roused_;  // by instance
  uint64_t state_bytes_ = 0;
  uint64_t active_ = 0;
  uint64_t waiting_for_slot_ = 0;
  uint64_t started_ = 0;
  uint64_t ended_ = 0;
  uint64_t idle_ended_ = 0;
};

}  // namespace nereid

#endif  // NEREID_CORE_SEQUENCE_QUEUE_H_
