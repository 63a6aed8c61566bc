#include "core/ensemble/ensemble_run.h"

#include <algorithm>
#include <cstring>

#include "base/tensor.h"
#include "core/model/model.h"
#include "core/request/request_check.h"
#include "core/request/reshape.h"
#include "core/request/response_values.h"
#include "memory/buffer_pool.h"

namespace nereid {
namespace {

Status MissingInput(const EnsembleStep& step, const EnsembleStep::Input& input,
                    const Request& request) {
  const std::string& name = step.model->config().inputs[input.position].name;
  const std::string& own_name = request.model->config().inputs[input.value].name;
  return Status::InvalidArgument(step.where + "input '" + name + "' is required, but input '" +
                                 own_name + "' of the ensemble, which is optional, was not given");
}

// Adds or drops the batch dimension. `dims` are the receiver's.
void FitBatchDimension(BatchDimension passing, const std::vector<int64_t>& dims,
                       nrd_tensor* tensor) {
  if (passing == BatchDimension::kKept) [[likely]] {
    return;
  }
  const bool fits = ShapeFits(dims, false, 0, tensor->rank, tensor->shape);
  int64_t* const shape = tensor->shape;
  if (passing == BatchDimension::kAdded && fits) {
    std::copy_backward(shape, shape + tensor->rank, shape + tensor->rank + 1);
    shape[0] = 1;
    ++tensor->rank;
  } else if (passing == BatchDimension::kDropped && !fits && tensor->rank > 0 && shape[0] == 1) {
    std::copy(shape + 1, shape + tensor->rank, shape);
    --tensor->rank;
  }
}

}  // namespace

FailReason ReasonOf(const nrd_request& record) {
  if (record.status == NRD_CANCELLED) {
    return FailReason::kCancelled;
  }
  if (record.executed_batch_size > 0) {
    return FailReason::kBackend;
  }
  return record.status == NRD_UNAVAILABLE || record.status == NRD_DEADLINE_EXCEEDED
             ? FailReason::kRejected
             : FailReason::kOther;
}

void EnsembleRun::ReadyList::Append(Step* step) {
  step->next_ready = nullptr;
  (tail == nullptr ? head : tail->next_ready) = step;
  tail = step;
}

EnsembleRun::Step* EnsembleRun::ReadyList::TakeFirst() {
  Step* const first = head;
  if (first != nullptr) {
    head = first->next_ready;
    tail = head == nullptr ? nullptr : tail;
  }
  return first;
}

EnsembleRun::EnsembleRun(Ensemble& ensemble, const EnsembleGraph& graph, Model* behind,
                         const Responder& responder, Request& request)
    : ensemble_(ensemble),
      graph_(graph),
      request_(request),
      steps_(graph.steps.size()),
      takers_(graph.values.size()),
      flow_(behind == nullptr
                ? nullptr
                : std::make_unique<ResponseFlow>(*this, *behind, responder,
                                                 request.model->config().max_inflight_requests)) {
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    steps_[i].run = this;
    steps_[i].index = i;
  }
}

// Goes backwards, so that the takers of a step's outputs are known when the step is reached.
Status EnsembleRun::Prepare() {
  NRD_RETURN_IF_ERROR(KeepSequenceName());
  for (std::atomic<uint32_t>& takers : takers_) {
    takers.store(0, std::memory_order_relaxed);
  }
  const auto add_taker = [this](uint32_t value) {
    takers_[value].store(takers_[value].load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
  };
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    if (IsSelected(request_.record.outputs[i])) {
      add_taker(graph_.outputs[i]);
    }
  }
  if (flow_ != nullptr) {
    for (const nrd_link& output : graph_.steps.back().outputs) {
      add_taker(output.value);
    }
  }
  for (size_t i = steps_.size(); i-- > 0;) {
    const EnsembleStep& step = graph_.steps[i];
    steps_[i].request.store(nullptr, std::memory_order_relaxed);
    steps_[i].answered = false;
    steps_[i].needed =
        std::any_of(step.outputs.begin(), step.outputs.end(), [this](const nrd_link& link) {
          return takers_[link.value].load(std::memory_order_relaxed) > 0;
        });
    if (!steps_[i].needed) {
      continue;
    }
    uint32_t waiting_for = 0;
    for (const EnsembleStep::Input& input : step.inputs) {
      if (!IsInput(input.value)) {
        add_taker(input.value);
        ++waiting_for;
      } else if (input.required && !IsSelected(request_.record.inputs[input.value])) {
        return MissingInput(step, input, request_);
      }
    }
    steps_[i].waiting_for.store(waiting_for, std::memory_order_relaxed);
  }
  return Status();
}

// The record points to this copy from here on.
Status EnsembleRun::KeepSequenceName() {
  nrd_string& name = request_.record.sequence_name;
  if (name.size > sizeof(sequence_name_)) {
    return Status::InvalidArgument("sequence id has " + std::to_string(name.size) +
                                   " bytes, at most " + std::to_string(sizeof(sequence_name_)) +
                                   " are supported");
  }
  if (name.size > 0) {
    std::memmove(sequence_name_, name.data, name.size);  // may be the copy of the last use
    name.data = sequence_name_;
  }
  return Status();
}

void EnsembleRun::Begin() {
  if (flow_ != nullptr) {
    flow_->Begin();
  }
  stopped_.store(false, std::memory_order_relaxed);
  tokens_.store(1, std::memory_order_release);
}

bool EnsembleRun::TryAddToken() {
  uint32_t tokens = tokens_.load(std::memory_order_acquire);
  while (tokens != 0) {
    if (tokens_.compare_exchange_weak(tokens, tokens + 1, std::memory_order_acq_rel)) {
      return true;
    }
  }
  return false;
}

bool EnsembleRun::Stop(FailReason reason, int32_t code, std::string_view message) {
  if (stopped_.exchange(true, std::memory_order_seq_cst)) {
    return false;
  }
  fail_reason_ = reason;
  SetFailure(request_, code, message);
  return true;
}

void EnsembleRun::FindReady(ReadyList* ready) {
  for (Step& step : steps_) {
    if (step.needed && step.waiting_for.load(std::memory_order_relaxed) == 0) {
      ready->Append(&step);
    }
  }
}

void EnsembleRun::FillCommon(nrd_request* record) const {
  const nrd_request& whole = request_.record;
  record->tag = whole.tag;  // identifies the whole request to the step's backend
  record->flags = whole.flags;
  record->deadline_ns = whole.deadline_ns;
  record->priority = whole.priority;
  record->sequence_id = whole.sequence_id;
  record->sequence_name = whole.sequence_name;
  record->id = whole.id;
  record->values = whole.values;
  record->value_count = whole.value_count;
}

void EnsembleRun::FillPart(nrd_tensor* outputs, uint32_t count, Request* part) const {
  nrd_request* const record = &part->record;
  FillCommon(record);
  record->timeout_ns = request_.record.timeout_ns;  // anew: it limits the wait, not the lasting of
                                                    // a stream
  part->rows = request_.rows;
  const std::vector<nrd_link>& links = graph_.steps.back().outputs;
  for (uint32_t i = 0; i < record->input_count; ++i) {
    if (links[i].position < count) {
      record->inputs[i] = outputs[links[i].position];
      // A response may lack an optional input of the step behind.
      record->inputs[i].flags =
          record->inputs[i].data == nullptr ? uint32_t{0} : uint32_t{NRD_TENSOR_SELECTED};
      outputs[links[i].position].slab = nullptr;
      outputs[links[i].position].data = nullptr;
    }
  }
  for (uint32_t i = 0; i < record->output_count; ++i) {
    record->outputs[i].flags = request_.record.outputs[i].flags & NRD_TENSOR_SELECTED;
  }
}

void EnsembleRun::FillStep(const Step& step, nrd_request* record) {
  const EnsembleStep& config = graph_.steps[step.index];
  FillCommon(record);
  for (const EnsembleStep::Input& input : config.inputs) {
    if (IsInput(input.value) && !IsSelected(request_.record.inputs[input.value])) {
      continue;  // optional on both sides
    }
    nrd_tensor& target = record->inputs[input.position];
    Take(input.value, &target);
    if (!IsInput(input.value) && target.data == nullptr) {
      continue;  // the step before did not make it; a model that requires it refuses
    }
    target.flags = NRD_TENSOR_SELECTED;
    FitBatchDimension(input.batch_dimension, config.model->config().inputs[input.position].dims,
                      &target);
  }
  for (const nrd_link& output : config.outputs) {
    if (takers_[output.value].load(std::memory_order_relaxed) > 0) {
      record->outputs[output.position].flags = NRD_TENSOR_SELECTED;
    }
  }
}

// Gives a copy of the description and a reference to the bytes. The last taker of a step's output
// gets the reference that the step's record had, so that the buffer is free as soon as that taker
// is done with it.
void EnsembleRun::Take(uint32_t value, nrd_tensor* target) {
  const uint32_t flags = target->flags;
  if (IsInput(value)) {
    const ModelConfig& config = request_.model->config();
    *target = request_.record.inputs[value];
    target->flags = flags;
    if (config.reshapes_inputs) {
      ToBackendShape(config.inputs[value], config.batched(), target);
    }
    if (target->slab != nullptr) {
      BufferPool::Retain(target->slab);
    }
    return;
  }
  const EnsembleGraph::Value& from = graph_.values[value];
  const Request& producer = *steps_[from.step].request.load(std::memory_order_relaxed);
  nrd_tensor& source = producer.record.outputs[from.position];
  *target = source;
  target->flags = flags;
  // Others retain before they count themselves out, so 1 means that no other thread reads here.
  if (takers_[value].load(std::memory_order_acquire) == 1) {
    source.slab = nullptr;
    source.data = nullptr;
    return;
  }
  if (target->slab != nullptr) {
    BufferPool::Retain(target->slab);
  }
  takers_[value].fetch_sub(1, std::memory_order_release);
}

void EnsembleRun::Produced(const Step& step, ReadyList* ready) {
  for (const nrd_link& output : graph_.steps[step.index].outputs) {
    for (const uint32_t consumer : graph_.values[output.value].consumers) {
      Step& next = steps_[consumer];
      if (next.needed && next.waiting_for.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        ready->Append(&next);
      }
    }
  }
}

void EnsembleRun::TakeOutputs() {
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    nrd_tensor& output = request_.record.outputs[i];
    if (IsSelected(output)) {
      Take(graph_.outputs[i], &output);
    }
  }
}

Status EnsembleRun::FitOutputs() {
  const ModelConfig& config = request_.model->config();
  for (const EnsembleGraph::FittedOutput& fitted : graph_.fitted_outputs) {
    nrd_tensor& output = request_.record.outputs[fitted.position];
    const TensorSpec& spec = config.outputs[fitted.position];
    if (!IsSelected(output) || output.data == nullptr) {
      continue;
    }
    const std::vector<int64_t>& dims = spec.BackendDims();
    FitBatchDimension(fitted.batch_dimension, dims, &output);
    if (!ShapeFits(dims, config.batched(), request_.rows, output.rank, output.shape)) {
      const uint32_t value = graph_.outputs[fitted.position];
      const std::string& where =
          IsInput(value) ? graph_.inputs_where : graph_.steps[graph_.values[value].step].where;
      return Status::Internal(
          where + "produced shape " + ShapeToString(output.rank, output.shape) + " for output '" +
          spec.name + "' of the ensemble, expected " + ExpectedShape(dims, config.batched()) +
          (config.batched() ? " with batch size " + std::to_string(request_.rows) : ""));
    }
    ToClientShape(spec, config.batched(), &output);
  }
  return Status();
}

void EnsembleRun::AddTimes(const nrd_request& part) {
  nrd_request& record = request_.record;
  record.queue_ns += part.queue_ns;
  record.compute_input_ns += part.compute_input_ns;
  record.compute_infer_ns += part.compute_infer_ns;
  record.compute_output_ns += part.compute_output_ns;
}

void EnsembleRun::CancelSteps() {
  for (Step& step : steps_) {
    Request* const request = step.request.load(std::memory_order_seq_cst);
    if (request != nullptr &&
        request->state.load(std::memory_order_acquire) != RequestState::kDone) {
      (void)request->model->Cancel(*request);
    }
  }
  if (flow_ != nullptr) {
    flow_->Close();
  }
}

void EnsembleRun::CancelLastStep() {
  Request* const request = steps_.back().request.load(std::memory_order_seq_cst);
  if (request->state.load(std::memory_order_acquire) != RequestState::kDone) {
    (void)request->model->Cancel(*request);
  }
}

void EnsembleRun::SumUp(bool on_submitter) {
  nrd_request& record = request_.record;
  bool executed = record.status == NRD_OK;
  bool ran_inline = on_submitter;
  for (Step& step : steps_) {
    Request* const request = step.request.load(std::memory_order_relaxed);
    if (request == nullptr) {
      continue;
    }
    if (step.answered) {
      const nrd_request& part = request->record;
      executed |= part.executed_batch_size > 0;
      ran_inline &= part.ran_inline != 0 || part.cache_hit != 0;
      AddTimes(part);
      GiveResponseValues(TakeResponseValues(*request), request_);
    }
    request->model->GiveBack(*request);
  }
  record.ran_inline = executed && ran_inline ? 1 : 0;
  record.executed_batch_size = executed ? static_cast<uint32_t>(request_.rows) : 0;
}

}  // namespace nereid
