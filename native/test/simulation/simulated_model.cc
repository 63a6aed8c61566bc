#include "test/simulation/simulated_model.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/queue/request_queue.h"

namespace nereid::simulation {
namespace {

bool IsSame(const std::vector<nrd_cost_point>& a, const std::vector<nrd_cost_point>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const nrd_cost_point& one, const nrd_cost_point& other) {
                      return std::memcmp(&one, &other, sizeof(one)) == 0;
                    });
}

}  // namespace

SimulatedModel::SimulatedModel(SimulatedWorld& world, SharedLimiter& limiter)
    : world_(world),
      limiter_(limiter),
      pool_(BufferPool::Options{}),
      completion_(OnComplete, this) {
  Load();
}

SimulatedModel::~SimulatedModel() = default;

// ---- A model comes and goes ----

// Loads a model with a random configuration.
void SimulatedModel::Load() {
  Chance& chance = world_.chance;
  const int64_t sizes[] = {0, 1, 4, 8, 16};
  config_ = ModelConfig{};
  config_.name = "simulated";
  config_.version = "1";
  config_.inputs.resize(1);
  config_.outputs.resize(1);
  config_.visible_inputs = 1;
  config_.visible_outputs = 1;
  config_.max_batch_size = sizes[chance.Below(5)];
  config_.instance_count = static_cast<uint32_t>(1 + chance.Below(4));
  config_.allow_inline = chance.OneIn(2);
  config_.uniform = chance.OneIn(2);
  BatchPolicy& policy = config_.batch_policy;
  policy.max_batch_size = config_.max_batch_size;
  policy.dynamic = config_.batched() && !chance.OneIn(4);
  policy.max_queue_delay_ns =
      chance.OneIn(2) ? 0 : static_cast<uint64_t>(chance.Spread(1'000, 1'000'000));
  for (int64_t size = 2; size <= config_.max_batch_size && chance.OneIn(2); size *= 2) {
    policy.preferred_sizes.push_back(size);
  }
  QueuePolicy queue{.default_timeout_ns = 0,
                    .delay_on_timeout = chance.OneIn(3),
                    .allow_timeout_override = chance.OneIn(2),
                    .max_queue_size = size_t{4} << chance.Below(5)};
  queue.default_timeout_ns =
      chance.OneIn(4) ? static_cast<uint64_t>(chance.Spread(10'000, 10'000'000)) : 0;
  config_.queue_policies.assign(chance.OneIn(4) ? 3 : 1, queue);
  if (chance.OneIn(5) && config_.queue_policies.size() == 1) {
    config_.preserve_ordering = true;
    config_.allow_inline = false;
    config_.queue_policies.front().delay_on_timeout = false;
  }
  detaches_ = chance.OneIn(3);
  backend_.flags = detaches_ ? uint32_t{NRD_BACKEND_DETACHES} : 0U;
  isolated_ = !detaches_ && chance.OneIn(3);
  is_gone_ = false;
  back_ns_ = 0;
  execution_ns_ = chance.Spread(1'000, 1'000'000);
  arrival_gap_ns_ = 1 + chance.Spread(execution_ns_ / 16, execution_ns_ * 16);
  if (!chance.OneIn(3)) {
    AddSequences();
  }
  AddObjective();
  for (uint32_t i = 0; chance.OneIn(3) && i < config_.instance_count; ++i) {
    config_.instances.resize(config_.instance_count);
    const auto count = static_cast<uint32_t>(chance.Below(kResourceTotal + 1));
    if (count > 0) {
      config_.instances[i].resources = {{.name = "R", .count = count}};
    }
    config_.instances[i].priority = static_cast<uint32_t>(chance.Below(4));
  }
  stats_ = std::make_unique<ModelStats>(config_.instance_count, config_.max_batch_size, false);
  ordered_ = std::make_unique<OrderedDelivery>(completion_);
  const SchedulerContext context{.config = config_,
                                 .backend = backend_,
                                 .model_state = nullptr,
                                 .pool = pool_,
                                 .account = nullptr,
                                 .cache = nullptr,
                                 .stats = *stats_,
                                 .completion = completion_,
                                 .responder = responder_,
                                 .timer = *this,
                                 .limiter = limiter_};
  limits_ = std::make_unique<ExecutionLimits>(limiter_, config_);
  Require(limits_->Open().ok(), "there is enough of what an instance needs");
  dispatcher_ = std::make_unique<Dispatcher>(context, *limits_, *this, SimulatedWorld::Now);
  ++generation_;
  alarm_ns_ = kNever;
  closing_ = finishing_ = gave_up_ = warming_up_ = false;
  executed_requests_ = 0;
  next_batch_ = 0;
  last_answered_batch_ = -1;
  sequences_.clear();
  open_.clear();
  seats_.clear();
  seats_.resize(config_.instance_count);
  for (uint32_t i = 0; i < config_.instance_count; ++i) {
    seats_[i].instance = std::make_unique<Instance>(i, context, *this);
    if (detaches_) {
      seats_[i].batches =
          std::make_unique<DetachedBatches>(*seats_[i].instance, *this, config_, pool_, nullptr);
    }
    seats_[i].outcome.opened = true;
    dispatcher_->Attach(*seats_[i].instance);
    Come(i);
  }
  dispatcher_->Open();
  if (chance.OneIn(3)) {
    BeginWarmUp();
  }
  if (isolated_) {
    world_.In(chance.Spread(1'000, execution_ns_ * 1'000), Happening::kDeath, this, 0, generation_);
  }
  world_.In(1, Happening::kArrival, this, 0, generation_);
  world_.In(chance.Spread(execution_ns_, execution_ns_ * 10'000), Happening::kUnload, this, 0,
            generation_);
}

// Adds an objective, tight or loose, where no sequences or other settings exclude it.
void SimulatedModel::AddObjective() {
  Chance& chance = world_.chance;
  if (config_.sequences || config_.preserve_ordering || detaches_ || chance.OneIn(3)) {
    return;
  }
  config_.objective.emplace();
  config_.objective->latency_ns = chance.Spread(execution_ns_ / 2, execution_ns_ * 100);
  config_.objective->instance_kinds.assign(config_.instance_count, 0);
  for (QueuePolicy& policy : config_.queue_policies) {
    policy.delay_on_timeout = false;
  }
  config_.batch_policy = {.dynamic = config_.batched(), .max_batch_size = config_.max_batch_size};
}

void SimulatedModel::AddSequences() {
  Chance& chance = world_.chance;
  SequenceConfig& sequences = config_.sequences.emplace();
  sequences.direct = chance.OneIn(2);
  sequences.iterative = chance.OneIn(4);
  sequences.rows_are_slots = sequences.direct && chance.OneIn(2);
  sequences.max_idle_ns = chance.Spread(10'000, 100'000'000);
  const auto rows = static_cast<uint32_t>(std::max<int64_t>(config_.max_batch_size, 1));
  sequences.slots = sequences.direct ? rows : static_cast<uint32_t>(1 + chance.Below(12));
  sequences.minimum_utilization = chance.OneIn(2) ? 0 : 0.5;
  config_.batch_policy.dynamic = config_.batched();
  config_.queue_policies.resize(1);
  config_.queue_policies.front().delay_on_timeout = false;
  config_.allow_inline = config_.allow_inline && !sequences.iterative;
  config_.preserve_ordering =
      config_.preserve_ordering && !sequences.iterative && !sequences.direct;
}

// A model with sequences may first let them end: then all of them must end.
void SimulatedModel::Unload(bool all_have_ended) {
  if (closing_ || (finishing_ && !all_have_ended)) {
    return;  // it is on its way
  }
  if (config_.sequences && !finishing_ && world_.chance.OneIn(2)) {
    finishing_ = true;
    dispatcher_->FinishSequences();
    const int64_t enough_ns = (config_.sequences->max_idle_ns + execution_ns_ * 1'000) * 1'000;
    world_.In(enough_ns, Happening::kUnload, this, 1, generation_);
    return;
  }
  if (finishing_) {
    CheckFinished();
  }
  closing_ = true;
  dispatcher_->CloseAndServe();
  world_.In(world_.chance.Spread(execution_ns_, execution_ns_ * 100), Happening::kPatienceOver,
            this, 0, generation_);
}

void SimulatedModel::BeginEnd() {
  ending_ = true;
  if (dispatcher_ != nullptr) {
    Unload(false);
  }
}

void SimulatedModel::GiveUp() {
  RemovedRequests removed;
  removed.abandoned = dispatcher_->TakeAll();
  AnswerRemoved(removed);
  gave_up_ = true;
}

// Ends the threads when all requests are answered, then the model.
void SimulatedModel::EndWhenAnswered() {
  if (!gave_up_ || unanswered_ > 0 || warming_up_ || dispatcher_ == nullptr) {
    return;
  }
  dispatcher_->StopInstances();
  bool all_gone = true;
  for (uint64_t i = 0; i < seats_.size(); ++i) {
    all_gone &= seats_[i].phase == Phase::kGone;
    if (seats_[i].phase == Phase::kWaiting) {
      Come(i);
    }
  }
  if (all_gone) {
    CheckRest();
    dispatcher_.reset();
    limits_.reset();
    ++generation_;
    world_.In(1'000, Happening::kReload, this, 0, generation_);
  }
}

// ---- What happens ----

void SimulatedModel::Handle(const Event& event) {
  if (event.happening == Happening::kCancel) {
    auto* const request = SimulatedRequest::From(event.subject);
    if (request->generation == event.generation && request->in_flight) {
      Cancel(request);
    }
  } else if (event.happening == Happening::kLook) {
    if (dispatcher_ == nullptr || seats_.size() <= event.subject ||
        seats_[event.subject].generation != event.generation) {
      return;
    }
    Look(event.subject);
  } else if (event.generation != generation_) {
    return;
  } else {
    HandleOwn(event);
  }
}

void SimulatedModel::SendToWork() {
  if (dispatcher_ == nullptr) {
    return;
  }
  for (uint64_t i = 0; i < seats_.size(); ++i) {
    const Seat& seat = seats_[i];
    if (seat.phase == Phase::kLimited && limits_->Waits(static_cast<uint32_t>(i))) {
      continue;
    }
    if (seat.warms_up && seat.phase == Phase::kLimited) {
      ExecuteWarmUp(i);
    } else if (seat.phase == Phase::kLimited ||
               (seat.phase == Phase::kWaiting && dispatcher_->IsWoken(*seat.instance))) {
      Come(i);
    }
  }
  CheckQueue();
  EndWhenAnswered();
}

void SimulatedModel::HandleOwn(const Event& event) {
  switch (event.happening) {
    case Happening::kArrival:
      Arrive();
      break;
    case Happening::kExecuted:
      if (seats_[event.subject].warms_up) {
        EndWarmUp(event.subject);
      } else if (TakeEnd(event.subject)) {
        EndExecution(event.subject);
      }
      break;
    case Happening::kDeath:
      if (!calm_) {
        Die();
      }
      break;
    case Happening::kWarmUp:
      WarmUpNext();
      break;
    case Happening::kFinished:
      reinterpret_cast<DetachedBatch*>(event.subject)->Finish(NRD_OK, {});
      break;
    case Happening::kInlineEnd:
      if (TakeEnd(event.subject)) {
        EndInline(event.subject);
      }
      break;
    case Happening::kAlarm:
      if (alarm_ns_ <= SimulatedWorld::Now()) {
        alarm_ns_ = kNever;
        const int64_t next_ns = OnTimer(SimulatedWorld::Now());
        if (next_ns != kNever) {
          Arm(this, next_ns);
        }
      }
      break;
    case Happening::kUnload:
      if (!calm_ || ending_ || finishing_) {
        Unload(event.subject != 0);
      }
      break;
    case Happening::kPatienceOver:
      GiveUp();
      break;
    case Happening::kReload:
      if (!ending_) {
        Load();
      }
      break;
    default:
      break;
  }
}

void SimulatedModel::Arm(TimerTarget* /*target*/, int64_t time_ns) {
  if (time_ns < alarm_ns_) {
    alarm_ns_ = time_ns;
    world_.At(std::max(time_ns, SimulatedWorld::Now()), Happening::kAlarm, this, 0, generation_);
  }
}

int64_t SimulatedModel::OnTimer(int64_t now_ns) {
  int64_t next_ns = kNever;
  AnswerRemoved(dispatcher_->TakeExpired(now_ns, &next_ns));
  return next_ns;
}

// ---- Threads of instances ----

// The instance's thread is on its way to look for work.
void SimulatedModel::Come(uint64_t index) {
  Seat& seat = seats_[index];
  seat.phase = Phase::kComing;
  seat.generation = ++looks_;
  world_.In(world_.chance.Spread(100, 50'000), Happening::kLook, this, index, seat.generation);
}

void SimulatedModel::Look(uint64_t index) {
  Seat& seat = seats_[index];
  Dispatcher::Work work;
  const Dispatcher::Outcome outcome = std::exchange(seat.outcome, {});
  const bool found = dispatcher_->TryNext(*seat.instance, outcome, &work);
  if (outcome.warmed_up) {
    world_.In(world_.chance.Spread(1, 10'000), Happening::kWarmUp, this, 0, generation_);
  }
  if (work.stop) {
    seat.phase = Phase::kGone;
    return;
  }
  if (!found && limits_->HasWaited(static_cast<uint32_t>(index))) {
    seat.phase = Phase::kLimited;
    return;
  }
  if (!found) {
    seat.phase = Phase::kWaiting;
    if (const int64_t until_ns = dispatcher_->WaitsUntilNs(*seat.instance); until_ns != kNever) {
      seat.generation = ++looks_;
      world_.At(until_ns, Happening::kLook, this, index, seat.generation);
    }
    return;
  }
  if (work.warm_up != nullptr) {
    ExecuteWarmUp(index);
    return;
  }
  AnswerRemoved(work.expired);
  if (seat.instance->batch.empty()) {
    Come(index);
  } else {
    seat.phase = Phase::kExecuting;
    Begin(index, Happening::kExecuted);
  }
}

void SimulatedModel::Begin(uint64_t index, Happening end) {
  Seat& seat = seats_[index];
  CheckBatch(index);
  for (Request* const request : seat.instance->batch) {
    auto* const taken = SimulatedRequest::From(request);
    CheckTaken(taken, index);
    taken->executing = true;
    taken->batch = next_batch_;
  }
  ++next_batch_;
  ++executed_;
  const bool slow = world_.chance.OneIn(1'000);
  int64_t duration_ns = slow ? execution_ns_ * 1'000 : world_.chance.Spread(100, execution_ns_);
  if (isolated_) {
    seat.is_lost = is_gone_;
    duration_ns =
        is_gone_ ? 100 : duration_ns + std::max<int64_t>(back_ns_ - SimulatedWorld::Now(), 0);
  }
  seat.ends_ns = SimulatedWorld::Now() + duration_ns;
  world_.In(duration_ns, end, this, index, generation_);
  if (detaches_) {
    BeginDetachable(index, duration_ns);
  }
}

// True if the event is this execution's end, and not that of one whose process died.
bool SimulatedModel::TakeEnd(uint64_t index) {
  Seat& seat = seats_[index];
  if (seat.ends_ns != SimulatedWorld::Now()) {
    return false;
  }
  seat.ends_ns = kNever;
  return true;
}

// Ends the executions without an answer. Later requests wait for the next process, if there is one.
void SimulatedModel::Die() {
  Chance& chance = world_.chance;
  for (uint64_t i = 0; i < seats_.size(); ++i) {
    Seat& seat = seats_[i];
    if (seat.ends_ns != kNever) {
      seat.is_lost = true;
      seat.ends_ns = SimulatedWorld::Now() + chance.Spread(1, 10'000);
      world_.At(seat.ends_ns,
                seat.phase == Phase::kBorrowed ? Happening::kInlineEnd : Happening::kExecuted, this,
                i, generation_);
    }
  }
  is_gone_ = chance.OneIn(10);
  back_ns_ = SimulatedWorld::Now() + chance.Spread(1'000, execution_ns_ * 1'000);
  if (!is_gone_) {
    world_.In(chance.Spread(1'000, execution_ns_ * 1'000), Happening::kDeath, this, 0, generation_);
  }
}

// The backend keeps most batches and finishes some before execute returns. A batch that holds a
// limited resource must be finished by then.
void SimulatedModel::BeginDetachable(uint64_t index, int64_t duration_ns) {
  Seat& seat = seats_[index];
  Chance& chance = world_.chance;
  seat.running =
      &seat.batches->Begin(&seat.instance->batch, seat.instance->ticket, SimulatedWorld::Now());
  seat.code = chance.OneIn(4) ? NRD_OK : NRD_PENDING;
  if (seat.code == NRD_OK) {
    return;
  }
  const bool holds = !config_.instances.empty() && !config_.instances[index].resources.empty();
  const int64_t finished_ns = holds || chance.OneIn(4)
                                  ? chance.Spread(1, duration_ns) / 2
                                  : duration_ns + chance.Spread(1, execution_ns_ * 100);
  world_.In(finished_ns, Happening::kFinished, this, reinterpret_cast<uint64_t>(seat.running),
            generation_);
}

void SimulatedModel::EndExecution(uint64_t index) {
  Seat& seat = seats_[index];
  if (!detaches_) {
    seat.outcome = {
        .executed = true,
        .execution_ns = static_cast<uint64_t>(execution_ns_),
        .answered = EndBatch(*seat.instance, &seat.instance->batch, seat.instance->ticket)};
  } else if (DetachedBatch& running = *seat.running; running.IsOver(seat.code, false)) {
    seat.outcome.answered = EndBatch(*seat.instance, &running.requests, running.ticket);
    seat.batches->GiveBack(running);
  }
  Come(index);
}

void SimulatedModel::EndDetached(DetachedBatch& batch) {
  dispatcher_->Answered(EndBatch(batch.instance(), &batch.requests, batch.ticket));
  seats_[batch.instance().index()].batches->GiveBack(batch);
}

void SimulatedModel::AnswerEarly(DetachedBatch& batch, Request& request) {
  Executed(SimulatedRequest::From(&request), false);
  dispatcher_->ExecutedEarly(batch.instance(), request);
  RequestList answered;
  answered.Append(&request);
  dispatcher_->Answered(completion_.Deliver(answered));
}

// Returns the number of requests that the batch's end answers.
size_t SimulatedModel::EndBatch(Instance& instance, std::vector<Request*>* batch, uint64_t ticket) {
  const std::vector<Request*> executed = *batch;
  const bool is_lost = std::exchange(seats_[instance.index()].is_lost, false);
  for (Request* const request : executed) {
    request->rescheduled = config_.sequences && config_.sequences->iterative && !is_lost &&
                           !request->cancelled && world_.chance.OneIn(2);
    Executed(SimulatedRequest::From(request), is_lost);
  }
  const auto costs = is_lost ? Costs() : std::vector<nrd_cost_point>();
  AnswerRemoved({.culprits = {}, .abandoned = dispatcher_->Executed(instance, batch)});
  Require(!is_lost || IsSame(costs, Costs()), "an execution that was lost is learned as a cost");
  for (Request* const request : executed) {
    if (request->state == RequestState::kQueued) {
      Wait(SimulatedRequest::From(request));
    }
    if (request->record.executed_batch_size == 0) {
      CheckGap(*SimulatedRequest::From(request)->sequence);
    }
  }
  RequestList answered;
  for (Request* const request : *batch) {
    answered.Append(request);
  }
  return config_.preserve_ordering ? ordered_->Finish(ticket, answered)
                                   : completion_.Deliver(answered);
}

void SimulatedModel::EndInline(uint64_t index) {
  Seat& seat = seats_[index];
  auto* const request = SimulatedRequest::From(seat.instance->batch.front());
  Executed(request, std::exchange(seat.is_lost, false));
  request->request.state = RequestState::kDone;
  AnswerRemoved(
      {.culprits = {},
       .abandoned = dispatcher_->GiveBack(*seat.instance, static_cast<uint64_t>(execution_ns_))});
  seat.phase = Phase::kWaiting;  // as its own thread did all the time
  Answer(request);
}

void SimulatedModel::AnswerRemoved(const RemovedRequests& removed) {
  for (const RequestList& list : {removed.culprits, removed.abandoned}) {
    for (Request* request = list.head; request != nullptr; request = request->next) {
      CheckRemoved(SimulatedRequest::From(request));
    }
  }
  for (const RequestList& list : {removed.culprits, removed.abandoned}) {
    for (Request* request = list.head; request != nullptr; request = request->next) {
      if (const ClientSequence* sequence = SimulatedRequest::From(request)->sequence) {
        CheckGap(*sequence);
      }
    }
    if (!list.empty()) {
      dispatcher_->Answered(completion_.Deliver(list));
    }
  }
}

void SimulatedModel::OnComplete(void* context, const uint64_t* tags, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    static_cast<SimulatedModel*>(context)->Answer(SimulatedRequest::From(tags[i]));
  }
}

}  // namespace nereid::simulation
