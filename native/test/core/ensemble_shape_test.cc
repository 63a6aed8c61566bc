// Tests ensembles whose steps answer in shapes that do not fit the next step.
#include <cstring>

#include "test/core/ensemble_fixture.h"

namespace nereid::test {
namespace {

constexpr uint32_t kInline = 0;

// Answers one request with zeros in a shape of its own choice.
int32_t AnswerShape(nrd_batch* batch, nrd_error* error, const std::vector<int64_t>& shape) {
  uint64_t byte_size = sizeof(int32_t);
  for (const int64_t dim : shape) {
    byte_size *= static_cast<uint64_t>(dim);
  }
  void* data = nullptr;
  const int32_t code =
      nrd_batch_output(batch, 0, NRD_TYPE_INT32, static_cast<uint32_t>(shape.size()), shape.data(),
                       byte_size, &data, error);
  if (code == NRD_OK) {
    std::memset(data, 0, byte_size);
  }
  return code;
}

TEST_CASE("an output in a shape that the ensemble does not declare fails the request") {
  TestRuntime runtime(1 << 20);
  std::vector<int64_t> shape;
  FunctionBackend backend{
      .run = [&](nrd_batch* batch, nrd_error* error) { return AnswerShape(batch, error, shape); }};
  for (const uint32_t flags : {kInline, uint32_t{NRD_MODEL_NO_INLINE}}) {
    TestModel any(runtime, backend, {.name = "any", .flags = flags, .dim = -1});
    EnsembleSettings settings = Chain({any.get()});
    settings.flags = flags | NRD_MODEL_RESPONSE_CACHE;
    TestModel inner(LoadEnsemble(runtime, settings));
    settings = Chain({inner.get()});
    settings.name = "outer";
    TestModel outer(LoadEnsemble(runtime, settings));
    TestRequest request(inner);
    TestRequest nested(outer);
    shape = {1, 7};
    for (int i = 0; i < 2; ++i) {  // nothing of it is in the cache
      CHECK(request.SubmitAndWait() == NRD_INTERNAL);
      CHECK(request.message() ==
            "in ensemble 'e', step 'any': produced shape [1,7] for output 'OUTPUT0' of the "
            "ensemble, expected [-1,4] with batch size 1");
      CHECK(request->outputs[0].data == nullptr);
      CHECK(request->outputs[0].slab == nullptr);
      CHECK(inner.stats().fail_backend == static_cast<uint64_t>(i) + 1);
    }
    CHECK(nested.SubmitAndWait() == NRD_INTERNAL);
    CHECK(nested.message().substr(0, 36) == "in ensemble 'outer', in ensemble 'e'");
    CHECK(inner.stats().success.count == 0);
    CHECK(inner.stats().executing_count == 0);
    shape = {1, 4};
    CHECK(request.SubmitAndWait() == NRD_OK);
    CHECK(request.output() == std::vector<int32_t>(4, 0));
  }
}

TEST_CASE("only the outputs that were asked for are checked") {
  TestRuntime runtime;
  FunctionBackend grows{.run = [&](nrd_batch* batch, nrd_error* error) {
    return AnswerShape(batch, error, {1, 7});
  }};
  FunctionBackend keeps = Adder(0);
  TestModel seven(runtime, grows, {.name = "seven", .flags = kInline, .dim = -1});
  TestModel same(runtime, keeps, {.name = "same", .flags = kInline, .dim = -1});
  EnsembleSettings settings;
  settings.outputs = {Int32Spec("SEVEN"), Int32Spec("SAME"), Int32Spec("FREE")};
  settings.outputs[2].dims[0] = -1;
  settings.steps = {{seven.get(), {{0, 0}}, {{0, 1}}}, {same.get(), {{0, 0}}, {{0, 2}}}};
  settings.output_values = {1, 2, 1};
  TestModel ensemble(LoadEnsemble(runtime, settings));
  TestRequest request(ensemble);
  request->outputs[1].flags = NRD_TENSOR_SELECTED;
  request->outputs[2].flags = NRD_TENSOR_SELECTED;
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request.output(1) == std::vector<int32_t>(4, 7));
  CHECK(request->outputs[2].shape[1] == 7);
  request->outputs[0].flags = NRD_TENSOR_SELECTED;
  CHECK(request.SubmitAndWait() == NRD_INTERNAL);
  CHECK(request.message() ==
        "in ensemble 'e', step 'seven': produced shape [1,7] for output 'SEVEN' of the ensemble, "
        "expected [-1,4] with batch size 1");
}

TEST_CASE("a step with free outputs leaves them out, or gives them another datatype and shape") {
  TestRuntime runtime;
  std::atomic<bool> makes{false};
  FunctionBackend free{.run =
                           [&](nrd_batch* batch, nrd_error* error) {
                             const int64_t shape[] = {0};
                             void* data = nullptr;
                             return makes ? nrd_batch_output(batch, 0, NRD_TYPE_FP64, 1, shape, 0,
                                                             &data, error)
                                          : int32_t{NRD_OK};
                           },
                       .flags = NRD_BACKEND_FREE_OUTPUTS};
  FunctionBackend keeps = Adder(1);
  TestModel any(runtime, free, {.name = "any", .flags = kInline});
  TestModel four(runtime, keeps, {.name = "four", .flags = kInline});
  TestRequest alone(any);
  CHECK(alone.SubmitAndWait() == NRD_OK);
  CHECK(alone->outputs[0].data == nullptr);
  makes = true;
  CHECK(alone.SubmitAndWait() == NRD_OK);
  CHECK(alone->outputs[0].datatype == NRD_TYPE_FP64);
  CHECK(alone->outputs[0].rank == 1);
  makes = false;
  TestModel last(LoadEnsemble(runtime, Chain({any.get()})));
  TestRequest request(last);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(request->outputs[0].data == nullptr);
  TestModel first(LoadEnsemble(runtime, Chain({any.get(), four.get()})));
  TestRequest missing(first);
  CHECK(missing.SubmitAndWait() == NRD_INVALID_ARGUMENT);
  CHECK(missing.message().find("'four'") != std::string_view::npos);
  CHECK(keeps.executions == 0);
}

TEST_CASE("a step without a batch dimension must answer as many rows as came") {
  TestRuntime runtime;
  std::vector<int64_t> shape;
  FunctionBackend changes{
      .run = [&](nrd_batch* batch, nrd_error* error) { return AnswerShape(batch, error, shape); }};
  TestModel flat(runtime, changes,
                 {.name = "flat", .max_batch_size = 0, .flags = kInline, .dim = -1});
  EnsembleSettings settings = Chain({flat.get(), flat.get()});
  settings.inputs[0].rank = 0;
  settings.outputs[0].rank = 0;
  TestModel ensemble(LoadEnsemble(runtime, settings));
  TestRequest request(ensemble, 1, 7, 8);
  request->inputs[0].rank = 1;
  request->inputs[0].shape[0] = 8;
  shape = {3};
  CHECK(request.Submit() == NRD_INTERNAL);
  CHECK(request.message() ==
        "in ensemble 'e', step 'flat': produced shape [3] for output 'OUTPUT0' of the ensemble, "
        "expected [-1] with batch size 8");
  shape = {8};
  CHECK(request.Submit() == NRD_OK);
  CHECK(request.output() == std::vector<int32_t>(8, 0));
}

TEST_CASE("a tensor between two steps that does not fit the second fails there") {
  TestRuntime runtime;
  FunctionBackend grows{.run = [&](nrd_batch* batch, nrd_error* error) {
    return AnswerShape(batch, error, {1, 7});
  }};
  FunctionBackend keeps = Adder(1);
  TestModel any(runtime, grows, {.name = "any", .flags = kInline, .dim = -1});
  TestModel four(runtime, keeps, {.name = "four", .flags = kInline});
  TestModel ensemble(LoadEnsemble(runtime, Chain({any.get(), four.get()})));
  TestRequest request(ensemble);
  CHECK(request.Submit() == NRD_INVALID_ARGUMENT);
  const std::string message =
      "in ensemble 'e', unexpected shape for input 'INPUT0' for model 'four'. "
      "Expected [-1,4], got [1,7].";
  CHECK(request.message().substr(0, message.size()) == message);
  CHECK(keeps.executions == 0);
}

}  // namespace
}  // namespace nereid::test
