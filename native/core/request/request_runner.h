// A runner serves the requests of a model: a scheduler with instances, or an ensemble of models.
#ifndef NEREID_CORE_REQUEST_REQUEST_RUNNER_H_
#define NEREID_CORE_REQUEST_REQUEST_RUNNER_H_

#include <cstdint>
#include <string_view>

#include "core/request/request.h"

namespace nereid {

// Owned by its model. Any thread may call it; a request is one thread's until it is submitted, and
// the runner's from then to its answer.
class RequestRunner {
 public:
  RequestRunner() = default;
  virtual ~RequestRunner() = default;
  RequestRunner(const RequestRunner&) = delete;
  RequestRunner& operator=(const RequestRunner&) = delete;

  // For a request that was checked against the configuration. Returns its status, or NRD_PENDING.
  virtual int32_t Submit(Request& request) = 0;

  // True if an answer that needs no execution can be given now: not when the model is closed to
  // requests, nor when it would overtake earlier ones whose order counts.
  virtual bool MayAnswerAtOnce() = 0;

  // Executes a request that was checked on one instance after another, each on its own thread, and
  // drops what comes out. Requests that come meanwhile wait. Returns its status.
  virtual int32_t WarmUp(Request& request) = 0;

  // See nrd_request_cancel.
  virtual int32_t Cancel(Request& request) = 0;

  // Refuses new requests and waits for those it has; at deadline_ns it answers the waiting ones
  // with UNAVAILABLE and returns false.
  virtual bool Drain(int64_t deadline_ns) = 0;

  // Drains without patience, and ends what it runs with. Idempotent.
  virtual void Stop() = 0;

  // Reads what an instance holds or waits for; nothing if there are none.
  virtual void ReadInstance(uint32_t /*instance*/, nrd_instance_stats* /*stats_out*/) {}
  virtual void ReadCounts(uint64_t* pending_out, uint64_t* executing_out) = 0;
  // Batches that were begun, by NRD_BATCH_*; as they are where there are none.
  virtual void ReadBatchEnds(uint64_t* /*counts_out*/) {}

  // Reads an objective's decisions, and the points of the learned costs, of which there are as many
  // as are returned; false and none without an objective.
  virtual void Sent(const Request& /*request*/, uint64_t /*took_ns*/) {}
  virtual bool ReadObjective(nrd_objective_stats* /*stats_out*/) { return false; }
  virtual uint32_t ReadCostCurve(nrd_cost_point* /*points_out*/, uint32_t /*capacity*/) {
    return 0;
  }

  // For runners with sequences; others know none.
  virtual void FinishSequences() {}
  virtual bool KnowsSequence(uint64_t /*number*/, std::string_view /*name*/) { return false; }
  virtual void ReadSequenceStats(nrd_sequence_stats* /*stats_out*/) {}

  // Frees what it keeps with a record that is about to be freed itself.
  virtual void DeleteState(Request& /*request*/) {}
};

}  // namespace nereid

#endif  // NEREID_CORE_REQUEST_REQUEST_RUNNER_H_
