// Keeps the waiting requests of sequences, and assigns slots to sequences.
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
// A sequence gets a slot of one instance when one is free, and keeps it until it ends: by its last
// request, or by idle time. Only that instance executes its requests, one after the other. A
// cancellation or expiry of one request removes all waiting ones of the sequence, because those
// behind a gap would be computed from a wrong state.
class SequenceQueue final : public WorkQueue {
 public:
  // `config` outlives this and has sequences.
  explicit SequenceQueue(const ModelConfig& config);
  ~SequenceQueue() override;
  SequenceQueue(const SequenceQueue&) = delete;
  SequenceQueue& operator=(const SequenceQueue&) = delete;

  [[nodiscard]] size_t size() const override { return size_; }

  // Never: the request must be assigned to its sequence first.
  [[nodiscard]] bool PassesBy(Request& /*request*/, int64_t /*now_ns*/) override { return false; }
  // Puts the request into its sequence, which it may start. Fails, with nothing changed, when the
  // sequence is unknown or the queue is full; throws when it is out of memory. Sets
  // request.sequence.
  Status Push(Request& request, int64_t now_ns) override;
  [[nodiscard]] WaitingInstance* HomeOf(const Request& request,
                                        const WaitingInstances& waiting) const override;

  // Each request of a batch belongs to another sequence; Take sets their rows.
  BatchDecision Decide(uint32_t instance, int64_t now_ns) override;
  void Take(size_t count, std::vector<Request*>* batch) override;
  RequestList Finish(std::vector<Request*>* batch, int64_t now_ns) override;

  void Remove(Request& request, RemovedRequests* removed, int64_t now_ns) override;
  // Also ends sequences that were idle for too long.
  void TakeExpired(int64_t now_ns, RemovedRequests* removed) override;
  [[nodiscard]] int64_t NextEventNs() const override;
  // Ends all sequences without an executing request.
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

  // Gives back the states of sequences, when the model ends and nothing executes any more.
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
  std::vector<SequenceList> ready_;  // by instance, ordered by the arrival of their first request
  SequenceList backlog_;
  SequenceList idle_;  // ordered by the time when they became idle
  Sequence* unused_ = nullptr;
  std::vector<std::unique_ptr<Sequence>> all_;
  SequencePicker picker_;
  std::vector<uint32_t> roused_;  // instances that got something to execute, each only once
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
