#include "core/schedule/instance.h"

#include <exception>

#include "core/request/response_values.h"
#include "core/request/store_answer.h"
#include "core/schedule/host_policy.h"

namespace nereid {
namespace {

// Runs an action whose lack of memory must not fail the request, such as counting.
template <typename Action>
void BestEffort(Action&& action) noexcept {
  try {
    action();
  } catch (const std::exception&) {
  }
}

}  // namespace

Instance::Instance(uint32_t index, const SchedulerContext& context, DetachedBatch::Owner& owner)
    : WaitingInstance(index),
      context_(context),
      execution_(context.config, context.pool, context.account),
      attends_(context.config.objective.has_value() ||
               (!context.config.instances.empty() &&
                !context.config.instances[index].resources.empty())) {
  batch.reserve(context.config.max_batch_requests());
  if ((context.backend.flags & NRD_BACKEND_DETACHES) != 0) {
    detachable_ = std::make_unique<DetachedBatches>(*this, owner, context.config, context.pool,
                                                    context.account);
  }
}

// Opens the instance. Exceptions must not end the thread: the starter gets them as status.
bool Instance::Open() {
  try {
    open_status_ = OpenHandle();
    return open_status_.ok();
  } catch (...) {
    thrown_ = std::current_exception();
    return false;
  }
}

Status Instance::OpenHandle() {
  if (!context_.config.instances.empty()) {
    NRD_RETURN_IF_ERROR(ApplyHostPolicy(context_.config.instances[index()]));
  }
  nrd_error error{};
  const int32_t code =
      context_.backend.open_instance(context_.model_state, index(), &handle_, &error);
  return StatusFromCallback(code, error, "opening an instance");
}

void Instance::Close() { context_.backend.close_instance(handle_); }

std::string Instance::ThreadName() const {
  const std::string suffix = "-" + std::to_string(index());
  return "nrd-" + context_.config.name.substr(0, 11 - suffix.size()) + suffix;
}

// Runs an action that writes counters: one thread at a time for an instance.
template <typename Action>
void Instance::Recording(Action&& action) {
  if (detachable_ == nullptr) [[likely]] {
    action();
  } else {
    const MutexLock lock(recording_);
    action();
  }
}

void Instance::Count(const Request& request, bool executed, int64_t end_ns) {
  const nrd_request& record = request.record;
  const uint64_t total_ns = ElapsedNs(request.submit_ns, end_ns);
  if (record.status == NRD_OK) {
    Recording([&] {
      context_.stats.RecordSuccess(index(), {.queue_ns = record.queue_ns,
                                             .compute_input_ns = record.compute_input_ns,
                                             .compute_infer_ns = record.compute_infer_ns,
                                             .compute_output_ns = record.compute_output_ns,
                                             .total_ns = total_ns});
    });
  } else if (record.status == NRD_CANCELLED) {
    context_.stats.RecordFail(FailReason::kCancelled, total_ns);
  } else if (context_.config.decoupled && record.status == NRD_DEADLINE_EXCEEDED) {
    context_.stats.RecordFail(FailReason::kRejected, total_ns);
  } else {
    context_.stats.RecordFail(executed ? FailReason::kBackend : FailReason::kOther, total_ns);
  }
}

bool Instance::Execute(int64_t start_ns, bool ran_inline) {
  if (detachable_ == nullptr) [[likely]] {
    const int64_t end_ns =
        execution_.Run(context_.backend, handle_, batch, start_ns, &context_.responder);
    Record(execution_, batch, start_ns, end_ns, ran_inline);
    return true;
  }
  DetachedBatch& running = detachable_->Begin(&batch, ticket, start_ns);
  const int32_t code = running.execution.Start(context_.backend, handle_, running.requests,
                                               start_ns, &context_.responder);
  if (!running.IsOver(code, attends_)) {
    return false;
  }
  EndDetached(running);
  batch.swap(running.requests);
  detachable_->GiveBack(running);
  return true;
}

void Instance::EndDetached(DetachedBatch& detached) {
  const int64_t end_ns = detached.End();
  Record(detached.execution, detached.requests, detached.start_ns, end_ns, false,
         detached.early_rows);
}

void Instance::EndEarly(const DetachedBatch& detached, Request& request) {
  request.record.ran_inline = 0;
  request.record.queue_ns = ElapsedNs(request.enqueue_ns, detached.start_ns);
  if (request.cacheable) {
    StoreAnswer(*context_.cache, context_.stats, request);
  }
  Count(request, true, MonotonicNowNs());
}

void Instance::AwaitDetached() {
  if (detachable_ != nullptr) {
    detachable_->AwaitAll();
  }
}

void Instance::Record(const BatchExecution& execution, const std::vector<Request*>& requests,
                      int64_t start_ns, int64_t end_ns, bool ran_inline, uint64_t rows_answered) {
  uint64_t rows_rescheduled = 0;
  for (Request* request : requests) {
    nrd_request& record = request->record;
    record.ran_inline = ran_inline ? 1 : 0;
    record.queue_ns = ElapsedNs(request->enqueue_ns, start_ns);
    if (request->rescheduled) {
      rows_rescheduled += static_cast<uint64_t>(request->rows);
      continue;  // not answered yet
    }
    if (request->cacheable) {
      StoreAnswer(*context_.cache, context_.stats, *request);
    }
    Count(*request, execution.executed(), end_ns);
    if (record.status == NRD_OK) {
      rows_answered += static_cast<uint64_t>(request->rows);
    }
  }
  if (rows_answered + rows_rescheduled > 0) {
    BestEffort([&] {
      Recording([&] {
        context_.stats.RecordExecution(index(), rows_answered,
                                       static_cast<uint64_t>(execution.rows()),
                                       execution.compute_input_ns(), execution.compute_infer_ns(),
                                       execution.compute_output_ns(), ran_inline);
      });
    });
  }
}

void Instance::WarmUp(Request& request) {
  batch.assign(1, &request);
  if (detachable_ == nullptr) {
    execution_.Run(context_.backend, handle_, batch, MonotonicNowNs(), nullptr);
  } else {
    DetachedBatch& running = detachable_->Begin(&batch, 0, MonotonicNowNs());
    const int32_t code = running.execution.Start(context_.backend, handle_, running.requests,
                                                 running.start_ns, nullptr);
    running.IsOver(code, true);
    running.End();
    detachable_->GiveBack(running);
  }
  request.rescheduled = false;  // one execution warms up
  DropTensors(request.record.outputs, request.record.output_count);
  ClearResponseValues(request);
}

}  // namespace nereid
