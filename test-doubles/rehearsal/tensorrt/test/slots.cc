// Prints where the virtual tables of the stand-ins have the functions that the rehearsal uses: the
// interface, the function as JavaCPP calls it, and the offset. check_slots holds them against what
// JavaCPP's libraries were compiled with.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "interfaces/builder.h"
#include "interfaces/network.h"
#include "interfaces/parser.h"
#include "interfaces/plugins.h"
#include "interfaces/runtime.h"

namespace {

// A pointer to a virtual function is its offset and one, as the Itanium C++ ABI has it.
template <typename Function>
void Print(const char* interface_name, const char* function, Function pointer) {
  std::ptrdiff_t words[2];
  static_assert(sizeof(pointer) == sizeof(words));
  std::memcpy(words, &pointer, sizeof(words));
  std::printf("%s %s 0x%tx\n", interface_name, function, words[0] - 1);
}

}  // namespace

#define SLOT(Calls, function) Print(Calls::kInterface, #function, &Calls::function)
// A function whose name ends with V2 in JavaCPP's TensorRT 11.
#if REHEARSAL_TENSORRT == 10
#define SLOT_V2(Calls, function) SLOT(Calls, function)
#else
#define SLOT_V2(Calls, function) Print(Calls::kInterface, #function "V2", &Calls::function)
#endif
#define SLOT_AS(Calls, function, name) Print(Calls::kInterface, name, &Calls::function)

int main() {
  using namespace rehearsal::trt;
  SLOT(HostMemoryCalls, data);
  SLOT(HostMemoryCalls, size);
  SLOT(RuntimeCalls, deserializeCudaEngine);
  SLOT(RuntimeCalls, setEngineHostCodeAllowed);
  SLOT(CudaEngineCalls, getNbLayers);
  SLOT(CudaEngineCalls, createExecutionContext);
  SLOT(CudaEngineCalls, isRefittable);
#if REHEARSAL_TENSORRT == 11
  SLOT(CudaEngineCalls, getEngineStat);
#endif
  SLOT(RefitterCalls, refitCudaEngine);
  SLOT(RefitterCalls, setNamedWeights);
  SLOT(RefitterCalls, getMissingWeights);
  SLOT(RefitterCalls, getAllWeights);
  SLOT(RefitterCalls, getWeightsPrototype);
  SLOT(NetworkDefinitionCalls, setWeightsName);
  SLOT(CudaEngineCalls, getName);
  SLOT(CudaEngineCalls, getNbOptimizationProfiles);
  SLOT_V2(CudaEngineCalls, getProfileTensorValues);
  SLOT(CudaEngineCalls, getTensorShape);
  SLOT(CudaEngineCalls, getTensorDataType);
  SLOT(CudaEngineCalls, getTensorLocation);
  SLOT(CudaEngineCalls, isShapeInferenceIO);
  SLOT(CudaEngineCalls, getTensorIOMode);
  SLOT(CudaEngineCalls, getTensorBytesPerComponent);
  SLOT_AS(CudaEngineCalls, getTensorFormatV2, "getTensorFormat");
  SLOT(CudaEngineCalls, getProfileShape);
  SLOT(CudaEngineCalls, getNbIOTensors);
  SLOT(CudaEngineCalls, getIOTensorName);
  SLOT(CudaEngineCalls, getStreamableWeightsSize);
  SLOT(CudaEngineCalls, setWeightStreamingBudgetV2);
  SLOT(CudaEngineCalls, getWeightStreamingBudgetV2);
  SLOT(CudaEngineCalls, getWeightStreamingAutomaticBudget);
  SLOT(CudaEngineCalls, getDeviceMemorySizeV2);
  SLOT(CudaEngineCalls, getDeviceMemorySizeForProfileV2);
  SLOT(ExecutionContextCalls, setOptimizationProfileAsync);
  SLOT(ExecutionContextCalls, setInputShape);
  SLOT(ExecutionContextCalls, getTensorShape);
  SLOT(ExecutionContextCalls, setTensorAddress);
  SLOT(ExecutionContextCalls, setInputTensorAddress);
  SLOT(ExecutionContextCalls, setOutputAllocator);
  SLOT(ExecutionContextCalls, getMaxOutputSize);
  SLOT(ExecutionContextCalls, enqueueV3);
  SLOT(ExecutionContextCalls, setDeviceMemoryV2);
  SLOT(OptimizationProfileCalls, setDimensions);
  SLOT_V2(OptimizationProfileCalls, setShapeValues);
  SLOT(TimingCacheCalls, serialize);
  SLOT(BuilderConfigCalls, clearFlag);
  SLOT(BuilderConfigCalls, setFlag);
  SLOT(BuilderConfigCalls, addOptimizationProfile);
  SLOT(BuilderConfigCalls, createTimingCache);
  SLOT(BuilderConfigCalls, setTimingCache);
  SLOT(BuilderConfigCalls, setMemoryPoolLimit);
  SLOT(BuilderConfigCalls, setBuilderOptimizationLevel);
  SLOT(BuilderConfigCalls, setHardwareCompatibilityLevel);
  SLOT(BuilderConfigCalls, setPluginsToSerialize);
  SLOT(BuilderConfigCalls, setMaxAuxStreams);
  SLOT(BuilderConfigCalls, setProgressMonitor);
  SLOT(BuilderCalls, createBuilderConfig);
  SLOT(BuilderCalls, createNetworkV2);
  SLOT(BuilderCalls, createOptimizationProfile);
  SLOT(BuilderCalls, buildSerializedNetwork);
  SLOT(NetworkDefinitionCalls, addInput);
  SLOT(NetworkDefinitionCalls, markOutput);
  SLOT(NetworkDefinitionCalls, addActivation);
  SLOT(NetworkDefinitionCalls, addScale);
  SLOT(NetworkDefinitionCalls, addSoftMax);
  SLOT(NetworkDefinitionCalls, addElementWise);
  SLOT(NetworkDefinitionCalls, addUnary);
  SLOT(NetworkDefinitionCalls, addShuffle);
  SLOT(NetworkDefinitionCalls, getNbLayers);
  SLOT(NetworkDefinitionCalls, getLayer);
  SLOT(NetworkDefinitionCalls, getNbInputs);
  SLOT(NetworkDefinitionCalls, getInput);
  SLOT(NetworkDefinitionCalls, getNbOutputs);
  SLOT(NetworkDefinitionCalls, getOutput);
  SLOT(NetworkDefinitionCalls, addReduce);
  SLOT(NetworkDefinitionCalls, addMatrixMultiply);
  SLOT(NetworkDefinitionCalls, addConstant);
  SLOT(NetworkDefinitionCalls, addIdentity);
  SLOT(NetworkDefinitionCalls, addShape);
  SLOT(NetworkDefinitionCalls, markOutputForShapes);
  SLOT(NetworkDefinitionCalls, addConvolutionNd);
  SLOT(NetworkDefinitionCalls, addPoolingNd);
  SLOT(NetworkDefinitionCalls, addNonZero);
  SLOT(NetworkDefinitionCalls, addCast);
  SLOT_AS(NetworkDefinitionCalls, addQuantizeV2, "addQuantize");
  SLOT_AS(NetworkDefinitionCalls, addDequantizeV2, "addDequantize");
  SLOT(TensorCalls, setName);
  SLOT(TensorCalls, getName);
  SLOT(TensorCalls, getDimensions);
  SLOT(TensorCalls, getType);
  SLOT(TensorCalls, isShapeTensor);
  SLOT(LayerCalls, getType);
  SLOT(LayerCalls, setName);
  SLOT(LayerCalls, getInput);
  SLOT(LayerCalls, getOutput);
  SLOT(LayerCalls, setInput);
  SLOT(ConvolutionLayerCalls, setStrideNd);
  SLOT(ConvolutionLayerCalls, setPaddingNd);
  SLOT(PoolingLayerCalls, setStrideNd);
  SLOT(PoolingLayerCalls, setPaddingNd);
  SLOT(SoftMaxLayerCalls, setAxes);
  SLOT(ShuffleLayerCalls, setReshapeDimensions);
  SLOT(ParserCalls, parseFromFile);
  SLOT(ParserCalls, getNbErrors);
  SLOT(ParserCalls, getError);
  SLOT(ParserRefitterCalls, refitFromFile);
  SLOT(ParserRefitterCalls, getNbErrors);
  SLOT(ParserRefitterCalls, getError);
  SLOT(ParserErrorCalls, desc);
  SLOT(ParserErrorCalls, node);
  SLOT(ParserErrorCalls, nodeName);
  SLOT(ParserErrorCalls, nodeOperator);
  SLOT(PluginRegistryCalls, loadLibrary);
}
