// One sequence of requests to a model, as long as the model knows it.
#ifndef NEREID_CORE_SEQUENCE_SEQUENCE_H_
#define NEREID_CORE_SEQUENCE_SEQUENCE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/config/sequence_config.h"
#include "core/request/request.h"
#include "nereid/nereid.h"

namespace nereid {

// The state of a sequence. The table of events is in ARCHITECTURE.md.
enum class SequenceState : uint8_t {
  kBacklog,  // it has requests and waits for a slot
  kReady,    // it has a slot and requests, none of which executes
  kRunning,  // one of its requests executes; others may wait
  kIdle      // it has a slot and no requests
};

// A sequence of a model. Belongs to the model's SequenceQueue, and is guarded with it by the
// dispatcher's mutex. The id and, while it is running, the states are also used by the thread that
// executes it.
struct Sequence {
  uint64_t number = 0;  // 0: it has a name, or no id
  std::string name;
  SequenceState state = SequenceState::kBacklog;
  // Its last request has come, or its first was lost: the sequence ends when no request waits or
  // executes, unless it is begun anew before.
  bool closed = false;
  bool started = false;   // some request of it was taken to be executed, and none with END since
  uint32_t instance = 0;  // with a slot: the slot's instance
  uint32_t slot = 0;
  int64_t idle_since_ns = 0;
  RequestList waiting;
  // Links of the one list that contains it: the backlog, the ready ones of its instance, or the
  // idle ones.
  Sequence* previous = nullptr;
  Sequence* next = nullptr;
  // Tensors that it keeps from one request to the next, one a state of the configuration, each with
  // its buffer; without memory before the first request was executed.
  std::vector<nrd_tensor> states;
  uint64_t state_bytes = 0;  // size of the states after the last execution
};

// Sequences chained through their own links.
struct SequenceList {
  Sequence* head = nullptr;
  Sequence* tail = nullptr;

  [[nodiscard]] bool empty() const { return head == nullptr; }
  // Inserts behind `place`; null: in front.
  void InsertAfter(Sequence* place, Sequence* sequence);
  void Append(Sequence* sequence) { InsertAfter(tail, sequence); }
  void Remove(Sequence* sequence);
};

// The name or the number of a request's sequence.
std::string SequenceText(const Request& request);

// Gives back the existing states of a sequence.
void DropStates(const SequenceConfig& config, std::span<nrd_tensor> kept);

}  // namespace nereid

#endif  // NEREID_CORE_SEQUENCE_SEQUENCE_H_
