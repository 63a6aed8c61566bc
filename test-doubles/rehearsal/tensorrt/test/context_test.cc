#include "engine_fixture.h"

namespace rehearsal::trt {

namespace {

void* Captured(const TestStream& stream, ExecutionContextCalls* context) {
  REQUIRE(BeginCapture(stream.stream(), CaptureMode::kThreadLocal) == Code::kSuccess);
  const bool enqueued = context->enqueueV3(stream.handle);
  void* graph = nullptr;
  const Code ended = EndCapture(stream.stream(), "test", &graph);
  REQUIRE(enqueued == (ended == Code::kSuccess));
  if (!enqueued) {
    return nullptr;
  }
  void* executable = nullptr;
  REQUIRE(Instantiate(graph, "test", &executable) == Code::kSuccess);
  REQUIRE(DestroyGraph(graph, "test") == Code::kSuccess);
  return executable;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "contexts: an execution reads its input and writes its output late") {
  Doubler doubler;
  Owned<ExecutionContextCalls> context(doubler.engine->createExecutionContext(kUserManagedMemory));
  doubler.Prepare(context.operator->(), 2);
  doubler.Write(1);
  REQUIRE(context->enqueueV3(doubler.stream.handle));
  CHECK_FALSE(doubler.First() == 2);
  doubler.Write(21);  // as a copy that was put before would have
  CHECK(Synchronize(*doubler.stream.stream()) == Code::kSuccess);
  CHECK(doubler.First() == 42);
}

TEST_CASE_FIXTURE(Fixture, "contexts: what was not set is an error") {
  Doubler doubler;
  Owned<ExecutionContextCalls> context(doubler.engine->createExecutionContext(kUserManagedMemory));
  auto refused = [&](const char* why) {
    CHECK_FALSE(context->enqueueV3(doubler.stream.handle));
    const std::string errors = doubler.logger.Take();
    CHECK_MESSAGE(errors.find(why) != std::string::npos, errors);
  };
  refused("the shape of input 'x' was not set");
  REQUIRE(context->setInputShape("x", DimsFor({2, 4})));
  refused("Address is not set for input tensor x");
  REQUIRE(context->setTensorAddress("x", doubler.input.pointer()));
  refused("Neither address or allocator is set for output tensor y");
  REQUIRE(context->setTensorAddress("y", doubler.output.pointer()));
  refused("bytes for activations");
  CHECK_FALSE(context->setInputShape("x", DimsFor({9, 4})));
  CHECK_FALSE(context->setTensorAddress("z", doubler.output.pointer()));
}

TEST_CASE_FIXTURE(Fixture, "contexts: activations are those of the profile that is selected") {
  Doubler doubler({64, 2});
  Owned<ExecutionContextCalls> context(doubler.engine->createExecutionContext(kUserManagedMemory));
  const std::int64_t less = doubler.engine->getDeviceMemorySizeForProfileV2(1);
  REQUIRE(less < doubler.engine->getDeviceMemorySizeForProfileV2(0));
  context->setDeviceMemoryV2(doubler.activations.pointer(), less);
  CHECK(doubler.logger.Take().find("bytes for profile 0") != std::string::npos);
  REQUIRE(context->setOptimizationProfileAsync(1, doubler.stream.handle));
  context->setDeviceMemoryV2(doubler.activations.pointer(), less);
  CHECK(doubler.logger.Take().empty());
  SUBCASE("a larger one that is selected afterwards has too little") {
    doubler.Prepare(context.operator->(), 2, 1);
    context->setDeviceMemoryV2(doubler.activations.pointer(), less);
    REQUIRE(context->setOptimizationProfileAsync(0, doubler.stream.handle));
    REQUIRE(context->setInputShape("x", DimsFor({2, 4})));
    CHECK_FALSE(context->enqueueV3(doubler.stream.handle));
    CHECK(doubler.logger.Take().find("bytes for activations") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Fixture, "contexts: memory that was given back is not there any more") {
  Doubler doubler;
  Owned<ExecutionContextCalls> context(doubler.engine->createExecutionContext(kStaticMemory));
  doubler.Prepare(context.operator->(), 2);
  {
    const Memory gone(64);
    REQUIRE(context->setTensorAddress("x", gone.pointer()));
  }
  REQUIRE(context->enqueueV3(doubler.stream.handle));
  CHECK(Synchronize(*doubler.stream.stream()) == Code::kIllegalAddress);
  CHECK(TakeMisuses() == 1);
  Mend();
}

TEST_CASE_FIXTURE(Fixture, "contexts: one is deleted while it is in a stream") {
  Doubler doubler;
  Owned<ExecutionContextCalls> context(doubler.engine->createExecutionContext(kUserManagedMemory));
  doubler.Prepare(context.operator->(), 2);
  REQUIRE(context->enqueueV3(doubler.stream.handle));
  context.Delete();
  CHECK(Synchronize(*doubler.stream.stream()) != Code::kSuccess);
  CHECK(TakeMisuses() == 2);  // the deletion, and the work that finds nothing
  Mend();
}

TEST_CASE_FIXTURE(Fixture, "contexts: one is used from two streams") {
  Doubler doubler;
  const TestStream other;
  Owned<ExecutionContextCalls> context(doubler.engine->createExecutionContext(kUserManagedMemory));
  doubler.Prepare(context.operator->(), 2);
  REQUIRE(context->enqueueV3(doubler.stream.handle));
  CHECK_FALSE(context->enqueueV3(other.handle));
  CHECK(TakeMisuses() == 1);
  CHECK(Synchronize(*doubler.stream.stream()) == Code::kSuccess);
  CHECK(context->enqueueV3(other.handle));
  CHECK(Synchronize(*other.stream()) == Code::kSuccess);
}

TEST_CASE_FIXTURE(Fixture, "graphs: of a context that has changed are not launched") {
  Doubler doubler;
  Owned<ExecutionContextCalls> context(doubler.engine->createExecutionContext(kUserManagedMemory));
  doubler.Prepare(context.operator->(), 2);
  CHECK(Captured(doubler.stream, context.operator->()) == nullptr);  // not before an execution
  REQUIRE(context->enqueueV3(doubler.stream.handle));
  void* const executable = Captured(doubler.stream, context.operator->());
  REQUIRE(executable != nullptr);
  doubler.Write(4);
  CHECK(Launch(executable, doubler.stream.stream(), "test") == Code::kSuccess);
  CHECK(Synchronize(*doubler.stream.stream()) == Code::kSuccess);
  CHECK(doubler.First() == 8);
  SUBCASE("another shape") { REQUIRE(context->setInputShape("x", DimsFor({3, 4}))); }
  SUBCASE("another address") { REQUIRE(context->setTensorAddress("y", doubler.input.pointer())); }
  SUBCASE("no context") { context.Delete(); }
  CHECK(Launch(executable, doubler.stream.stream(), "test") == Code::kInvalidValue);
  CHECK(TakeMisuses() == 1);
  CHECK(DestroyExecutable(executable, "test") == Code::kSuccess);
}

}  // namespace rehearsal::trt
