// A request of a simulation, and what its sender knows of its sequence.
#ifndef NEREID_TEST_SIMULATION_SIMULATED_REQUEST_H_
#define NEREID_TEST_SIMULATION_SIMULATED_REQUEST_H_

#include <cstdint>
#include <deque>

#include "core/request/request.h"
#include "nereid/nereid.h"

namespace nereid::simulation {

// What a client sees of a sequence, by which the scheduler is judged.
struct ClientSequence {
  uint64_t id = 0;
  bool begun = false;                // a START was accepted
  bool ended = false;                // an END was accepted, or what began it was lost
  bool running = false;              // a request of it executes
  uint32_t sent = 0;                 // requests that were accepted
  int64_t active_ns = 0;             // when a request came, or was answered
  int64_t instance = -1;             // that executes it
  int64_t row = -1;                  // where its rows are its slot
  std::deque<uint32_t> outstanding;  // numbers of requests that are not answered, in order
};

struct SimulatedRequest {
  Request request;  // first: the core's pointer is this object
  nrd_tensor input;
  uint64_t generation;  // rises with each use of this memory
  bool in_flight;
  bool executing;
  int32_t batch;             // the number of the batch that it was taken with
  ClientSequence* sequence;  // null: none
  uint32_t number;           // in its sequence
  // Links of those that wait, by when they came.
  SimulatedRequest* earlier;
  SimulatedRequest* later;

  static SimulatedRequest* From(Request* request) {
    return reinterpret_cast<SimulatedRequest*>(request);
  }
  static SimulatedRequest* From(uint64_t tag) { return reinterpret_cast<SimulatedRequest*>(tag); }
};

}  // namespace nereid::simulation

#endif  // NEREID_TEST_SIMULATION_SIMULATED_REQUEST_H_
