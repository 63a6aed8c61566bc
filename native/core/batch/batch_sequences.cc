#include "core/batch/batch_sequences.h"

#include "core/request/response_values.h"

namespace nereid {

BatchSequences::BatchSequences(const ModelConfig& config, BufferPool& pool, PoolAccount* account,
                               const OutputMaker& maker)
    : maker_(maker), tensors_(config, pool, account) {
  if (config.sequences->release_state != nullptr) {
    backend_states_.emplace(config);
  }
}

void BatchSequences::Select(std::span<nrd_tensor> outputs) const {
  for (const StateSpec& state : tensors_.states()) {
    outputs[state.output].flags = backend_states_ ? 0 : NRD_TENSOR_SELECTED;
  }
}

Status BatchSequences::Give(uint32_t index, const Request& request, uint32_t state,
                            const nrd_tensor& made) {
  nrd_tensor described{};
  NRD_RETURN_IF_ERROR(
      maker_.Describe(tensors_.states()[state].output, request.rows, made, &described));
  described.data = made.data;
  return backend_states_->Give(index, state, described);
}

// The state of a failed request is not kept.
void BatchSequences::Keep(std::span<Request* const> requests, int64_t rows,
                          std::span<const nrd_tensor> outputs) {
  for (const StateSpec& state : tensors_.states()) {
    if (const Status status = maker_.CheckBytes(state.output, outputs[state.output]);
        !status.ok()) {
      for (Request* request : requests) {
        SetFailure(*request, status.code(), status.message());
      }
    }
  }
  for (uint32_t i = 0; i < requests.size(); ++i) {
    Request& request = *requests[i];
    if (request.record.status != NRD_OK) {
      continue;
    }
    const Status status =
        backend_states_ ? backend_states_->Keep(i, request) : tensors_.Keep(request, rows, outputs);
    if (!status.ok()) {
      SetFailure(request, status.code(), status.message());
    }
  }
}

void BatchSequences::End(std::span<Request* const> requests) {
  for (Request* request : requests) {
    request->rescheduled = request->rescheduled && request->record.status == NRD_OK;
    if (request->rescheduled) {
      DropTensors(request->record.outputs, request->record.output_count);
      ClearResponseValues(*request);
    }
  }
  if (backend_states_) {
    backend_states_->DropRest(requests);
  }
}

}  // namespace nereid
