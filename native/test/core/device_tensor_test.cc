// Inputs and outputs in the memory of a device: the core passes their addresses on and touches
// nothing there. The tests' address is invalid, so that an access would end the process.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

void* const kDeviceAddress = reinterpret_cast<void*>(uintptr_t{0x7f00'0000'1000});
constexpr uint32_t kTakesDeviceTensors = NRD_BACKEND_GATHERS | NRD_BACKEND_DEVICE_TENSORS;

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

// An empty record of the model.
nrd_request* Acquire(TestModel& model) {
  nrd_request* record = nullptr;
  REQUIRE(nrd_request_acquire(model.get(), &record, nullptr) == NRD_OK);
  return record;
}

// Answers each request with 1 if its input is at its place on device 3, else with 0.
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

void WantOnDevice(nrd_tensor* output, uint32_t device, int64_t room) {
  output->flags = NRD_TENSOR_SELECTED | NRD_TENSOR_DEVICE;
  output->device = device;
  output->shape[NRD_TARGET_ADDRESS] = static_cast<int64_t>(uintptr_t{0x7f00'0000'2000});
  output->shape[NRD_TARGET_BYTES] = room;
}

// Makes each request's output; one that has too little room fails alone.
int32_t MakeEach(nrd_batch* batch, nrd_error* error) {
  for (uint32_t i = 0; i < batch->request_count; ++i) {
    const nrd_request& request = *batch->requests[i];
    const nrd_tensor& input = request.inputs[0];
    const bool on_device = (request.outputs[0].flags & NRD_TENSOR_DEVICE) != 0;
    void* data = nullptr;
    const int32_t code = nrd_batch_request_output(batch, i, 0, NRD_TYPE_INT32, 2, input.shape,
                                                  input.byte_size, &data, error);
    if (code != NRD_OK) {
      nrd_batch_request_fail(batch, i, code, error->message, error->message_size);
    } else if (on_device) {
      CHECK(request.outputs[0].device == 3);
      CHECK(data == reinterpret_cast<void*>(uintptr_t{0x7f00'0000'2000}));
      CHECK(nrd_batch_request_output(batch, i, 0, NRD_TYPE_INT32, 2, input.shape, input.byte_size,
                                     &data, error) == NRD_INTERNAL);
    } else {
      std::fill_n(static_cast<int32_t*>(data), input.byte_size / 4, 7);
    }
  }
  return NRD_OK;
}

}  // namespace

TEST_CASE("device tensors: the backend gets the address, in a batch with others too") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&gate](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return TellPlaces(batch, error);
  }};
  backend.flags = kTakesDeviceTensors;
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

TEST_CASE("device tensors: they are refused where nobody could read them") {
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

TEST_CASE("device tensors: the response cache is left alone") {
  TestRuntime runtime(1 << 20);
  FunctionBackend backend{.run = TellPlaces};
  backend.flags = kTakesDeviceTensors;
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

TEST_CASE("device tensors: a backend that takes them gathers by itself") {
  TestRuntime runtime;
  FunctionBackend backend{.run = CopyInputs};
  backend.flags = NRD_BACKEND_DEVICE_TENSORS;
  nrd_model* model = nullptr;
  CHECK(LoadModel(runtime.get(), backend.Table(), {}, &model, nullptr) == NRD_INVALID_ARGUMENT);
}

TEST_CASE(
    "device tensors: an output is made where it is wanted, beside others and too small ones") {
  TestRuntime runtime;
  Gate gate;
  FunctionBackend backend{.run = [&gate](nrd_batch* batch, nrd_error* error) {
    gate.Enter();
    return MakeEach(batch, error);
  }};
  backend.flags = kTakesDeviceTensors;
  TestModel model(runtime, backend, {.flags = NRD_MODEL_DYNAMIC_BATCHING | NRD_MODEL_NO_INLINE});
  TestRequest blocker(model);
  blocker.Submit();
  gate.WaitForEntered(1);
  TestRequest wanted(model);
  WantOnDevice(&wanted->outputs[0], 3, 16);
  wanted.Submit();
  TestRequest small(model);
  WantOnDevice(&small->outputs[0], 3, 15);
  small.Submit();
  TestRequest other(model);
  other.Submit();
  gate.Open();
  CHECK(blocker.Wait() == NRD_OK);
  CHECK(wanted.Wait() == NRD_OK);
  CHECK(other.Wait() == NRD_OK);
  CHECK(small.Wait() == NRD_INVALID_ARGUMENT);
  CHECK(wanted->executed_batch_size == 3);
  const nrd_tensor& made = wanted->outputs[0];
  CHECK(made.data == reinterpret_cast<void*>(uintptr_t{0x7f00'0000'2000}));
  CHECK(made.slab == nullptr);
  CHECK(made.byte_size == 16);
  CHECK((made.rank == 2 && made.shape[0] == 1 && made.shape[1] == 4));
  CHECK(other.output() == std::vector<int32_t>(4, 7));
  CHECK(
      std::string_view(small->error->message, small->error->message_size) ==
      "shared memory size specified with the request for output 'OUTPUT0' (15 bytes) should be at "
      "least 16 bytes to hold the results");
  CHECK(small->outputs[0].data == nullptr);
}

TEST_CASE("device tensors: a common output of the batch is none where one is wanted on a device") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    const nrd_tensor& input = batch->requests[0]->inputs[0];
    void* data = nullptr;
    return nrd_batch_output(batch, 0, NRD_TYPE_INT32, 2, input.shape, input.byte_size, &data,
                            error);
  }};
  backend.flags = kTakesDeviceTensors;
  TestModel model(runtime, backend);
  TestRequest request(model);
  WantOnDevice(&request->outputs[0], 3, 16);
  CHECK(request.SubmitAndWait() == NRD_INTERNAL);
  CHECK(request->outputs[0].data == nullptr);
}

TEST_CASE("device tensors: outputs are refused where nobody could write them, and not cached") {
  TestRuntime runtime(1 << 20);
  FunctionBackend copying{.run = CopyInputs};
  TestModel plain(runtime, copying);
  TestRequest refused(plain);
  WantOnDevice(&refused->outputs[0], 3, 16);
  CHECK(refused.SubmitAndWait() == NRD_INVALID_ARGUMENT);
  CHECK(copying.executions == 0);
  FunctionBackend backend{.run = MakeEach};
  backend.flags = kTakesDeviceTensors;
  TestModel model(runtime, backend, {.flags = NRD_MODEL_RESPONSE_CACHE});
  for (int round = 0; round < 2; ++round) {
    TestRequest request(model);
    WantOnDevice(&request->outputs[0], 3, 16);
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(request->cache_hit == 0);
  }
  CHECK(backend.executions == 2);
}

}  // namespace nereid::test
