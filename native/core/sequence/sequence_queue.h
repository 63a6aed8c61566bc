// Keeps the requests that wait in sequences, and says which sequence has which slot.
#ifndef NEREID_CORE_SEQUENCE_SEQUENCE_QUEUE_H_
#define NEREID_CORE_SEQUENCE_SEQUENCE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "core/config/model_config.h"
#include "core/queue/expiry_heap.h"
#include "core/queue/work_queue.h"
#include "core/request/request.h"
#include "core/sequence/sequence.h"
#include "core/sequence/sequence_picker.h"
#include "core/sequence/sequence_slots.h"

namespace nereid {

// The queue of a model with sequences, in place of the SharedQueue; it owns the sequences.
//
// A sequence has a slot of one instance from when there is a free one until it ends: by its last
// request, or by idle time. Its requests are executed one after the other, by that instance alone.
// A cancellation or an expiry that takes one of its requests out takes all that wait, because what
// comes behind a gap would be computed from another state.
class SequenceQueue final : public WorkQueue {
 public:
  // `config` outlives this and has sequences.
  explicit SequenceQueue(const ModelConfig& config);
  ~SequenceQueue() override;
  SequenceQueue(const SequenceQueue&) = delete;
  SequenceQueue& operator=(const SequenceQueue&) = delete;

  [[nodiscard]] size_t size() const override { return size_; }

  // It has to know its sequence first.
  [[nodiscard]] bool PassesBy(Request& /*request*/, int64_t /*now_ns*/) override { return false; }
  // Puts the request into its sequence, which it starts where it may. Fails, with nothing changed,
  // when the sequence is unknown or the queue is full; throws when it is out of memory. Afterwards
  // request.sequence says where it went.
  Status Push(Request& request, int64_t now_ns) override;
  [[nodiscard]] WaitingInstance* HomeOf(const Request& request,
                                        const WaitingInstances& waiting) const override;

  // Each request of a batch is another sequence's; Take sets their rows.
  BatchDecision Decide(uint32_t instance, int64_t now_ns) override;
  void Take(size_t count, std::vector<Request*>* batch) override;
  void Finish(std::vector<Request*>* batch, int64_t now_ns) override;

  void Remove(Request& request, RemovedRequests* removed, int64_t now_ns) override;
  // Ends sequences that were idle for too long, too.
  void TakeExpired(int64_t now_ns, RemovedRequests* removed) override;
  [[nodiscard]] int64_t NextEventNs() const override;
  // Sequences without a request that executes end.
  RequestList TakeAll() override;

  WaitingInstance* ChooseForNew(WaitingInstances& waiting) override {
    return ChooseRoused(waiting);
  }
  WaitingInstance* ChooseForRest(const WaitingInstance& instance,
                                 WaitingInstances& waiting) override;
  WaitingInstance* ChooseForChange(WaitingInstances& waiting) override;
  void BeginToWait(WaitingInstance& instance, int64_t wake_ns, WaitingInstances& waiting) override;

  void FinishSequences() override { finishing_ = true; }
  [[nodiscard]] bool Knows(uint64_t number, std::string_view name) const override;
  void ReadStats(nrd_sequence_stats* stats_out) const override;

  // The model ends: nothing executes any more, and what sequences have kept is given back.
  void DropStates() override;

 private:
  Status Refuse(const Request& request, std::string_view rule) const;
  Sequence* Find(uint64_t number, std::string_view name) const;
  Sequence* Start(const Request& request);
  bool AssignSlot(Sequence* sequence);
  void FreeSlot(const Sequence& sequence);
  void Forget(Sequence* sequence);
  void End(Sequence* sequence);
  void MakeReady(Sequence* sequence);
  void Rouse(uint32_t instance);
  WaitingInstance* ChooseRoused(WaitingInstances& waiting);
  void Rest(Sequence* sequence, int64_t now_ns);
  void SettleEmpty(Sequence* sequence, bool lost_start, int64_t now_ns);
  void RemoveWaiting(Sequence* sequence, Request* request);
  void TakeHead(Sequence* sequence, std::vector<Request*>* batch);

  const ModelConfig& config_;
  const SequenceConfig& sequences_;
  size_t size_ = 0;
  bool finishing_ = false;
  uint64_t last_number_ = 0;  // given to iterative sequences
  ExpiryHeap expiries_;
  std::unordered_map<uint64_t, Sequence*> by_number_;
  std::unordered_map<std::string_view, Sequence*> by_name_;  // views of the sequences' names
  SequenceSlots slots_;
  std::vector<SequenceList> ready_;  // by instance, ordered by when their first request came
  SequenceList backlog_;
  SequenceList idle_;  // by when they became idle
  Sequence* unused_ = nullptr;
  std::vector<std::unique_ptr<Sequence>> all_;
  SequencePicker picker_;
  std::vector<uint32_t> roused_;  // instances that got something to execute, each once
  std::vector<bool> is_roused_;   // by instance
  uint64_t state_bytes_ = 0;
  uint64_t active_ = 0;
  uint64_t waiting_for_slot_ = 0;
  uint64_t started_ = 0;
  uint64_t ended_ = 0;
  uint64_t idle_ended_ = 0;
};

}  // namespace nereid

#endif  // NEREID_CORE_SEQUENCE_SEQUENCE_QUEUE_H_
