// The C ABI's part for backends: the functions about a batch that they execute.
#include "base/guarded.h"
#include "base/tensor.h"
#include "core/batch/batch_execution.h"
#include "nereid/nereid.h"

namespace {

using nereid::BatchExecution;
using nereid::DescribedTensor;
using nereid::Guarded;

}  // namespace

extern "C" {

int32_t nrd_batch_output(nrd_batch* batch, uint32_t index, int32_t datatype, uint32_t rank,
                         const int64_t* shape, uint64_t byte_size, void** data_out,
                         nrd_error* error_out) {
  return Guarded(error_out, [&] {
    return BatchExecution::From(batch)->Output(
        index, DescribedTensor(datatype, rank, shape, byte_size), data_out);
  });
}

int32_t nrd_batch_output_forward(nrd_batch* batch, uint32_t index, uint32_t input_index,
                                 nrd_error* error_out) {
  return Guarded(error_out,
                 [&] { return BatchExecution::From(batch)->ForwardInput(index, input_index); });
}

int32_t nrd_batch_request_output(nrd_batch* batch, uint32_t request_index, uint32_t index,
                                 int32_t datatype, uint32_t rank, const int64_t* shape,
                                 uint64_t byte_size, void** data_out, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    return BatchExecution::From(batch)->RequestOutput(
        request_index, index, DescribedTensor(datatype, rank, shape, byte_size), data_out);
  });
}

int32_t nrd_batch_request_reschedule(nrd_batch* batch, uint32_t request_index,
                                     nrd_error* error_out) {
  return Guarded(error_out, [&] { return BatchExecution::From(batch)->Reschedule(request_index); });
}

int32_t nrd_batch_request_state(nrd_batch* batch, uint32_t request_index, uint32_t state,
                                nrd_tensor* found_out, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    return BatchExecution::From(batch)->FindState(request_index, state, found_out);
  });
}

int32_t nrd_batch_request_keep(nrd_batch* batch, uint32_t request_index, uint32_t state,
                               const nrd_tensor* made, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    return BatchExecution::From(batch)->GiveState(request_index, state, *made);
  });
}

int32_t nrd_batch_request_respond(nrd_batch* batch, uint32_t request_index, nrd_error* error_out) {
  return Guarded(error_out, [&] { return BatchExecution::From(batch)->Respond(request_index); });
}

int32_t nrd_batch_request_respond_error(nrd_batch* batch, uint32_t request_index, int32_t code,
                                        const char* message, uint64_t message_size,
                                        nrd_error* error_out) {
  return Guarded(error_out, [&] {
    return BatchExecution::From(batch)->RespondError(request_index, code,
                                                     nereid::View({message, message_size}));
  });
}

int32_t nrd_batch_request_value(nrd_batch* batch, uint32_t request_index, const nrd_value* value,
                                nrd_error* error_out) {
  return Guarded(error_out,
                 [&] { return BatchExecution::From(batch)->AddValue(request_index, *value); });
}

void nrd_batch_computed(nrd_batch* batch, int64_t start_ns, int64_t end_ns) {
  BatchExecution::From(batch)->Computed(start_ns, end_ns);
}

void nrd_batch_finish(nrd_batch* batch, int32_t code, const char* message, uint64_t message_size) {
  BatchExecution::From(batch)->Finish(code, nereid::View({message, message_size}));
}

int32_t nrd_batch_request_finish(nrd_batch* batch, uint32_t request_index) {
  return BatchExecution::From(batch)->FinishRequest(request_index);
}

void nrd_batch_request_fail(nrd_batch* batch, uint32_t request_index, int32_t code,
                            const char* message, uint64_t message_size) {
  BatchExecution::From(batch)->FailRequest(request_index, code,
                                           nereid::View({message, message_size}));
}

}  // extern "C"
