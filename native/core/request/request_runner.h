#ifndef NEREID_CORE_REQUEST_REQUEST_RUNNER_H_
#define NEREID_CORE_REQUEST_REQUEST_RUNNER_H_

#include <cstdint>
#include <string_view>

#include "core/request/request.h"

namespace nereid {

// A runner serves the requests of a model: a scheduler with instances, or an ensemble of models.
// Owned by its model. Any thread may call it; a request belongs to one thread until it is
// submitted, and then to the runner until its answer.
class RequestRunner {
 public:
  RequestRunner() = default;
  virtual ~RequestRunner() = default;
  RequestRunner(const RequestRunner&) = delete;
  RequestRunner& operator=(const RequestRunner&) = delete;

  // Submits a request that was checked. Returns its status, or NRD_PENDING.
  virtual int32_t Submit(Request& request) = 0;

  // True if an answer that needs no execution may be given now: not if the model is closed to
  // requests, or if the order of answers counts and earlier ones are open.
  virtual bool MayAnswerAtOnce() = 0;

  // Executes a request that was checked on one instance after another, each on its own thread, and
  // drops the outputs. Requests that come meanwhile wait. Returns its status.
  virtual int32_t WarmUp(Request& request) = 0;

  // See nrd_request_cancel.
  virtual int32_t Cancel(Request& request) = 0;

  // Refuses new requests and waits for the others; at deadline_ns it answers the waiting ones with
  // UNAVAILABLE and returns false.
  virtual bool Drain(int64_t deadline_ns) = 0;

  // Drains at once, and ends threads and instances. Idempotent.
  virtual void Stop() = 0;

  // Reads the resources that an instance holds or waits for; nothing without instances.
  virtual void ReadInstance(uint32_t /*instance*/, nrd_instance_stats* /*stats_out*/) {}
  virtual void ReadCounts(uint64_t* pending_out, uint64_t* executing_out) = 0;
  // Adds the counts of batches, by NRD_BATCH_*; leaves them unchanged without batches.
  virtual void ReadBatchEnds(uint64_t* /*counts_out*/) {}

  // Note the time of an answer's departure; read an objective's decisions, and the points of the
  // learned costs, returning their number. False and 0 without an objective.
  virtual void Sent(const Request& /*request*/, uint64_t /*took_ns*/) {}
  virtual bool ReadObjective(nrd_objective_stats* /*stats_out*/) { return false; }
  virtual uint32_t ReadCostCurve(nrd_cost_point* /*points_out*/, uint32_t /*capacity*/) {
    return 0;
  }

  // For runners with sequences; others do nothing.
  virtual void FinishSequences() {}
  virtual bool KnowsSequence(uint64_t /*number*/, std::string_view /*name*/) { return false; }
  virtual void ReadSequenceStats(nrd_sequence_stats* /*stats_out*/) {}

  // Frees the runner's data in a record that is about to be freed.
  virtual void DeleteState(Request& /*request*/) {}
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_REQUEST_RUNNER_H_
