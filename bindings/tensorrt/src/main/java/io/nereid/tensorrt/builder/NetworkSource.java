package io.nereid.tensorrt.builder;

import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;

/**
 * Where a network comes from: an ONNX file ({@link OnnxFile}), or code that adds layers through
 * JavaCPP's classes.
 */
@FunctionalInterface
public interface NetworkSource {

  /**
   * Adds the inputs, layers and outputs. Pointers that JavaCPP allocates meanwhile, such as those
   * of weights, are released when the engine is built.
   *
   * @param network empty
   * @param logger for what else of TensorRT is made
   */
  void define(INetworkDefinition network, ILogger logger) throws Exception;

  /** What it is called in messages. */
  default String description() {
    return "the network";
  }
}
