// Outputs that are inputs: nrd_batch_output_forward.
#include <cstdlib>
#include <string>
#include <vector>

#include "test/core/core_fixture.h"

namespace nereid::test {
namespace {

FunctionBackend Forwarding() {
  return {.run = [](nrd_batch* batch, nrd_error* error) {
    return nrd_batch_output_forward(batch, 0, 0, error);
  }};
}

TEST_CASE("a forwarded input is the output, and outlives the request's inputs") {
  TestRuntime runtime;
  FunctionBackend backend = Forwarding();
  TestModel model(runtime, backend);
  TestRequest request(model, 2, 5);
  const void* const data = request->inputs[0].data;
  REQUIRE(request.SubmitAndWait() == NRD_OK);
  CHECK(request->outputs[0].data == data);
  nrd_request_drop_inputs(request.get());
  CHECK(request.output() == std::vector<int32_t>(8, 5));
}

TEST_CASE("requests of a batch share the memory that they were gathered in") {
  TestRuntime runtime;
  FunctionBackend backend = Forwarding();
  TestModel model(runtime, backend,
                  {.max_batch_size = 3,
                   .flags = NRD_MODEL_DYNAMIC_BATCHING,
                   .max_queue_delay_ns = kUntilFullNs});
  TestRequest one(model, 1, 1);
  TestRequest two(model, 2, 2);
  REQUIRE(one.Submit() == NRD_PENDING);
  REQUIRE(two.Submit() == NRD_PENDING);
  REQUIRE(one.Wait() == NRD_OK);
  REQUIRE(two.Wait() == NRD_OK);
  REQUIRE(one->executed_batch_size == 3);
  CHECK(one->outputs[0].slab == two->outputs[0].slab);
  CHECK(one.output() == std::vector<int32_t>(4, 1));
  CHECK(two.output() == std::vector<int32_t>(8, 2));
}

TEST_CASE("lent memory is copied: the answer may outlive it") {
  TestRuntime runtime;
  FunctionBackend backend = Forwarding();
  TestModel model(runtime, backend);
  TestRequest request(model, 1, 9);
  std::vector<int32_t> lent(4, 9);
  nrd_tensor& input = request->inputs[0];
  nrd_request_drop_inputs(request.get());
  input.data = lent.data();
  input.flags = NRD_TENSOR_SELECTED;
  REQUIRE(request.SubmitAndWait() == NRD_OK);
  CHECK(request->outputs[0].data != lent.data());
  lent.assign(4, 0);
  CHECK(request.output() == std::vector<int32_t>(4, 9));
}

TEST_CASE("forwarding replaces what the output had") {
  TestRuntime runtime;
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    const int32_t code = CopyInputs(batch, error);
    return code == NRD_OK ? nrd_batch_output_forward(batch, 0, 0, error) : code;
  }};
  TestModel model(runtime, backend);
  TestRequest request(model, 1, 3);
  REQUIRE(request.SubmitAndWait() == NRD_OK);
  CHECK(request->outputs[0].slab == request->inputs[0].slab);
  CHECK(request.output() == std::vector<int32_t>(4, 3));
}

TEST_CASE("what is not there cannot be forwarded") {
  TestRuntime runtime;
  uint32_t output = 0;
  uint32_t input = 0;
  FunctionBackend backend{.run = [&](nrd_batch* batch, nrd_error* error) {
    return nrd_batch_output_forward(batch, output, input, error);
  }};
  TestModel model(runtime, backend, {.with_optional_input = true});
  const auto message = [&](uint32_t to, uint32_t from) {
    output = to;
    input = from;
    TestRequest request(model);
    CHECK(request.SubmitAndWait() == NRD_INTERNAL);
    return std::string(request.message());
  };
  CHECK(message(1, 0).find("output 1") != std::string::npos);
  CHECK(message(0, 1).find("input 1") != std::string::npos);  // optional, and not given
  CHECK(message(0, 2).find("input 2") != std::string::npos);
}

}  // namespace
}  // namespace nereid::test
