#include "engine_fixture.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rehearsal::trt {

void TestLogger::log(Severity severity, const char* message) {
  if (severity <= Severity::kError) {
    errors += std::string(message) + "\n";
  }
}

std::string TestLogger::Take() { return std::exchange(errors, ""); }

Dims DimsFor(std::initializer_list<std::int64_t> sizes) {
  Dims dims;
  dims.count = static_cast<std::int32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), dims.sizes);
  return dims;
}

std::vector<std::byte> DoublerPlan(TestLogger* logger, const std::vector<std::int64_t>& rows) {
  constexpr std::int32_t kSum = 0;
  const Owned<BuilderCalls> builder(createInferBuilder_INTERNAL(logger, kAnyVersion));
  const Owned<NetworkDefinitionCalls> network(builder->createNetworkV2(1U << kStronglyTyped));
  REQUIRE_MESSAGE(network.held != nullptr, logger->errors);
  Held* const x = network->addInput("x", DataType::kFloat, DimsFor({-1, 4}));
  Held* const layer = network->addElementWise(*x, *x, kSum);
  Held* const y = static_cast<LayerCalls*>(layer->functions())->getOutput(0);
  static_cast<TensorCalls*>(y->functions())->setName("y");
  network->markOutput(*y);
  const Owned<BuilderConfigCalls> config(builder->createBuilderConfig());
  for (const std::int64_t most : rows) {
    Held* const profile = builder->createOptimizationProfile();
    auto* const calls = static_cast<OptimizationProfileCalls*>(profile->functions());
    REQUIRE(calls->setDimensions("x", Selector::kMin, DimsFor({1, 4})));
    REQUIRE(calls->setDimensions("x", Selector::kOpt, DimsFor({most, 4})));
    REQUIRE(calls->setDimensions("x", Selector::kMax, DimsFor({most, 4})));
    REQUIRE(config->addOptimizationProfile(profile) >= 0);
  }
  const Owned<HostMemoryCalls> plan(builder->buildSerializedNetwork(*network.held, *config.held));
  REQUIRE_MESSAGE(plan.held != nullptr, logger->errors);
  const auto* const bytes = static_cast<const std::byte*>(plan->data());
  return {bytes, bytes + plan->size()};
}

namespace {

void* Deserialized(const Owned<RuntimeCalls>& runtime, const std::vector<std::byte>& plan) {
  return runtime->deserializeCudaEngine(plan.data(), plan.size());
}

}  // namespace

Doubler::Doubler(const std::vector<std::int64_t>& rows)
    : runtime(createInferRuntime_INTERNAL(&logger, kAnyVersion)),
      engine(Deserialized(runtime, DoublerPlan(&logger, rows))) {
  REQUIRE_MESSAGE(engine.held != nullptr, logger.errors);
}

void Doubler::Prepare(ExecutionContextCalls* context, std::int64_t row_count,
                      std::int32_t profile) {
  REQUIRE(context->setOptimizationProfileAsync(profile, stream.handle));
  context->setDeviceMemoryV2(activations.pointer(), static_cast<std::int64_t>(activations.bytes));
  REQUIRE(context->setInputShape("x", DimsFor({row_count, 4})));
  REQUIRE(context->setTensorAddress("x", input.pointer()));
  REQUIRE(context->setTensorAddress("y", output.pointer()));
}

void Doubler::Write(float first) {
  std::memcpy(Backing(input.address, sizeof(first), "test"), &first, sizeof(first));
}

float Doubler::First() {
  float first;
  std::memcpy(&first, Backing(output.address, sizeof(first), "test"), sizeof(first));
  return first;
}

}  // namespace rehearsal::trt
