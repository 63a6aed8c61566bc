// A request of a simulation, and its sender's view of its sequence.
#ifndef NEREID_TEST_SIMULATION_SIMULATED_REQUEST_H_
#define NEREID_TEST_SIMULATION_SIMULATED_REQUEST_H_

#include <cstdint>
#include <deque>

#include "core/request/request.h"
#include "nereid/nereid.h"

namespace nereid::simulation {

// A client's view of a sequence; the rules compare the scheduler with it.
struct ClientSequence {
  uint64_t id = 0;
  bool begun = false;                // a START was accepted
  bool ended = false;                // an END was accepted, or the START was lost
  bool running = false;              // a request of it executes
  uint32_t sent = 0;                 // requests that were accepted
  int64_t active_ns = 0;             // time of the latest request or answer
  int64_t instance = -1;             // that executes the sequence
  int64_t row = -1;                  // its slot, if rows are slots
  std::deque<uint32_t> outstanding;  // numbers of unanswered requests, in order
};

struct SimulatedRequest {
  Request request;  // first: the core's pointer is this object
  nrd_tensor input;
  uint64_t generation;  // rises with each use of this memory
  bool in_flight;
  bool executing;
  int32_t batch;             // number of the batch that contains the request
  ClientSequence* sequence;  // null: none
  uint32_t number;           // within the sequence
  // Links of the waiting requests, by arrival.
  SimulatedRequest* earlier;
  SimulatedRequest* later;

  static SimulatedRequest* From(Request* request) {
    return reinterpret_cast<SimulatedRequest*>(request);
  }
  static SimulatedRequest* From(uint64_t tag) { return reinterpret_cast<SimulatedRequest*>(tag); }
};

}  // namespace nereid::simulation

#endif  // NEREID_TEST_SIMULATION_SIMULATED_REQUEST_H_
