// A child's implementation of the functions in nereid.h that a backend calls for a batch.
#include "base/guarded.h"
#include "base/tensor.h"
#include "isolation/child/child_batch.h"

namespace {

using nereid::ChildBatch;
using nereid::DescribedTensor;
using nereid::Guarded;

int32_t RefuseState(nrd_error* error_out) {
  return nereid::Report(
      nereid::Status(NRD_UNIMPLEMENTED,
                     "the backend of an isolated model cannot keep states of sequences itself"),
      error_out);
}

}  // namespace

extern "C" {

int32_t nrd_batch_output(nrd_batch* batch, uint32_t index, int32_t datatype, uint32_t rank,
                         const int64_t* shape, uint64_t byte_size, void** data_out,
                         nrd_error* error_out) {
  return Guarded(error_out, [&] {
    return ChildBatch::From(batch)->Output(index, DescribedTensor(datatype, rank, shape, byte_size),
                                           data_out);
  });
}

int32_t nrd_batch_output_forward(nrd_batch* batch, uint32_t index, uint32_t input_index,
                                 nrd_error* error_out) {
  return Guarded(error_out, [&] { return ChildBatch::From(batch)->Forward(index, input_index); });
}

void nrd_batch_computed(nrd_batch* batch, int64_t start_ns, int64_t end_ns) {
  ChildBatch::From(batch)->Computed(start_ns, end_ns);
}

int32_t nrd_batch_request_output(nrd_batch* batch, uint32_t request_index, uint32_t index,
                                 int32_t datatype, uint32_t rank, const int64_t* shape,
                                 uint64_t byte_size, void** data_out, nrd_error* error_out) {
  return Guarded(error_out, [&] {
    return ChildBatch::From(batch)->RequestOutput(
        request_index, index, DescribedTensor(datatype, rank, shape, byte_size), data_out);
  });
}

int32_t nrd_batch_request_value(nrd_batch* batch, uint32_t request_index, const nrd_value* value,
                                nrd_error* error_out) {
  return Guarded(error_out,
                 [&] { return ChildBatch::From(batch)->AddValue(request_index, *value); });
}

int32_t nrd_batch_request_respond(nrd_batch* batch, uint32_t request_index, nrd_error* error_out) {
  return Guarded(error_out, [&] { return ChildBatch::From(batch)->Respond(request_index); });
}

int32_t nrd_batch_request_respond_error(nrd_batch* batch, uint32_t request_index, int32_t code,
                                        const char* message, uint64_t message_size,
                                        nrd_error* error_out) {
  return Guarded(error_out, [&] {
    return ChildBatch::From(batch)->RespondError(request_index, code,
                                                 nereid::View({message, message_size}));
  });
}

int32_t nrd_batch_request_reschedule(nrd_batch* batch, uint32_t request_index,
                                     nrd_error* error_out) {
  return Guarded(error_out, [&] { return ChildBatch::From(batch)->Reschedule(request_index); });
}

void nrd_batch_request_fail(nrd_batch* batch, uint32_t request_index, int32_t code,
                            const char* message, uint64_t message_size) {
  ChildBatch::From(batch)->Fail(request_index, code, nereid::View({message, message_size}));
}

// Not supported: states are in the parent's memory, and come as inputs of the batch.
int32_t nrd_batch_request_state(nrd_batch* /*batch*/, uint32_t /*request_index*/,
                                uint32_t /*state*/, nrd_tensor* /*found_out*/,
                                nrd_error* error_out) {
  return RefuseState(error_out);
}

int32_t nrd_batch_request_keep(nrd_batch* /*batch*/, uint32_t /*request_index*/, uint32_t /*state*/,
                               const nrd_tensor* /*made*/, nrd_error* error_out) {
  return RefuseState(error_out);
}

// Not supported: the parent answers all requests of a batch when the batch ends.
int32_t nrd_batch_request_finish(nrd_batch* /*batch*/, uint32_t /*request_index*/) {
  return NRD_FAILED_PRECONDITION;
}

void nrd_batch_finish(nrd_batch* batch, int32_t code, const char* message, uint64_t message_size) {
  ChildBatch::From(batch)->Finish(code, nereid::View({message, message_size}));
}

int32_t nrd_request_is_cancelled(const nrd_request* request) {
  return nereid::ChildRequest::From(request)->IsCancelled() ? 1 : 0;
}

}  // extern "C"
