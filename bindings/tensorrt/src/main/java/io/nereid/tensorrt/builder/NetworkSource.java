package io.nereid.tensorrt.builder;

import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;

/**
 * The source of a network: an ONNX file ({@link OnnxFile}), or code that adds layers through
 * JavaCPP's classes.
 */
@FunctionalInterface
public interface NetworkSource {

  /**
   * Adds the inputs, layers and outputs. Pointers that JavaCPP allocates meanwhile, such as those
   * of weights, are released when the engine is built.
   *
   * @param network empty
   * @param scope owns memory that the network refers to until the engine is built
   */
  void define(INetworkDefinition network, BuildScope scope) throws Exception;

  /** The source's name in messages. */
  default String description() {
    return "the network";
  }
}
