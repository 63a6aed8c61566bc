// Inputs in the memory of a device: the core passes them on and reads nothing of them. The address
// here is one that would end the process if anybody did.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "core_fixture.h"

namespace nereid::test {
namespace {

void* const kDeviceAddress = reinterpret_cast<void*>(uintptr_t{0x7f00'0000'1000});
constexpr uint32_t kTakesDeviceInputs = NRD_BACKEND_GATHERS | NRD_BACKEND_DEVICE_INPUTS;

void PutOnDevice(nrd_tensor* input, uint32_t device) {
  input->byte_size = 4 * sizeof(int32_t);
  input->datatype = NRD_TYPE_INT32;
  input->rank = 2;
  input->shape[0] = 1;
  input->shape[1] = 4;
  input->data = kDeviceAddress;
  input->device = device;
  input->flags = NRD_TENSOR_SELECTED | NRD_TENSOR_DEVICE;
}

// A record of the model that nothing was put into.
nrd_request* Acquire(TestModel& model) {
  nrd_request* record = nullptr;
  REQUIRE(nrd_request_acquire(model.get(), &record, nullptr) == NRD_OK);
  return record;
}

// Answers each request with 1 where its input is on device 3, where it was put, and else with 0.
int32_t TellPlaces(nrd_batch* batch, nrd_error* error) {
  for (uint32_t i = 0; i < batch->request_count; ++i) {
    const nrd_tensor& input = batch->requests[i]->inputs[0];
    const bool on_device = (input.flags & NRD_TENSOR_DEVICE) != 0;
    CHECK((!on_device || (input.device == 3 && input.data == kDeviceAddress)));
    void* data = nullptr;
    const int32_t code = nrd_batch_request_output(batch, i, 0, NRD_TYPE_INT32, 2, input.shape,
                                                  input.byte_size, &data, error);
    if (code != NRD_OK) {
      return code;
    }
    std::fill_n(static_cast<int32_t*>(data), input.byte_size / 4, on_device ? 1 : 0);
  }
  return NRD_OK;
}

}  // namespace

TEST_CASE("device inputs: the backend gets the address, in a batch with others too") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&gate](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return TellPlaces(batch, error);
  }};
  backend.flags = kTakesDeviceInputs;
  TestModel model(runtime, backend, {.flags = NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_NO_INLINE});
  TestRequest blocker(model);
  blocker.Submit();
  gate.WaitForEntered(1);
  nrd_request* const record = Acquire(model);
  PutOnDevice(&record->inputs[0], 3);
  CHECK(nrd_request_submit(record) == NRD_PENDING);
  TestRequest other(model);
  other.Submit();
  gate.Open();
  CHECK(blocker.Wait() == NRD_OK);
  CHECK(other.Wait() == NRD_OK);
  CHECK(other->executed_batch_size == 2);
  CHECK(other.output() == std::vector<int32_t>(4, 0));
  CHECK(record->status == NRD_OK);
  CHECK(*static_cast<int32_t*>(record->outputs[0].data) == 1);
  nrd_request_reset(record);
  CHECK(record->inputs[0].flags == 0);
  nrd_request_release(record);
}

TEST_CASE("device inputs: they are refused where nobody could read them") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  TestModel model(runtime, backend);
  nrd_request* const record = Acquire(model);
  PutOnDevice(&record->inputs[0], 3);
  CHECK(nrd_request_submit(record) == NRD_INVALID_ARGUMENT);
  CHECK(std::string_view(record->error->message, record->error->message_size) ==
        "input 'INPUT0' for model 'm' is in the memory of a device, expected memory of the "
        "processor");
  CHECK(backend.executions == 0);
  nrd_request_release(record);
}

TEST_CASE("device inputs: the response cache is left alone") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend{.run = TellPlaces};
  backend.flags = kTakesDeviceInputs;
  TestModel model(runtime, backend, {.flags = NRD_MODEL_RESPONSE_CACHE});
  for (int round = 0; round < 2; ++round) {
    nrd_request* const record = Acquire(model);
    PutOnDevice(&record->inputs[0], 3);
    CHECK(nrd_request_submit(record) == NRD_OK);
    CHECK(record->cache_hit == 0);
    nrd_request_release(record);
  }
  CHECK(backend.executions == 2);
  nrd_cache_stats stats{};
  nrd_runtime_cache_stats(runtime.get(), &stats);
  CHECK(stats.entries == 0);
}

TEST_CASE("device inputs: a backend that takes them gathers by itself") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  backend.flags = NRD_BACKEND_DEVICE_INPUTS;
  nrd_model* model = nullptr;
  CHECK(LoadModel(runtime.get(), backend.Table(), {}, &model, nullptr) == NRD_INVALID_ARGUMENT);
}

}  // namespace nereid::test
