#include "triton/sequence_state.h"

#include <algorithm>
#include <cstring>

#include "base/tensor.h"
#include "triton/calls.h"
#include "triton/host.h"
#include "triton/request.h"

namespace nereid::triton {

void SequenceState::Begin(int32_t datatype, const int64_t* shape, uint32_t rank, bool pinned,
                          const nrd_tensor& place) {
  End();
  place_ = place;
  tensor_.datatype = datatype;
  tensor_.rank = rank;
  std::copy_n(shape, rank, tensor_.shape);
  attributes_.type = pinned ? TRITONSERVER_MEMORY_CPU_PINNED : TRITONSERVER_MEMORY_CPU;
  attributes_.byte_size = 0;
  attributes_.OpenFor(nullptr);
  Open(kKind, nullptr);
}

void SequenceState::End() {
  if (tensor_.slab != nullptr) {
    nrd_buffer_release(tensor_.slab);
  }
  tensor_ = nrd_tensor{};
  updated_ = false;
  attributes_.End();
  Close();
}

Status SequenceState::Buffer(uint64_t byte_size, void** out) {
  if (place_.data != nullptr && byte_size <= place_.byte_size) {
    tensor_.data = place_.data;
    tensor_.byte_size = byte_size;
  } else if (tensor_.slab == nullptr || tensor_.byte_size != byte_size) {
    if (tensor_.slab != nullptr) {
      nrd_buffer_release(tensor_.slab);
      tensor_.slab = nullptr;
    }
    Status status = Ask("the core", [&](nrd_error* error) {
      return nrd_buffer_alloc(TheHost().runtime, byte_size, &tensor_.slab, error);
    });
    if (!status.ok()) {
      tensor_.slab = nullptr;
      return status;
    }
    tensor_.data = tensor_.slab;
    tensor_.byte_size = byte_size;
  }
  attributes_.byte_size = byte_size;
  *out = tensor_.data;
  return Status();
}

Status SequenceState::Update() {
  if (tensor_.data == nullptr) {
    return Status::InvalidArgument("a state is updated that has no buffer yet");
  }
  updated_ = true;
  return Status();
}

namespace {

// The request's new state: the one that the backend made, or the old one. Null data: the state of a
// row without a request.
nrd_tensor StateOf(Request& request, size_t index, const std::string& input) {
  if (request.record() == nullptr) {
    return {};
  }
  if (request.state(index).updated()) {
    return request.state(index).tensor();
  }
  const Input* const before = request.FindInput(input);
  return before == nullptr ? nrd_tensor{} : before->tensor();
}

Status WriteOfRequest(nrd_batch* batch, uint32_t output, const Request& request,
                      const nrd_tensor& state) {
  if (request.record() == nullptr || request.record()->outputs[output].data != nullptr) {
    return Status();  // the response has it
  }
  void* data = nullptr;
  NRD_RETURN_IF_ERROR(Ask("the core", [&](nrd_error* error) {
    return nrd_batch_request_output(batch, request.index(), output, state.datatype, state.rank,
                                    state.shape, state.byte_size, &data, error);
  }));
  std::memcpy(data, state.data, state.byte_size);
  return Status();
}

Status WriteOfBatch(nrd_batch* batch, uint32_t output, const std::string& name,
                    std::span<const nrd_tensor> states) {
  const auto first = std::find_if(states.begin(), states.end(),
                                  [](const nrd_tensor& state) { return state.data != nullptr; });
  if (first == states.end()) {
    return Status();
  }
  const uint64_t empty_bytes = EmptyRowBytes(*first);
  uint64_t byte_size = 0;
  for (const nrd_tensor& state : states) {
    if (state.data != nullptr &&
        (state.rank != first->rank ||
         !std::equal(state.shape, state.shape + state.rank, first->shape))) {
      return Status::Internal("the requests of a batch have states '" + name +
                              "' of different shapes");
    }
    byte_size += state.data == nullptr ? empty_bytes : state.byte_size;
  }
  nrd_tensor whole = *first;
  if (batch->batch_size > 0) {
    whole.shape[0] = batch->batch_size;
  }
  void* data = nullptr;
  NRD_RETURN_IF_ERROR(Ask("the core", [&](nrd_error* error) {
    return nrd_batch_output(batch, output, whole.datatype, whole.rank, whole.shape, byte_size,
                            &data, error);
  }));
  char* to = static_cast<char*>(data);
  for (const nrd_tensor& state : states) {
    if (state.data == nullptr) {
      std::memset(to, 0, empty_bytes);
      to += empty_bytes;
    } else {
      std::memmove(to, state.data, state.byte_size);  // source and target may be the same
      to += state.byte_size;
    }
  }
  return Status();
}

}  // namespace

Status WriteStates(nrd_batch* batch, const ModelTensors& tensors,
                   std::span<Request* const> requests) {
  for (size_t i = 0; i < tensors.states.size(); ++i) {
    const StateInfo& info = tensors.states[i];
    std::vector<nrd_tensor> states;
    for (Request* request : requests) {
      states.push_back(StateOf(*request, i, tensors.inputs[info.input].name));
      if (!tensors.outputs[info.output].is_hidden) {
        NRD_RETURN_IF_ERROR(WriteOfRequest(batch, info.output, *request, states.back()));
      }
    }
    if (tensors.outputs[info.output].is_hidden) {
      NRD_RETURN_IF_ERROR(
          WriteOfBatch(batch, info.output, tensors.outputs[info.output].name, states));
    }
  }
  return Status();
}

}  // namespace nereid::triton
