// The functions of a network, its tensors and its layers, in the order of TensorRT 10.6
// and 11.
#ifndef NEREID_REHEARSAL_TENSORRT_INTERFACES_NETWORK_H_
#define NEREID_REHEARSAL_TENSORRT_INTERFACES_NETWORK_H_

#include <cstdint>

#include "basics.h"

namespace rehearsal::trt {

enum class LayerType : std::int32_t {
  kConvolution = 0,
  kCast = 1,
  kActivation = 2,
  kPooling = 3,
  kScale = 5,
  kSoftMax = 6,
  kElementWise = 9,
  kUnary = 11,
  kShuffle = 13,
  kReduce = 14,
  kMatrixMultiply = 17,
  kConstant = 19,
  kIdentity = 20,
  kShape = 23,
  kQuantize = 32,
  kDequantize = 33,
  kNonZero = 41,
};

class NetworkDefinitionCalls : public Root {
 public:
  static constexpr const char* kInterface = "INetworkDefinition";

  virtual Held* addInput(const char* name, DataType type, const Dims& dims) = 0;
  virtual void markOutput(Held& tensor) = 0;
  virtual Held* addActivation(Held& input, std::int32_t type) = 0;
  REHEARSAL_LACKS(addLRN)
  virtual Held* addScale(Held& input, std::int32_t mode, Weights shift, Weights scale,
                         Weights power) = 0;
  virtual Held* addSoftMax(Held& input) = 0;
  REHEARSAL_LACKS(addConcatenation)
  virtual Held* addElementWise(Held& left, Held& right, std::int32_t operation) = 0;
  virtual Held* addUnary(Held& input, std::int32_t operation) = 0;
  virtual Held* addShuffle(Held& input) = 0;
  virtual std::int32_t getNbLayers() const = 0;
  virtual Held* getLayer(std::int32_t index) const = 0;
  virtual std::int32_t getNbInputs() const = 0;
  virtual Held* getInput(std::int32_t index) const = 0;
  virtual std::int32_t getNbOutputs() const = 0;
  virtual Held* getOutput(std::int32_t index) const = 0;
  virtual Held* addReduce(Held& input, std::int32_t operation, std::uint32_t axes, bool keep) = 0;
  REHEARSAL_LACKS(addTopK)
  REHEARSAL_LACKS(addGather)
  REHEARSAL_LACKS(addRaggedSoftMax)
  virtual Held* addMatrixMultiply(Held& left, std::int32_t left_operation, Held& right,
                                  std::int32_t right_operation) = 0;
  virtual Held* addConstant(const Dims& dims, Weights values) = 0;
  virtual Held* addIdentity(Held& input) = 0;
  REHEARSAL_LACKS(removeTensor)
  REHEARSAL_LACKS(unmarkOutput)
  REHEARSAL_LACKS(addPluginV2)
  REHEARSAL_LACKS(addPluginV3)
  REHEARSAL_LACKS(addSlice)
  virtual void setName(const char* name) = 0;
  virtual const char* getName() const = 0;
  virtual Held* addShape(Held& input) = 0;
  REHEARSAL_LACKS(hasImplicitBatchDimension)
  virtual bool markOutputForShapes(Held& tensor) = 0;
  REHEARSAL_LACKS(unmarkOutputForShapes)
  REHEARSAL_LACKS(addParametricReLU)
  virtual Held* addConvolutionNd(Held& input, std::int64_t maps, const Dims& kernel,
                                 Weights weights, Weights bias) = 0;
  virtual Held* addPoolingNd(Held& input, std::int32_t type, const Dims& window) = 0;
  REHEARSAL_LACKS(addDeconvolutionNd)
  REHEARSAL_LACKS(addScaleNd)
  REHEARSAL_LACKS(addResize)
  REHEARSAL_LACKS(addLoop)
  REHEARSAL_LACKS(addSelect)
  REHEARSAL_TEN_LACKS(addFill)
  REHEARSAL_LACKS(addPaddingNd)
  virtual bool setWeightsName(Weights weights, const char* name) = 0;
  REHEARSAL_LACKS(setErrorRecorder)
  REHEARSAL_LACKS(getErrorRecorder)
  REHEARSAL_TEN_LACKS(addDequantize)
  REHEARSAL_TEN_LACKS(addQuantize)
  REHEARSAL_LACKS(addGatherV2)
  REHEARSAL_LACKS(addIfConditional)
  REHEARSAL_LACKS(addScatter)
  REHEARSAL_LACKS(addEinsum)
  REHEARSAL_LACKS(addAssertion)
  REHEARSAL_LACKS(addOneHot)
  virtual Held* addNonZero(Held& input) = 0;
  REHEARSAL_LACKS(addGridSample)
  REHEARSAL_LACKS(addNMS)
  REHEARSAL_LACKS(addReverseSequence)
  REHEARSAL_LACKS(addNormalization)
  virtual Held* addCast(Held& input, DataType type) = 0;
  REHEARSAL_LACKS(getBuilder)
  REHEARSAL_LACKS(getFlags)
  REHEARSAL_LACKS(getFlag)
  virtual Held* addQuantizeV2(Held& input, Held& scale, DataType type) = 0;
  virtual Held* addDequantizeV2(Held& input, Held& scale, DataType type) = 0;
  REHEARSAL_LACKS(addFillV2)
  REHEARSAL_LACKS(markDebug)
  REHEARSAL_LACKS(unmarkDebug)
  REHEARSAL_LACKS(isDebugTensor)
  REHEARSAL_LACKS(markWeightsRefittable)
  REHEARSAL_LACKS(unmarkWeightsRefittable)
  REHEARSAL_LACKS(areWeightsMarkedRefittable)
};

class TensorCalls : public Root {
 public:
  static constexpr const char* kInterface = "ITensor";

  virtual void setName(const char* name) = 0;
  virtual const char* getName() const = 0;
  REHEARSAL_LACKS(setDimensions)
  virtual Dims getDimensions() const = 0;
  REHEARSAL_TEN_LACKS(setType)
  virtual DataType getType() const = 0;
  REHEARSAL_TEN_LACKS(setDynamicRange)
  virtual bool isNetworkInput() const = 0;
  virtual bool isNetworkOutput() const = 0;
  REHEARSAL_LACKS(setBroadcastAcrossBatch)
  REHEARSAL_LACKS(getBroadcastAcrossBatch)
  REHEARSAL_LACKS(getLocation)
  REHEARSAL_LACKS(setLocation)
  REHEARSAL_TEN_LACKS(dynamicRangeIsSet)
  REHEARSAL_TEN_LACKS(resetDynamicRange)
  REHEARSAL_TEN_LACKS(getDynamicRangeMin)
  REHEARSAL_TEN_LACKS(getDynamicRangeMax)
  REHEARSAL_LACKS(setAllowedFormats)
  REHEARSAL_LACKS(getAllowedFormats)
  virtual bool isShapeTensor() const = 0;
  REHEARSAL_LACKS(isExecutionTensor)
  REHEARSAL_LACKS(setDimensionName)
  REHEARSAL_LACKS(getDimensionName)
};

class LayerCalls : public Root {
 public:
  static constexpr const char* kInterface = "ILayer";

  virtual LayerType getType() const = 0;
  virtual void setName(const char* name) = 0;
  virtual const char* getName() const = 0;
  virtual std::int32_t getNbInputs() const = 0;
  virtual Held* getInput(std::int32_t index) const = 0;
  virtual std::int32_t getNbOutputs() const = 0;
  virtual Held* getOutput(std::int32_t index) const = 0;
  virtual void setInput(std::int32_t index, Held& tensor) = 0;
  REHEARSAL_TEN_LACKS(setPrecision)
  REHEARSAL_TEN_LACKS(getPrecision)
  REHEARSAL_TEN_LACKS(precisionIsSet)
  REHEARSAL_TEN_LACKS(resetPrecision)
  REHEARSAL_TEN_LACKS(setOutputType)
  REHEARSAL_LACKS(getOutputType)
  REHEARSAL_TEN_LACKS(outputTypeIsSet)
  REHEARSAL_TEN_LACKS(resetOutputType)
  REHEARSAL_LACKS(setMetadata)
  REHEARSAL_LACKS(getMetadata)
};

class ConvolutionLayerCalls : public Root {
 public:
  static constexpr const char* kInterface = "IConvolutionLayer";

  REHEARSAL_LACKS(setNbOutputMaps)
  REHEARSAL_LACKS(getNbOutputMaps)
  REHEARSAL_LACKS(setNbGroups)
  REHEARSAL_LACKS(getNbGroups)
  REHEARSAL_LACKS(setKernelWeights)
  REHEARSAL_LACKS(getKernelWeights)
  REHEARSAL_LACKS(setBiasWeights)
  REHEARSAL_LACKS(getBiasWeights)
  REHEARSAL_LACKS(setPrePadding)
  REHEARSAL_LACKS(getPrePadding)
  REHEARSAL_LACKS(setPostPadding)
  REHEARSAL_LACKS(getPostPadding)
  REHEARSAL_LACKS(setPaddingMode)
  REHEARSAL_LACKS(getPaddingMode)
  REHEARSAL_LACKS(setKernelSizeNd)
  REHEARSAL_LACKS(getKernelSizeNd)
  virtual void setStrideNd(const Dims& stride) = 0;
  REHEARSAL_LACKS(getStrideNd)
  virtual void setPaddingNd(const Dims& padding) = 0;
  REHEARSAL_LACKS(getPaddingNd)
  REHEARSAL_LACKS(setDilationNd)
  REHEARSAL_LACKS(getDilationNd)
};

class PoolingLayerCalls : public Root {
 public:
  static constexpr const char* kInterface = "IPoolingLayer";

  REHEARSAL_LACKS(setPoolingType)
  REHEARSAL_LACKS(getPoolingType)
  REHEARSAL_LACKS(setBlendFactor)
  REHEARSAL_LACKS(getBlendFactor)
  REHEARSAL_LACKS(setAverageCountExcludesPadding)
  REHEARSAL_LACKS(getAverageCountExcludesPadding)
  REHEARSAL_LACKS(setPrePadding)
  REHEARSAL_LACKS(getPrePadding)
  REHEARSAL_LACKS(setPostPadding)
  REHEARSAL_LACKS(getPostPadding)
  REHEARSAL_LACKS(setPaddingMode)
  REHEARSAL_LACKS(getPaddingMode)
  REHEARSAL_LACKS(setWindowSizeNd)
  REHEARSAL_LACKS(getWindowSizeNd)
  virtual void setStrideNd(const Dims& stride) = 0;
  REHEARSAL_LACKS(getStrideNd)
  virtual void setPaddingNd(const Dims& padding) = 0;
  REHEARSAL_LACKS(getPaddingNd)
};

class SoftMaxLayerCalls : public Root {
 public:
  static constexpr const char* kInterface = "ISoftMaxLayer";

  virtual void setAxes(std::uint32_t axes) = 0;
  REHEARSAL_LACKS(getAxes)
};

class ShuffleLayerCalls : public Root {
 public:
  static constexpr const char* kInterface = "IShuffleLayer";

  REHEARSAL_LACKS(setFirstTranspose)
  REHEARSAL_LACKS(getFirstTranspose)
  virtual void setReshapeDimensions(const Dims& dims) = 0;
  REHEARSAL_LACKS(getReshapeDimensions)
  REHEARSAL_LACKS(setSecondTranspose)
  REHEARSAL_LACKS(getSecondTranspose)
  REHEARSAL_LACKS(setZeroIsPlaceholder)
  REHEARSAL_LACKS(getZeroIsPlaceholder)
};

}  // namespace rehearsal::trt

#endif  // NEREID_REHEARSAL_TENSORRT_INTERFACES_NETWORK_H_
