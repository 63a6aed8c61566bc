// Objects, plans and faults.
#include <cmath>
#include <string>

#include "engine_fixture.h"
#include "interfaces/parser.h"

extern "C" void* createNvOnnxParser_INTERNAL(void* network, void* logger, std::int32_t version);

namespace rehearsal::trt {

TEST_CASE_FIXTURE(Fixture, "objects: what is deleted in the wrong order is found out") {
  Doubler doubler;
  Owned<ExecutionContextCalls> context(doubler.engine->createExecutionContext(kUserManagedMemory));
  doubler.engine.Delete();
  CHECK(TakeMisuses() == 1);
  context.Delete();
  context.held->Delete();                     // once more
  CHECK(doubler.engine->getNbLayers() == 0);  // after its deletion
  CHECK(TakeMisuses() == 2);
}

TEST_CASE_FIXTURE(Fixture, "plans: broken ones are refused with a reason") {
  TestLogger logger;
  std::vector<std::byte> plan = DoublerPlan(&logger, {8});
  const Owned<RuntimeCalls> runtime(createInferRuntime_INTERNAL(&logger, kAnyVersion));
  std::size_t size = plan.size();
  const char* why = "cut off or damaged";
  SUBCASE("half of one") { size /= 2; }
  SUBCASE("nothing") {
    size = 0;
    why = "got 0 bytes";
  }
  SUBCASE("another byte") { plan.back() ^= std::byte{1}; }
  SUBCASE("no tag") {
    plan[0] = std::byte{'x'};
    why = "magic tag";
  }
  SUBCASE("another version") {
    plan[25] = std::byte{3};
    why = REHEARSAL_TENSORRT == 10 ? "expecting library version 10.6.0.26 got 10.3.0.26"
                                   : "expecting library version 11.2.1.2 got 11.3.1.2";
  }
  CHECK(runtime->deserializeCudaEngine(plan.data(), size) == nullptr);
  const std::string errors = logger.Take();
  CHECK_MESSAGE(errors.find(why) != std::string::npos, errors);
}

TEST_CASE_FIXTURE(Fixture, "faults: a call that is to fail logs why, and nothing is left") {
  TestLogger logger;
  const std::vector<std::byte> plan = DoublerPlan(&logger, {8});
  const Owned<RuntimeCalls> runtime(createInferRuntime_INTERNAL(&logger, kAnyVersion));
  const std::size_t before = handles::Left();
  faults::Inject("IRuntime::deserializeCudaEngine", 1, static_cast<int>(Code::kOutOfMemory));
  CHECK(runtime->deserializeCudaEngine(plan.data(), plan.size()) == nullptr);
  CHECK(logger.Take().find("out of memory") != std::string::npos);
  CHECK(handles::Left() == before);
  const std::uint64_t had = MemoryOf(0).total;
  LimitMemory(0, 0);
  CHECK(runtime->deserializeCudaEngine(plan.data(), plan.size()) == nullptr);
  CHECK(logger.Take().find("Requested amount of GPU memory") != std::string::npos);
  LimitMemory(0, had);
  CHECK(handles::Left() == before);
}

TEST_CASE_FIXTURE(Fixture, "networks: weights of a parser that has gone are no numbers") {
  TestLogger logger;
  const Owned<BuilderCalls> builder(createInferBuilder_INTERNAL(&logger, kAnyVersion));
  const Owned<NetworkDefinitionCalls> network(builder->createNetworkV2(0));
  auto* const parser =
      static_cast<ParserCalls*>(createNvOnnxParser_INTERNAL(network.held, &logger, kAnyVersion));
  REQUIRE_MESSAGE(parser->parseFromFile(REHEARSAL_MODELS "/digits/1/model.onnx", 0), logger.errors);
  CHECK(network->getNbInputs() == 1);
  CHECK(network->getNbOutputs() == 1);
  parser->Delete();
  // The two products' constants are still there, and nothing of what they were made of.
  const Owned<BuilderConfigCalls> config(builder->createBuilderConfig());
  Held* const profile = builder->createOptimizationProfile();
  auto* const calls = static_cast<OptimizationProfileCalls*>(profile->functions());
  const char* const input = static_cast<TensorCalls*>(network->getInput(0)->functions())->getName();
  Dims dims = static_cast<TensorCalls*>(network->getInput(0)->functions())->getDimensions();
  dims.sizes[0] = 1;
  for (const Selector which : {Selector::kMin, Selector::kOpt, Selector::kMax}) {
    REQUIRE(calls->setDimensions(input, which, dims));
  }
  REQUIRE(config->addOptimizationProfile(profile) == 0);
  const Owned<HostMemoryCalls> plan(builder->buildSerializedNetwork(*network.held, *config.held));
  REQUIRE_MESSAGE(plan.held != nullptr, logger.errors);
  const Owned<RuntimeCalls> runtime(createInferRuntime_INTERNAL(&logger, kAnyVersion));
  const Owned<CudaEngineCalls> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  const TestStream stream;
  const Memory in(4096);
  const Memory out(4096);
  Owned<ExecutionContextCalls> context(engine->createExecutionContext(kStaticMemory));
  REQUIRE(context->setInputShape(engine->getIOTensorName(0), dims));
  REQUIRE(context->setTensorAddress(engine->getIOTensorName(0), in.pointer()));
  REQUIRE(context->setTensorAddress(engine->getIOTensorName(1), out.pointer()));
  auto* const first = reinterpret_cast<float*>(Backing(out.address, sizeof(float), "test"));
  *first = 0;
  REQUIRE_MESSAGE(context->enqueueV3(stream.handle), logger.errors);
  CHECK(Synchronize(*stream.stream()) == Code::kSuccess);
  CHECK(std::isnan(*first));
}

}  // namespace rehearsal::trt
