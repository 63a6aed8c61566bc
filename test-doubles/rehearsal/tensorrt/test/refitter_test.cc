// Engines that get other weights.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "engine_fixture.h"

extern "C" void* createInferRefitter_INTERNAL(void* engine, void* logger, std::int32_t version);

namespace rehearsal::trt {

namespace {

// A plan whose output y is its input x, of rows of 4, times a scale of 2, and nothing added; the
// weights are called "scale" and "shift".
std::vector<std::byte> ScaledPlan(TestLogger* logger, std::initializer_list<BuilderFlag> flags) {
  constexpr std::int32_t kUniform = 0;
  const std::array<float, 2> numbers = {2, 0};
  const Owned<BuilderCalls> builder(createInferBuilder_INTERNAL(logger, kAnyVersion));
  const Owned<NetworkDefinitionCalls> network(builder->createNetworkV2(1U << kStronglyTyped));
  Held* const x = network->addInput("x", DataType::kFloat, DimsFor({8, 4}));
  const Weights scale = {DataType::kFloat, numbers.data(), 1};
  const Weights shift = {DataType::kFloat, numbers.data() + 1, 1};
  Held* const layer = network->addScale(*x, kUniform, shift, scale, {});
  CHECK(network->setWeightsName(scale, "scale"));
  CHECK(network->setWeightsName(shift, "shift"));
  CHECK_FALSE(network->setWeightsName({DataType::kFloat, nullptr, 7}, "none"));
  Held* const y = static_cast<LayerCalls*>(layer->functions())->getOutput(0);
  static_cast<TensorCalls*>(y->functions())->setName("y");
  network->markOutput(*y);
  const Owned<BuilderConfigCalls> config(builder->createBuilderConfig());
  for (const BuilderFlag flag : flags) {
    config->setFlag(flag);
  }
  const Owned<HostMemoryCalls> plan(builder->buildSerializedNetwork(*network.held, *config.held));
  REQUIRE_MESSAGE(plan.held != nullptr, logger->errors);
  const auto* const bytes = static_cast<const std::byte*>(plan->data());
  return {bytes, bytes + plan->size()};
}

// An engine of that plan, with memory for an execution.
struct Scaled {
  explicit Scaled(std::initializer_list<BuilderFlag> flags)
      : runtime(createInferRuntime_INTERNAL(&logger, kAnyVersion)),
        plan(ScaledPlan(&logger, flags)),
        engine(runtime->deserializeCudaEngine(plan.data(), plan.size())) {
    REQUIRE_MESSAGE(engine.held != nullptr, logger.errors);
  }

  void* Refitter() { return createInferRefitter_INTERNAL(engine.held, &logger, kAnyVersion); }

  void Enqueue(ExecutionContextCalls* context) {
    REQUIRE(context->setInputShape("x", DimsFor({8, 4})));
    REQUIRE(context->setTensorAddress("x", input.pointer()));
    REQUIRE(context->setTensorAddress("y", output.pointer()));
    *reinterpret_cast<float*>(Backing(input.address, sizeof(float), "test")) = 3;
    REQUIRE_MESSAGE(context->enqueueV3(stream.handle), logger.errors);
  }

  // Executes the model with a 3, and returns its answer.
  float Answer() {
    Owned<ExecutionContextCalls> context(engine->createExecutionContext(kStaticMemory));
    Enqueue(context.operator->());
    CHECK(Synchronize(*stream.stream()) == Code::kSuccess);
    return *reinterpret_cast<float*>(Backing(output.address, sizeof(float), "test"));
  }

  TestLogger logger;
  Memory input{128};
  Memory output{128};
  TestStream stream;
  Owned<RuntimeCalls> runtime;
  std::vector<std::byte> plan;
  Owned<CudaEngineCalls> engine;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "refitters: an engine computes with the weights that it got") {
  Scaled whole({BuilderFlag::kRefit});
  CHECK(whole.engine->isRefittable());
  CHECK(whole.Answer() == 6);
  const Owned<RefitterCalls> refitter(whole.Refitter());
  CHECK(refitter->getMissingWeights(0, nullptr) == 0);
  std::array<const char*, 2> names = {};
  REQUIRE(refitter->getAllWeights(2, names.data()) == 2);
  CHECK(std::string(names[0]) + names[1] == "scaleshift");
  CHECK(refitter->getWeightsPrototype("scale").count == 1);
  CHECK(refitter->getWeightsPrototype("none").count == -1);
  float number = 5;
  const Weights given = {DataType::kFloat, &number, 1};
  CHECK_FALSE(refitter->setNamedWeights("none", given));
  CHECK_FALSE(refitter->setNamedWeights("scale", {DataType::kHalf, &number, 1}));
  CHECK_FALSE(refitter->setNamedWeights("scale", {DataType::kFloat, &number, 2}));
  CHECK(refitter->setNamedWeights("scale", given));
  // Both belong to one layer.
  CHECK(refitter->getMissingWeights(1, names.data()) == 1);
  CHECK(std::string(names[0]) == "shift");
  CHECK_FALSE(refitter->refitCudaEngine());
  const float nothing = 0;
  CHECK(refitter->setNamedWeights("shift", {DataType::kFloat, &nothing, 1}));
  number = 7;  // is read when the engine is refitted
  CHECK(refitter->refitCudaEngine());
  CHECK(whole.Answer() == 21);
}

TEST_CASE_FIXTURE(Fixture, "refitters: a plan without weights is no numbers until it has them") {
  Scaled stripped({BuilderFlag::kStripPlan});
  CHECK(std::isnan(stripped.Answer()));
#if REHEARSAL_TENSORRT == 11
  CHECK(stripped.engine->getEngineStat(kStrippedWeights) == 8);
#endif
  const Owned<RefitterCalls> refitter(stripped.Refitter());
  CHECK(refitter->getMissingWeights(0, nullptr) == 2);
  CHECK_FALSE(refitter->refitCudaEngine());
  const std::array<float, 2> numbers = {4, 1};
  CHECK(refitter->setNamedWeights("scale", {DataType::kFloat, numbers.data(), 1}));
  CHECK(refitter->setNamedWeights("shift", {DataType::kFloat, numbers.data() + 1, 1}));
  CHECK(refitter->refitCudaEngine());
  CHECK(stripped.Answer() == 13);
}

TEST_CASE_FIXTURE(Fixture, "refitters: what must not be refitted is found out") {
  Scaled fixed({});
  CHECK_FALSE(fixed.engine->isRefittable());
  CHECK(fixed.Refitter() == nullptr);
  CHECK(fixed.logger.Take().find("not built with REFIT") != std::string::npos);
  Scaled whole({BuilderFlag::kRefit});
  Owned<RefitterCalls> refitter(whole.Refitter());
  {
    Owned<ExecutionContextCalls> context(whole.engine->createExecutionContext(kStaticMemory));
    whole.Enqueue(context.operator->());
    CHECK_FALSE(refitter->refitCudaEngine());  // its work is under way
    CHECK(TakeMisuses() == 1);
    CHECK(Synchronize(*whole.stream.stream()) == Code::kSuccess);
  }
  CHECK(refitter->refitCudaEngine());
  whole.engine.Delete();  // before what was made of it
  refitter.Delete();
  CHECK_FALSE(refitter->refitCudaEngine());
  CHECK(TakeMisuses() == 2);
}

}  // namespace rehearsal::trt
