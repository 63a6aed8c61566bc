#include "core/objective/objective_queue.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace nereid {
namespace {

constexpr size_t kMostSeen = 1024;

bool HasSizes(const ModelConfig& config) {
  const auto inputs = config.VisibleInputs();
  return std::any_of(inputs.begin(), inputs.end(), [](const TensorSpec& spec) {
    return spec.ragged || spec.optional ||
           std::find(spec.dims.begin(), spec.dims.end(), -1) != spec.dims.end();
  });
}

uint64_t RowElements(const Request& request) {
  uint64_t elements = 0;
  for (uint32_t i = 0; i < request.record.input_count; ++i) {
    const nrd_tensor& input = request.record.inputs[i];
    uint64_t count = (input.flags & NRD_TENSOR_SELECTED) != 0 ? 1 : 0;
    for (uint32_t dim = 0; dim < input.rank; ++dim) {
      count *= static_cast<uint64_t>(std::max<int64_t>(input.shape[dim], 0));
    }
    elements += count;
  }
  return std::max<uint64_t>(elements / static_cast<uint64_t>(std::max<int64_t>(request.rows, 1)),
                            1);
}

bool IsOwnDeadline(const Request& request) {
  return request.record.deadline_ns > 0 && request.record.deadline_ns <= request.due_ns;
}

// Writes text on the stack, because threads that must not fail refuse waiting requests.
template <size_t capacity, typename... Values>
std::array<char, capacity> Format(const char* format, Values... values) {
  std::array<char, capacity> text;
  std::snprintf(text.data(), text.size(), format, values...);
  return text;
}

constexpr size_t kPart = 80;    // bytes for a part of a text
constexpr size_t kWhole = 320;  // bytes for a whole text

double Milliseconds(int64_t ns) { return static_cast<double>(ns) / 1e6; }

// "the objective of 20.000 ms", or "its deadline, 20.000 ms after it came".
std::array<char, kPart> WhatItMisses(const ObjectiveConfig& objective, const Request& request) {
  return IsOwnDeadline(request)
             ? Format<kPart>("its deadline, which is %.3f ms after it came",
                             Milliseconds(request.due_ns - request.submit_ns))
             : Format<kPart>("the objective of %.3f ms", Milliseconds(objective.latency_ns));
}

int32_t CodeOf(const Request& request) {
  return IsOwnDeadline(request) ? NRD_DEADLINE_EXCEEDED : NRD_UNAVAILABLE;
}

}  // namespace

void SetRefused(const ObjectiveConfig& objective, Request& request, int64_t now_ns) {
  const auto text = Format<kWhole>(
      "Request cannot be answered within %s: it has waited %.3f ms, and would be answered after "
      "%.3f ms",
      WhatItMisses(objective, request).data(), Milliseconds(now_ns - request.submit_ns),
      Milliseconds(request.predicted_ns - request.submit_ns));
  SetFailure(request, CodeOf(request), text.data());
}

ObjectiveQueue::ObjectiveQueue(const ModelConfig& config)
    : SharedQueue(config),
      objective_(*config.objective),
      sized_(HasSizes(config)),
      look_(std::max(config.max_batch_requests() + 1,
                     std::min(config.max_batch_requests() * 4, kMostSeen))),
      control_({.latency_ns = config.objective->latency_ns,
                .max_rows = std::max<int64_t>(config.max_batch_size, 1),
                .instances = config.objective->share.empty()
                                 ? config.instance_count
                                 : std::min(config.instance_count, config.objective->share_width)},
               1 - static_cast<double>(config.objective->quantile_ppm) / 1e6,
               config.objective->instance_kinds),
      succeeded_early_(config.instance_count) {
  for (const nrd_cost_point& cost : objective_.costs) {
    control_.Begin(cost);
  }
  seen_due_.reserve(look_);
}

void ObjectiveQueue::Prepare(Request& request) const {
  request.due_ns = AddDelay(request.submit_ns, static_cast<uint64_t>(objective_.latency_ns));
  if (request.record.deadline_ns > 0) {
    request.due_ns = std::min(request.due_ns, request.record.deadline_ns);
  }
  request.row_elements = sized_ ? RowElements(request) : 0;
  request.predicted_ns = 0;
}

// A request that cannot be answered in time is not run at once, so that Push says why.
bool ObjectiveQueue::PassesBy(Request& request, int64_t now_ns) {
  Prepare(request);
  return queue_.empty() &&
         control_.RunsAtOnce(request.rows, request.row_elements, request.due_ns, now_ns);
}

Status ObjectiveQueue::Push(Request& request, int64_t now_ns) {
  Prepare(request);
  control_.Arrived(request.rows, now_ns);
  const int64_t rows_ahead = queue_.RowsBefore(request);
  const int64_t predicted_ns =
      control_.PredictAnswer(request.rows, request.row_elements, rows_ahead, now_ns);
  if (predicted_ns > request.due_ns) {
    const int64_t alone_ns = control_.PredictAlone(request.rows, request.row_elements, now_ns);
    const bool alone = alone_ns > request.due_ns;
    CountRefused(request, alone ? &counts_.refused_cost : &counts_.refused_backlog);
    const auto ahead =
        Format<kPart>(", behind %lld rows that wait", static_cast<long long>(rows_ahead));
    const auto text =
        Format<kWhole>("Request cannot be answered within %s: it would be answered after %.3f ms%s",
                       WhatItMisses(objective_, request).data(),
                       Milliseconds((alone ? alone_ns : predicted_ns) - request.submit_ns),
                       alone ? ", with nothing before it" : ahead.data());
    return Status(CodeOf(request), text.data());
  }
  const int64_t least_ns = control_.LeastNs(request.rows, request.row_elements);
  request.latest_ns = predicted_ns == 0 ? kNever : request.due_ns - least_ns;
  NRD_RETURN_IF_ERROR(queue_.Push(&request, now_ns));
  newest_is_first_ = queue_.First() == &request;
  return Status();
}

void ObjectiveQueue::CountRefused(const Request& request, uint64_t* reason) {
  ++*reason;
  counts_.refused_deadline += IsOwnDeadline(request) ? 1 : 0;
}

// Looks at the requests that wait, as far as they matter now.
void ObjectiveQueue::See() {
  seen_due_.clear();
  const Request* const first = queue_.First();
  for (const Request* request = first; request != nullptr && seen_due_.size() < look_;
       request = queue_.After(request)) {
    const bool joins = config_.batch_policy.dynamic && Joins(*first, *request);
    seen_due_.push_back({.rows = request->rows, .due_ns = request->due_ns, .joins = joins});
    if (!joins && !rows_tell_ && seen_due_.size() > 1) {
      break;
    }
  }
}

BatchDecision ObjectiveQueue::Decide(uint32_t instance, int64_t now_ns) {
  latest_ns_ = kNever;
  if (now_ns == kNever) {  // at the end, waiting requests are executed in any case
    return SharedQueue::Decide(instance, now_ns);
  }
  ObjectiveDecision decision;
  do {
    See();
    const Request* const first = queue_.First();
    decision =
        control_.Decide(instance, first == nullptr ? 0 : first->row_elements, seen_due_, now_ns);
    for (size_t i = 0; i < decision.refuse; ++i) {
      Refuse(*queue_.First(), now_ns);
    }
    // Without the refused requests, others may join, and more may be refused.
  } while (decision.refuse > 0 && (!rows_tell_ || decision.refuse == seen_due_.size()));
  if (decision.take > 0) {
    const Request& first = *queue_.First();
    latest_ns_ =
        first.due_ns - (control_.PredictAlone(first.rows, first.row_elements, now_ns) - now_ns);
  }
  return {.take = static_cast<uint32_t>(decision.take),
          .end = EndOf(std::span(seen_due_).subspan(decision.refuse), decision.take),
          .wake_ns = decision.wake_ns};
}

// The reason for the first `count` to be a batch; `waiting` has no refused ones any more.
uint32_t ObjectiveQueue::EndOf(std::span<const DueRequest> waiting, size_t count) const {
  if (!config_.batch_policy.dynamic) {
    return NRD_BATCH_SINGLE;
  }
  if (count == waiting.size()) {
    return NRD_BATCH_IDLE;
  }
  int64_t rows = 0;
  for (const DueRequest& request : waiting.first(count + 1)) {
    rows += request.rows;
  }
  return !waiting[count].joins           ? NRD_BATCH_UNLIKE
         : rows > config_.max_batch_size ? NRD_BATCH_FULL
                                         : NRD_BATCH_OBJECTIVE;
}

void ObjectiveQueue::Refuse(Request& request, int64_t now_ns) {
  queue_.Remove(&request);
  request.predicted_ns = control_.PredictAlone(request.rows, request.row_elements, now_ns);
  CountRefused(request, &counts_.refused_waiting);
  refused_.Append(&request);
}

void ObjectiveQueue::TakeRefused(RemovedRequests* removed) {
  while (Request* const request = refused_.TakeFirst()) {
    removed->culprits.Append(request);
  }
}

void ObjectiveQueue::TakeExpired(int64_t now_ns, RemovedRequests* removed) {
  RequestList expired;
  queue_.TakeExpired(now_ns, &expired);
  while (Request* const request = expired.TakeFirst()) {
    if (request->latest_ns <= now_ns) {
      request->predicted_ns = control_.PredictAlone(request->rows, request->row_elements, now_ns);
      CountRefused(*request, &counts_.refused_waiting);
    }
    removed->culprits.Append(request);
  }
}

void ObjectiveQueue::BeginToWait(WaitingInstance& instance, int64_t wake_ns,
                                 WaitingInstances& waiting) {
  if (queue_.empty() || waiting.has_armed()) {
    waiting.BecomeIdle(instance);
  } else {
    waiting.BecomeArmedForQueue(instance, control_.plan().enough_rows, wake_ns);
  }
}

void ObjectiveQueue::Began(uint32_t instance, const std::vector<Request*>& batch, int64_t now_ns) {
  int64_t rows = 0;
  for (const Request* request : batch) {
    rows += request->rows;
  }
  if (rows > 0) {
    control_.Began(instance, rows, batch.front()->row_elements, now_ns);
  }
}

void ObjectiveQueue::Executed(uint32_t instance, const std::vector<Request*>& batch,
                              int64_t now_ns) {
  const bool measures = succeeded_early_[instance] ||
                        std::any_of(batch.begin(), batch.end(), [](const Request* request) {
                          return request->record.status == NRD_OK;
                        });
  succeeded_early_[instance] = false;
  control_.Ended(instance, measures, now_ns);
  Count(batch, now_ns);
}

void ObjectiveQueue::Count(std::span<const Request* const> requests, int64_t now_ns) {
  uint64_t kept = 0;
  uint64_t late = 0;
  for (const Request* request : requests) {
    if (request->record.status == NRD_OK) {
      ++(now_ns <= request->due_ns ? kept : late);
    }
  }
  counts_.kept += kept;
  counts_.late += late;
  control_.Answered(kept, late);
}

// An answer from the cache did not wait for an execution, so it is no measurement.
void ObjectiveQueue::Sent(const Request& request, uint64_t took_ns) {
  const nrd_request& record = request.record;
  if (record.status != NRD_OK || record.cache_hit != 0) {
    return;
  }
  const uint64_t inside_ns = record.queue_ns + record.compute_input_ns + record.compute_infer_ns +
                             record.compute_output_ns;
  control_.Sent(took_ns > inside_ns ? took_ns - inside_ns : 0);
}

void ObjectiveQueue::ReadObjective(int64_t now_ns, nrd_objective_stats* stats_out) {
  *stats_out = counts_;
  stats_out->struct_size = sizeof(nrd_objective_stats);
  stats_out->quantile_ppm = objective_.quantile_ppm;
  stats_out->latency_ns = static_cast<uint64_t>(objective_.latency_ns);
  stats_out->backlog = queue_.size();
  control_.Read(queue_.rows(), now_ns, stats_out);
}

}  // namespace nereid
