// Tests of the sequence queue alone, with made-up times: which instance it wakes.
#include "core/sequence/sequence_queue.h"

#include <array>

#include "doctest/doctest.h"

namespace nereid::test {
namespace {

constexpr int64_t kMaxIdleNs = 100;

// Two instances with one slot each.
ModelConfig TwoSlots() {
  ModelConfig config;
  config.instance_count = 2;
  config.queue_policies.emplace_back();
  config.sequences.emplace().max_idle_ns = kMaxIdleNs;
  return config;
}

void Start(SequenceQueue& queue, Request& request, uint64_t sequence, int64_t now_ns) {
  request.record = {};
  request.record.sequence_id = sequence;
  request.record.flags = NRD_REQUEST_SEQUENCE_START;
  request.rows = 1;
  REQUIRE(queue.Push(request, now_ns).ok());
}

void Execute(SequenceQueue& queue, uint32_t instance, int64_t now_ns) {
  std::vector<Request*> batch;
  queue.Take(queue.Decide(instance, now_ns).take, &batch);
  REQUIRE(batch.size() == 1);
  batch.front()->record.executed_batch_size = 1;
  queue.Finish(&batch, now_ns);
}

TEST_CASE("an instance that frees the slot of another wakes that one") {
  const ModelConfig config = TwoSlots();
  SequenceQueue queue(config);
  WaitingInstances waiting(2);
  std::array<WaitingInstance, 2> instances{WaitingInstance(0), WaitingInstance(1)};
  for (WaitingInstance& instance : instances) {
    waiting.Attach(instance);
  }
  std::array<Request, 3> requests;
  Start(queue, requests[0], 1, 0);
  Start(queue, requests[1], 2, 0);
  Execute(queue, 0, 0);
  Execute(queue, 1, 1);
  queue.ChooseForNew(waiting);
  queue.BeginToWait(instances[0], kNever, waiting);
  Start(queue, requests[2], 3, 2);
  CHECK(queue.ChooseForNew(waiting) == nullptr);  // there is no slot for it

  RemovedRequests removed;
  queue.TakeExpired(kMaxIdleNs, &removed);
  CHECK(queue.Decide(1, kMaxIdleNs).take == 0);
  queue.BeginToWait(instances[1], kNever, waiting);
  CHECK(waiting.IsWoken(instances[0]));
  CHECK_FALSE(waiting.IsWoken(instances[1]));
  Execute(queue, 0, kMaxIdleNs);
}

}  // namespace
}  // namespace nereid::test
