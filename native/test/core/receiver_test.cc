// Requests whose answers go to a receiver of their own.
#include <condition_variable>
#include <mutex>
#include <vector>

#include "test/core/core_fixture.h"
#include "test/core/decoupled_fixture.h"
#include "test/core/ensemble_fixture.h"

namespace nereid::test {
namespace {

// Records its calls, in order: the first element of each response, -1 for an announced response.
struct Receiver {
  nrd_receiver table{.context = this, .complete = Complete, .respond = Respond};
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int32_t> responses;
  std::vector<nrd_request*> completed;

  static Receiver* Self(void* context) { return static_cast<Receiver*>(context); }

  static void Complete(void* context, nrd_request* request) {
    const std::lock_guard lock(Self(context)->mutex);
    Self(context)->completed.push_back(request);
    Self(context)->changed.notify_all();
  }

  static void Respond(void* context, nrd_request* request, nrd_tensor* outputs, uint32_t count) {
    CHECK(request->tag == 42);
    const std::lock_guard lock(Self(context)->mutex);
    CHECK((count == 0) == (outputs == nullptr));
    Self(context)->responses.push_back(
        outputs == nullptr ? -1 : *static_cast<const int32_t*>(outputs[0].data));
  }

  void Await(size_t count) {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, std::chrono::milliseconds(kPatienceMs),
                             [&] { return completed.size() >= count; }));
  }
};

// A runtime whose own callbacks must not be called.
nrd_runtime_options Callbacks() {
  nrd_runtime_options options{};
  options.complete = [](void*, const uint64_t*, uint32_t) { FAIL("the runtime got an answer"); };
  options.respond = [](void*, uint64_t, nrd_tensor*, uint32_t) {
    FAIL("the runtime got a response");
  };
  return options;
}

TEST_CASE("a receiver gets the answer in place of the runtime") {
  FunctionBackend backend{.run = CopyInputs};
  TestRuntime runtime(0, Callbacks());
  TestModel model(runtime, backend);
  Receiver receiver;
  TestRequest request(model, 1, 9);
  nrd_request_receive(request.get(), &receiver.table);
  REQUIRE(request.Submit() == NRD_PENDING);
  receiver.Await(1);
  CHECK(receiver.completed == std::vector<nrd_request*>{request.get()});
  CHECK(request->status == NRD_OK);
  CHECK(request.output() == std::vector<int32_t>(4, 9));
}

TEST_CASE("a receiver is told of nothing that submit itself answers") {
  FunctionBackend backend{.run = CopyInputs};
  TestRuntime runtime(0, Callbacks());
  TestModel model(runtime, backend, {.flags = 0});
  Receiver receiver;
  TestRequest request(model);
  nrd_request_receive(request.get(), &receiver.table);
  CHECK(request.Submit() == NRD_OK);
  CHECK(receiver.completed.empty());
}

TEST_CASE("a reset forgets the receiver") {
  FunctionBackend backend{.run = CopyInputs};
  TestRuntime runtime;
  TestModel model(runtime, backend);
  Receiver receiver;
  TestRequest request(model);
  nrd_request_receive(request.get(), &receiver.table);
  REQUIRE(request.Submit() == NRD_PENDING);
  receiver.Await(1);
  nrd_request_reset(request.get());
  nrd_tensor& input = request->inputs[0];
  REQUIRE(nrd_request_input_alloc(request.get(), 0) == NRD_OK);
  std::fill_n(static_cast<int32_t*>(input.data), 4, 1);
  CHECK(request.SubmitAndWait() == NRD_OK);
  CHECK(receiver.completed.size() == 1);
}

TEST_CASE("a receiver gets the responses of a decoupled model") {
  FunctionBackend backend{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(Send(batch, 0, 1, error) == NRD_OK);
    return Send(batch, 0, 2, error);
  }};
  TestRuntime runtime(0, Callbacks());
  TestModel model(runtime, backend, {.flags = kDecoupled});
  Receiver receiver;
  TestRequest request(model);
  request->tag = 42;
  nrd_request_receive(request.get(), &receiver.table);
  REQUIRE(request.Submit() == NRD_PENDING);
  receiver.Await(1);
  CHECK(receiver.responses == std::vector<int32_t>{1, 2});
}

TEST_CASE("a receiver of an ensemble is asked for room before each response") {
  FunctionBackend sender{.run = [](nrd_batch* batch, nrd_error* error) {
    CHECK(Send(batch, 0, 1, error) == NRD_OK);
    return Make(batch, 0, 0, 2, error);
  }};
  FunctionBackend copy{.run = CopyInputs};
  TestRuntime runtime(0, Callbacks());
  TestModel sending(runtime, sender, {.name = "sending", .flags = kDecoupled});
  TestModel copying(runtime, copy, {.name = "copying"});
  TestModel ensemble(LoadEnsemble(runtime, Chain({sending.get(), copying.get()})));
  Receiver receiver;
  TestRequest request(ensemble);
  request->tag = 42;
  nrd_request_receive(request.get(), &receiver.table);
  REQUIRE(request.Submit() == NRD_PENDING);
  receiver.Await(1);
  CHECK(receiver.responses == std::vector<int32_t>{-1, 1});
  CHECK(request->status == NRD_OK);
  CHECK(request.output() == std::vector<int32_t>(4, 2));
}

TEST_CASE("a request that is sent from a receiver is never executed there") {
  FunctionBackend backend{.run = CopyInputs};
  TestRuntime runtime(0, Callbacks());
  TestModel model(runtime, backend, {.flags = 0});
  struct Again {
    nrd_receiver table{};
    nrd_request* next = nullptr;
    int32_t code = NRD_UNKNOWN;
    Receiver after;
  } again;
  again.table.context = &again;
  again.table.complete = [](void* context, nrd_request*) {
    auto* const self = static_cast<Again*>(context);
    self->code = nrd_request_submit(self->next);
  };
  TestRequest first(model);
  TestRequest next(model);
  again.next = next.get();
  first->flags = NRD_REQUEST_NO_INLINE;
  nrd_request_receive(first.get(), &again.table);
  nrd_request_receive(next.get(), &again.after.table);
  REQUIRE(first.Submit() == NRD_PENDING);
  again.after.Await(1);
  CHECK(again.code == NRD_PENDING);
}

}  // namespace
}  // namespace nereid::test
