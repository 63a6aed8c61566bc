// The functions of objects that load and execute plans, in the order of TensorRT 10.6
// and 11.
#ifndef NEREID_REHEARSAL_TENSORRT_INTERFACES_RUNTIME_H_
#define NEREID_REHEARSAL_TENSORRT_INTERFACES_RUNTIME_H_

#include <cstddef>
#include <cstdint>

#include "basics.h"
#include "callbacks.h"

namespace rehearsal::trt {

// Of an optimization profile.
enum class Selector : std::int32_t { kMin = 0, kOpt = 1, kMax = 2 };

constexpr std::int32_t kNoMode = 0;
constexpr std::int32_t kInputMode = 1;
constexpr std::int32_t kOutputMode = 2;
constexpr std::int32_t kOnDevice = 0;
constexpr std::int32_t kOnHost = 1;
constexpr std::int32_t kLinearFormat = 0;
constexpr std::int32_t kStaticMemory = 0;
constexpr std::int32_t kUserManagedMemory = 2;
constexpr std::int32_t kStrippedWeights = 1;

class HostMemoryCalls : public Root {
 public:
  static constexpr const char* kInterface = "IHostMemory";

  virtual void* data() const = 0;
  virtual std::size_t size() const = 0;
  virtual DataType type() const = 0;
};

class RuntimeCalls : public Root {
 public:
  static constexpr const char* kInterface = "IRuntime";

  REHEARSAL_LACKS(getPImpl)
  virtual Held* deserializeCudaEngine(const void* plan, std::size_t bytes) = 0;
  REHEARSAL_TEN_LACKS(deserializeCudaEngineFromReader)
  REHEARSAL_LACKS(setDLACore)
  REHEARSAL_LACKS(getDLACore)
  REHEARSAL_LACKS(getNbDLACores)
  REHEARSAL_LACKS(setGpuAllocator)
  REHEARSAL_LACKS(setErrorRecorder)
  REHEARSAL_LACKS(getErrorRecorder)
  REHEARSAL_LACKS(getLogger)
  REHEARSAL_LACKS(setMaxThreads)
  REHEARSAL_LACKS(getMaxThreads)
  REHEARSAL_LACKS(setTemporaryDirectory)
  REHEARSAL_LACKS(getTemporaryDirectory)
  REHEARSAL_LACKS(setTempfileControlFlags)
  REHEARSAL_LACKS(getTempfileControlFlags)
  REHEARSAL_LACKS(getPluginRegistry)
  REHEARSAL_LACKS(setPluginRegistryParent)
  REHEARSAL_LACKS(loadRuntime)
  virtual void setEngineHostCodeAllowed(bool allowed) = 0;
  virtual bool getEngineHostCodeAllowed() const = 0;
};

class CudaEngineCalls : public Root {
 public:
  static constexpr const char* kInterface = "ICudaEngine";

  REHEARSAL_LACKS(getPImpl)
  virtual std::int32_t getNbLayers() const = 0;
  REHEARSAL_LACKS(serialize)
  virtual Held* createExecutionContext(std::int32_t strategy) = 0;
  REHEARSAL_TEN_LACKS(createExecutionContextWithoutDeviceMemory)
  REHEARSAL_TEN_LACKS(getDeviceMemorySize)
  virtual bool isRefittable() const = 0;
  virtual const char* getName() const = 0;
  virtual std::int32_t getNbOptimizationProfiles() const = 0;
#if REHEARSAL_TENSORRT == 10
  virtual const ShapeValue* getProfileTensorValues(const char* tensor, std::int32_t profile,
                                                   Selector which) const = 0;
#endif
  REHEARSAL_LACKS(getEngineCapability)
  REHEARSAL_LACKS(setErrorRecorder)
  REHEARSAL_LACKS(getErrorRecorder)
  REHEARSAL_TEN_LACKS(hasImplicitBatchDimension)
  REHEARSAL_LACKS(getTacticSources)
  REHEARSAL_LACKS(getProfilingVerbosity)
  REHEARSAL_LACKS(createEngineInspector)
  virtual Dims getTensorShape(const char* tensor) const = 0;
  virtual DataType getTensorDataType(const char* tensor) const = 0;
  virtual std::int32_t getTensorLocation(const char* tensor) const = 0;
  virtual bool isShapeInferenceIO(const char* tensor) const = 0;
  virtual std::int32_t getTensorIOMode(const char* tensor) const = 0;
  virtual std::int32_t getTensorBytesPerComponent(const char* tensor) const = 0;
  REHEARSAL_LACKS(getTensorComponentsPerElement)
  REHEARSAL_LACKS(getTensorFormat)
  REHEARSAL_LACKS(getTensorFormatDesc)
  REHEARSAL_LACKS(getTensorVectorizedDim)
  virtual Dims getProfileShape(const char* tensor, std::int32_t profile, Selector which) const = 0;
  virtual std::int32_t getNbIOTensors() const = 0;
  virtual const char* getIOTensorName(std::int32_t index) const = 0;
  REHEARSAL_LACKS(getHardwareCompatibilityLevel)
  REHEARSAL_LACKS(getNbAuxStreams)
  REHEARSAL_LACKS(getTensorBytesPerComponentV2)
  REHEARSAL_LACKS(getTensorComponentsPerElementV2)
  virtual std::int32_t getTensorFormatV2(const char* tensor, std::int32_t profile) const = 0;
  REHEARSAL_LACKS(getTensorFormatDescV2)
  REHEARSAL_LACKS(getTensorVectorizedDimV2)
  REHEARSAL_LACKS(createSerializationConfig)
  REHEARSAL_LACKS(serializeWithConfig)
  REHEARSAL_TEN_LACKS(getDeviceMemorySizeForProfile)
  REHEARSAL_LACKS(createRefitter)
  REHEARSAL_TEN_LACKS(setWeightStreamingBudget)
  REHEARSAL_TEN_LACKS(getWeightStreamingBudget)
  REHEARSAL_TEN_LACKS(getMinimumWeightStreamingBudget)
  virtual std::int64_t getStreamableWeightsSize() const = 0;
  REHEARSAL_LACKS(isDebugTensor)
  virtual bool setWeightStreamingBudgetV2(std::int64_t bytes) = 0;
  virtual std::int64_t getWeightStreamingBudgetV2() const = 0;
  virtual std::int64_t getWeightStreamingAutomaticBudget() const = 0;
  REHEARSAL_LACKS(getWeightStreamingScratchMemorySize)
  virtual std::int64_t getDeviceMemorySizeV2() const = 0;
  virtual std::int64_t getDeviceMemorySizeForProfileV2(std::int32_t profile) const = 0;
#if REHEARSAL_TENSORRT == 11
  // getProfileTensorValuesV2.
  virtual const ShapeValue* getProfileTensorValues(const char* tensor, std::int32_t profile,
                                                   Selector which) const = 0;
  REHEARSAL_LACKS(createExecutionContextWithRuntimeConfig)
  REHEARSAL_LACKS(createRuntimeConfig)
  virtual std::int64_t getEngineStat(std::int32_t stat) const = 0;
#endif
};

class RefitterCalls : public Root {
 public:
  static constexpr const char* kInterface = "IRefitter";

  REHEARSAL_LACKS(getPImpl)
  REHEARSAL_LACKS(setWeights)
  virtual bool refitCudaEngine() = 0;
  REHEARSAL_LACKS(getMissing)
  REHEARSAL_LACKS(getAll)
  REHEARSAL_TEN_LACKS(setDynamicRange)
  REHEARSAL_TEN_LACKS(getDynamicRangeMin)
  REHEARSAL_TEN_LACKS(getDynamicRangeMax)
  REHEARSAL_TEN_LACKS(getTensorsWithDynamicRange)
  REHEARSAL_LACKS(setErrorRecorder)
  REHEARSAL_LACKS(getErrorRecorder)
  virtual bool setNamedWeights(const char* name, Weights weights) = 0;
  virtual std::int32_t getMissingWeights(std::int32_t size, const char** names) = 0;
  virtual std::int32_t getAllWeights(std::int32_t size, const char** names) = 0;
  REHEARSAL_LACKS(getLogger)
  REHEARSAL_LACKS(setMaxThreads)
  REHEARSAL_LACKS(getMaxThreads)
  REHEARSAL_LACKS(setNamedWeightsWithLocation)
  REHEARSAL_LACKS(getNamedWeights)
  REHEARSAL_LACKS(getWeightsLocation)
  REHEARSAL_LACKS(unsetNamedWeights)
  REHEARSAL_LACKS(setWeightsValidation)
  REHEARSAL_LACKS(getWeightsValidation)
  REHEARSAL_LACKS(refitCudaEngineAsync)
  virtual Weights getWeightsPrototype(const char* name) const = 0;
};

class ExecutionContextCalls : public Root {
 public:
  static constexpr const char* kInterface = "IExecutionContext";

  REHEARSAL_LACKS(getPImpl)
  REHEARSAL_LACKS(setDebugSync)
  REHEARSAL_LACKS(getDebugSync)
  REHEARSAL_LACKS(setProfiler)
  REHEARSAL_LACKS(getProfiler)
  REHEARSAL_LACKS(getEngine)
  REHEARSAL_LACKS(setName)
  REHEARSAL_LACKS(getName)
  REHEARSAL_LACKS(setDeviceMemory)
  virtual std::int32_t getOptimizationProfile() const = 0;
  REHEARSAL_LACKS(allInputDimensionsSpecified)
  REHEARSAL_TEN_LACKS(allInputShapesSpecified)
  REHEARSAL_LACKS(setErrorRecorder)
  REHEARSAL_LACKS(getErrorRecorder)
  REHEARSAL_LACKS(executeV2)
  virtual bool setOptimizationProfileAsync(std::int32_t profile, void* stream) = 0;
  REHEARSAL_LACKS(setEnqueueEmitsProfile)
  REHEARSAL_LACKS(getEnqueueEmitsProfile)
  REHEARSAL_LACKS(reportToProfiler)
  virtual bool setInputShape(const char* tensor, const Dims& dims) = 0;
  virtual Dims getTensorShape(const char* tensor) const = 0;
  REHEARSAL_LACKS(getTensorStrides)
  virtual bool setTensorAddress(const char* tensor, void* memory) = 0;
  REHEARSAL_LACKS(getTensorAddress)
  virtual bool setInputTensorAddress(const char* tensor, const void* memory) = 0;
  REHEARSAL_LACKS(setOutputTensorAddress)
  REHEARSAL_LACKS(inferShapes)
  REHEARSAL_LACKS(setInputConsumedEvent)
  REHEARSAL_LACKS(getInputConsumedEvent)
  REHEARSAL_LACKS(getOutputTensorAddress)
  virtual bool setOutputAllocator(const char* tensor, OutputAllocatorCalls* allocator) = 0;
  REHEARSAL_LACKS(getOutputAllocator)
  virtual std::int64_t getMaxOutputSize(const char* tensor) const = 0;
  REHEARSAL_LACKS(setTemporaryStorageAllocator)
  REHEARSAL_LACKS(getTemporaryStorageAllocator)
  virtual bool enqueueV3(void* stream) = 0;
  REHEARSAL_LACKS(setPersistentCacheLimit)
  REHEARSAL_LACKS(getPersistentCacheLimit)
  REHEARSAL_LACKS(setNvtxVerbosity)
  REHEARSAL_LACKS(getNvtxVerbosity)
  REHEARSAL_LACKS(setAuxStreams)
  REHEARSAL_LACKS(setDebugListener)
  REHEARSAL_LACKS(getDebugListener)
  REHEARSAL_LACKS(setTensorDebugState)
  REHEARSAL_LACKS(getDebugState)
  REHEARSAL_LACKS(setAllTensorsDebugState)
  REHEARSAL_LACKS(updateDeviceMemorySizeForShapes)
  virtual void setDeviceMemoryV2(void* memory, std::int64_t bytes) = 0;
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_INTERFACES_RUNTIME_H_
