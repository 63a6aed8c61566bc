// The functions of objects that build plans, in the order of TensorRT 10.6 and 11.
#ifndef NEREID_REHEARSAL_TENSORRT_INTERFACES_BUILDER_H_
#define NEREID_REHEARSAL_TENSORRT_INTERFACES_BUILDER_H_

#include <cstddef>
#include <cstdint>

#include "basics.h"
#include "callbacks.h"
#include "runtime.h"

namespace rehearsal::trt {

// Numbers of bits. TensorRT 11 has none of precisions.
enum class BuilderFlag : std::int32_t {
#if REHEARSAL_TENSORRT == 10
  kFp16 = 0,
  kRefit = 4,
  kTf32 = 6,
  kVersionCompatible = 13,
  kBf16 = 17,
  kStripPlan = 19,
  kWeightStreaming = 21,
#else
  kRefit = 4,
  kTf32 = 6,
  kVersionCompatible = 12,
  kStripPlan = 18,
  kWeightStreaming = 20,
#endif
};

// The bit of a network's flags that makes it strongly typed, which TensorRT 11 makes all.
constexpr unsigned kStronglyTyped = REHEARSAL_TENSORRT == 10 ? 1 : 0;

class OptimizationProfileCalls : public Root {
 public:
  static constexpr const char* kInterface = "IOptimizationProfile";

  virtual bool setDimensions(const char* input, Selector which, const Dims& dims) = 0;
  REHEARSAL_LACKS(getDimensions)
#if REHEARSAL_TENSORRT == 10
  virtual bool setShapeValues(const char* input, Selector which, const ShapeValue* values,
                              std::int32_t count) = 0;
#endif
  REHEARSAL_LACKS(getNbShapeValues)
  REHEARSAL_TEN_LACKS(getShapeValues)
  REHEARSAL_LACKS(setExtraMemoryTarget)
  REHEARSAL_LACKS(getExtraMemoryTarget)
  REHEARSAL_LACKS(isValid)
#if REHEARSAL_TENSORRT == 11
  // setShapeValuesV2.
  virtual bool setShapeValues(const char* input, Selector which, const ShapeValue* values,
                              std::int32_t count) = 0;
#endif
};

class TimingCacheCalls : public Root {
 public:
  static constexpr const char* kInterface = "ITimingCache";

  virtual Held* serialize() const = 0;
  REHEARSAL_LACKS(combine)
  REHEARSAL_LACKS(reset)
};

class BuilderConfigCalls : public Root {
 public:
  static constexpr const char* kInterface = "IBuilderConfig";

  REHEARSAL_LACKS(setAvgTimingIterations)
  REHEARSAL_LACKS(getAvgTimingIterations)
  REHEARSAL_LACKS(setEngineCapability)
  REHEARSAL_LACKS(getEngineCapability)
  REHEARSAL_TEN_LACKS(setInt8Calibrator)
  REHEARSAL_TEN_LACKS(getInt8Calibrator)
  virtual void setFlags(std::uint32_t flags) = 0;
  virtual std::uint32_t getFlags() const = 0;
  virtual void clearFlag(BuilderFlag flag) = 0;
  virtual void setFlag(BuilderFlag flag) = 0;
  virtual bool getFlag(BuilderFlag flag) const = 0;
  REHEARSAL_LACKS(setDeviceType)
  REHEARSAL_LACKS(getDeviceType)
  REHEARSAL_LACKS(isDeviceTypeSet)
  REHEARSAL_LACKS(resetDeviceType)
  REHEARSAL_LACKS(canRunOnDLA)
  REHEARSAL_LACKS(setDLACore)
  REHEARSAL_LACKS(getDLACore)
  REHEARSAL_LACKS(setDefaultDeviceType)
  REHEARSAL_LACKS(getDefaultDeviceType)
  REHEARSAL_LACKS(reset)
  REHEARSAL_LACKS(setProfileStream)
  REHEARSAL_LACKS(getProfileStream)
  virtual std::int32_t addOptimizationProfile(const Held* profile) = 0;
  virtual std::int32_t getNbOptimizationProfiles() const = 0;
  REHEARSAL_LACKS(setProfilingVerbosity)
  REHEARSAL_LACKS(getProfilingVerbosity)
  REHEARSAL_TEN_LACKS(setAlgorithmSelector)
  REHEARSAL_TEN_LACKS(getAlgorithmSelector)
  REHEARSAL_TEN_LACKS(setCalibrationProfile)
  REHEARSAL_TEN_LACKS(getCalibrationProfile)
  REHEARSAL_TEN_LACKS(setQuantizationFlags)
  REHEARSAL_TEN_LACKS(getQuantizationFlags)
  REHEARSAL_TEN_LACKS(clearQuantizationFlag)
  REHEARSAL_TEN_LACKS(setQuantizationFlag)
  REHEARSAL_TEN_LACKS(getQuantizationFlag)
  REHEARSAL_LACKS(setTacticSources)
  REHEARSAL_LACKS(getTacticSources)
  virtual Held* createTimingCache(const void* bytes, std::size_t size) const = 0;
  virtual bool setTimingCache(const Held& cache, bool ignore_mismatch) = 0;
  REHEARSAL_LACKS(getTimingCache)
  virtual void setMemoryPoolLimit(std::int32_t pool, std::size_t bytes) = 0;
  REHEARSAL_LACKS(getMemoryPoolLimit)
  REHEARSAL_LACKS(setPreviewFeature)
  REHEARSAL_LACKS(getPreviewFeature)
  virtual void setBuilderOptimizationLevel(std::int32_t level) = 0;
  REHEARSAL_LACKS(getBuilderOptimizationLevel)
  virtual void setHardwareCompatibilityLevel(std::int32_t level) = 0;
  REHEARSAL_LACKS(getHardwareCompatibilityLevel)
  virtual void setPluginsToSerialize(const char* const* paths, std::int32_t count) = 0;
  REHEARSAL_LACKS(getPluginToSerialize)
  REHEARSAL_LACKS(getNbPluginsToSerialize)
  virtual bool setMaxAuxStreams(std::int32_t count) = 0;  // TensorRT 10 returns nothing
  REHEARSAL_LACKS(getMaxAuxStreams)
  virtual void setProgressMonitor(ProgressMonitorCalls* monitor) = 0;
  REHEARSAL_LACKS(getProgressMonitor)
  REHEARSAL_LACKS(setRuntimePlatform)
  REHEARSAL_LACKS(getRuntimePlatform)
  REHEARSAL_LACKS(setMaxNbTactics)
  REHEARSAL_LACKS(getMaxNbTactics)
};

class BuilderCalls : public Root {
 public:
  static constexpr const char* kInterface = "IBuilder";

  REHEARSAL_TEN_LACKS(platformHasFastFp16)
  REHEARSAL_TEN_LACKS(platformHasFastInt8)
  REHEARSAL_LACKS(getMaxDLABatchSize)
  REHEARSAL_LACKS(getNbDLACores)
  REHEARSAL_LACKS(setGpuAllocator)
  virtual Held* createBuilderConfig() = 0;
  virtual Held* createNetworkV2(std::uint32_t flags) = 0;
  virtual Held* createOptimizationProfile() = 0;
  REHEARSAL_LACKS(setErrorRecorder)
  REHEARSAL_LACKS(getErrorRecorder)
  REHEARSAL_LACKS(reset)
  REHEARSAL_TEN_LACKS(platformHasTf32)
  virtual Held* buildSerializedNetwork(Held& network, Held& config) = 0;
  REHEARSAL_LACKS(isNetworkSupported)
  REHEARSAL_LACKS(getLogger)
  REHEARSAL_LACKS(setMaxThreads)
  REHEARSAL_LACKS(getMaxThreads)
  REHEARSAL_LACKS(getPluginRegistry)
  REHEARSAL_LACKS(buildEngineWithConfig)
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_INTERFACES_BUILDER_H_
