#include "core/instance.h"

#include <exception>

#include "core/host_policy.h"
#include "core/response_values.h"
#include "core/store_answer.h"

namespace nereid {
namespace {

// For what is only kept on the side: being short of memory must not fail the request.
template <typename Action>
void BestEffort(Action&& action) noexcept {
  try {
    action();
  } catch (const std::exception&) {
  }
}

}  // namespace

Instance::Instance(uint32_t index, const SchedulerContext& context)
    : context_(context), index_(index), execution_(context.config, context.pool, context.account) {
  batch.reserve(context.config.max_batch_requests());
}

bool Instance::Open() {
  if (!context_.config.instances.empty()) {
    open_status_ = ApplyHostPolicy(context_.config.instances[index_]);
    if (!open_status_.ok()) {
      return false;
    }
  }
  nrd_error error{};
  const int32_t code =
      context_.backend.open_instance(context_.model_state, index_, &handle_, &error);
  open_status_ = StatusFromCallback(code, error, "opening an instance");
  return open_status_.ok();
}

void Instance::Close() { context_.backend.close_instance(handle_); }

std::string Instance::ThreadName() const {
  const std::string suffix = "-" + std::to_string(index_);
  return "nrd-" + context_.config.name.substr(0, 11 - suffix.size()) + suffix;
}

void Instance::Count(const Request& request, int64_t end_ns) {
  const nrd_request& record = request.record;
  const uint64_t total_ns = ElapsedNs(request.submit_ns, end_ns);
  if (record.status == NRD_OK) {
    context_.stats.RecordSuccess(index_, {.queue_ns = record.queue_ns,
                                          .compute_input_ns = record.compute_input_ns,
                                          .compute_infer_ns = record.compute_infer_ns,
                                          .compute_output_ns = record.compute_output_ns,
                                          .total_ns = total_ns});
  } else if (record.status == NRD_CANCELLED) {
    context_.stats.RecordFail(FailReason::kCancelled, total_ns);
  } else if (context_.config.decoupled && record.status == NRD_DEADLINE_EXCEEDED) {
    context_.stats.RecordFail(FailReason::kRejected, total_ns);
  } else {
    context_.stats.RecordFail(execution_.executed() ? FailReason::kBackend : FailReason::kOther,
                              total_ns);
  }
}

void Instance::Execute(int64_t start_ns, bool ran_inline) {
  const int64_t end_ns =
      execution_.Run(context_.backend, handle_, batch, start_ns, &context_.responder);
  uint64_t rows_answered = 0;
  uint64_t rows_rescheduled = 0;
  for (Request* request : batch) {
    nrd_request& record = request->record;
    record.ran_inline = ran_inline ? 1 : 0;
    record.queue_ns = ElapsedNs(request->enqueue_ns, start_ns);
    if (request->rescheduled) {
      rows_rescheduled += static_cast<uint64_t>(request->rows);
      continue;  // it is not answered yet
    }
    if (request->cacheable) {
      StoreAnswer(*context_.cache, context_.stats, *request);
    }
    Count(*request, end_ns);
    if (record.status == NRD_OK) {
      rows_answered += static_cast<uint64_t>(request->rows);
    }
  }
  if (rows_answered + rows_rescheduled > 0) {
    BestEffort([&] {
      context_.stats.RecordExecution(index_, rows_answered,
                                     static_cast<uint64_t>(execution_.rows()),
                                     execution_.compute_input_ns(), execution_.compute_infer_ns(),
                                     execution_.compute_output_ns(), ran_inline);
    });
  }
}

void Instance::WarmUp(Request& request) {
  batch.assign(1, &request);
  execution_.Run(context_.backend, handle_, batch, MonotonicNowNs(), nullptr);
  DropTensors(request.record.outputs, request.record.output_count);
  ClearResponseValues(request);
}

}  // namespace nereid
