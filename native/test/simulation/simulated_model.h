// A model in a simulation: the real dispatcher, queues and policies, driven by events.
#ifndef NEREID_TEST_SIMULATION_SIMULATED_MODEL_H_
#define NEREID_TEST_SIMULATION_SIMULATED_MODEL_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/batch/detached_batch.h"
#include "core/config/model_config.h"
#include "core/request/completion.h"
#include "core/request/ordered_delivery.h"
#include "core/request/stats.h"
#include "core/schedule/dispatcher.h"
#include "core/schedule/execution_limits.h"
#include "core/schedule/instance.h"
#include "memory/buffer_pool.h"
#include "test/simulation/simulated_request.h"
#include "test/simulation/simulated_world.h"

namespace nereid::simulation {

// Does what the Scheduler and its threads do, one event at a time, and what clients do; checks
// after each event that the rules of scheduling hold (simulation_rules.cc).
class SimulatedModel final : public Actor,
                             public Alarm,
                             public TimerTarget,
                             public DetachedBatch::Owner {
 public:
  // `limiter` is shared with other models.
  SimulatedModel(SimulatedWorld& world, SharedLimiter& limiter);
  ~SimulatedModel() override;

  void Handle(const Event& event) override;
  void BeginCalm() override { calm_ = true; }
  [[nodiscard]] bool IsCalm() const override { return unanswered_ == 0; }
  void BeginEnd() override;
  [[nodiscard]] bool HasEnded() const override { return ending_ && dispatcher_ == nullptr; }
  void SendToWork() override;
  // The amount of the shared resource that is held, and whether an instance waits for it.
  [[nodiscard]] uint32_t HeldCount() const;
  [[nodiscard]] bool SomebodyWaitsForLimits() const;
  [[nodiscard]] bool SomebodyLooks() const;
  static constexpr uint32_t kResourceTotal = 4;

  [[nodiscard]] uint64_t answered() const { return answered_; }
  [[nodiscard]] uint64_t executed() const { return executed_; }

  void Add(TimerTarget* /*target*/) override {}
  void Remove(TimerTarget* /*target*/) override {}
  void Arm(TimerTarget* target, int64_t time_ns) override;
  int64_t OnTimer(int64_t now_ns) override;
  void EndDetached(DetachedBatch& batch) override;
  void AnswerEarly(DetachedBatch& batch, Request& request) override;

 private:
  // State of an instance's thread; kBorrowed: it waits while a submitter's thread executes there.
  enum class Phase : uint8_t { kComing, kWaiting, kLimited, kExecuting, kBorrowed, kGone };
  struct Seat {
    std::unique_ptr<Instance> instance;
    Phase phase = Phase::kComing;
    uint64_t generation = 0;   // of the pending look
    bool warms_up = false;     // executes the warm-up, or waits for the resource that it needs
    int64_t ends_ns = kNever;  // its execution
    bool is_lost = false;      // lost with the backend
    Dispatcher::Outcome outcome;
    // Batches that the backend may keep: those that execute, and the status that execute is to
    // return.
    std::unique_ptr<DetachedBatches> batches = nullptr;
    DetachedBatch* running = nullptr;
    int32_t code = NRD_OK;
  };

  // A model comes and goes.
  void Load();
  void AddSequences();
  void AddObjective();
  void Unload(bool all_have_ended);
  void GiveUp();
  void EndWhenAnswered();
  void HandleOwn(const Event& event);

  // Warms up one instance after another.
  void BeginWarmUp();
  void WarmUpNext();
  void ExecuteWarmUp(uint64_t index);
  void EndWarmUp(uint64_t index);

  // Clients.
  void Arrive();
  SimulatedRequest* NewRequest();
  ClientSequence* ChooseSequence(SimulatedRequest* request);
  void Submit(SimulatedRequest* request);
  void Refused(SimulatedRequest* request, const Status& status, bool was_known);
  void Accepted(SimulatedRequest* request, bool was_known);
  void Cancel(SimulatedRequest* request);
  void Answer(SimulatedRequest* request);

  // Threads.
  void Come(uint64_t index);
  void Look(uint64_t index);
  void Begin(uint64_t index, Happening end);
  void BeginDetachable(uint64_t index, int64_t duration_ns);
  void EndExecution(uint64_t index);
  size_t EndBatch(Instance& instance, std::vector<Request*>* batch, uint64_t ticket);
  bool TakeEnd(uint64_t index);
  void Die();
  void EndInline(uint64_t index);
  void AnswerRemoved(const RemovedRequests& removed);
  static void OnComplete(void* context, const uint64_t* tags, uint32_t count);

  // Rules.
  void Wait(SimulatedRequest* request);
  void WaitNoMore(SimulatedRequest* request);
  void CheckBatch(uint64_t index);
  void CheckDue(const Request& last);
  void CheckTaken(SimulatedRequest* request, uint64_t index);
  void Executed(SimulatedRequest* request, bool is_lost);
  [[nodiscard]] std::vector<nrd_cost_point> Costs();
  void CheckRemoved(SimulatedRequest* request);
  static void CheckGap(const ClientSequence& sequence);
  void CheckQueue();
  void CheckWarmUp();
  void CheckSharedQueue();
  void CheckCompany(int64_t rows);
  void CheckSequences();
  void CheckUnknown(const ClientSequence& sequence);
  void CheckFull();
  void CheckFinished();
  void CheckRest();

  SimulatedWorld& world_;
  SharedLimiter& limiter_;
  std::unique_ptr<ExecutionLimits> limits_;
  ModelConfig config_;
  nrd_backend backend_{};
  BufferPool pool_;
  Completion completion_;
  Responder responder_;
  std::unique_ptr<ModelStats> stats_;
  std::unique_ptr<OrderedDelivery> ordered_;
  std::unique_ptr<Dispatcher> dispatcher_;  // null: it is unloaded
  std::vector<Seat> seats_;
  uint64_t generation_ = 0;  // of the load
  uint64_t looks_ = 0;
  int64_t alarm_ns_ = kNever;
  bool closing_ = false;
  bool finishing_ = false;  // no new sequence may start
  bool detaches_ = false;   // the backend may keep batches
  bool isolated_ = false;   // the backend may die, and returns later or never
  bool is_gone_ = false;    // for good
  int64_t back_ns_ = 0;
  bool calm_ = false;  // no request comes, no process ends, no unload begins
  bool ending_ = false;
  bool gave_up_ = false;
  uint64_t executed_requests_ = 0;  // since it was loaded
  bool warming_up_ = false;
  uint64_t next_to_warm_up_ = 0;
  Request warm_up_;
  int64_t arrival_gap_ns_ = 1000;
  int64_t execution_ns_ = 1000;

  std::vector<std::unique_ptr<SimulatedRequest>> memory_;
  std::vector<SimulatedRequest*> unused_;
  SimulatedRequest* oldest_ = nullptr;  // among the waiting requests
  SimulatedRequest* newest_ = nullptr;
  uint64_t waiting_ = 0;
  int64_t waiting_rows_ = 0;
  uint64_t unanswered_ = 0;
  std::map<uint64_t, std::unique_ptr<ClientSequence>> sequences_;
  std::vector<ClientSequence*> open_;  // continued by clients
  uint64_t next_sequence_ = 1;
  int32_t next_batch_ = 0;
  int32_t last_answered_batch_ = -1;
  uint64_t answered_ = 0;
  uint64_t executed_ = 0;
};

}  // namespace nereid::simulation

#endif  // NEREID_TEST_SIMULATION_SIMULATED_MODEL_H_
