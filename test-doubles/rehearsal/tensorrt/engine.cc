#include "engine.h"

#include <algorithm>
#include <utility>

#include "context.h"
#include "refitter.h"

namespace rehearsal::trt {

// ---- What an engine and its contexts share -----------------------------------------------------

EngineState::EngineState(const Log& where, Plan loaded, int on_device)
    : log(where),
      plan(std::move(loaded)),
      device(on_device),
      known(Infer(plan.graph)),
      weight_bytes(plan.graph.WeightBytes()),
      weight_budget(static_cast<std::int64_t>(weight_bytes)) {}

void EngineState::TakeWeights(const char* call) {
  constexpr std::int64_t kLeast = 512;
  auto bytes = static_cast<std::uint64_t>(std::max(weight_budget, kLeast));
  Code code = Allocate(device, bytes, call, &weights);
  if (code == Code::kOutOfMemory) {
    throw Refusal("OutOfMemory (Requested amount of GPU memory (" + std::to_string(bytes) +
                  " bytes) could not be allocated. There may not be enough free memory for"
                  " allocation to succeed.)");
  }
  if (code != Code::kSuccess) {
    throw Refusal(TextOfCode("cudaMalloc", static_cast<int>(code)));
  }
}

void EngineState::GiveWeightsBack(const char* call) {
  if (weights != 0) {
    (void)Free(weights, call);  // what fails here has broken the device, which others are told
    weights = 0;
  }
}

bool EngineState::StreamsWeights() const {
  return plan.streams_weights && weight_budget < static_cast<std::int64_t>(weight_bytes);
}

int EngineState::Find(const char* tensor, const char* call) const {
  int index = plan.graph.Find(tensor);
  if (index < 0) {
    log.Error(std::string(call) + ": Error Code 3: given invalid tensor name: " + tensor);
  }
  return index;
}

// ---- The engine --------------------------------------------------------------------------------

Engine::Engine(Life* runtime, std::shared_ptr<EngineState> state)
    : Held(static_cast<CudaEngineCalls*>(this)),
      life_(static_cast<Held*>(this), "TensorRT engine", "IRuntime::deserializeCudaEngine",
            runtime),
      state_(std::move(state)) {
  for (const Profile& profile : state_->plan.profiles) {
    auto& values = values_.emplace_back();
    for (const auto& [input, range] : profile.values) {
      for (std::size_t i = 0; i < range.size(); ++i) {
        std::transform(range[i].begin(), range[i].end(), std::back_inserter(values[input][i]),
                       [](std::int64_t value) { return static_cast<ShapeValue>(value); });
      }
    }
  }
}

void Engine::Delete() {
  if (life_.End("~ICudaEngine")) {
    state_->GiveWeightsBack("~ICudaEngine");
    state_ = nullptr;
    Bury(this);
  }
}

const EngineState* Engine::Alive(const char* call) const {
  return life_.IsAlive(call) ? state_.get() : nullptr;
}

const EngineState* Engine::Alive(const char* call, const char* tensor, int* index) const {
  const EngineState* state = Alive(call);
  *index = state == nullptr ? -1 : state->Find(tensor, call);
  return *index < 0 ? nullptr : state;
}

const Profile* Engine::ProfileAt(const EngineState& state, std::int32_t profile) const {
  auto index = static_cast<std::size_t>(profile);
  return profile >= 0 && index < state.plan.profiles.size() ? &state.plan.profiles[index] : nullptr;
}

Held* Engine::createExecutionContext(std::int32_t strategy) {
  const char* call = "ICudaEngine::createExecutionContext";
  const EngineState* state = Alive(call);
  if (state == nullptr || !Begin(state->log, call)) {
    return nullptr;
  }
  return Guarded(state->log, call, static_cast<Held*>(nullptr), [&]() -> Held* {
    if (strategy != kStaticMemory && strategy != kUserManagedMemory) {
      throw Refusal("the strategy " + std::to_string(strategy) + " is not rehearsed");
    }
    return Context::New(&life_, state_, strategy == kStaticMemory);
  });
}

const char* Engine::getName() const {
  const EngineState* state = Alive("ICudaEngine::getName");
  return state == nullptr ? nullptr : state->plan.graph.name.c_str();
}

std::int32_t Engine::getNbLayers() const {
  const EngineState* state = Alive("ICudaEngine::getNbLayers");
  return state == nullptr ? 0 : static_cast<std::int32_t>(state->plan.graph.nodes.size());
}

bool Engine::isRefittable() const {
  const EngineState* state = Alive("ICudaEngine::isRefittable");
  return state != nullptr && state->plan.refittable;
}

#if REHEARSAL_TENSORRT == 11
std::int64_t Engine::getEngineStat(std::int32_t stat) const {
  const EngineState* state = Alive("ICudaEngine::getEngineStat");
  return state == nullptr || stat != kStrippedWeights ? -1 : state->plan.stripped_bytes;
}
#endif

Held* Engine::NewRefitter(LoggerCalls* logger) {
  const char* call = "createInferRefitter_INTERNAL";
  if (Alive(call) == nullptr || !Begin(Log(logger), call)) {
    return nullptr;
  }
  if (!state_->plan.refittable) {
    Log(logger).Error(std::string(call) + ": Error Code 3: the engine was not built with REFIT");
    return nullptr;
  }
  return new Refitter(&life_, state_, logger);
}

// ---- Inputs and outputs ------------------------------------------------------------------------

std::int32_t Engine::getNbIOTensors() const {
  const EngineState* state = Alive("ICudaEngine::getNbIOTensors");
  return state == nullptr ? 0
                          : static_cast<std::int32_t>(state->plan.graph.inputs.size() +
                                                      state->plan.graph.outputs.size());
}

const char* Engine::getIOTensorName(std::int32_t index) const {
  const EngineState* state = Alive("ICudaEngine::getIOTensorName");
  if (state == nullptr || index < 0 || index >= getNbIOTensors()) {
    return nullptr;
  }
  const Graph& graph = state->plan.graph;
  auto at = static_cast<std::size_t>(index);
  int tensor =
      at < graph.inputs.size() ? graph.inputs[at] : graph.outputs[at - graph.inputs.size()];
  return graph.tensors[static_cast<std::size_t>(tensor)].name.c_str();
}

Dims Engine::getTensorShape(const char* tensor) const {
  int index = 0;
  const EngineState* state = Alive("ICudaEngine::getTensorShape", tensor, &index);
  return state == nullptr ? Dims{-1, {}}
                          : DimsOf(state->known[static_cast<std::size_t>(index)].shape);
}

DataType Engine::getTensorDataType(const char* tensor) const {
  int index = 0;
  const EngineState* state = Alive("ICudaEngine::getTensorDataType", tensor, &index);
  return state == nullptr ? DataType::kFloat : state->known[static_cast<std::size_t>(index)].type;
}

std::int32_t Engine::getTensorLocation(const char* tensor) const {
  return isShapeInferenceIO(tensor) ? kOnHost : kOnDevice;
}

bool Engine::isShapeInferenceIO(const char* tensor) const {
  int index = 0;
  const EngineState* state = Alive("ICudaEngine::isShapeInferenceIO", tensor, &index);
  return state != nullptr &&
         (state->plan.graph.IsShapeInput(index) || state->plan.graph.IsHostOutput(index));
}

std::int32_t Engine::getTensorIOMode(const char* tensor) const {
  int index = 0;
  const EngineState* state = Alive("ICudaEngine::getTensorIOMode", tensor, &index);
  if (state == nullptr) {
    return kNoMode;
  }
  return state->plan.graph.IsInput(index) ? kInputMode : kOutputMode;
}

std::int32_t Engine::getTensorBytesPerComponent(const char* tensor) const {
  int index = 0;
  (void)Alive("ICudaEngine::getTensorBytesPerComponent", tensor, &index);
  return -1;  // no tensor here is packed into vectors
}

std::int32_t Engine::getTensorFormatV2(const char* tensor, std::int32_t /*profile*/) const {
  int index = 0;
  (void)Alive("ICudaEngine::getTensorFormat", tensor, &index);
  return kLinearFormat;
}

// ---- Profiles ----------------------------------------------------------------------------------

std::int32_t Engine::getNbOptimizationProfiles() const {
  const EngineState* state = Alive("ICudaEngine::getNbOptimizationProfiles");
  return state == nullptr ? 0 : static_cast<std::int32_t>(state->plan.profiles.size());
}

Dims Engine::getProfileShape(const char* tensor, std::int32_t profile, Selector which) const {
  int index = 0;
  const EngineState* state = Alive("ICudaEngine::getProfileShape", tensor, &index);
  const Profile* chosen = state == nullptr ? nullptr : ProfileAt(*state, profile);
  if (chosen == nullptr || chosen->shapes.count(tensor) == 0) {
    return {-1, {}};
  }
  return DimsOf(chosen->shapes.at(tensor).at(static_cast<std::size_t>(which)));
}

const ShapeValue* Engine::getProfileTensorValues(const char* tensor, std::int32_t profile,
                                                 Selector which) const {
  int index = 0;
  const EngineState* state = Alive("ICudaEngine::getProfileTensorValues", tensor, &index);
  if (state == nullptr || ProfileAt(*state, profile) == nullptr) {
    return nullptr;
  }
  const auto& values = values_[static_cast<std::size_t>(profile)];
  auto found = values.find(tensor);
  return found == values.end() ? nullptr : found->second.at(static_cast<std::size_t>(which)).data();
}

// ---- Memory ------------------------------------------------------------------------------------

std::int64_t Engine::getStreamableWeightsSize() const {
  const EngineState* state = Alive("ICudaEngine::getStreamableWeightsSize");
  bool streams = state != nullptr && state->plan.streams_weights;
  return streams ? static_cast<std::int64_t>(state->weight_bytes) : 0;
}

bool Engine::setWeightStreamingBudgetV2(std::int64_t bytes) {
  const char* call = "ICudaEngine::setWeightStreamingBudgetV2";
  if (Alive(call) == nullptr || !Begin(state_->log, call)) {
    return false;
  }
  return Guarded(state_->log, call, false, [&] {
    if (!state_->plan.streams_weights || bytes < 0 || bytes > getStreamableWeightsSize()) {
      throw Refusal("expected a budget of 0 to " + std::to_string(getStreamableWeightsSize()) +
                    " bytes, got " + std::to_string(bytes));
    }
    if (state_->contexts > 0) {
      throw Refusal("the budget cannot be changed while there are execution contexts");
    }
    state_->GiveWeightsBack(call);
    state_->weight_budget = bytes;
    state_->TakeWeights(call);
    return true;
  });
}

std::int64_t Engine::getWeightStreamingBudgetV2() const {
  const EngineState* state = Alive("ICudaEngine::getWeightStreamingBudgetV2");
  bool streams = state != nullptr && state->plan.streams_weights;
  return streams ? state->weight_budget : 0;
}

std::int64_t Engine::getWeightStreamingAutomaticBudget() const {
  return getStreamableWeightsSize() / 2;
}

std::int64_t Engine::getDeviceMemorySizeV2() const {
  std::int64_t most = 0;
  for (std::int32_t i = 0; i < getNbOptimizationProfiles(); ++i) {
    most = std::max(most, getDeviceMemorySizeForProfileV2(i));
  }
  return most;
}

std::int64_t Engine::getDeviceMemorySizeForProfileV2(std::int32_t profile) const {
  const char* call = "ICudaEngine::getDeviceMemorySizeForProfileV2";
  const EngineState* state = Alive(call);
  if (state == nullptr || ProfileAt(*state, profile) == nullptr) {
    return 0;
  }
  return static_cast<std::int64_t>(ActivationBytes(state->plan, static_cast<std::size_t>(profile)));
}

// ---- The runtime -------------------------------------------------------------------------------

Runtime::Runtime(LoggerCalls* logger)
    : Held(static_cast<RuntimeCalls*>(this)),
      log_(logger),
      life_(static_cast<Held*>(this), "TensorRT runtime", "createInferRuntime_INTERNAL", nullptr) {}

void Runtime::Delete() {
  if (life_.End("~IRuntime")) {
    Bury(this);
  }
}

void Runtime::setEngineHostCodeAllowed(bool allowed) {
  if (life_.IsAlive("IRuntime::setEngineHostCodeAllowed")) {
    host_code_allowed_ = allowed;
  }
}

Held* Runtime::deserializeCudaEngine(const void* plan, std::size_t bytes) {
  const char* call = "IRuntime::deserializeCudaEngine";
  if (!Begin(life_, log_, call)) {
    return nullptr;
  }
  return Guarded(log_, call, static_cast<Held*>(nullptr), [&] {
    Plan loaded = ReadPlan(plan, bytes);
    if (loaded.has_host_code && !host_code_allowed_) {
      throw Refusal(
          "Cannot deserialize engine with lean runtime since"
          " IRuntime::getEngineHostCodeAllowed() is false.");
    }
    if (!std::equal(std::begin(kComputeCapability), std::end(kComputeCapability),
                    std::begin(loaded.compute_capability)) &&
        !loaded.hardware_compatible) {
      auto text = [](const int* number) {
        return std::to_string(number[0]) + "." + std::to_string(number[1]);
      };
      throw Refusal(
          "The engine plan file is generated on an incompatible device, expecting compute " +
          text(kComputeCapability) + " got compute " + text(loaded.compute_capability) +
          ", please rebuild.");
    }
    auto state = std::make_shared<EngineState>(log_, std::move(loaded), CurrentDevice());
    state->TakeWeights(call);
    return new Engine(&life_, std::move(state));
  });
}

}  // namespace rehearsal::trt
