// Plans that were loaded onto a device.
#ifndef NEREID_REHEARSAL_TENSORRT_ENGINE_H_
#define NEREID_REHEARSAL_TENSORRT_ENGINE_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "device.h"
#include "interfaces/runtime.h"
#include "object.h"
#include "plan.h"

namespace rehearsal::trt {

// What an engine and its contexts share. It stays until the last of them has gone.
struct EngineState {
  EngineState(const Log& where, Plan loaded, int on_device);
  EngineState(const EngineState&) = delete;
  EngineState& operator=(const EngineState&) = delete;
  ~EngineState() = default;

  Log log;
  Plan plan;  // a refitter changes its weights
  const int device;
  const std::vector<Known> known;  // before any shape was set
  const std::size_t weight_bytes;
  Address weights = 0;  // memory that they take on the device
  std::int64_t weight_budget = 0;
  std::atomic<int> contexts{0};
  std::atomic<int> waiting{0};  // executions in streams

  // Takes the memory for as many bytes of weights as the budget says. Throws Refusal.
  void TakeWeights(const char* call);
  void GiveWeightsBack(const char* call);
  [[nodiscard]] bool StreamsWeights() const;
  // An input or output by its name; -1, which is logged: there is none.
  [[nodiscard]] int Find(const char* tensor, const char* call) const;
};

class Engine final : public Held, public CudaEngineCalls {
 public:
  Engine(Life* runtime, std::shared_ptr<EngineState> state);

  void Delete() override;
  [[nodiscard]] std::int32_t getNbLayers() const override;
  [[nodiscard]] bool isRefittable() const override;
#if REHEARSAL_TENSORRT == 11
  [[nodiscard]] std::int64_t getEngineStat(std::int32_t stat) const override;
#endif
  // Null, which is logged: it cannot be refitted.
  Held* NewRefitter(LoggerCalls* logger);
  Held* createExecutionContext(std::int32_t strategy) override;
  [[nodiscard]] const char* getName() const override;
  [[nodiscard]] std::int32_t getNbOptimizationProfiles() const override;
  const ShapeValue* getProfileTensorValues(const char* tensor, std::int32_t profile,
                                           Selector which) const override;
  Dims getTensorShape(const char* tensor) const override;
  DataType getTensorDataType(const char* tensor) const override;
  std::int32_t getTensorLocation(const char* tensor) const override;
  bool isShapeInferenceIO(const char* tensor) const override;
  std::int32_t getTensorIOMode(const char* tensor) const override;
  std::int32_t getTensorBytesPerComponent(const char* tensor) const override;
  std::int32_t getTensorFormatV2(const char* tensor, std::int32_t profile) const override;
  Dims getProfileShape(const char* tensor, std::int32_t profile, Selector which) const override;
  [[nodiscard]] std::int32_t getNbIOTensors() const override;
  const char* getIOTensorName(std::int32_t index) const override;
  [[nodiscard]] std::int64_t getStreamableWeightsSize() const override;
  bool setWeightStreamingBudgetV2(std::int64_t bytes) override;
  [[nodiscard]] std::int64_t getWeightStreamingBudgetV2() const override;
  [[nodiscard]] std::int64_t getWeightStreamingAutomaticBudget() const override;
  [[nodiscard]] std::int64_t getDeviceMemorySizeV2() const override;
  std::int64_t getDeviceMemorySizeForProfileV2(std::int32_t profile) const override;

 private:
  // The state; null, with a misuse recorded: the engine was deleted.
  [[nodiscard]] const EngineState* Alive(const char* call) const;
  // Also null for a name or a profile that is none.
  [[nodiscard]] const EngineState* Alive(const char* call, const char* tensor, int* index) const;
  [[nodiscard]] const Profile* ProfileAt(const EngineState& state, std::int32_t profile) const;

  Life life_;
  std::shared_ptr<EngineState> state_;
  // The values of shape tensors as they are told.
  std::vector<std::map<std::string, std::array<std::vector<ShapeValue>, 3>>> values_;
};

class Runtime final : public Held, public RuntimeCalls {
 public:
  explicit Runtime(LoggerCalls* logger);

  void Delete() override;
  Held* deserializeCudaEngine(const void* plan, std::size_t bytes) override;
  void setEngineHostCodeAllowed(bool allowed) override;
  [[nodiscard]] bool getEngineHostCodeAllowed() const override { return host_code_allowed_; }

 private:
  Log log_;
  Life life_;
  bool host_code_allowed_ = false;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_ENGINE_H_
